/* What records ask for beyond once, at one time: docs/semantics.md, "Schedules". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/text.h"
#include "bridge/time_text.h"
#include "support/sample_record.h"

#define ROOT "3:1795961500000:1795961505000:events"

static struct refusal refused;

static enum refusal_reason decode(struct decoded *decoded, const struct decode_rules *rules, const struct sample *sample)
{
    refused = (struct refusal){REFUSAL_NONE, ""};
    if (decode_record(rules, &sample->record, decoded, &refused)) {
        return REFUSAL_NONE;
    }
    assert_true(strlen(refused.text) > 10 && text_is_utf8(span_of_text(refused.text)));
    return refused.reason;
}

/* Headers as name, value, ..., NULL; by the sample's rules. */
static enum refusal_reason decode_headers(struct decoded *decoded, struct sample *sample, const char *const *headers)
{
    struct decode_rules rules = sample_rules();
    sample_begin(sample, "k", "v");
    for (; headers[0] != NULL; headers += 2) {
        sample_add(sample, headers[0], headers[1]);
    }
    return decode(decoded, &rules, sample);
}

#define HEADERS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void every_comes_first_after_its_span(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {{"1s", 1000}, {"1000", 1000}, {"1h30m", 5400000}, {"366d", SAMPLE_MAX_DELAY_MS}, {"1500ms", 1500}};
    struct decoded decoded;
    struct sample sample;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-every", cases[i].text)), REFUSAL_NONE);
        assert_int_equal(decoded.recurrence.kind, DECODE_RECURRENCE_EVERY);
        assert_int_equal(decoded.recurrence.every_ms, cases[i].ms);
        assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + cases[i].ms);
        assert_false(decoded.undecided || decoded.conditional || decoded.paused);
        assert_null(decoded.recurrence.cron.data);
        assert_null(decoded.recurrence.zone.data);
        assert_int_equal(decoded.recurrence.until_ms, -1);
        assert_int_equal(decoded.recurrence.count, 0);
        assert_int_equal(decoded.recurrence.runs, 0);
    }
}

static void a_given_time_is_the_first_firing(void **state)
{
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-every", "1h", "tarry-delay", "0")), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-cron", "0 9 * * *", "tarry-at", "1795961575000")), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, INT64_C(1795961575000));
    assert_false(decoded.undecided);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-cron", "0 9 * * *", "tarry-delay", "1s", "tarry-at", "1795961575000")),
                     REFUSAL_AMBIGUOUS);
}

static void a_cron_without_a_first_firing_is_undecided(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-cron", "0 9 * * MON-FRI", "tarry-tz", "Europe/Berlin")), REFUSAL_NONE);
    assert_true(decoded.undecided);
    assert_false(decoded.conditional);
    assert_int_equal(decoded.due_ms, DUE_SINCE_EVER);
    assert_int_equal(decoded.recurrence.kind, DECODE_RECURRENCE_CRON);
    assert_int_equal(decoded.recurrence.every_ms, 0);
    assert_true(span_equals_text(decoded.recurrence.cron, "0 9 * * MON-FRI"));
    assert_true(span_equals_text(decoded.recurrence.zone, "Europe/Berlin"));
    rules.default_delay_ms = 5; /* a cron names its times */
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, DUE_SINCE_EVER);
    sample.record.timestamp = RECORD_TIMESTAMP_NONE;
    sample.record.timestamp_ms = -1;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
}

static void every_needs_a_timestamp(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "tarry-id", "a");
    sample_add(&sample, "tarry-every", "10s");
    rules.default_delay_ms = 5;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + 10000); /* not default_delay */
    sample.record.timestamp = RECORD_TIMESTAMP_NONE;
    sample.record.timestamp_ms = -1;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NO_TIMESTAMP);
    sample_add(&sample, "tarry-at", "1795961575000");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
}

static void what_limits_it(void **state)
{
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-every", "1m", "tarry-until", "2027-01-01T00:00:00Z", "tarry-count", "12")),
                     REFUSAL_NONE);
    assert_int_equal(decoded.recurrence.until_ms, INT64_C(1798761600000));
    assert_int_equal(decoded.recurrence.count, 12);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-every", "1m", "tarry-count", "1000000000000")), REFUSAL_NONE);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-every", "1m", "tarry-until", "1795961634000")), REFUSAL_NONE);
    /* the first firing would be a millisecond after the last moment */
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-every", "1m", "tarry-until", "1795961633999")), REFUSAL_BAD_SCHEDULE);
}

