/* Dead letters and replay jobs over HTTP, against a real nats-server: the handlers behind a real HTTP server, without Kafka. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "base/memory.h"
#include "dlq/jobs.h"
#include "ops/api_audit.h"
#include "ops/api_letters_link.h"
#include "ops/api_letters_scan.h"
#include "ops/clock.h"
#include "tests/support/await.h"
#include "tests/support/config_text.h"
#include "tests/support/http_client.h"
#include "tests/support/http_scene.h"
#include "tests/support/nats_client.h"
#include "tests/support/nats_letters.h"
#include "tests/support/nats_server.h"

#define WAIT_MS 20000
#define WAITING 25
#define PARKED 7
#define LARGE ((size_t)2 << 20) /* more than a message of this server takes: stands apart */

struct scene {
    struct nats_server *server;
    struct nats_client *client;
    struct link *link; /* the test's own */
    struct streams_options options;
    struct config *config;
    struct http_scene *http;
    struct error error;
};

/* ------------------------------------------------------------------------------------------------ the scene */

static struct config *config_of(const char *url)
{
    char text[512];
    (void)snprintf(text, sizeof text, CONFIG_TEXT_LEAST "nats: {url: \"%s\"}\ndlq: {stream: TARRY_DLQ, parked_stream: TARRY_PARKED}\n", url);
    return config_text_good(text);
}

static void post_parked(struct mailer *mailer)
{
    struct letter letters[PARKED + 1];
    struct mailer_item items[PARKED + 1];
    for (size_t i = 0; i <= PARKED; i++) {
        letters[i] = nats_letters_one(1000 + i, i == PARKED ? LARGE : 10);
        letters[i].reason = LETTER_REASON_NO_TIME;
        letters[i].error = span_of_text("no time in record 0815");
        letters[i].target = i == PARKED ? span_of_text("large") : SPAN_ABSENT;
        letters[i].schedule_id = i == 0 ? span_of_text("order/17") : SPAN_ABSENT;
        items[i] = (struct mailer_item){.letter = &letters[i], .state = LETTER_PARKED};
    }
    mailer_post(mailer, items, PARKED + 1, WAIT_MS);
    for (size_t i = 0; i <= PARKED; i++) {
        assert_int_equal(items[i].result, MAILER_KEPT);
    }
}

static int open_scene(void **state)
{
    static const struct http_options http = {.listen = "127.0.0.1:0"};
    struct scene *scene = memory_new(1, sizeof *scene);
    scene->server = nats_server_start(NULL);
    scene->client = nats_client_open(nats_server_url(scene->server));
    scene->link = nats_letters_link(nats_server_url(scene->server));
    scene->options = nats_letters_options();
    scene->config = config_of(nats_server_url(scene->server));
    scene->http = http_scene_open(&http);
    scene->http->api.letters = api_letters_link_new(scene->config);
    scene->http->api.audit = api_audit_new();
    *state = scene;
    return 0;
}

static int open_filled(void **state)
{
    (void)open_scene(state);
    struct scene *scene = *state;
    nats_letters_streams(scene->link, &scene->options);
    struct mailer *mailer = mailer_new(scene->link, &scene->options);
    assert_int_equal(nats_letters_post(mailer, 1, WAITING, 20, WAIT_MS, NULL), WAITING);
    post_parked(mailer);
    mailer_free(mailer);
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;
    struct api_letters *letters = scene->http->api.letters;
    struct api_audit *audit = scene->http->api.audit;
    http_scene_close(scene->http);
    api_letters_link_free(letters);
    api_audit_free(audit);
    config_free(scene->config);
    link_close(scene->link);
    nats_client_close(scene->client);
    nats_server_free(scene->server);
    free(scene);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ asking */

/* The body of an answer of this status; freed with cJSON_Delete. */
static cJSON *answer_of(char *answer, const char *what, int status)
{
    if (answer == NULL || http_client_status(answer) != status) {
        fail_msg("%s: wanted %d, got: %.2000s", what, status, answer == NULL ? "nothing" : answer);
    }
    cJSON *document = cJSON_Parse(http_client_body(answer));
    assert_non_null(document);
    free(answer);
    return document;
}

static cJSON *get(const struct scene *scene, const char *path, int status)
{
    char whole[512];
    (void)snprintf(whole, sizeof whole, "/api/v1/dlq/%s", path);
    return answer_of(http_client_request(scene->http->port, "GET", whole, "Host: localhost\r\n"), whole, status);
}

static cJSON *post(const struct scene *scene, const char *path, int status)
{
    char whole[512];
    (void)snprintf(whole, sizeof whole, "/api/v1/dlq/%s", path);
    return answer_of(http_client_send_body(scene->http->port, "POST", whole, "Host: localhost\r\nContent-Type: application/json\r\n", "{}", 2), whole, status);
}

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text == NULL ? "(none)" : text;
}

