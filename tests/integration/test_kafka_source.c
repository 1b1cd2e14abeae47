/* The source against a real broker: what the mock cluster does not do as Kafka does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/kafka_broker.h"
#include "support/kafka_client.h"
#include "support/kafka_topics.h"
#include "support/source_watch.h"

#define SECONDS 1000

static struct kafka_broker *broker;
static const char *bootstrap;

static int start_broker(void **state)
{
    (void)state;
    broker = kafka_broker_start(NULL, 0);
    bootstrap = kafka_broker_bootstrap(broker);
    return 0;
}

static int stop_broker(void **state)
{
    (void)state;
    kafka_broker_free(broker);
    return 0;
}

static void produce_texts(const char *topic, int32_t partition, int from, int count)
{
    struct kafka_client_producer *producer = kafka_client_producer_open(bootstrap, NULL);
    for (int i = from; i < from + count; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", i);
        struct kafka_client_output output = {.partition = partition, .value = span_of_text(value)};
        kafka_client_produce(producer, topic, &output);
    }
    kafka_client_flush(producer);
    kafka_client_producer_close(producer);
}

static void open_on(struct source_watch *watch, const char *topic, const char *group, const char *instance, int64_t start_at,
                    const char *const *properties)
{
    source_watch_open(watch, bootstrap, group, instance, (const char *const[]){topic, NULL}, properties);
    watch->start_at = start_at;
}

static void test_look_up_with_metadata(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "look", 2, NULL);
    produce_texts("look", 0, 0, 10);
    struct source_watch watch;
    open_on(&watch, "look", "look", "i-0", 0, NULL);
    source_watch_until(&watch, SOURCE_RECORD, 10, 30 * SECONDS);
    char metadata[4097];
    memset(metadata, 'm', 4096);
    metadata[4096] = '\0';
    assert_true(source_commit(watch.source, "look", 0, 6, metadata, 7, NULL));
    assert_true(source_watch_until(&watch, SOURCE_COMMITTED, 1, 20 * SECONDS)->acknowledged);
    kafka_topics_delete_records(bootstrap, "look", 0, 3);
    struct source_lookup lookup;
    struct error error;
    assert_true(source_look_up(watch.source, "look", 0, 10 * SECONDS, &lookup, &error));
    assert_int_equal(lookup.committed, 6);
    assert_string_equal(lookup.metadata, metadata);
    assert_int_equal(lookup.low, 3);
    assert_int_equal(lookup.end, 10);
    assert_true(source_look_up(watch.source, "look", 1, 10 * SECONDS, &lookup, &error));
    assert_int_equal(lookup.committed, -1);
    /* one byte more than Kafka takes: refused, and the old one stands */
    char longer[4098];
    memset(longer, 'n', 4097);
    longer[4097] = '\0';
    assert_true(source_commit(watch.source, "look", 0, 7, longer, 7, NULL));
    assert_false(source_watch_until(&watch, SOURCE_COMMITTED, 2, 20 * SECONDS)->acknowledged);
    assert_true(source_look_up(watch.source, "look", 0, 10 * SECONDS, &lookup, &error));
    assert_int_equal(lookup.committed, 6);
    char id[64];
    assert_true(source_cluster_id(watch.source, 5 * SECONDS, id, sizeof id));
    assert_int_equal(strlen(id), 22);
    source_watch_close(&watch);
}

/* An anchor is found where it stands; below the log's start, beyond its end and where a control record stands it is not. */
static void test_anchor(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "anchor", 1, NULL);
    struct kafka_client_producer *producer = kafka_client_producer_open(bootstrap, (const char *const[]){"transactional.id=anchor", NULL});
    struct kafka_client_output output = {.key = span_of_text("k"), .value = span_of_text("v"), .timestamp_ms = 1700000000001};
    for (int i = 0; i < 2; i++) { /* offsets 0 and 2; 1 and 3 are commit markers */
        kafka_client_begin(producer);
        kafka_client_produce(producer, "anchor", &output);
        kafka_client_commit_transaction(producer);
    }
    kafka_client_producer_close(producer);
    struct source_watch watch;
    open_on(&watch, "anchor", "anchor", "i-0", -1, NULL);
    source_watch_until(&watch, SOURCE_ASSIGNED, 1, 30 * SECONDS);
    struct source_lookup lookup = {0};
    struct error error;
    struct record expected = {.key = output.key, .value = output.value};
    assert_true(source_read_anchor(watch.source, "anchor", 0, 0, 10 * SECONDS, &lookup, &error));
    assert_true(lookup.anchor_found);
    assert_int_equal(lookup.anchor_timestamp_ms, 1700000000001);
    assert_int_equal(lookup.anchor_crc, source_record_crc(&expected));
    static const int64_t absent[] = {1, 3, 4, 100};
    for (size_t i = 0; i < 4; i++) {
        assert_true(source_read_anchor(watch.source, "anchor", 0, absent[i], 10 * SECONDS, &lookup, &error));
        assert_false(lookup.anchor_found);
    }
    kafka_topics_delete_records(bootstrap, "anchor", 0, 2);
    assert_true(source_read_anchor(watch.source, "anchor", 0, 0, 10 * SECONDS, &lookup, &error));
    assert_false(lookup.anchor_found);
    assert_true(source_read_anchor(watch.source, "anchor", 0, 2, 10 * SECONDS, &lookup, &error));
    assert_true(lookup.anchor_found);
    source_watch_close(&watch);
}