/* Each header: null, empty, with a NUL, repeated, and what is none of its kind. */
static void bad_values_are_refused(void **state)
{
    static const struct {
        const char *name;
        const char *good;
        enum refusal_reason reason;
        const char *bad[9];
    } cases[] = {
        {"tarry-every", "1h", REFUSAL_BAD_SCHEDULE, {"999", "999ms", "0", "-1s", "1.5s", "1e9", " 1s", "9223372036854775808", "soon"}},
        {"tarry-cron", "0 9 * * *", REFUSAL_BAD_SCHEDULE, {"0 9 * * *\n", "\t0 9", "0 9 \xC3\xA9"}},
        {"tarry-tz", "UTC", REFUSAL_BAD_SCHEDULE, {"Europe Berlin", "../etc/passwd", "a.b", "Z\xC3\xBCrich", ":UTC"}},
        {"tarry-count", "3", REFUSAL_BAD_SCHEDULE, {"0", "-1", "+1", "1.0", "1e3", "1000000000001", "18446744073709551617", " 1", "many"}},
        {"tarry-until", "2027-01-01T00:00:00Z", REFUSAL_BAD_TIME, {"tomorrow", "1h", "2027-01-01", "-1", "1.0", "18446744073709551616"}},
        {"tarry-expires", "2027-01-01T00:00:00Z", REFUSAL_BAD_TIME, {"tomorrow", "1h", "2027-01-01", "-1", "1.0", "18446744073709551616"}},
        {"tarry-if-exists", "reject", REFUSAL_UNSUPPORTED, {"Reject", "keep", "reject ", "1"}},
    };
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sample sample;
        sample_begin(&sample, "k", "v");
        sample_add(&sample, "tarry-id", "a");
        sample_add(&sample, "tarry-delay", "1s");
        if (strcmp(cases[i].name, "tarry-every") != 0 && strcmp(cases[i].name, "tarry-cron") != 0) {
            sample_add(&sample, "tarry-every", "1m");
        }
        sample_add(&sample, cases[i].name, cases[i].good);
        struct record_header *header = &sample.headers[sample.record.header_count - 1];
        assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
        for (size_t b = 0; b < 9 && cases[i].bad[b] != NULL; b++) {
            header->value = span_of_text(cases[i].bad[b]);
            assert_int_equal(decode(&decoded, &rules, &sample), cases[i].reason);
            assert_non_null(strstr(refused.text, cases[i].name));
            assert_non_null(strstr(refused.text, "give"));
        }
        header->value = span_of_text("");
        assert_int_equal(decode(&decoded, &rules, &sample), cases[i].reason);
        header->value = SPAN_ABSENT;
        assert_int_equal(decode(&decoded, &rules, &sample), cases[i].reason);
        char with_nul[64];
        size_t length = strlen(cases[i].good);
        memcpy(with_nul, cases[i].good, length + 1);
        header->value = (struct span){(const uint8_t *)with_nul, length + 1};
        assert_int_equal(decode(&decoded, &rules, &sample), cases[i].reason);
        header->value = span_of_text(cases[i].good);
        sample_add(&sample, cases[i].name, cases[i].good);
        assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_AMBIGUOUS);
    }
}

static void bounds_of_texts(void **state)
{
    static char text[DECODE_CRON_MAX + 1];
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    memset(text, '*', sizeof text);
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "tarry-id", "a");
    sample_add_bytes(&sample, "tarry-cron", (struct span){(const uint8_t *)text, DECODE_CRON_MAX});
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    sample.headers[1].value.length = DECODE_CRON_MAX + 1;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_BAD_SCHEDULE);
    sample.headers[1].value.length = 1;
    memset(text, 'a', sizeof text);
    sample_add_bytes(&sample, "tarry-tz", (struct span){(const uint8_t *)text, DECODE_ZONE_MAX});
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    sample.headers[2].value.length = DECODE_ZONE_MAX + 1;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_BAD_SCHEDULE);
}

