/* What a log line says of one record: trace ids to the letter of W3C, ids bounded and printable, and nothing else of the record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "ops/log_record.h"
#include "tests/support/sample_letter.h"
#include "tests/support/sample_record.h"

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define GOOD "00-" TRACE "-b7ad6b7169203331-01"

static void test_trace_ids(void **state)
{
    (void)state;
    static const char *const good[] = {GOOD, "00-" TRACE "-b7ad6b7169203331-00", "00-" TRACE "-b7ad6b7169203331-ff", "01-" TRACE "-b7ad6b7169203331-01",
                                       "cc-" TRACE "-b7ad6b7169203331-01-what-comes", "fe-" TRACE "-b7ad6b7169203331-01-"};
    static const char *const bad[] = {"",
                                      "00",
                                      "00-" TRACE "-b7ad6b7169203331-0",
                                      "00-" TRACE "-b7ad6b7169203331-011",
                                      "00-" TRACE "-b7ad6b7169203331-01-more",
                                      "01-" TRACE "-b7ad6b7169203331-01more",
                                      "ff-" TRACE "-b7ad6b7169203331-01",
                                      "FE-" TRACE "-b7ad6b7169203331-01",
                                      "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                                      "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                                      "00-" TRACE "-0000000000000000-01",
                                      "00-" TRACE "-b7ad6b716920333g-01",
                                      "00-" TRACE "-b7ad6b7169203331-0g",
                                      "00_" TRACE "-b7ad6b7169203331-01",
                                      "00-" TRACE "_b7ad6b7169203331-01",
                                      "00-" TRACE "-b7ad6b7169203331_01",
                                      " 00-" TRACE "-b7ad6b7169203331-01",
                                      "00-" TRACE "-b7ad6b7169203331-01 ",
                                      "0g-" TRACE "-b7ad6b7169203331-01"};
    char trace_id[LOG_RECORD_TRACE_SIZE];
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(log_record_trace_id(span_of_text(good[i]), trace_id));
        assert_string_equal(trace_id, TRACE);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(log_record_trace_id(span_of_text(bad[i]), trace_id));
        assert_string_equal(trace_id, "");
    }
    assert_false(log_record_trace_id(SPAN_ABSENT, trace_id));
    char with_nul[] = GOOD;
    with_nul[10] = '\0';
    assert_false(log_record_trace_id((struct span){(const uint8_t *)with_nul, sizeof(with_nul) - 1}, trace_id));
}

static const char *text_of(const struct log_record *line, const char *name)
{
    for (size_t i = 0; i < line->count; i++) {
        if (strcmp(line->fields[i].name, name) == 0) {
            return line->fields[i].text;
        }
    }
    return NULL;
}

static int64_t number_of(const struct log_record *line, const char *name)
{
    for (size_t i = 0; i < line->count; i++) {
        if (strcmp(line->fields[i].name, name) == 0) {
            return line->fields[i].number;
        }
    }
    return -1;
}

static struct log_record line_of(const struct sample *sample)
{
    struct log_record line;
    log_record_begin(&line, "reminders", 3, sample->record.offset);
    log_record_headers(&line, &sample->record);
    log_record_add(&line, LOG_TEXT("reason", "bad_time"));
    log_record_end(&line);
    return line;
}

static void test_a_record_as_it_was_read(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "secret-key", "secret-value");
    sample_add(&sample, "other", "secret-header");
    sample_add(&sample, "traceparent", GOOD);
    sample_add(&sample, "tarry-id", "order\n-17");
    struct log_record line = line_of(&sample);
    assert_string_equal(text_of(&line, "topic"), "reminders");
    assert_int_equal(number_of(&line, "partition"), 3);
    assert_int_equal(number_of(&line, "offset"), 7);
    assert_string_equal(text_of(&line, "reason"), "bad_time");
    assert_int_equal(line.count, 6);
    assert_string_equal(line.fields[4].name, "id"); /* their texts stand in the record that was copied */
    assert_string_equal(line.id, "order\\n-17");
    assert_string_equal(line.fields[5].name, "trace_id");
    assert_string_equal(line.trace_id, TRACE);
}

