/* Copies into the delay topic, against librdkafka's mock cluster. */
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

#include "bridge/decode.h"
#include "bridge/sink_transaction_state.h"
#include "support/kafka_client.h"
#include "support/sink_scene.h"

#define SECONDS 1000

enum {
    CODE_TOO_LARGE = 10,
    CODE_TOPIC_UNAUTHORIZED = 29,
    CODE_DUPLICATE = 46,
    CODE_ID_UNAUTHORIZED = 53,
};

static const char *const slow[] = {"linger.ms=100", NULL}; /* so that what is sent together is one batch */

static void expect_place(const struct sink_transaction_result *result, size_t place, const char *topic, int32_t partition, int64_t end)
{
    assert_true(place < result->copied_count);
    assert_string_equal(result->copied[place].topic, topic);
    assert_int_equal(result->copied[place].partition, partition);
    assert_int_equal(result->copied[place].end, end);
}

/* How many reports there are of copies, from `from` on. */
static size_t count_told(const struct sink_watch *watch, size_t from)
{
    size_t count = 0;
    for (size_t i = from; i < watch->count; i++) {
        count += watch->reports[i].copy;
    }
    return count;
}

/* Nothing is on its way, and every ticket is back: they are made in blocks. */
static void expect_idle(const struct sink_watch *watch)
{
    size_t tickets = 0;
    for (const struct sink_ticket *ticket = watch->sink->transaction->tickets.free; ticket != NULL; ticket = ticket->next) {
        tickets++;
    }
    assert_true(tickets > 0);
    assert_int_equal(tickets % SINK_TICKET_BLOCK, 0);
    size_t messages = 1;
    size_t bytes = 1;
    sink_queue(watch->sink, &messages, &bytes);
    assert_int_equal(messages, 0);
    assert_int_equal(bytes, 0);
}

/* Without exactly_once: sends are no part of the copies' transaction, and have their own fate. */
static void test_copies_beside_plain_sends(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = &fixture->watch;
    sink_watch_open_transactions(watch, fixture->bootstrap, NULL, "t", false, 10 * SECONDS);
    sink_scene_send(watch, 1); /* before it is ready */
    sink_watch_until(watch, 1, 20 * SECONDS);
    assert_false(sink_transaction_ready(watch->sink)); /* nobody has asked for it */
    sink_watch_start(watch);
    sink_watch_ready(watch, 30 * SECONDS);
    sink_watch_start(watch); /* does nothing more */
    struct sink_watch_row row = {.value = span_of_text("v"), .offset = 50, .timestamp_ms = 1700000000000};
    for (size_t i = 0; i < 3; i++) {
        sink_watch_copy(watch, &row, "in", 1, -1, -1);
        sink_scene_send(watch, 1);
    }
    struct sink_transaction_result result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
    expect_place(&result, 0, "in", 1, 3);
    assert_int_equal(result.copied_count, 1);
    sink_watch_until(watch, 4, 20 * SECONDS);
    assert_int_equal(sink_scene_count(watch, 0, true, DELIVERY_RETRIABLE), 4); /* copies have no reports */
    sink_watch_copy(watch, &row, "in", 9, -1, -1);
    result = sink_scene_commit(fixture);
    assert_false(result.committed);
    assert_int_equal(result.copied_count, 0);
    assert_true(strlen(result.error) > 0);
    struct kafka_client_records records = kafka_client_read_all(fixture->bootstrap, (const char *const[]){"in", NULL});
    assert_int_equal(records.count, 3);
    assert_string_equal(kafka_client_header_text(&records.items[0], "tarry-root"), "50:1700000000000:0:elsewhere");
    kafka_client_records_free(&records);
}

/* A broker that has a batch already says so, and not where it is: then the end of the copies is not known. */
static void test_copies_of_unknown_place(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    struct sink_watch_row row = {.value = span_of_text("v"), .offset = 50, .timestamp_ms = 1700000000000};
    sink_watch_copy(watch, &row, "in", 0, -1, -1);
    size_t queued = 1;
    size_t bytes;
    for (int64_t before = source_watch_clock(); queued > 0; sink_queue(watch->sink, &queued, &bytes)) {
        assert_true(source_watch_clock() - before < 20 * SECONDS);
        sink_watch_take(watch);
        poll(NULL, 0, 1);
    }
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_PRODUCE, CODE_DUPLICATE, 1);
    sink_watch_copy(watch, &row, "in", 0, -1, -1);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
    expect_place(&result, 0, "in", 0, -1);
    sink_watch_copy(watch, &row, "in", 0, -1, -1);
    result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
    expect_place(&result, 0, "in", 0, 2);
}

