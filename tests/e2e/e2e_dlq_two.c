/*
 * Two groups on one NATS (as two clusters would be: streams are owned by cluster and group). With streams of their own they do not meet, though their topics
 * have the same names. With the same streams the second is refused in words, keeps its records in Kafka, and touches nothing of the first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/await.h"
#include "tests/support/http_get.h"
#include "tests/support/scene_dlq.h"
#include "tests/support/scene_letters.h"
#include "tests/support/temp.h"

#define RECORDS 20
#define READY_MS 60000
#define STOP_MS 8000

#define OPTIONS(match, backoff)                                                                                                                 \
    {                                                                                                                                           \
        .kafka = "consumer: {session.timeout.ms: 4000, heartbeat.interval.ms: 500}", .shared_input = true, .letters = true,                     \
        .dlq = "retry_later: 1s",                                                                                                               \
        .targets = "[{name: orders, match: \"" match "\", retry: {max_deliver: 3, backoff: " backoff ", backoff_max: 1h, factor: 1, jitter: 0}}]", \
        .more = "unknown_topic_grace: 300ms"                                                                                                    \
    }

/* The other group: a view of the scene with names of its own, and its process. */
struct other {
    struct scene view;
    char *store_path;
    char *config_path;
    char *log_path;
    int port;
};

static struct other other;

static void open_other(const struct scene *scene, const struct scene_options *options)
{
    other.view = *scene;
    other.view.process = NULL;
    memset(other.view.next_offset, 0, sizeof(other.view.next_offset));
    snprintf(other.view.prefix, sizeof(other.view.prefix), "%.60s-b", scene->prefix);
    snprintf(other.view.in, sizeof(other.view.in), "%.60s-b-in", scene->prefix);
    snprintf(other.view.out, sizeof(other.view.out), "%.60s-b-out", scene->prefix);
    other.store_path = temp_path(scene->folder, "b-store");
    other.config_path = temp_path(scene->folder, "b.yaml");
    other.log_path = temp_path(scene->folder, "b.log");
    other.view.config_path = other.config_path;
    other.port = http_free_port();
    kafka_topics_create(scene->bootstrap, other.view.in, 1, NULL);
    kafka_topics_create(scene->bootstrap, other.view.out, 1, NULL);
    scene_configure_for(&other.view, options, &(struct scene_own){other.view.prefix, other.store_path, other.config_path, other.port});
}

/* Streams of its own; else those of the first. */
static void name_other_streams(const struct scene *scene, const struct scene_options *options)
{
    snprintf(other.view.dlq_stream, sizeof(other.view.dlq_stream), "%.60s_B_DLQ", scene->prefix);
    snprintf(other.view.parked_stream, sizeof(other.view.parked_stream), "%.60s_B_PARKED", scene->prefix);
    snprintf(other.view.subject_prefix, sizeof(other.view.subject_prefix), "%.60s-b", scene->prefix);
    scene_configure_for(&other.view, options, &(struct scene_own){other.view.prefix, other.store_path, other.config_path, other.port});
}

static void start_other(void)
{
    tarry_process_free(other.view.process);
    other.view.process = tarry_process_start(other.config_path, other.log_path, other.port, NULL);
    tarry_process_wait_ready(other.view.process, READY_MS);
}

static void stop_other(void)
{
    assert_int_equal(tarry_process_stop(other.view.process, STOP_MS), 0);
}

static void free_other(void)
{
    tarry_process_free(other.view.process);
    free(other.store_path);
    free(other.config_path);
    free(other.log_path);
    other = (struct other){0};
}

static void send_to(struct scene *scene, const char *topic, const char *who)
{
    for (unsigned i = 0; i < RECORDS; i++) {
        char id[32];
        snprintf(id, sizeof(id), "%s%u", who, i);
        scene_send_apart(scene, &(struct scene_event){.delay_ms = 200, .target = topic, .value = span_of_text(id), .id = span_of_text(id)});
    }
    scene_flush(scene);
}

/* All letters of the stream are of records of this one alone. */
static void assert_letters(struct scene *scene, enum letter_state state, size_t count, char who)
{
    struct scene_letters letters = scene_letters_await(scene, state, count, SCENE_DLQ_OUT_MS);
    assert_int_equal(letters.count, count);
    for (size_t i = 0; i < letters.count; i++) {
        assert_int_equal(letters.items[i].letter.schedule_id.data[0], who);
        assert_true(span_equals_text(letters.items[i].letter.group, scene->prefix));
    }
    scene_letters_free(&letters);
}

