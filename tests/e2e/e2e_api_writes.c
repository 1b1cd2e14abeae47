/*
 * Writes by HTTP, with a real tarry and a real Kafka: what is answered is what happened. Scheduled and delivered, refused, cancelled, repeated with an Idempotency-Key, moved,
 * paused, and all that over restarts.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/thread.h"
#include "tests/support/await.h"
#include "tests/support/http_client.h"
#include "tests/support/scene.h"
#include "tests/support/scene_schedules.h"
#include "tests/support/write_client.h"

#define MESSAGES "/api/v1/messages"
#define SCHEDULES "/api/v1/schedules"
#define LONG_MS 30000

#define COMMON .partitions = 3, .shared_input = true, .kafka = "consumer: {session.timeout.ms: 4000, heartbeat.interval.ms: 500}", .targets = "[{name: other, match: \"@-other\"}]", .outs = {"@-other"}
static const struct scene_options usual = {COMMON, .more = "delivery: at_least_once\ntransaction_timeout: 5s"};
static const struct scene_options exactly = {COMMON, .more = "delivery: exactly_once\ntransaction_timeout: 5s"};
static const struct scene_options dedupes = {COMMON, .source = "dedupe: 1h"};
static const struct scene_options foreign = {COMMON, .source = "dialects: [rabbitmq]"};

static struct scene *begin(const char *name, const struct scene_options *options)
{
    struct scene *scene = scene_open(name, options);
    scene_start(scene);
    return scene;
}

static void end(struct scene *scene)
{
    scene_stop(scene);
    scene_close(scene);
}

static void post(struct scene *scene, const char *path, const char *body, int status, const char *said)
{
    write_client_check(scene->http_port, "POST", path, body, status, said);
}

static void cancel(struct scene *scene, const char *path, int status, const char *said)
{
    write_client_check(scene->http_port, "DELETE", path, NULL, status, said);
}

/* Records in the source topic that the API has written, with this header's value. */
static size_t count_in(const struct scene *scene, const char *header, const char *value)
{
    const char *const topics[] = {scene->in, NULL};
    struct kafka_client_records records = kafka_client_read_all(scene->bootstrap, topics);
    size_t count = 0;
    for (size_t i = 0; i < records.count; i++) {
        const char *found = kafka_client_header_text(&records.items[i], header);
        count += found != NULL && strcmp(found, value) == 0;
    }
    kafka_client_records_free(&records);
    return count;
}

/* ------------------------------------------------------------------------------------------------- scheduled */

static void leaves_on_time(struct scene *scene)
{
    char body[512];
    int64_t due_ms = await_wall_ms() + 1200;
    (void)snprintf(body, sizeof(body), "{\"id\":\"on time/1\",\"key\":\"customer-7\",\"value\":\"hello\",\"topic\":\"%s-other\",\"at\":%" PRId64
                   ",\"headers\":[{\"name\":\"trace\",\"value\":\"t-1\"},{\"name\":\"trace\",\"value\":null}]}", scene->prefix, due_ms);
    struct write_client_answer answer = write_client_expect(scene->http_port, "POST", MESSAGES, body, 201, "scheduled");
    assert_string_equal(write_client_text(&answer, "id"), "on time/1");
    assert_true((int64_t)write_client_number(&answer, "due_ms") == due_ms);
    assert_string_equal(write_client_text(&answer, "source.topic"), scene->in);
    assert_true(write_client_number(&answer, "source.partition") >= 0 && write_client_number(&answer, "source.offset") >= 0);
    write_client_free(&answer);
    for (int64_t end_ms = await_mono_ms() + LONG_MS; scene_schedules_count(scene, "hello") == 0 && await_mono_ms() < end_ms;) {
        scene_schedules_read(scene);
        for (size_t i = 0; i < scene->outputs.count; i++) { /* of the other target, which scene_schedules_count does not count */
            if (span_equals_text(scene->outputs.items[i].record.value, "hello")) {
                end_ms = 0;
            }
        }
    }
    const struct kafka_client_record *out = scene_schedules_find(scene, "hello");
    assert_string_equal(out->topic, scene->outs[1]);
    assert_true(span_equals_text(out->record.key, "customer-7"));
    assert_true(out->record.timestamp_ms >= due_ms && out->record.timestamp_ms < due_ms + 5000);
    assert_string_equal(kafka_client_header_text(out, "tarry-id"), "on time/1");
    assert_null(kafka_client_header_text(out, "tarry-request"));
    assert_null(kafka_client_header_text(out, "tarry-at"));
    assert_true(span_equals_text(out->record.headers[0].name, "trace") && span_equals_text(out->record.headers[0].value, "t-1"));
    assert_true(out->record.headers[1].value.data == NULL);
}

