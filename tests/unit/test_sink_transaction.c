/* Transactions of the sink, against librdkafka's mock cluster: it keeps no markers and no offsets of transactions, but answers with the errors that we want. */
#include <poll.h>
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

#include "support/kafka_client.h"
#include "support/sink_scene.h"

#define SECONDS 1000

enum {
    CODE_TOO_LARGE = 10,
    CODE_COORDINATOR_LOADING = 14,
    CODE_COORDINATOR_AWAY = 15,
    CODE_NOT_COORDINATOR = 16,
    CODE_ILLEGAL_GENERATION = 22,
    CODE_TOPIC_UNAUTHORIZED = 29,
    CODE_INVALID_EPOCH = 47,
    CODE_CONCURRENT = 51,
    CODE_ID_UNAUTHORIZED = 53,
};

static const char *const slow[] = {"linger.ms=100", NULL}; /* so that what is sent together is one batch */

/* A refused batch leaves a hole in the producer's sequence: where nothing was in flight behind it, that shows in its next transaction. */
static void commit_soon(struct sink_scene *fixture, size_t count)
{
    struct sink_watch *watch = &fixture->watch;
    size_t before = watch->count;
    sink_scene_send(watch, count);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    if (!result.committed) {
        if (strstr(result.error, "SEQUENCE") == NULL) {
            fail_msg("aborted: %s", result.error);
        }
        size_t undone = sink_scene_count(watch, before, false, DELIVERY_UNDONE);
        assert_int_equal(undone + sink_scene_count(watch, before, false, DELIVERY_RETRIABLE), count);
        sink_scene_send(watch, count);
        result = sink_scene_commit(fixture);
    }
    sink_scene_expect_committed(&result);
}

/* ------------------------------------------------------------------------------------------------- how it goes */

static void test_commits_one_after_the_other(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    for (size_t i = 0; i < 10; i++) {
        sink_scene_send(watch, 3);
        struct sink_transaction_result result = sink_scene_commit(fixture);
        sink_scene_expect_committed(&result);
        assert_int_equal(result.copied_count, 0);
        assert_int_equal(watch->count, 3 * (i + 1)); /* all were handed over before the result */
    }
    assert_int_equal(sink_scene_count(watch, 0, true, DELIVERY_RETRIABLE), 30);
    size_t messages = 1;
    size_t bytes = 1;
    sink_queue(watch->sink, &messages, &bytes);
    assert_int_equal(messages, 0);
    assert_int_equal(bytes, 0);
    assert_int_equal(strcmp(sink_transaction_trouble(watch->sink), ""), 0);
}

static void test_empty_ones(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    for (size_t i = 0; i < 3; i++) {
        struct sink_transaction_result result = sink_scene_commit(fixture);
        sink_scene_expect_committed(&result);
        result = sink_watch_end(watch, false, NULL, 0, SPAN_ABSENT);
        sink_scene_expect_committed(&result);
        result = sink_watch_end(watch, true, NULL, 0, SPAN_ABSENT);
        assert_false(result.committed);
        assert_string_equal(result.error, "");
    }
}

static void test_abort_as_told(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    sink_scene_send(watch, 3);
    struct sink_transaction_result result = sink_watch_end(watch, true, NULL, 0, SPAN_ABSENT);
    assert_false(result.committed);
    assert_string_equal(result.error, "");
    assert_int_equal(watch->count, 3); /* delivered before, or thrown out: each has its report */
    sink_scene_send(watch, 3);
    result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
    assert_int_equal(sink_scene_count(watch, 3, true, DELIVERY_RETRIABLE), 3);
}

/* Its result is not there before the owner has read what became of the records, however long that takes. */
static void test_reports_come_before_the_result(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    sink_scene_send(watch, 5);
    const struct sink_offset offset = {.topic = "in", .partition = 0, .offset = 7, .metadata = ""};
    sink_transaction_end(watch->sink, false, &offset, 1, sink_scene_members(fixture));
    int64_t before = source_watch_clock();
    struct sink_transaction_result result;
    while (source_watch_clock() - before < 1200) { /* longer than one call of the thread */
        assert_false(sink_transaction_poll(watch->sink, &result));
        poll(NULL, 0, 20);
    }
    for (size_t i = 1; i <= 5; i++) {
        assert_false(sink_transaction_poll(watch->sink, &result));
        assert_true(sink_watch_until(watch, i, 20 * SECONDS)->delivered);
    }
    while (!sink_transaction_poll(watch->sink, &result)) {
        assert_true(source_watch_clock() - before < 30 * SECONDS);
        poll(NULL, 0, 1);
    }
    assert_true(result.committed);
}

