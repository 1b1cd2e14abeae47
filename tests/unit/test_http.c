/* The HTTP server with a fake owner thread: answers, access, and clients that misbehave. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "ops/api.h"
#include "ops/clock.h"
#include "ops/http.h"
#include "ops/http_owner.h"
#include "tests/support/exposition.h"
#include "tests/support/http_client.h"

#define LOCAL "Host: localhost\r\n"

/* The owner thread and what it knows. */
struct scene {
    struct mailbox *mailbox;
    struct api api;
    struct http *http;
    pthread_t owner;
    atomic_bool stop;
    atomic_bool stuck;  /* shall not look into the mailbox */
    atomic_bool parked; /* has seen that, and does not */
    atomic_bool beats;
    atomic_bool kafka_up;
    struct metrics *metrics;
    struct health_component kafka; /* the owner's */
    uint16_t port;
};

static void config_text(void *context, struct buffer *buffer)
{
    (void)context;
    buffer_add_text(buffer, "instance: tarry-0\n");
}

/* Only now, with a request in hand: what a test changed before it asked is seen. */
static void refresh(void *context)
{
    struct scene *scene = context;
    scene->kafka.status = atomic_load(&scene->kafka_up) ? HEALTH_UP : HEALTH_DOWN;
}

static void serve(struct scene *scene)
{
    static const char *const sources[] = {"delayed-event"};
    const struct http_owner_info info = {
        .instance = "tarry-0", .group = "tarry", .sources = sources, .source_count = 1};
    const struct health health = {&scene->kafka, 1, clock_wall()};
    const struct http_owner_view view = {.now = {clock_wall(), clock_mono()},
                                         .metrics = scene->metrics,
                                         .health = &health,
                                         .info = &info,
                                         .refresh = refresh,
                                         .config_text = config_text,
                                         .context = scene};
    (void)http_owner_serve(scene->mailbox, &view);
    if (atomic_load(&scene->beats)) {
        mailbox_beat(scene->mailbox, clock_mono());
    }
}

static void *own(void *context)
{
    struct scene *scene = context;
    while (!atomic_load(&scene->stop)) {
        struct pollfd poll_fd = {mailbox_fd(scene->mailbox), POLLIN, 0};
        bool stuck = atomic_load(&scene->stuck);
        atomic_store(&scene->parked, stuck);
        (void)poll(&poll_fd, stuck ? 0 : 1, 10);
        if (!stuck) {
            serve(scene);
        }
    }
    mailbox_close(scene->mailbox);
    return NULL;
}

static struct scene *open_scene(const struct http_options *options)
{
    struct error error;
    struct scene *scene = calloc(1, sizeof(*scene));
    scene->mailbox = mailbox_new(16, &error);
    scene->metrics = metrics_new();
    atomic_store(&scene->beats, true);
    atomic_store(&scene->kafka_up, true);
    scene->kafka = (struct health_component){
        .name = "kafka", .required = true, .code = "kafka_unreachable", .message = "no broker answers"};
    scene->api.owner = scene->mailbox;
    scene->http = http_start(options, &scene->api, &error);
    if (scene->http == NULL) {
        print_error("%s\n", error.text);
        fail();
    }
    scene->port = http_port(scene->http);
    assert_int_equal(pthread_create(&scene->owner, NULL, own, scene), 0);
    return scene;
}

static void make_stuck(struct scene *scene)
{
    atomic_store(&scene->stuck, true);
    while (!atomic_load(&scene->parked)) {
        (void)poll(NULL, 0, 1);
    }
}

static const struct http_options plain = {.listen = "127.0.0.1:0", .live_wait_ms = 100, .answer_wait_ms = 200};

static void close_scene(struct scene *scene)
{
    atomic_store(&scene->stop, true);
    assert_int_equal(pthread_join(scene->owner, NULL), 0);
    http_stop(scene->http);
    mailbox_free(scene->mailbox);
    metrics_free(scene->metrics);
    free(scene);
}

static void assert_answer(
    struct scene *scene, const char *method, const char *path, const char *headers, int status, const char *part)
{
    char *answer = http_client_request(scene->port, method, path, headers);
    assert_non_null(answer);
    if (http_client_status(answer) != status || strstr(answer, part) == NULL) {
        print_error("%s %s: wanted %d and %s, got:\n%s\n", method, path, status, part, answer);
        fail();
    }
    assert_true(http_client_has_header(answer, "X-Content-Type-Options: nosniff"));
    assert_true(http_client_has_header(answer, "Cache-Control: no-store"));
    free(answer);
}

