/* Control headers: docs/semantics.md, "Records in". */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include "support/sample_record.h"

/* The reason, REFUSAL_NONE when it decodes. Every refusal has words, and they are UTF-8. */
static enum refusal_reason decode(struct decoded *decoded, const struct decode_rules *rules, struct sample *sample)
{
    struct refusal refusal = {REFUSAL_NONE, ""};
    if (decode_record(rules, &sample->record, decoded, &refusal)) {
        return REFUSAL_NONE;
    }
    assert_int_not_equal(refusal.reason, REFUSAL_NONE);
    assert_true(strlen(refusal.text) > 10 && strlen(refusal.text) < REFUSAL_TEXT_MAX);
    assert_true(text_is_utf8(span_of_text(refusal.text)));
    return refusal.reason;
}

static enum refusal_reason one(const char *name, const char *value, struct decoded *decoded)
{
    struct decode_rules rules = sample_rules();
    struct sample sample;
    sample_begin(&sample, "k", "v");
    sample_add(&sample, name, value);
    return decode(decoded, &rules, &sample);
}

static enum refusal_reason two(const char *name, const char *value, const char *name2, const char *value2)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    sample_begin(&sample, "k", "v");
    sample_add(&sample, name, value);
    sample_add(&sample, name2, value2);
    return decode(&decoded, &rules, &sample);
}

/* With a delay of 1 s beside it. */
static enum refusal_reason with_delay(const char *name, const char *value, struct decoded *decoded)
{
    struct decode_rules rules = sample_rules();
    struct sample sample;
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "tarry-delay", "1s");
    sample_add(&sample, name, value);
    return decode(decoded, &rules, &sample);
}

static void delays_count_from_the_timestamp(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {{"0", 0},
                 {"30000", 30000},
                 {"007", 7},
                 {"1h30m", 5400000},
                 {"2147483647", INT64_C(2147483647)},
                 {"2147483648", INT64_C(2147483648)},
                 {"4294967296", INT64_C(4294967296)},
                 {"366d", SAMPLE_MAX_DELAY_MS}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct decoded decoded;
        assert_int_equal(one("tarry-delay", cases[i].text, &decoded), REFUSAL_NONE);
        assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + cases[i].ms);
        assert_int_equal(one("delay_ms", cases[i].text, &decoded), REFUSAL_NONE);
        assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + cases[i].ms);
        assert_true(span_equals_text(decoded.target, "events"));
        assert_int_equal(decoded.partition, -1);
        assert_null(decoded.id.data);
    }
}

static void bad_delays_are_refused(void **state)
{
    static const char *const cases[] = {"",
                                        NULL,
                                        " ",
                                        "soon",
                                        "1.5",
                                        "-1",
                                        "+1",
                                        "1 ",
                                        " 1",
                                        "1e9",
                                        "1.5s",
                                        "1h 1m",
                                        "30s1m",
                                        "0x10",
                                        "1,000",
                                        "nan",
                                        "1500.7",
                                        "\xFF\xFE",
                                        "18446744073709551616",
                                        "9223372036854775808",
                                        "99999999999999999999d"};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct decoded decoded;
        assert_int_equal(one("tarry-delay", cases[i], &decoded), REFUSAL_BAD_TIME);
        assert_int_equal(one("delay_ms", cases[i], &decoded), REFUSAL_BAD_TIME);
    }
}

static void delays_beyond_max_delay_are_refused(void **state)
{
    struct decoded decoded;
    (void)state;
    assert_int_equal(one("tarry-delay", "9223372036854775807", &decoded), REFUSAL_TOO_FAR);
    assert_int_equal(one("tarry-delay", "366d1ms", &decoded), REFUSAL_TOO_FAR);
    assert_int_equal(one("tarry-delay", "31622400001", &decoded), REFUSAL_TOO_FAR);
}

static void no_sum_wraps(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    rules.max_delay_ms = INT64_MAX;
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "tarry-delay", "9223372036854775807");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_TOO_FAR);
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "tarry-delay", "0");
    sample.record.timestamp_ms = INT64_MAX;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_TOO_FAR);
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "tarry-at", "100000000000");
    sample.record.timestamp_ms = INT64_MAX;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, INT64_C(100000000000));
}