static void test_no_trace(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, NULL, NULL);
    sample_add(&sample, "traceparent", "nonsense");
    assert_int_equal(line_of(&sample).count, 4);
    sample_begin(&sample, NULL, NULL);
    sample_add(&sample, "traceparent", GOOD);
    sample_add(&sample, "traceparent", GOOD); /* two are none */
    assert_int_equal(line_of(&sample).count, 4);
    sample_begin(&sample, NULL, NULL);
    sample_add(&sample, "Traceparent", GOOD);
    sample_add(&sample, "traceparent", NULL);
    sample_add(&sample, "tarry-id", NULL);
    assert_int_equal(line_of(&sample).count, 4);
}

/* Ids are anything up to 4,096 bytes, and headers are not bounded by us. */
static void test_long_and_binary_ids(void **state)
{
    (void)state;
    struct sample sample;
    uint8_t id[4096];
    memset(id, 0xFF, sizeof(id));
    sample_begin(&sample, NULL, NULL);
    sample_add_bytes(&sample, "tarry-id", (struct span){id, sizeof(id)});
    struct log_record line = line_of(&sample);
    assert_true(strlen(line.id) < LOG_RECORD_ID_SIZE);
    assert_memory_equal(line.id, "\\xff\\xff", 8);
    assert_string_equal(line.id + strlen(line.id) - 3, "...");
}

static void test_a_row(void **state)
{
    (void)state;
    struct sample sample;
    struct decoded decoded = {.due_ms = 5, .target = span_of_text("events"), .partition = -1, .root = -1, .root_timestamp_ms = -1};
    struct buffer bytes = buffer_new(4096);
    struct error error;
    struct row row;
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "traceparent", GOOD);
    decoded.id = span_of_text("nightly");
    decoded.key = sample.record.key;
    decoded.value = sample.record.value;
    assert_true(row_encode(&bytes, &sample.record, &decoded, &error));
    assert_true(row_decode(buffer_span(&bytes), &row, &error));
    struct log_record line;
    log_record_begin(&line, "t", 0, 1);
    log_record_row(&line, &row);
    log_record_end(&line);
    assert_string_equal(text_of(&line, "id"), "nightly");
    assert_string_equal(text_of(&line, "trace_id"), TRACE);
    buffer_free(&bytes);
}

static void test_a_letter(void **state)
{
    (void)state;
    struct letter letter = sample_letter_plain();
    struct buffer headers = buffer_new(4096);
    letter_add_header(&headers, span_of_text("traceparent"), span_of_text(GOOD));
    letter_add_header(&headers, span_of_text("tarry-id"), span_of_text("t/0/1"));
    letter.record.headers = buffer_span(&headers);
    letter.schedule_id = SPAN_ABSENT;
    struct log_record line;
    log_record_letter(&line, &letter);
    log_record_end(&line);
    assert_string_equal(text_of(&line, "letter"), letter.id);
    assert_string_equal(text_of(&line, "trace_id"), TRACE);
    assert_null(text_of(&line, "id"));
    assert_true(span_equals_text(letter.origin.topic, text_of(&line, "topic")));
    letter.schedule_id = span_of_text("mine");
    log_record_letter(&line, &letter);
    log_record_end(&line);
    assert_string_equal(text_of(&line, "id"), "mine");
    buffer_free(&headers);
}

static void test_what_is_not_known_is_left_out(void **state)
{
    (void)state;
    struct log_record line;
    log_record_begin(&line, NULL, -1, -1);
    log_record_end(&line);
    assert_int_equal(line.count, 0);
    for (int i = 0; i < 2 * LOG_RECORD_FIELDS; i++) {
        log_record_add(&line, LOG_NUMBER("n", i));
    }
    assert_int_equal(line.count, LOG_RECORD_FIELDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace_ids), cmocka_unit_test(test_a_record_as_it_was_read), cmocka_unit_test(test_no_trace),
        cmocka_unit_test(test_long_and_binary_ids), cmocka_unit_test(test_a_row), cmocka_unit_test(test_a_letter),
        cmocka_unit_test(test_what_is_not_known_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
