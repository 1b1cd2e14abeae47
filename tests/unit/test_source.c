#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include <poll.h>

#include "bridge/mock_cluster.h"
#include "bridge/source.h"
#include "support/kafka_client.h"
#include "support/source_watch.h"

#define SECONDS 1000

static const char *const in_topic[] = {"in", NULL};
static const char *const short_session[] = {"session.timeout.ms=6000", "heartbeat.interval.ms=300", NULL};
static const char *const cooperative_session[] = {"session.timeout.ms=6000", "heartbeat.interval.ms=300",
                                                  "partition.assignment.strategy=cooperative-sticky", NULL};

/* a mock group waits about as long as the session for members to come back before it rebalances */
static const char *const shared_eager[] = {"session.timeout.ms=2500", "heartbeat.interval.ms=200", NULL};
static const char *const shared_cooperative[] = {"session.timeout.ms=2500", "heartbeat.interval.ms=200",
                                                 "partition.assignment.strategy=cooperative-sticky", NULL};

/* The mock cluster makes a group's first member wait for 3 s. So all tests' sources join at once, before the first test. */
struct fixture {
    int partitions;
    const char *const *properties;
    struct mock_cluster *cluster;
    const char *bootstrap;
    struct source_watch watch;
};

enum {
    READS,
    STARTS,
    POINTER,
    LATE_EAGER,
    LATE_COOPERATIVE,
    PAUSE,
    PAUSES,
    PAUSE_AT_START,
    ELSEWHERE,
    COMMIT,
    COMMIT_REFUSED,
    TWO_EAGER,
    TWO_COOPERATIVE,
    TROUBLE,
    OUTSIDE,
    ANCHOR,
    LAG,
    THROWN_OUT,
    FIXTURES,
};

static struct fixture fixtures[FIXTURES] = {
    [READS] = {1, short_session},
    [STARTS] = {1, short_session},
    [POINTER] = {1, short_session},
    [LATE_EAGER] = {3, short_session},
    [LATE_COOPERATIVE] = {3, cooperative_session},
    [PAUSE] = {1, short_session},
    [PAUSES] = {1, short_session},
    [PAUSE_AT_START] = {1, short_session},
    [ELSEWHERE] = {1, short_session},
    [COMMIT] = {2, short_session},
    [COMMIT_REFUSED] = {1, short_session},
    [TWO_EAGER] = {4, shared_eager},
    [TWO_COOPERATIVE] = {4, shared_cooperative},
    [TROUBLE] = {1, short_session},
    [OUTSIDE] = {1, short_session},
    [ANCHOR] = {3, short_session},
    [LAG] = {1, short_session},
    [THROWN_OUT] = {1, short_session},
};

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIXTURES; i++) {
        struct fixture *fixture = &fixtures[i];
        struct error error;
        assert_true(mock_cluster_open(1, &fixture->cluster, &error));
        fixture->bootstrap = mock_cluster_bootstrap(fixture->cluster);
        assert_true(mock_cluster_create_topic(fixture->cluster, "in", fixture->partitions, &error));
        source_watch_open(&fixture->watch, fixture->bootstrap, "g", "i-0", in_topic, fixture->properties);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIXTURES; i++) {
        if (fixtures[i].watch.source != NULL) {
            source_watch_close(&fixtures[i].watch);
        }
        mock_cluster_close(fixtures[i].cluster);
    }
    return 0;
}

/* Values "0" ... in one partition. */
static void produce(struct fixture *fixture, int32_t partition, int from, int count)
{
    struct kafka_client_producer *producer = kafka_client_producer_open(fixture->bootstrap, NULL);
    for (int i = from; i < from + count; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", i);
        struct kafka_client_output output = {.partition = partition, .value = span_of_text(value)};
        kafka_client_produce(producer, "in", &output);
    }
    kafka_client_flush(producer);
    kafka_client_producer_close(producer);
}

static void expect_values(const struct source_watch *watch, int count)
{
    assert_int_equal(source_watch_count(watch, SOURCE_RECORD), count);
    for (int i = 0; i < count; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", i);
        assert_string_equal(source_watch_nth(watch, SOURCE_RECORD, (size_t)i)->value, value);
        assert_int_equal(source_watch_nth(watch, SOURCE_RECORD, (size_t)i)->offset, i);
    }
}