/* Each answer there is, without anything being written for those that are wrong. */
static void answers(struct scene *scene)
{
    post(scene, MESSAGES, "{\"in\":\"1h\"}", 201, "scheduled"); /* with an id that is made */
    post(scene, MESSAGES, "{\"in\":\"1h\",\"id\":null,\"value\":\"x\"}", 201, "scheduled");
    post(scene, MESSAGES, "{\"in\":\"1h\",\"topic\":\"nowhere\"}", 422, "refused");
    post(scene, MESSAGES, "{\"at\":1795961999}", 422, "refused");
    post(scene, MESSAGES, "{\"in\":\"1h\",\"headers\":[{\"name\":\"tarry-root\",\"value\":\"1:1\"}]}", 422, "refused");
    post(scene, SCHEDULES, "{\"id\":\"c\",\"cron\":\"99 * * * *\"}", 422, "refused");
    post(scene, SCHEDULES, "{\"id\":\"c\",\"cron\":\"0 0 30 2 *\"}", 422, "refused");
    post(scene, SCHEDULES, "{\"id\":\"c\",\"cron\":\"* * * * *\",\"tz\":\"Europe/Atlantis\"}", 422, "refused");
    post(scene, MESSAGES, "{\"source\":\"no-such\",\"in\":\"1h\"}", 404, "not_found");
    post(scene, MESSAGES, "{\"in\":\"1h\"", 400, "bad_json");
    assert_int_equal(count_in(scene, "tarry-id", "c"), 0);
    assert_true(tarry_process_metric(scene->process, "tarry_records_refused_total", NULL) <= 0);
    post(scene, MESSAGES, "{\"in\":\"1h\",\"id\":\"one\",\"if_exists\":\"reject\"}", 201, "scheduled"); /* decided, written again, read back */
    post(scene, MESSAGES, "{\"in\":\"2h\",\"id\":\"one\",\"if_exists\":\"reject\"}", 409, "exists");
    post(scene, MESSAGES, "{\"in\":\"2h\",\"id\":\"one\"}", 201, "scheduled"); /* replaces it */
    struct write_client_answer cron = write_client_expect(scene->http_port, "POST", SCHEDULES, "{\"id\":\"nine\",\"cron\":\"0 9 * * *\",\"tz\":\"Europe/Berlin\"}", 201, "scheduled");
    assert_true(write_client_number(&cron, "due_ms") > (double)await_wall_ms());
    write_client_free(&cron);
}

/* ------------------------------------------------------------------------------------------------- cancelled */

/* Schedules the id "two" with this key; its partition. */
static int partition_of_two(struct scene *scene, int key)
{
    char body[128];
    (void)snprintf(body, sizeof body, "{\"in\":\"1h\",\"id\":\"two\",\"key\":\"%d\"}", key);
    struct write_client_answer answer = write_client_expect(scene->http_port, "POST", MESSAGES, body, 201, "scheduled");
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(answer.document, "source");
    int partition = (int)cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(source, "partition"));
    write_client_free(&answer);
    return partition;
}

/* One id with two keys: a partition that is named is the only one, which is what a list shows and a person means. */
static void cancels_one_of_two(struct scene *scene)
{
    char path[128];
    int first = partition_of_two(scene, 0);
    int second = first;
    for (int key = 1; second == first && key < 100; key++) {
        second = partition_of_two(scene, key);
    }
    assert_int_not_equal(first, second);
    size_t before = count_in(scene, "tarry-action", "cancel");
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, MESSAGES "/two?partition=%d", i == 0 ? first : second);
        for (int time = 0; time < 2; time++) { /* it was still pending the first time, also when the other one was cancelled before */
            struct write_client_answer answer = write_client_expect(scene->http_port, "DELETE", path, NULL, 200, "cancelled");
            assert_int_equal(cJSON_HasObjectItem(answer.document, "already"), time);
            write_client_free(&answer);
        }
    }
    assert_int_equal(count_in(scene, "tarry-action", "cancel"), before + 4);
}

