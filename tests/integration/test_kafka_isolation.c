/* What others' transactions do to the source, and what brokers say of a partition and its topic: against a real broker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/topic_facts.h"
#include "support/kafka_broker.h"
#include "support/kafka_client.h"
#include "support/kafka_topics.h"
#include "support/source_watch.h"

#define SECONDS 1000

static struct kafka_broker *broker;
static const char *bootstrap;

static int start_broker(void **state)
{
    /* looks twice a second for transactions whose time is up, not every ten */
    static const char *const settings[] = {"transaction.abort.timed.out.transaction.cleanup.interval.ms=500"};
    (void)state;
    broker = kafka_broker_start(settings, 1);
    bootstrap = kafka_broker_bootstrap(broker);
    return 0;
}

static int stop_broker(void **state)
{
    (void)state;
    kafka_broker_free(broker);
    return 0;
}

static void open_on(struct source_watch *watch, const char *topic, int64_t start_at)
{
    source_watch_open(watch, bootstrap, topic, "i-0", (const char *const[]){topic, NULL}, NULL);
    watch->start_at = start_at;
}

static struct kafka_client_producer *transactional(const char *id, const char *property)
{
    char name[64];
    snprintf(name, sizeof name, "transactional.id=%s", id);
    return kafka_client_producer_open(bootstrap, (const char *const[]){name, property, NULL});
}

/* Values "<word> 0" ...; acknowledged when it returns, so that their order among several producers is this one. */
static void produce(struct kafka_client_producer *producer, const char *topic, const char *word, int count)
{
    for (int i = 0; i < count; i++) {
        char value[64];
        snprintf(value, sizeof value, "%s %d", word, i);
        struct kafka_client_output output = {.value = span_of_text(value)};
        kafka_client_produce(producer, topic, &output);
    }
    kafka_client_flush(producer);
}

/* A transaction's marker is written after its producer was told of the end. */
static void await_high(const char *topic, int64_t offset)
{
    int64_t give_up = source_watch_clock() + 30 * SECONDS;
    int64_t low = -1;
    int64_t high = -1;
    for (kafka_client_watermarks(bootstrap, topic, 0, &low, &high); high < offset; kafka_client_watermarks(bootstrap, topic, 0, &low, &high)) {
        assert_true(source_watch_clock() < give_up);
    }
    assert_int_equal(high, offset);
}

static void transaction(struct kafka_client_producer *producer, const char *topic, const char *word, int count, bool commit)
{
    kafka_client_begin(producer);
    produce(producer, topic, word, count);
    if (commit) {
        kafka_client_commit_transaction(producer);
    } else {
        kafka_client_abort_transaction(producer);
    }
}

static void expect_record(const struct source_watch *watch, size_t nth, int64_t offset, const char *value)
{
    const struct source_watch_event *event = source_watch_nth(watch, SOURCE_RECORD, nth);
    assert_int_equal(event->offset, offset);
    assert_string_equal(event->value, value);
}

static struct source_lookup look(struct source_watch *watch, const char *topic)
{
    struct source_lookup lookup;
    struct error error;
    if (!source_look_up(watch->source, topic, 0, 10 * SECONDS, &lookup, &error)) {
        fail_msg("%s", error.text);
    }
    return lookup;
}

