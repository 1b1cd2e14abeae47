/*
 * Takeover between two instances, with both ways of rebalancing and in both modes of delivery: one joins, leaves, dies, comes back with an empty disk,
 * and with a disk of long ago. Static members; no state is shipped. Nothing is lost and nothing leaves early; with exactly_once nothing comes twice.
 */
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
#define RECORDS 6000
#define FIRST_MS 3000
#define SPREAD_MS 16000
#define OUT_MS 60000
#define MOVED_MS 30000 /* a session, a rebalance, and a transaction that has to end first */

#define SESSION "session.timeout.ms: 2500, heartbeat.interval.ms: 300, partition.assignment.strategy: "
#define EXACTLY "delivery: exactly_once\ntransaction_timeout: 1500ms"
#define LANES .partitions = PARTITIONS, .targets = "[{name: red, match: \"@-red\"}]"

static const struct scene_options eager_exactly = {
    LANES, .kafka = "consumer: {" SESSION "range}", .more = EXACTLY, .outs = {"@-red"}};
static const struct scene_options cooperative_exactly = {
    LANES, .kafka = "consumer: {" SESSION "cooperative-sticky}", .more = EXACTLY, .outs = {"@-red"}};
static const struct scene_options eager_at_least = {LANES, .kafka = "consumer: {" SESSION "range}", .outs = {"@-red"}};
static const struct scene_options cooperative_at_least = {
    LANES, .kafka = "consumer: {" SESSION "cooperative-sticky}", .outs = {"@-red"}};

static void send_many(struct scene *scene, int count, int64_t first_ms, int64_t spread_ms)
{
    char red[SCENE_NAME_MAX + 8];
    snprintf(red, sizeof(red), "%s-red", scene->prefix);
    int64_t due_ms = await_wall_ms() + first_ms;
    for (int i = 0; i < count; i++) {
        char value[32];
        snprintf(value, sizeof(value), "record %d", i);
        scene_send(scene, &(struct scene_event){.partition = i % PARTITIONS,
                                                .due_ms = due_ms + (int64_t)(i * 7919 % count) * spread_ms / count,
                                                .target = i % 3 == 0 ? red : NULL,
                                                .lane = i % 3 == 0 ? "red" : "default",
                                                .ordered = true,
                                                .value = span_of_text(value)});
    }
    scene_flush(scene);
}

static void await_shared(struct scene_instance *first, struct scene_instance *second)
{
    scene_instance_await_partitions(first, PARTITIONS / 2, MOVED_MS);
    scene_instance_await_partitions(second, PARTITIONS / 2, MOVED_MS);
}

static void join(struct scene_instance *one, struct scene_instance *other)
{
    scene_instance_launch(one, NULL);
    await_shared(one, other);
}

static void await_all_with(struct scene_instance *other)
{
    scene_instance_await_partitions(other, PARTITIONS, MOVED_MS);
}

static void come_and_go(struct scene_instance *first, struct scene_instance *second)
{
    join(second, first);
    scene_instance_stop(second); /* it stays a member until its session is over */
    await_all_with(first);
    join(second, first);
    scene_instance_kill(second);
    await_all_with(first);
    scene_instance_lose_disk(second);
    join(second, first);
    scene_instance_kill(first); /* back within its session: no rebalance, and a disk that knows little of what was done since */
    scene_instance_put_disk_back(first, first);
    scene_instance_start(first);
    await_shared(first, second);
    scene_instance_kill(first);
    await_all_with(second);
    scene_instance_put_disk_back(first, first);
    join(first, second);
}

static size_t count_logged(const struct scene_instance *first, const struct scene_instance *second, const char *event)
{
    return tarry_process_log_count(first->process, event) + tarry_process_log_count(second->process, event);
}

static void take_over(const char *name, const struct scene_options *options)
{
    bool exactly = options->more != NULL;
    struct scene *scene = scene_open(name, options);
    struct scene_instance *first = scene_instance_add(scene, "first", options);
    struct scene_instance *second = scene_instance_add(scene, "second", options);
    scene_instance_start(first);
    send_many(scene, RECORDS, FIRST_MS, SPREAD_MS);
    assert_true(scene_await_count(scene, RECORDS / 50, OUT_MS));
    scene_instance_stop(first);
    scene_instance_keep_disk(first);
    scene_instance_start(first);
    come_and_go(first, second);
    scene_read(scene);
    fprintf(stderr, "%zu had come out at the end of coming and going; %zu look-ups and %zu commits failed\n", ledger_received_count(scene->ledger),
            count_logged(first, second, "partition_waits"), count_logged(first, second, "commit_failed"));
    send_many(scene, RECORDS / 10, 500, 1000);
    assert_true(scene_await_all(scene, OUT_MS));
    scene_instance_stop(first);
    scene_instance_stop(second);
    scene_read(scene);
    ledger_assert(scene->ledger, !exactly);
    scene_close(scene);
}

static void eager_exactly_once(void **state)
{
    (void)state;
    take_over("eagerexact", &eager_exactly);
}

static void cooperative_exactly_once(void **state)
{
    (void)state;
    take_over("coopexact", &cooperative_exactly);
}

static void eager_at_least_once(void **state)
{
    (void)state;
    take_over("eager", &eager_at_least);
}

static void cooperative_at_least_once(void **state)
{
    (void)state;
    take_over("coop", &cooperative_at_least);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(eager_exactly_once, scene_teardown),
        cmocka_unit_test_teardown(cooperative_exactly_once, scene_teardown),
        cmocka_unit_test_teardown(eager_at_least_once, scene_teardown),
        cmocka_unit_test_teardown(cooperative_at_least_once, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
