/* Replay jobs in trouble, with a real Kafka and a real nats-server: killed, interrupted, paused, stopped by failures, servers away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/await.h"
#include "tests/support/kafka_topics.h"
#include "tests/support/replay_scene.h"

#define TIMEOUT_MS 60000

static struct replay_scene *const scene = &replay_scene_shared;

static bool at_most_parked(void *context)
{
    return replay_scene_parked(scene) <= *(uint64_t *)context;
}

static void wait_until_parked(uint64_t most)
{
    if (!await_condition(at_most_parked, &most, TIMEOUT_MS)) {
        fail_msg("%llu letters are parked still", (unsigned long long)replay_scene_parked(scene));
    }
}

/* How often each number of 0 .. count - 1 stands in the topic; fails for any other value. Returns how many are there in all. */
static size_t tally(const char *topic, unsigned *times, unsigned count)
{
    struct kafka_client_records records = replay_scene_records(scene, topic);
    for (size_t i = 0; i < records.count; i++) {
        char text[32];
        const struct record *record = &records.items[i].record;
        snprintf(text, sizeof text, "%.*s", (int)record->value.length, (const char *)record->value.data);
        unsigned long n = strtoul(text + strlen("value-"), NULL, 10);
        assert_true(n < count);
        times[n] += 1;
    }
    size_t all = records.count;
    kafka_client_records_free(&records);
    return all;
}

static void assert_all_there(const char *topic, unsigned count, size_t doubles_most)
{
    unsigned *times = calloc(count, sizeof *times);
    assert_non_null(times);
    size_t all = tally(topic, times, count);
    for (unsigned n = 0; n < count; n++) {
        if (times[n] == 0) {
            fail_msg("letter %u is not in %s", n, topic);
        }
    }
    if (all > count + doubles_most) {
        fail_msg("%zu records for %u letters", all, count);
    }
    free(times);
}

/* The id of the job that the last output names. */
static void read_job(char id[80])
{
    const char *start = strstr(scene->output, "\"job\":\"");
    assert_non_null(start);
    snprintf(id, 80, "%.*s", (int)strcspn(start + 7, "\""), start + 7);
}

/* ------------------------------------------------------------------------------------------------ ends of a process */

static void killed_at_half_another_run_goes_on(void **state)
{
    (void)state;
    replay_scene_topic(scene, "killed", 3, NULL);
    replay_scene_fill(scene, "killed", 0, 1000, LETTER_PARKED);
    pid_t pid = replay_scene_start(scene, "replay --target killed --rate 500 --execute");
    wait_until_parked(500);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(replay_scene_wait(scene, pid), 128 + SIGKILL);
    assert_true(replay_scene_parked(scene) > 0);
    assert_int_equal(replay_scene_run(scene, "replay --target killed --execute"), 0);
    assert_int_equal(replay_scene_parked(scene), 0);
    /* What was in flight at that pace: some tens, where a slow disk lets them wait for NATS. */
    assert_all_there("killed", 1000, 200);
}

static void interrupted_it_stops_in_good_order_and_can_be_resumed(void **state)
{
    (void)state;
    char words[160];
    char id[80];
    static const int signals[] = {SIGINT, SIGTERM};
    replay_scene_topic(scene, "interrupted", 3, NULL);
    replay_scene_fill(scene, "interrupted", 0, 1000, LETTER_PARKED);
    /* So slow that each run is still at work when it is seen to work, on a loaded machine too: 500 a second were over in less than two. */
    pid_t pid = replay_scene_start(scene, "replay --target interrupted --rate 150 --execute");
    wait_until_parked(800);
    assert_int_equal(kill(pid, signals[0]), 0);
    assert_int_equal(replay_scene_wait(scene, pid), 3);
    assert_non_null(strstr(scene->output, "\"state\":\"paused\""));
    int64_t replayed = replay_scene_number(scene, "replayed");
    assert_int_equal(replay_scene_number(scene, "left"), 0);
    assert_int_equal((uint64_t)replayed + replay_scene_parked(scene), 1000);
    read_job(id);
    /* What comes in after its beginning is not the job's. */
    replay_scene_fill(scene, "interrupted", 1000, 10, LETTER_PARKED);
    snprintf(words, sizeof words, "jobs resume %s", id);
    uint64_t parked = replay_scene_parked(scene);
    assert_true(parked > 100);
    pid = replay_scene_start(scene, words);
    wait_until_parked(parked - 50); /* it works, so its handlers are in place */
    assert_int_equal(kill(pid, signals[1]), 0);
    assert_int_equal(replay_scene_wait(scene, pid), 3);
    assert_int_equal(replay_scene_run(scene, words), 0);
    assert_int_equal(replay_scene_number(scene, "replayed"), 1000);
    assert_int_equal(replay_scene_parked(scene), 10);
    assert_all_there("interrupted", 1000, 0);
    assert_int_equal(replay_scene_run(scene, words), 1); /* it is done */
}

