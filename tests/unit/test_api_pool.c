/* The API's workers: kinds apart from each other, what waits is bounded, the owner is asked, and the end is told. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "ops/api_pool.h"
#include "ops/clock.h"
#include "ops/http_exchange.h"
#include "ops/http_route.h"
#include "ops/json.h"
#include "tests/support/http_client.h"
#include "tests/support/http_scene.h"

#define BIG_BYTES (HTTP_EXCHANGE_HELD_MOST / 3)
#define LOCAL "Host: localhost\r\n"

static atomic_bool released; /* those that wait may go on */
static atomic_int waiting;
static atomic_int asked_ms;

static void quick(struct http_request *request, struct api *api)
{
    (void)api;
    api_answer_json(request, 200, json_object());
}

/* Waits as handlers do: in slices, until the daemon ends or its time is up. */
static void wait_for_release(struct http_request *request, struct api *api)
{
    waiting++;
    while (!released && !api_stopping(api) && clock_mono().ms < request->deadline.ms) {
        (void)poll(NULL, 0, 5);
    }
    waiting--;
    if (released) {
        quick(request, api);
    } else {
        api_answer_problem(request, 503, api_stopping(api) ? "stopping" : "unavailable", "Service Unavailable", "%s", "no word came");
    }
}

/* Takes longer than the client is told it may. */
static void overdue(struct http_request *request, struct api *api)
{
    while (!released) {
        (void)poll(NULL, 0, 5);
    }
    quick(request, api);
}

struct question {
    struct owner_call call;
    int given;
    int answer;
};

static void run_question(struct owner_call *call, const struct http_owner_view *view)
{
    struct question *question = (struct question *)call;
    assert_non_null(view->info);
    question->answer = question->given * 2;
}

static void ask_owner(struct http_request *request, struct api *api)
{
    struct error error;
    struct question *question = calloc(1, sizeof(*question));
    *question = (struct question){{run_question}, 21, 0};
    int64_t start_ms = clock_mono().ms;
    bool done = api_ask(api, question, free, request->deadline, &error);
    asked_ms = (int)(clock_mono().ms - start_ms);
    if (!done) {
        api_answer_problem(request, 503, "unavailable", "Service Unavailable", "%s", error.text);
        return;
    }
    struct cJSON *document = json_object();
    json_add_number(document, "answer", question->answer);
    free(question);
    api_answer_json(request, 200, document);
}

/* A third of what is held of all answers, and some more than the system takes of it. */
static void big(struct http_request *request, struct api *api)
{
    char *bytes = calloc(1, BIG_BYTES);
    (void)api;
    assert_non_null(bytes);
    buffer_add(&request->body, bytes, BIG_BYTES);
    free(bytes);
    request->status = 200;
}

static void too_large(struct http_request *request, struct api *api)
{
    (void)api;
    request->status = 200;
    while (!request->body.full) {
        buffer_add_text(&request->body, "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789");
    }
}

static const struct http_route routes[] = {
    {METRICS_METHOD_GET, "/livez", HTTP_ACCESS_OPEN, HTTP_ANSWERER_OWNER, 0, http_owner_live, NULL, ""},
    {METRICS_METHOD_GET, "/api/v1/quick", HTTP_ACCESS_READ, HTTP_ANSWERER_READER, 10000, NULL, quick, ""},
    {METRICS_METHOD_GET, "/api/v1/letters", HTTP_ACCESS_READ, HTTP_ANSWERER_LETTERS, 30000, NULL, wait_for_release, ""},
    {METRICS_METHOD_GET, "/api/v1/wait", HTTP_ACCESS_READ, HTTP_ANSWERER_READER, 30000, NULL, wait_for_release, ""},
    {METRICS_METHOD_GET, "/api/v1/short", HTTP_ACCESS_READ, HTTP_ANSWERER_READER, 200, NULL, wait_for_release, ""},
    {METRICS_METHOD_GET, "/api/v1/overdue", HTTP_ACCESS_READ, HTTP_ANSWERER_READER, 100, NULL, overdue, ""},
    {METRICS_METHOD_DELETE, "/api/v1/overdue", HTTP_ACCESS_WRITE, HTTP_ANSWERER_WRITER, 100, NULL, overdue, ""},
    {METRICS_METHOD_GET, "/api/v1/ask", HTTP_ACCESS_READ, HTTP_ANSWERER_READER, 10000, NULL, ask_owner, ""},
    {METRICS_METHOD_GET, "/api/v1/ask-shortly", HTTP_ACCESS_READ, HTTP_ANSWERER_READER, 300, NULL, ask_owner, ""},
    {METRICS_METHOD_GET, "/api/v1/big", HTTP_ACCESS_READ, HTTP_ANSWERER_READER, 20000, NULL, big, ""},
    {METRICS_METHOD_GET, "/api/v1/large", HTTP_ACCESS_READ, HTTP_ANSWERER_READER, 20000, NULL, too_large, ""},
};

