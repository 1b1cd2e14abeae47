/*
 * A thousand schedules of every minute, by a clock that the test moves to the minutes that matter: ten ends and starts around one, starts just before and just after one,
 * five minutes down. One run a minute for each, none missed, none twice; and of what was missed as `misfire` says.
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

#define PARTITIONS 4
#define SCHEDULES 1000
#define RESTARTS 10
#define MINUTE_MS INT64_C(60000)
#define MINUTES_MOST 12
#define OUT_MS 30000
#define LATE_MOST_MS 10000 /* a thousand at once, on a busy machine: far less than a minute */
#define LIFE_MS 600

#define OPTIONS(rules)                                                                                                                           \
    {                                                                                                                                            \
        .partitions = PARTITIONS, .own_clock = true, .shared_input = true, .in_settings = scene_schedules_any_timestamp, .source = rules,                        \
        .more = "delivery: exactly_once\ntransaction_timeout: 5s", .kafka = "consumer: {session.timeout.ms: 6000, heartbeat.interval.ms: 500}"   \
    }

static const struct scene_options once = OPTIONS("misfire: once");
static const struct scene_options skip = OPTIONS("misfire: skip");

struct test {
    struct scene *scene;
    int64_t start_ms; /* a whole minute, shortly before the first run */
    int schedules;
};

static void set_clock(const struct test *test, int64_t after_start_ms)
{
    shifted_clock_set(test->scene->clock, test->start_ms + after_start_ms - await_wall_ms());
}

static void await_clock(const struct test *test, int64_t after_start_ms)
{
    await_pause_ms(test->start_ms + after_start_ms - shifted_clock_ms(test->scene->clock)); /* the moment is what is tested */
}

static struct test begin(const char *name, const struct scene_options *options, int schedules)
{
    struct test test = {.scene = scene_open(name, options), .start_ms = await_wall_ms() / MINUTE_MS * MINUTE_MS, .schedules = schedules};
    set_clock(&test, 5000);
    scene_start(test.scene);
    for (int i = 0; i < schedules; i++) {
        char id[16];
        snprintf(id, sizeof(id), "m-%d", i);
        SCENE_SCHEDULE(test.scene, i % PARTITIONS, "run", "tarry-id", id, "tarry-cron", "* * * * *", "tarry-tz", "Asia/Kolkata");
    }
    kafka_client_flush(test.scene->producer);
    scene_schedules_await_metric_is(test.scene->process, "tarry_reappended_total", "why=\"decided\"", schedules);
    assert_true(shifted_clock_ms(test.scene->clock) < test.start_ms + MINUTE_MS);
    return test;
}

/* Runs of each schedule in each minute since the start. */
static uint8_t (*count_runs(const struct test *test))[MINUTES_MOST]
{
    uint8_t(*runs)[MINUTES_MOST] = memory_new((size_t)test->schedules, sizeof(*runs));
    for (size_t i = 0; i < test->scene->outputs.count; i++) {
        const struct kafka_client_record *item = &test->scene->outputs.items[i];
        long number = strtol(kafka_client_header_text(item, "tarry-id") + 2, NULL, 10);
        int64_t due_ms = strtoll(kafka_client_header_text(item, "tarry-due"), NULL, 10) - test->start_ms;
        assert_true(number >= 0 && number < test->schedules);
        assert_true(due_ms > 0 && due_ms % MINUTE_MS == 0 && due_ms / MINUTE_MS < MINUTES_MOST);
        runs[number][due_ms / MINUTE_MS]++;
    }
    return runs;
}

/* Waits until all have run so often, then fails unless they have: in these minutes (a bit each), once in each. */
static void assert_runs(const struct test *test, unsigned minutes)
{
    size_t wanted = (size_t)__builtin_popcount(minutes) * (size_t)test->schedules;
    scene_schedules_await(test->scene, "run", wanted);
    uint8_t(*runs)[MINUTES_MOST] = count_runs(test);
    for (int i = 0; i < test->schedules; i++) {
        for (unsigned minute = 0; minute < MINUTES_MOST; minute++) {
            if (runs[i][minute] != (minutes >> minute & 1)) {
                fail_msg("m-%d ran %d times in minute %u", i, runs[i][minute], minute);
            }
        }
    }
    free(runs);
}

/* All of this minute's were out in time, by tarry's clock: nothing waited for anybody's scan. */
static void assert_prompt(const struct test *test, int64_t minute)
{
    for (size_t i = 0; i < test->scene->outputs.count; i++) {
        const struct kafka_client_record *item = &test->scene->outputs.items[i];
        int64_t due_ms = strtoll(kafka_client_header_text(item, "tarry-due"), NULL, 10);
        int64_t at_ms = item->record.timestamp_ms;
        if (due_ms == test->start_ms + minute * MINUTE_MS) {
            assert_true(shifted_clock_greatest_ms(test->scene->clock, at_ms, at_ms) - due_ms < LATE_MOST_MS);
        }
    }
}

/* Ends of both kinds and starts, from before the first minute to after it. */
static void restart_around_a_minute(const struct test *test)
{
    set_clock(test, MINUTE_MS - RESTARTS * LIFE_MS / 2);
    for (int i = 0; i < RESTARTS; i++) {
        if (i % 2 == 0) {
            scene_stop(test->scene);
        } else {
            scene_kill(test->scene);
        }
        scene_launch(test->scene, NULL);
        await_pause_ms(LIFE_MS); /* the moments of its end are what is tested */
        tarry_process_wait_ready(test->scene->process, OUT_MS); /* until then a SIGTERM may come before its handler is there */
    }
}

static void start_at(const struct test *test, int64_t after_start_ms)
{
    scene_stop(test->scene);
    set_clock(test, after_start_ms - 500);
    await_clock(test, after_start_ms);
    scene_start(test->scene);
}

static void a_thousand_a_minute(void **state)
{
    (void)state;
    struct test test = begin("minute", &once, SCHEDULES);
    restart_around_a_minute(&test);
    assert_runs(&test, 1u << 1);
    start_at(&test, 2 * MINUTE_MS - 100);
    assert_runs(&test, 1u << 1 | 1u << 2);
    start_at(&test, 3 * MINUTE_MS + 100);
    assert_runs(&test, 1u << 1 | 1u << 2 | 1u << 3);
    start_at(&test, 8 * MINUTE_MS + 30000); /* of five that were missed one runs, for all of them */
    assert_runs(&test, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4);
    set_clock(&test, 9 * MINUTE_MS - 1000);
    assert_runs(&test, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 9);
    assert_prompt(&test, 9);
    scene_stop(test.scene);
    scene_schedules_read(test.scene);
    assert_runs(&test, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 9);
    scene_schedules_assert_never_early(test.scene);
    scene_close(test.scene);
}

static void what_was_missed_is_skipped(void **state)
{
    (void)state;
    struct test test = begin("skip", &skip, 20);
    start_at(&test, 5 * MINUTE_MS + 30000);
    scene_schedules_await_metric_is(test.scene->process, "tarry_skipped_total", "why=\"misfire\"", test.schedules);
    set_clock(&test, 6 * MINUTE_MS - 1000);
    assert_runs(&test, 1u << 6);
    scene_stop(test.scene);
    scene_schedules_read(test.scene);
    assert_runs(&test, 1u << 6);
    scene_close(test.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_was_missed_is_skipped, scene_teardown),
        cmocka_unit_test_teardown(a_thousand_a_minute, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