static void absolute_times(void **state)
{
    struct decoded decoded;
    (void)state;
    assert_int_equal(one("tarry-at", "1795961575000", &decoded), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, INT64_C(1795961575000));
    assert_int_equal(one("tarry-at", "2026-11-29T15:12:55.0001+01:00", &decoded), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, INT64_C(1795961575001));
    /* Past: due at once, by the same key every time it is read. */
    assert_int_equal(one("tarry-at", "2001-09-09T01:46:40Z", &decoded), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, INT64_C(1000000000000));
    assert_int_equal(one("tarry-at", "100000000000", &decoded), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, INT64_C(100000000000));
}

static void seconds_where_milliseconds_are_due(void **state)
{
    static const char *const cases[] = {"0",
                                        "1",
                                        "1795961634",
                                        "99999999999",
                                        "1970-01-21T18:52:41.574Z",
                                        "1969-12-31T23:59:59Z",
                                        "0000-01-01T00:00:00Z"};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct decoded decoded;
        assert_int_equal(one("tarry-at", cases[i], &decoded), REFUSAL_SECONDS);
    }
}

static void bad_absolute_times(void **state)
{
    static const char *const bad[] = {"",
                                      NULL,
                                      "now",
                                      "tomorrow",
                                      "2026-11-29",
                                      "2026-11-29T14:12:54",
                                      "-1",
                                      "+1795961575000",
                                      "1795961575000.5",
                                      "1.795961575e12",
                                      " 1795961575000",
                                      "10m",
                                      "18446744073709551616",
                                      "2026-02-30T00:00:00Z",
                                      "2026-11-29 14:12:54Z"};
    static const char *const far[] = {"9223372036854775807",  "1795961634000000",     "1795961634000000000",
                                      "2028-11-29T14:12:54Z", "9999-12-31T23:59:59Z", "1827583974001"};
    struct decoded decoded;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(one("tarry-at", bad[i], &decoded), REFUSAL_BAD_TIME);
    }
    for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
        assert_int_equal(one("tarry-at", far[i], &decoded), REFUSAL_TOO_FAR);
    }
    assert_int_equal(one("tarry-at", "1827583974000", &decoded), REFUSAL_NONE); /* max_delay to the millisecond */
}

static enum refusal_reason without_timestamp(const char *name, const char *value, struct decoded *decoded)
{
    struct decode_rules rules = sample_rules();
    struct sample sample;
    sample_begin(&sample, "k", "v");
    sample.record.timestamp = RECORD_TIMESTAMP_NONE;
    sample.record.timestamp_ms = -1;
    sample_add(&sample, name, value);
    return decode(decoded, &rules, &sample);
}

static void records_without_timestamp(void **state)
{
    struct decoded decoded;
    (void)state;
    assert_int_equal(without_timestamp("tarry-delay", "5000", &decoded), REFUSAL_NO_TIMESTAMP);
    assert_int_equal(without_timestamp("delay_ms", "0", &decoded), REFUSAL_NO_TIMESTAMP);
    assert_int_equal(without_timestamp("tarry-at", "9999-12-31T23:59:59.999Z", &decoded), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, INT64_C(253402300799999));
    assert_int_equal(without_timestamp("tarry-at", "253402300800000", &decoded), REFUSAL_TOO_FAR);
    assert_int_equal(without_timestamp("tarry-at", "1795961575", &decoded), REFUSAL_SECONDS);
}

static void the_base_is_the_records_own_timestamp(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    static const int64_t shifts[] = {-3600000, 0, 3600000};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (int kind = RECORD_TIMESTAMP_CREATE; kind <= RECORD_TIMESTAMP_APPEND; kind++) {
            sample_begin(&sample, "k", "v");
            sample_add(&sample, "delay_ms", "5000");
            sample.record.timestamp_ms += shifts[i];
            sample.record.timestamp = (enum record_timestamp)kind;
            assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
            assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + shifts[i] + 5000);
        }
    }
}

static void no_time_at_all(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    sample_begin(&sample, "k", "v");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NO_TIME);
    sample_add(&sample, "Delay_Ms", "5000"); /* not ours: case counts */
    sample_add(&sample, "TARRY-DELAY", "5000");
    sample_add(&sample, "x-delay", "5000");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NO_TIME);
    rules.default_delay_ms = 60000;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + 60000);
    sample.record.timestamp = RECORD_TIMESTAMP_NONE;
    sample.record.timestamp_ms = -1;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NO_TIMESTAMP);
}