static void contradictions(void **state)
{
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-every", "1m", "tarry-cron", "* * * * *")), REFUSAL_AMBIGUOUS);
    static const char *const alone[][2] = {{"tarry-tz", "UTC"}, {"tarry-until", "2027-01-01T00:00:00Z"}, {"tarry-count", "2"}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-delay", "1s", alone[i][0], alone[i][1])), REFUSAL_UNSUPPORTED);
        assert_non_null(strstr(refused.text, "tarry-cron or tarry-every"));
    }
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-every", "367d")), REFUSAL_TOO_FAR);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-delay", "1s", "tarry-every", "367d")), REFUSAL_TOO_FAR);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-every", "1m", "tarry-until", "1795961634")), REFUSAL_SECONDS);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-every", "1m", "tarry-until", "253402300800000")), REFUSAL_TOO_FAR);
}

static void what_comes_again_has_an_id(void **state)
{
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-every", "1m")), REFUSAL_BAD_ID);
    assert_non_null(strstr(refused.text, "tarry-id"));
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-cron", "0 9 * * *")), REFUSAL_BAD_ID);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-delay", "1s", "tarry-if-exists", "reject")), REFUSAL_BAD_ID);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-delay", "1s", "tarry-if-exists", "replace")), REFUSAL_NONE);
}

static void conditions(void **state)
{
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-delay", "1s", "tarry-if-exists", "reject")), REFUSAL_NONE);
    assert_true(decoded.conditional && decoded.undecided);
    assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + 1000); /* what is wanted */
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-cron", "0 9 * * *", "tarry-if-exists", "reject")), REFUSAL_NONE);
    assert_true(decoded.conditional && decoded.undecided);
    assert_int_equal(decoded.due_ms, DUE_SINCE_EVER);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-delay", "1s", "tarry-if-exists", "replace")), REFUSAL_NONE);
    assert_false(decoded.conditional || decoded.undecided);
}

static void expiry(void **state)
{
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-delay", "1s")), REFUSAL_NONE);
    assert_int_equal(decoded.expires_ms, -1);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-delay", "1s", "tarry-expires", "1795961580000")), REFUSAL_NONE);
    assert_int_equal(decoded.expires_ms, INT64_C(1795961580000));
    /* beyond max_delay is fine; before it is due too: then it expires when its turn comes */
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-delay", "1s", "tarry-expires", "9999-12-31T23:59:59.999Z")), REFUSAL_NONE);
    assert_int_equal(decoded.expires_ms, TIME_TEXT_LAST_MS);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-delay", "1s", "tarry-expires", "100000000000")), REFUSAL_NONE);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-delay", "1s", "tarry-expires", "99999999999")), REFUSAL_SECONDS);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-delay", "1s", "tarry-expires", "253402300800000")), REFUSAL_TOO_FAR);
}

static void of_a_cancel_only_the_id_counts(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-action", "cancel")), REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_CANCEL);
    assert_true(span_equals_text(decoded.id, "a"));
    assert_int_equal(decoded.due_ms, 0);
    assert_null(decoded.target.data);
    assert_false(decoded.undecided || decoded.conditional || decoded.paused);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-action", "cancel", "tarry-topic", "secret", "tarry-delay", "soon", "tarry-every", "",
                                                               "tarry-partition", "x", "tarry-if-exists", "reject", "tarry-expires", "x")),
                     REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_CANCEL);
    assert_int_equal(decoded.recurrence.kind, DECODE_RECURRENCE_NONE);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-action", "cancel")), REFUSAL_BAD_ID);
    assert_non_null(strstr(refused.text, "tarry-id"));
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-id", "a", "tarry-action", "cancel")), REFUSAL_AMBIGUOUS);
    /* in an envelope, whatever the value is */
    rules.envelope = true;
    sample_begin(&sample, "k", "{\"id\":\"in\\u0020it\"}");
    sample_add(&sample, "tarry-action", "cancel");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.id, "in it"));
    static const char *const values[] = {NULL, "", "no JSON", "{\"payload\":1}", "{\"id\":7}", "{\"id\":\"a\",\"x\":}"};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        sample_begin(&sample, "k", values[i]);
        sample_add(&sample, "tarry-action", "cancel");
        assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_BAD_ID);
        sample_add(&sample, "tarry-id", "b");
        assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
        assert_true(span_equals_text(decoded.id, "b"));
    }
}

