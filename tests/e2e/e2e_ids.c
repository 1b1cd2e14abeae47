/*
 * Ids that come again within the dedupe window, over restarts and without the disk; times that are now, past, or in the wrong unit; and a backlog of the time that tarry
 * was down, beside what comes in meanwhile. Once each, alike live and after a restart.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/support/await.h"
#include "tests/support/scene_schedules.h"
#include "tests/support/shifted_clock.h"
#include "tests/support/temp.h"

#define PARTITIONS 2
#define IDS 300
#define HOUR_MS INT64_C(3600000)
#define BACKLOG 20000
#define BACKLOG_SPREAD_MS 240000
#define DOWN_MS 300000
#define NEW_ONES 6
#define NEW_LATE_MOST_MS 10000
#define CATCH_UP_PER_S 1000
#define RSS_MOST_KIB (256 * 1024)

#define OPTIONS(mode, rules)                                                                                                                     \
    {                                                                                                                                            \
        .partitions = PARTITIONS, .own_clock = true, .shared_input = true, .letters = true, .in_settings = scene_schedules_any_timestamp, .source = rules,        \
        .more = "delivery: " mode "\ntransaction_timeout: 5s", .kafka = "consumer: {session.timeout.ms: 6000, heartbeat.interval.ms: 500}"       \
    }

static const struct scene_options catch_up_at_least_once = OPTIONS("at_least_once\ncatch_up: {rate: 1000/s}", NULL);
static const struct scene_options catch_up_exactly_once = OPTIONS("exactly_once\ncatch_up: {rate: 1000/s}", NULL);
static const struct scene_options dedupe_at_least_once = OPTIONS("at_least_once", "dedupe: 1h");
static const struct scene_options dedupe_exactly_once = OPTIONS("exactly_once", "dedupe: 1h");
static const struct scene_options plain = OPTIONS("exactly_once", "late: fire");

enum end { END_STOPPED, END_KILLED, END_DISK_LOST, ENDS };

static void restart(struct scene *scene, enum end end)
{
    if (end == END_STOPPED) {
        scene_stop(scene);
    } else {
        scene_kill(scene);
    }
    if (end == END_DISK_LOST) {
        temp_empty(scene->store_path);
    }
    scene_start(scene);
}

/* ------------------------------------------------------------------------------------------------------ dedupe */

static void send_ids(struct scene *scene, const char *value)
{
    for (int i = 0; i < IDS; i++) {
        char id[16];
        snprintf(id, sizeof(id), "d-%d", i);
        SCENE_SCHEDULE(scene, i % PARTITIONS, value, "tarry-id", id, "tarry-delay", "0");
    }
    kafka_client_flush(scene->producer);
}

/* Each is let fall. (Those that a start reads again without the disk are counted again.) */
static void assert_duplicates(struct scene *scene, const char *value)
{
    double before = tarry_process_metric(scene->process, "tarry_rejected_total", "reason=\"duplicate\"");
    send_ids(scene, value);
    scene_schedules_await_metric(scene->process, "tarry_rejected_total", "reason=\"duplicate\"", before + IDS);
    scene_schedules_await_metric_is(scene->process, "tarry_pending", NULL, 0);
    scene_schedules_read(scene);
    assert_int_equal(scene_schedules_count(scene, value), 0);
}

/* What is pending is replaced, and what was cancelled in time has not come due: neither is a duplicate. */
static void pending_ones_are_none(struct scene *scene)
{
    SCENE_SCHEDULE(scene, 0, "far", "tarry-id", "p", "tarry-delay", "1h");
    SCENE_SCHEDULE(scene, 0, "near", "tarry-id", "p", "tarry-delay", "500ms");
    SCENE_SCHEDULE(scene, 1, "cancelled", "tarry-id", "c", "tarry-delay", "1h");
    SCENE_SCHEDULE(scene, 1, "", "tarry-id", "c", "tarry-action", "cancel");
    SCENE_SCHEDULE(scene, 1, "anew", "tarry-id", "c", "tarry-delay", "500ms");
    scene_schedules_await(scene, "near", 1);
    scene_schedules_await(scene, "anew", 1);
    SCENE_SCHEDULE(scene, 0, "near", "tarry-id", "p", "tarry-delay", "0");
    SCENE_SCHEDULE(scene, 1, "anew", "tarry-id", "c", "tarry-delay", "0");
}