static void wait_for_result(struct sink_watch *watch, struct sink_transaction_result *result)
{
    int64_t before = source_watch_clock();
    while (!sink_transaction_poll(watch->sink, result)) {
        assert_true(source_watch_clock() - before < 30 * SECONDS);
        struct sink_report report;
        sink_poll(watch->sink, &report, 1);
        poll(NULL, 0, 1);
    }
}

/* And whatever was to go in then is missing in a transaction: that one must not commit. */
static void test_nothing_goes_in_before_it_is_ready_or_while_it_ends(void **state)
{
    struct sink_scene *fixture = *state;
    mock_cluster_broker_down(fixture->cluster, 1, true);
    struct sink_watch *watch = &fixture->watch;
    sink_watch_open_transactions(watch, fixture->bootstrap, NULL, "t", true, 10 * SECONDS);
    assert_false(sink_transaction_ready(watch->sink));
    struct sink_watch_row row = {.target = "out", .partition = 1};
    assert_int_equal(sink_watch_try(watch, &row, OUTPUT_HEADERS_NONE), SINK_FULL);
    int64_t before = source_watch_clock();
    while (strcmp(sink_transaction_trouble(watch->sink), "") == 0) {
        assert_true(source_watch_clock() - before < 30 * SECONDS);
        poll(NULL, 0, 20);
    }
    mock_cluster_broker_down(fixture->cluster, 1, false);
    sink_watch_ready(watch, 30 * SECONDS);
    assert_string_equal(sink_transaction_trouble(watch->sink), "");
    struct sink_transaction_result result = sink_watch_end(watch, false, NULL, 0, SPAN_ABSENT);
    assert_false(result.committed);
    assert_non_null(strstr(result.error, "before"));

    sink_scene_send(watch, 1);
    sink_transaction_end(watch->sink, false, NULL, 0, SPAN_ABSENT);
    sink_watch_copy(watch, &row, "in", 0, -1, -1);
    wait_for_result(watch, &result);
    assert_true(result.committed);
    result = sink_watch_end(watch, false, NULL, 0, SPAN_ABSENT);
    assert_false(result.committed);
    result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
}

/* ------------------------------------------------------------------------------------------------- what fails */

static void test_refused_batch_is_taken_apart(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, slow);
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_PRODUCE, CODE_TOO_LARGE, 1);
    sink_scene_send(watch, 10);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    assert_false(result.committed);
    assert_non_null(strstr(result.error, "MSG_SIZE_TOO_LARGE"));
    assert_int_equal(watch->count, 10);
    assert_int_equal(sink_scene_count(watch, 0, false, DELIVERY_UNDONE), 10); /* nobody is called at fault yet */

    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_PRODUCE, CODE_TOO_LARGE, 1);
    sink_scene_send(watch, 10);
    result = sink_scene_commit(fixture);
    assert_false(result.committed);
    assert_int_equal(watch->count, 20);
    assert_int_equal(sink_scene_count(watch, 10, false, DELIVERY_FAULT), 1); /* and now this one, and no other */
    assert_int_equal(sink_scene_count(watch, 10, false, DELIVERY_RETRIABLE), 0);

    for (size_t i = 0; i < 4; i++) { /* and by the two again */
        commit_soon(fixture, 9);
    }
}

/* The suspect's lane waits a little, and others go on: what they commit does not clear it. */
static void test_others_commits_clear_nobody(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, slow);
    struct sink_watch_row other = {.target = "other", .partition = 0, .key = span_of_text("k"), .value = span_of_text("")};
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_PRODUCE, CODE_TOO_LARGE, 1);
    sink_scene_send(watch, 3);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    assert_false(result.committed);
    for (size_t i = 0; i < 3; i++) {
        sink_watch_send(watch, &other, OUTPUT_HEADERS_NONE);
        result = sink_scene_commit(fixture);
        sink_scene_expect_committed(&result);
    }
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_PRODUCE, CODE_TOO_LARGE, 1);
    sink_scene_send(watch, 3);
    result = sink_scene_commit(fixture);
    assert_false(result.committed);
    assert_int_equal(sink_scene_count(watch, 6, false, DELIVERY_FAULT), 1);
}