static void test_reads_to_the_end(void **state)
{
    struct fixture *fixture = *state;
    produce(fixture, 0, 0, 100);
    fixture->watch.start_at = 0;
    const struct source_watch_event *end = source_watch_until(&fixture->watch, SOURCE_END, 1, 20 * SECONDS);
    assert_int_equal(end->offset, 100);
    expect_values(&fixture->watch, 100);
    produce(fixture, 0, 100, 5);
    source_watch_until(&fixture->watch, SOURCE_RECORD, 105, 10 * SECONDS);
    expect_values(&fixture->watch, 105);
}

static void test_starts_where_told(void **state)
{
    struct fixture *fixture = *state;
    produce(fixture, 0, 0, 20);
    fixture->watch.start_at = 15;
    source_watch_until(&fixture->watch, SOURCE_END, 1, 20 * SECONDS);
    assert_int_equal(source_watch_count(&fixture->watch, SOURCE_RECORD), 5);
    assert_int_equal(source_watch_nth(&fixture->watch, SOURCE_RECORD, 0)->offset, 15);
}

static void test_topic_pointer_is_stable(void **state)
{
    struct fixture *fixture = *state;
    produce(fixture, 0, 0, 3);
    fixture->watch.start_at = 0;
    source_watch_until(&fixture->watch, SOURCE_ASSIGNED, 1, 20 * SECONDS);
    const char *first = NULL;
    int seen = 0;
    int64_t give_up = source_watch_clock() + 20 * SECONDS;
    while (seen < 3 && source_watch_clock() < give_up) {
        struct source_event event;
        source_poll(fixture->watch.source, &event);
        if (event.kind == SOURCE_RECORD) {
            first = first == NULL ? event.topic : first;
            assert_ptr_equal(event.topic, first);
            seen++;
        }
    }
    assert_int_equal(seen, 3);
}

/* A partition whose start comes late does not hold up the others, and its start does not repeat or lose any of theirs. */
static void test_late_start(void **state)
{
    struct fixture *fixture = *state;
    for (int32_t partition = 0; partition < 3; partition++) {
        produce(fixture, partition, 0, 50);
    }
    struct source_watch *watch = &fixture->watch;
    watch->start_at = -1;
    source_watch_until(watch, SOURCE_ASSIGNED, 3, 20 * SECONDS);
    assert_true(source_start(watch->source, "in", 0, 0, NULL));
    assert_true(source_hold(watch->source, "in", 1, NULL));
    source_watch_until(watch, SOURCE_END, 1, 20 * SECONDS);
    assert_int_equal(source_watch_count(watch, SOURCE_RECORD), 50);
    assert_true(source_start(watch->source, "in", 2, 10, NULL));
    produce(fixture, 0, 50, 10);
    source_watch_until(watch, SOURCE_RECORD, 50 + 10 + 40, 20 * SECONDS);
    source_watch_for(watch, 300);
    int64_t next[3] = {0, 0, 10};
    for (size_t i = 0; i < 100; i++) {
        const struct source_watch_event *record = source_watch_nth(watch, SOURCE_RECORD, i);
        assert_int_equal(record->offset, next[record->partition]++);
    }
    assert_int_equal(source_watch_count(watch, SOURCE_RECORD), 100);
    assert_int_equal(next[0], 60);
    assert_int_equal(next[1], 0);
    assert_int_equal(next[2], 50);
}

static void test_pause_and_resume(void **state)
{
    struct fixture *fixture = *state;
    produce(fixture, 0, 0, 2000);
    fixture->watch.start_at = 0;
    struct source_watch *watch = &fixture->watch;
    source_watch_until(watch, SOURCE_RECORD, 10, 20 * SECONDS);
    assert_true(source_pause(watch->source, "in", 0, NULL));
    size_t at_pause = source_watch_count(watch, SOURCE_RECORD);
    source_watch_for(watch, 500);
    assert_int_equal(source_watch_count(watch, SOURCE_RECORD), at_pause);
    assert_true(source_resume(watch->source, "in", 0, NULL));
    source_watch_until(watch, SOURCE_END, 1, 20 * SECONDS);
    expect_values(watch, 2000);
}