static void test_paths(void **state)
{
    (void)state;
    struct scene *scene = open_scene(&plain);
    assert_answer(scene, "GET", "/livez", LOCAL, 200, "{\"status\":\"UP\"}");
    assert_answer(scene, "GET", "/healthz", LOCAL, 200, "{\"status\":\"UP\"}");
    assert_answer(scene, "GET", "/readyz", LOCAL, 200, "{\"status\":\"ready\",\"reasons\":[]}");
    assert_answer(scene, "GET", "/readyz?verbose=1", LOCAL, 200, "ready");
    assert_answer(scene, "GET", "/health", LOCAL, 200, "\"components\":{\"kafka\":{\"status\":\"UP\"");
    assert_answer(scene, "GET", "/status", LOCAL, 200, "\"timestamp\":\"2");
    assert_answer(scene, "GET", "/api/v1/info", LOCAL, 200, "\"instance\":\"tarry-0\"");
    assert_answer(scene, "GET", "/api/v1/info", LOCAL, 200, "\"version\":\"" TARRY_VERSION "\"");
    assert_answer(scene, "GET", "/api/v1/config", LOCAL, 200, "instance: tarry-0\n");
    assert_answer(scene, "GET", "/nothing", LOCAL, 404, "\"code\":\"not_found\"");
    assert_answer(scene, "GET", "/api/v1/nothing", LOCAL, 404, "Content-Type: application/problem+json");
    char *refused = http_client_send_body(scene->port, "POST", "/livez", LOCAL, "abc", 3);
    assert_int_equal(http_client_status(refused), 405);
    assert_true(http_client_has_header(refused, "Allow: GET, HEAD"));
    free(refused);
    assert_answer(scene, "DELETE", "/metrics", LOCAL, 405, "\"code\":\"method_not_allowed\"");
    assert_answer(scene, "BREW", "/metrics", LOCAL, 405, "\"code\":\"method_not_allowed\"");
    close_scene(scene);
}

static void test_brokers_are_not_liveness(void **state)
{
    (void)state;
    struct scene *scene = open_scene(&plain);
    atomic_store(&scene->kafka_up, false);
    assert_answer(scene, "GET", "/livez", LOCAL, 200, "UP");
    assert_answer(scene, "GET", "/readyz", LOCAL, 503, "\"code\":\"kafka_unreachable\"");
    assert_answer(scene, "GET", "/health", LOCAL, 503, "\"status\":\"DOWN\"");
    atomic_store(&scene->kafka_up, true);
    assert_answer(scene, "GET", "/readyz", LOCAL, 200, "ready");
    close_scene(scene);
}

static void test_head(void **state)
{
    (void)state;
    struct scene *scene = open_scene(&plain);
    static const char *const paths[] = {"/livez", "/readyz", "/metrics", "/nothing"};
    for (size_t i = 0; i < 4; i++) {
        char *answer = http_client_request(scene->port, "HEAD", paths[i], LOCAL);
        assert_int_equal(http_client_status(answer), i == 3 ? 404 : 200);
        assert_string_equal(http_client_body(answer), "");
        assert_null(strstr(answer, "Content-Length: 0"));
        free(answer);
    }
    close_scene(scene);
}

static void test_metrics(void **state)
{
    (void)state;
    struct scene *scene = open_scene(&plain);
    (void)metrics_label_add(scene->metrics, METRICS_LABEL_SOURCE, "a");
    for (int i = 0; i < 3; i++) {
        assert_answer(scene, "GET", "/livez", LOCAL, 200, "UP");
    }
    assert_answer(scene, "PATCH", "/livez", LOCAL, 405, "code");
    char *answer = http_client_request(scene->port, "GET", "/metrics", LOCAL);
    assert_int_equal(http_client_status(answer), 200);
    assert_true(http_client_has_header(answer, "Content-Type: text/plain; version=0.0.4; charset=utf-8"));
    char problem[2048];
    assert_true(exposition_check(http_client_body(answer), problem, sizeof(problem)));
    assert_int_equal((int)exposition_value(answer, "http_requests_total{method=\"GET\",status=\"200\"}"), 3);
    assert_int_equal((int)exposition_value(answer, "http_requests_total{method=\"other\",status=\"405\"}"), 1);
    free(answer);
    close_scene(scene);
}