/* What was refused for its root stays so, whatever root of ours comes with the copy. */
static void test_copy_of_a_bad_root_stays_refused(void **state)
{
    static const char *const known[] = {"out"};
    static const struct target_list targets = {.known = known, .known_count = 1};
    static const struct decode_rules rules = {.dialects = dialect_tarry_alone, .dialect_count = 1, .default_target = "out", .max_delay_ms = 1000,
                                              .default_delay_ms = 1, .targets = &targets};
    static const char *const roots[] = {"no root at all", "999999:1", "", "7:"};
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        const struct record_header header = {span_of_text("tarry-root"), span_of_text(roots[i])};
        struct sink_watch_row row = {.value = span_of_text("v"), .headers = &header, .header_count = 1, .offset = 50, .timestamp_ms = 1};
        sink_watch_copy_refused(watch, &row, &(struct refusal){REFUSAL_BAD_ROOT, "bad root"}, "in", 1);
    }
    /* refused for another reason: of a copy the older root is the one that counts, and it stands alone */
    const struct record_header header = {span_of_text("tarry-root"), span_of_text("3:77")};
    struct sink_watch_row row = {.value = span_of_text("v"), .headers = &header, .header_count = 1, .offset = 50, .timestamp_ms = 1};
    sink_watch_copy_refused(watch, &row, &(struct refusal){REFUSAL_NO_TARGET, "none"}, "in", 1);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
    struct kafka_client_records records = kafka_client_read_all(fixture->bootstrap, (const char *const[]){"in", NULL});
    assert_int_equal(records.count, sizeof roots / sizeof roots[0] + 1);
    for (size_t i = 0; i < records.count; i++) {
        struct decoded decoded;
        struct refusal refusal = {0};
        struct record *record = &records.items[i].record;
        record->offset = 1000000; /* far along: no root is refused for its place alone */
        bool bad = i < records.count - 1;
        assert_int_equal(decode_record(&rules, record, &decoded, &refusal), !bad);
        assert_int_equal(refusal.reason, bad ? REFUSAL_BAD_ROOT : REFUSAL_NONE);
        assert_int_equal(kafka_client_header_count(&records.items[i], "tarry-root"), bad ? 2 : 1);
        assert_true(bad || (decoded.root == 3 && decoded.root_timestamp_ms == 77));
    }
    kafka_client_records_free(&records);
}

/* Without exactly_once, and ids that may not be used: nothing is copied, it is said why, and all else goes on. */
static void test_ids_without_rights_harm_no_plain_sends(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = &fixture->watch;
    struct sink_watch_row row = {.value = span_of_text("v"), .offset = 50};
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_INIT_PRODUCER_ID, 0, 1); /* the plain producer's */
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_INIT_PRODUCER_ID, CODE_ID_UNAUTHORIZED, 3);
    sink_watch_open_transactions(watch, fixture->bootstrap, NULL, "t", false, 10 * SECONDS);
    sink_scene_send(watch, 1);
    sink_watch_until(watch, 1, 20 * SECONDS);
    sink_watch_start(watch);
    sink_watch_trouble(watch, "authoriz", 30 * SECONDS);
    for (size_t i = 2; i < 6; i++) {
        char text[700];
        sink_watch_copy(watch, &row, "in", 1, -1, -1);
        sink_scene_send(watch, 1);
        assert_true(sink_watch_until(watch, i, 20 * SECONDS)->delivered);
        assert_false(sink_fatal(watch->sink, text, sizeof text));
        assert_false(sink_transaction_ready(watch->sink));
    }
    sink_watch_start(watch);
    sink_watch_trouble(watch, "authoriz", 30 * SECONDS); /* for ever */
}

/* ------------------------------------------------------------------------------------------------- where they end */

