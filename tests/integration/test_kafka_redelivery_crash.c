/* Redelivery and crashes: of nats-server while letters flow, and of redelivery itself between any two of its steps. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/letter_sink.h"
#include "tests/support/await.h"
#include "ops/redelivery_text.h"
#include "tests/support/redelivery_scene.h"

#define WAIT_MS REDELIVERY_SCENE_WAIT_MS
#define HOUR_MS 3600000

static uint64_t value_of(const struct kafka_client_record *record)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)record->record.value.length, (const char *)record->record.value.data);
    return strtoull(text, NULL, 10);
}

/* How often each number below `count` was delivered. */
static void tally(struct redelivery_scene *scene, const char *topic, unsigned *times, size_t count)
{
    struct kafka_client_records records = redelivery_scene_records(scene, topic);
    memset(times, 0, count * sizeof *times);
    for (size_t i = 0; i < records.count; i++) {
        uint64_t number = value_of(&records.items[i]);
        assert_true(number < count);
        times[number]++;
    }
    kafka_client_records_free(&records);
}

/* 150 that can be delivered and 150 that cannot, while the server is killed again and again. */
static void test_nats_killed(void **state)
{
    struct redelivery_scene *scene = *state;
    enum { GOOD = 150, BAD = 150, KILLS = 6 };
    int64_t now_ms = await_wall_ms();
    for (uint64_t i = 0; i < GOOD; i += 10) {
        redelivery_scene_post_many(scene, i, 10, scene->out, now_ms + (int64_t)i * 60);
        redelivery_scene_post_many(scene, 1000 + i, 10, scene->missing, now_ms + (int64_t)i * 40);
    }
    redelivery_scene_run(scene);
    for (int i = 0; i < KILLS; i++) {
        await_pause_ms(400 + i * 370); /* whatever it is at then */
        nats_server_kill(scene->nats);
        nats_server_restart(scene->nats);
    }
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, 3 * WAIT_MS);
    redelivery_scene_await(scene, LETTER_PARKED, NULL, BAD, WAIT_MS);
    unsigned times[GOOD];
    tally(scene, scene->out, times, GOOD);
    for (size_t i = 0; i < GOOD; i++) {
        assert_true(times[i] >= 1);
        assert_true(times[i] == 1 || !scene->exactly_once);
    }
    struct redelivery_scene_kept *parked;
    size_t count = redelivery_scene_read(scene, LETTER_PARKED, &parked);
    assert_int_equal(count, BAD);
    bool seen[BAD] = {false};
    for (size_t i = 0; i < count; i++) {
        int64_t number = parked[i].letter.origin.offset - 1000;
        assert_in_range(number, 0, BAD - 1);
        assert_false(seen[number]);
        seen[number] = true;
        assert_int_equal(parked[i].letter.attempt, 3);
    }
    redelivery_scene_free(parked, count);
}

static void commit_without_removing(struct redelivery_scene *scene, const struct letter *letter, const char *text)
{
    char id[96];
    snprintf(id, sizeof id, "%s.letters", scene->group);
    const struct letter_sink_options options = {.properties = scene->config->kafka_producer.items,
                                                .property_count = scene->config->kafka_producer.count,
                                                .client = "former",
                                                .transactional_id = id,
                                                .transaction_timeout_ms = 10000,
                                                .send_timeout_ms = 5000};
    const struct letter_sink_place place = {.group = id, .topic = scene->config->sources[0].topic, .partition = 0};
    const struct letter_sink_record record = {.topic = scene->out, .partition = -1, .key = letter->record.key, .value = letter->record.value};
    struct letter_sink *sink = NULL;
    struct letter_sink_report report;
    struct error error = {0};
    bool aborted;
    assert_true(letter_sink_open(&options, &sink, &error));
    assert_true(letter_sink_settle(sink, WAIT_MS, &error));
    assert_true(letter_sink_begin(sink, &error));
    assert_int_equal(letter_sink_send(sink, &record, NULL, &report), LETTER_SINK_TAKEN);
    assert_int_equal(letter_sink_poll(sink, WAIT_MS, &report, 1), 1);
    assert_true(report.delivered);
    if (!letter_sink_commit(sink, &place, text, WAIT_MS, &aborted, &error)) {
        fail_msg("%s", error.text);
    }
    letter_sink_close(sink);
}

static int64_t created_ms(struct redelivery_scene *scene)
{
    struct streams_state streams;
    struct error error;
    assert_true(streams_state(scene->link, scene->options.stream, WAIT_MS, &streams, &error));
    return streams.created_ms;
}

/* The former owner died after its transaction was committed and before the letter was removed: it is removed, not sent again. */
static void test_committed_and_not_removed(void **state)
{
    struct redelivery_scene *scene = *state;
    char text[128];
    struct letter letter = redelivery_scene_letter(0, scene->out, 0);
    uint64_t sequence = redelivery_scene_post(scene, &letter, LETTER_WAITING);
    redelivery_scene_post_many(scene, 1, 5, scene->out, 0);
    snprintf(text, sizeof text, "letters 1 %" PRId64 " %" PRIu64 ":%08" PRIx32, created_ms(scene), sequence, redelivery_text_check(&letter));
    commit_without_removing(scene, &letter, text);
    redelivery_scene_run(scene);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
    unsigned times[6];
    tally(scene, scene->out, times, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(times[i], 1);
    }
}

