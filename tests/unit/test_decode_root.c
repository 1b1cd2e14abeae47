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
    rules.dialect_count = 0;
    rules.envelope = true;
    begin(&sample, "2:1795961500000");
    expect_decoded(&rules, &sample, 2, ROOT_TIMESTAMP_MS, ROOT_TIMESTAMP_MS + 1000);
    begin(&sample, "x");
    expect_refused(&rules, &sample, REFUSAL_BAD_ROOT);
}

/* Anybody can write it: decided it is, so that it is not decided upon again and again. */
static void a_root_that_decides_0_is_decided(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct refusal refusal = {REFUSAL_NONE, ""};
    struct sample sample;
    (void)state;
    begin(&sample, "5:1795961500000:0:events");
    sample_add(&sample, "tarry-id", "a");
    sample_add(&sample, "tarry-cron", "0 9 * * *");
    assert_true(decode_record(&rules, &sample.record, &decoded, &refusal));
    assert_int_equal(decoded.due_ms, 0);
    assert_false(decoded.undecided);
    begin(&sample, "5:1795961500000");
    sample_add(&sample, "tarry-id", "a");
    sample_add(&sample, "tarry-cron", "0 9 * * *");
    assert_true(decode_record(&rules, &sample.record, &decoded, &refusal));
    assert_true(decoded.undecided);
}

/* Refused it has no id, so nobody could have it go on. */
static void a_paused_one_that_is_refused_does_not_sleep(void **state)
{
    struct sample sample;
    (void)state;
    begin(&sample, "5:1795961500000");
    sample_add(&sample, "tarry-not-before", "253402300799999");
    assert_int_equal(decode_not_before(&sample.record), INT64_C(253402300799999));
    assert_int_equal(decode_refused_due(&sample.record), DUE_SINCE_EVER);
    begin(&sample, "5:1795961500000");
    sample_add(&sample, "tarry-not-before", "253402300799998");
    assert_int_equal(decode_refused_due(&sample.record), INT64_C(253402300799998));
}

static void bad_roots_are_refused(void **state)
{
    static const char *const cases[] = {NULL, "", ":", "3", "3:", ":5", "-1:5", "-0:5", "+3:5", "3:-2", "3:-0", "3:+5", "3:--1", " 3:5", "3:5 ", "3 :5",
                                        "3:5:6", "3::5", "3:5:", "3:5:6:", "3:5::t", "3:5::", "3:5:-1:t", "3:5:+6:t", "3:5:6.0:t",
                                        "3:5:253402300800000:t", "3:5:9223372036854775808:t", "3:5:6:..", "3:5:6:a b", "3:5:6:t ", "3:5:6:\xc3\xa4",
                                        "3:5:6:t:", "3:5:6:t:-1", "3:5:6:t:x", "3:5:6:t:2147483648", "3:5:6:t:9223372036854775808", "3:5:6::1",
                                        "3:5:6:t:1:", "3:5:6:t:1:2", "3:5:6:t::", ":5:6:t", "3::6:t", "-1:5:6:t", "3:-2:6:t", "7:5:6:t", "::::", ":::::", "x:5", "3:x", "3.0:5", "0x3:5", "3:1e9", "3;5", "9223372036854775808:5",
                                        "3:9223372036854775808", "7:5", "8:5", "9223372036854775807:5", "3:2030-01-31T12:00:00Z"};
    struct decode_rules rules = sample_rules();
    (void)state;
    rules.default_delay_ms = 1;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sample sample; /* its offset is 7 */
        struct decode_root root = {.offset = 5, .timestamp_ms = 5, .decided = true, .partition = 5};
        struct refusal refusal = {REFUSAL_NONE, ""};
        begin(&sample, cases[i]);
        expect_refused(&rules, &sample, REFUSAL_BAD_ROOT);
        assert_false(decode_root(&sample.record, &root, &refusal));
        assert_int_equal(refusal.reason, REFUSAL_BAD_ROOT);
        assert_int_equal(root.offset, -1);
        assert_int_equal(root.timestamp_ms, -1);
        assert_false(root.decided);
        assert_int_equal(root.partition, -1);
    }
}

