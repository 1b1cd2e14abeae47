/* The record of a replay: which delay topic, which headers, and what cannot go anywhere. What Kafka then gets is tests/integration/test_dlq_replay.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/dlq_replay_record.h"

static const char *const tarry[] = {"tarry"};

static struct config_source sources[] = {
    {.topic = "envelopes", .dialects = {tarry, 1}, .envelope = true},
    {.topic = "first", .dialects = {tarry, 1}},
    {.topic = "second", .dialects = {tarry, 1}},
};

static struct letter letter_of(const char *target, const char *origin)
{
    return (struct letter){.id = "0123456789abcdef0123456789abcdef",
                           .error = span_of_text("why"),
                           .attempt = 4,
                           .target = span_of_text(target),
                           .target_partition = -1,
                           .origin = {span_of_text(origin), 1, 2, 3},
                           .record = {span_of_text("k"), span_of_text("v"), SPAN_ABSENT}};
}

static void by_way_of(const char *origin, const char *wanted)
{
    struct config config = {.sources = sources, .source_count = 3};
    struct dlq_replay_options options = dlq_replay_options_new("dlq replay");
    options.delay_ms = 1000;
    struct dlq_replay_record maker = dlq_replay_record_new(&config, &options);
    struct letter_sink_record record;
    struct letter letter = letter_of("t", origin);
    assert_true(dlq_replay_record_check(&maker, NULL));
    assert_true(dlq_replay_record_make(&maker, &letter, &record, NULL));
    assert_string_equal(record.topic, wanted);
    dlq_replay_record_free(&maker);
    dlq_replay_options_free(&options);
}

static void a_delay_topic_that_wants_envelopes_is_not_taken(void **state)
{
    (void)state;
    by_way_of("second", "second");
    by_way_of("first", "first");
    by_way_of("envelopes", "first");
    by_way_of("elsewhere", "first");
    struct config config = {.sources = sources, .source_count = 1};
    struct dlq_replay_options options = dlq_replay_options_new("dlq replay");
    struct dlq_replay_record maker = dlq_replay_record_new(&config, &options);
    assert_true(dlq_replay_record_check(&maker, NULL));
    options.delay_ms = 1000;
    assert_false(dlq_replay_record_check(&maker, NULL));
    dlq_replay_record_free(&maker);
    dlq_replay_options_free(&options);
}

static void a_letter_that_names_no_topic_needs_one(void **state)
{
    (void)state;
    static const char *const illegal[] = {"", "a/b", "a b", "\xff"};
    struct config config = {0};
    struct dlq_replay_options options = dlq_replay_options_new("dlq replay");
    struct dlq_replay_record maker = dlq_replay_record_new(&config, &options);
    struct letter_sink_record record;
    struct error error = {ERROR_NONE, ""};
    for (size_t i = 0; i < sizeof illegal / sizeof illegal[0]; i++) {
        struct letter letter = letter_of(illegal[i], "origin");
        assert_false(dlq_replay_record_make(&maker, &letter, &record, &error));
        assert_int_equal(error.code, ERROR_INVALID);
    }
    struct letter refused = letter_of(NULL, "origin");
    assert_true(dlq_replay_record_make(&maker, &refused, &record, &error));
    assert_string_equal(record.topic, "origin");
    options.to = "there";
    struct letter letter = letter_of("a/b", "origin");
    assert_true(dlq_replay_record_make(&maker, &letter, &record, &error));
    assert_string_equal(record.topic, "there");
    assert_int_equal(record.partition, -1);
    dlq_replay_record_free(&maker);
    dlq_replay_options_free(&options);
}

static size_t count_header(const struct letter_sink_record *record, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < record->header_count; i++) {
        count += span_equals_text(record->headers[i].name, name);
    }
    return count;
}

static void on_a_delay_topic_no_control_header_is_given_twice(void **state)
{
    (void)state;
    static const char *const names[] = {"tarry-id", "tarry-delay", "delay_ms", "tarry-at", "tarry-topic", "tarry-key", "tarry-partition", "tarry-root",
                                        "tarry-due", "tarry-source", "tarry-unknown", "tarry-id", "mine"};
    struct buffer headers = buffer_new(10000);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        letter_add_header(&headers, span_of_text(names[i]), span_of_text(i == 0 ? "first" : "x"));
    }
    struct config config = {.sources = sources, .source_count = 3};
    struct dlq_replay_options options = dlq_replay_options_new("dlq replay");
    options.delay_ms = 1000;
    struct dlq_replay_record maker = dlq_replay_record_new(&config, &options);
    struct letter letter = letter_of("t", "first");
    struct letter_sink_record record;
    letter.record.headers = buffer_span(&headers);
    assert_true(dlq_replay_record_make(&maker, &letter, &record, NULL));
    assert_int_equal(count_header(&record, "tarry-id"), 1);
    assert_true(span_equals_text(record.headers[0].name, "tarry-id") && span_equals_text(record.headers[0].value, "first"));
    assert_int_equal(count_header(&record, "tarry-delay"), 1);
    assert_int_equal(count_header(&record, "tarry-topic"), 1);
    assert_int_equal(count_header(&record, "tarry-replays"), 1);
    assert_int_equal(count_header(&record, "mine"), 1);
    static const char *const gone[] = {"delay_ms", "tarry-at", "tarry-key", "tarry-partition", "tarry-root", "tarry-due", "tarry-source", "tarry-unknown"};
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        assert_int_equal(count_header(&record, gone[i]), 0);
    }
    dlq_replay_record_free(&maker);
    dlq_replay_options_free(&options);
    buffer_free(&headers);
}

/* With its own id it would replace what is pending of it: the schedule that it is an occurrence of. */
static void what_has_an_id_goes_on_under_another(void **state)
{
    (void)state;
    static const char *const known[] = {"t"};
    static const struct target_list targets = {.known = known, .known_count = 1};
    struct buffer headers = buffer_new(10000);
    letter_add_header(&headers, span_of_text("tarry-id"), span_of_text("report"));
    letter_add_header(&headers, span_of_text("tarry-id"), span_of_text("report"));
    struct config config = {.sources = sources, .source_count = 3};
    struct dlq_replay_options options = dlq_replay_options_new("dlq replay");
    struct dlq_replay_record maker = dlq_replay_record_new(&config, &options);
    struct letter letter = letter_of("t", "first");
    struct letter_sink_record record;
    letter.schedule_id = span_of_text("report");
    letter.record.headers = buffer_span(&headers);
    assert_true(dlq_replay_record_make(&maker, &letter, &record, NULL));
    assert_int_equal(count_header(&record, "tarry-id"), 2); /* straight to its target nothing is pending under it */
    options.delay_ms = 1000;
    assert_true(dlq_replay_record_make(&maker, &letter, &record, NULL));
    struct record made = {.offset = 9, .timestamp_ms = 1795961574000, .timestamp = RECORD_TIMESTAMP_CREATE};
    made.headers = record.headers;
    made.header_count = record.header_count;
    struct decode_rules rules = {.dialects = dialect_tarry_alone, .dialect_count = 1, .max_delay_ms = 5000, .default_delay_ms = -1, .targets = &targets};
    struct decoded decoded;
    struct refusal refusal;
    assert_true(decode_record(&rules, &made, &decoded, &refusal));
    assert_true(span_equals_text(decoded.id, letter.id));
    dlq_replay_record_free(&maker);
    dlq_replay_options_free(&options);
    buffer_free(&headers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delay_topic_that_wants_envelopes_is_not_taken),
        cmocka_unit_test(a_letter_that_names_no_topic_needs_one),
        cmocka_unit_test(on_a_delay_topic_no_control_header_is_given_twice),
        cmocka_unit_test(what_has_an_id_goes_on_under_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
