/*
 * Topics and offsets that change under a running or a stopped tarry (R8): nothing pending is lost, nothing is skipped
 * in silence.
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

#include <librdkafka/rdkafka.h>

#include "tests/support/await.h"
#include "tests/support/scene.h"
#include "tests/support/temp.h"

/* Discovery and session ends within seconds instead of minutes. */
#define QUICK                                                                                                          \
    "topic.metadata.refresh.interval.ms: 1000, consumer: {session.timeout.ms: 6000, heartbeat.interval.ms: 1000}"
#define SESSION_OVER_MS 20000

static bool all_read(void *context)
{
    struct scene *scene = context;
    return tarry_process_metric(scene->process, "tarry_records_read_total", NULL) >=
           (double)ledger_sent_count(scene->ledger);
}

static void send_many(struct scene *scene, int count, int64_t delay_ms)
{
    for (int i = 0; i < count; i++) {
        scene_send_delay(scene, i % scene->partitions, delay_ms + i, true);
    }
    scene_flush(scene);
}

/* A static member stays in its group until its session ends; an operator's tools work only after that. */
static bool group_is_empty(void *context)
{
    const struct scene *scene = context;
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", scene->bootstrap, text, sizeof(text));
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    const struct rd_kafka_group_list *groups = NULL;
    bool empty = false;
    if (rd_kafka_list_groups(client, scene->prefix, &groups, 10000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        empty = groups->group_cnt == 1 && groups->groups[0].member_cnt == 0;
        rd_kafka_group_list_destroy(groups);
    }
    rd_kafka_destroy(client);
    return empty;
}

/* ---------------------------------------------------------------------------------------- partitions added */

static void partitions_added(void **state)
{
    (void)state;
    struct scene *scene = scene_open("added", &(struct scene_options){.partitions = 1, .kafka = QUICK});
    scene_start(scene);
    send_many(scene, 20, 1000);
    kafka_topics_add_partitions(scene->bootstrap, scene->in, 4);
    scene->partitions = 4;
    kafka_client_producer_close(scene->producer); /* a new one knows of the new partitions at once */
    scene->producer = kafka_client_producer_open(scene->bootstrap, NULL);
    for (int i = 0; i < 100; i++) { /* at once: before tarry has found them */
        scene_send_delay(scene, 1 + i % 3, 1000, false);
    }
    scene_flush(scene);
    assert_true(scene_await_all(scene, 60000));
    scene_finish(scene, 1000, false);
}

/* ------------------------------------------------------------------------------------------ topic recreated */

/* What is pending still fires, from memory or store; then tarry either reads the new topic or says that it does not. */
static void topic_recreated(void **state)
{
    (void)state;
    struct scene *scene = scene_open("recreated", &(struct scene_options){.partitions = 1, .kafka = QUICK});
    scene_start(scene);
    send_many(scene, 50, 12000);
    assert_true(await_condition(all_read, scene, 8000));
    kafka_topics_delete(scene->bootstrap, scene->in);
    await_pause_ms(3000);
    kafka_topics_create(scene->bootstrap, scene->in, 1, NULL);
    static const struct record_header control[] = {{{(const uint8_t *)"tarry-delay", 11}, {(const uint8_t *)"500", 3}}};
    kafka_client_producer_close(scene->producer);
    scene->producer = kafka_client_producer_open(scene->bootstrap, NULL);
    for (int i = 0; i < 10; i++) {
        kafka_client_produce(scene->producer, scene->in,
                             &(struct kafka_client_output){
                                 .value = span_of_text("of the new topic"), .headers = control, .header_count = 1});
    }
    scene_flush(scene);
    assert_true(scene_await_all(scene, 30000)); /* the 50 */
    tarry_process_wait_not_ready(scene->process, 30000);
    char reasons[2048];
    assert_int_equal(tarry_process_get(scene->process, "/readyz", reasons, sizeof(reasons)), 503);
    fprintf(stderr, "not ready: %s\n", reasons);
    assert_non_null(strstr(reasons, scene->in));
    scene_stop(scene);
    scene_read(scene);
    assert_int_equal(scene->outputs.count, 50);
    assert_int_equal(ledger_repeat_count(scene->ledger), 0);
    assert_int_equal(ledger_violations(scene->ledger, LEDGER_EARLY), 0);
    assert_int_equal(ledger_violations(scene->ledger, LEDGER_ORDER), 0);
    scene_launch(scene, "--accept-change"); /* the operator's word: from now on it is the new topic that counts */
    tarry_process_wait_ready(scene->process, 60000);
    assert_int_equal(kafka_client_read(scene->reader, &scene->outputs, 60, 20000), 60);
    for (size_t i = 50; i < 60; i++) {
        assert_true(span_equals_text(scene->outputs.items[i].record.value, "of the new topic"));
    }
    scene_stop(scene);
    scene_close(scene);
}

/* The same while tarry is stopped, soon after a first start: the group's offset goes with the topic, so only the checkpoint can tell. */
static void topic_recreated_while_stopped(void **state)
{
    (void)state;
    struct scene *scene = scene_open("away", &(struct scene_options){.partitions = 1, .kafka = QUICK});
    scene_start(scene);
    send_many(scene, 50, 12000);
    assert_true(await_condition(all_read, scene, 8000));
    scene_stop(scene);
    kafka_topics_delete(scene->bootstrap, scene->in);
    await_pause_ms(3000); /* the broker deletes in its own time, and says nothing when it is done */
    kafka_topics_create(scene->bootstrap, scene->in, 1, NULL);
    kafka_client_producer_close(scene->producer);
    scene->producer = kafka_client_producer_open(scene->bootstrap, NULL);
    static const struct record_header control[] = {{{(const uint8_t *)"tarry-delay", 11}, {(const uint8_t *)"500", 3}}};
    for (int i = 0; i < 60; i++) { /* more than there were: the new log reaches beyond the old position */
        kafka_client_produce(scene->producer, scene->in,
                             &(struct kafka_client_output){
                                 .value = span_of_text("of the new topic"), .headers = control, .header_count = 1});
    }
    scene_flush(scene);
    scene_launch(scene, NULL);
    assert_true(scene_await_all(scene, 30000)); /* the 50 */
    char reasons[2048];
    assert_int_equal(tarry_process_get(scene->process, "/readyz", reasons, sizeof(reasons)), 503);
    assert_non_null(strstr(reasons, "topic_changed"));
    scene_stop(scene);
    scene_launch(scene, "--accept-change");
    tarry_process_wait_ready(scene->process, 60000);
    assert_int_equal(kafka_client_read(scene->reader, &scene->outputs, 110, 20000), 110);
    for (size_t i = 50; i < 110; i++) {
        assert_true(span_equals_text(scene->outputs.items[i].record.value, "of the new topic"));
    }
    scene_stop(scene);
    scene_close(scene);
}

/* --------------------------------------------------------------------------------------------- offsets reset */

/* 100 delivered, 50 pending, a clean end, and a group that an operator may touch. */
static struct scene *half_done(const char *name)
{
    struct scene *scene = scene_open(name, &(struct scene_options){.partitions = 2, .kafka = QUICK});
    scene_start(scene);
    send_many(scene, 50, 40000);
    send_many(scene, 100, 500);
    assert_true(scene_await_count(scene, 100, 20000));
    assert_true(await_condition(all_read, scene, 5000));
    scene_stop(scene);
    assert_true(await_condition(group_is_empty, scene, SESSION_OVER_MS));
    return scene;
}

static void reset_to_earliest(struct scene *scene)
{
    kafka_client_commit(scene->bootstrap, scene->prefix, scene->in, 0, 0, NULL);
    kafka_client_commit(scene->bootstrap, scene->prefix, scene->in, 1, 0, NULL);
}

/* The local checkpoint still says what is done: read again, nothing repeated. */
static void offsets_reset_with_the_store(void **state)
{
    (void)state;
    struct scene *scene = half_done("reset");
    reset_to_earliest(scene);
    scene_start(scene);
    scene_finish(scene, 60000, false);
}

/* Without it the operator's order stands: all is read from there, what had gone out goes out again, under its own
 * identity. */
static void offsets_reset_without_the_store(void **state)
{
    (void)state;
    struct scene *scene = half_done("resetbare");
    reset_to_earliest(scene);
    temp_empty(scene->store_path);
    scene_start(scene);
    assert_true(scene_await_all(scene, 60000));
    scene_stop(scene);
    scene_read(scene);
    assert_int_equal(ledger_repeat_count(scene->ledger), 100);
    ledger_assert(scene->ledger, true);
    scene_close(scene);
}

static void group_deleted(void **state)
{
    (void)state;
    struct scene *scene = half_done("deleted");
    kafka_topics_delete_group(scene->bootstrap, scene->prefix);
    scene_start(scene);
    scene_finish(scene, 60000, false);
}

/* ------------------------------------------------------------------------------------------------- retention */

/* Records past the topic's retention fire from the store, with their bytes, after a restart too. */
static void retention_passed(void **state)
{
    (void)state;
    struct scene *scene = scene_open("retention", &(struct scene_options){.partitions = 1});
    scene_start(scene);
    send_many(scene, 200, 8000);
    assert_true(await_condition(all_read, scene, 5000));
    scene_stop(scene);
    kafka_topics_delete_records(scene->bootstrap, scene->in, 0, 150);
    scene_start(scene);
    scene_finish(scene, 30000, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(partitions_added, scene_teardown),
        cmocka_unit_test_teardown(topic_recreated, scene_teardown),
        cmocka_unit_test_teardown(topic_recreated_while_stopped, scene_teardown),
        cmocka_unit_test_teardown(offsets_reset_with_the_store, scene_teardown),
        cmocka_unit_test_teardown(offsets_reset_without_the_store, scene_teardown),
        cmocka_unit_test_teardown(group_deleted, scene_teardown),
        cmocka_unit_test_teardown(retention_passed, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
