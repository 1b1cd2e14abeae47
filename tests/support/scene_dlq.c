#include "tests/support/scene_dlq.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/await.h"

#define WORDS_MAX 40
#define BODY_SIZE 16384

void scene_dlq_topic(const struct scene *scene, const char *suffix, char topic[SCENE_DLQ_TOPIC_SIZE])
{
    snprintf(topic, SCENE_DLQ_TOPIC_SIZE, "%s-%s", scene->prefix, suffix);
}

/* ---------------------------------------------------------------------------------------------- what tarry says */

struct watch {
    struct scene *scene;
    const char *text; /* a metric; a part of /health */
    const char *label;
    double least;
};

static bool has_risen(void *context)
{
    const struct watch *watch = context;
    return tarry_process_metric(watch->scene->process, watch->text, watch->label) >= watch->least;
}

void scene_dlq_await_metric(struct scene *scene, const char *metric, const char *label, double least)
{
    struct watch watch = {scene, metric, label, least};
    if (!await_condition(has_risen, &watch, SCENE_DLQ_OUT_MS)) {
        fail_msg("%s{%s}: %g, not %g", metric, label == NULL ? "" : label, tarry_process_metric(scene->process, metric, label), least);
    }
}

static bool is_said(void *context)
{
    const struct watch *watch = context;
    char body[BODY_SIZE];
    return tarry_process_get(watch->scene->process, "/health", body, sizeof(body)) == 200 && strstr(body, watch->text) != NULL;
}

void scene_dlq_await_health(struct scene *scene, const char *part)
{
    struct watch watch = {scene, part, NULL, 0};
    if (!await_condition(is_said, &watch, SCENE_DLQ_OUT_MS)) {
        char body[BODY_SIZE];
        int status = tarry_process_get(scene->process, "/health", body, sizeof(body));
        fail_msg("/health does not say %s: %d %s", part, status, body);
    }
}

void scene_dlq_await_running(struct scene *scene)
{
    scene_dlq_await_health(scene, "\"redelivery\":\"running\"");
}

/* --------------------------------------------------------------------------------------------------- streams */

uint64_t scene_dlq_count(const struct scene *scene, struct nats_client *client, enum letter_state state)
{
    jsStreamInfo *info = NULL;
    if (!nats_client_info(client, state == LETTER_WAITING ? scene->dlq_stream : scene->parked_stream, &info)) {
        return 0;
    }
    uint64_t count = info->State.Msgs;
    jsStreamInfo_Destroy(info);
    return count;
}

struct wanted {
    const struct scene *scene;
    struct nats_client *client;
    enum letter_state state;
    uint64_t least;
    uint64_t most;
};

static bool counts(void *context)
{
    const struct wanted *wanted = context;
    uint64_t count = scene_dlq_count(wanted->scene, wanted->client, wanted->state);
    return count >= wanted->least && count <= wanted->most;
}

static void await_between(const struct wanted *wanted)
{
    if (!await_condition(counts, (void *)(uintptr_t)wanted, 2 * SCENE_DLQ_OUT_MS)) {
        fail_msg("%s has %" PRIu64 " letters, not %" PRIu64 " to %" PRIu64,
                 wanted->state == LETTER_WAITING ? wanted->scene->dlq_stream : wanted->scene->parked_stream,
                 scene_dlq_count(wanted->scene, wanted->client, wanted->state), wanted->least, wanted->most);
    }
}

void scene_dlq_await_count(const struct scene *scene, struct nats_client *client, enum letter_state state, uint64_t least)
{
    await_between(&(struct wanted){scene, client, state, least, UINT64_MAX});
}

void scene_dlq_await_none(const struct scene *scene, struct nats_client *client, enum letter_state state)
{
    await_between(&(struct wanted){scene, client, state, 0, 0});
}

/* ----------------------------------------------------------------------------------------------------- Kafka */

int64_t scene_dlq_records(const struct scene *scene, const char *topic)
{
    int64_t low = 0;
    int64_t high = 0;
    kafka_client_watermarks(scene->bootstrap, topic, 0, &low, &high);
    return high;
}

static bool has_no_lag(void *context)
{
    const struct scene *scene = context;
    return kafka_client_committed(scene->bootstrap, scene->prefix, scene->in, 0, NULL) == scene_dlq_records(scene, scene->in);
}

void scene_dlq_await_no_lag(const struct scene *scene)
{
    if (!await_condition(has_no_lag, (void *)(uintptr_t)scene, SCENE_DLQ_OUT_MS)) {
        fail_msg("%s: committed %" PRId64 ", its end is %" PRId64, scene->in, kafka_client_committed(scene->bootstrap, scene->prefix, scene->in, 0, NULL),
                 scene_dlq_records(scene, scene->in));
    }
}

void scene_dlq_assert_header(const struct kafka_client_record *record, const char *name, const char *value)
{
    const char *found = kafka_client_header_text(record, name);
    if (value == NULL) {
        assert_null(found);
        assert_int_equal(kafka_client_header_count(record, name), 0);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found, value);
    assert_int_equal(kafka_client_header_count(record, name), 1);
}

size_t scene_dlq_headers_like(const struct kafka_client_record *record, const char *start)
{
    size_t count = 0;
    for (size_t i = 0; i < record->record.header_count; i++) {
        struct span name = record->record.headers[i].name;
        count += name.length >= strlen(start) && memcmp(name.data, start, strlen(start)) == 0;
    }
    return count;
}

/* ----------------------------------------------------------------------------------------------- command line */

struct cli_program scene_dlq_run(const struct scene *scene, int code, const char *const *words)
{
    const char *arguments[WORDS_MAX + 4] = {"dlq"};
    size_t count = 1;
    for (; words[count - 1] != NULL; count++) {
        assert_true(count < WORDS_MAX);
        arguments[count] = words[count - 1];
    }
    arguments[count++] = "-c";
    arguments[count] = scene->config_path;
    struct cli_program program = cli_program_run(CLI_PROGRAM_PIPE, arguments);
    cli_program_expect(&program, code);
    return program;
}