/* What is committed of another stream of that name says nothing of this one. */
static void test_committed_of_another_stream(void **state)
{
    struct redelivery_scene *scene = *state;
    char text[128];
    struct letter letter = redelivery_scene_letter(0, scene->out, 0);
    uint64_t sequence = redelivery_scene_post(scene, &letter, LETTER_WAITING);
    snprintf(text, sizeof text, "letters 1 %" PRId64 " %" PRIu64 ":%08" PRIx32, created_ms(scene) - 1, sequence, redelivery_text_check(&letter));
    commit_without_removing(scene, &letter, text);
    redelivery_scene_run(scene);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
    unsigned times[1];
    tally(scene, scene->out, times, 1);
    assert_int_equal(times[0], 2); /* one by the former owner, of the other stream's letter */
}

/* A server that lost power gave the sequence to another letter: that one was not delivered. */
static void test_committed_of_another_letter(void **state)
{
    struct redelivery_scene *scene = *state;
    char text[128];
    struct letter letter = redelivery_scene_letter(0, scene->out, 0);
    struct letter former = redelivery_scene_letter(1, scene->out, 0);
    uint64_t sequence = redelivery_scene_post(scene, &letter, LETTER_WAITING);
    snprintf(text, sizeof text, "letters 1 %" PRId64 " %" PRIu64 ":%08" PRIx32, created_ms(scene), sequence, redelivery_text_check(&former));
    commit_without_removing(scene, &former, text);
    redelivery_scene_run(scene);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
    unsigned times[2];
    tally(scene, scene->out, times, 2);
    assert_int_equal(times[0], 1);
    assert_int_equal(times[1], 1);
}

/* A crash between "the next letter is posted" and "the old one is removed". */
static void test_older_letter_is_removed(void **state)
{
    struct redelivery_scene *scene = *state;
    int64_t later_ms = await_wall_ms() + HOUR_MS;
    struct letter first = redelivery_scene_letter(0, scene->out, 0);
    (void)redelivery_scene_post(scene, &first, LETTER_WAITING);
    struct letter next = first;
    next.attempt = 2;
    next.not_before_ms = later_ms;
    uint64_t sequence = redelivery_scene_post(scene, &next, LETTER_WAITING);
    redelivery_scene_run(scene);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 1, WAIT_MS);
    struct redelivery_scene_kept *waiting;
    size_t count = redelivery_scene_read(scene, LETTER_WAITING, &waiting);
    assert_int_equal(waiting[0].sequence, sequence);
    redelivery_scene_free(waiting, count);
    unsigned times[1];
    tally(scene, scene->out, times, 1);
    assert_int_equal(times[0], 0);
}

/* A crash between "it is parked" and "it is removed from those that wait". */
static void test_parked_letter_is_removed(void **state)
{
    struct redelivery_scene *scene = *state;
    struct letter letter = redelivery_scene_letter(0, scene->out, await_wall_ms() - 5000);
    letter.attempt = 3;
    (void)redelivery_scene_post(scene, &letter, LETTER_WAITING);
    (void)redelivery_scene_post(scene, &letter, LETTER_PARKED);
    redelivery_scene_post_many(scene, 1, 1, scene->out, 0);
    redelivery_scene_run(scene);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
    redelivery_scene_await(scene, LETTER_PARKED, NULL, 1, WAIT_MS);
    unsigned times[2];
    tally(scene, scene->out, times, 2);
    assert_int_equal(times[0], 0);
    assert_int_equal(times[1], 1);
}

/* A stream that was deleted and made anew while redelivery ran: it goes on with what is in the new one. */
static void test_stream_made_anew(void **state)
{
    struct redelivery_scene *scene = *state;
    redelivery_scene_post_many(scene, 0, 5, scene->out, await_wall_ms() + HOUR_MS);
    redelivery_scene_run(scene);
    nats_client_delete_stream(scene->client, scene->options.stream);
    nats_letters_streams(scene->link, &scene->options);
    redelivery_scene_post_many(scene, 5, 1, scene->out, 0);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
    unsigned times[6];
    tally(scene, scene->out, times, 6);
    assert_int_equal(times[5], 1);
    assert_int_equal(times[0], 0);
}

static char exactly;

static int start_broker(void **state)
{
    (void)state;
    redelivery_scene_start_broker();
    return 0;
}

static int stop_broker(void **state)
{
    (void)state;
    redelivery_scene_stop_broker();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"test_nats_killed at_least_once", test_nats_killed, redelivery_scene_open, redelivery_scene_close, NULL},
        {"test_nats_killed exactly_once", test_nats_killed, redelivery_scene_open, redelivery_scene_close, &exactly},
        {"test_committed_and_not_removed", test_committed_and_not_removed, redelivery_scene_open, redelivery_scene_close, &exactly},
        {"test_committed_of_another_stream", test_committed_of_another_stream, redelivery_scene_open, redelivery_scene_close, &exactly},
        {"test_committed_of_another_letter", test_committed_of_another_letter, redelivery_scene_open, redelivery_scene_close, &exactly},
        {"test_older_letter_is_removed", test_older_letter_is_removed, redelivery_scene_open, redelivery_scene_close, NULL},
        {"test_parked_letter_is_removed", test_parked_letter_is_removed, redelivery_scene_open, redelivery_scene_close, NULL},
        {"test_stream_made_anew", test_stream_made_anew, redelivery_scene_open, redelivery_scene_close, NULL},
    };
    return cmocka_run_group_tests(tests, start_broker, stop_broker);
}
