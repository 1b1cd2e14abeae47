/*
 * A wall clock that does not run on evenly: set back and forth by an hour and a day while tarry runs, by a year while it is down, over a machine's sleep, and over a
 * repeated second. Nothing leaves before its time by that clock, nothing of others leaves with it, and what comes again goes on and repeats nothing.
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

#include <signal.h>
#include <time.h>

#include "tests/support/await.h"
#include "tests/support/scene_schedules.h"
#include "tests/support/shifted_clock.h"

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)
#define YEAR_MS (365 * DAY_MS)
#define EACH 5
#define QUIET_MS 2500      /* longer than two seconds of the schedule */
#define CPU_MOST_SHARE 0.3 /* of a core, on a busy machine; who spins takes a whole one */
#define SETTLED_MS 4000    /* after its last commit it has nothing to do */
#define AWAKE_MS 6000
#define SESSION_MS 6000
#define COMMITTED_MS 10000
#define WOKEN_MS 3000      /* it looks at the clock once a second, and the machine is busy */

#define OPTIONS(mode)                                                                                                                            \
    {                                                                                                                                            \
        .partitions = 2, .own_clock = true, .shared_input = true, .letters = true, .in_settings = scene_schedules_any_timestamp,         \
        .more = "delivery: " mode "\ntransaction_timeout: 5s", .kafka = "consumer: {session.timeout.ms: 6000, heartbeat.interval.ms: 500}"                                                             \
    }

static const struct scene_options at_least_once = OPTIONS("at_least_once");
static const struct scene_options exactly_once = OPTIONS("exactly_once");

/* An hour and others of their kind, as they stand in a header. */
static const char *time_text(const struct scene *scene, int64_t from_now_ms)
{
    return scene_schedules_text(shifted_clock_ms(scene->clock) + from_now_ms);
}

/* Five with a delay and five with a time, due then. */
static void send_due(struct scene *scene, const char *value, int64_t from_now_ms)
{
    for (int i = 0; i < EACH; i++) {
        SCENE_SCHEDULE(scene, i % 2, value, "tarry-delay", scene_schedules_text(from_now_ms));
        SCENE_SCHEDULE(scene, i % 2, value, "tarry-at", time_text(scene, from_now_ms));
    }
    kafka_client_flush(scene->producer);
}

static void send_tick(struct scene *scene)
{
    SCENE_SCHEDULE(scene, 0, "tick", "tarry-id", "tick", "tarry-every", "1s");
    SCENE_SCHEDULE(scene, 1, "tock", "tarry-id", "tock", "tarry-cron", "* * * * * *");
    kafka_client_flush(scene->producer);
}

static void await_ticks(struct scene *scene, size_t more)
{
    size_t ticks = scene_schedules_count(scene, "tick");
    size_t tocks = scene_schedules_count(scene, "tock");
    scene_schedules_await(scene, "tick", ticks + more);
    scene_schedules_await(scene, "tock", tocks + more);
}

/* A record that is due soon by the clock as it is now goes out: nothing stands still. */
static void assert_no_stall(struct scene *scene, const char *value)
{
    int64_t start_ms = await_mono_ms();
    SCENE_SCHEDULE(scene, 0, value, "tarry-delay", "500ms");
    SCENE_SCHEDULE(scene, 1, value, "tarry-at", time_text(scene, 500));
    scene_schedules_await(scene, value, 2);
    fprintf(stderr, "%s: out after %" PRId64 " ms\n", value, await_mono_ms() - start_ms);
}