static void a_null_value_is_no_cancel_in_tarry(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    sample_begin(&sample, "k", NULL);
    sample_add(&sample, "tarry-delay", "1s");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_SCHEDULE);
    assert_null(decoded.value.data);
}

static void a_decided_root_resolves(void **state)
{
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-cron", "0 9 * * *", "tarry-if-exists", "reject", "tarry-action", "cancel", "tarry-root",
                                                               ROOT, "tarry-runs", "7")),
                     REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_SCHEDULE);
    assert_false(decoded.conditional || decoded.undecided || decoded.paused);
    assert_int_equal(decoded.due_ms, INT64_C(1795961505000));
    assert_int_equal(decoded.recurrence.kind, DECODE_RECURRENCE_CRON);
    assert_int_equal(decoded.recurrence.runs, 7);
    /* what was accepted by another max_delay goes on, and its first firing is not asked about again */
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-every", "900d", "tarry-until", "1795961500000", "tarry-root", ROOT)), REFUSAL_NONE);
    assert_int_equal(decoded.recurrence.runs, 0);
    /* nobody else writes it: it says nothing beside no root, a root without a decision, or what comes once */
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-every", "1m", "tarry-runs", "7")), REFUSAL_NONE);
    assert_int_equal(decoded.recurrence.runs, 0);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-every", "1m", "tarry-runs", "7", "tarry-root", "3:1795961500000")), REFUSAL_NONE);
    assert_int_equal(decoded.recurrence.runs, 0);
    assert_int_equal(decoded.due_ms, INT64_C(1795961560000));
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-delay", "1m", "tarry-runs", "7", "tarry-root", ROOT)), REFUSAL_NONE);
    assert_int_equal(decoded.recurrence.runs, 0);
}

static void runs_are_read_exactly(void **state)
{
    static const struct {
        const char *text;
        int64_t runs;
    } cases[] = {{"0", 0}, {"1", 1}, {"007", 7}, {"1000000000000", 1000000000000}, {"1000000000001", 0}, {"-1", 0}, {"x", 0}, {"", 0}, {NULL, 0}};
    struct decoded decoded;
    struct sample sample;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sample_begin(&sample, "k", "v");
        sample_add(&sample, "tarry-runs", cases[i].text);
        assert_int_equal(decode_runs(&sample.record), cases[i].runs);
    }
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-every", "1m", "tarry-runs", "7", "tarry-runs", "9", "tarry-root", ROOT)), REFUSAL_NONE);
    assert_int_equal(decoded.recurrence.runs, 9);
}

static void paused_ones(void **state)
{
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-root", ROOT, "tarry-not-before", "253402300799999")), REFUSAL_NONE);
    assert_true(decoded.paused);
    assert_int_equal(decoded.due_ms, INT64_C(1795961505000)); /* which it goes back to */
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-root", ROOT, "tarry-not-before", "253402300799998")), REFUSAL_NONE);
    assert_false(decoded.paused);
    assert_int_equal(decode_headers(&decoded, &sample, HEADERS("tarry-id", "a", "tarry-delay", "1s", "tarry-not-before", "253402300799999")), REFUSAL_NONE);
    assert_false(decoded.paused); /* not on a record of a person's */
}

static void spread_moves_first_times_alone(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    int64_t sum = 0;
    (void)state;
    rules.spread_ms = 10000;
    rules.topic = "in";
    for (int i = 0; i < 1000; i++) {
        char id[24];
        snprintf(id, sizeof id, "id-%d", i);
        sample_begin(&sample, "k", "v");
        sample_add(&sample, "tarry-id", id);
        sample_add(&sample, "tarry-delay", "1m");
        assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
        int64_t moved = decoded.due_ms - SAMPLE_TIMESTAMP_MS - 60000;
        assert_true(moved >= 0 && moved < 10000);
        assert_int_equal(moved, decode_spread_offset_ms(&rules, span_of_text(id), 0, 7));
        assert_int_equal(moved, decode_spread_offset_ms(&rules, span_of_text(id), 5, 99)); /* the id alone counts */
        sum += moved;
    }
    assert_true(sum > 4500 * 1000 && sum < 5500 * 1000);
    sample_add(&sample, "tarry-root", ROOT);
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, INT64_C(1795961505000));
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "tarry-id", "a");
    sample_add(&sample, "tarry-cron", "0 9 * * *");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, DUE_SINCE_EVER);
    sample_add(&sample, "tarry-at", "9999-12-31T23:59:59.999Z");
    rules.max_delay_ms = TIME_TEXT_LAST_MS;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, TIME_TEXT_LAST_MS); /* no further */
}

