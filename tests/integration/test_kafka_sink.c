/* The sink and the administration against a real broker. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bridge/admin.h"
#include "support/kafka_broker.h"
#include "support/kafka_client.h"
#include "support/kafka_topics.h"
#include "support/sink_watch.h"

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

/* Keys choose the same partition as with Java's own console producer: 1,000 of them, 12 partitions. */
static void test_partitions_as_java(void **state)
{
    (void)state;
    enum { KEYS = 1000 };
    kafka_topics_create(bootstrap, "ours", 12, NULL);
    kafka_topics_create(bootstrap, "java", 12, NULL);
    char path[] = "/tmp/tarry-keys-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    struct sink_watch watch;
    sink_watch_open(&watch, bootstrap, NULL);
    for (int i = 0; i < KEYS; i++) {
        char key[64];
        snprintf(key, sizeof key, "key-%d-%.*s", i * 7919, i % 37, "abcdefghijklmnopqrstuvwxyz0123456789____");
        fprintf(file, "%s|%d\n", key, i);
        char value[16];
        snprintf(value, sizeof value, "%d", i);
        struct sink_watch_row row = {.target = "ours", .partition = -1, .key = span_of_text(key), .value = span_of_text(value)};
        sink_watch_send(&watch, &row, OUTPUT_HEADERS_NONE);
    }
    assert_int_equal(fclose(file), 0);
    sink_watch_until(&watch, KEYS, 60 * SECONDS);
    sink_watch_close(&watch);
    const char *const arguments[] = {"--bootstrap-server", bootstrap, "--topic", "java", "--property", "parse.key=true", "--property",
                                     "key.separator=|", NULL};
    int code = kafka_broker_run_tool("org.apache.kafka.tools.ConsoleProducer", arguments, path, NULL);
    unlink(path);
    assert_int_equal(code, 0);

    struct kafka_client_records records = kafka_client_read_all(bootstrap, (const char *const[]){"ours", "java", NULL});
    assert_int_equal(records.count, 2 * KEYS);
    int32_t partitions[KEYS];
    memset(partitions, -1, sizeof partitions);
    size_t pairs = 0;
    for (size_t i = 0; i < records.count; i++) {
        char value[16];
        snprintf(value, sizeof value, "%.*s", (int)records.items[i].record.value.length, (const char *)records.items[i].record.value.data);
        long number = strtol(value, NULL, 10);
        assert_in_range(number, 0, KEYS - 1);
        if (partitions[number] >= 0) {
            assert_int_equal(partitions[number], records.items[i].partition);
            pairs++;
        }
        partitions[number] = records.items[i].partition;
    }
    assert_int_equal(pairs, KEYS);
    kafka_client_records_free(&records);
}

/* A topic that takes small records only: the one that is too large is at fault, those sent with it are delivered, also when they are too many
 * for one batch there. */
static void test_too_large_harms_no_neighbour(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "small", 1, (const char *const[]){"max.message.bytes=2000", NULL});
    struct sink_watch watch;
    sink_watch_open(&watch, bootstrap, (const char *const[]){"linger.ms=100", NULL});
    static char value[5000];
    memset(value, 'v', sizeof value - 1);
    for (int i = 0; i < 50; i++) {
        struct sink_watch_row row = {.target = "small", .partition = 0, .value = {(const uint8_t *)value, i == 20 ? 4000 : 500}};
        sink_watch_send(&watch, &row, OUTPUT_HEADERS_TARRY);
    }
    sink_watch_until(&watch, 50, 60 * SECONDS);
    for (size_t i = 0; i < 50; i++) {
        bool large = watch.reports[i].token == (void *)21;
        assert_int_equal(watch.reports[i].delivered, !large);
        assert_true(!large || watch.reports[i].failure == DELIVERY_FAULT);
    }
    sink_watch_close(&watch);
}

/* A compacted topic refuses a record without key. */
static void test_compacted_topic_wants_a_key(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "compacted", 1, (const char *const[]){"cleanup.policy=compact", NULL});
    struct sink_watch watch;
    sink_watch_open(&watch, bootstrap, (const char *const[]){"linger.ms=100", NULL});
    for (int i = 0; i < 3; i++) {
        struct sink_watch_row row = {.target = "compacted", .partition = 0, .key = i == 1 ? SPAN_ABSENT : span_of_text("k")};
        sink_watch_send(&watch, &row, OUTPUT_HEADERS_TARRY);
    }
    sink_watch_until(&watch, 3, 60 * SECONDS);
    for (size_t i = 0; i < 3; i++) {
        bool keyless = watch.reports[i].token == (void *)2;
        assert_int_equal(watch.reports[i].delivered, !keyless);
        assert_true(!keyless || watch.reports[i].failure == DELIVERY_FAULT);
    }
    sink_watch_close(&watch);
}

