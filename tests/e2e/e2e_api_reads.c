/*
 * What the API says of single events, of numbers and of what is to come, of a real tarry: each state that an event can be asked in, the numbers against what was sent, a
 * forecast, a target that stands still, and a partition that another instance has.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "tests/support/await.h"
#include "tests/support/http_client.h"
#include "tests/support/scene_instance.h"
#include "tests/support/scene_schedules.h"

#define SAID_MS 20000
#define MOVED_MS 30000
#define MINUTE_MS INT64_C(60000)
#define HOUR_MS (60 * MINUTE_MS)
#define ANSWER_SIZE 65536

static const struct scene_options options = {.partitions = 2,
                                             .shared_input = true,
                                             .targets = "[{name: red, match: \"@-red\", rate: 1000/s}]",
                                             .outs = {"@-red"},
                                             .kafka = "consumer: {session.timeout.ms: 6000, heartbeat.interval.ms: 500}"};

static char *in; /* of the scene: the source's topic */

/* ------------------------------------------------------------------------------------------------- asking */

static cJSON *ask(const struct scene_instance *instance, const char *path, int status)
{
    char *body = malloc(ANSWER_SIZE);
    assert_non_null(body);
    int said = tarry_process_get(instance->process, path, body, ANSWER_SIZE);
    cJSON *document = cJSON_Parse(body);
    if (said != status || document == NULL) {
        print_error("%s: %d %s\n", path, said, body);
    }
    free(body);
    assert_int_equal(said, status);
    assert_non_null(document);
    return document;
}

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text == NULL ? "" : text;
}

static const cJSON *member_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    assert_non_null(item);
    return item;
}

static double number_of(const cJSON *object, const char *name)
{
    assert_true(cJSON_IsNumber(member_of(object, name)));
    return member_of(object, name)->valuedouble;
}

struct waiting {
    const struct scene_instance *instance;
    const char *path;
    const char *state;
    cJSON *document;
};

static bool has_state(void *context)
{
    struct waiting *waiting = context;
    char *body = malloc(ANSWER_SIZE);
    assert_non_null(body);
    (void)tarry_process_get(waiting->instance->process, waiting->path, body, ANSWER_SIZE);
    waiting->document = cJSON_Parse(body);
    free(body);
    bool is_it = strcmp(text_of(waiting->document, "state"), waiting->state) == 0;
    if (!is_it) {
        cJSON_Delete(waiting->document);
    }
    return is_it;
}

/* The event once it is in that state. Free with cJSON_Delete. */
static cJSON *await_state(const struct scene_instance *instance, const char *path, const char *state)
{
    struct waiting waiting = {instance, path, state, NULL};
    if (!await_condition(has_state, &waiting, SAID_MS)) {
        cJSON *said = ask(instance, path, 200);
        print_error("%s is %s, not %s\n", path, text_of(said, "state"), state);
        cJSON_Delete(said);
        fail();
    }
    return waiting.document;
}

static void expect_state(const struct scene_instance *instance, const char *path, const char *state, const char *kind)
{
    cJSON *document = await_state(instance, path, state);
    assert_string_equal(text_of(document, "kind"), kind);
    cJSON_Delete(document);
}

static void expect_not_found(const struct scene_instance *instance, const char *path)
{
    cJSON *document = ask(instance, path, 404);
    assert_string_equal(text_of(document, "code"), "not_found");
    cJSON_Delete(document);
}

static void post(const struct scene_instance *instance, const char *path)
{
    char *answer = http_client_send_body((uint16_t)instance->http_port, "POST", path, "Host: localhost\r\nContent-Type: application/json\r\n", "{}", 2);
    assert_non_null(answer);
    if (http_client_status(answer) != 200) {
        print_error("%s: %s\n", path, answer);
    }
    assert_int_equal(http_client_status(answer), 200);
    free(answer);
}

/* ------------------------------------------------------------------------------------------------- each state */

static bool is_listed(void *context)
{
    cJSON *document = ask(context, "/api/v1/messages?limit=1", 200);
    bool listed = strcmp(text_of(cJSON_GetArrayItem(member_of(document, "items"), 0), "id"), "later") == 0;
    cJSON_Delete(document);
    return listed;
}

