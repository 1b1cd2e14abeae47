/*
 * Exactly once, seen by a read_committed consumer: two instances of one group, thirty times kill -9, one of the two joining and leaving, stopped for
 * longer than its session and coming back. And the same with the disk lost at half of the starts, and a record of next month holding back C.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/random.h"
#include "tests/support/await.h"
#include "tests/support/claims.h"
#include "tests/support/scene.h"
#include "tests/support/scene_instance.h"

#define PARTITIONS 3
#define KILLS 30
#define LIFE_MIN_MS 300
#define LIFE_MAX_MS 2200
#define FROZEN_MS 6000      /* longer than a session */
#define ORDERED_FROM_MS 8000 /* read before it is due even when it stands in a partition that has no owner for a while */
#define ALL_OUT_MS 60000
#define MONTH_MS INT64_C(2592000000)

static const struct scene_options options = {
    .partitions = PARTITIONS,
    .targets = "[{name: red, match: \"@-red\"}, {name: blue, match: \"@-blue\"}]",
    .kafka = "consumer: {session.timeout.ms: 4000, heartbeat.interval.ms: 500}",
    .more = "delivery: exactly_once\ntransaction_timeout: 3s",
    .outs = {"@-red", "@-blue"},
};

struct test {
    struct scene *scene;
    struct scene_instance *first;  /* the one that is killed */
    struct scene_instance *second; /* the one that comes and goes */
    struct random random;
    bool lose_disks;
};

static void send_one(struct test *test, int64_t delay_ms)
{
    static const char *const colours[] = {"red", "blue"};
    struct scene *scene = test->scene;
    int32_t partition = (int32_t)random_below(&test->random, PARTITIONS);
    uint64_t lane = random_below(&test->random, 4);
    if (lane > 1) {
        scene_send_delay(scene, partition, delay_ms, delay_ms >= ORDERED_FROM_MS);
        return;
    }
    char target[SCENE_NAME_MAX + 8];
    char value[48];
    snprintf(target, sizeof(target), "%s-%s", scene->prefix, colours[lane]);
    snprintf(value, sizeof(value), "%s %d/%" PRId64, colours[lane], partition, scene->next_offset[partition]);
    scene_send(scene, &(struct scene_event){.partition = partition,
                                            .delay_ms = delay_ms,
                                            .target = target,
                                            .lane = colours[lane],
                                            .ordered = delay_ms >= ORDERED_FROM_MS,
                                            .value = span_of_text(value)});
}

static void send_many(struct test *test, int count, int64_t spread_ms)
{
    for (int i = 0; i < count; i++) {
        send_one(test, (int64_t)random_below(&test->random, (uint64_t)spread_ms));
    }
    scene_flush(test->scene);
}

/* Stopped for longer than its session: either it has joined anew, or it has ended with the reason in its last words. */
static void return_if_ended(struct scene_instance *second)
{
    if (scene_instance_running(second)) {
        return;
    }
    assert_int_equal(tarry_process_wait_exit(second->process, 0), 1);
    assert_true(tarry_process_log_count(second->process, "fenced") > 0);
    scene_instance_launch(second, NULL);
}

/* What the second one does beside: joins, leaves, is killed, comes back when it was fenced. */
static void beside(struct test *test, int kill)
{
    struct scene_instance *second = test->second;
    switch (kill) {
    case 4:
    case 14:
    case 22:
        scene_instance_launch(second, NULL);
        break;
    case 10:
        scene_instance_stop(second);
        break;
    case 17:
        scene_instance_kill(second);
        if (test->lose_disks) {
            scene_instance_lose_disk(second);
        }
        break;
    case 27:
        return_if_ended(second);
        break;
    default:
        break;
    }
}

/* Comes back when the other one has gone on without it. */
static void freeze_and_return(struct test *test)
{
    struct scene_instance *second = test->second;
    scene_instance_await_partitions(second, 1, ALL_OUT_MS);
    tarry_process_signal(second->process, SIGSTOP);
    await_pause_ms(FROZEN_MS);
    scene_instance_await_partitions(test->first, PARTITIONS, ALL_OUT_MS);
    tarry_process_signal(second->process, SIGCONT);
}

static void live_and_die(struct test *test, int kill, int records)
{
    int64_t life_ms = LIFE_MIN_MS + (int64_t)random_below(&test->random, LIFE_MAX_MS - LIFE_MIN_MS);
    scene_instance_launch(test->first, NULL);
    int64_t start_ms = await_mono_ms();
    send_many(test, records, 12000);
    beside(test, kill);
    if (kill == 25) {
        freeze_and_return(test);
    }
    await_pause_ms(start_ms + life_ms - await_mono_ms()); /* the moments of death are what is tested */
    scene_instance_kill(test->first);
    if (test->lose_disks && kill % 2 == 0) {
        scene_instance_lose_disk(test->first);
    }
}

static struct test begin(const char *name, uint64_t seed, bool lose_disks)
{
    struct test test = {.random = random_new(seed), .lose_disks = lose_disks};
    test.scene = scene_open(name, &options);
    test.first = scene_instance_add(test.scene, "first", &options);
    test.second = scene_instance_add(test.scene, "second", &options);
    return test;
}

/* `expected` come out, nothing comes a second time, and nothing comes after. */
static void finish(struct test *test, size_t expected)
{
    struct scene *scene = test->scene;
    scene_instance_start(test->first);
    bool all = scene_await_count(scene, expected, ALL_OUT_MS);
    if (all) {
        scene_instance_stop(test->first);
        if (scene_instance_running(test->second)) {
            scene_instance_stop(test->second);
        }
        scene_read(scene);
    }
    if (expected == ledger_sent_count(scene->ledger)) {
        ledger_assert(scene->ledger, false);
    }
    assert_int_equal(ledger_received_count(scene->ledger), expected);
    for (int kind = LEDGER_REPEATED; kind < LEDGER_KINDS; kind++) {
        assert_int_equal(ledger_violations(scene->ledger, (enum ledger_violation)kind), 0);
    }
    struct claims claims = {.done = 0};
    claims_check(scene, &claims);
    assert_int_equal(claims.done, expected); /* clean ends leave nothing unsaid, and nothing too much is said */
    scene_close(scene);
}

static void thirty_deaths(void **state)
{
    (void)state;
    struct test test = begin("exact", 11, false);
    send_many(&test, 40000, 60000);
    for (int kill = 0; kill < KILLS; kill++) {
        live_and_die(&test, kill, 60000 / KILLS);
    }
    finish(&test, 100000);
}

static void disks_lost_and_one_of_next_month(void **state)
{
    (void)state;
    struct test test = begin("exactbare", 12, true);
    for (int32_t partition = 0; partition < PARTITIONS; partition++) {
        scene_send_delay(test.scene, partition, MONTH_MS, true); /* the first of its partition: nothing below it is ever all done */
    }
    send_many(&test, 8000, 30000);
    for (int kill = 0; kill < KILLS / 2; kill++) {
        live_and_die(&test, kill, 12000 * 2 / KILLS);
    }
    finish(&test, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(thirty_deaths, scene_teardown),
        cmocka_unit_test_teardown(disks_lost_and_one_of_next_month, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
