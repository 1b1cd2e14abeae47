/* Other schedulers' and brokers' headers, and a user's own: bridge/dialect.h, docs/migration/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include "bridge/time_text.h"
#include "support/sample_record.h"

#define AT_MS INT64_C(1795961634000)
#define PRESETS_MAX 3

static struct refusal refused;

/* Rules by which these presets are on; a second call reuses the room. */
static struct decode_rules rules_of(const char *const *names)
{
    static const struct dialect *on[PRESETS_MAX];
    struct decode_rules rules = sample_rules();
    rules.dialects = on;
    rules.dialect_count = 0;
    for (; *names != NULL; names++) {
        on[rules.dialect_count] = dialect_preset(span_of_text(*names));
        assert_non_null(on[rules.dialect_count++]);
    }
    return rules;
}

static enum refusal_reason decode(struct decoded *decoded, const struct decode_rules *rules, const struct sample *sample)
{
    refused = (struct refusal){REFUSAL_NONE, ""};
    if (decode_record(rules, &sample->record, decoded, &refused)) {
        return REFUSAL_NONE;
    }
    assert_true(strlen(refused.text) > 10 && text_is_utf8(span_of_text(refused.text)));
    return refused.reason;
}

static void add_all(struct sample *sample, const char *const *headers)
{
    for (; headers[0] != NULL; headers += 2) {
        sample_add(sample, headers[0], headers[1]);
    }
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A record of key and value with those headers, in those dialects. */
static enum refusal_reason
decode_as(struct decoded *decoded, const char *const *dialects, const char *key, const char *value, const char *const *headers)
{
    static struct sample sample;
    struct decode_rules rules = rules_of(dialects);
    sample_begin(&sample, key, value);
    add_all(&sample, headers);
    return decode(decoded, &rules, &sample);
}

static void the_table_is_consistent(void **state)
{
    (void)state;
    for (size_t i = 0; dialect_preset_name(i) != NULL; i++) {
        const struct dialect *dialect = dialect_preset(span_of_text(dialect_preset_name(i)));
        struct dialect copy = *dialect;
        dialect_index(&copy);
        assert_true(copy.lengths == dialect->lengths && copy.lengths != 0 && copy.firsts == dialect->firsts && copy.firsts != 0);
        for (size_t e = 0; e < dialect->count; e++) {
            const struct dialect_entry *entry = &dialect->entries[e];
            assert_ptr_equal(dialect_find(dialect, span_of_text(entry->header)), entry); /* no name twice */
            assert_int_equal(dialect_prefixed(dialect, span_of_text(entry->header)), dialect->prefix != NULL && e >= dialect->bare);
            assert_int_equal(entry->remedy != NULL, entry->field == DIALECT_REFUSED);
            assert_true(dialect_owned(&dialect, 1, span_of_text(entry->header)));
            assert_int_equal(dialect_owned(NULL, 0, span_of_text(entry->header)), i == 0);
            copy.lengths = copy.firsts = 0; /* without an index it is found as well */
            assert_int_equal(entry->length, strlen(entry->header));
            assert_ptr_equal(dialect_find(&copy, span_of_text(entry->header)), entry);
        }
    }
    assert_null(dialect_preset(span_of_text("Tarry")));
    assert_null(dialect_preset(span_of_text("")));
    assert_null(dialect_preset(SPAN_ABSENT));
}

static void names_are_compared_whole(void **state)
{
    const struct dialect *etf1 = dialect_preset(span_of_text("etf1"));
    static const char with_nul[] = "scheduler-epoch\0x";
    (void)state;
    assert_null(dialect_find(etf1, span_of_text("scheduler-epocH")));
    assert_null(dialect_find(etf1, span_of_text("Scheduler-epoch")));
    assert_null(dialect_find(etf1, span_of_text("scheduler-epoc")));
    assert_null(dialect_find(etf1, span_of_text("")));
    assert_null(dialect_find(etf1, (struct span){(const uint8_t *)with_nul, sizeof with_nul - 1}));
    assert_non_null(dialect_find(etf1, (struct span){(const uint8_t *)with_nul, 15}));
    struct dialect one = {.entries = (const struct dialect_entry[]){{"x", DIALECT_DELAY, DIALECT_FORM_MS, NULL, 0}}, .count = 1};
    dialect_index(&one);
    assert_non_null(dialect_find(&one, span_of_text("x")));
    assert_null(dialect_find(&one, (struct span){(const uint8_t *)"x\0y", 3}));
    const struct dialect unindexed = {.entries = (const struct dialect_entry[]){{"X-Delay", DIALECT_DELAY, DIALECT_FORM_MS, NULL, 0}}, .count = 1};
    assert_non_null(dialect_find(&unindexed, span_of_text("X-Delay")));
    assert_null(dialect_find(&unindexed, span_of_text("X-De")));
    assert_null(dialect_find(&unindexed, span_of_text("X-Delayed")));
}

static void etf1_in(void **state)
{
    struct decoded decoded;
    (void)state;
    assert_int_equal(decode_as(&decoded, NAMES("etf1"), "order-123", "v",
                               NAMES("scheduler-epoch", "1795961634", "scheduler-target-topic", "orders.eu", "scheduler-target-key", "customer-7")),
                     REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_SCHEDULE);
    assert_int_equal(decoded.due_ms, AT_MS); /* seconds */
    assert_true(span_equals_text(decoded.target, "orders.eu"));
    assert_true(span_equals_text(decoded.key, "customer-7"));
    assert_true(span_equals_text(decoded.id, "order-123"));
    assert_int_equal(decode_as(&decoded, NAMES("etf1"), NULL, "v", NAMES("scheduler-epoch", "1795961634")), REFUSAL_NONE);
    assert_null(decoded.id.data); /* without a key it has no id */
    assert_int_equal(decode_as(&decoded, NAMES("etf1"), "", "v", NAMES("scheduler-epoch", "1795961634")), REFUSAL_BAD_ID);
    assert_non_null(strstr(refused.text, "key"));
}

/* What makes others lose an event, or fire it at once. */
static void etf1_times_are_exact(void **state)
{
    static const struct {
        const char *text;
        enum refusal_reason reason;
    } cases[] = {
        {"abc", REFUSAL_BAD_TIME},           {"", REFUSAL_BAD_TIME},           {NULL, REFUSAL_BAD_TIME},
        {"1e9", REFUSAL_BAD_TIME},           {" 1795961634 ", REFUSAL_BAD_TIME}, {"-5", REFUSAL_BAD_TIME},
        {"1795961634.5", REFUSAL_BAD_TIME},  {"0", REFUSAL_BAD_TIME},          {"99999999", REFUSAL_BAD_TIME},
        {"2026-11-29T14:13:54Z", REFUSAL_BAD_TIME}, {"1h", REFUSAL_BAD_TIME},  {"9223372036854775807", REFUSAL_BAD_TIME},
        {"9223372036854776", REFUSAL_BAD_TIME}, {"9223372036854775", REFUSAL_TOO_FAR},
        {"1795961634000", REFUSAL_TOO_FAR}, /* milliseconds where seconds are due */
        {"253402300800", REFUSAL_TOO_FAR},
        {"1795961634", REFUSAL_NONE},        {"001795961634", REFUSAL_NONE},   {"1000000000", REFUSAL_NONE},
        {"100000000", REFUSAL_NONE},
    };
    struct decoded decoded;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(decode_as(&decoded, NAMES("etf1"), "k", "v", NAMES("scheduler-epoch", cases[i].text)), cases[i].reason);
        assert_true(cases[i].reason == REFUSAL_NONE || strstr(refused.text, "scheduler-epoch") != NULL);
    }
    assert_int_equal(decode_as(&decoded, NAMES("etf1"), "k", "v", NAMES("scheduler-epoch", "1795961634000")), REFUSAL_TOO_FAR);
    assert_non_null(strstr(refused.text, "milliseconds where seconds"));
}