static void test_waiting(const struct scene_instance *instance, struct scene *scene)
{
    char place[SCENE_NAME_MAX * 2];
    SCENE_SCHEDULE(scene, 1, "hello", "tarry-id", "later", "tarry-delay", "1h", "x-trace", "7");
    SCENE_SCHEDULE(scene, 0, "tick", "tarry-id", "a/b", "tarry-every", "1h");
    kafka_client_flush(scene->producer);
    cJSON *document = await_state(instance, "/api/v1/messages/later", "pending");
    assert_string_equal(text_of(document, "id"), "later");
    assert_string_equal(text_of(document, "value"), "hello");
    assert_string_equal(text_of(member_of(document, "target"), "lane"), "default");
    assert_int_equal(cJSON_GetArraySize(member_of(document, "headers")), 1);
    assert_int_equal(number_of(member_of(document, "source"), "partition"), 1);
    double due_in_ms = number_of(document, "due_ms") - (double)await_wall_ms();
    assert_true(due_in_ms > HOUR_MS - SAID_MS && due_in_ms <= HOUR_MS);
    snprintf(place, sizeof(place), "/api/v1/messages/%s%%2F1%%2F%.0f", in, number_of(member_of(document, "source"), "offset"));
    cJSON_Delete(document);
    document = ask(instance, place, 200); /* from memory, most likely */
    assert_string_equal(text_of(document, "id"), "later");
    cJSON_Delete(document);
    assert_true(await_condition(is_listed, (void *)(uintptr_t)instance, SAID_MS)); /* lists are of the checkpoint: it is read from there now */
    document = ask(instance, place, 200);
    assert_string_equal(text_of(document, "id"), "later");
    cJSON_Delete(document);
    expect_state(instance, "/api/v1/schedules/a%2Fb", "pending", "schedule");
}

static void test_paused_and_resumed(const struct scene_instance *instance)
{
    post(instance, "/api/v1/messages/later/pause");
    cJSON *document = await_state(instance, "/api/v1/messages/later", "paused");
    assert_true(cJSON_IsNull(member_of(document, "due")));
    assert_true(number_of(document, "resume_due_ms") > (double)await_wall_ms());
    assert_string_equal(text_of(cJSON_GetArrayItem(member_of(document, "history"), 0), "outcome"), "paused");
    cJSON_Delete(document);
    post(instance, "/api/v1/messages/later/resume");
    expect_state(instance, "/api/v1/messages/later", "pending", "message");
}

static void test_ended(const struct scene_instance *instance, struct scene *scene)
{
    SCENE_SCHEDULE(scene, 0, "now", "tarry-id", "soon", "tarry-delay", "0s");
    SCENE_SCHEDULE(scene, 1, "never", "tarry-id", "gone", "tarry-delay", "1h");
    SCENE_SCHEDULE(scene, 1, "", "tarry-id", "gone", "tarry-action", "cancel");
    SCENE_SCHEDULE(scene, 0, "", "tarry-id", "a/b", "tarry-action", "cancel");
    kafka_client_flush(scene->producer);
    cJSON *document = await_state(instance, "/api/v1/messages/soon", "delivered");
    assert_string_equal(text_of(member_of(document, "target"), "topic"), scene->out);
    assert_int_equal(cJSON_GetArraySize(member_of(document, "history")), 1);
    assert_int_equal(cJSON_GetArraySize(member_of(document, "elsewhere")), 0); /* all partitions are here */
    cJSON_Delete(document);
    expect_state(instance, "/api/v1/messages/gone", "cancelled", "message");
    expect_state(instance, "/api/v1/schedules/a%2Fb", "stopped", "schedule");
    expect_not_found(instance, "/api/v1/messages/nobody");
    expect_not_found(instance, "/api/v1/messages/in%2F0%2F99999");
    cJSON *wrong = ask(instance, "/api/v1/messages/later?source=nowhere", 400);
    assert_string_equal(text_of(wrong, "code"), "bad_parameter");
    cJSON_Delete(wrong);
}

/* ------------------------------------------------------------------------------------------------- numbers */

/* In the middle of minutes, so that no finest bucket lies on both sides of one's end. */
static void test_forecast(const struct scene_instance *instance, struct scene *scene)
{
    int64_t minute = await_wall_ms() / MINUTE_MS + 2;
    for (int64_t i = 0; i < 4; i++) {
        for (int64_t j = 0; j <= i; j++) {
            SCENE_SCHEDULE(scene, (int32_t)(j % 2), "due", "tarry-at", scene_schedules_text((minute + i) * MINUTE_MS + 20000 + j * 4000));
        }
    }
    kafka_client_flush(scene->producer);
    scene_schedules_await_metric_is(instance->process, "tarry_pending", NULL, 11);
    cJSON *document = ask(instance, "/api/v1/forecast?unit=minute&count=8&target=default", 200);
    assert_string_equal(text_of(document, "unit"), "minute");
    assert_int_equal(number_of(document, "overdue"), 0);
    assert_int_equal(number_of(document, "later"), 1); /* `later` */
    double sum = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, member_of(document, "items"))
    {
        int64_t at = ((int64_t)number_of(item, "to_ms") - MINUTE_MS) / MINUTE_MS - minute;
        assert_true(cJSON_IsTrue(member_of(item, "exact")));
        assert_int_equal(number_of(item, "count"), at >= 0 && at < 4 ? at + 1 : 0);
        sum += number_of(item, "count");
    }
    assert_int_equal(sum, 10);
    cJSON_Delete(document);
}