/* Many requests on one connection, also pipelined. */
static void test_keep_alive(void **state)
{
    (void)state;
    struct scene *scene = open_scene(&plain);
    int fd = http_client_connect(scene->port);
    static const char two[] = "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
    static const char last[] = "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    assert_true(http_client_send(fd, two, sizeof(two) - 1));
    assert_true(http_client_send(fd, last, sizeof(last) - 1));
    bool closed;
    char *answer = http_client_read_to_end(fd, 20000, &closed);
    assert_true(closed);
    const char *ready = strstr(answer, "\"ready\"");
    assert_non_null(ready);
    const char *live = strstr(ready, "{\"status\":\"UP\"}\n");
    if (live == NULL) {
        print_error("%s\n", answer);
    }
    assert_non_null(live);
    assert_non_null(strstr(live, "\"components\""));
    free(answer);
    close_scene(scene);
}

static void test_owner_stuck(void **state)
{
    (void)state;
    struct scene *scene = open_scene(&plain);
    assert_answer(scene, "GET", "/livez", LOCAL, 200, "UP");
    make_stuck(scene);
    /* Turned lately: alive without asking. */
    assert_answer(scene, "GET", "/livez", LOCAL, 200, "UP");
    mailbox_beat(scene->mailbox, (struct mono_ms){1});
    assert_answer(scene, "GET", "/livez", LOCAL, 503, "\"code\":\"scheduler_not_answering\"");
    assert_answer(scene, "GET", "/readyz", LOCAL, 503, "\"code\":\"scheduler_not_answering\"");
    assert_answer(scene, "GET", "/nothing", LOCAL, 404, "not_found");
    /* Given up requests stay in the queue until the owner looks; when it is full the answer comes at once. */
    for (int i = 0; i < 14; i++) {
        assert_answer(scene, "GET", "/livez", LOCAL, 503, "scheduler_not_answering");
    }
    assert_answer(scene, "GET", "/livez", LOCAL, 503, "\"code\":\"too_many_requests_waiting\"");
    atomic_store(&scene->beats, false);
    atomic_store(&scene->stuck, false);
    /* A sleeping owner is asked, and answers. */
    struct pollfd poll_fd = {mailbox_fd(scene->mailbox), POLLIN, 0};
    while (poll(&poll_fd, 1, 0) == 1) {
        (void)poll(NULL, 0, 5);
    }
    assert_answer(scene, "GET", "/livez", LOCAL, 200, "UP");
    close_scene(scene);
}

/* Slow answers hold up nobody: /livez at once while others wait for a stuck owner. */
static void test_waiting_blocks_nobody(void **state)
{
    (void)state;
    struct http_options options = plain;
    options.answer_wait_ms = 15000;
    struct scene *scene = open_scene(&options);
    assert_answer(scene, "GET", "/readyz", LOCAL, 200, "ready");
    make_stuck(scene);
    int fds[10];
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    for (int i = 0; i < 10; i++) {
        fds[i] = http_client_connect(scene->port);
        assert_true(http_client_send(fds[i], request, sizeof(request) - 1));
    }
    int64_t start_ms = clock_mono().ms;
    assert_answer(scene, "GET", "/livez", LOCAL, 200, "UP");
    assert_true(clock_mono().ms - start_ms < 10000);
    atomic_store(&scene->stuck, false);
    for (int i = 0; i < 10; i++) {
        bool closed;
        char *answer = http_client_read_to_end(fds[i], 20000, &closed);
        assert_true(closed);
        assert_int_equal(http_client_status(answer), 200);
        free(answer);
    }
    close_scene(scene);
}

/* The end of everything while requests wait. */
static void test_stop_while_waiting(void **state)
{
    (void)state;
    struct http_options options = plain;
    options.answer_wait_ms = 60000;
    struct scene *scene = open_scene(&options);
    make_stuck(scene);
    int fds[5];
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
    for (int i = 0; i < 5; i++) {
        fds[i] = http_client_connect(scene->port);
        assert_true(http_client_send(fds[i], request, sizeof(request) - 1));
    }
    struct pollfd poll_fd = {mailbox_fd(scene->mailbox), POLLIN, 0};
    assert_int_equal(poll(&poll_fd, 1, 20000), 1);
    close_scene(scene);
    for (int i = 0; i < 5; i++) {
        bool closed;
        free(http_client_read_to_end(fds[i], 20000, &closed));
        assert_true(closed);
    }
}