/* The coordinator refuses a topic, and librdkafka throws out everything without a word on which: it is found, and it alone. */
static void test_refused_topic_is_found(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    const char *const topics[] = {"out", "other", "out", "in", "other", "out"};
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN, CODE_TOPIC_UNAUTHORIZED, 1);
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < 6; i++) {
            struct sink_watch_row row = {.target = topics[i], .partition = 0, .key = span_of_text("k"), .value = span_of_text("")};
            sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
        }
        struct sink_transaction_result result = sink_scene_commit(fixture);
        assert_false(result.committed);
        if (strstr(result.error, "TOPIC_AUTHORIZATION_FAILED: Failed to add partition") == NULL) {
            fail_msg("round %zu: %s", round, result.error);
        }
        assert_int_equal(watch->count, 6 * (round + 1));
        mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN, 0, 1); /* "out" is let in ... */
        mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN, CODE_TOPIC_UNAUTHORIZED, 1); /* ... "other" is not */
    }
    mock_cluster_heal(fixture->cluster, MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN);
    assert_int_equal(sink_scene_count(watch, 0, false, DELIVERY_FAULT), 2);
    for (uintptr_t i = 0; i < 6; i++) {
        assert_int_equal(sink_watch_report(watch, i + 1)->failure, DELIVERY_UNDONE);
        const struct sink_report *report = sink_watch_report(watch, i + 7);
        bool other = strcmp(topics[i], "other") == 0;
        assert_int_equal(report->delivered, strcmp(topics[i], "out") == 0);
        assert_true(report->delivered || report->failure == (other ? DELIVERY_FAULT : DELIVERY_UNDONE));
    }
    struct sink_watch_row row = {.target = "in", .partition = 0, .key = span_of_text("k"), .value = SPAN_ABSENT};
    for (size_t i = 0; i < 3; i++) {
        sink_scene_send(watch, 2);
        sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
        sink_scene_send(watch, 2);
        struct sink_transaction_result result = sink_scene_commit(fixture);
        sink_scene_expect_committed(&result);
    }
    assert_int_equal(sink_scene_count(watch, 12, true, DELIVERY_RETRIABLE), 15);
    size_t messages = 1;
    size_t bytes = 1;
    sink_queue(watch->sink, &messages, &bytes);
    assert_int_equal(messages, 0);
    assert_int_equal(bytes, 0);
}

/* While topics are tried one by one the owner may change its mind, or go. */
static void test_abort_and_close_while_a_topic_is_looked_for(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    struct sink_watch_row row = {.target = "in", .partition = 0, .key = span_of_text("k"), .value = span_of_text("v")};
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN, CODE_TOPIC_UNAUTHORIZED, 1);
    sink_scene_send(watch, 2);
    sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    assert_false(result.committed);
    sink_scene_send(watch, 2);
    sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
    result = sink_watch_end(watch, true, NULL, 0, SPAN_ABSENT);
    assert_false(result.committed);
    assert_int_equal(watch->count, 6);
    assert_int_equal(sink_scene_count(watch, 3, false, DELIVERY_UNDONE), 3);
    sink_scene_send(watch, 2);
    sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
    const struct sink_offset offset = {.topic = "in", .partition = 0, .offset = 7, .metadata = ""};
    sink_transaction_end(watch->sink, false, &offset, 1, sink_scene_members(fixture));
    sink_watch_close(watch);
}

static void test_full_queue_aborts(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, (const char *const[]){"queue.buffering.max.messages=10", "linger.ms=100", NULL});
    struct sink_watch_row row = {.target = "out", .partition = 0, .value = span_of_text("12345")};
    size_t taken = 0;
    while (sink_watch_try(watch, &row, OUTPUT_HEADERS_NONE) == SINK_TAKEN) {
        taken++;
    }
    assert_int_equal(taken, 10);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    assert_false(result.committed);
    assert_non_null(strstr(result.error, "no room"));
    assert_int_equal(watch->count, taken);
    sink_scene_send(watch, 5);
    result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
}