static double number_of(const cJSON *object, const char *name)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, name);
    assert_true(cJSON_IsNumber(number));
    return number->valuedouble;
}

static const cJSON *items_of(const cJSON *page)
{
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(page, "items");
    assert_true(cJSON_IsArray(items));
    return items;
}

static void check_count(const struct scene *scene, const char *query, int count)
{
    cJSON *page = get(scene, query, 200);
    if (cJSON_GetArraySize(items_of(page)) != count) {
        fail_msg("%s: %d items, not %d", query, cJSON_GetArraySize(items_of(page)), count);
    }
    cJSON_Delete(page);
}

static void check_problem(cJSON *problem, const char *code)
{
    assert_string_equal(text_of(problem, "code"), code);
    cJSON_Delete(problem);
}

/* ------------------------------------------------------------------------------------------------ letters */

/* In pages of `limit`, each letter comes once, and the pages end. */
static void walk(const struct scene *scene, int limit, int wanted)
{
    char path[300];
    char cursor[200] = "";
    cJSON *seen = cJSON_CreateObject();
    int pages = 0;
    do {
        (void)snprintf(path, sizeof path, "letters?limit=%d%s%s", limit, cursor[0] == '\0' ? "" : "&cursor=", cursor);
        cJSON *page = get(scene, path, 200);
        assert_true(cJSON_GetArraySize(items_of(page)) <= limit);
        for (const cJSON *item = items_of(page)->child; item != NULL; item = item->next) {
            assert_false(cJSON_HasObjectItem(seen, text_of(item, "id")));
            assert_false(cJSON_HasObjectItem(item, "value"));
            (void)cJSON_AddTrueToObject(seen, text_of(item, "id"));
        }
        (void)snprintf(cursor, sizeof cursor, "%s", cJSON_IsNull(cJSON_GetObjectItem(page, "next_cursor")) ? "" : text_of(page, "next_cursor"));
        cJSON_Delete(page);
    } while (cursor[0] != '\0' && ++pages <= wanted + 2);
    assert_int_equal(cJSON_GetArraySize(seen), wanted);
    cJSON_Delete(seen);
}

static void pages_have_each_letter_once(void **state)
{
    struct scene *scene = *state;
    const int all = WAITING + PARKED + 1;
    walk(scene, 1, all);
    walk(scene, 5, all);
    walk(scene, WAITING, all);
    walk(scene, all, all);
    walk(scene, 1000, all);
    check_count(scene, "letters?state=waiting", WAITING);
    check_count(scene, "letters?state=parked", PARKED + 1);
    check_count(scene, "letters?reason=no_time", PARKED + 1);
    check_count(scene, "letters?reason=late", 0);
    check_count(scene, "letters?target=orders", WAITING);
    check_count(scene, "letters?target=orders&state=parked", 0);
    check_count(scene, "letters?target=_refused", PARKED);
    check_problem(get(scene, "letters?limit=0", 400), "bad_parameter");
    check_problem(get(scene, "letters?cursor=waiting.1.1.00000000", 400), "bad_parameter");
    check_problem(get(scene, "letters?stat=waiting", 400), "bad_parameter");
}

static void letters_are_got_whole(void **state)
{
    struct scene *scene = *state;
    char path[100];
    struct letter small = nats_letters_one(3, 20);
    struct letter large = nats_letters_one(1000 + PARKED, LARGE);
    (void)snprintf(path, sizeof path, "letters/%s", small.id);
    cJSON *letter = get(scene, path, 200);
    assert_string_equal(text_of(letter, "id"), small.id);
    assert_string_equal(text_of(cJSON_GetObjectItem(letter, "key"), "data"), "key");
    cJSON_Delete(letter);
    (void)snprintf(path, sizeof path, "letters/%s", large.id);
    letter = get(scene, path, 200);
    assert_true(strlen(text_of(cJSON_GetObjectItem(letter, "value"), "data")) >= LARGE);
    assert_false(cJSON_HasObjectItem(letter, "cut"));
    cJSON_Delete(letter);
    letter = get(scene, "letters/order%2F17", 200);
    assert_string_equal(text_of(letter, "state"), "parked");
    cJSON_Delete(letter);
    cJSON *page = get(scene, "letters?target=large&payload=true", 200);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(items_of(page)->child, "cut")));
    cJSON_Delete(page);
    page = get(scene, "letters?limit=1&payload=true", 200);
    assert_string_equal(text_of(cJSON_GetObjectItem(items_of(page)->child, "key"), "data"), "key");
    cJSON_Delete(page);
    check_problem(get(scene, "letters/nobody", 404), "not_found");
    check_problem(get(scene, "letters/order%2F17?state=waiting", 404), "not_found");
}