static uint32_t crc_of_value(const char *value)
{
    struct record record = {.key = SPAN_ABSENT, .value = span_of_text(value)};
    return source_record_crc(&record);
}

/* Many partitions' anchors one after the other, each with more behind it than was asked for: one does not hold up the next. */
static void test_anchors_in_a_row(void **state)
{
    enum { PARTITIONS = 8, RECORDS = 300, ROUNDS = 8 };
    (void)state;
    kafka_topics_create(bootstrap, "row", PARTITIONS, NULL);
    for (int32_t partition = 0; partition < PARTITIONS; partition++) {
        produce_texts("row", partition, partition, RECORDS);
    }
    struct source_watch watch;
    open_on(&watch, "row", "row", "i-0", -1, NULL);
    source_watch_until(&watch, SOURCE_ASSIGNED, PARTITIONS, 30 * SECONDS);
    struct source_lookup lookup = {0};
    struct error error;
    assert_true(source_read_anchor(watch.source, "row", 0, 0, 10 * SECONDS, &lookup, &error)); /* connects */
    int64_t before = source_watch_clock();
    for (int round = 0; round < ROUNDS; round++) {
        for (int32_t partition = 0; partition < PARTITIONS; partition++) {
            int offset = round == 0 ? RECORDS : round * 30; /* the first round: beyond the end */
            assert_true(source_read_anchor(watch.source, "row", partition, offset, 10 * SECONDS, &lookup, &error));
            assert_int_equal(lookup.anchor_found, offset < RECORDS);
            char value[16];
            snprintf(value, sizeof value, "%d", partition + offset);
            assert_true(!lookup.anchor_found || lookup.anchor_crc == crc_of_value(value));
        }
    }
    /* 64 of them take about 0.2 s. A client that now and then rests for its second before a fetch needs many. */
    print_message("%d anchors: %lld ms\n", ROUNDS * PARTITIONS, (long long)(source_watch_clock() - before));
    assert_true(source_watch_clock() - before < 5 * SECONDS);
    for (int32_t partition = 0; partition < PARTITIONS; partition++) {
        assert_true(source_start(watch.source, "row", partition, RECORDS, NULL));
    }
    source_watch_until(&watch, SOURCE_END, PARTITIONS, 30 * SECONDS); /* the reader is let go meanwhile, */
    assert_true(source_read_anchor(watch.source, "row", 1, 0, 10 * SECONDS, &lookup, &error)); /* and made again when needed */
    assert_true(lookup.anchor_found);
    source_watch_turn(&watch);
    source_watch_close(&watch);
}

