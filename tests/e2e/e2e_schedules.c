/*
 * Schedules of a real tarry on a real Kafka, in both modes of delivery: what comes again, is cancelled, replaced, rejected, a duplicate, expired or late; and a process
 * that is killed in the middle of it.
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

#include "tests/support/await.h"
#include "tests/support/scene.h"
#include "tests/support/scene_schedules.h"

#define QUIET_MS 2500 /* longer than two occurrences of the schedules here */

#define COMMON .kafka = "consumer: {session.timeout.ms: 4000, heartbeat.interval.ms: 500}", .shared_input = true, .letters = true
#define MODES(rules)                                                                                                                             \
    {                                                                                                                                            \
        {COMMON, .source = rules, .more = "delivery: at_least_once\ntransaction_timeout: 5s"},                                                    \
            {COMMON, .source = rules, .more = "delivery: exactly_once\ntransaction_timeout: 5s"},                                                 \
    }

static const struct scene_options usual[] = MODES("max_delay: 366d");
static const struct scene_options letters[] = MODES("late: letter, max_lateness: 10s");
static const struct scene_options drops[] = MODES("late: drop, max_lateness: 10s");
static const struct scene_options skips[] = MODES("misfire: skip, misfire_after: 1s");
static const struct scene_options alls[] = MODES("misfire: all, misfire_after: 1s");
static const char *const small_records[] = {"max.message.bytes=1000", NULL};
static const struct scene_options small[] = {
    {COMMON, .in_settings = small_records, .more = "delivery: at_least_once\ntransaction_timeout: 5s"},
    {COMMON, .in_settings = small_records, .more = "delivery: exactly_once\ntransaction_timeout: 5s"},
};
#define DIALECTS "dialects: {mine: {headers: {X-Wait: delay_s, X-Name: id, X-Op: action, X-Trace: ignore}}}\ntransaction_timeout: 5s\n"
#define RULES "dialects: [mine, karafka], output_headers: etf1"
static const struct scene_options dialects[] = {
    {COMMON, .source = RULES, .more = DIALECTS "delivery: at_least_once"},
    {COMMON, .source = RULES, .more = DIALECTS "delivery: exactly_once"},
};
#define HISTORY .outs = {SCENE_SCHEDULES_HISTORY_OUT}
static const struct scene_options histories[] = {
    {COMMON, HISTORY, .more = SCENE_SCHEDULES_HISTORY "delivery: at_least_once\ntransaction_timeout: 5s"},
    {COMMON, HISTORY, .more = SCENE_SCHEDULES_HISTORY "delivery: exactly_once\ntransaction_timeout: 5s"},
};
static const struct scene_options dedupes[] = MODES("dedupe: 1h");

/* Nothing more of it comes, though its time has passed twice. */
static void assert_ended(struct scene *scene, const char *value, size_t count)
{
    await_pause_ms(QUIET_MS);
    scene_schedules_read(scene);
    assert_int_equal(scene_schedules_count(scene, value), count);
}

/* Due times of one schedule's outputs ascend by whole steps; its id stays. */
static void assert_chain(const struct scene *scene, const char *value, const char *id, int64_t step_ms)
{
    int64_t last_ms = 0;
    for (size_t i = 0; i < scene->outputs.count; i++) {
        const struct kafka_client_record *item = &scene->outputs.items[i];
        if (!span_equals_text(item->record.value, value)) {
            continue;
        }
        int64_t due_ms = strtoll(kafka_client_header_text(item, "tarry-due"), NULL, 10);
        assert_string_equal(kafka_client_header_text(item, "tarry-id"), id);
        assert_null(kafka_client_header_text(item, "tarry-root"));
        assert_null(kafka_client_header_text(item, "tarry-runs"));
        assert_true(last_ms == 0 || (due_ms > last_ms && (due_ms - last_ms) % step_ms == 0));
        assert_true(item->record.timestamp_ms >= due_ms); /* never early */
        last_ms = due_ms;
    }
}

/* ------------------------------------------------------------------------------------------------- what comes again */