/* Two producers' transactions through each other, and plain records between: what was aborted is never handed over, the rest in its order. */
static void test_transactions_through_each_other(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "mixed", 1, NULL);
    struct kafka_client_producer *one = transactional("one", NULL);
    struct kafka_client_producer *two = transactional("two", NULL);
    struct kafka_client_producer *plain = kafka_client_producer_open(bootstrap, NULL);
    kafka_client_begin(one);
    kafka_client_begin(two);
    produce(one, "mixed", "kept", 1);    /* 0 */
    produce(two, "mixed", "aborted", 1); /* 1 */
    produce(plain, "mixed", "plain", 1); /* 2 */
    produce(one, "mixed", "kept too", 1); /* 3 */
    produce(two, "mixed", "aborted", 2); /* 4, 5 */
    kafka_client_abort_transaction(two); /* 6 */
    await_high("mixed", 7);
    produce(plain, "mixed", "late", 1);  /* 7 */
    kafka_client_commit_transaction(one); /* 8 */
    await_high("mixed", 9);
    transaction(two, "mixed", "again", 1, true); /* 9, 10: the same producer, and this time for good */
    await_high("mixed", 11);
    struct source_watch watch;
    open_on(&watch, "mixed", 0);
    assert_int_equal(source_watch_until(&watch, SOURCE_END, 1, 30 * SECONDS)->offset, 11);
    assert_int_equal(source_watch_count(&watch, SOURCE_RECORD), 5);
    expect_record(&watch, 0, 0, "kept 0");
    expect_record(&watch, 1, 2, "plain 0");
    expect_record(&watch, 2, 3, "kept too 0");
    expect_record(&watch, 3, 7, "late 0");
    expect_record(&watch, 4, 9, "again 0");
    kafka_client_producer_close(one);
    kafka_client_producer_close(two);
    kafka_client_producer_close(plain);
    source_watch_close(&watch);
}

/* Nothing but aborted records and markers: the position passes them all, wherever it starts, and none of these is outside the log. */
static void test_nothing_but_aborted(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "void", 1, NULL);
    struct kafka_client_producer *producer = transactional("void", NULL);
    for (int i = 0; i < 3; i++) {
        transaction(producer, "void", "aborted", 4, false); /* 4 and a marker */
        await_high("void", 5 * (i + 1));
    }
    kafka_client_producer_close(producer);
    static const int64_t starts[] = {0, 2, 4, 14, 15};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        struct source_watch watch;
        open_on(&watch, "void", starts[i]);
        assert_int_equal(source_watch_until(&watch, SOURCE_END, 1, 30 * SECONDS)->offset, 15);
        assert_int_equal(source_watch_count(&watch, SOURCE_RECORD), 0);
        assert_int_equal(source_watch_count(&watch, SOURCE_GONE), 0);
        struct source_lookup lookup = look(&watch, "void");
        assert_int_equal(lookup.end, 15);
        assert_int_equal(lookup.high, 15);
        source_watch_close(&watch);
    }
}

/* Control records at the end, commit and abort; then records behind them. */
static void test_control_records_at_the_end(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "tail", 1, NULL);
    struct kafka_client_producer *producer = transactional("tail", NULL);
    struct source_watch watch;
    transaction(producer, "tail", "first", 2, true); /* 0, 1, marker 2 */
    await_high("tail", 3);
    open_on(&watch, "tail", 0);
    assert_int_equal(source_watch_until(&watch, SOURCE_END, 1, 30 * SECONDS)->offset, 3);
    transaction(producer, "tail", "aborted", 2, false); /* 3, 4, marker 5; the source sees the end move when the marker is there */
    assert_int_equal(source_watch_until(&watch, SOURCE_END, 2, 30 * SECONDS)->offset, 6);
    assert_int_equal(source_watch_count(&watch, SOURCE_RECORD), 2);
    transaction(producer, "tail", "second", 1, true); /* 6, marker 7 */
    source_watch_until(&watch, SOURCE_RECORD, 3, 30 * SECONDS);
    expect_record(&watch, 2, 6, "second 0");
    kafka_client_producer_close(producer);
    source_watch_close(&watch);
}