/* Paused and resumed at many places: each record once and in order, and the end is told although pauses may swallow its event. */
static void test_many_pauses(void **state)
{
    struct fixture *fixture = *state;
    produce(fixture, 0, 0, 300);
    fixture->watch.start_at = 0;
    struct source_watch *watch = &fixture->watch;
    source_watch_until(watch, SOURCE_ASSIGNED, 1, 20 * SECONDS);
    for (size_t i = 1; i <= 30; i++) {
        source_watch_until(watch, SOURCE_RECORD, i * 10, 20 * SECONDS);
        assert_true(source_pause(watch->source, "in", 0, NULL));
        assert_true(source_resume(watch->source, "in", 0, NULL));
    }
    source_watch_until(watch, SOURCE_END, 1, 20 * SECONDS);
    expect_values(watch, 300);
}

/* A pause ordered before anything is fetched holds, and everything comes after it. */
static void test_pause_at_start(void **state)
{
    struct fixture *fixture = *state;
    produce(fixture, 0, 0, 10);
    fixture->watch.start_at = -1;
    struct source_watch *watch = &fixture->watch;
    source_watch_until(watch, SOURCE_ASSIGNED, 1, 20 * SECONDS);
    assert_true(source_start(watch->source, "in", 0, 0, NULL));
    assert_true(source_pause(watch->source, "in", 0, NULL));
    source_watch_for(watch, 500);
    assert_int_equal(source_watch_count(watch, SOURCE_RECORD), 0);
    assert_true(source_resume(watch->source, "in", 0, NULL));
    source_watch_until(watch, SOURCE_END, 1, 20 * SECONDS);
    expect_values(watch, 10);
}

static void test_started_again_elsewhere(void **state)
{
    struct fixture *fixture = *state;
    produce(fixture, 0, 0, 10);
    fixture->watch.start_at = 8;
    struct source_watch *watch = &fixture->watch;
    source_watch_until(watch, SOURCE_END, 1, 20 * SECONDS);
    assert_int_equal(source_watch_count(watch, SOURCE_RECORD), 2);
    source_watch_clear(watch);
    assert_true(source_start(watch->source, "in", 0, 0, NULL));
    source_watch_until(watch, SOURCE_END, 1, 20 * SECONDS);
    expect_values(watch, 10);
    source_watch_clear(watch);
    assert_true(source_hold(watch->source, "in", 0, NULL));
    source_watch_turn(watch);
    produce(fixture, 0, 10, 1);
    source_watch_for(watch, 300);
    assert_int_equal(source_watch_count(watch, SOURCE_RECORD), 0);
}

static void test_commit_and_look_up(void **state)
{
    struct fixture *fixture = *state;
    produce(fixture, 0, 0, 7);
    fixture->watch.start_at = 0;
    struct source_watch *watch = &fixture->watch;
    source_watch_until(watch, SOURCE_RECORD, 7, 20 * SECONDS);
    char metadata[4096];
    memset(metadata, 'm', sizeof metadata - 1);
    metadata[sizeof metadata - 1] = '\0';
    assert_true(source_commit(watch->source, "in", 0, 5, metadata, 7, NULL));
    const struct source_watch_event *answer = source_watch_until(watch, SOURCE_COMMITTED, 1, 20 * SECONDS);
    assert_true(answer->acknowledged);
    assert_int_equal(answer->offset, 5);
    assert_int_equal(answer->partition, 0);
    assert_int_equal(answer->tag, 7);
    struct source_lookup lookup;
    struct error error;
    assert_true(source_look_up(watch->source, "in", 0, 10 * SECONDS, &lookup, &error));
    assert_int_equal(lookup.committed, 5);
    assert_string_equal(lookup.metadata, metadata);
    assert_int_equal(lookup.low, 0);
    assert_int_equal(lookup.end, 7);
    assert_int_equal(lookup.high, 7);
    int64_t high = -1;
    assert_true(source_high(watch->source, "in", 0, 10 * SECONDS, &high, &error));
    assert_int_equal(high, 7);
    assert_true(source_look_up(watch->source, "in", 1, 10 * SECONDS, &lookup, &error));
    assert_int_equal(lookup.committed, -1);
    assert_string_equal(lookup.metadata, "");
    assert_int_equal(lookup.end, 0);
}