static void etf1_cancels_by_a_null_value(void **state)
{
    struct decoded decoded;
    (void)state;
    assert_int_equal(decode_as(&decoded, NAMES("etf1"), "order-123", NULL, (const char *const[]){NULL}), REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_CANCEL);
    assert_true(span_equals_text(decoded.id, "order-123"));
    /* it writes its own with all the headers of what it has delivered */
    assert_int_equal(decode_as(&decoded, NAMES("etf1"), "order-123", NULL,
                               NAMES("scheduler-epoch", "x", "scheduler-timestamp", "1795961574", "scheduler-key", "order-123", "scheduler-topic", "in")),
                     REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_CANCEL);
    assert_int_equal(decode_as(&decoded, NAMES("etf1"), "order-123", "", NAMES("scheduler-epoch", "1795961634")), REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_SCHEDULE); /* empty is not null */
    assert_int_equal(decode_as(&decoded, NAMES("etf1"), NULL, NULL, (const char *const[]){NULL}), REFUSAL_BAD_ID);
    assert_int_equal(decode_as(&decoded, NAMES("etf1"), "k", NULL, NAMES("tarry-root", "3:1795961500000:1795961505000:events")), REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_SCHEDULE); /* it was accepted as an event once */
}

static void binary_keys_are_ids(void **state)
{
    static uint8_t bytes[DECODE_ID_MAX + 1];
    struct random random = random_new(7);
    struct decode_rules rules = rules_of(NAMES("etf1"));
    struct decoded decoded;
    struct sample sample;
    (void)state;
    random_fill(&random, bytes, sizeof bytes);
    bytes[0] = 0;
    sample_begin(&sample, "", "v");
    sample_add(&sample, "scheduler-epoch", "1795961634");
    static const struct {
        size_t length;
        enum refusal_reason reason;
    } cases[] = {{1, REFUSAL_NONE}, {4096, REFUSAL_NONE}, {4097, REFUSAL_BAD_ID}};
    for (size_t i = 0; i < 3; i++) {
        sample.record.key = (struct span){bytes, cases[i].length};
        assert_int_equal(decode(&decoded, &rules, &sample), cases[i].reason);
        assert_true(cases[i].reason != REFUSAL_NONE || span_equal(decoded.id, sample.record.key));
        sample.record.value = SPAN_ABSENT; /* and its cancel */
        assert_int_equal(decode(&decoded, &rules, &sample), cases[i].reason);
        sample.record.value = span_of_text("v");
    }
    /* a copy of what was accepted goes out all the same */
    sample_add(&sample, "tarry-root", "3:1795961500000:1795961505000:events");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_null(decoded.id.data);
}