static bool job_is_there(void *context)
{
    (void)context;
    return nats_client_count(scene->client, "TARRY_DLQ_JOBS", NULL) > 0;
}

static void another_process_can_pause_and_cancel_it(void **state)
{
    (void)state;
    char words[160];
    char id[80];
    replay_scene_topic(scene, "paused", 1, NULL);
    replay_scene_fill(scene, "paused", 0, 1000, LETTER_PARKED);
    pid_t pid = replay_scene_start(scene, "replay --target paused --rate 100 --execute");
    assert_true(await_condition(job_is_there, NULL, TIMEOUT_MS));
    wait_until_parked(990);
    struct replay_scene other = *scene; /* the same servers, outputs of its own */
    other.output = NULL;
    other.errors = NULL;
    pid_t list = replay_scene_start(&other, "jobs -o json");
    assert_int_equal(replay_scene_wait(&other, list), 0);
    const char *start = strstr(other.output, "\"id\":\"");
    assert_non_null(start);
    snprintf(id, sizeof id, "%.*s", (int)strcspn(start + 6, "\""), start + 6);
    assert_non_null(strstr(other.output, "\"state\":\"running\""));
    snprintf(words, sizeof words, "jobs resume %s", id);
    assert_int_equal(replay_scene_run(&other, words), 1); /* it runs elsewhere */
    snprintf(words, sizeof words, "jobs pause %s", id);
    assert_int_equal(replay_scene_run(&other, words), 0);
    assert_int_equal(replay_scene_wait(scene, pid), 3);
    uint64_t parked = replay_scene_parked(scene);
    assert_true(parked > 0 && parked < 1000);
    snprintf(words, sizeof words, "jobs resume %s", id);
    pid = replay_scene_start(scene, words);
    wait_until_parked(parked - 10);
    snprintf(words, sizeof words, "jobs cancel %s", id);
    assert_int_equal(replay_scene_run(&other, words), 0);
    assert_int_equal(replay_scene_wait(scene, pid), 3);
    snprintf(words, sizeof words, "jobs resume %s", id);
    assert_int_equal(replay_scene_run(&other, words), 1);
    assert_int_equal(replay_scene_run(&other, "jobs resume no-such-job"), 3);
    assert_true(replay_scene_parked(scene) > 0);
    free(other.output);
    free(other.errors);
}

/* The id of the only job that there is. */
static void list_job(struct replay_scene *other, char id[80])
{
    assert_int_equal(replay_scene_run(other, "jobs -o json"), 0);
    const char *start = strstr(other->output, "\"id\":\"");
    assert_non_null(start);
    snprintf(id, 80, "%.*s", (int)strcspn(start + 6, "\""), start + 6);
}

static void one_that_was_suspended_leaves_the_job_to_its_new_runner(void **state)
{
    (void)state;
    char words[160];
    char id[80];
    replay_scene_topic(scene, "suspended", 1, NULL);
    replay_scene_fill(scene, "suspended", 0, 800, LETTER_PARKED);
    pid_t first = replay_scene_start(scene, "replay --target suspended --rate 100 --execute");
    wait_until_parked(750);
    assert_int_equal(kill(first, SIGSTOP), 0);
    struct replay_scene other = *scene; /* the same servers, outputs of its own */
    other.output = NULL;
    other.errors = NULL;
    list_job(&other, id);
    snprintf(words, sizeof words, "jobs pause %s", id);
    assert_int_equal(replay_scene_run(&other, words), 0);
    uint64_t parked = replay_scene_parked(scene);
    assert_true(parked > 300);
    snprintf(words, sizeof words, "jobs resume %s", id);
    pid_t second = replay_scene_start(&other, words);
    wait_until_parked(parked - 50);
    assert_int_equal(kill(first, SIGCONT), 0);
    assert_int_equal(replay_scene_wait(scene, first), 3);
    assert_non_null(strstr(scene->errors, "runs elsewhere"));
    assert_int_equal(replay_scene_wait(&other, second), 0);
    assert_int_equal(replay_scene_parked(scene), 0);
    /* What was on its way when the first one was suspended. */
    assert_all_there("suspended", 800, 100);
    assert_int_equal(replay_scene_run(&other, words), 1); /* the last word in the record is the second one's: done */
    free(other.output);
    free(other.errors);
}

