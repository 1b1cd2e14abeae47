#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "dlq/subject.h"

static void assert_subject(const char *topic, const char *wanted)
{
    char subject[SUBJECT_SIZE];
    char read[SUBJECT_SIZE];
    enum subject_kind kind;
    subject_of(subject, "", SUBJECT_DLQ, span_of_text(topic));
    assert_string_equal(subject, wanted);
    assert_true(subject_read(subject, "", &kind, read));
    assert_int_equal(kind, SUBJECT_DLQ);
    assert_string_equal(read, topic == NULL ? "" : topic);
}

/* N16: topics that look alike, or like wildcards, stay apart, each one token without blanks. */
static void topics_become_one_token_and_come_back(void **state)
{
    (void)state;
    assert_subject("orders", "dlq.orders");
    assert_subject("a.b", "dlq.a%2Eb");
    assert_subject("a_b", "dlq.a_b");
    assert_subject("a-b", "dlq.a-b");
    assert_subject("a..b", "dlq.a%2E%2Eb");
    assert_subject(".", "dlq.%2E");
    assert_subject("*", "dlq.%2A");
    assert_subject(">", "dlq.%3E");
    assert_subject("x y", "dlq.x%20y");
    assert_subject("line\nend\r\t", "dlq.line%0Aend%0D%09");
    assert_subject("%2E", "dlq.%252E");
    assert_subject("\xc3\xa4", "dlq.%C3%A4");
    assert_subject(NULL, "dlq._refused");
    assert_subject("_refused", "dlq.%5Frefused");
    assert_subject("_refused2", "dlq._refused2");
}

static void every_kind_has_a_word_and_takes_the_prefix(void **state)
{
    static const char *const wanted[] = {"eu.dlq.t", "eu.parked.t", "eu.nack.t"};
    static const char *const all[] = {"eu.dlq.>", "eu.parked.>", "eu.nack.>"};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        char subject[SUBJECT_SIZE];
        char topic[SUBJECT_SIZE];
        enum subject_kind kind;
        subject_of(subject, "eu.", (enum subject_kind)i, span_of_text("t"));
        assert_string_equal(subject, wanted[i]);
        assert_true(subject_read(subject, "eu.", &kind, topic));
        assert_int_equal(kind, i);
        assert_string_equal(topic, "t");
        assert_false(subject_read(subject, "", &kind, topic));
        assert_false(subject_read(subject, "eu.x.", &kind, topic));
        subject_all(subject, "eu.", (enum subject_kind)i);
        assert_string_equal(subject, all[i]);
    }
}

static void parts_stand_under_the_id(void **state)
{
    (void)state;
    char subject[SUBJECT_SIZE];
    struct letter letter = {.id = "0123", .parts = 3, .parts_hash = 0xabc};
    subject_large(subject, "eu.", &letter, 0);
    assert_string_equal(subject, "eu.large.0123.0000000000000abc-3.0");
    letter.parts_hash = UINT64_MAX;
    letter.parts = UINT32_MAX;
    subject_large(subject, "", &letter, UINT32_MAX);
    assert_string_equal(subject, "large.0123.ffffffffffffffff-4294967295.4294967295");
    subject_large_all(subject, "eu.", "0123");
    assert_string_equal(subject, "eu.large.0123.>");
}

static void nacks_may_write_dots_as_they_are(void **state)
{
    (void)state;
    char topic[SUBJECT_SIZE];
    enum subject_kind kind;
    assert_true(subject_read("nack.a.b", "", &kind, topic));
    assert_int_equal(kind, SUBJECT_NACK);
    assert_string_equal(topic, "a.b");
    assert_true(subject_read("nack.a%2eb", "", &kind, topic));
    assert_string_equal(topic, "a.b");
    assert_false(subject_read("dlq.a.b", "", &kind, topic));
    assert_false(subject_read("parked.a.b", "", &kind, topic));
}

static void what_is_none_of_ours_is_refused(void **state)
{
    static const char *const subjects[] = {"", "dlq", "dlq.", "nack.", "large.x.0", "job.1", "dlq.a%", "dlq.a%2", "dlq.a%2G", "dlq.a%G2", "dlq.a%00b", "DLQ.a"};
    (void)state;
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        char topic[SUBJECT_SIZE];
        enum subject_kind kind;
        assert_false(subject_read(subjects[i], "", &kind, topic));
    }
    char longest[2 * SUBJECT_SIZE] = "nack.";
    char topic[SUBJECT_SIZE];
    enum subject_kind kind;
    memset(longest + 5, 'a', sizeof(longest) - 6);
    assert_false(subject_read(longest, "", &kind, topic));
}

static void the_longest_topic_fits_and_a_damaged_one_is_cut(void **state)
{
    (void)state;
    char prefix[101];
    char subject[SUBJECT_SIZE];
    char topic[SUBJECT_SIZE];
    uint8_t dots[4096];
    enum subject_kind kind;
    memset(prefix, 'p', sizeof(prefix));
    prefix[100] = '\0';
    memset(dots, '.', sizeof(dots));
    subject_of(subject, prefix, SUBJECT_PARKED, (struct span){dots, 249});
    assert_int_equal(strlen(subject), 100 + 7 + 3 * 249);
    assert_true(subject_read(subject, prefix, &kind, topic));
    assert_int_equal(strlen(topic), 249);
    subject_of(subject, prefix, SUBJECT_PARKED, (struct span){dots, sizeof(dots)});
    assert_true(strlen(subject) < SUBJECT_SIZE);
    assert_true(subject_read(subject, prefix, &kind, topic)); /* cut at a whole %2E */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topics_become_one_token_and_come_back),
        cmocka_unit_test(every_kind_has_a_word_and_takes_the_prefix),
        cmocka_unit_test(parts_stand_under_the_id),
        cmocka_unit_test(nacks_may_write_dots_as_they_are),
        cmocka_unit_test(what_is_none_of_ours_is_refused),
        cmocka_unit_test(the_longest_topic_fits_and_a_damaged_one_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