static void reasons_are_counted(void **state)
{
    struct scene *scene = *state;
    cJSON *reasons = get(scene, "reasons", 200);
    const cJSON *first = items_of(reasons)->child;
    assert_int_equal(cJSON_GetArraySize(items_of(reasons)), 2);
    assert_string_equal(text_of(first, "group"), "unknown_target");
    assert_true(number_of(first, "count") == WAITING && number_of(first, "waiting") == WAITING && number_of(first, "parked") == 0);
    assert_true(number_of(reasons, "letters") == WAITING + PARKED + 1 && number_of(reasons, "groups") == 2);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(reasons, "complete")));
    cJSON_Delete(reasons);
    reasons = get(scene, "reasons?by=error&state=parked&target=_refused", 200);
    assert_string_equal(text_of(items_of(reasons)->child, "group"), "no time in record N");
    assert_true(number_of(items_of(reasons)->child, "count") == PARKED);
    cJSON_Delete(reasons);
    check_count(scene, "reasons?by=target", 3);
    check_count(scene, "reasons?by=target&limit=1", 1);
    check_count(scene, "reasons?by=source", 1);
    check_count(scene, "reasons?by=hour", 1);
    check_problem(get(scene, "reasons?by=colour", 400), "bad_parameter");
}

/* ------------------------------------------------------------------------------------------------ without time */

static bool count_one(void *visitor, enum letter_state state, const struct letter *letter, size_t bytes)
{
    (void)letter;
    (void)bytes;
    ((int *)visitor)[state] += 1;
    return true;
}

/* However little time there is, each request gets on, and its cursor goes on where it ended. */
static void what_takes_too_long_goes_on(void **state)
{
    struct scene *scene = *state;
    struct api *api = &scene->http->api;
    static const struct http_request_counts none;
    struct http_request *request = http_request_new(NULL, &none);
    int counts[2] = {0, 0};
    int parts = 0;
    request->deadline.ms = clock_mono().ms + WAIT_MS * 3;
    struct api_letters_scan scan = {.request = request, .api = api, .filter = {.wants = {true, true}, .reason = -1}, .visit = count_one, .visitor = counts};
    scan.link = api_letters_link_up(request, api);
    assert_non_null(scan.link);
    enum api_letters_scan_result result = API_LETTERS_SCAN_PART;
    while ((result = api_letters_scan_run(&scan)) == API_LETTERS_SCAN_PART && parts <= WAITING + PARKED + 8) {
        parts++;
    }
    assert_int_equal(result, API_LETTERS_SCAN_ALL);
    assert_true(parts > 5);
    assert_int_equal(counts[LETTER_WAITING], WAITING);
    assert_int_equal(counts[LETTER_PARKED], PARKED + 1);
    request->deadline.ms = clock_mono().ms; /* the request's own time ends it, too */
    scan.time_ms = WAIT_MS;
    scan.next = (struct api_letters_cursor){.state = LETTER_WAITING};
    assert_int_equal(api_letters_scan_run(&scan), API_LETTERS_SCAN_PART);
    http_request_free(request);
}

/* ------------------------------------------------------------------------------------------------ looking changes nothing */

static bool no_consumer(void *context)
{
    const struct scene *scene = context;
    return nats_client_consumers(scene->client, "TARRY_DLQ") == 0 && nats_client_consumers(scene->client, "TARRY_PARKED") == 0;
}

static void *look_often(void *context)
{
    const struct scene *scene = context;
    size_t failed = 0;
    for (int i = 0; i < 10; i++) {
        char *answer = http_client_request(scene->http->port, "GET", "/api/v1/dlq/letters?payload=true", "Host: localhost\r\n");
        failed += http_client_status(answer) != 200;
        free(answer);
    }
    return (void *)failed;
}