static void test_commit_refused(void **state)
{
    struct fixture *fixture = *state;
    fixture->watch.start_at = 0;
    struct source_watch *watch = &fixture->watch;
    source_watch_until(watch, SOURCE_END, 1, 20 * SECONDS);
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_OFFSET_COMMIT, 12 /* OFFSET_METADATA_TOO_LARGE */, 1);
    assert_true(source_commit(watch->source, "in", 0, 0, "x", 7, NULL));
    const struct source_watch_event *answer = source_watch_until(watch, SOURCE_COMMITTED, 1, 20 * SECONDS);
    assert_false(answer->acknowledged);
    assert_string_not_equal(answer->text, "");
    assert_true(source_commit(watch->source, "in", 0, 0, "y", 7, NULL));
    assert_true(source_watch_until(watch, SOURCE_COMMITTED, 2, 20 * SECONDS)->acknowledged);
}

/* A second member comes: half of the partitions are revoked, and go over when they were released, not before. */
static void test_two_members(void **state)
{
    struct fixture *fixture = *state;
    struct source_watch second = {0};
    source_watch_until(&fixture->watch, SOURCE_ASSIGNED, 4, 20 * SECONDS);
    fixture->watch.keep_revoked = true;
    source_watch_open(&second, fixture->bootstrap, "g", "i-1", in_topic, fixture->properties);
    int64_t give_up = source_watch_clock() + 30 * SECONDS;
    while (source_watch_count(&fixture->watch, SOURCE_REVOKED) == 0 && source_watch_clock() < give_up) {
        source_watch_for(&second, 20);
        source_watch_for(&fixture->watch, 20);
    }
    source_watch_turn(&fixture->watch);
    size_t revoked = source_watch_count(&fixture->watch, SOURCE_REVOKED);
    assert_true(revoked > 0);
    /* until they are released nobody else gets them */
    source_watch_for(&second, 300);
    assert_int_equal(source_watch_count(&second, SOURCE_ASSIGNED), 0);
    for (size_t i = 0; i < revoked; i++) {
        const struct source_watch_event *event = source_watch_nth(&fixture->watch, SOURCE_REVOKED, i);
        assert_false(event->lost);
        assert_false(source_start(fixture->watch.source, "in", event->partition, 0, NULL));
        source_release(fixture->watch.source, "in", event->partition);
    }
    fixture->watch.keep_revoked = false;
    while (source_watch_count(&second, SOURCE_ASSIGNED) < 2 && source_watch_clock() < give_up) {
        source_watch_for(&second, 20);
        source_watch_for(&fixture->watch, 20);
    }
    assert_int_equal(source_watch_count(&second, SOURCE_ASSIGNED), 2);
    source_watch_close(&second);
}

static void test_wakes_by_eventfd(void **state)
{
    struct fixture *fixture = *state;
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    const struct kafka_property properties[] = {{"bootstrap.servers", fixture->bootstrap}};
    struct source_options options = {.properties = properties, .property_count = 1, .group = "woken", .instance = "i", .topics = in_topic,
                                     .topic_count = 1, .wake_fd = fd};
    struct source *source = NULL;
    struct error error;
    assert_true(source_open(&options, &source, &error));
    bool record = false;
    bool produced = false;
    for (int wakes = 0; wakes < 200 && !record; wakes++) {
        struct pollfd item = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&item, 1, 20 * SECONDS), 1);
        uint64_t count = 0;
        assert_int_equal(read(fd, &count, sizeof count), sizeof count);
        struct source_event event;
        for (source_poll(source, &event); event.kind != SOURCE_NONE; source_poll(source, &event)) {
            record = record || (produced && event.kind == SOURCE_RECORD);
            if (event.kind == SOURCE_ASSIGNED) {
                assert_true(source_start(source, event.topic, event.partition, 0, NULL));
            }
            if (event.kind == SOURCE_END && !produced) {
                produce(fixture, 0, 0, 1);
                produced = true;
            }
        }
    }
    assert_true(record);
    source_close(source);
    close(fd);
}

static void test_refuses_properties(void **state)
{
    (void)state;
    const struct kafka_property refused[] = {{"bootstrap.servers", "x:1"}, {"isolation.level", "read_uncommitted"}};
    const struct kafka_property unknown[] = {{"no.such.property", "1"}};
    const char *const pattern[] = {"^in.*"};
    struct source_options options = {.properties = refused, .property_count = 2, .group = "g", .instance = "i", .topics = in_topic,
                                     .topic_count = 1, .wake_fd = -1};
    struct source *source = NULL;
    struct error error;
    assert_false(source_open(&options, &source, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, "isolation.level"));
    options.properties = unknown;
    options.property_count = 1;
    assert_false(source_open(&options, &source, &error));
    assert_non_null(strstr(error.text, "no.such.property"));
    options.property_count = 0;
    options.topics = pattern;
    assert_false(source_open(&options, &source, &error));
    assert_non_null(strstr(error.text, "^in.*"));
    assert_null(source);
}