static void delete_half_way(const char *topic, pid_t pid, bool again)
{
    jsStreamInfo *info = NULL;
    jsErrCode code = (jsErrCode)0;
    wait_until_parked(900);
    assert_true(nats_client_info(scene->client, "TARRY_PARKED", &info));
    nats_client_delete_stream(scene->client, "TARRY_PARKED");
    if (again) {
        assert_int_equal(js_AddStream(NULL, nats_client_jetstream(scene->client), info->Config, NULL, &code), NATS_OK);
        replay_scene_fill(scene, topic, 1000, 1000, LETTER_PARKED);
    }
    assert_int_equal(replay_scene_wait(scene, pid), 1);
    assert_non_null(strstr(scene->errors, "was deleted since job"));
    assert_non_null(strstr(scene->output, "\"state\":\"stopped\""));
    if (again) {
        assert_int_equal(replay_scene_parked(scene), 1000); /* the new ones, of the same sequences: untouched */
    } else {
        assert_int_equal(js_AddStream(NULL, nats_client_jetstream(scene->client), info->Config, NULL, &code), NATS_OK);
    }
    jsStreamInfo_Destroy(info);
}

static void ends_when_its_stream_is_deleted(void **state)
{
    (void)state;
    char words[96];
    static const char *const topics[] = {"deleted", "made-again"};
    for (int i = 0; i < 2; i++) {
        replay_scene_topic(scene, topics[i], 1, NULL);
        replay_scene_fill(scene, topics[i], 0, 1000, LETTER_PARKED);
        snprintf(words, sizeof words, "replay --target %s --rate 200 --execute", topics[i]);
        delete_half_way(topics[i], replay_scene_start(scene, words), i == 1);
    }
}

/* --------------------------------------------------------------------------------------------------- failing again */

static void stops_when_kafka_refuses_too_many(void **state)
{
    (void)state;
    const char *const narrow[] = {"max.message.bytes=1000", NULL};
    static uint8_t large[5000];
    for (size_t i = 0; i < sizeof large; i++) {
        large[i] = (uint8_t)(i * i * 2654435761u >> 11);
    }
    replay_scene_topic(scene, "refusing", 1, narrow);
    for (unsigned n = 0; n < 60; n++) {
        struct letter letter = replay_scene_letter("refusing", n);
        letter.record.value = (struct span){large, sizeof large};
        replay_scene_post(scene, &letter, LETTER_PARKED);
    }
    assert_int_equal(replay_scene_run(scene, "replay --target refusing --stop-after 3 --rate 20 --execute"), 1);
    assert_in_range(replay_scene_number(scene, "failed"), 3, 25); /* 20 at most are sent before Kafka's first answer */
    assert_non_null(strstr(scene->output, "\"state\":\"stopped\""));
    assert_int_equal(replay_scene_parked(scene), 60);
    /* A share counts from 20 replays on. */
    assert_int_equal(replay_scene_run(scene, "replay --target refusing --stop-after 50% --rate 20 --execute"), 1);
    assert_in_range(replay_scene_number(scene, "failed"), 20, 45);
}

/* A consumer that can process nothing: gives each record back as a nack, by its place. */
static void give_back(struct kafka_client_records *records, size_t from)
{
    for (size_t i = from; i < records->count; i++) {
        char partition[64];
        char offset[64];
        const struct kafka_client_record *record = &records->items[i];
        snprintf(partition, sizeof partition, "Tarry-Partition: %d", (int)record->partition);
        snprintf(offset, sizeof offset, "Tarry-Offset: %lld", (long long)record->record.offset);
        const char *const headers[] = {partition, offset, "Tarry-Error: cannot", NULL};
        (void)nats_client_publish(scene->client, "nack.failing", headers, record->record.value.data, record->record.value.length);
    }
}

