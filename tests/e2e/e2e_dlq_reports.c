/*
 * What people report of other systems, with the whole of ours (docs/internals/dead-letters.md has the list): names that mean something to NATS (N16), looking
 * beside the daemon (N04), an attempt that takes longer than the backoff (N06, D11), streams deleted under the daemon (N13), a retry count in the value (D08).
 */
#include <inttypes.h>
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

#define IDS 8
#define TOPICS 3
#define LONG_ID 300
#define PARALLEL 5
#define ROUNDS 4
#define SLOW_MS 4000 /* of an attempt: ten times the backoff */
#define SHORT_MS 300
#define QUIET_MS 1500

static const struct scene_options parked_at_once = {
    .letters = true, .targets = "[{name: missing, match: \"@*\", retry: {max_deliver: 0}}]", .more = "unknown_topic_grace: 300ms"};

static void send(struct scene *scene, const char *topic, const char *id, const char *value)
{
    scene_send_apart(scene, &(struct scene_event){.delay_ms = SHORT_MS,
                                                  .target = topic,
                                                  .value = span_of_text(value),
                                                  .id = id == NULL ? SPAN_ABSENT : span_of_text(id)});
}

/* ------------------------------------------------------------------------------------------------- N16 */

static const char *ids[IDS] = {"x y", "*", ">", "a..b", ".", "two\nlines", "plain", NULL};
static const char *const suffixes[TOPICS] = {"a.b", "a_b", "a-b"};

static void fill_ids(void)
{
    static char long_id[LONG_ID + 1];
    memset(long_id, 'i', LONG_ID);
    ids[IDS - 1] = long_id;
}

static void assert_kept(struct scene *scene)
{
    char topic[SCENE_DLQ_TOPIC_SIZE];
    size_t found = 0;
    struct scene_letters parked = scene_letters_await(scene, LETTER_PARKED, (size_t)IDS * TOPICS, SCENE_DLQ_OUT_MS);
    assert_int_equal(parked.count, IDS * TOPICS);
    for (size_t i = 0; i < TOPICS; i++) {
        scene_dlq_topic(scene, suffixes[i], topic);
        for (size_t j = 0; j < IDS; j++) {
            for (size_t k = 0; k < parked.count; k++) {
                const struct letter *letter = &parked.items[k].letter;
                found += span_equals_text(letter->target, topic) && span_equals_text(letter->schedule_id, ids[j]);
            }
        }
    }
    assert_int_equal(found, IDS * TOPICS); /* each of them, once */
    scene_letters_free(&parked);
}

static void assert_listed(const struct scene *scene, const char *flag, const char *value, size_t lines)
{
    struct cli_program program = scene_dlq_run(scene, 0, (const char *const[]){"list", flag, value, NULL});
    assert_int_equal(cli_program_lines(&program), lines);
    cli_program_free(&program);
}

/* Five at once, over and over, beside the daemon. */
static void look(const struct scene *scene)
{
    const char *const list[] = {"dlq", "list", "-c", scene->config_path, NULL};
    const char *const get[] = {"dlq", "get", "--id", "plain", "-c", scene->config_path, NULL};
    for (int round = 0; round < ROUNDS; round++) {
        struct cli_program programs[2 * PARALLEL];
        for (int i = 0; i < 2 * PARALLEL; i++) {
            programs[i] = cli_program_start(CLI_PROGRAM_PIPE, NULL, i % 2 == 0 ? list : get);
        }
        for (int i = 0; i < 2 * PARALLEL; i++) {
            cli_program_finish(&programs[i]);
            cli_program_expect(&programs[i], 0);
            assert_int_equal(cli_program_lines(&programs[i]), i % 2 == 0 ? IDS * TOPICS : TOPICS);
            cli_program_free(&programs[i]);
        }
    }
}

static void looking_changes_nothing(struct scene *scene, struct nats_client *client)
{
    struct scene_letters before = scene_letters_read(scene, LETTER_PARKED);
    look(scene);
    struct scene_letters after = scene_letters_read(scene, LETTER_PARKED);
    assert_int_equal(after.count, before.count);
    for (size_t i = 0; i < after.count; i++) {
        assert_int_equal(after.items[i].sequence, before.items[i].sequence);
        assert_true(span_equal(buffer_span(&after.items[i].bytes), buffer_span(&before.items[i].bytes)));
    }
    scene_letters_free(&before);
    scene_letters_free(&after);
    assert_int_equal(scene_dlq_count(scene, client, LETTER_WAITING), 0);
    scene_dlq_await_running(scene);
}