const struct http_route *http_route_all(size_t *count)
{
    *count = sizeof(routes) / sizeof(routes[0]);
    return routes;
}

static int setup(void **state)
{
    released = false;
    return http_scene_setup(state);
}

static int teardown(void **state)
{
    released = true;
    return http_scene_teardown(state);
}

static void check(char *answer, int status, const char *part)
{
    if (http_client_status(answer) != status || strstr(answer, part) == NULL) {
        print_error("wanted %d and %s, got:\n%s\n", status, part, answer == NULL ? "(nothing)" : answer);
        fail();
    }
    free(answer);
}

static void ask(void **state, const char *method, const char *path, int status, const char *part)
{
    const struct http_scene *scene = *state;
    check(http_client_request(scene->port, method, path, LOCAL), status, part);
}

static int begin(void **state, const char *path)
{
    const struct http_scene *scene = *state;
    char request[256];
    int fd = http_client_connect(scene->port);
    (void)snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\n" LOCAL "Connection: close\r\n\r\n", path);
    assert_true(fd >= 0 && http_client_send(fd, request, strlen(request)));
    return fd;
}

static void end(int fd, int status, const char *part)
{
    bool closed;
    char *answer = http_client_read_to_end(fd, 30000, &closed);
    assert_true(closed);
    check(answer, status, part);
}

static void wait_until_waiting(int count)
{
    for (int64_t end_ms = clock_mono().ms + 20000; waiting != count; (void)poll(NULL, 0, 2)) {
        assert_true(clock_mono().ms < end_ms);
    }
}

/* JetStream that does not answer holds up letters alone, and nobody else's health. */
static void test_kinds_apart(void **state)
{
    int fds[8];
    for (int i = 0; i < 8; i++) {
        fds[i] = begin(state, "/api/v1/letters");
    }
    wait_until_waiting(1);
    ask(state, "GET", "/api/v1/quick", 200, "{}");
    ask(state, "GET", "/api/v1/ask", 200, "\"answer\":42");
    ask(state, "GET", "/livez", 200, "UP");
    released = true;
    for (int i = 0; i < 8; i++) {
        end(fds[i], 200, "{}");
    }
}

static void test_full(void **state)
{
    int fds[API_WAITING_MAX + 2];
    fds[0] = begin(state, "/api/v1/wait");
    fds[1] = begin(state, "/api/v1/wait");
    wait_until_waiting(2);
    for (int i = 2; i < API_WAITING_MAX + 2; i++) {
        fds[i] = begin(state, "/api/v1/wait");
    }
    /* They are sent before this one, and so taken before it. */
    for (int64_t end_ms = clock_mono().ms + 20000;;) {
        int fd = begin(state, "/api/v1/quick");
        struct pollfd poll_fd = {fd, POLLIN, 0};
        if (poll(&poll_fd, 1, 200) == 1) {
            end(fd, 503, "\"code\":\"too_many_requests_waiting\"");
            break;
        }
        assert_int_equal(close(fd), 0); /* it waits, too: some of the others had not come yet */
        assert_true(clock_mono().ms < end_ms);
    }
    ask(state, "GET", "/api/v1/quick", 503, "Retry-After: 1\r\n");
    released = true;
    for (int i = 0; i < API_WAITING_MAX + 2; i++) {
        end(fds[i], 200, "{}");
    }
}

static void test_time_is_up(void **state)
{
    ask(state, "GET", "/api/v1/short", 503, "\"code\":\"unavailable\""); /* it says so itself */
    ask(state, "GET", "/api/v1/overdue", 503, "\"code\":\"scheduler_not_answering\"");
    ask(state, "DELETE", "/api/v1/overdue", 504, "\"code\":\"unknown_outcome\"");
    released = true;
    ask(state, "GET", "/api/v1/quick", 200, "{}");
}

