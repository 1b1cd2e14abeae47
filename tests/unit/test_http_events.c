/* Server-sent events: what readers get, slow ones, those who come back, and the end. */
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

#include "ops/clock.h"
#include "ops/http_route.h"
#include "tests/support/http_client.h"
#include "tests/support/http_scene.h"

#define LOCAL "Host: localhost\r\n"

static const struct http_route routes[] = {
    {METRICS_METHOD_GET, "/livez", HTTP_ACCESS_OPEN, HTTP_ANSWERER_OWNER, 0, http_owner_live, NULL, ""},
    {METRICS_METHOD_GET, "/api/v1/events", HTTP_ACCESS_READ, HTTP_ANSWERER_STREAM, 0, NULL, NULL, ""},
};

const struct http_route *http_route_all(size_t *count)
{
    *count = sizeof(routes) / sizeof(routes[0]);
    return routes;
}

#define READ "GET /api/v1/events HTTP/1.1\r\n" LOCAL "\r\n"

static void add(struct http_scene *scene, const char *outcome, const char *id, int number)
{
    char json[64];
    (void)snprintf(json, sizeof(json), "{\"n\":%d}", number);
    event_feed_add(scene->api.feed, outcome, span_of_text(id), span_of_text("orders"), span_of_text(json));
}

/* One who reads: what has come so far is in `text`. */
struct reader {
    int fd;
    char text[65536];
    size_t length;
};

static bool receive(struct reader *reader)
{
    ssize_t count = recv(reader->fd, reader->text + reader->length, sizeof(reader->text) - 1 - reader->length, 0);
    reader->length += count > 0 ? (size_t)count : 0;
    reader->text[reader->length] = '\0';
    return count > 0;
}

static void wait_for(struct reader *reader, const char *part)
{
    for (int64_t end_ms = clock_mono().ms + 20000; strstr(reader->text, part) == NULL;) {
        struct pollfd poll_fd = {reader->fd, POLLIN, 0};
        if (clock_mono().ms >= end_ms || poll(&poll_fd, 1, 20000) != 1 || !receive(reader)) {
            print_error("no %s in:\n%s\n", part, reader->text);
            fail();
        }
    }
}

static struct reader *open_reader(struct http_scene *scene, const char *query, const char *headers)
{
    char request[512];
    struct reader *reader = calloc(1, sizeof(*reader));
    assert_non_null(reader);
    reader->fd = http_client_connect(scene->port);
    (void)snprintf(request, sizeof(request), "GET /api/v1/events%s HTTP/1.1\r\n" LOCAL "%s\r\n", query, headers);
    assert_true(reader->fd >= 0 && http_client_send(reader->fd, request, strlen(request)));
    wait_for(reader, "retry: ");
    return reader;
}

static void close_reader(struct reader *reader)
{
    assert_int_equal(close(reader->fd), 0);
    free(reader);
}

/* Until the other side has closed. */
static void wait_for_end(struct reader *reader)
{
    for (int64_t end_ms = clock_mono().ms + 20000; receive(reader);) {
        assert_true(clock_mono().ms < end_ms);
    }
}

static void test_events(void **state)
{
    struct http_scene *scene = *state;
    struct reader *all = open_reader(scene, "", "");
    assert_non_null(strstr(all->text, "HTTP/1.1 200 OK\r\n"));
    assert_non_null(strstr(all->text, "Content-Type: text/event-stream\r\n"));
    struct reader *one = open_reader(scene, "?id=a%2Fb&outcome=delivered&target=orders", "");
    add(scene, "delivered", "x", 1);
    add(scene, "cancelled", "a/b", 2);
    add(scene, "delivered", "a/b", 3);
    wait_for(all, "event: delivered\ndata: {\"n\":3}\n\n");
    assert_non_null(strstr(all->text, "event: delivered\ndata: {\"n\":1}\n\n"));
    assert_non_null(strstr(all->text, "event: cancelled\ndata: {\"n\":2}\n\n"));
    wait_for(one, "{\"n\":3}");
    assert_null(strstr(one->text, "{\"n\":1}"));
    assert_null(strstr(one->text, "{\"n\":2}"));
    close_reader(all);
    close_reader(one);
}

