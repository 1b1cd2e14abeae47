/*
 * R8 met by a takeover, with exactly_once: a target was added or a route changed, and then another instance comes with no disk, or with one of long ago; offsets
 * set by an operator; records expired before they were read. Each has the outcome that docs/operating.md names, a word in the log, and no spin.
 * (tests/e2e/e2e_topics.c has the topics recreated, and offsets set back to the beginning.)
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
#include "tests/support/scene_instance.h"

#define DONE 100
#define PENDING 60
#define OUT_MS 60000
#define MOVED_MS 30000
#define IDLE_MS 1500
#define IDLE_TURNS_MOST 60 /* heartbeats, HTTP and gauges; a spin has thousands */

#define COMMON                                                                                                         \
    .partitions = 1, .kafka = "consumer: {session.timeout.ms: 2000, heartbeat.interval.ms: 300}",                      \
    .more = "delivery: exactly_once\ntransaction_timeout: 1s", .outs = {                                               \
        "@-a",                                                                                                         \
        "@-b"                                                                                                          \
    }

static const struct scene_options plain = {
    COMMON, .source = "envelope: true, routes: {A: \"@-a\"}", .targets = "[{name: b, match: \"@-b\"}]"};
static const struct scene_options target_added = {COMMON,
                                                  .source = "envelope: true, routes: {A: \"@-a\"}",
                                                  .targets = "[{name: b, match: \"@-b\"}, {name: c, match: \"@-c\"}]"};
static const struct scene_options route_changed = {
    COMMON, .source = "envelope: true, routes: {A: \"@-b\"}", .targets = "[{name: b, match: \"@-b\"}]"};

/* By the envelope's type; `suffix`: where it has to come out. */
static void send_some(struct scene *scene, int count, int64_t delay_ms, const char *suffix, const char *lane)
{
    char route[SCENE_NAME_MAX + 8];
    snprintf(route, sizeof(route), "%s%s", scene->prefix, suffix);
    for (int i = 0; i < count; i++) {
        char payload[32];
        char value[96];
        snprintf(payload, sizeof(payload), "%" PRId64, scene->next_offset[0]);
        snprintf(value, sizeof(value), "{\"type\":\"A\",\"payload\":%s}", payload);
        scene_send(scene, &(struct scene_event){.delay_ms = delay_ms + i,
                                                .route = route,
                                                .lane = lane,
                                                .ordered = true,
                                                .value = span_of_text(value),
                                                .payload = span_of_text(payload)});
    }
    scene_flush(scene);
}

/* The group knows how far was read, and by which rules. */
static bool all_committed(void *context)
{
    const struct scene *scene = context;
    return kafka_client_committed(scene->bootstrap, scene->prefix, scene->in, 0, NULL) >= scene->next_offset[0];
}

static bool twice_pending(void *context)
{
    struct scene_instance *instance = context;
    return tarry_process_metric(instance->process, "tarry_pending", "tier=") >= 2 * PENDING;
}

static bool group_is_empty(void *context)
{
    const struct scene *scene = context;
    return kafka_client_group_is_empty(scene->bootstrap, scene->prefix);
}

static void await_nobody(struct scene *scene)
{
    assert_true(await_condition(group_is_empty, scene, MOVED_MS));
}

static void assert_no_spin(struct scene_instance *instance)
{
    double before = tarry_process_metric(instance->process, "tarry_turns_total", NULL);
    await_pause_ms(IDLE_MS); /* how often it turns in this time is what is tested */
    double turns = tarry_process_metric(instance->process, "tarry_turns_total", NULL) - before;
    if (before < 0 || turns > IDLE_TURNS_MOST) {
        fail_msg("%s turned %.0f times within %d ms with nothing to do", instance->name, turns, IDLE_MS);
    }
}

