/* Header tarry-root: docs/semantics.md, "Control headers". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/sample_record.h"

#define ROOT_TIMESTAMP_MS INT64_C(1795961500000)

static void begin(struct sample *sample, const char *root)
{
    sample_begin(sample, "k", "{\"payload\":1,\"delay_ms\":1000}");
    sample_add(sample, "tarry-root", root);
}

static void expect_decoded(const struct decode_rules *rules, struct sample *sample, int64_t root, int64_t root_timestamp_ms, int64_t due_ms)
{
    struct decoded decoded;
    struct refusal refusal = {REFUSAL_NONE, ""};
    if (!decode_record(rules, &sample->record, &decoded, &refusal)) {
        fail_msg("%s", refusal.text);
    }
    assert_int_equal(decoded.root, root);
    assert_int_equal(decoded.root_timestamp_ms, root_timestamp_ms);
    assert_int_equal(decoded.due_ms, due_ms);
}

static void expect_refused(const struct decode_rules *rules, struct sample *sample, enum refusal_reason reason)
{
    struct decoded decoded;
    struct refusal refusal = {REFUSAL_NONE, ""};
    assert_false(decode_record(rules, &sample->record, &decoded, &refusal));
    assert_int_equal(refusal.reason, reason);
}

static void records_of_people_have_none(void **state)
{
    struct decode_rules rules = sample_rules();
    struct sample sample;
    (void)state;
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "delay_ms", "5");
    expect_decoded(&rules, &sample, -1, -1, SAMPLE_TIMESTAMP_MS + 5);
    sample_add(&sample, "Tarry-Root", "x"); /* not ours */
    expect_decoded(&rules, &sample, -1, -1, SAMPLE_TIMESTAMP_MS + 5);
}

/* All that counts from the record's timestamp counts from the root's. */
static void times_count_from_the_root(void **state)
{
    struct decode_rules rules = sample_rules();
    struct sample sample;
    (void)state;
    begin(&sample, "3:1795961500000");
    sample_add(&sample, "tarry-delay", "366d");
    expect_decoded(&rules, &sample, 3, ROOT_TIMESTAMP_MS, ROOT_TIMESTAMP_MS + SAMPLE_MAX_DELAY_MS);
    begin(&sample, "6:1795961500000");
    rules.default_delay_ms = 9000;
    expect_decoded(&rules, &sample, 6, ROOT_TIMESTAMP_MS, ROOT_TIMESTAMP_MS + 9000);
    /* an absolute time that was near enough to the root, and one that was not, though it is near the copy */
    begin(&sample, "0:1764425500000");
    sample_add(&sample, "tarry-at", "1796047900000"); /* the root's timestamp and 366 d */
    expect_decoded(&rules, &sample, 0, INT64_C(1764425500000), INT64_C(1796047900000));
    begin(&sample, "0:1764425499999");
    sample_add(&sample, "tarry-at", "1796047900000");
    expect_refused(&rules, &sample, REFUSAL_TOO_FAR);
    /* the copy's own timestamp is of no account, present or not */
    begin(&sample, "0:1795961500000");
    sample_add(&sample, "delay_ms", "7");
    sample.record.timestamp = RECORD_TIMESTAMP_NONE;
    sample.record.timestamp_ms = -1;
    expect_decoded(&rules, &sample, 0, ROOT_TIMESTAMP_MS, ROOT_TIMESTAMP_MS + 7);
    sample.record.timestamp = RECORD_TIMESTAMP_APPEND;
    sample.record.timestamp_ms = SAMPLE_TIMESTAMP_MS;
    expect_decoded(&rules, &sample, 0, ROOT_TIMESTAMP_MS, ROOT_TIMESTAMP_MS + 7);
}

static void a_root_without_timestamp(void **state)
{
    struct decode_rules rules = sample_rules();
    struct sample sample;
    (void)state;
    begin(&sample, "0:-1");
    sample_add(&sample, "delay_ms", "7");
    expect_refused(&rules, &sample, REFUSAL_NO_TIMESTAMP); /* as the root would have been */
    begin(&sample, "0:-1");
    sample_add(&sample, "tarry-at", "9999-12-31T23:59:59.999Z");
    expect_decoded(&rules, &sample, 0, -1, INT64_C(253402300799999));
}