static void test_refusals(void **state)
{
    struct http_scene *scene = *state;
    char *answer = http_client_request(scene->port, "GET", "/api/v1/events?outcome=deliverd", LOCAL);
    assert_int_equal(http_client_status(answer), 400);
    assert_non_null(strstr(answer, "delivered, letter, cancelled"));
    free(answer);
    answer = http_client_request(scene->port, "GET", "/api/v1/events?outcom=delivered", LOCAL);
    assert_int_equal(http_client_status(answer), 400);
    assert_non_null(strstr(answer, "did you mean outcome?"));
    free(answer);
    answer = http_client_request(scene->port, "GET", "/api/v1/events?outcome=deliverd", LOCAL); /* nothing would ever come */
    assert_int_equal(http_client_status(answer), 400);
    assert_non_null(strstr(answer, "outcome: \\\"deliverd\\\" is not one of: delivered, letter, "));
    free(answer);
    answer = http_client_request(scene->port, "HEAD", "/api/v1/events", LOCAL);
    assert_int_equal(http_client_status(answer), 200);
    assert_string_equal(http_client_body(answer), "");
    free(answer);
    answer = http_client_request(scene->port, "POST", "/api/v1/events", LOCAL "Content-Length: 0\r\n");
    assert_int_equal(http_client_status(answer), 405);
    free(answer);
    assert_false(event_feed_watched(scene->api.feed)); /* none of them began to read */
}

static void test_too_many(void **state)
{
    struct http_scene *scene = *state;
    struct reader *readers[EVENT_FEED_READERS_MAX];
    for (size_t i = 0; i < EVENT_FEED_READERS_MAX; i++) {
        readers[i] = open_reader(scene, "", "");
    }
    char *answer = http_client_request(scene->port, "GET", "/api/v1/events", LOCAL);
    assert_int_equal(http_client_status(answer), 503);
    assert_non_null(strstr(answer, "\"code\":\"too_many_requests_waiting\""));
    assert_non_null(strstr(answer, "16 readers follow events already"));
    free(answer);
    add(scene, "delivered", "a", 1);
    for (size_t i = 0; i < EVENT_FEED_READERS_MAX; i++) {
        wait_for(readers[i], "{\"n\":1}");
        close_reader(readers[i]);
    }
}

/* Who has left, with nothing to be told meanwhile, takes nobody's place. */
static void test_gone(void **state)
{
    struct http_scene *scene = *state;
    for (size_t i = 0; i < EVENT_FEED_READERS_MAX; i++) {
        struct reader *reader = open_reader(scene, "", "");
        close_reader(reader);
    }
    for (int64_t end_ms = clock_mono().ms + 10000;;) { /* less than it takes to be found out by comments */
        struct reader reader = {.fd = http_client_connect(scene->port)};
        assert_true(reader.fd >= 0 && http_client_send(reader.fd, READ, strlen(READ)));
        assert_true(receive(&reader));
        assert_int_equal(close(reader.fd), 0);
        if (http_client_status(reader.text) == 200) {
            break;
        }
        assert_true(clock_mono().ms < end_ms);
    }
}

/* Comes back with the id of the last line: nothing twice, nothing missed. */
static void test_coming_back(void **state)
{
    struct http_scene *scene = *state;
    struct reader *reader = open_reader(scene, "", "");
    add(scene, "delivered", "a", 1);
    wait_for(reader, "{\"n\":1}");
    const char *id = strstr(reader->text, "id: ");
    assert_non_null(id);
    char header[128];
    (void)snprintf(header, sizeof(header), "Last-Event-ID: %.*s\r\n", (int)strcspn(id + 4, "\n"), id + 4);
    close_reader(reader);
    add(scene, "delivered", "b", 2);
    reader = open_reader(scene, "", header);
    wait_for(reader, "{\"n\":2}");
    assert_null(strstr(reader->text, "{\"n\":1}"));
    assert_null(strstr(reader->text, "missed"));
    close_reader(reader);
    reader = open_reader(scene, "", "Last-Event-ID: 0123456789abcdef-7\r\n");
    wait_for(reader, "event: missed\ndata: {\"missed\":null}\n\n");
    close_reader(reader);
}

/* One that reads nothing: the feed goes on, others get all, and what it missed it is told. */
static void test_slow_reader(void **state)
{
    struct http_scene *scene = *state;
    static char large[16385];
    struct reader *slow = calloc(1, sizeof(*slow));
    assert_non_null(slow);
    slow->fd = http_client_connect(scene->port);
    static const char request[] = "GET /api/v1/events HTTP/1.1\r\n" LOCAL "\r\n";
    assert_true(http_client_send(slow->fd, request, sizeof(request) - 1));
    wait_for(slow, "retry: ");
    struct reader *quick = open_reader(scene, "?outcome=finished", "");
    memset(large, 'x', sizeof(large) - 1);
    for (int i = 0; i < 2000; i++) { /* 32 MB, of which the feed keeps 8, and the system some */
        event_feed_add(scene->api.feed, "delivered", SPAN_ABSENT, SPAN_ABSENT, span_of_text(large));
    }
    add(scene, "finished", "a", 1);
    wait_for(quick, "event: finished\n");
    char *answer = http_client_request(scene->port, "GET", "/livez", LOCAL);
    assert_int_equal(http_client_status(answer), 200);
    free(answer);
    bool told = false;
    for (int64_t end_ms = clock_mono().ms + 30000; strstr(slow->text, "event: finished\n") == NULL && clock_mono().ms < end_ms;) {
        if (slow->length > sizeof(slow->text) / 2) { /* keeps the end, where a name may be cut */
            memmove(slow->text, slow->text + slow->length - 64, 65);
            slow->length = 64;
        }
        assert_true(receive(slow));
        told = told || strstr(slow->text, "event: missed\ndata: {\"missed\":") != NULL;
    }
    assert_non_null(strstr(slow->text, "event: finished\n"));
    assert_true(told);
    close_reader(slow);
    close_reader(quick);
}