/* Larger than the client's usual limit, smaller than the topic's: the broker decides. */
static void test_large_record(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "large", 1, (const char *const[]){"max.message.bytes=20000000", NULL});
    struct sink_watch watch;
    sink_watch_open(&watch, bootstrap, NULL);
    uint8_t *value = calloc(1, 10000000);
    struct sink_watch_row row = {.target = "large", .partition = 0, .value = {value, 10000000}};
    sink_watch_send(&watch, &row, OUTPUT_HEADERS_TARRY);
    assert_true(sink_watch_until(&watch, 1, 60 * SECONDS)->delivered);
    free(value);
    sink_watch_close(&watch);
}

/* A broker that restarts in the middle: each once and in order, none reported twice. */
static void test_order_through_a_restart(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    kafka_topics_create(bootstrap, "order", 1, NULL);
    struct sink_watch watch;
    sink_watch_open(&watch, bootstrap, (const char *const[]){"message.timeout.ms=120000", NULL});
    for (int i = 0; i < COUNT; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", i);
        struct sink_watch_row row = {.target = "order", .partition = 0, .value = span_of_text(value)};
        sink_watch_send(&watch, &row, OUTPUT_HEADERS_NONE);
        if (i == COUNT / 2) {
            kafka_broker_kill(broker);
        }
    }
    kafka_broker_restart(broker);
    sink_watch_until(&watch, COUNT, 120 * SECONDS);
    struct kafka_client_records records = kafka_client_read_all(bootstrap, (const char *const[]){"order", NULL});
    assert_int_equal(records.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        char value[16];
        snprintf(value, sizeof value, "%zu", i);
        assert_true(watch.reports[i].delivered);
        assert_int_equal(watch.reports[i].token == (void *)(i + 1), 1);
        assert_true(span_equals_text(records.items[i].record.value, value));
    }
    kafka_client_records_free(&records);
    sink_watch_close(&watch);
}

static void test_unknown_topic_then_made(void **state)
{
    (void)state;
    struct sink_watch watch;
    sink_watch_open(&watch, bootstrap, NULL);
    struct sink_watch_row row = {.target = "made-later", .partition = -1};
    int64_t before = source_watch_clock();
    sink_watch_send(&watch, &row, OUTPUT_HEADERS_TARRY);
    assert_int_equal(sink_watch_until(&watch, 1, 20 * SECONDS)->failure, DELIVERY_UNKNOWN_TOPIC);
    assert_true(source_watch_clock() - before < 10 * SECONDS);
    kafka_topics_create(bootstrap, "made-later", 1, NULL);
    bool delivered = false;
    before = source_watch_clock();
    for (size_t i = 2; source_watch_clock() - before < 20 * SECONDS && !delivered; i++) {
        sink_watch_send(&watch, &row, OUTPUT_HEADERS_TARRY);
        delivered = sink_watch_until(&watch, i, 20 * SECONDS)->delivered;
        poll(NULL, 0, 250); /* as the core does: it waits between two tries */
    }
    assert_true(delivered);
    sink_watch_close(&watch);
}

static void test_ensure_topic(void **state)
{
    (void)state;
    const struct kafka_property properties[] = {{"bootstrap.servers", bootstrap}};
    struct error error;
    bool created = false;
    assert_true(admin_ensure_topic(properties, 1, "refused", 3, 20 * SECONDS, &created, &error));
    assert_true(created);
    assert_true(admin_ensure_topic(properties, 1, "refused", 5, 20 * SECONDS, &created, &error));
    assert_false(created);
    assert_false(admin_ensure_topic(properties, 1, "not a name", 1, 20 * SECONDS, &created, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, "not a name"));
    const struct kafka_property nowhere[] = {{"bootstrap.servers", "127.0.0.1:1"}};
    assert_false(admin_ensure_topic(nowhere, 1, "refused", 1, 1 * SECONDS, &created, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partitions_as_java),
        cmocka_unit_test(test_too_large_harms_no_neighbour),
        cmocka_unit_test(test_compacted_topic_wants_a_key),
        cmocka_unit_test(test_large_record),
        cmocka_unit_test(test_unknown_topic_then_made),
        cmocka_unit_test(test_ensure_topic),
        cmocka_unit_test(test_order_through_a_restart),
    };
    return cmocka_run_group_tests(tests, start_broker, stop_broker);
}
