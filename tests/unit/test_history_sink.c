/* The producer of outcomes, against librdkafka's mock cluster: it is never waited for, and survives what ends others. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "bridge/history_sink.h"
#include "bridge/mock_cluster.h"
#include "support/kafka_client.h"
#include "support/source_watch.h"

#define SECONDS 1000

enum {
    CODE_TOO_LARGE = 10,
    CODE_CLUSTER_UNAUTHORIZED = 31,
};

struct fixture {
    struct mock_cluster *cluster;
    const char *bootstrap;
    struct history_sink *sink;
    struct history_sink_counts counts;
    int wake_fd;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error error;
    assert_true(mock_cluster_open(1, &fixture->cluster, &error));
    fixture->bootstrap = mock_cluster_bootstrap(fixture->cluster);
    assert_true(mock_cluster_create_topic(fixture->cluster, "history", 2, &error));
    fixture->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    history_sink_close(fixture->sink);
    close(fixture->wake_fd);
    mock_cluster_close(fixture->cluster);
    free(fixture);
    return 0;
}

static bool try_open(struct fixture *fixture, const char *topic, const char *name, const char *value, struct error *error)
{
    const struct kafka_property properties[] = {{"bootstrap.servers", fixture->bootstrap}, {name, value}};
    const struct history_sink_options options = {.properties = properties, .property_count = name == NULL ? 1 : 2, .instance = "i-0",
                                                 .topic = topic, .wake_fd = fixture->wake_fd};
    return history_sink_open(&options, &fixture->sink, error);
}

static void open_sink(struct fixture *fixture)
{
    struct error error;
    if (!try_open(fixture, "history", NULL, NULL, &error)) {
        fail_msg("history_sink_open: %s", error.text);
    }
}

/* Polls, as the owner does: when it is woken, and now and then. */
static void wait_for(struct fixture *fixture, uint64_t delivered, uint64_t failed)
{
    int64_t end_ms = source_watch_clock() + 30 * SECONDS;
    while (fixture->counts.delivered < delivered || fixture->counts.failed < failed) {
        if (source_watch_clock() > end_ms) {
            fail_msg("%llu delivered, %llu failed", (unsigned long long)fixture->counts.delivered, (unsigned long long)fixture->counts.failed);
        }
        struct pollfd woken = {.fd = fixture->wake_fd, .events = POLLIN};
        uint64_t times;
        (void)poll(&woken, 1, 200);
        (void)!read(fixture->wake_fd, &times, sizeof times);
        history_sink_poll(fixture->sink, &fixture->counts);
    }
    assert_int_equal(fixture->counts.delivered, delivered);
    assert_int_equal(fixture->counts.failed, failed);
}

static bool put(struct fixture *fixture, const char *key, const char *value)
{
    return history_sink_send(fixture->sink, span_of_text(key), span_of_text(value));
}

static void test_delivers(void **state)
{
    struct fixture *fixture = *state;
    open_sink(fixture);
    assert_true(put(fixture, "a", "{\"outcome\":\"delivered\"}"));
    assert_true(put(fixture, "a", "{}"));
    assert_true(put(fixture, NULL, "no key"));
    wait_for(fixture, 3, 0);
    struct kafka_client_records records = kafka_client_read_all(fixture->bootstrap, (const char *const[]){"history", NULL});
    assert_int_equal(records.count, 3);
    int32_t partition = -1;
    size_t found = 0;
    for (size_t i = 0; i < records.count; i++) {
        const struct record *record = &records.items[i].record;
        if (record->key.data == NULL) {
            assert_true(span_equals_text(record->value, "no key"));
            continue;
        }
        assert_true(span_equals_text(record->key, "a"));
        assert_true(partition < 0 || partition == records.items[i].partition); /* of one key: one partition, in order */
        partition = records.items[i].partition;
        assert_true(span_equals_text(record->value, found++ == 0 ? "{\"outcome\":\"delivered\"}" : "{}"));
    }
    assert_int_equal(found, 2);
    kafka_client_records_free(&records);
}