static void karafka(void **state)
{
    struct decoded decoded;
    (void)state;
    assert_int_equal(decode_as(&decoded, NAMES("karafka"), "orders-1", NULL,
                               NAMES("schedule_schema_version", "1.0.0", "schedule_target_epoch", "1795961634", "schedule_source_type", "schedule",
                                     "schedule_target_topic", "orders.eu", "schedule_target_key", "7", "schedule_target_partition", "3")),
                     REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_SCHEDULE); /* of a null value: a delayed tombstone */
    assert_int_equal(decoded.due_ms, AT_MS);
    assert_true(span_equals_text(decoded.target, "orders.eu"));
    assert_true(span_equals_text(decoded.key, "7"));
    assert_true(span_equals_text(decoded.id, "orders-1"));
    assert_int_equal(decoded.partition, 3);
    static const char *const cancels[] = {"cancel", "tombstone"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(decode_as(&decoded, NAMES("karafka"), "orders-1", NULL, NAMES("schedule_source_type", cancels[i])), REFUSAL_NONE);
        assert_int_equal(decoded.action, DECODE_CANCEL);
        assert_true(span_equals_text(decoded.id, "orders-1"));
    }
    static const char *const bad[] = {"Cancel", "", NULL, "log"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(decode_as(&decoded, NAMES("karafka"), "k", "v", NAMES("schedule_source_type", bad[i], "schedule_target_epoch", "1795961634")),
                         REFUSAL_UNSUPPORTED);
    }
    assert_int_equal(decode_as(&decoded, NAMES("karafka"), "k", "v", NAMES("schedule_target_partition_key", "a", "schedule_target_epoch", "1795961634")),
                     REFUSAL_UNSUPPORTED);
    assert_non_null(strstr(refused.text, "schedule_target_key"));
}