/* The end that is looked up is the last stable offset; and the END event of a partition that ends in control records is beyond them. */
static void test_transactions(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "txn", 1, NULL);
    struct kafka_client_output output = {.value = span_of_text("aborted")};
    struct kafka_client_producer *producer = kafka_client_producer_open(bootstrap, (const char *const[]){"transactional.id=txn", NULL});
    kafka_client_begin(producer);
    for (int i = 0; i < 10; i++) {
        kafka_client_produce(producer, "txn", &output);
    }
    kafka_client_flush(producer);
    kafka_client_abort_transaction(producer); /* 0 to 9, marker 10 */
    output.value = span_of_text("committed");
    kafka_client_begin(producer);
    for (int i = 0; i < 10; i++) {
        kafka_client_produce(producer, "txn", &output);
    }
    kafka_client_commit_transaction(producer); /* 11 to 20, marker 21 */
    output.value = span_of_text("open");
    kafka_client_begin(producer);
    kafka_client_produce(producer, "txn", &output); /* 22 */
    kafka_client_flush(producer);
    produce_texts("txn", 0, 0, 1); /* 23, behind the open one */
    struct source_watch watch;
    open_on(&watch, "txn", "txn", "i-0", 0, NULL);
    assert_int_equal(source_watch_until(&watch, SOURCE_END, 1, 30 * SECONDS)->offset, 22);
    struct source_lookup lookup;
    struct error error;
    assert_true(source_look_up(watch.source, "txn", 0, 10 * SECONDS, &lookup, &error));
    assert_int_equal(lookup.end, 22);
    int64_t low = -1;
    int64_t high = -1;
    kafka_client_watermarks(bootstrap, "txn", 0, &low, &high);
    assert_int_equal(high, 24);
    assert_int_equal(source_watch_count(&watch, SOURCE_RECORD), 10);
    for (size_t i = 0; i < 10; i++) {
        assert_string_equal(source_watch_nth(&watch, SOURCE_RECORD, i)->value, "committed");
        assert_int_equal(source_watch_nth(&watch, SOURCE_RECORD, i)->offset, 11 + i);
    }
    kafka_client_abort_transaction(producer); /* marker 24 */
    kafka_client_producer_close(producer);
    assert_int_equal(source_watch_until(&watch, SOURCE_RECORD, 11, 20 * SECONDS)->offset, 23);
    assert_int_equal(source_watch_until(&watch, SOURCE_END, 2, 20 * SECONDS)->offset, 25);
    source_watch_close(&watch);
}

static void test_fenced_static_member(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "fence", 1, NULL);
    struct source_watch first;
    struct source_watch second;
    open_on(&first, "fence", "fence", "same", 0, NULL);
    source_watch_until(&first, SOURCE_END, 1, 30 * SECONDS);
    open_on(&second, "fence", "fence", "same", 0, NULL);
    source_watch_until(&second, SOURCE_END, 1, 30 * SECONDS);
    const struct source_watch_event *fatal = source_watch_until(&first, SOURCE_FATAL, 1, 30 * SECONDS);
    assert_string_not_equal(fatal->text, "");
    source_watch_for(&first, 500);
    assert_int_equal(source_watch_count(&first, SOURCE_FATAL), 1);
    source_watch_close(&first);
    source_watch_close(&second);
}

/* A static member that comes back within its session gets its partitions at once, and nobody else is disturbed. */
static void test_quick_restart(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "quick", 2, NULL);
    struct source_watch watch;
    open_on(&watch, "quick", "quick", "i-0", 0, NULL);
    source_watch_until(&watch, SOURCE_END, 2, 30 * SECONDS);
    source_watch_close(&watch);
    int64_t before = source_watch_clock();
    open_on(&watch, "quick", "quick", "i-0", 0, NULL);
    source_watch_until(&watch, SOURCE_END, 2, 30 * SECONDS);
    assert_true(source_watch_clock() - before < 15 * SECONDS); /* not the 45 s of the session */
    source_watch_close(&watch);
}

/* Polling with everything paused keeps the member in the group. */
static void test_paused_beyond_the_poll_interval(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "paused", 1, NULL);
    produce_texts("paused", 0, 0, 5);
    struct source_watch watch;
    open_on(&watch, "paused", "paused", "i-0", 0, (const char *const[]){"max.poll.interval.ms=6000", "session.timeout.ms=6000", NULL});
    source_watch_until(&watch, SOURCE_END, 1, 30 * SECONDS);
    assert_true(source_pause(watch.source, "paused", 0, NULL));
    produce_texts("paused", 0, 5, 5);
    source_watch_for(&watch, 14 * SECONDS);
    assert_int_equal(source_watch_count(&watch, SOURCE_REVOKED), 0);
    assert_int_equal(source_watch_count(&watch, SOURCE_TROUBLE), 0);
    assert_int_equal(source_watch_count(&watch, SOURCE_RECORD), 5);
    assert_true(source_commit(watch.source, "paused", 0, 5, "", 7, NULL));
    assert_true(source_watch_until(&watch, SOURCE_COMMITTED, 1, 20 * SECONDS)->acknowledged);
    assert_true(source_resume(watch.source, "paused", 0, NULL));
    source_watch_until(&watch, SOURCE_RECORD, 10, 20 * SECONDS);
    source_watch_close(&watch);
}

static void expect_span(struct span a, struct span b)
{
    assert_int_equal(a.data == NULL, b.data == NULL);
    assert_true(span_equal(a, b));
}

