/* `delivery` changed on live data, there and back, by clean stops and by kill -9; and both modes side by side in one group. */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/support/await.h"
#include "tests/support/scene.h"
#include "tests/support/scene_instance.h"

#define PARTITIONS 4
#define RECORDS 12000
#define SPREAD_MS 10000
#define OUT_MS 60000

#define COMMON                                                                                                                                      \
    .partitions = PARTITIONS, .kafka = "consumer: {session.timeout.ms: 4000, heartbeat.interval.ms: 500}",                                         \
    .targets = "[{name: red, match: \"@-red\"}]", .outs = {                                                                                        \
        "@-red"                                                                                                                                     \
    }

static const struct scene_options at_least = {COMMON, .more = "delivery: at_least_once"};
static const struct scene_options exactly = {COMMON, .more = "delivery: exactly_once\ntransaction_timeout: 3s"};

static void send_spread(struct scene *scene, int64_t from_ms)
{
    char red[SCENE_NAME_MAX + 8];
    snprintf(red, sizeof(red), "%s-red", scene->prefix);
    int64_t due_ms = await_wall_ms() + from_ms;
    for (int i = 0; i < RECORDS; i++) {
        char value[32];
        snprintf(value, sizeof(value), "record %d", i);
        scene_send(scene, &(struct scene_event){.partition = i % PARTITIONS,
                                                .due_ms = due_ms + (int64_t)(i * 7919 % RECORDS) * SPREAD_MS / RECORDS,
                                                .target = i % 3 == 0 ? red : NULL,
                                                .lane = i % 3 == 0 ? "red" : "default",
                                                .ordered = true,
                                                .value = span_of_text(value)});
    }
    scene_flush(scene);
}

/* In the middle of what is due: a share of all has come out, and more comes each moment. */
static void run_until(struct scene *scene, int tenths)
{
    scene_start(scene);
    assert_true(scene_await_count(scene, (size_t)(RECORDS / 10 * tenths), OUT_MS));
}

static void there_and_back(void **state)
{
    (void)state;
    struct scene *scene = scene_open("change", &at_least);
    send_spread(scene, 2000);
    run_until(scene, 2);
    scene_stop(scene);
    scene_configure(scene, &exactly);
    run_until(scene, 5);
    scene_stop(scene);
    scene_configure(scene, &at_least);
    run_until(scene, 8);
    scene_stop(scene);
    scene_configure(scene, &exactly);
    scene_start(scene);
    scene_finish(scene, OUT_MS, false);
}

/* What the last life at least once had acknowledged and not committed comes again; nothing else does, and nothing is missing. */
static void there_and_back_by_kills(void **state)
{
    (void)state;
    struct scene *scene = scene_open("changekill", &at_least);
    send_spread(scene, 2000);
    run_until(scene, 2);
    scene_kill(scene);
    scene_configure(scene, &exactly);
    run_until(scene, 4);
    scene_read(scene);
    size_t repeats = ledger_repeat_count(scene->ledger);
    for (int life = 5; life < 8; life++) { /* exactly once among themselves */
        scene_kill(scene);
        run_until(scene, life);
    }
    scene_read(scene);
    assert_int_equal(ledger_repeat_count(scene->ledger), repeats);
    scene_kill(scene);
    scene_configure(scene, &at_least);
    run_until(scene, 9);
    scene_read(scene);
    assert_int_equal(ledger_repeat_count(scene->ledger), repeats); /* the change itself repeats nothing */
    scene_finish(scene, OUT_MS, true);
}

static bool group_is_empty(void *context)
{
    const struct scene *scene = context;
    return kafka_client_group_is_empty(scene->bootstrap, scene->prefix);
}

/* A rolling upgrade: both modes own partitions of one group; all ends are clean, so nothing is doubled in either. */
static void side_by_side(void **state)
{
    (void)state;
    struct scene *scene = scene_open("side", &at_least);
    struct scene_instance *first = scene_instance_add(scene, "first", &at_least);
    struct scene_instance *second = scene_instance_add(scene, "second", &at_least);
    scene_instance_start(first);
    scene_instance_start(second);
    send_spread(scene, 4000);
    scene_instance_await_partitions(first, PARTITIONS / 2, OUT_MS);
    scene_instance_await_partitions(second, PARTITIONS / 2, OUT_MS);
    assert_true(scene_await_count(scene, RECORDS / 10, OUT_MS));
    scene_instance_stop(first);
    scene_instance_configure(first, &exactly);
    scene_instance_start(first);
    assert_true(scene_await_count(scene, RECORDS / 10 * 5, OUT_MS));
    scene_instance_stop(second);
    scene_instance_configure(second, &exactly);
    scene_instance_start(second);
    assert_true(scene_await_all(scene, OUT_MS));
    scene_instance_stop(first);
    scene_instance_stop(second);
    scene_read(scene);
    ledger_assert(scene->ledger, false);
    assert_true(await_condition(group_is_empty, scene, OUT_MS));
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(there_and_back, scene_teardown),
        cmocka_unit_test_teardown(there_and_back_by_kills, scene_teardown),
        cmocka_unit_test_teardown(side_by_side, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