/* What waited longer than its time is not begun. */
static void test_late_start(void **state)
{
    int first = begin(state, "/api/v1/wait");
    int second = begin(state, "/api/v1/wait");
    wait_until_waiting(2);
    ask(state, "GET", "/api/v1/short", 503, "\"code\":\"scheduler_not_answering\"");
    released = true;
    end(first, 200, "{}");
    end(second, 200, "{}");
}

static void test_owner_stuck(void **state)
{
    struct http_scene *scene = *state;
    http_scene_stick(scene);
    ask(state, "GET", "/livez", 200, "UP"); /* it turned a moment ago */
    ask(state, "GET", "/api/v1/ask-shortly", 503, "the scheduler did not answer in time");
    assert_true(asked_ms < 5000);
    atomic_store(&scene->stuck, false);
    ask(state, "GET", "/api/v1/ask", 200, "\"answer\":42");
}

static void test_too_large(void **state)
{
    ask(state, "GET", "/api/v1/large", 500, "\"code\":\"answer_too_large\"");
}

/* The end, while handlers wait and others wait for them: all are told. */
/* Answers that nobody takes are held, but not any number of them. */
static void test_untaken_answers(void **state)
{
    int fds[3];
    char status[13] = "";
    for (size_t i = 0; i < 3; i++) {
        fds[i] = begin(state, "/api/v1/big");
        assert_true(http_client_read_some(fds[i], status, 12, 20000));
        assert_string_equal(status, "HTTP/1.1 200");
    }
    ask(state, "GET", "/api/v1/big", 503, "Retry-After: 1\r\n");
    ask(state, "GET", "/api/v1/quick", 200, "{}"); /* small ones are sent in any case */
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(close(fds[i]), 0);
    }
    for (int64_t end_ms = clock_mono().ms + 20000; status[9] != '-';) { /* there is room again */
        int fd = begin(state, "/api/v1/big");
        assert_true(http_client_read_some(fd, status, 12, 20000));
        assert_int_equal(close(fd), 0);
        status[9] = strcmp(status, "HTTP/1.1 200") == 0 ? '-' : status[9];
        assert_true(clock_mono().ms < end_ms);
    }
}

static void test_stop(void **state)
{
    struct http_scene *scene = *state;
    int fds[6];
    for (int i = 0; i < 6; i++) {
        fds[i] = begin(state, "/api/v1/wait");
    }
    wait_until_waiting(2);
    int64_t start_ms = clock_mono().ms;
    http_scene_stop_workers(scene);
    assert_int_equal(waiting, 0);
    http_scene_stop_http(scene);
    assert_true(clock_mono().ms - start_ms < 10000);
    for (int i = 0; i < 6; i++) {
        end(fds[i], 503, "\"code\":\"stopping\"");
    }
}

/* Workers have ended, the server still stands: what comes now is refused at once. */
static void test_after_the_end(void **state)
{
    http_scene_stop_workers(*state);
    ask(state, "GET", "/api/v1/quick", 503, "\"code\":\"stopping\"");
    ask(state, "GET", "/api/v1/letters", 503, "\"code\":\"stopping\"");
}

static void free_counted(void *payload)
{
    (*(int *)payload)++;
}

/* The question is freed by whoever has it last, whatever comes. */
static void test_question_is_freed(void **state)
{
    (void)state;
    struct error error;
    int freed = 0;
    struct api api = {.owner = mailbox_new(1, &error)};
    assert_false(api_ask(&api, &freed, free_counted, (struct mono_ms){clock_mono().ms + 10}, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    assert_int_equal(freed, 0); /* the owner has it */
    assert_false(api_ask(&api, &freed, free_counted, (struct mono_ms){clock_mono().ms + 10}, &error)); /* no room */
    assert_int_equal(freed, 1);
    mailbox_close(api.owner);
    assert_int_equal(freed, 2);
    assert_false(api_ask(&api, &freed, free_counted, (struct mono_ms){TIME_NEVER}, &error));
    assert_int_equal(freed, 3);
    mailbox_free(api.owner);
}

#define WITH_SCENE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCENE(test_kinds_apart), WITH_SCENE(test_full),  WITH_SCENE(test_time_is_up), WITH_SCENE(test_late_start),         WITH_SCENE(test_owner_stuck),
        WITH_SCENE(test_too_large), WITH_SCENE(test_untaken_answers),   WITH_SCENE(test_stop),  WITH_SCENE(test_after_the_end), cmocka_unit_test(test_question_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