/* Lets its time pass twice: no tick comes, and nobody spins. */
static void assert_ticks_wait(struct scene *scene)
{
    scene_schedules_read(scene);
    size_t ticks = scene_schedules_count(scene, "tick");
    size_t tocks = scene_schedules_count(scene, "tock");
    int64_t cpu_ms = tarry_process_cpu_ms(scene->process);
    int64_t start_ms = await_mono_ms();
    await_pause_ms(QUIET_MS);
    cpu_ms = tarry_process_cpu_ms(scene->process) - cpu_ms;
    int64_t passed_ms = await_mono_ms() - start_ms;
    scene_schedules_read(scene);
    assert_int_equal(scene_schedules_count(scene, "tick"), ticks);
    assert_int_equal(scene_schedules_count(scene, "tock"), tocks);
    fprintf(stderr, "waiting: %" PRId64 " ms of CPU in %" PRId64 " ms\n", cpu_ms, passed_ms);
    assert_true((double)cpu_ms <= CPU_MOST_SHARE * (double)passed_ms);
}

/* Closing checks of each test here. */
static void finish(struct scene *scene)
{
    scene_stop(scene);
    scene_schedules_read(scene);
    scene_schedules_assert_never_early(scene);
    scene_schedules_assert_chain(scene, "tick", 1000, false, false);
    scene_schedules_assert_chain(scene, "tock", 1000, false, false);
    scene_close(scene);
}

/* ---------------------------------------------------------------------------------------------------- running */

static bool all_committed(void *context)
{
    const struct scene *scene = context;
    bool all = true;
    for (int32_t partition = 0; partition < scene->partitions; partition++) {
        int64_t low;
        int64_t high;
        kafka_client_watermarks(scene->bootstrap, scene->in, partition, &low, &high);
        all = all && kafka_client_committed(scene->bootstrap, scene->prefix, scene->in, partition, NULL) >= high;
    }
    return all;
}

/* It is a member of its group still: what has been read is committed. */
static void assert_committed(struct scene *scene)
{
    if (!await_condition(all_committed, scene, COMMITTED_MS)) {
        fail_msg("what was read is not committed within %d ms", COMMITTED_MS);
    }
}

static void an_hour_back(const struct scene_options *options)
{
    struct scene *scene = scene_open("back", options);
    scene_start(scene);
    send_tick(scene);
    await_ticks(scene, 2);
    send_due(scene, "soon", 4000);
    send_due(scene, "hour", HOUR_MS);
    shifted_clock_set(scene->clock, -HOUR_MS);
    assert_no_stall(scene, "back");
    assert_ticks_wait(scene);
    await_pause_ms(SESSION_MS + 2000 - QUIET_MS); /* "soon" would have come due by now, and who beats no heart is out of the group */
    assert_no_stall(scene, "still back");
    assert_committed(scene);
    scene_schedules_read(scene);
    assert_int_equal(scene_schedules_count(scene, "soon"), 0);
    scene_schedules_await_metric(scene->process, "tarry_clock_steps_total", "direction=\"back\"", 1);
    shifted_clock_set(scene->clock, 0);
    assert_no_stall(scene, "forth");
    scene_schedules_await(scene, "soon", 2 * EACH);
    await_ticks(scene, 2);
    scene_schedules_await_metric_is(scene->process, "tarry_clock_steps_total", "direction=\"forward\"", 1);
    scene_schedules_await_metric_is(scene->process, "tarry_clock_steps_total", "direction=\"back\"", 1);
    assert_int_equal(scene_schedules_count(scene, "soon"), 2 * EACH);
    assert_int_equal(scene_schedules_count(scene, "hour"), 0);
    finish(scene);
}

/* Of the seconds that were left out one fires, or none; no more than those that passed. */
static void assert_no_burst(struct scene *scene, size_t ticks_before, int64_t since_ms)
{
    scene_schedules_read(scene);
    size_t most = (size_t)((await_mono_ms() - since_ms) / 1000) + 3;
    assert_true(scene_schedules_count(scene, "tick") - ticks_before <= most);
    assert_true(scene_schedules_count(scene, "tock") - ticks_before <= most + 1);
}