/* Brokers gone: told; closing is quick all the same. Back again: told too, although no record comes. */
static void test_trouble_and_back(void **state)
{
    struct fixture *fixture = *state;
    fixture->watch.start_at = 0;
    struct source_watch *watch = &fixture->watch;
    source_watch_until(watch, SOURCE_END, 1, 20 * SECONDS);
    mock_cluster_broker_down(fixture->cluster, 1, true);
    const struct source_watch_event *trouble = source_watch_until(watch, SOURCE_TROUBLE, 1, 20 * SECONDS);
    assert_string_not_equal(trouble->text, "");
    struct source_lookup lookup;
    struct error error;
    assert_false(source_look_up(watch->source, "in", 0, 400, &lookup, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    int64_t offset = -5;
    int64_t asked = source_watch_clock();
    assert_false(source_offset_at(watch->source, "in", 0, 0, 400, &offset, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    assert_true(source_watch_clock() - asked < 2 * SECONDS);
    assert_false(source_probe(watch->source, 200));
    mock_cluster_broker_down(fixture->cluster, 1, false);
    int64_t begun = source_watch_clock();
    while (!source_probe(watch->source, 200)) { /* the client reconnects in its own time */
        assert_true(source_watch_clock() - begun < 30 * SECONDS);
        source_watch_for(watch, 50);
    }
    assert_true(source_probe(watch->source, 200));
    mock_cluster_broker_down(fixture->cluster, 1, true);
    source_watch_for(watch, 300);
    int64_t before = source_watch_clock();
    source_watch_close(watch);
    assert_true(source_watch_clock() - before < 6 * SECONDS);
}

static void test_position_outside_the_log(void **state)
{
    struct fixture *fixture = *state;
    produce(fixture, 0, 0, 5);
    fixture->watch.start_at = 1000;
    const struct source_watch_event *gone = source_watch_until(&fixture->watch, SOURCE_GONE, 1, 20 * SECONDS);
    assert_string_equal(gone->topic, "in");
    assert_int_equal(gone->partition, 0);
    assert_int_equal(source_watch_count(&fixture->watch, SOURCE_RECORD), 0);
}

/* One partition after the other, there and back: none is held up or mistaken for another. */
static void expect_anchors_in_turn(struct fixture *fixture)
{
    struct source_lookup lookup = {0};
    struct error error;
    produce(fixture, 1, 100, 50);
    produce(fixture, 2, 200, 50);
    for (int round = 0; round < 4; round++) {
        for (int32_t partition = 1; partition < 3; partition++) {
            char value[16];
            snprintf(value, sizeof value, "%d", 100 * partition + 10 * round);
            struct record expected = {.key = SPAN_ABSENT, .value = span_of_text(value)};
            assert_true(source_read_anchor(fixture->watch.source, "in", partition, 10 * round, 10 * SECONDS, &lookup, &error));
            assert_true(lookup.anchor_found);
            assert_int_equal(lookup.anchor_crc, source_record_crc(&expected));
        }
    }
}

static void test_anchor(void **state)
{
    struct fixture *fixture = *state;
    struct kafka_client_output output = {.key = span_of_text("k"), .value = span_of_text("v"), .timestamp_ms = 1700000000123};
    kafka_client_produce_one(fixture->bootstrap, "in", &output);
    output.value = SPAN_ABSENT;
    kafka_client_produce_one(fixture->bootstrap, "in", &output);
    fixture->watch.start_at = -1;
    struct source_watch *watch = &fixture->watch;
    source_watch_until(watch, SOURCE_ASSIGNED, 3, 20 * SECONDS);
    struct source_lookup lookup = {0};
    struct error error;
    struct record expected = {.key = span_of_text("k"), .value = span_of_text("v")};
    assert_true(source_read_anchor(watch->source, "in", 0, 0, 10 * SECONDS, &lookup, &error));
    assert_true(lookup.anchor_found);
    assert_int_equal(lookup.anchor_timestamp_ms, 1700000000123);
    assert_int_equal(lookup.anchor_crc, source_record_crc(&expected));
    assert_true(source_read_anchor(watch->source, "in", 0, 1, 10 * SECONDS, &lookup, &error));
    expected.value = SPAN_ABSENT;
    assert_int_equal(lookup.anchor_crc, source_record_crc(&expected));
    assert_true(source_read_anchor(watch->source, "in", 0, 2, 10 * SECONDS, &lookup, &error));
    assert_false(lookup.anchor_found);
    assert_true(source_read_anchor(watch->source, "in", 0, 50, 10 * SECONDS, &lookup, &error));
    assert_false(lookup.anchor_found);
    expect_anchors_in_turn(fixture);
    mock_cluster_broker_down(fixture->cluster, 1, true);
    assert_false(source_read_anchor(watch->source, "in", 0, 0, 400, &lookup, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
}

static void test_crc_tells_apart(void **state)
{
    (void)state;
    const struct span spans[] = {SPAN_ABSENT, span_of_text(""), span_of_text("a"), span_of_text("ab"), span_of_text("b")};
    uint32_t seen[25];
    size_t count = 0;
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 5; j++) {
            struct record record = {.key = spans[i], .value = spans[j]};
            uint32_t crc = source_record_crc(&record);
            for (size_t k = 0; k < count; k++) {
                assert_int_not_equal(crc, seen[k]);
            }
            seen[count++] = crc;
        }
    }
}

static void test_cluster_id_and_lag(void **state)
{
    struct fixture *fixture = *state;
    produce(fixture, 0, 0, 4);
    fixture->watch.start_at = 0;
    struct source_watch *watch = &fixture->watch;
    assert_int_equal(source_lag(watch->source, "in", 0, 0), -1);
    source_watch_until(watch, SOURCE_END, 1, 20 * SECONDS);
    char id[64];
    assert_true(source_cluster_id(watch->source, 5 * SECONDS, id, sizeof id));
    assert_true(strlen(id) > 0);
    assert_int_equal(source_lag(watch->source, "in", 0, 1), 3);
    assert_int_equal(source_lag(watch->source, "in", 0, 9), 0);
}

/* Thrown out before the assignment was answered: librdkafka is at generation -1, with which a broker asks nobody who he is. */
static void test_no_place_when_thrown_out(void **state)
{
    struct fixture *fixture = *state;
    struct source_watch *watch = &fixture->watch;
    watch->start_at = -1;
    source_watch_until(watch, SOURCE_ASSIGNED, 1, 20 * SECONDS);
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_HEARTBEAT, 22 /* ILLEGAL_GENERATION */, 1);
    poll(NULL, 0, 3 * SECONDS); /* ten heartbeats; nothing else shows that one was answered so */
    assert_true(source_start(watch->source, "in", 0, 0, NULL));
    struct source_event event;
    source_poll(watch->source, &event); /* the answer */
    assert_null(source_members(watch->source).data);
    /* That it joins again and has a place again is shown with a real broker (e2e_exact): the mock cluster may keep a static member waiting that it threw
     * out itself. */
}

#define WITH(test, fixture) cmocka_unit_test_prestate(test, &fixtures[fixture])

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(test_reads_to_the_end, READS),
        WITH(test_starts_where_told, STARTS),
        WITH(test_topic_pointer_is_stable, POINTER),
        WITH(test_late_start, LATE_EAGER),
        WITH(test_late_start, LATE_COOPERATIVE),
        WITH(test_pause_and_resume, PAUSE),
        WITH(test_many_pauses, PAUSES),
        WITH(test_pause_at_start, PAUSE_AT_START),
        WITH(test_started_again_elsewhere, ELSEWHERE),
        WITH(test_commit_and_look_up, COMMIT),
        WITH(test_commit_refused, COMMIT_REFUSED),
        WITH(test_two_members, TWO_EAGER),
        WITH(test_two_members, TWO_COOPERATIVE),
        WITH(test_wakes_by_eventfd, READS),
        cmocka_unit_test(test_refuses_properties),
        WITH(test_trouble_and_back, TROUBLE),
        WITH(test_position_outside_the_log, OUTSIDE),
        WITH(test_anchor, ANCHOR),
        cmocka_unit_test(test_crc_tells_apart),
        WITH(test_cluster_id_and_lag, LAG),
        WITH(test_no_place_when_thrown_out, THROWN_OUT),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