static void comes_again(const struct scene_options *options)
{
    struct scene *scene = scene_open("again", options);
    scene_start(scene);
    SCENE_SCHEDULE(scene, 0, "every", "tarry-id", "e-1", "tarry-every", "1s", "tarry-count", "3");
    SCENE_SCHEDULE(scene, 0, "cron", "tarry-id", "c-1", "tarry-cron", "* * * * * *", "tarry-tz", "Europe/London", "tarry-count", "5");
    SCENE_SCHEDULE(scene, 0, "never", "tarry-id", "n-1", "tarry-cron", "0 0 30 2 *");
    SCENE_SCHEDULE(scene, 0, "nowhere", "tarry-id", "n-2", "tarry-cron", "0 9 * * *", "tarry-tz", "Europe/Atlantis");
    scene_schedules_await(scene, "every", 3);
    scene_schedules_await(scene, "cron", 5);
    assert_chain(scene, "every", "e-1", 1000);
    assert_chain(scene, "cron", "c-1", 1000);
    assert_ended(scene, "every", 3);
    assert_ended(scene, "cron", 5);
    scene_schedules_await_metric(scene->process, "tarry_reappended_total", "why=\"next\"", 6);
    scene_schedules_await_metric(scene->process, "tarry_reappended_total", "why=\"decided\"", 1);
    scene_schedules_await_metric_is(scene->process, "tarry_records_refused_total", "reason=\"bad_schedule\"", 2);
    scene_stop(scene);
    scene_close(scene);
}

/* Killed again and again: the chain goes on where it was, and its occurrences are not forked. */
static void survives(const struct scene_options *options)
{
    struct scene *scene = scene_open("survives", options);
    scene_start(scene);
    SCENE_SCHEDULE(scene, 0, "tick", "tarry-id", "t-1", "tarry-every", "1s", "tarry-count", "6");
    for (int i = 0; i < 2; i++) {
        scene_schedules_await(scene, "tick", (size_t)(2 * i + 1));
        scene_kill(scene);
        scene_start(scene);
    }
    scene_schedules_await(scene, "tick", 6);
    await_pause_ms(QUIET_MS);
    scene_schedules_read(scene);
    bool exact = strstr(options->more, "exactly_once") != NULL;
    assert_true(exact ? scene_schedules_count(scene, "tick") == 6 : scene_schedules_count(scene, "tick") <= 8); /* each kill may repeat one */
    scene_stop(scene);
    scene_close(scene);
}

/* Stopped as soon as an occurrence is out: what follows it is written first, so that no start repeats it. */
static void is_stopped(const struct scene_options *options)
{
    struct scene *scene = scene_open("stopped", options);
    scene_start(scene);
    SCENE_SCHEDULE(scene, 0, "tick", "tarry-id", "t-1", "tarry-every", "1s", "tarry-count", "4");
    for (size_t i = 1; i < 4; i++) {
        scene_schedules_await(scene, "tick", i);
        scene_stop(scene);
        scene_start(scene);
    }
    scene_schedules_await(scene, "tick", 4);
    assert_ended(scene, "tick", 4);
    assert_chain(scene, "tick", "t-1", 1000);
    scene_stop(scene);
    scene_close(scene);
}

/* Nobody wants an occurrence after tarry-expires: the chain ends, and no letters are made of those that would follow. */
static void ends_with_its_expiry(const struct scene_options *options)
{
    struct scene *scene = scene_open("expiry", options);
    scene_start(scene);
    int64_t expires_ms = await_wall_ms() + 4500;
    SCENE_SCHEDULE(scene, 0, "tick", "tarry-id", "t-1", "tarry-every", "1s", "tarry-expires", scene_schedules_text(expires_ms));
    scene_schedules_await(scene, "tick", 1);
    while (await_wall_ms() < expires_ms) {
        await_pause_ms(100);
    }
    await_pause_ms(QUIET_MS);
    scene_schedules_read(scene);
    size_t count = scene_schedules_count(scene, "tick");
    assert_true(count <= 4);
    assert_true(tarry_process_metric(scene->process, "tarry_letters_total", NULL) <= 1); /* of the last one, where all is slow */
    assert_true(tarry_process_metric(scene->process, "tarry_reappended_total", "why=\"next\"") <= 3);
    scene_stop(scene);
    scene_close(scene);
}

/* While nobody fires, occurrences pass: misfire says what becomes of them. */
static void misses(const struct scene_options *options, bool all)
{
    struct scene *scene = scene_open("misfire", options);
    scene_start(scene);
    SCENE_SCHEDULE(scene, 0, "tick", "tarry-id", "t-1", "tarry-every", "1s", "tarry-until", scene_schedules_text(await_wall_ms() + 8500));
    scene_schedules_await(scene, "tick", 1);
    scene_stop(scene);
    await_pause_ms(3500);
    scene_start(scene);
    if (all) {
        scene_schedules_await(scene, "tick", 8);
        assert_ended(scene, "tick", 8);
    } else {
        scene_schedules_await_metric(scene->process, "tarry_skipped_total", "why=\"misfire\"", 1);
        scene_schedules_await(scene, "tick", 3);
        assert_ended(scene, "absent", 0);
        await_pause_ms(QUIET_MS);
        scene_schedules_read(scene);
        assert_true(scene_schedules_count(scene, "tick") <= 6);
    }
    assert_chain(scene, "tick", "t-1", 1000);
    scene_stop(scene);
    scene_close(scene);
}