static void repeats_and_contradictions(void **state)
{
    (void)state;
    assert_int_equal(two("delay_ms", "1000", "delay_ms", "60000"), REFUSAL_AMBIGUOUS);
    assert_int_equal(two("delay_ms", "1000", "delay_ms", "1000"), REFUSAL_AMBIGUOUS);
    assert_int_equal(two("tarry-delay", "1000", "delay_ms", "1000"), REFUSAL_AMBIGUOUS);
    assert_int_equal(two("delay_ms", "1000", "tarry-at", "1795961575000"), REFUSAL_AMBIGUOUS);
    assert_int_equal(two("tarry-at", "1795961575000", "tarry-at", "1795961575000"), REFUSAL_AMBIGUOUS);
    assert_int_equal(two("delay_ms", "1000", "Delay_Ms", "60000"), REFUSAL_NONE);
    static const char *const once[] = {"tarry-topic", "tarry-key", "tarry-partition", "tarry-id", "tarry-action"};
    for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++) {
        assert_int_equal(two(once[i], "1", once[i], "1"), REFUSAL_AMBIGUOUS);
        assert_int_equal(two(once[i], NULL, once[i], NULL), REFUSAL_AMBIGUOUS);
    }
}

static void what_tarry_does_not_do(void **state)
{
    static const char *const names[] = {"tarry-", "tarry-delayed", "tarry-Delay", "tarry-priority", "tarry-due2", "tarry-cronx", "tarry-run"};
    struct decoded decoded;
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(with_delay(names[i], "1", &decoded), REFUSAL_UNSUPPORTED);
    }
    assert_int_equal(with_delay("tarry-action", "schedule", &decoded), REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_SCHEDULE);
    assert_int_equal(with_delay("tarry-action", "Schedule", &decoded), REFUSAL_UNSUPPORTED);
    assert_int_equal(with_delay("tarry-action", "tombstone", &decoded), REFUSAL_UNSUPPORTED);
    assert_int_equal(with_delay("tarry-action", "", &decoded), REFUSAL_UNSUPPORTED);
    assert_int_equal(with_delay("tarry-action", NULL, &decoded), REFUSAL_UNSUPPORTED);
    assert_int_equal(with_delay("tarry", "1", &decoded), REFUSAL_NONE);
    assert_int_equal(with_delay("tarryx-delay", "1", &decoded), REFUSAL_NONE);
    assert_int_equal(with_delay("", "1", &decoded), REFUSAL_NONE);
}

static void records_that_come_round_again(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "tarry-id", "delayed-event/0/5");
    sample_add(&sample, "tarry-due", "1795961574000");
    sample_add(&sample, "tarry-source", "delayed-event/0/5");
    sample_add(&sample, "tarry-due", "1795961574000");
    sample_add(&sample, "tarry-redelivery", "2"); /* a consumer's failure that came back, or a replay through the delay topic */
    sample_add(&sample, "tarry-replays", "1");
    sample_add(&sample, "tarry-delay", "1s");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.id, "delayed-event/0/5"));
}

static void targets(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(with_delay("tarry-topic", "orders.eu", &decoded), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.target, "orders.eu"));
    assert_int_equal(decoded.lane, 1);
    assert_int_equal(with_delay("tarry-topic", "payments", &decoded), REFUSAL_NONE);
    assert_int_equal(decoded.lane, 0);
    assert_int_equal(with_delay("tarry-topic", "secret", &decoded), REFUSAL_TARGET_NOT_ALLOWED);
    static const char *const bad[] = {"", NULL, ".", "..", "a b", "a/b", "orders.\xC3\xA9", "orders.*"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(with_delay("tarry-topic", bad[i], &decoded), REFUSAL_BAD_TARGET);
    }
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "delay_ms", "1");
    rules.default_target = NULL;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NO_TARGET);
}