static void test_ends_of_several_partitions(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    struct sink_watch_row row = {.value = span_of_text("v"), .offset = 50, .timestamp_ms = 1700000000000};
    sink_watch_copy(watch, &row, "in", 1, -1, -1);
    sink_watch_copy(watch, &row, "other", 0, -1, -1);
    sink_watch_copy(watch, &row, "in", 0, -1, -1);
    sink_watch_copy(watch, &row, "in", 1, -1, -1);
    sink_scene_send(watch, 1);
    struct sink_transaction_result first = sink_scene_commit(fixture);
    sink_scene_expect_committed(&first);
    assert_int_equal(first.copied_count, 3); /* in the order of their first copies */
    expect_place(&first, 0, "in", 1, 2);
    expect_place(&first, 1, "other", 0, 1);
    expect_place(&first, 2, "in", 0, 1);

    sink_watch_copy(watch, &row, "in", 0, -1, -1);
    expect_place(&first, 2, "in", 0, 1); /* borrowed until the next result */
    struct sink_transaction_result result = sink_watch_end(watch, true, NULL, 0, SPAN_ABSENT);
    assert_false(result.committed);
    assert_int_equal(result.copied_count, 0);
    result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
    assert_int_equal(result.copied_count, 0);
    sink_watch_copy(watch, &row, "other", 0, -1, -1);
    result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
    assert_int_equal(result.copied_count, 1); /* of this one alone */
    expect_place(&result, 0, "other", 0, 2);
    assert_int_equal(count_told(watch, 0), 0);
}

/* ------------------------------------------------------------------------------------------------- what can never be written */

/* Refused before it went anywhere: it is told all the same by sink_poll, after a wake-up, and before the result. */
static void test_refused_at_once_is_told(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, (const char *const[]){"message.max.bytes=2000", NULL});
    static uint8_t large[3000];
    struct sink_watch_row row = {.value = span_of_text("v"), .offset = 50, .timestamp_ms = 1700000000000};
    struct sink_watch_row too_large = row;
    too_large.value = (struct span){large, sizeof large};
    uint64_t drained;
    (void)!read(sink_watch_wake_fd(watch), &drained, sizeof drained);
    uintptr_t culprit = sink_watch_copy_told(watch, &too_large, "in", 1);
    struct pollfd woken = {.fd = sink_watch_wake_fd(watch), .events = POLLIN};
    assert_int_equal(poll(&woken, 1, 20 * SECONDS), 1);
    sink_watch_copy(watch, &too_large, "in", 1, -1, -1); /* without a token */
    sink_transaction_end(watch->sink, false, NULL, 0, SPAN_ABSENT);
    struct sink_transaction_result result;
    int64_t before = source_watch_clock();
    while (source_watch_clock() - before < 1000) {
        assert_false(sink_transaction_poll(watch->sink, &result));
        poll(NULL, 0, 20);
    }
    const struct sink_report *report = sink_watch_until(watch, 1, 20 * SECONDS);
    assert_true(report->copy);
    assert_false(report->delivered);
    assert_ptr_equal(report->token, (void *)culprit);
    assert_int_equal(report->failure, DELIVERY_FAULT);
    assert_string_equal(report->reason, "too_large");
    assert_true(strlen(report->error) > 0);
    while (!sink_transaction_poll(watch->sink, &result)) {
        assert_true(source_watch_clock() - before < 30 * SECONDS);
        poll(NULL, 0, 1);
    }
    assert_false(result.committed);
    assert_non_null(strstr(result.error, report->error));

    (void)sink_watch_copy_told(watch, &row, "in", 1);
    result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
    assert_int_equal(watch->count, 1); /* what was written is told of by the result alone */
}

/* The token of a delivery and that of its copy may be the same: `copy` tells which of the two it is about. */
static void test_delivery_and_its_copy(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, (const char *const[]){"message.max.bytes=2000", NULL});
    static uint8_t large[3000];
    struct sink_watch_row row = {.value = {large, sizeof large}, .offset = 50, .timestamp_ms = 1700000000000};
    sink_scene_send(watch, 1);
    watch->next_token--;
    assert_int_equal(sink_watch_copy_told(watch, &row, "in", 1), 1);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    assert_false(result.committed);
    assert_int_equal(watch->count, 2);
    size_t copies = count_told(watch, 0);
    assert_int_equal(copies, 1);
    for (size_t i = 0; i < 2; i++) {
        const struct sink_report *report = &watch->reports[i];
        assert_ptr_equal(report->token, (void *)1);
        assert_true(report->copy ? report->failure == DELIVERY_FAULT : report->delivered || report->failure == DELIVERY_UNDONE);
    }
}

/* There is a bound on what is kept for the owner: he hears of the others when they are tried again. */
static void test_refused_at_once_is_bounded(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, (const char *const[]){"message.max.bytes=2000", NULL});
    static uint8_t large[3000];
    struct sink_watch_row row = {.value = {large, sizeof large}, .offset = 50, .timestamp_ms = 1700000000000};
    for (size_t i = 0; i < SINK_COPY_REFUSED_MAX + 10; i++) {
        (void)sink_watch_copy_told(watch, &row, "in", 1);
    }
    struct sink_transaction_result result = sink_scene_commit(fixture);
    assert_false(result.committed);
    assert_int_equal(count_told(watch, 0), SINK_COPY_REFUSED_MAX);
    for (size_t i = 0; i < 10; i++) {
        (void)sink_watch_copy_told(watch, &row, "in", 1);
    }
    result = sink_scene_commit(fixture);
    assert_false(result.committed);
    assert_int_equal(count_told(watch, SINK_COPY_REFUSED_MAX), 10);
    expect_idle(watch);
}