static void names_that_mean_something_to_nats(void **state)
{
    (void)state;
    struct scene *scene = scene_open("names", &parked_at_once);
    struct nats_client *client = nats_client_open(scene->nats_url);
    char topic[SCENE_DLQ_TOPIC_SIZE];
    fill_ids();
    scene_start(scene);
    scene_dlq_await_running(scene);
    for (size_t i = 0; i < TOPICS; i++) {
        scene_dlq_topic(scene, suffixes[i], topic);
        for (size_t j = 0; j < IDS; j++) {
            send(scene, topic, ids[j], "x");
        }
        scene_flush(scene);
        struct scene_letters so_far = scene_letters_await(scene, LETTER_PARKED, (i + 1) * IDS, SCENE_DLQ_OUT_MS); /* pending, the next of an id would replace it */
        scene_letters_free(&so_far);
    }
    assert_kept(scene);
    looking_changes_nothing(scene, client);
    scene_dlq_topic(scene, "a.b", topic);
    assert_listed(scene, "--target", topic, IDS);
    for (size_t j = 0; j < IDS; j++) {
        assert_listed(scene, "--id", ids[j], TOPICS);
    }
    struct cli_program purge = scene_dlq_run(scene, 0, (const char *const[]){"purge", "--id", "*", "--target", topic, "--execute", NULL});
    cli_program_free(&purge);
    assert_int_equal(scene_dlq_count(scene, client, LETTER_PARKED), IDS * TOPICS - 1);
    purge = scene_dlq_run(scene, 0, (const char *const[]){"purge", "--id", ">", "--execute", NULL});
    cli_program_free(&purge);
    assert_int_equal(scene_dlq_count(scene, client, LETTER_PARKED), IDS * TOPICS - 1 - TOPICS);
    assert_listed(scene, "--target", topic, IDS - 2);
    nats_client_close(client);
    scene_stop(scene);
    scene_close(scene);
}

/* ------------------------------------------------------------------------------------------------- N06, D11 */

static bool is_written(void *context)
{
    const struct scene *scene = context;
    char topic[SCENE_DLQ_TOPIC_SIZE];
    scene_dlq_topic(scene, "late", topic);
    return scene_dlq_records(scene, topic) > 0;
}

/* A redelivery that takes ten times its backoff is not begun again meanwhile, and ends once: delivered. */
static void a_slow_attempt_is_one_attempt(void **state)
{
    (void)state;
    static const struct scene_options options = {
        .letters = true,
        .targets = "[{name: late, match: \"@-late\", retry: {max_deliver: 3, backoff: 2s, factor: 1, jitter: 0}}]",
        .more = "unknown_topic_grace: 300ms",
    };
    struct scene *scene = scene_open("slow", &options);
    struct nats_client *client = nats_client_open(scene->nats_url);
    char topic[SCENE_DLQ_TOPIC_SIZE];
    scene_dlq_topic(scene, "late", topic);
    scene_start(scene);
    scene_dlq_await_running(scene);
    send(scene, topic, "slow", "x");
    scene_flush(scene);
    scene_dlq_await_count(scene, client, LETTER_WAITING, 1);
    kafka_topics_create(scene->bootstrap, topic, 1, NULL);
    kafka_broker_freeze(scene_broker());
    await_pause_ms(2000 + SLOW_MS); /* the attempt begins at 2 s, and takes so long */
    kafka_broker_thaw(scene_broker());
    assert_true(await_condition(is_written, scene, SCENE_DLQ_OUT_MS));
    scene_dlq_await_none(scene, client, LETTER_WAITING);
    await_pause_ms(QUIET_MS); /* nothing may follow */
    scene_dlq_await_metric(scene, "tarry_redeliveries_total", "result=\"delivered\"", 1);
    assert_true(tarry_process_metric(scene->process, "tarry_redeliveries_total", "result=\"retried\"") <= 0);
    assert_true(tarry_process_metric(scene->process, "tarry_redeliveries_total", "result=\"failed\"") <= 0);
    assert_true(tarry_process_metric(scene->process, "tarry_letters_total", NULL) == 1);
    assert_int_equal(scene_dlq_records(scene, topic), 1);
    assert_int_equal(scene_dlq_count(scene, client, LETTER_PARKED), 0);
    nats_client_close(client);
    scene_stop(scene);
    scene_close(scene);
}

/* ------------------------------------------------------------------------------------------------- N13 */

static bool is_there(void *context)
{
    jsStreamInfo *info = NULL;
    void **both = context;
    bool there = nats_client_info(both[0], both[1], &info);
    if (there) {
        jsStreamInfo_Destroy(info);
    }
    return there;
}