/* It waits for an operator, says so, and does nothing meanwhile. */
static void assert_held(struct scene_instance *instance, const char *word)
{
    char reasons[2048];
    size_t out = ledger_received_count(instance->scene->ledger);
    scene_instance_await_log(instance, word, 0, MOVED_MS);
    tarry_process_wait_not_ready(instance->process, MOVED_MS);
    assert_int_equal(tarry_process_get(instance->process, "/readyz", reasons, sizeof(reasons)), 503);
    assert_non_null(strstr(reasons, "topic_changed"));
    assert_no_spin(instance);
    scene_read(instance->scene);
    assert_int_equal(ledger_received_count(instance->scene->ledger), out);
}

static void finish(struct scene *scene, struct scene_instance *last)
{
    assert_true(scene_await_all(scene, OUT_MS));
    assert_no_spin(last);
    scene_instance_stop(last);
    scene_read(scene);
    ledger_assert(scene->ledger, false);
    scene_close(scene);
}

/* ------------------------------------------------------------------------------------------- rules changed */

/* The first instance, with 100 delivered and 60 pending, has died. */
static struct scene *half_done(const char *name, const struct scene_options *options, int64_t delay_ms, const char *suffix, const char *lane)
{
    struct scene *scene = scene_open(name, options);
    struct scene_instance *first = scene_instance_add(scene, "first", options);
    scene_instance_start(first);
    send_some(scene, DONE, 100, "-a", "default");
    send_some(scene, PENDING, delay_ms, suffix, lane);
    assert_true(scene_await_count(scene, DONE, OUT_MS));
    assert_true(await_condition(all_committed, scene, OUT_MS));
    scene_instance_kill(first);
    return scene;
}

static void target_added_and_no_disk(void **state)
{
    (void)state;
    struct scene *scene = half_done("added", &plain, 6000, "-a", "default");
    struct scene_instance *second = scene_instance_add(scene, "second", &target_added);
    scene_instance_launch(second, NULL);
    assert_held(second, "would be decoded again by the new rules");
    scene_instance_stop(second);
    scene_instance_configure(second, &plain); /* one way out: what it was before */
    scene_instance_start(second);
    finish(scene, second);
}

static void route_changed_and_no_disk(void **state)
{
    (void)state;
    struct scene *scene = half_done("route", &plain, 6000, "-b", "b");
    struct scene_instance *second = scene_instance_add(scene, "second", &route_changed);
    scene_instance_launch(second, NULL);
    assert_held(second, "would be decoded again by the new rules");
    scene_instance_stop(second);
    scene_instance_launch(second, "--accept-change"); /* the other way out: what is pending goes where the new route leads */
    scene_instance_await_log(second, "are decoded again by the new rules", 0, MOVED_MS);
    finish(scene, second);
}

/* With its own disk a change touches nothing that is pending; the other's, of before the change, does not know what came between. */
static void route_changed_and_an_old_disk(void **state)
{
    (void)state;
    struct scene *scene = half_done("olddisk", &plain, 18000, "-a", "default");
    struct scene_instance *first = scene->instances[0];
    struct scene_instance *second = scene_instance_add(scene, "second", &plain);
    scene_instance_start(first); /* and a last checkpoint, for the other one to find */
    scene_instance_stop(first);
    scene_instance_keep_disk(first);
    scene_instance_start(first);
    send_some(scene, PENDING, 16000, "-a", "default");
    assert_true(await_condition(twice_pending, first, OUT_MS));
    scene_instance_stop(first);
    scene_instance_configure(first, &route_changed);
    scene_instance_start(first); /* goes on: all that is pending lies decoded on its disk */
    send_some(scene, PENDING, 2000, "-b", "b");
    assert_true(scene_await_count(scene, DONE + PENDING, OUT_MS));
    scene_instance_stop(first);
    await_nobody(scene);
    scene_instance_put_disk_back(second, first);
    scene_instance_configure(second, &route_changed);
    scene_instance_launch(second, NULL);
    assert_held(second, "would be decoded again by the new rules");
    scene_instance_stop(second);
    await_nobody(scene);
    scene_instance_start(first);
    finish(scene, first);
}

/* ------------------------------------------------------------------------------------------- offsets, log start */

#define UNREAD 30
#define PASSED 10