/* Each codec, in batches of many records: aborted, committed, plain. */
static void test_codecs(void **state)
{
    enum { EACH = 50, CODECS = 5 };
    static const char *const codecs[CODECS] = {"compression.type=none", "compression.type=gzip", "compression.type=snappy",
                                               "compression.type=lz4", "compression.type=zstd"};
    (void)state;
    kafka_topics_create(bootstrap, "codecs", 1, NULL);
    for (size_t codec = 0; codec < CODECS; codec++) {
        struct kafka_client_producer *producer = transactional("codecs", codecs[codec]);
        int64_t base = (int64_t)codec * (3 * EACH + 2);
        transaction(producer, "codecs", "aborted", EACH, false);
        await_high("codecs", base + EACH + 1);
        transaction(producer, "codecs", codecs[codec], EACH, true);
        await_high("codecs", base + 2 * EACH + 2);
        kafka_client_producer_close(producer);
        struct kafka_client_producer *plain =
            kafka_client_producer_open(bootstrap, (const char *const[]){codecs[codec], "linger.ms=50", NULL});
        produce(plain, "codecs", "plain", EACH);
        kafka_client_producer_close(plain);
    }
    struct source_watch watch;
    open_on(&watch, "codecs", 0);
    /* three times fifty and two markers for each codec */
    assert_int_equal(source_watch_until(&watch, SOURCE_END, 1, 30 * SECONDS)->offset, CODECS * (3 * EACH + 2));
    assert_int_equal(source_watch_count(&watch, SOURCE_RECORD), CODECS * 2 * EACH);
    for (int i = 0; i < CODECS * 2 * EACH; i++) {
        int codec = i / (2 * EACH);
        bool is_plain = i / EACH % 2 == 1;
        char value[64];
        snprintf(value, sizeof value, "%s %d", is_plain ? "plain" : codecs[codec], i % EACH);
        expect_record(&watch, (size_t)i, codec * (3 * EACH + 2) + EACH + 1 + (is_plain ? EACH + 1 : 0) + i % EACH, value);
    }
    source_watch_close(&watch);
}

/* Somebody else's open transaction: read up to the last stable offset, which is the end; the high watermark is beyond. When the broker ends it
 * because its time is up the rest comes. */
static void test_left_open_until_its_timeout(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "open", 1, NULL);
    struct kafka_client_producer *plain = kafka_client_producer_open(bootstrap, NULL);
    struct kafka_client_producer *other = transactional("open", "transaction.timeout.ms=4000");
    produce(plain, "open", "before", 3); /* 0 to 2 */
    kafka_client_begin(other);
    produce(other, "open", "hanging", 2); /* 3, 4 */
    produce(plain, "open", "behind", 3);  /* 5 to 7 */
    struct source_watch watch;
    open_on(&watch, "open", -1);
    source_watch_until(&watch, SOURCE_ASSIGNED, 1, 30 * SECONDS);
    struct source_lookup lookup = look(&watch, "open");
    if (lookup.end == 9) {
        fail_msg("the machine was too slow: the transaction timed out before it was looked at");
    }
    assert_int_equal(lookup.low, 0);
    assert_int_equal(lookup.end, 3);
    assert_int_equal(lookup.high, 8);
    assert_true(source_start(watch.source, "open", 0, 0, NULL));
    assert_int_equal(source_watch_until(&watch, SOURCE_END, 1, 30 * SECONDS)->offset, 3);
    assert_int_equal(source_watch_count(&watch, SOURCE_RECORD), 3);
    source_watch_until(&watch, SOURCE_RECORD, 6, 30 * SECONDS);
    for (size_t i = 3; i < 6; i++) {
        assert_int_equal(source_watch_nth(&watch, SOURCE_RECORD, i)->offset, 5 + i - 3);
    }
    assert_int_equal(source_watch_until(&watch, SOURCE_END, 2, 30 * SECONDS)->offset, 9); /* the marker is 8 */
    lookup = look(&watch, "open");
    assert_int_equal(lookup.end, 9);
    assert_int_equal(lookup.high, 9);
    kafka_client_producer_close(other);
    kafka_client_producer_close(plain);
    source_watch_close(&watch);
}