static void expect_record(const struct record *record, const struct kafka_client_output *output)
{
    expect_span(record->key, output->key);
    expect_span(record->value, output->value);
    assert_int_equal(record->timestamp, RECORD_TIMESTAMP_CREATE);
    assert_int_equal(record->timestamp_ms, output->timestamp_ms);
    assert_int_equal(record->header_count, output->header_count);
    for (size_t i = 0; i < output->header_count; i++) {
        expect_span(record->headers[i].name, output->headers[i].name);
        expect_span(record->headers[i].value, output->headers[i].value);
    }
}

/* Every codec; null, empty and binary in all places; 200 headers, a long one, repeats. */
static void test_bytes_and_codecs(void **state)
{
    (void)state;
    static const char *const codecs[] = {"compression.type=none", "compression.type=gzip", "compression.type=snappy", "compression.type=lz4",
                                         "compression.type=zstd"};
    static const uint8_t binary[] = {0, 1, 0xff, '\n', 0};
    static uint8_t large[500000];
    struct record_header headers[200];
    for (size_t i = 0; i < 200; i++) {
        headers[i] = (struct record_header){span_of_text(i % 2 == 0 ? "twice" : "other"), i % 3 == 0   ? SPAN_ABSENT
                                                                                          : i % 3 == 1 ? span_of_text("")
                                                                                                       : (struct span){binary, 5}};
    }
    headers[7].value = (struct span){large, 30000};
    const struct kafka_client_output outputs[] = {
        {.timestamp_ms = 1},
        {.timestamp_ms = 2, .key = span_of_text(""), .value = span_of_text("")},
        {.timestamp_ms = 3, .key = {binary, 5}, .value = SPAN_ABSENT, .headers = headers, .header_count = 200},
        {.timestamp_ms = 4, .key = SPAN_ABSENT, .value = {binary, 5}, .headers = headers, .header_count = 1},
        {.timestamp_ms = 5, .key = {binary, 5}, .value = {large, sizeof large}},
    };
    kafka_topics_create(bootstrap, "bytes", 1, NULL);
    for (size_t codec = 0; codec < 5; codec++) {
        struct kafka_client_producer *producer = kafka_client_producer_open(bootstrap, (const char *const[]){codecs[codec], NULL});
        for (size_t i = 0; i < 5; i++) {
            kafka_client_produce(producer, "bytes", &outputs[i]);
        }
        kafka_client_flush(producer);
        kafka_client_producer_close(producer);
    }
    struct source_watch watch;
    open_on(&watch, "bytes", "bytes", "i-0", 0, NULL);
    source_watch_until(&watch, SOURCE_ASSIGNED, 1, 30 * SECONDS);
    size_t count = 0;
    int64_t give_up = source_watch_clock() + 30 * SECONDS;
    while (count < 25 && source_watch_clock() < give_up) {
        struct source_event event;
        source_poll(watch.source, &event);
        if (event.kind == SOURCE_RECORD) {
            assert_int_equal(event.record.offset, count);
            expect_record(&event.record, &outputs[count % 5]);
            count++;
        }
    }
    assert_int_equal(count, 25);
    source_watch_close(&watch);
}

static void test_log_append_time(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "append", 1, (const char *const[]){"message.timestamp.type=LogAppendTime", NULL});
    kafka_client_produce_one(bootstrap, "append", &(struct kafka_client_output){.timestamp_ms = 5});
    struct source_watch watch;
    open_on(&watch, "append", "append", "i-0", 0, NULL);
    source_watch_until(&watch, SOURCE_ASSIGNED, 1, 30 * SECONDS);
    struct source_event event = {.kind = SOURCE_NONE};
    int64_t give_up = source_watch_clock() + 30 * SECONDS;
    while (event.kind != SOURCE_RECORD && source_watch_clock() < give_up) {
        source_poll(watch.source, &event);
    }
    assert_int_equal(event.kind, SOURCE_RECORD);
    assert_int_equal(event.record.timestamp, RECORD_TIMESTAMP_APPEND);
    assert_true(event.record.timestamp_ms > 1700000000000);
    source_watch_close(&watch);
}

static void test_partitions_added(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "grow", 1, NULL);
    struct source_watch watch;
    open_on(&watch, "grow", "grow", "i-0", 0, NULL);
    source_watch_until(&watch, SOURCE_END, 1, 30 * SECONDS);
    kafka_topics_add_partitions(bootstrap, "grow", 4);
    for (int32_t partition = 1; partition < 4; partition++) {
        produce_texts("grow", partition, 0, 10);
    }
    source_watch_until(&watch, SOURCE_RECORD, 30, 20 * SECONDS);
    source_watch_close(&watch);
}