static void an_hour_and_a_day_forward(const struct scene_options *options)
{
    struct scene *scene = scene_open("forward", options);
    scene_start(scene);
    send_tick(scene);
    await_ticks(scene, 2);
    send_due(scene, "half an hour", HOUR_MS / 2);
    send_due(scene, "two hours", 2 * HOUR_MS);
    send_due(scene, "three days", 3 * DAY_MS);
    scene_schedules_await_metric(scene->process, "tarry_records_read_total", NULL, 6 * EACH);
    size_t ticks = scene_schedules_count(scene, "tick");
    int64_t start_ms = await_mono_ms();
    shifted_clock_set(scene->clock, HOUR_MS);
    scene_schedules_await(scene, "half an hour", 2 * EACH);
    await_ticks(scene, 2);
    assert_int_equal(scene_schedules_count(scene, "two hours"), 0);
    scene_schedules_await_metric_is(scene->process, "tarry_clock_steps_total", "direction=\"forward\"", 1);
    shifted_clock_set(scene->clock, HOUR_MS + DAY_MS);
    scene_schedules_await(scene, "two hours", 2 * EACH);
    await_ticks(scene, 2);
    assert_no_burst(scene, ticks, start_ms);
    scene_schedules_await_metric_is(scene->process, "tarry_clock_steps_total", "direction=\"forward\"", 2);
    shifted_clock_set(scene->clock, 0);
    assert_no_stall(scene, "today"); /* and the ticks wait until tomorrow, when they were */
    assert_ticks_wait(scene);
    scene_schedules_await_metric_is(scene->process, "tarry_clock_steps_total", "direction=\"back\"", 1);
    assert_int_equal(scene_schedules_count(scene, "three days"), 0);
    assert_int_equal(scene_schedules_count(scene, "half an hour"), 2 * EACH);
    assert_int_equal(scene_schedules_count(scene, "two hours"), 2 * EACH);
    finish(scene);
}

/* ----------------------------------------------------------------------------------------------------- down */

static void a_year_while_down(const struct scene_options *options)
{
    struct scene *scene = scene_open("year", options);
    scene_start(scene);
    send_tick(scene);
    await_ticks(scene, 1);
    send_due(scene, "month", 30 * DAY_MS);
    send_due(scene, "year and an hour", YEAR_MS + HOUR_MS); /* max_delay is 366 days */
    scene_schedules_await_metric(scene->process, "tarry_records_read_total", NULL, 4 * EACH);
    scene_stop(scene);
    scene_schedules_read(scene);
    size_t ticks = scene_schedules_count(scene, "tick");
    int64_t start_ms = await_mono_ms();
    shifted_clock_set(scene->clock, YEAR_MS);
    scene_start(scene);
    scene_schedules_await(scene, "month", 2 * EACH);
    await_ticks(scene, 2);
    assert_no_burst(scene, ticks, start_ms);
    scene_stop(scene);
    shifted_clock_set(scene->clock, 0); /* and a year back */
    scene_start(scene);
    assert_no_stall(scene, "today");
    assert_ticks_wait(scene);
    assert_int_equal(scene_schedules_count(scene, "month"), 2 * EACH);
    assert_int_equal(scene_schedules_count(scene, "year and an hour"), 0);
    finish(scene);
}

/* The machine sleeps for two minutes: the wall clock goes on, the monotonic one does not. Time asleep counts. */
static void two_minutes_asleep(void **state)
{
    (void)state;
    struct scene *scene = scene_open("asleep", &at_least_once);
    scene_start(scene);
    send_due(scene, "meanwhile", MINUTE_MS);
    send_due(scene, "after", 2 * MINUTE_MS + SETTLED_MS + AWAKE_MS);
    scene_schedules_await_metric(scene->process, "tarry_records_read_total", NULL, 4 * EACH);
    await_pause_ms(SETTLED_MS); /* nothing is to be done any more, so nothing else wakes it */
    tarry_process_signal(scene->process, SIGSTOP);
    shifted_clock_set(scene->clock, 2 * MINUTE_MS);
    tarry_process_signal(scene->process, SIGCONT);
    int64_t woken_ms = await_mono_ms();
    scene_schedules_await(scene, "meanwhile", 2 * EACH);
    int64_t late_ms = await_mono_ms() - woken_ms;
    fprintf(stderr, "overdue ones were out %" PRId64 " ms after waking\n", late_ms);
    assert_true(late_ms < WOKEN_MS);
    assert_int_equal(scene_schedules_count(scene, "after"), 0);
    scene_schedules_await(scene, "after", 2 * EACH);
    assert_true(await_mono_ms() - woken_ms < AWAKE_MS + WOKEN_MS); /* not two minutes more */
    finish(scene);
}