static void test_what_is_refused_at_once_aborts(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    struct sink_watch_row row = {.target = "out", .partition = 0};
    char name[300];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct sink_watch_row bad = {.target = name, .partition = 0};
    sink_watch_send(watch, &row, OUTPUT_HEADERS_NONE);
    sink_watch_send(watch, &bad, OUTPUT_HEADERS_NONE);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    assert_false(result.committed);
    assert_true(strlen(result.error) > 0);
    assert_int_equal(sink_watch_report(watch, 2)->failure, DELIVERY_FAULT);
}

static void test_unknown_topic(void **state)
{
    struct sink_scene *fixture = *state;
    mock_cluster_topic_error(fixture->cluster, "missing", 3 /* UNKNOWN_TOPIC_OR_PART */);
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    struct sink_watch_row bad = {.target = "missing", .partition = -1};
    sink_scene_send(watch, 2);
    sink_watch_send(watch, &bad, OUTPUT_HEADERS_NONE);
    sink_scene_send(watch, 2);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    assert_false(result.committed);
    assert_int_equal(watch->count, 5);
    assert_int_equal(sink_scene_count(watch, 0, false, DELIVERY_UNKNOWN_TOPIC), 1);
    assert_int_equal(sink_watch_report(watch, 3)->failure, DELIVERY_UNKNOWN_TOPIC);
    assert_non_null(strstr(result.error, "UNKNOWN"));
    sink_scene_send(watch, 4);
    result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
}

/* Errors that say "not now": asked again until the answer is there. */
static void test_retriable_errors_are_outwaited(void **state)
{
    static const struct {
        enum mock_cluster_request request;
        int code;
    } cases[] = {
        {MOCK_CLUSTER_END_TXN, CODE_CONCURRENT},
        {MOCK_CLUSTER_END_TXN, CODE_COORDINATOR_LOADING},
        {MOCK_CLUSTER_END_TXN, CODE_NOT_COORDINATOR},
        {MOCK_CLUSTER_ADD_OFFSETS_TO_TXN, CODE_CONCURRENT},
        {MOCK_CLUSTER_ADD_OFFSETS_TO_TXN, CODE_COORDINATOR_AWAY},
        {MOCK_CLUSTER_TXN_OFFSET_COMMIT, CODE_COORDINATOR_LOADING},
        {MOCK_CLUSTER_TXN_OFFSET_COMMIT, CODE_NOT_COORDINATOR},
        {MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN, CODE_CONCURRENT},
        {MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN, CODE_NOT_COORDINATOR},
    };
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mock_cluster_fail(fixture->cluster, cases[i].request, cases[i].code, 2);
        sink_scene_send(watch, 2);
        struct sink_transaction_result result = sink_scene_commit(fixture);
        if (!result.committed) {
            fail_msg("request %d answered with %d: %s", (int)cases[i].request, cases[i].code, result.error);
        }
        mock_cluster_heal(fixture->cluster, cases[i].request);
    }
    assert_int_equal(sink_scene_count(watch, 0, true, DELIVERY_RETRIABLE), watch->count);
}

/* The group has gone on without us: nothing of it may be there. */
static void test_old_generation_aborts(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_TXN_OFFSET_COMMIT, CODE_ILLEGAL_GENERATION, 1);
    sink_scene_send(watch, 2);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    assert_false(result.committed);
    assert_non_null(strstr(result.error, "generation"));
    assert_int_equal(watch->count, 2);
    sink_scene_send(watch, 2);
    result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
}

static void test_members_are_needed_for_offsets(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    const struct sink_offset offset = {.topic = "in", .partition = 0, .offset = 7, .metadata = ""};
    sink_scene_send(watch, 1);
    struct sink_transaction_result result = sink_watch_end(watch, false, &offset, 1, SPAN_ABSENT);
    assert_false(result.committed);
    assert_non_null(strstr(result.error, "assigned"));
    result = sink_watch_end(watch, false, &offset, 1, span_of_text("not what librdkafka wrote"));
    assert_false(result.committed);
    assert_true(strlen(result.error) > 0);
    sink_scene_send(watch, 1);
    result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
}