/* A topic deleted under us: revoked; made again: assigned anew, and its committed offsets went with it. */
static void test_topic_recreated(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "again", 1, NULL);
    produce_texts("again", 0, 0, 50);
    struct source_watch watch;
    open_on(&watch, "again", "again", "i-0", 0, (const char *const[]){"topic.metadata.refresh.interval.ms=1000", NULL});
    source_watch_until(&watch, SOURCE_RECORD, 50, 30 * SECONDS);
    assert_true(source_commit(watch.source, "again", 0, 50, "frontier", 7, NULL));
    assert_true(source_watch_until(&watch, SOURCE_COMMITTED, 1, 20 * SECONDS)->acknowledged);
    kafka_topics_delete(bootstrap, "again");
    source_watch_until(&watch, SOURCE_REVOKED, 1, 60 * SECONDS);
    watch.start_at = -1;
    kafka_topics_create(bootstrap, "again", 1, NULL);
    produce_texts("again", 0, 100, 10);
    source_watch_until(&watch, SOURCE_ASSIGNED, 2, 60 * SECONDS);
    struct source_lookup lookup;
    struct error error;
    assert_true(source_look_up(watch.source, "again", 0, 10 * SECONDS, &lookup, &error));
    print_message("recreated topic: low %lld end %lld committed %lld metadata \"%s\"\n", (long long)lookup.low, (long long)lookup.end,
                  (long long)lookup.committed, lookup.metadata);
    assert_int_equal(lookup.end, 10);
    assert_true(source_start(watch.source, "again", 0, 50, NULL));
    source_watch_until(&watch, SOURCE_GONE, 1, 20 * SECONDS);
    source_watch_close(&watch);
}

/* Started while the broker was away, late: the start is right when it is back. */
static void test_start_after_an_outage(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "late", 2, NULL);
    produce_texts("late", 0, 0, 20);
    produce_texts("late", 1, 0, 20);
    struct source_watch watch;
    open_on(&watch, "late", "late", "i-0", -1, NULL);
    source_watch_until(&watch, SOURCE_ASSIGNED, 2, 30 * SECONDS);
    assert_true(source_start(watch.source, "late", 0, 5, NULL));
    source_watch_until(&watch, SOURCE_END, 1, 30 * SECONDS);
    kafka_broker_stop(broker);
    source_watch_until(&watch, SOURCE_TROUBLE, 1, 30 * SECONDS);
    struct source_lookup lookup;
    struct error error;
    assert_false(source_look_up(watch.source, "late", 1, 1000, &lookup, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    kafka_broker_restart(broker);
    int64_t begun = source_watch_clock();
    while (!source_probe(watch.source, 200)) { /* the client reconnects in its own time */
        assert_true(source_watch_clock() - begun < 60 * SECONDS);
        source_watch_for(&watch, 50);
    }
    bool found = false;
    for (int tries = 0; tries < 60 && !found; tries++) { /* the coordinator loads for a moment after a start */
        found = source_look_up(watch.source, "late", 1, 1000, &lookup, &error);
    }
    assert_true(found);
    assert_int_equal(lookup.end, 20);
    assert_true(source_start(watch.source, "late", 1, 15, NULL));
    source_watch_until(&watch, SOURCE_RECORD, 15 + 5, 30 * SECONDS);
    source_watch_for(&watch, 500);
    assert_int_equal(source_watch_count(&watch, SOURCE_RECORD), 20);
    assert_int_equal(source_watch_count(&watch, SOURCE_REVOKED), 0);
    int64_t before = source_watch_clock();
    kafka_broker_kill(broker);
    source_watch_close(&watch);
    assert_true(source_watch_clock() - before < 6 * SECONDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_look_up_with_metadata),
        cmocka_unit_test(test_anchor),
        cmocka_unit_test(test_anchors_in_a_row),
        cmocka_unit_test(test_transactions),
        cmocka_unit_test(test_fenced_static_member),
        cmocka_unit_test(test_quick_restart),
        cmocka_unit_test(test_paused_beyond_the_poll_interval),
        cmocka_unit_test(test_bytes_and_codecs),
        cmocka_unit_test(test_log_append_time),
        cmocka_unit_test(test_partitions_added),
        cmocka_unit_test(test_topic_recreated),
        cmocka_unit_test(test_start_after_an_outage), /* last: it leaves the broker dead */
    };
    return cmocka_run_group_tests(tests, start_broker, stop_broker);
}