/* The same, ended by its owner: what it wrote comes at its place, before what stood behind it. And the high watermark is asked for afresh. */
static void test_left_open_and_committed(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "later", 1, NULL);
    struct kafka_client_producer *plain = kafka_client_producer_open(bootstrap, NULL);
    struct kafka_client_producer *other = transactional("later", NULL);
    kafka_client_begin(other);
    produce(other, "later", "held", 1); /* 0 */
    struct source_watch watch;
    open_on(&watch, "later", 0);
    assert_int_equal(source_watch_until(&watch, SOURCE_END, 1, 30 * SECONDS)->offset, 0);
    for (int i = 1; i <= 5; i++) {
        produce(plain, "later", "behind", 1); /* 1 to 5 */
        assert_int_equal(look(&watch, "later").high, 1 + i);
        assert_int_equal(look(&watch, "later").end, 0);
    }
    assert_int_equal(source_watch_count(&watch, SOURCE_RECORD), 0);
    kafka_client_commit_transaction(other); /* 6 */
    source_watch_until(&watch, SOURCE_RECORD, 6, 30 * SECONDS);
    expect_record(&watch, 0, 0, "held 0");
    expect_record(&watch, 5, 5, "behind 0");
    assert_int_equal(source_watch_until(&watch, SOURCE_END, 2, 30 * SECONDS)->offset, 7);
    kafka_client_producer_close(other);
    kafka_client_producer_close(plain);
    source_watch_close(&watch);
}

static int64_t offset_at(struct source_watch *watch, const char *topic, int64_t timestamp_ms)
{
    int64_t offset = -5;
    struct error error;
    if (!source_offset_at(watch->source, topic, 0, timestamp_ms, 10 * SECONDS, &offset, &error)) {
        fail_msg("%s", error.text);
    }
    return offset;
}