static void partitions(void **state)
{
    struct decoded decoded;
    (void)state;
    assert_int_equal(with_delay("tarry-partition", "0", &decoded), REFUSAL_NONE);
    assert_int_equal(decoded.partition, 0);
    assert_int_equal(with_delay("tarry-partition", "2147483647", &decoded), REFUSAL_NONE);
    assert_int_equal(decoded.partition, INT32_MAX);
    static const char *const bad[] = {"",  NULL, "-1", "+1", "1.0", "2147483648", "4294967296", "18446744073709551616",
                                      "a", " 1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(with_delay("tarry-partition", bad[i], &decoded), REFUSAL_BAD_TARGET);
    }
}

static void keys_and_values(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    (void)state;
    assert_int_equal(with_delay("tarry-key", "other", &decoded), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.key, "other"));
    assert_int_equal(with_delay("tarry-key", "", &decoded), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.key, ""));
    assert_int_equal(with_delay("tarry-key", NULL, &decoded), REFUSAL_NONE);
    assert_null(decoded.key.data);
    static const char *const pairs[][2] = {{"k", NULL}, {NULL, "v"}, {"", "v"}, {"k", ""}, {NULL, NULL}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct sample sample;
        sample_begin(&sample, pairs[i][0], pairs[i][1]);
        sample_add(&sample, "delay_ms", "1000");
        assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
        assert_true(span_equal(decoded.key, sample.record.key));
        assert_true(span_equal(decoded.value, sample.record.value));
    }
}

static void ids(void **state)
{
    static uint8_t bytes[4097];
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(with_delay("tarry-id", "", &decoded), REFUSAL_BAD_ID);
    assert_int_equal(with_delay("tarry-id", NULL, &decoded), REFUSAL_BAD_ID);
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "delay_ms", "1");
    sample_add_bytes(&sample, "tarry-id", (struct span){bytes, 1}); /* a NUL byte is an id like any other */
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_int_equal(decoded.id.length, 1);
    sample.headers[1].value.length = 4096;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_int_equal(decoded.id.length, 4096);
    sample.headers[1].value.length = 4097;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_BAD_ID);
}

static void without_the_dialect_headers_say_nothing(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    rules.dialect_count = 0;
    rules.default_delay_ms = 5;
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "delay_ms", "nonsense");
    sample_add(&sample, "delay_ms", "nonsense");
    sample_add(&sample, "tarry-cron", "* * * * *");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + 5);
}

static void a_refusal_leaves_the_result_alone(void **state)
{
    struct decoded decoded;
    struct decoded before;
    (void)state;
    memset(&decoded, 0x5A, sizeof(decoded));
    before = decoded;
    assert_int_equal(one("tarry-at", "1", &decoded), REFUSAL_SECONDS);
    assert_int_equal(with_delay("tarry-id", "", &decoded), REFUSAL_BAD_ID);
    assert_memory_equal(&decoded, &before, sizeof(decoded));
}

static void refusals_name_header_value_and_remedy(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct refusal refusal;
    struct sample sample;
    (void)state;
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "delay_ms", "1.5\n");
    assert_false(decode_record(&rules, &sample.record, &decoded, &refusal));
    assert_non_null(strstr(refusal.text, "delay_ms"));
    assert_non_null(strstr(refusal.text, "\"1.5\\n\""));
    assert_non_null(strstr(refusal.text, "1h30m"));
    char longest[5000];
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "tarry-at", longest);
    assert_false(decode_record(&rules, &sample.record, &decoded, &refusal));
    assert_non_null(strstr(refusal.text, "xxx...\""));
    assert_non_null(strstr(refusal.text, "RFC 3339"));
    for (int reason = 0; reason < REFUSAL_REASONS; reason++) {
        assert_true(strlen(refusal_name((enum refusal_reason)reason)) > 0);
        for (int other = 0; other < reason; other++) {
            assert_string_not_equal(refusal_name((enum refusal_reason)reason),
                                    refusal_name((enum refusal_reason)other));
        }
    }
}

static void control_headers_are_ours(void **state)
{
    (void)state;
    assert_true(decode_is_control_header(span_of_text("tarry-delay")));
    assert_true(decode_is_control_header(span_of_text("tarry-anything")));
    assert_true(decode_is_control_header(span_of_text("tarry-")));
    assert_true(decode_is_control_header(span_of_text("delay_ms")));
    assert_false(decode_is_control_header(span_of_text("Delay_Ms")));
    assert_false(decode_is_control_header(span_of_text("Tarry-delay")));
    assert_false(decode_is_control_header(span_of_text("tarry")));
    assert_false(decode_is_control_header(span_of_text("delay_ms2")));
    assert_false(decode_is_control_header(span_of_text("")));
    assert_false(decode_is_control_header(span_of_text("traceparent")));
}