static void test_fenced(void **state)
{
    static const enum mock_cluster_request requests[] = {MOCK_CLUSTER_END_TXN, MOCK_CLUSTER_ADD_OFFSETS_TO_TXN, MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN,
                                                         MOCK_CLUSTER_PRODUCE};
    struct sink_scene *fixture = *state;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        struct sink_watch *watch = sink_scene_open(fixture, NULL);
        mock_cluster_fail(fixture->cluster, requests[i], CODE_INVALID_EPOCH, 1);
        sink_scene_send(watch, 2);
        const struct sink_offset offset = {.topic = "in", .partition = 0, .offset = 7, .metadata = ""};
        sink_transaction_end(watch->sink, false, &offset, 1, sink_scene_members(fixture));
        assert_non_null(strstr(sink_watch_fatal(watch, 30 * SECONDS), "took over"));
        struct sink_transaction_result result;
        assert_false(sink_transaction_poll(watch->sink, &result));
        int64_t before = source_watch_clock();
        sink_watch_close(watch);
        assert_true(source_watch_clock() - before < 10 * SECONDS);
        mock_cluster_heal(fixture->cluster, requests[i]);
    }
}

static void test_start_is_retried_or_given_up(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = &fixture->watch;
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_INIT_PRODUCER_ID, CODE_COORDINATOR_LOADING, 4);
    sink_watch_open_transactions(watch, fixture->bootstrap, NULL, "t", true, 10 * SECONDS);
    sink_watch_ready(watch, 30 * SECONDS);
    sink_watch_close(watch);
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_INIT_PRODUCER_ID, CODE_ID_UNAUTHORIZED, 1);
    sink_watch_open_transactions(watch, fixture->bootstrap, NULL, "t", true, 10 * SECONDS);
    assert_non_null(strstr(sink_watch_fatal(watch, 30 * SECONDS), "authoriz"));
    assert_false(sink_transaction_ready(watch->sink));
}

static void test_closes_whatever_is_under_way(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    sink_scene_send(watch, 3);
    int64_t before = source_watch_clock();
    sink_watch_close(watch); /* open */
    sink_scene_open(fixture, NULL);
    sink_scene_send(watch, 3);
    const struct sink_offset offset = {.topic = "in", .partition = 0, .offset = 7, .metadata = ""};
    sink_transaction_end(watch->sink, false, &offset, 1, sink_scene_members(fixture));
    sink_watch_close(watch); /* ending */
    sink_scene_open(fixture, NULL);
    sink_scene_send(watch, 3);
    mock_cluster_broker_down(fixture->cluster, 1, true);
    sink_transaction_end(watch->sink, false, &offset, 1, sink_scene_members(fixture));
    sink_watch_close(watch); /* ending, and nobody answers */
    sink_watch_open_transactions(watch, fixture->bootstrap, NULL, "t", true, 10 * SECONDS);
    sink_watch_close(watch); /* not ready */
    assert_true(source_watch_clock() - before < 30 * SECONDS);
}

/* ------------------------------------------------------------------------------------------------- the rest */

/* A turn of the owner, as in production: it sleeps until it is woken. False: it was not. */
static bool turn(int fd, struct sink_watch *watch)
{
    struct pollfd item = {.fd = fd, .events = POLLIN};
    uint64_t count = 0;
    bool woken = poll(&item, 1, 20 * SECONDS) == 1 && read(fd, &count, sizeof count) == sizeof count;
    sink_watch_take(watch);
    return woken;
}