struct delivery {
    const struct scene *scene;
    const char *topic;
    int64_t records;
};

static bool is_delivered(void *context)
{
    const struct delivery *delivery = context;
    return scene_dlq_records(delivery->scene, delivery->topic) >= delivery->records;
}

static void await_delivered(const struct scene *scene, const char *topic, int64_t records)
{
    struct delivery delivery = {scene, topic, records};
    assert_true(await_condition(is_delivered, &delivery, SCENE_DLQ_OUT_MS));
}

/* Each redelivers its own, to the topic that both name; nobody the other's. */
static void with_streams_of_their_own(void **state)
{
    (void)state;
    static const char topic[] = "orders-of-both";
    static const struct scene_options options = OPTIONS("orders-of-both", "4s");
    struct scene *scene = scene_open("two", &options);
    struct nats_client *client = nats_client_open(scene->nats_url);
    open_other(scene, &options);
    name_other_streams(scene, &options);
    scene_start(scene);
    start_other();
    scene_dlq_await_running(scene);
    scene_dlq_await_running(&other.view);
    send_to(scene, topic, "a");
    send_to(&other.view, topic, "b");
    assert_letters(scene, LETTER_WAITING, RECORDS, 'a');
    assert_letters(&other.view, LETTER_WAITING, RECORDS, 'b');
    kafka_topics_create(scene->bootstrap, topic, 1, NULL);
    await_delivered(scene, topic, 2 * RECORDS);
    scene_dlq_await_none(scene, client, LETTER_WAITING);
    scene_dlq_await_none(&other.view, client, LETTER_WAITING);
    stop_other();
    scene_stop(scene);
    assert_int_equal(scene_dlq_records(scene, topic), 2 * RECORDS); /* at least once, and nothing was killed */
    assert_int_equal(scene_dlq_count(scene, client, LETTER_PARKED), 0);
    assert_int_equal(scene_dlq_count(&other.view, client, LETTER_PARKED), 0);
    nats_client_close(client);
    free_other();
    scene_close(scene);
}

static void with_the_same_streams(void **state)
{
    (void)state;
    static const char topic[] = "orders-of-one";
    static const struct scene_options options = OPTIONS("orders-of-one", "1h");
    struct scene *scene = scene_open("same", &options);
    struct nats_client *client = nats_client_open(scene->nats_url);
    open_other(scene, &options);
    scene_start(scene);
    scene_dlq_await_running(scene);
    send_to(scene, topic, "a");
    assert_letters(scene, LETTER_WAITING, RECORDS, 'a');
    start_other(); /* ready: it delivers, and keeps what fails in Kafka */
    send_to(&other.view, topic, "b");
    send_to(&other.view, other.view.out, "c");
    await_delivered(&other.view, other.view.out, RECORDS);
    scene_dlq_await_metric(&other.view, "tarry_reappended_total", "why=\"letter\"", RECORDS);
    scene_dlq_await_health(&other.view, "it holds letters of");
    scene_dlq_await_health(&other.view, "give this group streams of its own");
    scene_dlq_await_health(&other.view, "dead_letters_not_kept");
    assert_int_equal(tarry_process_get(other.view.process, "/readyz", NULL, 0), 200);
    assert_letters(scene, LETTER_WAITING, RECORDS, 'a');
    assert_int_equal(scene_dlq_count(scene, client, LETTER_PARKED), 0);
    scene_dlq_await_running(scene);
    stop_other();
    name_other_streams(scene, &options);
    start_other();
    assert_letters(&other.view, LETTER_WAITING, RECORDS, 'b');
    assert_letters(scene, LETTER_WAITING, RECORDS, 'a');
    stop_other();
    nats_client_close(client);
    free_other();
    scene_stop(scene);
    scene_close(scene);
}

static int teardown(void **state)
{
    if (other.view.process != NULL) {
        tarry_process_show_log(other.view.process);
    }
    free_other();
    return scene_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(with_streams_of_their_own, teardown),
        cmocka_unit_test_teardown(with_the_same_streams, teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
