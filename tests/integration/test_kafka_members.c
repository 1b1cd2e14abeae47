/*
 * The source's place in the group, as transactions send it with their offsets (R9), against a real broker: what it is good for, when it is renewed,
 * and when it is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <librdkafka/rdkafka.h>

#include "base/memory.h"
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

/* ------------------------------------------------------------------------------- offsets sent with a transaction */

static void check(rd_kafka_error_t *error, const char *what)
{
    if (error != NULL) {
        fail_msg("%s: %s", what, rd_kafka_error_string(error));
    }
}

static rd_kafka_t *producer_open(const char *id)
{
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    assert_int_equal(rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, text, sizeof text), RD_KAFKA_CONF_OK);
    assert_int_equal(rd_kafka_conf_set(conf, "transactional.id", id, text, sizeof text), RD_KAFKA_CONF_OK);
    assert_int_equal(rd_kafka_conf_set(conf, "log_level", "0", text, sizeof text), RD_KAFKA_CONF_OK);
    rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    assert_non_null(producer);
    check(rd_kafka_init_transactions(producer, 30 * SECONDS), "init_transactions");
    return producer;
}

static rd_kafka_error_t *send_offset(rd_kafka_t *producer, const char *topic, int32_t partition, int64_t offset, struct span members)
{
    rd_kafka_consumer_group_metadata_t *group = NULL;
    check(rd_kafka_consumer_group_metadata_read(&group, members.data, members.length), "reading the members");
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = offset;
    rd_kafka_error_t *error = rd_kafka_send_offsets_to_transaction(producer, list, group, 20 * SECONDS);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_consumer_group_metadata_destroy(group);
    return error;
}

/* A whole transaction; true when the broker took the offset. */
static bool commit_with(rd_kafka_t *producer, const char *topic, int32_t partition, int64_t offset, struct span members)
{
    check(rd_kafka_begin_transaction(producer), "begin");
    rd_kafka_error_t *error = send_offset(producer, topic, partition, offset, members);
    if (error == NULL) {
        check(rd_kafka_commit_transaction(producer, 20 * SECONDS), "commit");
        return true;
    }
    assert_true(rd_kafka_error_txn_requires_abort(error));
    rd_kafka_error_destroy(error);
    check(rd_kafka_abort_transaction(producer, 20 * SECONDS), "abort");
    return false;
}

/* ------------------------------------------------------------------------------------------------------ members */

static struct span copy_of(struct span members)
{
    assert_true(members.length > 0);
    return (struct span){(const uint8_t *)memory_text((const char *)members.data, members.length), members.length};
}

static void free_copy(struct span copy)
{
    free((void *)(uintptr_t)copy.data);
}

static void expect_members(const struct source_watch *watch, struct span expected)
{
    assert_true(span_equal(source_members(watch->source), expected));
}

static void open_on(struct source_watch *watch, const char *topic, const char *instance, const char *property)
{
    source_watch_open(watch, bootstrap, topic, instance, (const char *const[]){topic, NULL},
                      (const char *const[]){"session.timeout.ms=6000", "heartbeat.interval.ms=200", property, NULL});
    watch->start_at = 0;
}

static void test_one_member(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "single", 2, NULL);
    rd_kafka_t *producer = producer_open("single");
    struct source_watch watch;
    open_on(&watch, "single", "i-0", NULL);
    assert_null(source_members(watch.source).data);
    watch.start_at = -1;
    source_watch_until(&watch, SOURCE_ASSIGNED, 2, 30 * SECONDS);
    assert_null(source_members(watch.source).data); /* given, and not answered yet */
    assert_true(source_start(watch.source, "single", 0, 0, NULL));
    source_watch_until(&watch, SOURCE_END, 1, 30 * SECONDS);
    struct span members = copy_of(source_members(watch.source));
    assert_true(commit_with(producer, "single", 0, 5, members));
    assert_int_equal(kafka_client_committed(bootstrap, "single", "single", 0, NULL), 5);
    /* a partition started late is no new assignment */
    assert_true(source_start(watch.source, "single", 1, 0, NULL));
    source_watch_until(&watch, SOURCE_END, 2, 30 * SECONDS);
    expect_members(&watch, members);
    /* a fenced owner's are refused, and those of the new one are others */
    struct source_watch second;
    open_on(&second, "single", "i-0", NULL);
    source_watch_until(&second, SOURCE_END, 2, 30 * SECONDS);
    assert_false(commit_with(producer, "single", 0, 6, members));
    assert_false(span_equal(source_members(second.source), members));
    assert_true(commit_with(producer, "single", 0, 7, source_members(second.source)));
    assert_int_equal(kafka_client_committed(bootstrap, "single", "single", 0, NULL), 7);
    rd_kafka_destroy(producer);
    free_copy(members);
    source_watch_close(&watch);
    source_watch_close(&second);
}

/* Turns both until the first was told that it loses something; it keeps it. */
static void wait_for_revocation(struct source_watch *first, struct source_watch *second)
{
    int64_t give_up = source_watch_clock() + 30 * SECONDS;
    first->keep_revoked = true;
    while (source_watch_count(first, SOURCE_REVOKED) == 0) {
        assert_true(source_watch_clock() < give_up);
        source_watch_for(second, 20);
        source_watch_turn(first);
    }
}

static void release_all(struct source_watch *watch)
{
    for (size_t i = 0; i < source_watch_count(watch, SOURCE_REVOKED); i++) {
        const struct source_watch_event *event = source_watch_nth(watch, SOURCE_REVOKED, i);
        source_release(watch->source, event->topic, event->partition);
    }
    watch->keep_revoked = false;
}