/* HTTP ends first, while the owner is stuck; what the owner answers afterwards touches nothing that is gone. */
static void test_stop_before_the_owner(void **state)
{
    (void)state;
    struct http_options options = plain;
    options.answer_wait_ms = 60000;
    struct scene *scene = open_scene(&options);
    make_stuck(scene);
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
    int fd = http_client_connect(scene->port);
    assert_true(http_client_send(fd, request, sizeof(request) - 1));
    struct pollfd poll_fd = {mailbox_fd(scene->mailbox), POLLIN, 0};
    assert_int_equal(poll(&poll_fd, 1, 20000), 1);
    http_stop(scene->http);
    scene->http = NULL;
    bool closed;
    free(http_client_read_to_end(fd, 20000, &closed));
    assert_true(closed);
    atomic_store(&scene->stuck, false);
    close_scene(scene);
}

static char *write_token(const char *path, const char *token)
{
    static char header[256];
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "%s\n", token) > 0);
    assert_int_equal(fclose(file), 0);
    (void)snprintf(header, sizeof(header), LOCAL "Authorization: Bearer %s\r\n", token);
    return header;
}

static void test_token(void **state)
{
    (void)state;
    char path[] = "/tmp/tarry-http-token-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    char *header = write_token(path, "first-token-0123456789");
    struct http_options options = plain;
    options.token_file = path;
    struct scene *scene = open_scene(&options);
    assert_answer(scene, "GET", "/api/v1/info", LOCAL, 401, "WWW-Authenticate: Bearer realm=\"tarry\"\r\n");
    assert_answer(scene, "GET", "/api/v1/nothing", LOCAL, 401, "\"code\":\"unauthorized\"");
    assert_answer(scene, "GET", "/api/v1/info", LOCAL "Authorization: Bearer wrong\r\n", 401, "code");
    assert_answer(scene, "GET", "/api/v1/info", header, 200, "tarry-0");
    assert_answer(scene, "GET", "/livez", LOCAL, 200, "UP");
    assert_answer(scene, "GET", "/readyz", LOCAL, 200, "ready");
    assert_answer(scene, "GET", "/metrics", LOCAL, 200, "tarry_build_info");

    char old[256];
    (void)snprintf(old, sizeof(old), "%s", header);
    header = write_token(path, "second-token-0123456789");
    http_reload(scene->http);
    int status = 0;
    for (int64_t end_ms = clock_mono().ms + 20000; status != 200 && clock_mono().ms < end_ms;) {
        char *answer = http_client_request(scene->port, "GET", "/api/v1/info", header);
        status = http_client_status(answer);
        free(answer);
    }
    assert_int_equal(status, 200);
    assert_answer(scene, "GET", "/api/v1/info", old, 401, "code");
    /* A bad file leaves the token as it was. */
    assert_int_equal(unlink(path), 0);
    http_reload(scene->http);
    assert_answer(scene, "GET", "/api/v1/info", header, 200, "tarry-0");
    close_scene(scene);
}

static void test_host(void **state)
{
    (void)state;
    struct scene *scene = open_scene(&plain);
    assert_answer(scene, "GET", "/api/v1/info", "Host: evil.example\r\n", 403, "\"code\":\"host_not_allowed\"");
    assert_answer(scene, "GET", "/api/v1/info", "Host: localhost.evil.example:7411\r\n", 403, "code");
    assert_answer(scene, "GET", "/api/v1/info", "Host: 127.0.0.1:7411\r\n", 200, "tarry-0");
    assert_answer(scene, "GET", "/api/v1/info", "Host: [::1]:7411\r\n", 200, "tarry-0");
    assert_answer(scene, "GET", "/metrics", "Host: evil.example\r\n", 200, "tarry_build_info");
    char *answer = http_client_exchange(scene->port, "GET /api/v1/info HTTP/1.0\r\n\r\n");
    assert_non_null(answer);
    assert_non_null(strstr(answer, "403"));
    free(answer);
    close_scene(scene);
}