/* The record fits its topic, what is written again does not: a letter says so, and others go on. */
static void cannot_go_on(const struct scene_options *options)
{
    static char large[851];
    struct scene *scene = scene_open("narrow", options);
    memset(large, 'x', sizeof(large) - 1);
    scene_start(scene);
    SCENE_SCHEDULE(scene, 0, large, "tarry-id", "big", "tarry-every", "1s");
    scene_flush(scene); /* in a batch of its own: else that is too large */
    SCENE_SCHEDULE(scene, 0, "tick", "tarry-id", "t-1", "tarry-every", "1s", "tarry-count", "4");
    scene_schedules_await_metric(scene->process, "tarry_letters_total", "reason=\"not_reappended\"", 1);
    scene_schedules_await(scene, "tick", 4);
    assert_ended(scene, "tick", 4);
    bool exact = strstr(options->more, "exactly_once") != NULL;
    assert_int_equal(scene_schedules_count(scene, large), exact ? 0 : 1); /* exactly once it could not leave without its next one */
    scene_schedules_await_metric(scene->process, "tarry_parked_total", NULL, 1);        /* nobody redelivers it */
    scene_schedules_await_metric_is(scene->process, "tarry_letters_total", "reason=\"not_reappended\"", 1);
    scene_stop(scene);
    scene_close(scene);
}

/* ------------------------------------------------------------------------------------------------- dialects */

static void is_of_another_dialect(const struct scene_options *options)
{
    struct scene *scene = scene_open("dialect", options);
    scene_start(scene);
    SCENE_SCHEDULE(scene, 0, "mine", "X-Wait", "1", "X-Name", "m-1", "X-Trace", "t", "kept", "yes");
    SCENE_SCHEDULE(scene, 0, "gone", "X-Wait", "2", "X-Name", "m-2");
    SCENE_SCHEDULE(scene, 0, "", "X-Name", "m-2", "X-Op", "cancel");
    SCENE_SCHEDULE(scene, 0, "not mine", "tarry-delay", "1s");
    scene_schedules_await(scene, "mine", 1);
    const struct kafka_client_record *out = scene_schedules_find(scene, "mine");
    assert_null(kafka_client_header_text(out, "X-Wait"));
    assert_null(kafka_client_header_text(out, "X-Name"));
    assert_null(kafka_client_header_text(out, "X-Trace"));
    assert_null(kafka_client_header_text(out, "tarry-id"));
    assert_string_equal(kafka_client_header_text(out, "kept"), "yes");
    assert_non_null(kafka_client_header_text(out, "scheduler-timestamp"));
    scene_schedules_await_metric_is(scene->process, "tarry_cancelled_total", NULL, 1);
    scene_schedules_await_metric_is(scene->process, "tarry_records_refused_total", "reason=\"no_time\"", 1); /* tarry's own headers are off */
    assert_ended(scene, "gone", 0);
    scene_stop(scene);
    scene_close(scene);
}

/* ------------------------------------------------------------------------------------------------- controls */

static void is_cancelled(const struct scene_options *options)
{
    struct scene *scene = scene_open("cancel", options);
    scene_start(scene);
    SCENE_SCHEDULE(scene, 0, "tick", "tarry-id", "t-1", "tarry-every", "1s");
    SCENE_SCHEDULE(scene, 0, "first", "tarry-id", "o-1", "tarry-delay", "1h");
    SCENE_SCHEDULE(scene, 0, "second", "tarry-id", "o-1", "tarry-delay", "1s");
    SCENE_SCHEDULE(scene, 0, "gone", "tarry-id", "o-2", "tarry-delay", "2s");
    SCENE_SCHEDULE(scene, 0, "", "tarry-id", "o-2", "tarry-action", "cancel");
    SCENE_SCHEDULE(scene, 0, "", "tarry-id", "o-3", "tarry-action", "cancel");
    scene_schedules_await(scene, "tick", 2);
    SCENE_SCHEDULE(scene, 0, "", "tarry-id", "t-1", "tarry-action", "cancel");
    scene_schedules_await_metric(scene->process, "tarry_cancelled_total", NULL, 2);
    scene_schedules_await(scene, "second", 1);
    scene_schedules_read(scene);
    assert_ended(scene, "tick", scene_schedules_count(scene, "tick"));
    assert_int_equal(scene_schedules_count(scene, "first") + scene_schedules_count(scene, "gone"), 0);
    scene_schedules_await_metric_is(scene->process, "tarry_cancelled_total", NULL, 2);
    scene_schedules_await_metric_is(scene->process, "tarry_replaced_total", NULL, 1);
    scene_schedules_await_metric_is(scene->process, "tarry_not_found_total", NULL, 1);
    scene_stop(scene);
    scene_close(scene);
}