/* Turns both until the second has read its half to the end. */
static void wait_for_half(struct source_watch *first, struct source_watch *second)
{
    int64_t give_up = source_watch_clock() + 30 * SECONDS;
    while (source_watch_count(second, SOURCE_END) < 2) {
        assert_true(source_watch_clock() < give_up);
        source_watch_for(second, 20);
        source_watch_for(first, 20);
    }
}

/* A second member comes. What the first is to give up it can still end by a transaction, until it is released; what it had before the rebalance
 * is refused from then on; and what both have in the end is taken. */
static void second_member(const char *topic, const char *property)
{
    kafka_topics_create(bootstrap, topic, 4, NULL);
    rd_kafka_t *producer = producer_open(topic);
    struct source_watch first;
    struct source_watch second;
    open_on(&first, topic, "i-0", property);
    source_watch_until(&first, SOURCE_END, 4, 30 * SECONDS);
    struct span before = copy_of(source_members(first.source));
    open_on(&second, topic, "i-1", property);
    wait_for_revocation(&first, &second);
    int32_t given_up = source_watch_nth(&first, SOURCE_REVOKED, 0)->partition;
    struct span between = copy_of(source_members(first.source));
    assert_true(commit_with(producer, topic, given_up, 3, between));
    source_watch_for(&first, 500); /* until then nothing changes */
    expect_members(&first, between);
    release_all(&first);
    wait_for_half(&first, &second);
    assert_false(span_equal(source_members(first.source), before));
    assert_false(span_equal(source_members(first.source), between));
    assert_false(span_equal(source_members(first.source), source_members(second.source)));
    assert_false(commit_with(producer, topic, given_up, 4, before));
    assert_false(commit_with(producer, topic, given_up, 4, between));
    assert_int_equal(kafka_client_committed(bootstrap, topic, topic, given_up, NULL), 3);
    int32_t taken = source_watch_nth(&second, SOURCE_ASSIGNED, 0)->partition;
    assert_true(commit_with(producer, topic, taken, 8, source_members(second.source)));
    assert_true(commit_with(producer, topic, 0, 9, source_members(first.source)));
    rd_kafka_destroy(producer);
    free_copy(before);
    free_copy(between);
    source_watch_close(&first);
    source_watch_close(&second);
}

static void test_second_member_eager(void **state)
{
    (void)state;
    second_member("eager", "partition.assignment.strategy=range");
}

static void test_second_member_cooperative(void **state)
{
    (void)state;
    second_member("coop", "partition.assignment.strategy=cooperative-sticky");
}

/* The broker has gone on to another generation and we have not heard of it: what we have is refused, and does not turn into what is taken. */
static void test_unheard_rebalance(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "unheard", 4, NULL);
    rd_kafka_t *producer = producer_open("unheard");
    struct source_watch first;
    struct source_watch second;
    open_on(&first, "unheard", "i-0", "partition.assignment.strategy=cooperative-sticky");
    source_watch_until(&first, SOURCE_END, 4, 30 * SECONDS);
    struct span before = copy_of(source_members(first.source));
    open_on(&second, "unheard", "i-1", "partition.assignment.strategy=cooperative-sticky");
    /* the first is not polled; librdkafka joins the new generation for it all the same */
    int64_t give_up = source_watch_clock() + 30 * SECONDS;
    while (commit_with(producer, "unheard", 0, 1, before)) {
        assert_true(source_watch_clock() < give_up);
        source_watch_for(&second, 20);
    }
    source_watch_for(&second, 500);
    expect_members(&first, before);
    assert_false(commit_with(producer, "unheard", 0, 2, source_members(first.source)));
    wait_for_revocation(&first, &second); /* now it hears of it */
    assert_true(commit_with(producer, "unheard", 0, 3, source_members(first.source)));
    release_all(&first);
    wait_for_half(&first, &second);
    rd_kafka_destroy(producer);
    free_copy(before);
    source_watch_close(&first);
    source_watch_close(&second);
}

/* Offsets of a transaction that has not ended are no answer to a look-up: a successor waits for how it ends. */
static void test_look_up_waits_for_offsets(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "unstable", 1, NULL);
    rd_kafka_t *producer = producer_open("unstable");
    struct source_watch watch;
    open_on(&watch, "unstable", "i-0", NULL);
    source_watch_until(&watch, SOURCE_END, 1, 30 * SECONDS);
    assert_true(commit_with(producer, "unstable", 0, 5, source_members(watch.source)));
    struct source_lookup lookup;
    struct error error;
    check(rd_kafka_begin_transaction(producer), "begin");
    check(send_offset(producer, "unstable", 0, 6, source_members(watch.source)), "offsets");
    assert_false(source_look_up(watch.source, "unstable", 0, 1500, &lookup, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    check(rd_kafka_commit_transaction(producer, 20 * SECONDS), "commit");
    int64_t give_up = source_watch_clock() + 20 * SECONDS;
    while (!source_look_up(watch.source, "unstable", 0, 3 * SECONDS, &lookup, &error)) {
        assert_true(source_watch_clock() < give_up);
    }
    assert_int_equal(lookup.committed, 6);
    rd_kafka_destroy(producer);
    source_watch_close(&watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_member),
        cmocka_unit_test(test_second_member_eager),
        cmocka_unit_test(test_second_member_cooperative),
        cmocka_unit_test(test_unheard_rebalance),
        cmocka_unit_test(test_look_up_waits_for_offsets),
    };
    return cmocka_run_group_tests(tests, start_broker, stop_broker);
}