static void names_of_249_bytes_and_no_longer(void **state)
{
    struct decode_root root;
    struct refusal refusal;
    char text[300] = "3:5:6:";
    (void)state;
    memset(text + 6, 't', 250);
    for (size_t length = 249; length <= 250; length++) {
        struct sample sample;
        text[6 + length] = '\0';
        begin(&sample, text);
        assert_int_equal(decode_root(&sample.record, &root, &refusal), length == 249);
        assert_int_equal(root.decided, length == 249);
        text[6 + length] = 't';
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
    struct decode_root root;
    struct sample sample;
    (void)state;
    begin(&sample, "12\n:x");
    assert_false(decode_root(&sample.record, &root, &refusal));
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
    struct decode_root root;
    struct sample sample;
    (void)state;
    begin(&sample, "3:1795961500000");
    sample_add(&sample, "delay_ms", "soon");
    expect_refused(&rules, &sample, REFUSAL_BAD_TIME);
    assert_true(decode_root(&sample.record, &root, &refusal));
    assert_int_equal(root.offset, 3);
    assert_int_equal(root.timestamp_ms, ROOT_TIMESTAMP_MS);
    assert_false(root.decided);
    assert_true(decode_is_control_header(span_of_text("tarry-root")));
}

/* ------------------------------------------------------------------------------------------ what was decided */

#define DUE_MS INT64_C(1795961505000)

/* Decodes, and holds what was decided against root 3 at ROOT_TIMESTAMP_MS, due at DUE_MS. */
static struct decoded kept(const struct decode_rules *rules, const struct sample *sample, const char *target, lane_index lane, int32_t partition)
{
    struct decoded decoded;
    struct refusal refusal = {REFUSAL_NONE, ""};
    if (!decode_record(rules, &sample->record, &decoded, &refusal)) {
        fail_msg("%s", refusal.text);
    }
    assert_int_equal(decoded.root, 3);
    assert_int_equal(decoded.root_timestamp_ms, ROOT_TIMESTAMP_MS);
    assert_int_equal(decoded.due_ms, DUE_MS);
    assert_true(span_equals_text(decoded.target, target));
    assert_int_equal(decoded.lane, lane);
    assert_int_equal(decoded.partition, partition);
    return decoded;
}

static void due_time_and_target_are_kept(void **state)
{
    static const char *const names[] = {"delay_ms", "tarry-at", "tarry-topic", "tarry-partition"};
    static const char *const values[] = {"77", "soon", "no topic's name", "4"};
    struct decode_rules rules = sample_rules();
    struct sample sample;
    (void)state;
    rules.max_delay_ms = 1; /* less than it was */
    rules.default_target = "payments";
    begin(&sample, "3:1795961500000:1795961505000:orders.eu");
    kept(&rules, &sample, "orders.eu", 1, -1);
    rules.default_delay_ms = 5;
    rules.default_target = NULL;
    for (size_t i = 0; i < 4; i++) { /* whatever they say, each of them twice */
        sample_add(&sample, names[i], values[i]);
        sample_add(&sample, names[i], values[i]);
        kept(&rules, &sample, "orders.eu", 1, -1);
    }
    begin(&sample, "3:1795961500000:1795961505000:late-1:0");
    kept(&rules, &sample, "late-1", 2, 0);
    begin(&sample, "3:1795961500000:1795961505000:events:2147483647");
    kept(&rules, &sample, "events", 0, INT32_MAX); /* allowed without a pattern */
    rules.dialect_count = 0;
    kept(&rules, &sample, "events", 0, INT32_MAX);
}

static void due_times_in_the_supported_range(void **state)
{
    struct decode_rules rules = sample_rules();
    struct sample sample;
    (void)state;
    begin(&sample, "3:-1:0:events");
    expect_decoded(&rules, &sample, 3, -1, 0);
    begin(&sample, "3:-1:253402300799999:events");
    expect_decoded(&rules, &sample, 3, -1, INT64_C(253402300799999));
}

/* Anybody can write the header: it opens nothing. */
static void the_allow_list_holds(void **state)
{
    static const struct target_pattern patterns[] = {{"late-*", 1}};
    static const struct target_list fewer = {patterns, 1, NULL, 0, 0};
    struct decode_rules rules = sample_rules();
    struct sample sample;
    (void)state;
    begin(&sample, "3:1795961500000:1795961505000:secret");
    expect_refused(&rules, &sample, REFUSAL_TARGET_NOT_ALLOWED);
    sample_add(&sample, "tarry-topic", "events");
    expect_refused(&rules, &sample, REFUSAL_TARGET_NOT_ALLOWED); /* and there is no second choice */
    begin(&sample, "3:1795961500000:1795961505000:orders.eu");
    kept(&rules, &sample, "orders.eu", 1, -1);
    rules.targets = &fewer; /* what is no longer allowed is not, either */
    expect_refused(&rules, &sample, REFUSAL_TARGET_NOT_ALLOWED);
    begin(&sample, "3:1795961500000:1795961505000:late-2");
    kept(&rules, &sample, "late-2", 1, -1);
}

static struct decoded kept_with_value(const struct decode_rules *rules, struct sample *sample, const char *value, const char *expected)
{
    sample->record.value = span_of_text(value);
    struct decoded decoded = kept(rules, sample, "events", 0, -1);
    assert_true(span_equal(decoded.value, span_of_text(expected)));
    return decoded;
}

/* Key, value and id are what today's rules say, as far as they find them. */
static void bodies_of_today(void **state)
{
    struct decode_rules rules = sample_rules();
    struct sample sample;
    struct decoded decoded;
    (void)state;
    begin(&sample, "3:1795961500000:1795961505000:events");
    sample_add(&sample, "tarry-key", "other");
    decoded = kept_with_value(&rules, &sample, "not JSON", "not JSON");
    assert_true(span_equals_text(decoded.key, "other"));
    rules.envelope = true;
    kept_with_value(&rules, &sample, "not JSON", "not JSON"); /* no envelope today: accepted once, it goes out as it is */
    kept_with_value(&rules, &sample, "", "");
    kept_with_value(&rules, &sample, NULL, NULL);
    decoded = kept_with_value(&rules, &sample, "{\"id\":\"i\"}", "{\"id\":\"i\"}"); /* no payload: then nothing of it counts */
    assert_null(decoded.id.data);
    decoded = kept_with_value(&rules, &sample, "{\"payload\":1,\"id\":\"i\"}", "1");
    assert_true(span_equals_text(decoded.id, "i"));
    /* what says when and where may be anything */
    kept_with_value(&rules, &sample, "{\"payload\":[2],\"delay_ms\":-1,\"deliver_at\":[],\"target\":5,\"type\":{}}", "[2]");
    /* an id that is none today */
    decoded = kept_with_value(&rules, &sample, "{\"payload\":3,\"id\":5}", "3");
    assert_null(decoded.id.data);
    decoded = kept_with_value(&rules, &sample, "{\"payload\":3,\"id\":\"\"}", "3");
    assert_null(decoded.id.data);
    rules.envelope_whole = true;
    kept_with_value(&rules, &sample, "{\"type\":5}", "{\"type\":5}");
}

/* What concerns neither time nor target nor body is refused, of these too. */
static void other_headers_count(void **state)
{
    static const struct {
        const char *name;
        const char *value;
        enum refusal_reason reason;
    } cases[] = {{"tarry-priority", "1", REFUSAL_UNSUPPORTED}, {"tarry-tz", "UTC", REFUSAL_UNSUPPORTED}, {"tarry-id", "", REFUSAL_BAD_ID}};
    struct decode_rules rules = sample_rules();
    struct sample sample;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(&sample, "3:1795961500000:1795961505000:events");
        sample_add(&sample, cases[i].name, cases[i].value);
        expect_refused(&rules, &sample, cases[i].reason);
    }
    begin(&sample, "3:1795961500000:1795961505000:events");
    sample_add(&sample, "tarry-key", "a");
    sample_add(&sample, "tarry-key", "b");
    expect_refused(&rules, &sample, REFUSAL_AMBIGUOUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_people_have_none),
        cmocka_unit_test(times_count_from_the_root),
        cmocka_unit_test(a_root_without_timestamp),
        cmocka_unit_test(without_the_dialect_it_counts_too),
        cmocka_unit_test(a_root_that_decides_0_is_decided),
        cmocka_unit_test(a_paused_one_that_is_refused_does_not_sleep),
        cmocka_unit_test(bad_roots_are_refused),
        cmocka_unit_test(twice_is_refused),
        cmocka_unit_test(the_text_names_header_value_and_remedy),
        cmocka_unit_test(names_of_249_bytes_and_no_longer),
        cmocka_unit_test(refused_for_something_else),
        cmocka_unit_test(due_time_and_target_are_kept),
        cmocka_unit_test(due_times_in_the_supported_range),
        cmocka_unit_test(the_allow_list_holds),
        cmocka_unit_test(bodies_of_today),
        cmocka_unit_test(other_headers_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