static void ids_are_known_after(const struct scene_options *options)
{
    static const char *const values[ENDS] = {"after a stop", "after a kill", "without the disk"};
    struct scene *scene = scene_open("dedupe", options);
    scene_start(scene);
    send_ids(scene, "first");
    scene_schedules_await(scene, "first", IDS);
    pending_ones_are_none(scene);
    assert_duplicates(scene, "live");
    for (enum end end = END_STOPPED; end < ENDS; end++) {
        restart(scene, end);
        assert_duplicates(scene, values[end]);
    }
    shifted_clock_set(scene->clock, HOUR_MS + 60000); /* the window is over */
    send_ids(scene, "later");
    scene_schedules_await(scene, "later", IDS);
    scene_stop(scene);
    scene_schedules_read(scene);
    assert_int_equal(scene_schedules_count(scene, "first"), IDS);
    assert_int_equal(scene_schedules_count(scene, "later"), IDS);
    assert_int_equal(scene_schedules_count(scene, "near"), 1);
    assert_int_equal(scene_schedules_count(scene, "anew"), 1);
    assert_int_equal(scene->outputs.count, 2 * IDS + 2);
    scene_schedules_assert_never_early(scene);
    scene_close(scene);
}

/* --------------------------------------------------------------------------------------------- now, past, wrong */

static const struct {
    const char *value;
    int64_t from_now_ms;
} pasts[] = {{"now", 0}, {"a moment ago", -1}, {"an hour ago", -HOUR_MS}, {"a year ago", -365 * 24 * HOUR_MS}};

#define PASTS (sizeof(pasts) / sizeof(pasts[0]))

/* Four that are due at once, and six whose number cannot be meant. */
static void send_times(struct scene *scene)
{
    int64_t now_ms = await_wall_ms();
    SCENE_SCHEDULE(scene, 0, "no delay", "tarry-delay", "0");
    for (size_t i = 0; i < PASTS; i++) {
        SCENE_SCHEDULE(scene, 0, pasts[i].value, "tarry-at", scene_schedules_text(now_ms + pasts[i].from_now_ms));
    }
    SCENE_SCHEDULE(scene, 0, "wrong", "tarry-at", "0");
    SCENE_SCHEDULE(scene, 0, "wrong", "tarry-at", "1");
    SCENE_SCHEDULE(scene, 0, "wrong", "tarry-at", scene_schedules_text(now_ms / 1000 + 60));
    SCENE_SCHEDULE(scene, 0, "wrong", "tarry-at", scene_schedules_text((now_ms + 60000) * 1000));
    SCENE_SCHEDULE(scene, 0, "wrong", "tarry-at", scene_schedules_text(INT64_C(1768000000000000))); /* the year 57,995 */
    SCENE_SCHEDULE(scene, 0, "wrong", "tarry-delay", scene_schedules_text(now_ms)); /* a time where a delay belongs */
    SCENE_SCHEDULE(scene, 0, "neighbour", "tarry-delay", "300ms");
    kafka_client_flush(scene->producer);
}

static void assert_times(struct scene *scene, size_t rounds)
{
    scene_schedules_await(scene, "neighbour", rounds);
    scene_schedules_await(scene, "no delay", rounds);
    for (size_t i = 0; i < PASTS; i++) {
        scene_schedules_await(scene, pasts[i].value, rounds);
        assert_int_equal(scene_schedules_count(scene, pasts[i].value), rounds);
    }
    assert_int_equal(scene_schedules_count(scene, "no delay"), rounds);
    assert_int_equal(scene_schedules_count(scene, "wrong"), 0);
}