/* if-exists: reject, twice: the first is pending when the second is decided, and again after it has left. */
static void is_rejected(const struct scene_options *options)
{
    struct scene *scene = scene_open("reject", options);
    scene_start(scene);
    SCENE_SCHEDULE(scene, 0, "one", "tarry-id", "r-1", "tarry-delay", "3s", "tarry-if-exists", "reject");
    SCENE_SCHEDULE(scene, 0, "two", "tarry-id", "r-1", "tarry-delay", "1s", "tarry-if-exists", "reject");
    SCENE_SCHEDULE(scene, 0, "three", "tarry-id", "r-1", "tarry-delay", "1s", "tarry-if-exists", "reject");
    scene_schedules_await_metric(scene->process, "tarry_rejected_total", "reason=\"exists\"", 2);
    scene_schedules_await(scene, "one", 1);
    SCENE_SCHEDULE(scene, 0, "four", "tarry-id", "r-1", "tarry-delay", "1s", "tarry-if-exists", "reject");
    scene_schedules_await(scene, "four", 1);
    assert_ended(scene, "one", 1);
    assert_int_equal(scene_schedules_count(scene, "two") + scene_schedules_count(scene, "three"), 0);
    scene_schedules_await_metric_is(scene->process, "tarry_rejected_total", "reason=\"exists\"", 2);
    scene_stop(scene);
    scene_close(scene);
}

static void is_a_duplicate(const struct scene_options *options)
{
    struct scene *scene = scene_open("dedupe", options);
    scene_start(scene);
    SCENE_SCHEDULE(scene, 0, "one", "tarry-id", "d-1", "tarry-delay", "0s");
    scene_schedules_await(scene, "one", 1);
    SCENE_SCHEDULE(scene, 0, "two", "tarry-id", "d-1", "tarry-delay", "0s");
    scene_schedules_await_metric(scene->process, "tarry_rejected_total", "reason=\"duplicate\"", 1);
    scene_kill(scene); /* what came due lately is known after a start, too */
    scene_start(scene);
    SCENE_SCHEDULE(scene, 0, "three", "tarry-id", "d-1", "tarry-delay", "0s");
    SCENE_SCHEDULE(scene, 0, "other", "tarry-id", "d-2", "tarry-delay", "0s");
    scene_schedules_await(scene, "other", 1);
    scene_schedules_await_metric(scene->process, "tarry_rejected_total", "reason=\"duplicate\"", 1);
    scene_schedules_read(scene);
    assert_int_equal(scene_schedules_count(scene, "two") + scene_schedules_count(scene, "three"), 0);
    scene_stop(scene);
    scene_close(scene);
}

/* ------------------------------------------------------------------------------------------------- too late */

static void send_late(struct scene *scene)
{
    SCENE_SCHEDULE(scene, 0, "late", "tarry-id", "l-1", "tarry-at", scene_schedules_text(await_wall_ms() - 60000));
    SCENE_SCHEDULE(scene, 0, "recent", "tarry-id", "l-2", "tarry-at", scene_schedules_text(await_wall_ms() - 2000));
    SCENE_SCHEDULE(scene, 0, "expired", "tarry-id", "l-3", "tarry-delay", "1s", "tarry-expires", scene_schedules_text(await_wall_ms() + 500));
}

static void is_late(const struct scene_options *options, const char *metric, const char *label)
{
    struct scene *scene = scene_open("late", options);
    scene_start(scene);
    send_late(scene);
    scene_schedules_await(scene, "recent", 1);
    scene_schedules_await_metric(scene->process, metric, label, 1);
    scene_schedules_await_metric(scene->process, "tarry_letters_total", "reason=\"expired\"", 1);
    scene_schedules_read(scene);
    assert_int_equal(scene_schedules_count(scene, "late") + scene_schedules_count(scene, "expired"), 0);
    scene_stop(scene);
    scene_close(scene);
}

/* ------------------------------------------------------------------------------------------------- history */