static void assert_same_stream(const struct scene *scene, const char *stream, const jsStreamState *before)
{
    jsStreamInfo *info = NULL;
    assert_true(nats_client_info(scene->client, stream, &info));
    assert_int_equal(info->State.Msgs, before->Msgs);
    assert_int_equal(info->State.FirstSeq, before->FirstSeq);
    assert_int_equal(info->State.LastSeq, before->LastSeq);
    jsStreamInfo_Destroy(info);
}

static void looking_changes_nothing(void **state)
{
    struct scene *scene = *state;
    pthread_t threads[5];
    jsStreamInfo *before = NULL;
    assert_true(nats_client_info(scene->client, "TARRY_DLQ", &before));
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, look_often, scene), 0);
    }
    for (size_t i = 0; i < 5; i++) {
        void *failed = NULL;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_same_stream(scene, "TARRY_DLQ", &before->State);
    assert_true(await_condition(no_consumer, scene, WAIT_MS));
    jsStreamInfo_Destroy(before);
}

/* ------------------------------------------------------------------------------------------------ jobs */

static void put_job(struct scene *scene, const char *id, const char *job_state)
{
    char json[600];
    uint64_t revision = 0;
    (void)snprintf(json, sizeof json,
                   "{\"id\":\"%s\",\"verb\":\"replay\",\"state\":\"%s\",\"runner\":\"\",\"filter\":[\"--key=secret\"],\"options\":[],\"waiting\":null,"
                   "\"parked\":{\"first\":1796000000001,\"last\":9007199254740991,\"messages\":7,\"created_ms\":1796000000000},"
                   "\"counts\":{\"done\":1,\"failed\":0,\"skipped\":0,\"gone\":0},\"started_ms\":1796000000000,\"updated_ms\":1796000000000}",
                   id, job_state);
    assert_true(jobs_put(scene->link, &scene->options, id, span_of_text(json), &revision, &scene->error));
}

static void assert_job_state(struct scene *scene, const char *id, const char *wanted)
{
    struct buffer bytes = buffer_new(4096);
    uint64_t revision = 0;
    assert_true(jobs_get(scene->link, &scene->options, id, &bytes, &revision, &scene->error));
    cJSON *job = cJSON_ParseWithLength((const char *)bytes.data, bytes.length);
    assert_string_equal(text_of(job, "state"), wanted);
    assert_string_equal(text_of(job, "id"), id);
    assert_true(number_of(cJSON_GetObjectItem(job, "parked"), "last") == 9007199254740991.0); /* all else is as it was */
    cJSON_Delete(job);
    buffer_free(&bytes);
}

static void jobs_are_told(void **state)
{
    struct scene *scene = *state;
    check_count(scene, "jobs", 0);
    put_job(scene, "replay-1", "running");
    put_job(scene, "replay-2", "done");
    check_count(scene, "jobs", 2);
    cJSON *told = post(scene, "jobs/replay-1/pause", 200);
    assert_string_equal(text_of(told, "state"), "paused");
    cJSON_Delete(told);
    assert_job_state(scene, "replay-1", "paused");
    check_problem(post(scene, "jobs/replay-1/pause", 409), "job_state");
    cJSON_Delete(post(scene, "jobs/replay-1/cancel", 200));
    assert_job_state(scene, "replay-1", "cancelled");
    told = post(scene, "jobs/replay-2/cancel", 409);
    assert_string_equal(text_of(told, "state"), "done");
    check_problem(told, "job_state");
    check_problem(post(scene, "jobs/nobody/pause", 404), "not_found");
    check_problem(post(scene, "jobs/a%2Fb/pause", 404), "not_found");
    cJSON *audit = api_audit_json(scene->http->api.audit);
    assert_int_equal(cJSON_GetArraySize(items_of(audit)), 6);
    assert_string_equal(text_of(items_of(audit)->child->next->next->next, "action"), "job_cancel");
    assert_string_equal(text_of(items_of(audit)->child->next->next->next, "result"), "done");
    cJSON_Delete(audit);
}

static void filters_of_jobs_are_masked_as_payloads_are(void **state)
{
    struct scene *scene = *state;
    put_job(scene, "replay-1", "running");
    scene->http->api.payloads = CONFIG_PAYLOADS_MASKED;
    cJSON *jobs = get(scene, "jobs", 200);
    const cJSON *filter = cJSON_GetObjectItem(items_of(jobs)->child, "filter");
    assert_string_equal(cJSON_GetStringValue(filter->child), "--key=(masked)");
    cJSON_Delete(jobs);
    cJSON *page = get(scene, "letters?limit=1&payload=true", 200);
    assert_string_equal(text_of(items_of(page)->child, "payloads"), "masked");
    assert_false(cJSON_HasObjectItem(items_of(page)->child, "key"));
    cJSON_Delete(page);
}