static void now_past_and_wrong_times(void **state)
{
    (void)state;
    struct scene *scene = scene_open("times", &plain);
    scene_start(scene);
    send_times(scene); /* live */
    assert_times(scene, 1);
    scene_schedules_await_metric_is(scene->process, "tarry_records_refused_total", "reason=\"seconds\"", 3);
    scene_schedules_await_metric_is(scene->process, "tarry_records_refused_total", "reason=\"too_far\"", 3);
    scene_stop(scene);
    send_times(scene); /* found at a start */
    for (enum end end = END_STOPPED; end < ENDS; end++) {
        if (end == END_STOPPED) {
            scene_start(scene);
        } else {
            restart(scene, end);
        }
        assert_times(scene, 2);
    }
    scene_schedules_await_metric_is(scene->process, "tarry_pending", NULL, 0);
    scene_stop(scene);
    scene_schedules_read(scene);
    assert_times(scene, 2);
    assert_int_equal(scene->outputs.count, 2 * (PASTS + 2));
    scene_close(scene);
}

/* ----------------------------------------------------------------------------------------------------- backlog */

static void send_backlog(struct scene *scene)
{
    int64_t due_ms = shifted_clock_ms(scene->clock) + 30000;
    for (int i = 0; i < BACKLOG; i++) {
        char id[16];
        snprintf(id, sizeof(id), "o-%d", i);
        SCENE_SCHEDULE(scene, i % PARTITIONS, "old", "tarry-id", id, "tarry-at",
                       scene_schedules_text(due_ms + (int64_t)(i * 7919 % BACKLOG) * BACKLOG_SPREAD_MS / BACKLOG));
    }
    kafka_client_flush(scene->producer);
}

/* Of each input partition in order of due times; each once. */
static void check_backlog(const struct scene *scene)
{
    bool *seen = memory_new(BACKLOG, sizeof(*seen));
    int64_t last_ms[PARTITIONS] = {0};
    for (size_t i = 0; i < scene->outputs.count; i++) {
        const struct kafka_client_record *item = &scene->outputs.items[i];
        if (!span_equals_text(item->record.value, "old")) {
            continue;
        }
        long number = strtol(kafka_client_header_text(item, "tarry-id") + 2, NULL, 10);
        int64_t due_ms = strtoll(kafka_client_header_text(item, "tarry-due"), NULL, 10);
        assert_true(number >= 0 && number < BACKLOG && !seen[number]);
        assert_true(due_ms >= last_ms[number % PARTITIONS]);
        last_ms[number % PARTITIONS] = due_ms;
        seen[number] = true;
    }
    free(seen);
}

static int64_t lateness_of_new(const struct scene *scene)
{
    int64_t most_ms = 0;
    for (size_t i = 0; i < scene->outputs.count; i++) {
        const struct kafka_client_record *item = &scene->outputs.items[i];
        if (span_equals_text(item->record.value, "new")) {
            int64_t at_ms = shifted_clock_greatest_ms(scene->clock, item->record.timestamp_ms, item->record.timestamp_ms);
            int64_t late_ms = at_ms - strtoll(kafka_client_header_text(item, "tarry-due"), NULL, 10);
            most_ms = late_ms > most_ms ? late_ms : most_ms;
        }
    }
    return most_ms;
}