static void test_stats(const struct scene_instance *instance)
{
    cJSON *document = ask(instance, "/api/v1/stats", 200);
    assert_int_equal(number_of(document, "pending"), 11);
    assert_int_equal(number_of(document, "delivered"), 1);
    assert_int_equal(number_of(document, "cancelled"), 2);
    assert_int_equal(number_of(document, "refused"), 0);
    assert_true(number_of(document, "read") >= 16);
    assert_true(number_of(member_of(document, "lateness"), "p50_ms") > 0);
    assert_true(number_of(member_of(document, "store"), "used_bytes") > 0);
    const cJSON *source = cJSON_GetArrayItem(member_of(document, "sources"), 0);
    assert_string_equal(text_of(source, "topic"), in);
    assert_int_equal(cJSON_GetArraySize(member_of(source, "partitions")), 2);
    cJSON_Delete(document);
}

static bool is_paused(void *context)
{
    cJSON *document = ask(context, "/api/v1/targets", 200);
    const cJSON *item = cJSON_GetArrayItem(member_of(document, "items"), 1);
    assert_string_equal(text_of(item, "name"), "red");
    assert_int_equal(number_of(item, "rate_per_s"), 1000);
    bool paused = strcmp(text_of(item, "state"), "paused") == 0;
    cJSON_Delete(document);
    return paused;
}

static void test_target_stands_still(struct scene_instance *instance)
{
    assert_false(is_paused(instance));
    post(instance, "/api/v1/targets/red/pause");
    assert_true(await_condition(is_paused, instance, SAID_MS));
    post(instance, "/api/v1/targets/red/resume");
}

/* ------------------------------------------------------------------------------------------------- elsewhere */

/* Each has one partition: of an id of the other's it says where it may be. */
static void test_elsewhere(struct scene_instance *first, struct scene_instance *second)
{
    scene_instance_launch(second, NULL);
    scene_instance_await_partitions(first, 1, MOVED_MS);
    scene_instance_await_partitions(second, 1, MOVED_MS);
    cJSON *stats = ask(first, "/api/v1/stats", 200);
    double mine = cJSON_GetArrayItem(member_of(cJSON_GetArrayItem(member_of(stats, "sources"), 0), "partitions"), 0)->valuedouble;
    cJSON_Delete(stats);
    struct scene_instance *with_it = mine == 1 ? first : second; /* `later` is of partition 1 */
    struct scene_instance *without = mine == 1 ? second : first;
    expect_state(with_it, "/api/v1/messages/later", "pending", "message");
    cJSON *document = ask(without, "/api/v1/messages/nobody", 404);
    const cJSON *elsewhere = member_of(document, "elsewhere");
    assert_int_equal(cJSON_GetArraySize(elsewhere), 1);
    assert_string_equal(text_of(cJSON_GetArrayItem(elsewhere, 0), "topic"), in);
    assert_int_equal(number_of(cJSON_GetArrayItem(elsewhere, 0), "partition"), 1);
    assert_non_null(strstr(text_of(document, "detail"), "are not here"));
    cJSON_Delete(document);
}

static void test_reads(void **state)
{
    (void)state;
    struct scene *scene = scene_open("reads", &options);
    struct scene_instance *first = scene_instance_add(scene, "one", &options);
    struct scene_instance *second = scene_instance_add(scene, "two", &options);
    in = scene->in;
    scene_instance_start(first);
    scene_instance_await_partitions(first, 2, MOVED_MS);
    expect_not_found(first, "/api/v1/messages/later");
    test_waiting(first, scene);
    test_paused_and_resumed(first);
    test_ended(first, scene);
    test_forecast(first, scene);
    test_stats(first);
    test_target_stands_still(first);
    test_elsewhere(first, second);
    scene_instance_stop(second);
    scene_instance_stop(first);
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_reads, scene_teardown)};
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