static void cancels(struct scene *scene)
{
    post(scene, MESSAGES, "{\"in\":\"1h\",\"id\":\"gone\",\"key\":\"k\"}", 201, "scheduled");
    cancel(scene, MESSAGES "/gone", 200, "cancelled");
    struct write_client_answer again = write_client_expect(scene->http_port, "DELETE", MESSAGES "/gone", NULL, 200, "cancelled");
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(again.document, "already")));
    write_client_free(&again);
    cancel(scene, MESSAGES "/never-there", 404, "not_found");
    post(scene, MESSAGES, "{\"in\":\"1h\",\"id\":\"by key\",\"key\":\"k\"}", 201, "scheduled");
    size_t before = count_in(scene, "tarry-action", "cancel");
    cancel(scene, MESSAGES "/by%20key?key=k", 200, "cancelled");
    assert_int_equal(count_in(scene, "tarry-action", "cancel"), before + 1); /* one partition alone */
    post(scene, MESSAGES, "{\"in\":\"1h\",\"id\":\"other key\",\"key\":\"k\"}", 201, "scheduled");
    cancel(scene, MESSAGES "/other%20key?key=customer-8", 200, "cancelled"); /* a wrong key costs a second round */
    post(scene, MESSAGES, "{\"in\":\"200ms\",\"id\":\"out\",\"value\":\"out it is\"}", 201, "scheduled");
    scene_schedules_await(scene, "out it is", 1);
    scene_schedules_await_metric(scene->process, "tarry_delivered_total", NULL, 1);
    struct write_client_answer late = write_client_try(scene->http_port, "DELETE", MESSAGES "/out", NULL, NULL);
    assert_int_equal(late.status, 409);
    if (strcmp(write_client_text(&late, "code"), "too_late") == 0) { /* not committed yet */
        for (int64_t end_ms = await_mono_ms() + LONG_MS; late.status == 409 && strcmp(write_client_text(&late, "code"), "delivered") != 0 && await_mono_ms() < end_ms;) {
            write_client_free(&late);
            late = write_client_try(scene->http_port, "DELETE", MESSAGES "/out", NULL, NULL);
        }
    }
    assert_string_equal(write_client_text(&late, "code"), "delivered");
    assert_true(write_client_number(&late, "delivered_ms") > 0);
    write_client_free(&late);
    cancel(scene, MESSAGES "/x?source=nowhere", 404, "not_found");
    cancel(scene, MESSAGES "/x?partition=0&key=k", 400, "bad_parameter");
    cancel(scene, MESSAGES "/x?partition=-1", 400, "bad_parameter");
    cancel(scene, MESSAGES "/x?partition=1000", 400, "bad_parameter");
    cancels_one_of_two(scene);
}

static void cancels_what_comes_again(struct scene *scene)
{
    post(scene, SCHEDULES, "{\"id\":\"tick\",\"every\":\"1s\",\"in\":0,\"value\":\"tick\"}", 201, "scheduled");
    scene_schedules_await(scene, "tick", 2);
    cancel(scene, SCHEDULES "/tick", 200, "cancelled");
    scene_schedules_read(scene);
    size_t count = scene_schedules_count(scene, "tick");
    await_pause_ms(2500);
    scene_schedules_read(scene);
    assert_in_range(scene_schedules_count(scene, "tick"), count, count + 1); /* the one that was under way */
    cancel(scene, SCHEDULES "/tick", 200, "cancelled");
}

static void test_at_least_once(void **state)
{
    (void)state;
    struct scene *scene = begin("writes", &usual);
    leaves_on_time(scene);
    answers(scene);
    cancels(scene);
    cancels_what_comes_again(scene);
    struct write_client_answer audit = write_client_expect(scene->http_port, "GET", "/api/v1/audit", NULL, 200, NULL);
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(audit.document, "items");
    assert_true(cJSON_GetArraySize(items) > 20);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(items, 0), "action")), "cancel");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(items, 0), "id")), "tick");
    write_client_free(&audit);
    assert_true(tarry_process_log_count(scene->process, "\"event\":\"audit\"") > 20);
    assert_int_equal(tarry_process_log_count(scene->process, "hello"), 0); /* no payload */
    end(scene);
}