/* A name that no topic has; and a value that the queue never has room for, though others are in it. */
static void test_others_refused_at_once(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, (const char *const[]){"queue.buffering.max.kbytes=64", "linger.ms=100", NULL});
    static uint8_t large[80000];
    struct sink_watch_row row = {.value = span_of_text("v"), .offset = 50, .timestamp_ms = 1700000000000};
    char name[300];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    uintptr_t unnamed = sink_watch_copy_told(watch, &row, name, 0);
    sink_scene_send(watch, 1);
    row.value = (struct span){large, sizeof large};
    uintptr_t unfit = sink_watch_copy_told(watch, &row, "in", 0);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    assert_false(result.committed);
    assert_int_equal(count_told(watch, 0), 2);
    assert_int_equal(sink_watch_report(watch, unnamed)->failure, DELIVERY_FAULT);
    assert_string_equal(sink_watch_report(watch, unnamed)->reason, "undeliverable");
    assert_int_equal(sink_watch_report(watch, unfit)->failure, DELIVERY_FAULT);
    assert_string_equal(sink_watch_report(watch, unfit)->reason, "too_large");
    expect_idle(watch);
}

/* A full queue is no record's fault. */
static void test_full_queue_is_not_told(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, (const char *const[]){"queue.buffering.max.messages=10", "linger.ms=100", NULL});
    struct sink_watch_row row = {.value = span_of_text("v"), .offset = 50, .timestamp_ms = 1700000000000};
    for (size_t i = 0; i < 12; i++) {
        (void)sink_watch_copy_told(watch, &row, "in", 0);
    }
    struct sink_transaction_result result = sink_scene_commit(fixture);
    assert_false(result.committed);
    assert_non_null(strstr(result.error, "no room"));
    assert_true(result.full);
    assert_int_equal(watch->count, 0);
    expect_idle(watch);
    (void)sink_watch_copy_told(watch, &row, "in", 0);
    result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
    assert_false(result.full);
}

/* No fault of the record's: a partition that the producer does not know (yet), an order to abort, no transaction to be in. */
static void test_what_may_be_written_later_is_not_told(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    struct sink_watch_row row = {.value = span_of_text("v"), .offset = 50, .timestamp_ms = 1700000000000};
    sink_watch_copy(watch, &row, "in", 0, -1, -1);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
    for (size_t i = 0; i < 4; i++) { /* by both producers, which know the topic or not */
        (void)sink_watch_copy_told(watch, &row, "in", 9);
        result = sink_scene_commit(fixture);
        assert_false(result.committed);
    }
    (void)sink_watch_copy_told(watch, &row, "in", 0);
    result = sink_watch_end(watch, true, NULL, 0, SPAN_ABSENT);
    assert_false(result.committed);
    sink_transaction_end(watch->sink, false, NULL, 0, SPAN_ABSENT);
    (void)sink_watch_copy_told(watch, &row, "in", 0);
    int64_t before = source_watch_clock();
    while (!sink_transaction_poll(watch->sink, &result)) {
        assert_true(source_watch_clock() - before < 30 * SECONDS);
        poll(NULL, 0, 1);
    }
    result = sink_scene_commit(fixture);
    assert_false(result.committed);
    sink_watch_take(watch);
    assert_int_equal(watch->count, 0);
    expect_idle(watch);
}