static void stops_when_consumers_give_records_back(void **state)
{
    (void)state;
    const char *const topics[] = {"failing", NULL};
    replay_scene_topic(scene, "failing", 2, NULL);
    replay_scene_fill(scene, "failing", 0, 500, LETTER_PARKED);
    pid_t pid = replay_scene_start(scene, "replay --target failing --rate 50 --stop-after 20% --execute");
    struct kafka_client_reader *reader = kafka_client_reader_open(kafka_broker_bootstrap(scene->kafka), topics);
    struct kafka_client_records records = {0};
    size_t given = 0;
    int64_t limit = await_mono_ms() + TIMEOUT_MS;
    while (kill(pid, 0) == 0 && given < 100 && await_mono_ms() < limit) {
        (void)kafka_client_read(reader, &records, given + 1, 100);
        give_back(&records, given);
        given = records.count;
    }
    assert_int_equal(replay_scene_wait(scene, pid), 1);
    assert_true(replay_scene_number(scene, "given_back") > 0);
    assert_true(replay_scene_parked(scene) > 0);
    kafka_client_reader_close(reader);
    kafka_client_records_free(&records);
}

/* ---------------------------------------------------------------------------------------------------- servers away */

static void waits_for_kafka_and_counts_no_failure(void **state)
{
    (void)state;
    replay_scene_topic(scene, "outage", 1, NULL);
    replay_scene_fill(scene, "outage", 0, 600, LETTER_PARKED);
    pid_t pid = replay_scene_start(scene, "replay --target outage --rate 300 --execute");
    wait_until_parked(500);
    kafka_broker_kill(scene->kafka);
    kafka_broker_restart(scene->kafka);
    assert_int_equal(replay_scene_wait(scene, pid), 0);
    assert_int_equal(replay_scene_number(scene, "replayed"), 600);
    assert_int_equal(replay_scene_number(scene, "failed"), 0);
    assert_int_equal(replay_scene_parked(scene), 0);
    struct kafka_client_records records = replay_scene_records(scene, "outage");
    int64_t last[5] = {-1, -1, -1, -1, -1};
    for (size_t i = 0; i < records.count; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.*s", (int)records.items[i].record.value.length, (const char *)records.items[i].record.value.data);
        int64_t n = strtoll(text + strlen("value-"), NULL, 10);
        assert_true(n > last[n % 5]);
        last[n % 5] = n;
    }
    kafka_client_records_free(&records);
    assert_all_there("outage", 600, 0);
}

static void waits_for_nats(void **state)
{
    (void)state;
    replay_scene_topic(scene, "nats-outage", 1, NULL);
    replay_scene_fill(scene, "nats-outage", 0, 600, LETTER_PARKED);
    pid_t pid = replay_scene_start(scene, "replay --target nats-outage --rate 300 --execute");
    wait_until_parked(500);
    nats_server_kill(scene->nats);
    nats_server_restart(scene->nats);
    assert_int_equal(replay_scene_wait(scene, pid), 0);
    assert_int_equal(replay_scene_number(scene, "replayed"), 600);
    assert_int_equal(replay_scene_parked(scene), 0);
    /* Removals that the server had taken and not written down when it was killed: those letters go again. */
    assert_all_there("nats-outage", 600, 600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(killed_at_half_another_run_goes_on, replay_scene_fixture_empty),
        cmocka_unit_test_setup(interrupted_it_stops_in_good_order_and_can_be_resumed, replay_scene_fixture_empty),
        cmocka_unit_test_setup(another_process_can_pause_and_cancel_it, replay_scene_fixture_empty),
        cmocka_unit_test_setup(one_that_was_suspended_leaves_the_job_to_its_new_runner, replay_scene_fixture_empty),
        cmocka_unit_test_setup(ends_when_its_stream_is_deleted, replay_scene_fixture_empty),
        cmocka_unit_test_setup(stops_when_kafka_refuses_too_many, replay_scene_fixture_empty),
        cmocka_unit_test_setup(stops_when_consumers_give_records_back, replay_scene_fixture_empty),
        cmocka_unit_test_setup(waits_for_kafka_and_counts_no_failure, replay_scene_fixture_empty),
        cmocka_unit_test_setup(waits_for_nats, replay_scene_fixture_empty),
    };
    return cmocka_run_group_tests(tests, replay_scene_fixture_open, replay_scene_fixture_close);
}