/* ----------------------------------------------------------------------------------------------- leap second */

/* "<date>T<time>Z" of that moment's day in UTC. */
static void day_text(int64_t ms, const char *time, char text[32])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    assert_non_null(gmtime_r(&seconds, &parts));
    assert_true(strftime(text, 16, "%Y-%m-%d", &parts) == 10);
    snprintf(text + 10, 22, "T%sZ", time);
}

/* The last second of a day comes twice. A time in second 60 is the first of the next day; at another time of day there is none. */
static void a_second_comes_twice(void **state)
{
    (void)state;
    struct scene *scene = scene_open("leap", &at_least_once);
    int64_t midnight_ms = (await_wall_ms() / DAY_MS + 1) * DAY_MS;
    char leap[32];
    char none[32];
    scene_start(scene);
    shifted_clock_set(scene->clock, midnight_ms - 4000 - await_wall_ms());
    day_text(midnight_ms - 1, "23:59:60", leap);
    day_text(midnight_ms - 1, "12:00:60", none);
    send_tick(scene);
    SCENE_SCHEDULE(scene, 0, "leap", "tarry-id", "leap", "tarry-at", leap);
    SCENE_SCHEDULE(scene, 0, "none", "tarry-id", "none", "tarry-at", none);
    SCENE_SCHEDULE(scene, 1, "last", "tarry-id", "last", "tarry-at", scene_schedules_text(midnight_ms - 500));
    scene_schedules_await_metric(scene->process, "tarry_records_refused_total", "reason=\"bad_time\"", 1);
    scene_schedules_await(scene, "last", 1);
    int64_t cpu_ms = tarry_process_cpu_ms(scene->process);
    int64_t start_ms = await_mono_ms();
    shifted_clock_set(scene->clock, midnight_ms - 1000 - await_wall_ms()); /* 23:59:59.0 again */
    scene_schedules_await(scene, "leap", 1);
    await_ticks(scene, 2);
    cpu_ms = tarry_process_cpu_ms(scene->process) - cpu_ms;
    assert_true((double)cpu_ms <= CPU_MOST_SHARE * (double)(await_mono_ms() - start_ms));
    struct scene_schedules_chain chain = scene_schedules_chain(scene, "leap");
    assert_int_equal(chain.count, 1);
    assert_int_equal(chain.due_ms[0], midnight_ms);
    scene_schedules_chain_free(&chain);
    assert_int_equal(scene_schedules_count(scene, "last"), 1);
    assert_int_equal(scene_schedules_count(scene, "none"), 0);
    finish(scene);
}

/* -------------------------------------------------------------------------------------------------- the list */

SCENE_SCHEDULES_BOTH(back, an_hour_back)
SCENE_SCHEDULES_BOTH(forward, an_hour_and_a_day_forward)
SCENE_SCHEDULES_BOTH(year, a_year_while_down)

#define WITH(test) cmocka_unit_test_teardown(test, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(two_minutes_asleep),
        WITH(a_second_comes_twice),
        WITH(back_at_least_once),
        WITH(back_exactly_once),
        WITH(forward_at_least_once),
        WITH(forward_exactly_once),
        WITH(year_at_least_once),
        WITH(year_exactly_once),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
