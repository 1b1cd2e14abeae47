/*
 * Metrics over a restart, as docs/metrics.md says: counters and histograms begin at 0 with each process, gauges are whole again, those of dead letters from JetStream. And
 * the aliases say what tarry's own names say.
 */
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
#include "tests/support/exposition.h"
#include "tests/support/scene_dlq.h"

#define EVENTS 5
#define WAITING 3 /* due in an hour */
#define IN_TIME_MS 30000
#define BODY_MAX (1u << 20)

static double metric(struct scene *scene, const char *name, const char *label)
{
    return tarry_process_metric(scene->process, name, label);
}

static void await_metric(struct scene *scene, const char *name, const char *label, double wanted)
{
    int64_t limit = await_mono_ms() + IN_TIME_MS;
    double found;
    while ((found = metric(scene, name, label)) < wanted || found > wanted) {
        if (await_mono_ms() > limit) {
            fail_msg("%s is %g, not %g", name, found, wanted);
        }
        await_pause_ms(50);
    }
}

static void assert_is(double found, double wanted)
{
    assert_true(found >= wanted && found <= wanted);
}

static void send_all(struct scene *scene)
{
    const struct record_header bad = {.name = span_of_text("tarry-delay"), .value = span_of_text("soon")};
    for (int i = 0; i < EVENTS; i++) {
        scene_send_delay(scene, 0, 100, true);
    }
    for (int i = 0; i < WAITING; i++) {
        scene_send_delay(scene, 0, 3600 * 1000 + i, true);
    }
    scene_send_apart(scene, &(struct scene_event){.delay_header = "", .headers = &bad, .header_count = 1, .value = span_of_text("x")});
    scene_flush(scene);
}

/* What a running process says that has done its work. */
static void assert_gauges(struct scene *scene)
{
    await_metric(scene, "tarry_pending", NULL, WAITING);
    await_metric(scene, "tarry_dead_letters", "parked", 1);
    await_metric(scene, "tarry_overdue", NULL, 0);
    await_metric(scene, "tarry_in_flight", NULL, 0);
    await_metric(scene, "tarry_connection_up", NULL, 2);
    assert_true(metric(scene, "tarry_pending_bytes", NULL) > 0);
    assert_true(metric(scene, "tarry_next_due_timestamp_seconds", NULL) > 0);
    assert_true(metric(scene, "tarry_oldest_dead_letter_seconds", "parked") >= 0);
}

static void restart_begins_at_nothing(void **state)
{
    (void)state;
    static const char *const counters[] = {"tarry_delivered_total", "tarry_records_refused_total", "tarry_parked_total", "tarry_lateness_seconds_count",
                                           "tarry_lateness_seconds_sum", "tarry_delivery_seconds_count"};
    struct scene *scene = scene_open("metrics", &(struct scene_options){.letters = true});
    scene_start(scene);
    send_all(scene);
    assert_true(scene_await_count(scene, EVENTS, IN_TIME_MS));
    await_metric(scene, "tarry_delivered_total", NULL, EVENTS);
    await_metric(scene, "tarry_parked_total", NULL, 1);
    assert_gauges(scene);
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        assert_true(metric(scene, counters[i], NULL) > 0);
    }
    assert_is(metric(scene, "tarry_letters_total", "_refused"), 1);
    double started = metric(scene, "process_start_time_seconds", NULL);
    scene_stop(scene);
    scene_start(scene);
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        assert_is(metric(scene, counters[i], NULL), 0);
    }
    assert_is(metric(scene, "tarry_letters_total", NULL), -1); /* not counted yet: no such series */
    assert_true(metric(scene, "process_start_time_seconds", NULL) > started);
    assert_gauges(scene);
    scene_send_delay(scene, 0, 100, true);
    scene_flush(scene);
    await_metric(scene, "tarry_delivered_total", NULL, 1); /* and count on from there */
    scene_close(scene);
}

/* Waits until a pending record has this much headroom at most, and returns it. */
static double await_headroom(struct scene *scene, double most)
{
    int64_t limit = await_mono_ms() + IN_TIME_MS;
    double found;
    while ((found = metric(scene, "tarry_retention_headroom_seconds", NULL)) < 0 || found > most) {
        if (await_mono_ms() > limit) {
            fail_msg("the headroom is %g s, not %g at most", found, most);
        }
        await_pause_ms(50);
    }
    return found;
}

static void headroom_is_what_is_left_of_the_retention(void **state)
{
    (void)state;
    static const char *const minutes[] = {"retention.ms=90000", NULL};
    struct scene *scene = scene_open("headroom", &(struct scene_options){.in_settings = minutes, .more = "copy_forward: {enabled: false}"});
    scene_start(scene);
    await_metric(scene, "tarry_retention_seconds", NULL, 90);
    assert_is(metric(scene, "tarry_retention_headroom_seconds", NULL), -1); /* nothing is pending: there is no such sample */
    scene_send_delay(scene, 0, 3600 * 1000, true);
    scene_flush(scene);
    int64_t sent_ms = await_wall_ms();
    double first = await_headroom(scene, 90);
    double age = (double)(await_wall_ms() - sent_ms) / 1000;
    assert_true(first > 90 - age - 5 && first <= 90);
    assert_true(await_headroom(scene, first - 2) >= 0); /* and it gets less */
    scene_send_delay(scene, 0, 3600 * 1000, true);
    scene_flush(scene);
    kafka_topics_delete_records(scene->bootstrap, scene->in, 0, 1); /* the topic has the first no more */
    assert_is(await_headroom(scene, 0), 0);
    scene_close(scene);
}

/* The whole exposition at one moment. Owned by the caller. */
static char *scrape(struct scene *scene)
{
    char problem[4096];
    char *body = memory_new(BODY_MAX, 1);
    assert_int_equal(tarry_process_get(scene->process, "/metrics", body, BODY_MAX), 200);
    if (!exposition_check(body, problem, sizeof(problem))) {
        fail_msg("/metrics is malformed: %s", problem);
    }
    return body;
}

static void aliases_say_the_same(void **state)
{
    (void)state;
    struct scene *scene = scene_open("aliases", &(struct scene_options){.more = "metrics: {aliases: true}"});
    scene_start(scene);
    for (int i = 0; i < EVENTS; i++) {
        scene_send_delay(scene, 0, i == 0 ? 3600 * 1000 : 100, true);
    }
    scene_flush(scene);
    await_metric(scene, "tarry_delivered_total", NULL, EVENTS - 1);
    char *text = scrape(scene);
    assert_is(exposition_value(text, "pending_notifications_total"), 1);
    assert_is(exposition_value(text, "scheduler_running_tasks"), 0);
    assert_is(exposition_value(text, "scheduler_task_executions_total{status=\"success\"}"), EVENTS - 1);
    assert_is(exposition_value(text, "scheduler_task_executions_total{status=\"failure\"}"), 0);
    assert_is(exposition_value(text, "notification_send_latency_seconds_count"), EVENTS - 1);
    assert_is(exposition_value(text, "notification_send_latency_seconds_sum"), exposition_value(text, "tarry_lateness_seconds_sum{target=\"default\"}"));
    assert_is(exposition_value(text, "scheduler_task_duration_seconds_sum"), exposition_value(text, "tarry_delivery_seconds_sum"));
    free(text);
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(restart_begins_at_nothing, scene_teardown),
        cmocka_unit_test_teardown(headroom_is_what_is_left_of_the_retention, scene_teardown),
        cmocka_unit_test_teardown(aliases_say_the_same, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