static void test_start_errors(void **state)
{
    (void)state;
    struct error error;
    struct mailbox *mailbox = mailbox_new(4, &error);
    const struct api api = {.owner = mailbox};
    struct http_options options = {.listen = "nonsense"};
    assert_null(http_start(&options, &api, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    options.listen = "0.0.0.0:0";
    assert_null(http_start(&options, &api, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, "http.token_file"));
    options.listen = "203.0.113.7:1";
    options.token_file = "/nonexistent/token";
    assert_null(http_start(&options, &api, &error));
    assert_non_null(strstr(error.text, "/nonexistent/token"));
    options.token_file = NULL;
    options.listen = "127.0.0.1:0";
    struct http *first = http_start(&options, &api, &error);
    assert_non_null(first);
    char listen[32];
    (void)snprintf(listen, sizeof(listen), "127.0.0.1:%u", (unsigned)http_port(first));
    options.listen = listen;
    assert_null(http_start(&options, &api, &error));
    assert_int_equal(error.code, ERROR_BUSY);
    assert_non_null(strstr(error.text, listen));
    http_stop(first);
    first = http_start(&options, &api, &error);
    assert_non_null(first);
    http_stop(first);
    http_stop(NULL);
    mailbox_free(mailbox);
}

/* Headers without end, and not HTTP at all: refused, and the connection closed. */
static void test_bad_requests(void **state)
{
    (void)state;
    struct http_options options = plain;
    options.request_ms = 1000;
    struct scene *scene = open_scene(&options);
    int fd = http_client_connect(scene->port);
    static char chunk[65536];
    memset(chunk, 'a', sizeof(chunk));
    bool sending = http_client_send(fd, "GET /livez HTTP/1.1\r\nX: ", 24);
    size_t sent = 0;
    while (sending && sent < (size_t)100 * 1024 * 1024) {
        sending = http_client_send(fd, chunk, sizeof(chunk));
        sent += sizeof(chunk);
    }
    assert_false(sending); /* cut long before */
    assert_true(sent < (size_t)20 * 1024 * 1024);
    assert_int_equal(close(fd), 0);
    static const char *const requests[] = {"\x16\x03\x01\x02", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
                                           "GET /livez HTTP/1.1\r\nContent-Length: x\r\nHost: x\r\n\r\n"};
    for (size_t i = 0; i < 4; i++) {
        fd = http_client_connect(scene->port);
        (void)http_client_send(fd, requests[i], strlen(requests[i]));
        assert_int_equal(shutdown(fd, SHUT_WR), 0);
        bool closed;
        char *answer = http_client_read_to_end(fd, 20000, &closed);
        assert_true(closed);
        assert_true(http_client_status(answer) != 200);
        free(answer);
    }
    assert_answer(scene, "GET", "/livez", LOCAL, 200, "UP");
    close_scene(scene);
}

#define HOSTILE 300

/* 300 that say nothing, a byte now and then, or half a request: /livez is answered meanwhile, and they are cut in the
 * end. */
static void test_idle_and_slow_clients(void **state)
{
    (void)state;
    struct http_options options = plain;
    options.request_ms = 2000;
    struct scene *scene = open_scene(&options);
    int fds[HOSTILE];
    for (int i = 0; i < HOSTILE; i++) {
        fds[i] = http_client_connect(scene->port);
        assert_true(fds[i] >= 0);
        if (i % 3 == 1) {
            (void)http_client_send(fds[i], "GET /livez HTTP/1.1\r\n", 21);
        }
    }
    int64_t start_ms = clock_mono().ms;
    assert_answer(scene, "GET", "/livez", LOCAL, 200, "UP");
    assert_true(clock_mono().ms - start_ms < 5000);
    int open_count = HOSTILE;
    for (int64_t end_ms = start_ms + 30000; open_count > 0 && clock_mono().ms < end_ms;) {
        (void)poll(NULL, 0, 100); /* the pace of the slow ones */
        open_count = 0;
        for (int i = 0; i < HOSTILE; i++) {
            if (fds[i] >= 0 && i % 3 != 0) {
                (void)http_client_send(fds[i], "a", 1);
            }
            struct pollfd poll_fd = {fds[i], POLLIN | POLLRDHUP, 0};
            if (fds[i] >= 0 && poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
                assert_int_equal(close(fds[i]), 0);
                fds[i] = -1;
            }
            open_count += fds[i] >= 0 ? 1 : 0;
        }
        assert_answer(scene, "GET", "/livez", LOCAL, 200, "UP");
    }
    assert_int_equal(open_count, 0);
    close_scene(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_brokers_are_not_liveness),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_keep_alive),
        cmocka_unit_test(test_owner_stuck),
        cmocka_unit_test(test_waiting_blocks_nobody),
        cmocka_unit_test(test_stop_while_waiting),
        cmocka_unit_test(test_stop_before_the_owner),
        cmocka_unit_test(test_token),
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_start_errors),
        cmocka_unit_test(test_bad_requests),
        cmocka_unit_test(test_idle_and_slow_clients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