/* Digits alone, of what the broker's own clients write: a text. Binary numbers are not guessed at. */
static void delays_of_brokers(void **state)
{
    static const struct {
        const char *dialect;
        const char *header;
        const char *text;
        enum refusal_reason reason;
        int64_t delay_ms;
    } cases[] = {
        {"rabbitmq", "x-delay", "5000", REFUSAL_NONE, 5000},
        {"rabbitmq", "x-delay", "2147483647", REFUSAL_NONE, 2147483647},
        {"rabbitmq", "x-delay", "2147483648", REFUSAL_NONE, 2147483648},
        {"rabbitmq", "x-delay", "4294967295", REFUSAL_NONE, 4294967295},
        {"rabbitmq", "x-delay", "4294967296", REFUSAL_NONE, 4294967296},
        {"rabbitmq", "x-delay", "315360000000", REFUSAL_TOO_FAR, 0}, /* ten years */
        {"rabbitmq", "x-delay", "-1", REFUSAL_BAD_TIME, 0},
        {"rabbitmq", "x-delay", "5s", REFUSAL_BAD_TIME, 0},
        {"rabbitmq", "x-delay", "5000.0", REFUSAL_BAD_TIME, 0},
        {"rabbitmq", "x-delay", "", REFUSAL_BAD_TIME, 0},
        {"rocketmq", "TIMER_DELAY_MS", "5000", REFUSAL_NONE, 5000},
        {"rocketmq", "TIMER_DELAY_MS", "9223372036854775807", REFUSAL_TOO_FAR, 0},
        {"rocketmq", "TIMER_DELAY_SEC", "5", REFUSAL_NONE, 5000},
        {"rocketmq", "TIMER_DELAY_SEC", "9223372036854775807", REFUSAL_BAD_TIME, 0},
        {"rocketmq", "TIMER_DELAY_SEC", "9223372036854775", REFUSAL_TOO_FAR, 0},
        {"rocketmq", "TIMER_DELIVER_MS", "1795961634000", REFUSAL_NONE, 60000},
        {"rocketmq", "TIMER_DELIVER_MS", "1795961634", REFUSAL_SECONDS, 0},
        {"rocketmq", "TIMER_DELIVER_MS", "2026-11-29T14:13:54Z", REFUSAL_BAD_TIME, 0},
        {"rocketmq", "DELAY", "3", REFUSAL_UNSUPPORTED, 0},
        {"rocketmq", "TIMER_DEL_UNIQKEY", "7F0000010001", REFUSAL_UNSUPPORTED, 0},
        {"activemq", "AMQ_SCHEDULED_DELAY", "60000", REFUSAL_NONE, 60000},
        {"activemq", "AMQ_SCHEDULED_DELAY", "1h", REFUSAL_BAD_TIME, 0},
        {"activemq", "AMQ_SCHEDULED_PERIOD", "1000", REFUSAL_UNSUPPORTED, 0},
        {"activemq", "AMQ_SCHEDULED_REPEAT", "9", REFUSAL_UNSUPPORTED, 0},
        {"activemq", "AMQ_SCHEDULED_CRON", "0 * * * *", REFUSAL_UNSUPPORTED, 0},
    };
    struct decoded decoded;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(decode_as(&decoded, NAMES(cases[i].dialect), "k", NULL, NAMES(cases[i].header, cases[i].text)), cases[i].reason);
        if (cases[i].reason == REFUSAL_NONE) {
            assert_int_equal(decoded.action, DECODE_SCHEDULE);
            assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + cases[i].delay_ms);
            assert_null(decoded.id.data); /* their keys are no ids: many records have the same */
        } else {
            assert_non_null(strstr(refused.text, cases[i].header));
        }
    }
    static const uint8_t binary[] = {0, 0, 0x13, 0x88};
    struct decode_rules rules = rules_of(NAMES("rabbitmq"));
    struct sample sample;
    sample_begin(&sample, "k", "v");
    sample_add_bytes(&sample, "x-delay", (struct span){binary, sizeof binary});
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_BAD_TIME);
}

/* A value that every header of that field takes. */
static const char *good_value(const struct dialect_entry *entry)
{
    switch (entry->field) {
    case DIALECT_DELAY:
        return "5";
    case DIALECT_AT:
        return entry->form == DIALECT_FORM_S ? "1795961634" : "1795961634000";
    case DIALECT_TOPIC:
        return "orders.eu";
    case DIALECT_PARTITION:
    case DIALECT_COUNT:
        return "3";
    case DIALECT_ACTION:
        return "schedule";
    case DIALECT_IF_EXISTS:
        return "reject";
    case DIALECT_EXPIRES:
    case DIALECT_UNTIL:
        return "1799969999000";
    case DIALECT_CRON:
        return "0 9 * * *";
    case DIALECT_EVERY:
        return "10m";
    case DIALECT_TZ:
        return "Europe/Berlin";
    case DIALECT_KEY:
    case DIALECT_ID:
    case DIALECT_REQUEST:
    case DIALECT_FIELDS:
    case DIALECT_CARRIED:
    case DIALECT_REFUSED:
    default:
        return "a";
    }
}

