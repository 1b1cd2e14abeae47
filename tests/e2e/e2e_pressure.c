/* Too much of everything: small queues and limits are back-pressure, never a failure, and never lose the place in the
 * group. */
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

/* Five thousand due in one second, a local queue of a hundred, and a broker that says nothing for 20 s. */
static void local_queue_full(void **state)
{
    (void)state;
    struct scene *scene = scene_open(
        "queue", &(struct scene_options){.partitions = 2, .kafka = "producer: {queue.buffering.max.messages: 100}"});
    scene_start(scene);
    int64_t due_ms = await_wall_ms() + 6000;
    for (int i = 0; i < 5000; i++) {
        scene_send(scene, &(struct scene_event){
                              .partition = i % 2, .due_ms = due_ms + i % 1000, .value = span_of_text("one of many")});
    }
    scene_flush(scene);
    assert_true(scene_await_count(scene, 1, 20000));
    kafka_broker_freeze(scene_broker());
    int64_t cpu_ms = tarry_process_cpu_ms(scene->process);
    double turns = tarry_process_metric(scene->process, "tarry_turns_total", NULL);
    for (int second = 0; second < 20; second++) {
        assert_int_equal(tarry_process_get(scene->process, "/livez", NULL, 0), 200);
        await_pause_ms(1000);
    }
    cpu_ms = tarry_process_cpu_ms(scene->process) - cpu_ms;
    turns = tarry_process_metric(scene->process, "tarry_turns_total", NULL) - turns;
    kafka_broker_thaw(scene_broker());
    fprintf(stderr, "%" PRId64 " ms of CPU and %.0f turns in 20 s of silence\n", cpu_ms, turns);
    assert_true(
        turns <
        400); /* our own; a thread of librdkafka 2.0.2 spins while all its requests are unanswered and more is queued */
    assert_true(scene_await_all(scene, 60000));
    scene_assert_none_refused(scene);
    scene_finish(scene, 1000, true); /* a request that timed out unanswered may have arrived */
}

/* Tiny memory and a lane that stands still for longer than max.poll.interval.ms: reading is paused and the member stays
 * in its group. */
static void held_longer_than_the_poll_interval(void **state)
{
    (void)state;
    struct scene *scene = scene_open(
        "poll",
        &(struct scene_options){
            .partitions = 2,
            .kafka = "consumer: {max.poll.interval.ms: 10000, session.timeout.ms: 8000, heartbeat.interval.ms: 1000}",
            .targets = "[{name: held, match: \"@-held\", max_in_flight: 10}]",
            .store_size = "1MiB",
            .more = "unknown_topic_grace: 120s\nmemory: {unwritten: 1MiB, entries: 10000}"});
    char held[SCENE_NAME_MAX + 8];
    char value[1000];
    memset(value, 'h', sizeof(value));
    snprintf(held, sizeof(held), "%s-held", scene->prefix);
    scene_start(scene);
    for (int i = 0; i < 6000; i++) { /* 6 MB: more than store and memory hold */
        scene_send(scene, &(struct scene_event){.partition = i % 2,
                                                .delay_ms = 100,
                                                .target = held,
                                                .lane = "held",
                                                .value = {(const uint8_t *)value, sizeof(value)}});
    }
    scene_flush(scene);
    tarry_process_wait_not_ready(scene->process, 30000);
    await_pause_ms(25000); /* two and a half poll intervals: what is tested is that nothing happens */
    assert_true(tarry_process_running(scene->process));
    double read = tarry_process_metric(scene->process, "tarry_records_read_total", NULL);
    assert_true(read < 6000);
    assert_int_equal(tarry_process_log_count(scene->process, "MAXPOLL"), 0);
    static const char *const append_time[] = {"message.timestamp.type=LogAppendTime", NULL};
    kafka_topics_create(scene->bootstrap, held, 1, append_time);
    const char *const topics[] = {held, NULL};
    struct kafka_client_reader *reader = kafka_client_reader_open(scene->bootstrap, topics);
    struct kafka_client_records records = {NULL, 0, 0};
    assert_int_equal(kafka_client_read(reader, &records, 6000, 60000), 6000);
    kafka_client_records_free(&records);
    kafka_client_reader_close(reader);
    scene_assert_none_refused(scene);
    scene_stop(scene);
    scene_read_topic(scene, held);
    ledger_assert(scene->ledger, false);
    scene_close(scene);
}

/* Far ones do not stand in the way of near ones, and a backlog does not end up in memory. */
static void far_backlog_does_not_block(void **state)
{
    (void)state;
    struct scene *scene = scene_open(
        "backlog", &(struct scene_options){.partitions = 1, .more = "memory: {unwritten: 2MiB, entries: 10000}"});
    char value[2000];
    memset(value, 'f', sizeof(value));
    for (int i = 0; i < 30000; i++) { /* 60 MB, due in an hour */
        scene_send(scene,
                   &(struct scene_event){.delay_ms = 3600 * 1000, .value = {(const uint8_t *)value, sizeof(value)}});
    }
    scene_flush(scene);
    scene_start(scene);
    scene_send_delay(scene, 0, 1000, true);
    scene_flush(scene);
    assert_true(scene_await_count(scene, 1, 30000));
    assert_true(ledger_lateness_max_ms(scene->ledger) < 5000);
    int64_t rss_kib = tarry_process_rss_anon_kib(scene->process);
    fprintf(stderr, "60 MB pending in %" PRId64 " KiB of anonymous memory\n", rss_kib);
    assert_true(rss_kib < 200 * 1024);
    scene_stop(scene);
    scene_read(scene);
    assert_int_equal(ledger_received_count(scene->ledger), 1);
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(local_queue_full, scene_teardown),
        cmocka_unit_test_teardown(held_longer_than_the_poll_interval, scene_teardown),
        cmocka_unit_test_teardown(far_backlog_does_not_block, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
