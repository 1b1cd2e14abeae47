/*
 * Three nats-servers: the start order does not matter, streams have three replicas, and one server after the other is killed while letters are made: none is
 * lost, none is doubled (reports N15, N03).
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
#include "tests/support/scene_dlq.h"
#include "tests/support/scene_letters.h"

#define ROUND 300 /* records at fault while one server is away */
#define BEFORE 20
#define TOTAL (BEFORE + NATS_CLUSTER_SIZE * ROUND)
#define SPREAD_MS 10
#define ASK_MS 2000 /* a server that is killed, or elects, does not answer: then it is asked again */

static const struct scene_options options = {
    .kafka = "consumer: {session.timeout.ms: 4000, heartbeat.interval.ms: 500}",
    .shared_input = true,
    .dlq = "replicas: 3, retry_later: 1s",
    .targets = "[{name: missing, match: \"@-missing\", retry: {max_deliver: 0}}]",
    .more = "unknown_topic_grace: 300ms",
};

static struct nats_cluster cluster;

static void send_some(struct scene *scene, unsigned first, unsigned count)
{
    char topic[SCENE_DLQ_TOPIC_SIZE];
    scene_dlq_topic(scene, "missing", topic);
    for (unsigned i = 0; i < count; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%u", first + i);
        scene_send_apart(scene, &(struct scene_event){.delay_ms = 100 + i * SPREAD_MS, .target = topic, .value = span_of_text(id), .id = span_of_text(id)});
    }
    scene_flush(scene);
}

struct parked {
    const struct scene *scene;
    struct nats_client *client;
    uint64_t least;
    uint64_t found;
};

static bool are_parked(void *context)
{
    struct parked *parked = context;
    jsStreamInfo *info = NULL;
    jsOptions asking;
    jsOptions_Init(&asking);
    asking.Wait = ASK_MS;
    if (js_GetStreamInfo(&info, nats_client_jetstream(parked->client), parked->scene->parked_stream, &asking, NULL) == NATS_OK) {
        parked->found = info->State.Msgs;
        jsStreamInfo_Destroy(info);
    }
    return parked->found >= parked->least;
}

static void await_parked(const struct scene *scene, struct nats_client *client, uint64_t least)
{
    struct parked parked = {scene, client, least, 0};
    if (!await_condition(are_parked, &parked, 2 * SCENE_DLQ_OUT_MS)) {
        fail_msg("%llu letters are parked, not %llu", (unsigned long long)parked.found, (unsigned long long)least);
    }
}

static void assert_each_once(struct scene *scene)
{
    struct scene_letters parked = scene_letters_read(scene, LETTER_PARKED);
    bool seen[TOTAL] = {false};
    assert_int_equal(parked.count, TOTAL);
    for (size_t i = 0; i < parked.count; i++) {
        char text[16];
        struct span id = parked.items[i].letter.schedule_id;
        snprintf(text, sizeof(text), "%.*s", (int)id.length, (const char *)id.data);
        unsigned long number = strtoul(text, NULL, 10);
        assert_true(number < TOTAL && !seen[number]);
        seen[number] = true;
    }
    scene_letters_free(&parked);
}

static void assert_replicas(const struct scene *scene, struct nats_client *client)
{
    const char *const streams[] = {scene->dlq_stream, scene->parked_stream};
    for (size_t i = 0; i < 2; i++) {
        jsStreamInfo *info = NULL;
        assert_true(nats_client_info(client, streams[i], &info));
        assert_int_equal(info->Config->Replicas, 3);
        jsStreamInfo_Destroy(info);
    }
}

/* tarry is there first, then the servers, one after the other, the last one first. */
static void start_last_first(struct scene *scene)
{
    for (int i = 0; i < NATS_CLUSTER_SIZE; i++) {
        nats_server_stop(cluster.servers[i]);
    }
    scene_start(scene);
    send_some(scene, 0, BEFORE);
    scene_dlq_await_metric(scene, "tarry_reappended_total", "why=\"letter\"", BEFORE);
    for (int i = NATS_CLUSTER_SIZE - 1; i >= 0; i--) {
        nats_server_restart_soon(cluster.servers[i]);
    }
    for (int i = 0; i < NATS_CLUSTER_SIZE; i++) {
        nats_server_wait_ready(cluster.servers[i]);
    }
}

static void servers_come_and_go(void **state)
{
    (void)state;
    nats_cluster_start(&cluster);
    struct scene *scene = scene_open("cluster", &options);
    scene->nats_url = cluster.urls;
    scene_configure(scene, &options);
    start_last_first(scene);
    struct nats_client *client = nats_client_open(cluster.urls);
    await_parked(scene, client, BEFORE);
    assert_replicas(scene, client);
    for (unsigned i = 0; i < NATS_CLUSTER_SIZE; i++) { /* one of them leads the stream, one has tarry's connection */
        send_some(scene, BEFORE + i * ROUND, ROUND);
        await_parked(scene, client, BEFORE + i * ROUND + ROUND / 3);
        nats_server_kill(cluster.servers[i]);
        await_parked(scene, client, BEFORE + i * ROUND + ROUND * 2 / 3);
        nats_server_restart(cluster.servers[i]);
        await_parked(scene, client, BEFORE + (i + 1) * ROUND);
    }
    scene_dlq_await_no_lag(scene);
    assert_each_once(scene);
    assert_int_equal(scene_dlq_count(scene, client, LETTER_WAITING), 0);
    scene_dlq_await_running(scene);
    nats_client_close(client);
    scene_stop(scene);
    scene_close(scene);
}

static int teardown(void **state)
{
    int done = scene_teardown(state);
    nats_cluster_free(&cluster);
    return done;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(servers_come_and_go, teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