static void test_exactly_once(void **state)
{
    (void)state;
    struct scene *scene = begin("writes-exactly", &exactly);
    leaves_on_time(scene);
    post(scene, MESSAGES, "{\"in\":\"1h\",\"id\":\"gone\",\"key\":\"k\"}", 201, "scheduled");
    cancel(scene, MESSAGES "/gone", 200, "cancelled");
    cancel(scene, MESSAGES "/never-there", 404, "not_found");
    post(scene, MESSAGES, "{\"in\":\"1h\",\"id\":\"one\",\"if_exists\":\"reject\"}", 201, "scheduled");
    post(scene, MESSAGES, "{\"in\":\"1h\",\"id\":\"one\",\"if_exists\":\"reject\"}", 409, "exists");
    post(scene, MESSAGES "/one/run-now", NULL, 200, "done");
    end(scene);
}

static void test_dedupe_and_dialects(void **state)
{
    (void)state;
    struct scene *scene = begin("writes-dedupe", &dedupes);
    post(scene, MESSAGES, "{\"in\":0,\"id\":\"d\",\"value\":\"once\"}", 201, "scheduled");
    scene_schedules_await(scene, "once", 1);
    post(scene, MESSAGES, "{\"in\":0,\"id\":\"d\",\"value\":\"once\"}", 409, "duplicate");
    end(scene);
    scene = begin("writes-foreign", &foreign);
    post(scene, MESSAGES, "{\"in\":\"1h\"}", 422, "source_without_tarry_dialect");
    cancel(scene, MESSAGES "/x", 422, "source_without_tarry_dialect");
    end(scene);
}

/* ------------------------------------------------------------------------------------------------- Idempotency-Key */

#define ASKERS 12

struct asker {
    pthread_t thread;
    int port;
    struct write_client_answer answer;
};

#define KEYED "{\"in\":\"1h\",\"value\":\"keyed\"}"

static void *ask_keyed(void *context)
{
    struct asker *asker = context;
    asker->answer = write_client_try(asker->port, "POST", MESSAGES, "one-of-many", KEYED);
    return NULL;
}

/* As a client does that has no answer yet. */
static struct write_client_answer repeat_keyed(struct scene *scene, const char *key, const char *body)
{
    struct write_client_answer answer = write_client_try(scene->http_port, "POST", MESSAGES, key, body);
    for (int64_t end_ms = await_mono_ms() + LONG_MS; answer.status != 201 && await_mono_ms() < end_ms;) {
        assert_true(answer.status == 409 || answer.status == 503);
        write_client_free(&answer);
        await_pause_ms(50);
        answer = write_client_try(scene->http_port, "POST", MESSAGES, key, body);
    }
    assert_int_equal(answer.status, 201);
    return answer;
}

static void test_repeated(void **state)
{
    (void)state;
    struct scene *scene = begin("keyed", &usual);
    struct asker askers[ASKERS];
    char id[64];
    for (int i = 0; i < ASKERS; i++) {
        askers[i].port = scene->http_port;
        assert_true(thread_start(&askers[i].thread, ask_keyed, &askers[i]));
    }
    for (int i = 0; i < ASKERS; i++) {
        pthread_join(askers[i].thread, NULL);
        assert_true(askers[i].answer.status == 201 || askers[i].answer.status == 409);
        write_client_free(&askers[i].answer);
    }
    struct write_client_answer answer = repeat_keyed(scene, "one-of-many", KEYED);
    (void)snprintf(id, sizeof(id), "%s", write_client_text(&answer, "id"));
    write_client_free(&answer);
    assert_int_equal(count_in(scene, "tarry-id", id), 1);
    answer = write_client_try(scene->http_port, "POST", MESSAGES, "one-of-many", "{\"in\":\"2h\"}");
    assert_int_equal(answer.status, 422);
    assert_string_equal(write_client_text(&answer, "code"), "idempotency_key_reused");
    write_client_free(&answer);
    answer = repeat_keyed(scene, "with-id", "{\"in\":\"1h\",\"id\":\"mine\"}");
    write_client_free(&answer);
    scene_stop(scene);
    scene_start(scene);
    answer = repeat_keyed(scene, "one-of-many", KEYED);
    assert_string_equal(write_client_text(&answer, "id"), id);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer.document, "repeated")));
    assert_true(write_client_number(&answer, "due_ms") > (double)await_wall_ms());
    write_client_free(&answer);
    assert_int_equal(count_in(scene, "tarry-id", id), 1); /* nothing was written for it */
    answer = repeat_keyed(scene, "with-id", "{\"in\":\"1h\",\"id\":\"mine\"}");
    write_client_free(&answer);
    assert_int_equal(count_in(scene, "tarry-id", "mine"), 1);
    post(scene, MESSAGES, "{\"in\":\"1h\",\"id\":\"mine\"}", 201, "scheduled"); /* without a key it is a new one, which replaces */
    assert_int_equal(count_in(scene, "tarry-id", "mine"), 2);
    end(scene);
}