/* A record of `dialect` that has what that header needs beside it, and not the header itself. */
static void begin_beside(struct sample *sample, struct decode_rules *by, const struct dialect *const *dialect, const struct dialect_entry *entry)
{
    bool ends = entry->field == DIALECT_TZ || entry->field == DIALECT_UNTIL || entry->field == DIALECT_COUNT;
    *by = sample_rules();
    by->dialects = dialect;
    by->default_delay_ms = 1000;
    sample_begin(sample, "k", "v");
    if (dialect[0]->prefix != NULL && entry->field != DIALECT_ID) {
        sample_add(sample, "tarry-id", "a");
    }
    if (ends) {
        sample_add(sample, "tarry-cron", "0 9 * * *");
    }
}

/* Every header of every dialect that says something: missing it is not missed, given it is read; null, empty, with a NUL behind it and given twice it is refused. A key may be
 * anything, and an id anything that is not empty. */
static void each_header_in_each_form(void **state)
{
    size_t count = 0;
    (void)state;
    for (size_t i = 0; dialect_preset_name(i) != NULL; i++) {
        const struct dialect *dialect = dialect_preset(span_of_text(dialect_preset_name(i)));
        for (size_t e = 0; e < dialect->count; e++) {
            const struct dialect_entry *entry = &dialect->entries[e];
            const char *good = good_value(entry);
            struct decode_rules by;
            struct decoded decoded;
            struct sample sample;
            char with_nul[32];
            if (entry->field >= DIALECT_FIELDS) {
                continue;
            }
            count++;
            begin_beside(&sample, &by, &dialect, entry);
            assert_int_equal(decode(&decoded, &by, &sample), REFUSAL_NONE);
            sample_add(&sample, entry->header, good);
            assert_int_equal(decode(&decoded, &by, &sample), REFUSAL_NONE);
            struct span *value = &sample.headers[sample.record.header_count - 1].value;
            bool any = entry->field == DIALECT_KEY;
            *value = SPAN_ABSENT;
            assert_int_equal(decode(&decoded, &by, &sample) == REFUSAL_NONE, any);
            *value = span_of_text("");
            assert_int_equal(decode(&decoded, &by, &sample) == REFUSAL_NONE, any);
            snprintf(with_nul, sizeof with_nul, "%s", good);
            *value = (struct span){(const uint8_t *)with_nul, strlen(good) + 1};
            assert_int_equal(decode(&decoded, &by, &sample) == REFUSAL_NONE, any || entry->field == DIALECT_ID);
            *value = span_of_text(good);
            sample_add(&sample, entry->header, good);
            assert_int_equal(decode(&decoded, &by, &sample), REFUSAL_AMBIGUOUS);
        }
    }
    assert_true(count >= 28);
}

/* A dialect that is switched on later does not end what was accepted before: then that header was any header. */
static void what_was_decided_goes_on(void **state)
{
    struct decoded decoded;
    (void)state;
    assert_int_equal(decode_as(&decoded, NAMES("activemq"), "k", "v", NAMES("AMQ_SCHEDULED_PERIOD", "1", "tarry-root", "3:1795961500000:1795961505000:events")), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, INT64_C(1795961505000));
    assert_int_equal(decode_as(&decoded, NAMES("activemq"), "k", "v", NAMES("AMQ_SCHEDULED_PERIOD", "1", "tarry-root", "3:1795961500000")), REFUSAL_UNSUPPORTED);
}

static void two_dialects_may_not_say_the_same(void **state)
{
    struct decoded decoded;
    (void)state;
    assert_int_equal(decode_as(&decoded, NAMES("tarry", "rabbitmq"), "k", "v", NAMES("tarry-delay", "5s", "x-delay", "5000")), REFUSAL_AMBIGUOUS);
    assert_non_null(strstr(refused.text, "x-delay"));
    assert_int_equal(decode_as(&decoded, NAMES("tarry", "etf1"), "k", "v", NAMES("tarry-delay", "5s", "scheduler-epoch", "1795961634")), REFUSAL_AMBIGUOUS);
    assert_int_equal(decode_as(&decoded, NAMES("rocketmq"), "k", "v", NAMES("TIMER_DELAY_MS", "5000", "TIMER_DELAY_SEC", "5")), REFUSAL_AMBIGUOUS);
    assert_int_equal(decode_as(&decoded, NAMES("etf1"), "k", "v", NAMES("scheduler-epoch", "1795961634", "scheduler-epoch", "1795961634")), REFUSAL_AMBIGUOUS);
    assert_int_equal(decode_as(&decoded, NAMES("tarry", "etf1"), "k", "v", NAMES("scheduler-epoch", "1795961634", "tarry-topic", "orders.eu", "tarry-id", "other")),
                     REFUSAL_NONE); /* each says its own */
    assert_true(span_equals_text(decoded.id, "other"));
    assert_int_equal(decode_as(&decoded, NAMES("tarry"), "k", "v", NAMES("tarry-delay", "5s", "x-delay", "x", "scheduler-epoch", "x")), REFUSAL_NONE); /* off */
}