static void is_told(const struct scene_options *options)
{
    static const char *const wanted[][2] = {{"h-1", "replaced"}, {"h-1", "delivered"}, {"h-2", "cancelled"}, {"h-3", "not_found"},
                                            {"h-4", "next"},     {"h-4", "delivered"}, {"h-4", "finished"}};
    struct scene *scene = scene_open("told", options);
    scene_start(scene);
    SCENE_SCHEDULE(scene, 0, "first", "tarry-id", "h-1", "tarry-delay", "1h");
    SCENE_SCHEDULE(scene, 0, "second", "tarry-id", "h-1", "tarry-delay", "0s");
    SCENE_SCHEDULE(scene, 0, "gone", "tarry-id", "h-2", "tarry-delay", "1h");
    SCENE_SCHEDULE(scene, 0, "", "tarry-id", "h-2", "tarry-action", "cancel");
    SCENE_SCHEDULE(scene, 0, "", "tarry-id", "h-3", "tarry-action", "cancel");
    SCENE_SCHEDULE(scene, 0, "tick", "tarry-id", "h-4", "tarry-every", "1s", "tarry-count", "2");
    scene_schedules_await(scene, "tick", 2);
    scene_schedules_await_metric(scene->process, "tarry_history_total", NULL, 8);
    scene_schedules_await_metric_is(scene->process, "tarry_history_dropped_total", NULL, 0);
    scene_stop(scene);
    scene_schedules_read(scene);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (scene_schedules_told(scene, wanted[i][0], wanted[i][1]) == 0) {
            fail_msg("the history has no \"%s\" of %s", wanted[i][1], wanted[i][0]);
        }
    }
    assert_int_equal(scene_schedules_told(scene, "h-4", "delivered"), 2);
    assert_int_equal(scene_schedules_told(scene, "h-2", "delivered"), 0); /* never both */
    scene_close(scene);
}

/* ------------------------------------------------------------------------------------------------- the list */

#define BOTH(name, call_0, call_1)                                                                                                               \
    static void name##_at_least_once(void **state)                                                                                               \
    {                                                                                                                                            \
        (void)state;                                                                                                                             \
        call_0;                                                                                                                                  \
    }                                                                                                                                            \
    static void name##_exactly_once(void **state)                                                                                                \
    {                                                                                                                                            \
        (void)state;                                                                                                                             \
        call_1;                                                                                                                                  \
    }

BOTH(again, comes_again(&usual[0]), comes_again(&usual[1]))
BOTH(stopped, is_stopped(&usual[0]), is_stopped(&usual[1]))
BOTH(expiry, ends_with_its_expiry(&usual[0]), ends_with_its_expiry(&usual[1]))
BOTH(killed, survives(&usual[0]), survives(&usual[1]))
BOTH(cancel, is_cancelled(&usual[0]), is_cancelled(&usual[1]))
BOTH(reject, is_rejected(&usual[0]), is_rejected(&usual[1]))
BOTH(dedupe, is_a_duplicate(&dedupes[0]), is_a_duplicate(&dedupes[1]))
BOTH(letter, is_late(&letters[0], "tarry_letters_total", "reason=\"late\""), is_late(&letters[1], "tarry_letters_total", "reason=\"late\""))
BOTH(told, is_told(&histories[0]), is_told(&histories[1]))
BOTH(skip, misses(&skips[0], false), misses(&skips[1], false))
BOTH(all, misses(&alls[0], true), misses(&alls[1], true))
BOTH(narrow, cannot_go_on(&small[0]), cannot_go_on(&small[1]))
BOTH(dialect, is_of_another_dialect(&dialects[0]), is_of_another_dialect(&dialects[1]))
BOTH(drop, is_late(&drops[0], "tarry_dropped_late_total", NULL), is_late(&drops[1], "tarry_dropped_late_total", NULL))

#define WITH(test) cmocka_unit_test_teardown(test, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(stopped_at_least_once), WITH(stopped_exactly_once), WITH(expiry_at_least_once), WITH(expiry_exactly_once),
        WITH(narrow_at_least_once), WITH(narrow_exactly_once), WITH(skip_at_least_once), WITH(skip_exactly_once),
        WITH(all_at_least_once), WITH(all_exactly_once), WITH(dialect_at_least_once), WITH(dialect_exactly_once),
        WITH(told_at_least_once), WITH(told_exactly_once), WITH(letter_at_least_once), WITH(letter_exactly_once), WITH(drop_at_least_once),   WITH(drop_exactly_once),   WITH(cancel_at_least_once),
        WITH(cancel_exactly_once),  WITH(again_at_least_once), WITH(again_exactly_once),   WITH(killed_at_least_once), WITH(killed_exactly_once),
        WITH(reject_at_least_once), WITH(reject_exactly_once), WITH(dedupe_at_least_once), WITH(dedupe_exactly_once),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