static void test_offset_of_a_time(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "times", 1, NULL);
    struct source_watch watch;
    open_on(&watch, "times", 0);
    source_watch_until(&watch, SOURCE_END, 1, 30 * SECONDS);
    assert_int_equal(offset_at(&watch, "times", 0), 0); /* empty: the end */
    struct kafka_client_producer *producer = kafka_client_producer_open(bootstrap, NULL);
    for (int i = 0; i < 10; i++) {
        struct kafka_client_output output = {.value = span_of_text("v"), .timestamp_ms = 1700000000000 + 1000 * i};
        kafka_client_produce(producer, "times", &output);
    }
    kafka_client_flush(producer);
    assert_int_equal(offset_at(&watch, "times", -7), 0);
    assert_int_equal(offset_at(&watch, "times", 0), 0);
    assert_int_equal(offset_at(&watch, "times", 1700000000000), 0);
    assert_int_equal(offset_at(&watch, "times", 1700000000001), 1);
    assert_int_equal(offset_at(&watch, "times", 1700000009000), 9);
    assert_int_equal(offset_at(&watch, "times", 1700000009001), 10);
    assert_int_equal(offset_at(&watch, "times", INT64_MAX), 10);
    kafka_topics_delete_records(bootstrap, "times", 0, 4);
    assert_int_equal(offset_at(&watch, "times", 1700000000000), 4);
    /* behind an open transaction there is nothing to be had yet */
    struct kafka_client_producer *other = transactional("times", NULL);
    kafka_client_begin(other);
    produce(other, "times", "open", 1); /* 10 */
    produce(producer, "times", "behind", 1); /* 11 */
    assert_int_equal(offset_at(&watch, "times", 1700000009001), 10);
    kafka_client_abort_transaction(other); /* 12 */
    kafka_client_producer_close(other);
    kafka_client_producer_close(producer);
    /* and the group never noticed */
    source_watch_until(&watch, SOURCE_RECORD, 11, 30 * SECONDS);
    expect_record(&watch, 10, 11, "behind 0");
    assert_int_equal(source_watch_count(&watch, SOURCE_REVOKED), 0);
    assert_int_equal(source_watch_count(&watch, SOURCE_TROUBLE), 0);
    int64_t offset = -5;
    struct error error;
    assert_false(source_offset_at(watch.source, "times", 77, 0, 2 * SECONDS, &offset, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    assert_int_equal(offset, -5);
    source_watch_close(&watch);
}

/* A source for its questions alone. */
static struct source *open_source(void)
{
    const struct kafka_property properties[] = {{"bootstrap.servers", bootstrap}};
    const char *const topics[] = {"in"};
    struct source_options options = {.properties = properties, .property_count = 1, .group = "g", .instance = "asks", .topics = topics, .topic_count = 1, .wake_fd = -1};
    struct source *source = NULL;
    struct error error;
    assert_true(source_open(&options, &source, &error));
    return source;
}

static struct topic_facts facts_of(const char *topic)
{
    struct source *source = open_source();
    struct topic_facts facts;
    struct error error;
    if (!topic_facts_read(source, topic, 10 * SECONDS, &facts, &error)) {
        fail_msg("%s", error.text);
    }
    source_close(source);
    return facts;
}

static void test_topic_facts(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "facts", 1, NULL);
    struct topic_facts facts = facts_of("facts");
    assert_int_equal(facts.retention_ms, 604800000);
    assert_int_equal(facts.retention_bytes, -1);
    assert_int_equal(facts.max_message_bytes, 1048588);
    assert_true(facts.deletes);
    assert_false(facts.compacts);
    assert_false(facts.log_append_time);
    kafka_topics_create(bootstrap, "odd", 1,
                        (const char *const[]){"retention.ms=-1", "retention.bytes=9000000000", "max.message.bytes=1000",
                                              "cleanup.policy=compact,delete", "message.timestamp.type=LogAppendTime", NULL});
    facts = facts_of("odd");
    assert_int_equal(facts.retention_ms, -1);
    assert_int_equal(facts.retention_bytes, 9000000000);
    assert_int_equal(facts.max_message_bytes, 1000);
    assert_true(facts.deletes);
    assert_true(facts.compacts);
    assert_true(facts.log_append_time);
    kafka_topics_create(bootstrap, "compacted", 1, (const char *const[]){"cleanup.policy=compact", NULL});
    facts = facts_of("compacted");
    assert_false(facts.deletes);
    assert_true(facts.compacts);
    struct source *source = open_source();
    struct error error;
    assert_false(topic_facts_read(source, "no-such-topic", 10 * SECONDS, &facts, &error));
    source_close(source);
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, "no-such-topic"));
}

/* Last: a broker that is there and says nothing. All questions end in their time. */
static void test_a_silent_broker(void **state)
{
    (void)state;
    struct topic_facts facts;
    struct source_lookup lookup;
    struct source_watch watch;
    struct error error;
    int64_t offset = -5;
    open_on(&watch, "facts", 0);
    source_watch_until(&watch, SOURCE_END, 1, 30 * SECONDS);
    kafka_broker_freeze(broker);
    int64_t before = source_watch_clock();
    assert_false(source_look_up(watch.source, "facts", 0, 600, &lookup, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    assert_false(source_offset_at(watch.source, "facts", 0, 0, 600, &offset, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    assert_true(source_watch_clock() - before < 4 * SECONDS);
    before = source_watch_clock();
    assert_false(topic_facts_read(watch.source, "facts", 1000, &facts, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    assert_true(source_watch_clock() - before < 8 * SECONDS);
    kafka_broker_thaw(broker);
    source_watch_close(&watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transactions_through_each_other),
        cmocka_unit_test(test_nothing_but_aborted),
        cmocka_unit_test(test_control_records_at_the_end),
        cmocka_unit_test(test_codecs),
        cmocka_unit_test(test_left_open_until_its_timeout),
        cmocka_unit_test(test_left_open_and_committed),
        cmocka_unit_test(test_offset_of_a_time),
        cmocka_unit_test(test_topic_facts),
        cmocka_unit_test(test_a_silent_broker),
    };
    return cmocka_run_group_tests(tests, start_broker, stop_broker);
}