/* ------------------------------------------------------------------------------------------------- steering */

static void test_steered(void **state)
{
    (void)state;
    struct scene *scene = begin("steered", &usual);
    char other[256];
    post(scene, MESSAGES, "{\"in\":\"1h\",\"id\":\"now\",\"value\":\"now\"}", 201, "scheduled");
    post(scene, MESSAGES, "{\"in\":\"1h\",\"id\":\"soon\",\"value\":\"soon\"}", 201, "scheduled");
    post(scene, MESSAGES, "{\"in\":\"5s\",\"id\":\"held\",\"value\":\"held\"}", 201, "scheduled");
    post(scene, MESSAGES, "{\"in\":\"5s\",\"id\":\"resumed\",\"value\":\"resumed\"}", 201, "scheduled");
    post(scene, MESSAGES "/now/run-now", "{}", 200, "done");
    scene_schedules_await(scene, "now", 1);
    struct write_client_answer moved = write_client_expect(scene->http_port, "POST", MESSAGES "/soon/reschedule", "{\"in\":\"30m\"}", 200, "done");
    assert_true(write_client_number(&moved, "due_ms") < write_client_number(&moved, "was_due_ms"));
    write_client_free(&moved);
    post(scene, MESSAGES "/held/pause", "{}", 200, "done");
    post(scene, MESSAGES "/resumed/pause", NULL, 200, "done");
    post(scene, MESSAGES "/nobody/pause", "{}", 404, "not_found");
    post(scene, MESSAGES "/nobody/pause?key=k", "{}", 404, "not_found");
    post(scene, MESSAGES "/soon/reschedule", "{\"at\":1795961999}", 400, "bad_body");
    post(scene, MESSAGES "/soon/reschedule", "{}", 400, "bad_body");
    post(scene, "/api/v1/targets/other/pause", "{}", 200, "done");
    post(scene, "/api/v1/targets/nobody/pause", "{}", 404, "not_found");
    (void)snprintf(other, sizeof(other), "{\"in\":0,\"id\":\"stopped\",\"topic\":\"%s-other\",\"value\":\"stopped\"}", scene->prefix);
    post(scene, MESSAGES, other, 201, "scheduled");
    scene_stop(scene); /* with a last commit: wishes and pauses are in it */
    scene_start(scene);
    struct write_client_answer resumed = write_client_expect(scene->http_port, "POST", MESSAGES "/resumed/resume", "{}", 200, "done");
    assert_true(write_client_number(&resumed, "due_ms") > 0);
    write_client_free(&resumed);
    scene_schedules_await(scene, "resumed", 1);
    post(scene, MESSAGES "/soon/run-now", "{}", 200, "done");
    scene_schedules_await(scene, "soon", 1);
    scene_schedules_read(scene);
    assert_int_equal(scene_schedules_count(scene, "held"), 0);
    scene_schedules_await_metric_is(scene->process, "tarry_overdue", "target=\"other\"", 1);
    for (size_t i = 0; i < scene->outputs.count; i++) {
        assert_false(span_equals_text(scene->outputs.items[i].record.value, "stopped"));
    }
    post(scene, "/api/v1/targets/other/resume", "{}", 200, "done");
    scene_schedules_await_metric_is(scene->process, "tarry_overdue", "target=\"other\"", 0);
    end(scene);
}

#define TEST(function) cmocka_unit_test_teardown(function, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_at_least_once), TEST(test_exactly_once), TEST(test_dedupe_and_dialects), TEST(test_repeated), TEST(test_steered)};
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