/* A habit is for records of its dialect, and for those of none. */
static void habits_are_not_catching(void **state)
{
    struct decoded decoded;
    (void)state;
    assert_int_equal(decode_as(&decoded, NAMES("tarry", "etf1"), "k", NULL, NAMES("tarry-delay", "5s")), REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_SCHEDULE);
    assert_null(decoded.id.data);
    assert_int_equal(decode_as(&decoded, NAMES("tarry", "etf1"), "k", NULL, NAMES("traceparent", "x")), REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_CANCEL);
    assert_int_equal(decode_as(&decoded, NAMES("tarry", "etf1"), "k", NULL, NAMES("tarry-action", "schedule", "scheduler-epoch", "1795961634")), REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_SCHEDULE);
    assert_true(span_equals_text(decoded.id, "k"));
    assert_int_equal(decode_as(&decoded, NAMES("tarry", "etf1"), "k", "v", NAMES("tarry-action", "cancel", "tarry-id", "other")), REFUSAL_NONE);
    assert_int_equal(decoded.action, DECODE_CANCEL);
    assert_true(span_equals_text(decoded.id, "other"));
}

static const struct dialect_entry own_entries[] = {
    {"X-Delay", DIALECT_DELAY, DIALECT_FORM_S, NULL, 0},   {"X-When", DIALECT_AT, DIALECT_FORM_MS, NULL, 0}, {"X-Name", DIALECT_ID, DIALECT_FORM_OWN, NULL, 0},
    {"X-Every", DIALECT_EVERY, DIALECT_FORM_S, NULL, 0},   {"X-End", DIALECT_UNTIL, DIALECT_FORM_S, NULL, 0}, {"X-Do", DIALECT_ACTION, DIALECT_FORM_OWN, NULL, 0},
    {"X-Gone", DIALECT_EXPIRES, DIALECT_FORM_S, NULL, 0},  {"X-Note", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL, 0},
};

static void a_dialect_of_ones_own(void **state)
{
    struct dialect own = {.name = "own", .entries = own_entries, .count = sizeof(own_entries) / sizeof(own_entries[0]), .id_from_key = true};
    const struct dialect *const on[] = {&own, dialect_tarry_alone[0]};
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    rules.dialects = on;
    rules.dialect_count = 2;
    for (int indexed = 0; indexed < 2; indexed++) {
        sample_begin(&sample, "k", "v");
        add_all(&sample, NAMES("X-Every", "90", "X-End", "1795969999", "X-Gone", "1795968888", "X-Note", "hello"));
        assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
        assert_int_equal(decoded.recurrence.every_ms, 90000);
        assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + 90000);
        assert_int_equal(decoded.recurrence.until_ms, INT64_C(1795969999000));
        assert_int_equal(decoded.expires_ms, INT64_C(1795968888000));
        assert_true(span_equals_text(decoded.id, "k"));
        sample_add(&sample, "X-Name", "n");
        sample_add(&sample, "X-Do", "cancel");
        assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
        assert_int_equal(decoded.action, DECODE_CANCEL);
        assert_true(span_equals_text(decoded.id, "n"));
        dialect_index(&own);
    }
    /* a header that two dialects know: the same meaning is one, two units are none */
    static const struct dialect_entry same[] = {{"X-Delay", DIALECT_DELAY, DIALECT_FORM_S, NULL, 0}};
    static const struct dialect_entry other[] = {{"X-Delay", DIALECT_DELAY, DIALECT_FORM_MS, NULL, 0}};
    struct dialect second = {.name = "second", .entries = same, .count = 1};
    const struct dialect *const both[] = {&own, &second};
    rules.dialects = both;
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "X-Delay", "5");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + 5000);
    second.entries = other;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_AMBIGUOUS);
    assert_non_null(strstr(refused.text, "X-Delay"));
}