static void test_still_here(void **state)
{
    (void)state;
    struct http_options options = {.listen = "127.0.0.1:0"};
    options.quiet_ms = 100;
    struct http_scene *scene = http_scene_open(&options);
    struct reader *reader = open_reader(scene, "", "");
    wait_for(reader, ": still here\n\n");
    add(scene, "delivered", "a", 1);
    wait_for(reader, "{\"n\":1}");
    /* Those that have gone are noticed by this, and make room. */
    struct reader *others[EVENT_FEED_READERS_MAX - 1];
    for (size_t i = 0; i < EVENT_FEED_READERS_MAX - 1; i++) {
        others[i] = open_reader(scene, "", "");
    }
    for (size_t i = 0; i < EVENT_FEED_READERS_MAX - 1; i++) {
        close_reader(others[i]);
    }
    close_reader(reader);
    int status = 0;
    for (int64_t end_ms = clock_mono().ms + 20000; status != 200 && clock_mono().ms < end_ms;) {
        int fd = http_client_connect(scene->port);
        char start[16] = "";
        static const char request[] = "GET /api/v1/events HTTP/1.1\r\n" LOCAL "\r\n";
        assert_true(http_client_send(fd, request, sizeof(request) - 1));
        assert_true(http_client_read_some(fd, start, sizeof(start) - 1, 20000));
        status = http_client_status(start);
        assert_int_equal(close(fd), 0);
    }
    assert_int_equal(status, 200);
    http_scene_close(scene);
}

static void test_token_read_anew(void **state)
{
    (void)state;
    char path[64];
    struct http_scene *scene = http_scene_open_with_token(path);
    char *answer = http_client_request(scene->port, "GET", "/api/v1/events", LOCAL);
    assert_int_equal(http_client_status(answer), 401);
    free(answer);
    struct reader *reader = open_reader(scene, "", "Authorization: Bearer 0123456789abcdef\r\n");
    http_reload(scene->http);
    wait_for(reader, "\r\n0\r\n");
    close_reader(reader);
    http_scene_close(scene);
    assert_int_equal(unlink(path), 0);
}

/* The end: each stream ends in order, with what is known by then; one that is not read holds nothing up. */
static void test_stop(void **state)
{
    struct http_scene *scene = *state;
    struct reader *reader = open_reader(scene, "", "");
    struct reader *slow = open_reader(scene, "", "");
    static char large[16385];
    memset(large, 'x', sizeof(large) - 1);
    for (int i = 0; i < 400; i++) {
        event_feed_add(scene->api.feed, "delivered", span_of_text("slow"), SPAN_ABSENT, span_of_text(large));
    }
    int64_t start_ms = clock_mono().ms;
    http_scene_stop_workers(scene);
    http_scene_stop_http(scene);
    assert_true(clock_mono().ms - start_ms < 15000);
    close_reader(slow);
    close_reader(reader);
}

static void test_stop_of_a_quiet_one(void **state)
{
    struct http_scene *scene = *state;
    struct reader *reader = open_reader(scene, "", "");
    http_scene_stop_workers(scene);
    http_scene_stop_http(scene);
    wait_for_end(reader);
    assert_true(reader->length > 5 && strcmp(reader->text + reader->length - 5, "0\r\n\r\n") == 0);
    close_reader(reader);
}

#define WITH_SCENE(test) cmocka_unit_test_setup_teardown(test, http_scene_setup, http_scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCENE(test_events),      WITH_SCENE(test_refusals),         WITH_SCENE(test_too_many), WITH_SCENE(test_gone),          WITH_SCENE(test_coming_back), WITH_SCENE(test_slow_reader),
        cmocka_unit_test(test_still_here), cmocka_unit_test(test_token_read_anew), WITH_SCENE(test_stop), WITH_SCENE(test_stop_of_a_quiet_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