/* Copies are made of the records of every source. */
static void without_the_dialect_it_counts_too(void **state)
{
    struct decode_rules rules = sample_rules();
    struct sample sample;
    (void)state;
    rules.dialect_tarry = false;
    rules.envelope = true;
    begin(&sample, "2:1795961500000");
    expect_decoded(&rules, &sample, 2, ROOT_TIMESTAMP_MS, ROOT_TIMESTAMP_MS + 1000);
    begin(&sample, "x");
    expect_refused(&rules, &sample, REFUSAL_BAD_ROOT);
}

static void bad_roots_are_refused(void **state)
{
    static const char *const cases[] = {NULL, "", ":", "3", "3:", ":5", "-1:5", "-0:5", "+3:5", "3:-2", "3:-0", "3:+5", "3:--1", " 3:5", "3:5 ", "3 :5",
                                        "3:5:6", "3::5", "x:5", "3:x", "3.0:5", "0x3:5", "3:1e9", "3;5", "9223372036854775808:5",
                                        "3:9223372036854775808", "7:5", "8:5", "9223372036854775807:5", "3:2030-01-31T12:00:00Z"};
    struct decode_rules rules = sample_rules();
    (void)state;
    rules.default_delay_ms = 1;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sample sample; /* its offset is 7 */
        int64_t root = 5;
        int64_t timestamp_ms = 5;
        struct refusal refusal = {REFUSAL_NONE, ""};
        begin(&sample, cases[i]);
        expect_refused(&rules, &sample, REFUSAL_BAD_ROOT);
        assert_false(decode_root(&sample.record, &root, &timestamp_ms, &refusal));
        assert_int_equal(refusal.reason, REFUSAL_BAD_ROOT);
        assert_int_equal(root, -1);
        assert_int_equal(timestamp_ms, -1);
    }
}

static void twice_is_refused(void **state)
{
    struct decode_rules rules = sample_rules();
    struct sample sample;
    (void)state;
    rules.default_delay_ms = 1;
    begin(&sample, "3:5");
    sample_add(&sample, "other", "x");
    sample_add(&sample, "tarry-root", "3:5");
    expect_refused(&rules, &sample, REFUSAL_BAD_ROOT);
}

static void the_text_names_header_value_and_remedy(void **state)
{
    struct refusal refusal = {REFUSAL_NONE, ""};
    struct sample sample;
    int64_t root = 0;
    int64_t timestamp_ms = 0;
    (void)state;
    begin(&sample, "12\n:x");
    assert_false(decode_root(&sample.record, &root, &timestamp_ms, &refusal));
    assert_non_null(strstr(refusal.text, "tarry-root"));
    assert_non_null(strstr(refusal.text, "\"12\\n:x\""));
    assert_non_null(strstr(refusal.text, "leave it out"));
    assert_string_equal(refusal_name(refusal.reason), "bad_root");
}

/* Of a record that is refused for something else the root is known all the same. */
static void refused_for_something_else(void **state)
{
    struct decode_rules rules = sample_rules();
    struct refusal refusal;
    struct sample sample;
    int64_t root = 0;
    int64_t timestamp_ms = 0;
    (void)state;
    begin(&sample, "3:1795961500000");
    sample_add(&sample, "delay_ms", "soon");
    expect_refused(&rules, &sample, REFUSAL_BAD_TIME);
    assert_true(decode_root(&sample.record, &root, &timestamp_ms, &refusal));
    assert_int_equal(root, 3);
    assert_int_equal(timestamp_ms, ROOT_TIMESTAMP_MS);
    assert_true(decode_is_control_header(span_of_text("tarry-root")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_people_have_none),
        cmocka_unit_test(times_count_from_the_root),
        cmocka_unit_test(a_root_without_timestamp),
        cmocka_unit_test(without_the_dialect_it_counts_too),
        cmocka_unit_test(bad_roots_are_refused),
        cmocka_unit_test(twice_is_refused),
        cmocka_unit_test(the_text_names_header_value_and_remedy),
        cmocka_unit_test(refused_for_something_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