/* Parked letters of that record; a server may bring a deleted message back into a stream made at once under the old name (2.15.1 does, at times). */
static size_t count_parked(struct scene *scene, const char *id, uint32_t attempt)
{
    size_t count = 0;
    struct scene_letters parked = scene_letters_read(scene, LETTER_PARKED);
    for (size_t i = 0; i < parked.count; i++) {
        const struct letter *letter = &parked.items[i].letter;
        count += span_equals_text(letter->schedule_id, id) && letter->attempt == attempt;
    }
    scene_letters_free(&parked);
    return count;
}

static bool is_parked(void *scene)
{
    return count_parked(scene, "after", 3) > 0; /* redelivered as often as ever */
}

/* Somebody deletes both streams: their letters are lost, and nothing else; they are made again as they were, and work. */
static void streams_deleted_under_the_daemon(void **state)
{
    (void)state;
    static const struct scene_options options = {
        .letters = true,
        .shared_input = true,
        .dlq = "retry_later: 500ms",
        .targets = "[{name: late, match: \"@-late\", retry: {max_deliver: 3, backoff: 300ms, factor: 1, jitter: 0}}]",
        .more = "unknown_topic_grace: 300ms",
    };
    struct scene *scene = scene_open("deleted", &options);
    struct nats_client *client = nats_client_open(scene->nats_url);
    char topic[SCENE_DLQ_TOPIC_SIZE];
    scene_dlq_topic(scene, "late", topic);
    scene_start(scene);
    scene_dlq_await_running(scene);
    send(scene, topic, "before", "x");
    scene_flush(scene);
    scene_dlq_await_count(scene, client, LETTER_PARKED, 1);
    nats_client_delete_stream(client, scene->dlq_stream);
    nats_client_delete_stream(client, scene->parked_stream);
    send(scene, topic, "after", "x");
    scene_flush(scene);
    assert_true(await_condition(is_there, (void *[]){client, scene->dlq_stream}, SCENE_DLQ_OUT_MS));
    assert_true(await_condition(is_parked, scene, SCENE_DLQ_OUT_MS));
    scene_dlq_await_none(scene, client, LETTER_WAITING);
    assert_int_equal(count_parked(scene, "after", 3), 1);
    scene_dlq_await_running(scene);
    jsStreamInfo *info = NULL;
    assert_true(nats_client_info(client, scene->dlq_stream, &info));
    assert_int_equal(info->Config->Discard, js_DiscardNew);
    assert_int_equal(info->Config->Retention, js_LimitsPolicy);
    assert_int_equal(info->Config->MaxAge, 0);
    jsStreamInfo_Destroy(info);
    nats_client_close(client);
    scene_stop(scene);
    scene_close(scene);
}

/* ------------------------------------------------------------------------------------------------- D08 */

/* retry_count is the producer's word: however it looks, redeliveries are as many as the policy says. */
static void a_retry_count_is_input(void **state)
{
    (void)state;
    static const char *const counts[] = {"-1", "0", "3", "99", "2147483647", "\"x\"", NULL};
    static const struct scene_options options = {
        .source = "envelope: true",
        .letters = true,
        .targets = "[{name: late, match: \"@-late\", retry: {max_deliver: 2, backoff: 200ms, factor: 1, jitter: 0}}]",
        .more = "unknown_topic_grace: 300ms",
    };
    const size_t count = sizeof(counts) / sizeof(counts[0]);
    struct scene *scene = scene_open("counts", &options);
    char topic[SCENE_DLQ_TOPIC_SIZE];
    scene_dlq_topic(scene, "late", topic);
    scene_start(scene);
    for (size_t i = 0; i < count; i++) {
        char value[256];
        snprintf(value, sizeof(value), "{\"payload\":{\"n\":%zu}%s%s}", i, counts[i] == NULL ? "" : ",\"retry_count\":", counts[i] == NULL ? "" : counts[i]);
        send(scene, topic, NULL, value);
        scene_flush(scene); /* the value is this loop's */
    }
    struct scene_letters parked = scene_letters_await(scene, LETTER_PARKED, count, SCENE_DLQ_OUT_MS);
    assert_int_equal(parked.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(parked.items[i].letter.attempt, 2);
    }
    scene_letters_free(&parked);
    scene_dlq_await_metric(scene, "tarry_redeliveries_total", "result=\"retried\"", (double)count);
    assert_true(tarry_process_metric(scene->process, "tarry_redeliveries_total", "result=\"retried\"") == (double)count);
    scene_stop(scene);
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(names_that_mean_something_to_nats, scene_teardown),
        cmocka_unit_test_teardown(a_slow_attempt_is_one_attempt, scene_teardown),
        cmocka_unit_test_teardown(streams_deleted_under_the_daemon, scene_teardown),
        cmocka_unit_test_teardown(a_retry_count_is_input, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