/* 60 pending, a clean end, 30 more that nobody has read, and a group that an operator may touch. */
static struct scene *stopped_with_unread(const char *name, int64_t delay_ms)
{
    struct scene *scene = half_done(name, &plain, delay_ms, "-a", "default");
    struct scene_instance *first = scene->instances[0];
    scene_instance_start(first);
    scene_instance_stop(first);
    await_nobody(scene);
    send_some(scene, UNREAD, 500, "-a", "default");
    return scene;
}

/* All but `missing` come out, once each. */
static void finish_without(struct scene *scene, size_t missing)
{
    struct scene_instance *first = scene->instances[0];
    size_t expected = ledger_sent_count(scene->ledger) - missing;
    assert_true(scene_await_count(scene, expected, OUT_MS));
    assert_no_spin(first);
    scene_instance_stop(first);
    scene_read(scene);
    assert_int_equal(ledger_received_count(scene->ledger), expected);
    for (int kind = LEDGER_REPEATED; kind < LEDGER_KINDS; kind++) {
        assert_int_equal(ledger_violations(scene->ledger, (enum ledger_violation)kind), 0);
    }
    scene_close(scene);
}

/* Where unread records begin: behind what was sent, since nothing else stands in the input topic. */
static int64_t unread_from(const struct scene *scene)
{
    return scene->next_offset[0] - UNREAD;
}

static void offsets_set_forward_with_the_store(void **state)
{
    (void)state;
    struct scene *scene = stopped_with_unread("forward", 4000);
    kafka_client_commit(scene->bootstrap, scene->prefix, scene->in, 0, unread_from(scene) + PASSED, NULL);
    scene_instance_start(scene->instances[0]);
    scene_instance_await_log(scene->instances[0], "are passed over; what the checkpoint has pending still leaves", 0, OUT_MS);
    finish_without(scene, PASSED);
}

static void offsets_set_forward_without_the_store(void **state)
{
    (void)state;
    struct scene *scene = stopped_with_unread("forwardbare", 6000);
    kafka_client_commit(scene->bootstrap, scene->prefix, scene->in, 0, unread_from(scene) + PASSED, NULL);
    scene_instance_lose_disk(scene->instances[0]);
    scene_instance_start(scene->instances[0]);
    scene_instance_await_log(scene->instances[0], "what was pending below is passed over", 0, OUT_MS);
    finish_without(scene, PASSED + PENDING);
}

/* The log begins beyond what was read: what is pending is on the disk, what nobody had read is gone, and the log names it. */
static void unread_ones_expired(void **state)
{
    (void)state;
    struct scene *scene = stopped_with_unread("expired", 4000);
    kafka_topics_delete_records(scene->bootstrap, scene->in, 0, unread_from(scene) + PASSED);
    scene_instance_start(scene->instances[0]);
    scene_instance_await_log(scene->instances[0], "have left the topic by its retention", 0, OUT_MS);
    finish_without(scene, PASSED);
}

/* The same with the disk lost, too. */
static void pending_ones_expired_and_no_disk(void **state)
{
    (void)state;
    struct scene *scene = stopped_with_unread("expiredbare", 6000);
    kafka_topics_delete_records(scene->bootstrap, scene->in, 0, DONE + PENDING / 2);
    scene_instance_lose_disk(scene->instances[0]);
    scene_instance_start(scene->instances[0]);
    scene_instance_await_log(scene->instances[0], "have left the topic by its retention", 0, OUT_MS);
    finish_without(scene, PENDING / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(target_added_and_no_disk, scene_teardown),
        cmocka_unit_test_teardown(route_changed_and_no_disk, scene_teardown),
        cmocka_unit_test_teardown(route_changed_and_an_old_disk, scene_teardown),
        cmocka_unit_test_teardown(offsets_set_forward_with_the_store, scene_teardown),
        cmocka_unit_test_teardown(offsets_set_forward_without_the_store, scene_teardown),
        cmocka_unit_test_teardown(unread_ones_expired, scene_teardown),
        cmocka_unit_test_teardown(pending_ones_expired_and_no_disk, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