/* While topics are tried one by one nothing is on its way when the end is ordered: whoever sleeps then has to be woken for the first of them. */
static void test_wakes_while_a_topic_is_looked_for(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, (const char *const[]){"message.max.bytes=2000", NULL});
    int fd = sink_watch_wake_fd(watch);
    struct sink_watch_row row = {.target = "in", .partition = 0, .key = span_of_text("k"), .value = span_of_text("v")};
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN, CODE_TOPIC_UNAUTHORIZED, 1);
    sink_scene_send(watch, 1);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    assert_false(result.committed);
    static const uint8_t large[3000];
    struct sink_watch_row too_large = {.value = {large, sizeof large}}; /* held, and then not even taken: no report wakes anybody */
    for (size_t round = 0; round < 2; round++) {
        sink_watch_take(watch);
        uint64_t stale;
        (void)!read(fd, &stale, sizeof stale);
        if (round == 0) {
            sink_watch_copy(watch, &too_large, "other", 0, -1, -1);
        }
        sink_scene_send(watch, 1);
        sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
        sink_transaction_end(watch->sink, false, NULL, 0, SPAN_ABSENT);
        while (!sink_transaction_poll(watch->sink, &result)) {
            assert_true(turn(fd, watch));
        }
        assert_int_equal(result.committed, round == 1);
    }
}

static void test_wakes_by_eventfd(void **state)
{
    struct sink_scene *fixture = *state;
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    const struct kafka_property properties[] = {{"bootstrap.servers", fixture->bootstrap}};
    struct sink_options options = {.properties = properties, .property_count = 1, .instance = "i", .wake_fd = fd, .exactly_once = true,
                                   .transactional_id = "t", .transaction_timeout_ms = 10 * SECONDS};
    struct error error;
    assert_true(sink_open(&options, &fixture->watch.sink, &error));
    bool ended = false;
    bool ordered = false;
    while (!ended) {
        struct pollfd item = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&item, 1, 20 * SECONDS), 1);
        uint64_t count = 0;
        assert_int_equal(read(fd, &count, sizeof count), sizeof count);
        struct sink_report report;
        while (sink_poll(fixture->watch.sink, &report, 1) > 0) {
        }
        if (!ordered && sink_transaction_ready(fixture->watch.sink)) {
            sink_scene_send(&fixture->watch, 1);
            sink_transaction_end(fixture->watch.sink, false, NULL, 0, SPAN_ABSENT);
            ordered = true;
        }
        struct sink_transaction_result result;
        ended = sink_transaction_poll(fixture->watch.sink, &result);
    }
    sink_watch_close(&fixture->watch);
    close(fd);
}

static void test_options(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink *sink = NULL;
    struct error error;
    const struct kafka_property refused[] = {{"transaction.timeout.ms", "5000"}};
    struct sink_options options = {.properties = refused, .property_count = 1, .instance = "i", .wake_fd = -1, .exactly_once = true,
                                   .transactional_id = "t", .transaction_timeout_ms = 10 * SECONDS};
    assert_false(sink_open(&options, &sink, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, "transaction_timeout"));
    options.property_count = 0;
    options.transactional_id = NULL;
    assert_false(sink_open(&options, &sink, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    /* what is longer than a transaction may live is cut down to that, and does not keep the sink from opening */
    sink_watch_open_transactions(&fixture->watch, fixture->bootstrap,
                                 (const char *const[]){"message.timeout.ms=300000", "socket.timeout.ms=60000", "retry.backoff.ms=7", NULL}, "t", true,
                                 2 * SECONDS);
    sink_watch_ready(&fixture->watch, 30 * SECONDS);
    sink_scene_send(&fixture->watch, 1);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, sink_scene_setup, sink_scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(test_commits_one_after_the_other),
        WITH(test_empty_ones),
        WITH(test_abort_as_told),
        WITH(test_reports_come_before_the_result),
        WITH(test_nothing_goes_in_before_it_is_ready_or_while_it_ends),
        WITH(test_refused_batch_is_taken_apart),
        WITH(test_others_commits_clear_nobody),
        WITH(test_refused_topic_is_found),
        WITH(test_abort_and_close_while_a_topic_is_looked_for),
        WITH(test_full_queue_aborts),
        WITH(test_what_is_refused_at_once_aborts),
        WITH(test_unknown_topic),
        WITH(test_retriable_errors_are_outwaited),
        WITH(test_old_generation_aborts),
        WITH(test_members_are_needed_for_offsets),
        WITH(test_fenced),
        WITH(test_start_is_retried_or_given_up),
        WITH(test_closes_whatever_is_under_way),
        WITH(test_wakes_while_a_topic_is_looked_for),
        WITH(test_wakes_by_eventfd),
        WITH(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