/* Without an id a record is known by its place, and a copy of it by the place of the first. */
/* Spread is of the due time, and nothing is due after tarry-until. */
static void until_counts_with_spread(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    char until[32];
    (void)state;
    rules.spread_ms = 10000;
    int64_t due_ms = SAMPLE_TIMESTAMP_MS + 60000 + decode_spread_offset_ms(&rules, span_of_text("a"), 0, 7);
    assert_true(due_ms > SAMPLE_TIMESTAMP_MS + 60000);
    for (int64_t least_ms = 0; least_ms < 2; least_ms++) {
        snprintf(until, sizeof(until), "%lld", (long long)(due_ms - 1 + least_ms));
        sample_begin(&sample, "k", "v");
        sample_add(&sample, "tarry-id", "a");
        sample_add(&sample, "tarry-every", "1m");
        sample_add(&sample, "tarry-until", until);
        assert_int_equal(decode(&decoded, &rules, &sample), least_ms == 0 ? REFUSAL_BAD_SCHEDULE : REFUSAL_NONE);
    }
}

static void spread_by_place(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    int64_t seen[8];
    (void)state;
    rules.spread_ms = INT64_C(3600000);
    rules.topic = "in";
    for (int32_t i = 0; i < 8; i++) {
        sample_begin(&sample, "k", "v");
        sample_add(&sample, "tarry-delay", "0");
        sample.record.partition = i / 4;
        sample.record.offset = 100 + i % 4;
        assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
        seen[i] = decoded.due_ms - SAMPLE_TIMESTAMP_MS;
        char place[32];
        snprintf(place, sizeof place, "in/%d/%d", (int)i / 4, 100 + (int)i % 4);
        assert_int_equal(seen[i], decode_spread_offset_ms(&rules, span_of_text(place), 0, 0));
        for (int32_t j = 0; j < i; j++) {
            assert_int_not_equal(seen[i], seen[j]);
        }
    }
    sample.record.offset = 500;
    sample_add(&sample, "tarry-root", "103:1795961574000");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms - SAMPLE_TIMESTAMP_MS, seen[7]);
    rules.spread_ms = 0;
    assert_int_equal(decode_spread_offset_ms(&rules, span_of_text("a"), 0, 0), 0);
    rules.spread_ms = 1;
    assert_int_equal(decode_spread_offset_ms(&rules, span_of_text("a"), 0, 0), 0);
}

/* Numbers that every release must give: next occurrences are moved by them too. */
static void spread_is_stable(void **state)
{
    struct decode_rules rules = {.spread_ms = 10000, .topic = "in"};
    (void)state;
    assert_int_equal(decode_spread_offset_ms(&rules, span_of_text("order-123"), 0, 0), 2608);
    assert_int_equal(decode_spread_offset_ms(&rules, SPAN_ABSENT, 3, 41872), 3225);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_comes_first_after_its_span),
        cmocka_unit_test(a_given_time_is_the_first_firing),
        cmocka_unit_test(a_cron_without_a_first_firing_is_undecided),
        cmocka_unit_test(every_needs_a_timestamp),
        cmocka_unit_test(what_limits_it),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(bounds_of_texts),
        cmocka_unit_test(contradictions),
        cmocka_unit_test(what_comes_again_has_an_id),
        cmocka_unit_test(conditions),
        cmocka_unit_test(expiry),
        cmocka_unit_test(of_a_cancel_only_the_id_counts),
        cmocka_unit_test(a_null_value_is_no_cancel_in_tarry),
        cmocka_unit_test(a_decided_root_resolves),
        cmocka_unit_test(runs_are_read_exactly),
        cmocka_unit_test(paused_ones),
        cmocka_unit_test(spread_moves_first_times_alone),
        cmocka_unit_test(until_counts_with_spread), cmocka_unit_test(spread_by_place),
        cmocka_unit_test(spread_is_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