/* The broker refuses a batch of copies: first none is called at fault, then the one that fails alone, and no other. */
static void test_the_copy_that_is_refused_is_found(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, slow);
    struct sink_watch_row row = {.value = span_of_text("v"), .offset = 50, .timestamp_ms = 1700000000000};
    uintptr_t tokens[2][6];
    for (size_t round = 0; round < 2; round++) {
        mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_PRODUCE, CODE_TOO_LARGE, 1);
        for (size_t i = 0; i < 6; i++) {
            tokens[round][i] = sink_watch_copy_told(watch, &row, "in", 1);
        }
        struct sink_transaction_result result = sink_scene_commit(fixture);
        assert_false(result.committed);
        assert_non_null(strstr(result.error, "MSG_SIZE_TOO_LARGE"));
        assert_int_equal(result.copied_count, 0);
        assert_int_equal(count_told(watch, 0), round);
    }
    assert_ptr_equal(watch->reports[0].token, (void *)tokens[1][0]);
    assert_int_equal(watch->reports[0].failure, DELIVERY_FAULT);
    assert_string_equal(watch->reports[0].reason, "too_large");
    for (size_t tries = 0;; tries++) { /* a refused batch leaves a hole in that producer's sequence, which may cost one more */
        for (size_t i = 1; i < 6; i++) {
            (void)sink_watch_copy_told(watch, &row, "in", 1);
        }
        struct sink_transaction_result result = sink_scene_commit(fixture);
        if (result.committed) {
            assert_int_equal(result.copied_count, 1);
            break;
        }
        assert_true(tries == 0 && strstr(result.error, "SEQUENCE") != NULL);
    }
    assert_int_equal(watch->count, 1);
    expect_idle(watch);
}

/* The coordinator refuses the delay topic, without naming it: its copies are told of, and no delivery is at fault. */
static void test_copies_into_a_topic_without_rights(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    struct sink_watch_row row = {.value = span_of_text("v"), .offset = 50, .timestamp_ms = 1700000000000};
    uintptr_t token = 0;
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN, CODE_TOPIC_UNAUTHORIZED, 1);
    for (size_t round = 0; round < 2; round++) {
        sink_scene_send(watch, 3);
        token = sink_watch_copy_told(watch, &row, "in", 0);
        sink_watch_copy(watch, &row, "in", 0, -1, -1);
        struct sink_transaction_result result = sink_scene_commit(fixture);
        assert_false(result.committed);
        assert_int_equal(count_told(watch, 0), round);
        mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN, 0, 1); /* "out" is let in ... */
        mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN, CODE_TOPIC_UNAUTHORIZED, 1); /* ... "in" is not */
    }
    mock_cluster_heal(fixture->cluster, MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN);
    const struct sink_report *report = sink_watch_report(watch, token);
    assert_true(report->copy);
    assert_int_equal(report->failure, DELIVERY_FAULT);
    assert_string_equal(report->reason, "not_authorised");
    assert_int_equal(sink_scene_count(watch, 0, false, DELIVERY_FAULT), 1);
    assert_int_equal(watch->count, 7);
    sink_scene_send(watch, 3);
    (void)sink_watch_copy_told(watch, &row, "in", 0);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
    expect_place(&result, 0, "in", 0, 1);
    assert_int_equal(watch->count, 10);
    expect_idle(watch);
}

/* While a topic is looked for copies are held: an abort, and the sink's end, forget their tokens without a word. */
static void test_held_copies_are_forgotten(void **state)
{
    struct sink_scene *fixture = *state;
    struct sink_watch *watch = sink_scene_open(fixture, NULL);
    struct sink_watch_row row = {.value = span_of_text("v"), .offset = 50, .timestamp_ms = 1700000000000};
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN, CODE_TOPIC_UNAUTHORIZED, 1);
    (void)sink_watch_copy_told(watch, &row, "in", 0);
    struct sink_transaction_result result = sink_scene_commit(fixture);
    assert_false(result.committed);
    (void)sink_watch_copy_told(watch, &row, "in", 0);
    sink_scene_send(watch, 1);
    result = sink_watch_end(watch, true, NULL, 0, SPAN_ABSENT);
    assert_false(result.committed);
    assert_int_equal(watch->count, 1);
    assert_false(watch->reports[0].copy);
    assert_int_equal(watch->reports[0].failure, DELIVERY_UNDONE);
    expect_idle(watch);
    (void)sink_watch_copy_told(watch, &row, "in", 0);
    sink_scene_send(watch, 1);
    sink_watch_close(watch);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, sink_scene_setup, sink_scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(test_copies_beside_plain_sends),
        WITH(test_copies_of_unknown_place),
        WITH(test_ends_of_several_partitions),
        WITH(test_refused_at_once_is_told),
        WITH(test_delivery_and_its_copy),
        WITH(test_refused_at_once_is_bounded),
        WITH(test_others_refused_at_once),
        WITH(test_full_queue_is_not_told),
        WITH(test_what_may_be_written_later_is_not_told),
        WITH(test_the_copy_that_is_refused_is_found),
        WITH(test_copies_into_a_topic_without_rights),
        WITH(test_held_copies_are_forgotten),
        WITH(test_copy_of_a_bad_root_stays_refused),
        WITH(test_ids_without_rights_harm_no_plain_sends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
