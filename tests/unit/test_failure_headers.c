#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "dlq/failure_headers.h"
#include "dlq/letter_text.h"
#include "support/sample_letter.h"

/* "name=value;" for each header, "name;" for a null one. */
static void assert_headers(struct span headers, const char *wanted)
{
    struct buffer text = buffer_new(1 << 16);
    struct span name, value;
    while (letter_next_header(&headers, &name, &value)) {
        buffer_add_span(&text, name);
        if (value.data != NULL) {
            buffer_add_text(&text, "=");
            buffer_add_span(&text, value);
        }
        buffer_add_text(&text, ";");
    }
    buffer_add(&text, "", 1);
    assert_string_equal((const char *)text.data, wanted);
    buffer_free(&text);
}

static void add(struct buffer *headers, const char *name, const char *value)
{
    letter_add_header(headers, span_of_text(name), span_of_text(value));
}

static void add_old_ones(struct buffer *headers)
{
    add(headers, "a", "1");
    add(headers, "__dlq.errors.topic", "old");
    add(headers, "__dlq.errors.", "old");
    add(headers, "__connect.errors.exception.stacktrace", "old");
    add(headers, "a", NULL);
    add(headers, "__streams.errors.message", NULL);
    add(headers, "kafka_dlt-original-offset", "old");
    add(headers, "tarry-redelivery", "9");
    add(headers, "tarry-replays", "9");
    add(headers, "tarry-delay", "stays");
    add(headers, "tarry-redelivery2", "stays");
    add(headers, "kafka_dlt", "stays");
    add(headers, "", "");
}

#define STAYS "a=1;a;tarry-delay=stays;tarry-redelivery2=stays;kafka_dlt=stays;=;"

static void old_headers_of_every_family_go(void **state)
{
    (void)state;
    struct buffer headers = buffer_new(10000);
    struct buffer out = buffer_new(10000);
    add_old_ones(&headers);
    failure_headers_strip(&out, buffer_span(&headers));
    assert_headers(buffer_span(&out), STAYS);
    buffer_clear(&out);
    failure_headers_strip(&out, SPAN_ABSENT);
    assert_int_equal(out.length, 0);
    buffer_free(&headers);
    buffer_free(&out);
}

static void one_set_of_ours_is_added(void **state)
{
    (void)state;
    struct buffer headers = buffer_new(10000);
    struct buffer out = buffer_new(10000);
    struct letter letter = sample_letter_plain();
    add_old_ones(&headers);
    letter.record.headers = buffer_span(&headers);
    letter.attempt = 3;
    failure_headers_add(&out, &letter, FAILURE_HEADERS_REDELIVERED);
    assert_headers(buffer_span(&out), STAYS "__dlq.errors.topic=delays;__dlq.errors.partition=3;__dlq.errors.offset=9007199254740993;__dlq.errors.group=tarry;"
                                            "__dlq.errors.delivery.count=3;__dlq.errors.message=Broker: Message size too large;tarry-redelivery=3;");
    buffer_clear(&out);
    letter.replays = 2;
    failure_headers_add(&out, &letter, FAILURE_HEADERS_REPLAYED);
    assert_headers(buffer_span(&out), STAYS "__dlq.errors.topic=delays;__dlq.errors.partition=3;__dlq.errors.offset=9007199254740993;__dlq.errors.group=tarry;"
                                            "__dlq.errors.message=Broker: Message size too large;tarry-replays=2;");
    buffer_free(&headers);
    buffer_free(&out);
}

static void what_is_unknown_is_left_out(void **state)
{
    (void)state;
    struct buffer out = buffer_new(10000);
    struct letter letter = {.attempt = 1, .origin = {span_of_text("t"), -1, -1, -1}};
    failure_headers_add(&out, &letter, FAILURE_HEADERS_REDELIVERED);
    assert_headers(buffer_span(&out), "__dlq.errors.topic=t;__dlq.errors.delivery.count=1;tarry-redelivery=1;");
    buffer_free(&out);
}

/* Adding and stripping again changes nothing but our own set. */
static void a_second_round_does_not_pile_up(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct random random = random_new(seed);
        struct sample_letter sample;
        struct buffer once = buffer_new(1 << 17);
        struct buffer twice = buffer_new(1 << 17);
        sample_letter_fill(&sample, &random);
        failure_headers_add(&once, &sample.letter, FAILURE_HEADERS_REDELIVERED);
        sample.letter.record.headers = buffer_span(&once);
        failure_headers_add(&twice, &sample.letter, FAILURE_HEADERS_REDELIVERED);
        assert_true(span_equal(buffer_span(&once), buffer_span(&twice)));
        buffer_free(&once);
        buffer_free(&twice);
        sample_letter_free(&sample);
    }
}

static void numbers_are_read_strictly(void **state)
{
    static const char *const wrong[] = {"", "-", "+1", " 1", "1 ", "01", "-0", "00", "1.0", "1e3", "0x1", "9223372036854775808", "-9223372036854775809"};
    (void)state;
    int64_t number = 7;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(letter_text_number(span_of_text(wrong[i]), INT64_MIN, INT64_MAX, &number));
    }
    assert_false(letter_text_number(SPAN_ABSENT, INT64_MIN, INT64_MAX, &number));
    assert_false(letter_text_number(span_of_text("6"), 0, 5, &number));
    assert_false(letter_text_number(span_of_text("-1"), 0, 5, &number));
    assert_int_equal(number, 7);
    assert_true(letter_text_number(span_of_text("0"), 0, 5, &number));
    assert_int_equal(number, 0);
    assert_true(letter_text_number(span_of_text("-9223372036854775808"), INT64_MIN, INT64_MAX, &number));
    assert_true(number == INT64_MIN);
    assert_true(letter_text_number(span_of_text("9223372036854775807"), INT64_MIN, INT64_MAX, &number));
    assert_true(number == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_headers_of_every_family_go), cmocka_unit_test(one_set_of_ours_is_added), cmocka_unit_test(what_is_unknown_is_left_out),
        cmocka_unit_test(a_second_round_does_not_pile_up), cmocka_unit_test(numbers_are_read_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