/* An outage: what fits is kept, the rest is refused at once, and the end comes in time. */
static void test_outage_is_bounded_in_records_and_time(void **state)
{
    struct fixture *fixture = *state;
    mock_cluster_broker_down(fixture->cluster, 1, true);
    open_sink(fixture);
    size_t taken = 0;
    int64_t before = source_watch_clock();
    while (put(fixture, "k", "v")) {
        assert_true(++taken <= HISTORY_SINK_RECORDS_MAX);
    }
    assert_int_equal(taken, HISTORY_SINK_RECORDS_MAX);
    assert_true(source_watch_clock() - before < 20 * SECONDS);
    history_sink_poll(fixture->sink, &fixture->counts);
    assert_false(put(fixture, "k", "v"));
    before = source_watch_clock();
    history_sink_close(fixture->sink);
    fixture->sink = NULL;
    int64_t took = source_watch_clock() - before;
    assert_true(took < 2500);
    assert_int_equal(fixture->counts.delivered + fixture->counts.failed, 0);
}

static void test_bytes_are_bounded(void **state)
{
    struct fixture *fixture = *state;
    mock_cluster_broker_down(fixture->cluster, 1, true);
    struct error error;
    assert_true(try_open(fixture, "history", "queue.buffering.max.kbytes", "2000000", &error)); /* for the sink: not for this one */
    static uint8_t value[65536];
    size_t taken = 0;
    while (history_sink_send(fixture->sink, SPAN_ABSENT, (struct span){value, sizeof value})) {
        taken++;
        assert_true(taken <= HISTORY_SINK_KBYTES_MAX / 64);
    }
    assert_int_equal(taken, HISTORY_SINK_KBYTES_MAX / 64);
}

static void test_outage_ends(void **state)
{
    struct fixture *fixture = *state;
    mock_cluster_broker_down(fixture->cluster, 1, true);
    open_sink(fixture);
    for (size_t i = 0; i < 100; i++) {
        assert_true(put(fixture, "k", "v"));
    }
    history_sink_poll(fixture->sink, &fixture->counts);
    mock_cluster_broker_down(fixture->cluster, 1, false);
    wait_for(fixture, 100, 0);
}

/* What is on its way at the end gets there, when that is quick. */
static void test_close_waits_a_little(void **state)
{
    struct fixture *fixture = *state;
    open_sink(fixture);
    assert_true(put(fixture, "k", "first"));
    wait_for(fixture, 1, 0);
    assert_true(put(fixture, "k", "last"));
    history_sink_close(fixture->sink);
    fixture->sink = NULL;
    struct kafka_client_records records = kafka_client_read_all(fixture->bootstrap, (const char *const[]){"history", NULL});
    assert_int_equal(records.count, 2);
    kafka_client_records_free(&records);
}

static void test_refused_records_are_counted(void **state)
{
    struct fixture *fixture = *state;
    open_sink(fixture);
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_PRODUCE, CODE_TOO_LARGE, 1);
    assert_true(put(fixture, "k", "v"));
    wait_for(fixture, 0, 1);
    assert_true(put(fixture, "k", "v"));
    wait_for(fixture, 1, 1);
}

/* A producer at its end is followed by another: what the first held has failed, and the process hears of nothing. */
static void test_fatal_errors_end_nothing(void **state)
{
    struct fixture *fixture = *state;
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_INIT_PRODUCER_ID, CODE_CLUSTER_UNAUTHORIZED, 2);
    open_sink(fixture);
    int64_t before = source_watch_clock();
    uint64_t taken = 0;
    while (fixture->counts.delivered == 0) {
        assert_true(source_watch_clock() - before < 60 * SECONDS);
        taken += put(fixture, "k", "v");
        history_sink_poll(fixture->sink, &fixture->counts);
        poll(NULL, 0, 20);
    }
    assert_true(fixture->counts.failed > 0);
    assert_true(source_watch_clock() - before >= 3 * SECONDS); /* 1 s, then 2 s */
    wait_for(fixture, taken - fixture->counts.failed, fixture->counts.failed); /* each taken one is counted once */
}

static void test_options(void **state)
{
    struct fixture *fixture = *state;
    struct error error;
    assert_false(try_open(fixture, "no such name", NULL, NULL, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, "no such name"));
    assert_false(try_open(fixture, "history", "linger.ms", "soon", &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, "linger.ms"));
    assert_null(fixture->sink);
    history_sink_close(NULL);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(test_delivers),
        WITH(test_outage_is_bounded_in_records_and_time),
        WITH(test_bytes_are_bounded),
        WITH(test_outage_ends),
        WITH(test_close_waits_a_little),
        WITH(test_refused_records_are_counted),
        WITH(test_fatal_errors_end_nothing),
        WITH(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