/* Five minutes' worth is due at the start, while new ones come in: in order, without a flood in memory, and the new ones wait for seconds at most. */
static void backlog_and_new_ones(void **state)
{
    (void)state;
    struct scene *scene = scene_open("backlog", &plain);
    scene_start(scene);
    send_backlog(scene);
    scene_schedules_await_metric_is(scene->process, "tarry_pending", NULL, BACKLOG);
    scene_stop(scene);
    shifted_clock_set(scene->clock, DOWN_MS);
    scene_launch(scene, NULL);
    for (int i = 0; i < NEW_ONES; i++) {
        SCENE_SCHEDULE(scene, i % PARTITIONS, "new", "tarry-delay", "1s");
        kafka_client_flush(scene->producer);
        await_pause_ms(500); /* twice a second */
        int code = tarry_process_get(scene->process, "/livez", NULL, 0);
        assert_true(code == 200 || code == -1); /* -1: it does not listen yet */
    }
    scene_schedules_await(scene, "old", BACKLOG);
    scene_schedules_await(scene, "new", NEW_ONES);
    int64_t rss_kib = tarry_process_rss_anon_kib(scene->process);
    fprintf(stderr, "new ones were %" PRId64 " ms late at most; %" PRId64 " KiB of memory\n", lateness_of_new(scene), rss_kib);
    assert_true(lateness_of_new(scene) < NEW_LATE_MOST_MS);
    assert_true(rss_kib < RSS_MOST_KIB);
    scene_stop(scene);
    scene_schedules_read(scene);
    assert_int_equal(scene->outputs.count, BACKLOG + NEW_ONES);
    check_backlog(scene);
    scene_schedules_assert_never_early(scene);
    scene_close(scene);
}

/* With a rate for it the backlog leaves in order, no faster than that, and new ones leave before it is through. */
static void check_catch_up(const struct scene *scene)
{
    int64_t first_ms = INT64_MAX;
    int64_t last_ms = 0;
    size_t news_before = 0;
    size_t news = 0;
    for (size_t i = 0; i < scene->outputs.count; i++) {
        const struct kafka_client_record *item = &scene->outputs.items[i];
        if (span_equals_text(item->record.value, "new")) {
            news++;
            continue;
        }
        news_before = news; /* those in front of the last old one, in the end */
        first_ms = item->record.timestamp_ms < first_ms ? item->record.timestamp_ms : first_ms;
        last_ms = item->record.timestamp_ms > last_ms ? item->record.timestamp_ms : last_ms;
    }
    assert_int_equal(news_before, NEW_ONES);
    assert_true(last_ms - first_ms >= BACKLOG * INT64_C(1000) / CATCH_UP_PER_S * 9 / 10);
}

static void backlog_at_a_rate(const struct scene_options *options)
{
    struct scene *scene = scene_open("catch-up", options);
    scene_start(scene);
    send_backlog(scene);
    scene_schedules_await_metric_is(scene->process, "tarry_pending", NULL, BACKLOG);
    scene_stop(scene);
    shifted_clock_set(scene->clock, DOWN_MS);
    scene_start(scene);
    for (int i = 0; i < NEW_ONES; i++) {
        SCENE_SCHEDULE(scene, i % PARTITIONS, "new", "tarry-delay", "1s");
    }
    kafka_client_flush(scene->producer);
    scene_schedules_await(scene, "new", NEW_ONES);
    scene_schedules_await(scene, "old", BACKLOG);
    scene_stop(scene);
    scene_schedules_read(scene);
    assert_int_equal(scene->outputs.count, BACKLOG + NEW_ONES);
    check_backlog(scene);
    check_catch_up(scene);
    scene_schedules_assert_never_early(scene);
    scene_close(scene);
}

static void backlog_at_a_rate_at_least_once(void **state)
{
    (void)state;
    backlog_at_a_rate(&catch_up_at_least_once);
}

static void backlog_at_a_rate_exactly_once(void **state)
{
    (void)state;
    backlog_at_a_rate(&catch_up_exactly_once);
}

/* -------------------------------------------------------------------------------------------------- the list */

static void dedupe_over_restarts_at_least_once(void **state)
{
    (void)state;
    ids_are_known_after(&dedupe_at_least_once);
}

static void dedupe_over_restarts_exactly_once(void **state)
{
    (void)state;
    ids_are_known_after(&dedupe_exactly_once);
}

#define WITH(test) cmocka_unit_test_teardown(test, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(now_past_and_wrong_times), WITH(backlog_and_new_ones),
        WITH(backlog_at_a_rate_at_least_once),
        WITH(backlog_at_a_rate_exactly_once), WITH(dedupe_over_restarts_at_least_once), WITH(dedupe_over_restarts_exactly_once)};
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