/* Property: random headers, from names of ours and not, with random values: never a crash, and what is decoded is
 * within the rules. */
static void random_headers(void **state)
{
    static const char *const names[] = {"tarry-delay", "delay_ms",        "tarry-at", "tarry-topic",
                                        "tarry-key",   "tarry-partition", "tarry-id", "tarry-action",
                                        "tarry-due",   "other",           "",         "tarry-x"};
    static const char *const values[] = {"1",  "1h", "1795961575000",       "schedule", "orders.eu", "",
                                         NULL, "-1", "2026-11-29T14:12:55Z"};
    struct decode_rules rules = sample_rules();
    struct random random = random_new(17);
    size_t decoded_count = 0;
    (void)state;
    for (int round = 0; round < 100000; round++) {
        struct sample sample;
        struct decoded decoded;
        sample_begin(&sample, "k", "v");
        for (uint64_t count = random_below(&random, 4); count > 0; count--) {
            sample_add(&sample, names[random_below(&random, 12)], values[random_below(&random, 9)]);
        }
        if (decode(&decoded, &rules, &sample) == REFUSAL_NONE) {
            decoded_count++;
            assert_true(decoded.due_ms >= INT64_C(100000000000));
            assert_true(decoded.due_ms <= SAMPLE_TIMESTAMP_MS + SAMPLE_MAX_DELAY_MS);
            assert_true(target_name_valid(decoded.target));
        }
    }
    assert_in_range(decoded_count, 1000, 99000);
}

/* The same under every locale that this machine has: none of them changes what a point or a digit is. */
static void locales_change_nothing(void **state)
{
    static const char *const locales[] = {"C",           "C.utf8",      "de_DE.UTF-8", "de_DE",
                                          "fr_FR.UTF-8", "ar_EG.UTF-8", "tr_TR.UTF-8"};
    size_t set = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(locales) / sizeof(locales[0]); i++) {
        struct decoded decoded;
        if (setlocale(LC_ALL, locales[i]) == NULL) {
            continue;
        }
        set++;
        assert_int_equal(one("delay_ms", "1500", &decoded), REFUSAL_NONE);
        assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + 1500);
        assert_int_equal(one("delay_ms", "1,5", &decoded), REFUSAL_BAD_TIME);
        assert_int_equal(one("delay_ms", "1.5", &decoded), REFUSAL_BAD_TIME);
        assert_int_equal(one("tarry-at", "2026-11-29T14:12:55.5Z", &decoded), REFUSAL_NONE);
        assert_int_equal(decoded.due_ms, INT64_C(1795961575500));
    }
    assert_non_null(setlocale(LC_ALL, "C"));
    assert_true(set >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delays_count_from_the_timestamp),
        cmocka_unit_test(bad_delays_are_refused),
        cmocka_unit_test(delays_beyond_max_delay_are_refused),
        cmocka_unit_test(no_sum_wraps),
        cmocka_unit_test(absolute_times),
        cmocka_unit_test(seconds_where_milliseconds_are_due),
        cmocka_unit_test(bad_absolute_times),
        cmocka_unit_test(records_without_timestamp),
        cmocka_unit_test(the_base_is_the_records_own_timestamp),
        cmocka_unit_test(no_time_at_all),
        cmocka_unit_test(repeats_and_contradictions),
        cmocka_unit_test(what_tarry_does_not_do),
        cmocka_unit_test(records_that_come_round_again),
        cmocka_unit_test(targets),
        cmocka_unit_test(partitions),
        cmocka_unit_test(keys_and_values),
        cmocka_unit_test(ids),
        cmocka_unit_test(without_the_dialect_headers_say_nothing),
        cmocka_unit_test(a_refusal_leaves_the_result_alone),
        cmocka_unit_test(refusals_name_header_value_and_remedy),
        cmocka_unit_test(control_headers_are_ours),
        cmocka_unit_test(random_headers),
        cmocka_unit_test(locales_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