/* A remedy names what this source's producers can write. */
static void remedies_name_the_dialects_own_headers(void **state)
{
    static const struct dialect_entry entries[] = {{"X-When", DIALECT_AT, DIALECT_FORM_OWN, NULL, 0}, {"X-Name", DIALECT_ID, DIALECT_FORM_OWN, NULL, 0},
                                                   {"X-Count", DIALECT_COUNT, DIALECT_FORM_OWN, NULL, 0}, {"X-Every", DIALECT_EVERY, DIALECT_FORM_S, NULL, 0}};
    static const struct dialect own = {.name = "own", .entries = entries, .count = 4};
    static const struct dialect *const set[] = {&own};
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(decode_as(&decoded, NAMES("rocketmq"), "k", "v", NAMES("mine", "1")), REFUSAL_NO_TIME);
    assert_non_null(strstr(refused.text, "give header TIMER_DELAY_MS or TIMER_DELIVER_MS, or set default_delay"));
    assert_int_equal(decode_as(&decoded, NAMES("etf1"), "k", "v", NAMES("mine", "1")), REFUSAL_NO_TIME);
    assert_non_null(strstr(refused.text, "give header scheduler-epoch, or"));
    assert_int_equal(decode_as(&decoded, NAMES("rabbitmq", "tarry"), "k", "v", NAMES("mine", "1")), REFUSAL_NO_TIME);
    assert_non_null(strstr(refused.text, "give header tarry-delay or tarry-at, or"));
    assert_int_equal(decode_as(&decoded, NAMES("rabbitmq"), "k", "v", NAMES("x-delay", "99999999999")), REFUSAL_TOO_FAR);
    assert_non_null(strstr(refused.text, "beyond the source's max_delay, 366d"));
    assert_int_equal(decode_as(&decoded, NAMES("etf1"), NULL, NULL, NAMES("scheduler-epoch", "1795961634")), REFUSAL_BAD_ID);
    assert_non_null(strstr(refused.text, "a cancel names no id: give the record a key, which is its id in this dialect"));
    rules.dialects = set;
    rules.default_target = NULL;
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "X-When", "1795961634000");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NO_TARGET);
    assert_non_null(strstr(refused.text, "give header tarry-topic (dialect tarry, which is not on here), or"));
    rules.default_target = "events";
    sample_add(&sample, "X-Name", "");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_BAD_ID);
    assert_non_null(strstr(refused.text, "\"X-Name\" must have 1 to"));
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "X-Every", "60");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_BAD_ID);
    assert_non_null(strstr(refused.text, "give header X-Name"));
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "X-Count", "3");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_UNSUPPORTED);
    assert_non_null(strstr(refused.text, "add X-Every, or leave it out"));
    sample_add(&sample, "X-Name", "n");
    sample_add(&sample, "X-Every", "1m");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_BAD_SCHEDULE);
    assert_non_null(strstr(refused.text, "give whole seconds, 1 at least"));
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "X-Name", "n");
    sample_add(&sample, "X-Every", "60");
    sample.record.timestamp = RECORD_TIMESTAMP_NONE;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NO_TIMESTAMP);
    assert_non_null(strstr(refused.text, "give X-When instead"));
}

static void without_a_header_remedies_name_the_field(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    rules.dialect_count = 0;
    rules.envelope = true;
    rules.field_deliver_at = "when";
    sample_begin(&sample, "k", "{\"payload\":1}");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NO_TIME);
    assert_non_null(strstr(refused.text, "give envelope field \"delay_ms\" or \"when\", or"));
    sample_begin(&sample, "k", "{\"payload\":1,\"delay_ms\":5,\"when\":1795961634000}");
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_AMBIGUOUS);
    assert_non_null(strstr(refused.text, "(envelope field \"delay_ms\", envelope field \"when\")"));
    sample_begin(&sample, "k", "{\"payload\":1,\"delay_ms\":5}");
    sample.record.timestamp = RECORD_TIMESTAMP_NONE;
    assert_int_equal(decode(&decoded, &rules, &sample), REFUSAL_NO_TIMESTAMP);
    assert_non_null(strstr(refused.text, "give \"when\" instead"));
}