/* ------------------------------------------------------------------------------------------------ trouble */

static void without_streams_there_are_none(void **state)
{
    struct scene *scene = *state;
    check_count(scene, "letters", 0);
    check_count(scene, "reasons", 0);
    check_count(scene, "jobs", 0);
    check_problem(get(scene, "letters/nobody", 404), "not_found");
    check_problem(post(scene, "jobs/replay-1/cancel", 404), "not_found");
}

static void assert_away(const struct scene *scene, int64_t most_ms)
{
    static const char *const paths[] = {"letters", "letters/a", "reasons", "jobs"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        int64_t began_ms = clock_mono().ms;
        check_problem(get(scene, paths[i], 503), "dead_letters_unavailable");
        assert_true(clock_mono().ms - began_ms < most_ms);
    }
}

static bool is_back(void *context)
{
    const struct scene *scene = context;
    char *answer = http_client_request(scene->http->port, "GET", "/api/v1/dlq/letters", "Host: localhost\r\n");
    bool back = http_client_status(answer) == 200;
    free(answer);
    return back;
}

static void a_server_that_is_away_is_told_soon_and_found_again(void **state)
{
    struct scene *scene = *state;
    check_count(scene, "letters?limit=1", 1);
    nats_server_stop(scene->server);
    assert_away(scene, 4000);
    nats_server_restart(scene->server);
    assert_true(await_condition(is_back, scene, WAIT_MS));
    check_count(scene, "letters?state=waiting", WAITING);
}

static void a_server_that_stands_is_told_soon(void **state)
{
    struct scene *scene = *state;
    check_count(scene, "letters?limit=1", 1);
    nats_server_freeze(scene->server);
    assert_away(scene, 8000); /* it asks for 2 s */
    nats_server_thaw(scene->server);
    assert_true(await_condition(is_back, scene, WAIT_MS));
}

/* Its sequences name nothing in the other one. */
static void a_cursor_of_a_stream_that_was_made_anew_is_refused(void **state)
{
    struct scene *scene = *state;
    char path[200];
    cJSON *page = get(scene, "letters?limit=1", 200);
    (void)snprintf(path, sizeof path, "letters?cursor=%s", text_of(page, "next_cursor"));
    cJSON_Delete(page);
    nats_client_delete_stream(scene->client, "TARRY_DLQ");
    nats_letters_streams(scene->link, &scene->options);
    check_problem(get(scene, path, 400), "bad_parameter");
}

/* A message that is no letter is passed over, and counted. */
static void damage_is_passed_over(void **state)
{
    struct scene *scene = *state;
    (void)nats_client_publish(scene->client, "parked.orders", NULL, "no letter", 9);
    cJSON *page = get(scene, "letters", 200);
    assert_true(number_of(page, "damaged") == 1);
    assert_int_equal(cJSON_GetArraySize(items_of(page)), WAITING + PARKED + 1);
    cJSON_Delete(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pages_have_each_letter_once, open_filled, close_scene),
        cmocka_unit_test_setup_teardown(letters_are_got_whole, open_filled, close_scene),
        cmocka_unit_test_setup_teardown(reasons_are_counted, open_filled, close_scene),
        cmocka_unit_test_setup_teardown(what_takes_too_long_goes_on, open_filled, close_scene),
        cmocka_unit_test_setup_teardown(looking_changes_nothing, open_filled, close_scene),
        cmocka_unit_test_setup_teardown(jobs_are_told, open_filled, close_scene),
        cmocka_unit_test_setup_teardown(filters_of_jobs_are_masked_as_payloads_are, open_filled, close_scene),
        cmocka_unit_test_setup_teardown(without_streams_there_are_none, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_server_that_is_away_is_told_soon_and_found_again, open_filled, close_scene),
        cmocka_unit_test_setup_teardown(a_server_that_stands_is_told_soon, open_filled, close_scene),
        cmocka_unit_test_setup_teardown(a_cursor_of_a_stream_that_was_made_anew_is_refused, open_filled, close_scene),
        cmocka_unit_test_setup_teardown(damage_is_passed_over, open_filled, close_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
