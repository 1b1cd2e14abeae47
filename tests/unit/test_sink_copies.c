/* Copies into the delay topic, against librdkafka's mock cluster. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/decode.h"
#include "support/kafka_client.h"
#include "support/sink_scene.h"

#define SECONDS 1000

enum {
    CODE_DUPLICATE = 46,
    CODE_ID_UNAUTHORIZED = 53,
};

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
    assert_int_equal(result.copied_end, 3);
    sink_watch_until(watch, 4, 20 * SECONDS);
    assert_int_equal(sink_scene_count(watch, 0, true, DELIVERY_RETRIABLE), 4); /* copies have no reports */
    sink_watch_copy(watch, &row, "in", 9, -1, -1);
    result = sink_scene_commit(fixture);
    assert_false(result.committed);
    assert_int_equal(result.copied_end, -1);
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
    assert_int_equal(result.copied_end, -1);
    sink_watch_copy(watch, &row, "in", 0, -1, -1);
    result = sink_scene_commit(fixture);
    sink_scene_expect_committed(&result);
    assert_int_equal(result.copied_end, 2);
}

/* What was refused for its root stays so, whatever root of ours comes with the copy. */
static void test_copy_of_a_bad_root_stays_refused(void **state)
{
    static const char *const known[] = {"out"};
    static const struct target_list targets = {.known = known, .known_count = 1};
    static const struct decode_rules rules = {.dialect_tarry = true, .default_target = "out", .max_delay_ms = 1000,
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

#define WITH(test) cmocka_unit_test_setup_teardown(test, sink_scene_setup, sink_scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(test_copies_beside_plain_sends),
        WITH(test_copies_of_unknown_place),
        WITH(test_copy_of_a_bad_root_stays_refused),
        WITH(test_ids_without_rights_harm_no_plain_sends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