static void meanings(void **state)
{
    static const struct {
        const char *text;
        enum dialect_field field;
        enum dialect_form form;
    } cases[] = {{"delay_ms", DIALECT_DELAY, DIALECT_FORM_MS}, {"delay_s", DIALECT_DELAY, DIALECT_FORM_S}, {"delay", DIALECT_DELAY, DIALECT_FORM_OWN},
                 {"at_ms", DIALECT_AT, DIALECT_FORM_MS},       {"at_s", DIALECT_AT, DIALECT_FORM_S},       {"at", DIALECT_AT, DIALECT_FORM_OWN},
                 {"topic", DIALECT_TOPIC, DIALECT_FORM_OWN},   {"id", DIALECT_ID, DIALECT_FORM_OWN},       {"if_exists", DIALECT_IF_EXISTS, DIALECT_FORM_OWN},
                 {"expire", DIALECT_EXPIRES, DIALECT_FORM_OWN}, {"ignore", DIALECT_CARRIED, DIALECT_FORM_OWN}};
    struct dialect_entry entry = {.header = "h"};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(dialect_meaning(span_of_text(cases[i].text), &entry));
        assert_int_equal(entry.field, cases[i].field);
        assert_int_equal(entry.form, cases[i].form);
        assert_string_equal(entry.header, "h");
    }
    size_t count = 0;
    for (; dialect_meaning_name(count) != NULL; count++) {
        assert_true(dialect_meaning(span_of_text(dialect_meaning_name(count)), &entry));
    }
    unsigned seen = 0;
    for (size_t i = 0; i < count; i++) {
        (void)dialect_meaning(span_of_text(dialect_meaning_name(i)), &entry);
        seen |= 1U << (entry.field == DIALECT_CARRIED ? DIALECT_FIELDS : entry.field);
    }
    /* every field, and ignore; what tarry alone writes has no other name */
    assert_int_equal(seen | 1U << DIALECT_REQUEST, (1U << (DIALECT_FIELDS + 1)) - 1);
    static const char *const none[] = {"", "Delay", "delay_m", "at_us", "refused"};
    for (size_t i = 0; i < 5; i++) {
        assert_false(dialect_meaning(span_of_text(none[i]), &entry));
    }
    assert_false(dialect_meaning(SPAN_ABSENT, &entry));
}

/* Property: any mix of presets, headers and values: an answer, with a time within the bounds or with words. */
static void random_mixes(void **state)
{
    static const char *const names[] = {"tarry", "etf1", "karafka", "rabbitmq", "rocketmq", "activemq"};
    static const char *const values[] = {"5", "1795961634", "1795961634000", "cancel", "schedule", "tombstone", "orders.eu", "", NULL, "-1", "1h", "reject", "* * * * *"};
    struct random random = random_new(23);
    size_t counts[3] = {0};
    (void)state;
    for (int round = 0; round < 50000; round++) {
        const char *on[PRESETS_MAX + 1] = {NULL};
        for (size_t count = 0; count < 1 + random_below(&random, PRESETS_MAX); count++) {
            on[count] = names[random_below(&random, 6)];
        }
        struct decode_rules rules = rules_of(on);
        struct decoded decoded;
        struct sample sample;
        rules.default_delay_ms = random_below(&random, 2) == 0 ? -1 : 60000;
        sample_begin(&sample, random_below(&random, 8) == 0 ? NULL : "k", random_below(&random, 3) == 0 ? NULL : "v");
        for (uint64_t count = 1 + random_below(&random, 3); count > 0; count--) {
            const struct dialect *dialect = dialect_preset(span_of_text(names[random_below(&random, 6)]));
            sample_add(&sample, dialect->entries[random_below(&random, dialect->count)].header, values[random_below(&random, 13)]);
        }
        if (decode(&decoded, &rules, &sample) != REFUSAL_NONE) {
            counts[0]++;
        } else if (decoded.action == DECODE_CANCEL) {
            counts[1]++;
            assert_true(decoded.id.length >= 1);
        } else {
            counts[2]++;
            assert_true(decoded.due_ms >= 0 && decoded.due_ms <= TIME_TEXT_LAST_MS);
            assert_true(target_name_valid(decoded.target));
        }
    }
    assert_true(counts[0] > 1000);
    assert_true(counts[1] > 300);
    assert_true(counts[2] > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_consistent),
        cmocka_unit_test(names_are_compared_whole),
        cmocka_unit_test(etf1_in),
        cmocka_unit_test(etf1_times_are_exact),
        cmocka_unit_test(etf1_cancels_by_a_null_value),
        cmocka_unit_test(binary_keys_are_ids),
        cmocka_unit_test(karafka),
        cmocka_unit_test(delays_of_brokers),
        cmocka_unit_test(each_header_in_each_form),
        cmocka_unit_test(what_was_decided_goes_on),
        cmocka_unit_test(two_dialects_may_not_say_the_same),
        cmocka_unit_test(habits_are_not_catching),
        cmocka_unit_test(a_dialect_of_ones_own),
        cmocka_unit_test(remedies_name_the_dialects_own_headers),
        cmocka_unit_test(without_a_header_remedies_name_the_field),
        cmocka_unit_test(meanings),
        cmocka_unit_test(random_mixes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
