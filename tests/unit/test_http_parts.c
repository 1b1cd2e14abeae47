/* The pure parts of the HTTP server: addresses, token, Host, routes, which client has to go. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "ops/http_clients.h"
#include "ops/http_guard.h"
#include "ops/http_listen.h"
#include "ops/http_owner.h"
#include "ops/http_problem.h"
#include "base/random.h"
#include "ops/http_admit.h"
#include "ops/http_route.h"
#include "ops/http_uri.h"

static void test_listen_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool valid, loopback;
    } cases[] = {
        {"127.0.0.1:7411", true, true},
        {"127.9.9.9:0", true, true},
        {"localhost:80", true, true},
        {"[::1]:7411", true, true},
        {"0.0.0.0:65535", true, false},
        {"[::]:7411", true, false},
        {"10.0.0.1:1", true, false},
        {"", false, false},
        {":7411", false, false},
        {"127.0.0.1", false, false},
        {"127.0.0.1:", false, false},
        {"127.0.0.1:65536", false, false},
        {"127.0.0.1:-1", false, false},
        {"127.0.0.1:7 ", false, false},
        {"::1:7411", false, false},
        {"example.org:80", false, false},
        {"[127.0.0.1]:80", false, false},
        {"[]:80", false, false},
        {"127.0.0.1:000080", false, false},
        {"[::1:80", false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        union http_listen_address address;
        struct error error;
        assert_int_equal(http_listen_parse(cases[i].text, &address, &error), cases[i].valid);
        if (cases[i].valid) {
            assert_int_equal(http_listen_is_loopback(&address), cases[i].loopback);
        } else {
            assert_int_equal(error.code, ERROR_INVALID);
            assert_non_null(strstr(error.text, "http.listen"));
        }
    }
}

static void test_bearer(void **state)
{
    (void)state;
    static const char token[] = "0123456789abcdef";
    assert_true(http_guard_bearer("Bearer 0123456789abcdef", token));
    assert_true(http_guard_bearer("bearer  0123456789abcdef", token));
    static const char *const wrong[] = {NULL,
                                        "",
                                        "Bearer",
                                        "Bearer ",
                                        "0123456789abcdef",
                                        "Basic 0123456789abcdef",
                                        "Bearer 0123456789abcdeg",
                                        "Bearer 0123456789abcde",
                                        "Bearer 0123456789abcdef0",
                                        "Bearer x123456789abcdef",
                                        "Bearer 0123456789abcdef "};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(http_guard_bearer(wrong[i], token));
    }
}

static void test_local_host(void **state)
{
    (void)state;
    static const char *const good[] = {"localhost",    "LOCALHOST:7411", "127.0.0.1",
                                       "127.0.0.1:80", "[::1]",          "[::1]:7411"};
    static const char *const bad[] = {NULL,
                                      "",
                                      "evil.example",
                                      "localhost.evil.example",
                                      "127.0.0.1.evil.example",
                                      "localhost:",
                                      "localhost:x",
                                      "localhost:123456",
                                      "[::1].x",
                                      "127.0.0.2",
                                      "localhost:80x",
                                      "x@localhost"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(http_guard_local_host(good[i]));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(http_guard_local_host(bad[i]));
    }
}

static char *token_of(const char *content, size_t length, struct error *error)
{
    char path[] = "/tmp/tarry-token-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, length), length);
    assert_int_equal(close(fd), 0);
    char *token = http_guard_token_read(path, error);
    assert_int_equal(unlink(path), 0);
    return token;
}

static void test_token_file(void **state)
{
    (void)state;
    struct error error;
    char *token = token_of(" 0123456789abcdef\r\n", 19, &error);
    assert_string_equal(token, "0123456789abcdef");
    http_guard_token_free(token);
    static char longest[HTTP_GUARD_TOKEN_MOST + 200];
    memset(longest, 'x', sizeof(longest));
    assert_null(token_of(longest, sizeof(longest), &error));
    assert_null(token_of("", 0, &error));
    assert_null(token_of("\n", 1, &error));
    assert_null(token_of("short", 5, &error));
    assert_null(strstr(error.text, "token in short")); /* names the file, not the content */
    assert_null(token_of("0123456789abcdef ghij", 21, &error));
    assert_null(token_of("0123456789abcdef\0hij", 20, &error));
    assert_null(token_of("0123456789abcdef\xC3\xA9", 18, &error));
    assert_null(strstr(error.text, "0123456789abcdef"));
    assert_null(http_guard_token_read("/nonexistent/token", &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, "http.token_file: cannot open /nonexistent/token"));
    assert_null(http_guard_token_read("/", &error));
    http_guard_token_free(NULL);
}

static enum http_route_match find(const char *path, enum metrics_method method)
{
    const struct http_route *route = NULL;
    struct span parameter;
    return http_route_find(path, method, &route, &parameter);
}

static void test_routes(void **state)
{
    (void)state;
    assert_int_equal(find("/healthz", METRICS_METHOD_GET), HTTP_ROUTE_FOUND);
    assert_int_equal(find("/status", METRICS_METHOD_HEAD), HTTP_ROUTE_FOUND);
    assert_int_equal(find("/status", METRICS_METHOD_POST), HTTP_ROUTE_NO_METHOD);
    assert_int_equal(find("/livez/", METRICS_METHOD_GET), HTTP_ROUTE_NO_PATH);
    assert_int_equal(find("/LIVEZ", METRICS_METHOD_GET), HTTP_ROUTE_NO_PATH);
    assert_int_equal(find("", METRICS_METHOD_GET), HTTP_ROUTE_NO_PATH);
    assert_true(http_route_guarded("/api/v1/info"));
    assert_true(http_route_guarded("/api/nothing"));
    assert_false(http_route_guarded("/metrics"));
    assert_int_equal(http_route_method("HEAD"), METRICS_METHOD_HEAD);
    assert_int_equal(http_route_method("PATCH"), METRICS_METHOD_OTHER);
    assert_int_equal(http_route_status(405), METRICS_STATUS_405);
}

static const struct http_request_counts no_counts;

/* Whatever bytes an id or a value has: encoded, they come back as they were. */
static void test_encoded_bytes(void **state)
{
    (void)state;
    struct random source = random_new(20270131);
    for (int round = 0; round < 2000; round++) {
        uint8_t bytes[40];
        char encoded[3 * sizeof(bytes) + 1];
        char query[4 * sizeof(bytes) + 8];
        size_t length = 1 + random_below(&source, sizeof(bytes));
        size_t at = 0;
        random_fill(&source, bytes, length);
        for (size_t i = 0; i < length; i++) {
            bool plain = (bytes[i] >= 'a' && bytes[i] <= 'z') || (bytes[i] >= '0' && bytes[i] <= '9');
            at += (size_t)snprintf(encoded + at, sizeof(encoded) - at, plain && random_below(&source, 2) == 0 ? "%c" : round % 2 == 0 ? "%%%02x" : "%%%02X", bytes[i]);
        }
        (void)snprintf(query, sizeof(query), "a=b&%s=%s", encoded, "x%20y");
        struct span parameter = {(const uint8_t *)encoded, at};
        struct http_request *request = http_request_new(NULL, &no_counts);
        enum http_uri_result result = http_uri_read(request, parameter, query, NULL);
        struct span wanted = {bytes, length};
        assert_int_equal(result, span_equals_text(wanted, ".") || span_equals_text(wanted, "..") ? HTTP_URI_DOTS : HTTP_URI_READ);
        assert_true(span_equal(request->parameter, wanted));
        assert_int_equal(request->query_count, 2);
        assert_true(span_equal(request->query[1].name, wanted));
        assert_true(span_equals_text(request->query[1].value, "x y"));
        http_request_free(request);
    }
}

/* Anything at all as a target: it is admitted or refused, and what is admitted is a route's. */
static void test_any_target(void **state)
{
    (void)state;
    static const char *const pieces[] = {"/", "api", "v1", "info", "config", "livez", "..", ".", "%2f", "%2e", "%", "%zz", "%00", "?", "&", "=", "+", "#", "a", "\xff", "\\", ";", "//", "/api/v1/", "messages"};
    const struct http_admit_rules rules = {NULL, true};
    struct random source = random_new(7);
    size_t admitted = 0;
    for (int round = 0; round < 20000; round++) {
        char uri[256] = "/";
        size_t length = random_below(&source, 10);
        for (size_t i = 0, at = 0; i < length; i++) {
            at += (size_t)snprintf(uri + at, sizeof(uri) - at, "%s", pieces[random_below(&source, sizeof(pieces) / sizeof(pieces[0]))]);
        }
        const struct http_admit_head head = {.method = METRICS_METHOD_GET, .uri = uri, .host = "localhost", .hosts = 1};
        struct http_admit admit = http_admit(&rules, NULL, &head, &no_counts);
        assert_int_equal(admit.admitted, admit.request != NULL);
        if (admit.admitted) {
            admitted++;
            assert_non_null(admit.route);
            assert_int_equal(admit.route->method, METRICS_METHOD_GET);
            http_request_free(admit.request);
        }
    }
    assert_true(admitted > 0);
}

static void test_problems(void **state)
{
    (void)state;
    for (int i = 0; i < HTTP_PROBLEMS; i++) {
        struct buffer buffer = buffer_new(1024);
        http_problem_json((enum http_problem)i, &buffer);
        assert_false(buffer.full);
        cJSON *parsed = cJSON_ParseWithLength((const char *)buffer.data, buffer.length);
        assert_non_null(parsed);
        assert_int_equal(cJSON_GetObjectItem(parsed, "status")->valueint, http_problem_status((enum http_problem)i));
        assert_true(strlen(cJSON_GetStringValue(cJSON_GetObjectItem(parsed, "code"))) > 3);
        assert_int_equal(http_route_status(http_problem_status((enum http_problem)i)) == METRICS_STATUS_500,
                         http_problem_status((enum http_problem)i) == 500);
        cJSON_Delete(parsed);
        buffer_free(&buffer);
    }
}

static struct mono_ms at(int64_t ms)
{
    return (struct mono_ms){ms};
}

/* A connection of which our end is in the table. */
static struct http_clients_client *add(struct http_clients *clients, int64_t ms)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(close(pair[1]), 0);
    struct http_clients_client *client = http_clients_add(clients, pair[0], at(ms));
    if (client == NULL) {
        assert_int_equal(close(pair[0]), 0);
    }
    return client;
}

static void test_clients_late(void **state)
{
    (void)state;
    struct http_clients *clients = calloc(1, sizeof(*clients));
    struct http_clients_client *reading = add(clients, 0);
    struct http_clients_client *asking = add(clients, 0);
    struct http_clients_client *writing = add(clients, 0);
    http_clients_enter(asking, HTTP_CLIENTS_ASKING, at(5));
    http_clients_enter(writing, HTTP_CLIENTS_WRITING, at(5));
    http_clients_cut_late(clients, at(9999), HTTP_REQUEST_MS);
    assert_int_equal(clients->open_count, 3);
    http_clients_cut_late(clients, at(10000), HTTP_REQUEST_MS);
    assert_int_equal(reading->phase, HTTP_CLIENTS_CLOSING);
    http_clients_enter(reading, HTTP_CLIENTS_WRITING, at(10000));
    assert_int_equal(reading->phase, HTTP_CLIENTS_CLOSING);
    http_clients_cut_late(clients, at(1000000), HTTP_REQUEST_MS);
    assert_int_equal(writing->phase, HTTP_CLIENTS_CLOSING);
    assert_int_equal(asking->phase, HTTP_CLIENTS_ASKING);
    assert_int_equal(clients->open_count, 1);
    assert_int_equal(clients->count, 3);
    struct http_clients_client *all[] = {reading, asking, writing};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(close(all[i]->fd), 0);
        http_clients_remove(clients, all[i]);
    }
    assert_int_equal(clients->count, 0);
    assert_int_equal(clients->open_count, 0);
    free(clients);
}

static void test_clients_make_room(void **state)
{
    (void)state;
    struct http_clients *clients = calloc(1, sizeof(*clients));
    for (int i = 0; i < HTTP_CLIENTS_MOST; i++) {
        assert_true(http_clients_make_room(clients));
        struct http_clients_client *client = add(clients, i);
        http_clients_enter(client, i % 2 == 0 ? HTTP_CLIENTS_ASKING : HTTP_CLIENTS_READING, at(1000 - i));
    }
    /* The longest reading one has the least `since`. */
    assert_true(http_clients_make_room(clients));
    assert_int_equal(clients->clients[HTTP_CLIENTS_MOST - 1].phase, HTTP_CLIENTS_CLOSING);
    while (add(clients, 5000) != NULL) {
    }
    assert_int_equal(clients->count, HTTP_CLIENTS_ROOM);
    assert_false(http_clients_make_room(clients));
    for (size_t i = 0; i < HTTP_CLIENTS_ROOM; i++) {
        assert_int_equal(close(clients->clients[i].fd), 0);
        http_clients_remove(clients, &clients->clients[i]);
    }
    /* All wait for the owner: none can be cut. */
    for (int i = 0; i < HTTP_CLIENTS_MOST; i++) {
        http_clients_enter(add(clients, 0), HTTP_CLIENTS_ASKING, at(0));
    }
    assert_false(http_clients_make_room(clients));
    for (size_t i = 0; i < HTTP_CLIENTS_MOST; i++) {
        assert_int_equal(close(clients->clients[i].fd), 0);
    }
    free(clients);
}

/* ------------------------------------------------------------------------------------------------- the owner's turn */

#define INSISTENT 1000

struct insistent {
    struct owner_call call;
    struct mailbox *mailbox;
    struct mailbox_ticket *tickets[INSISTENT];
    size_t asked;
};

static void nothing(void *payload)
{
    (void)payload;
}

/* As a client that asks again while the owner still answers. */
static void ask_again(struct owner_call *call, const struct http_owner_view *view)
{
    struct insistent *insistent = (struct insistent *)call;
    struct error error;
    (void)view;
    if (insistent->asked < INSISTENT) {
        insistent->tickets[insistent->asked++] = mailbox_post(insistent->mailbox, insistent, nothing, false, &error);
    }
}

static void ask_slowly(struct owner_call *call, const struct http_owner_view *view)
{
    struct timespec pause = {0, (HTTP_OWNER_SERVE_MS + 1) * 1000000L};
    (void)call;
    (void)view;
    (void)nanosleep(&pause, NULL);
}

static void test_owner_turn_ends(void **state)
{
    (void)state;
    struct error error;
    const struct http_owner_view view = {.metrics = NULL};
    struct mailbox *mailbox = mailbox_new(4, &error);
    struct mailbox_ticket *tickets[3];
    struct insistent insistent = {.call = {ask_again}, .mailbox = mailbox};
    struct owner_call slow = {ask_slowly};
    ask_again(&insistent.call, &view);
    assert_in_range(http_owner_serve(mailbox, &view), 1, HTTP_OWNER_SERVE_MOST);
    while (http_owner_serve(mailbox, &view) > 0) {
    }
    assert_int_equal(insistent.asked, INSISTENT);
    for (size_t i = 0; i < INSISTENT; i++) {
        mailbox_drop(insistent.tickets[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        tickets[i] = mailbox_post(mailbox, &slow, nothing, false, &error);
        assert_non_null(tickets[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(http_owner_serve(mailbox, &view), 1);
        struct pollfd poll_fd = {mailbox_fd(mailbox), POLLIN, 0};
        assert_int_equal(poll(&poll_fd, 1, 0), i < 2 ? 1 : 0); /* what is left is known of */
        assert_int_equal(mailbox_state(tickets[i]), MAILBOX_ANSWERED);
        mailbox_drop(tickets[i]);
    }
    mailbox_free(mailbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listen_parse), cmocka_unit_test(test_bearer),
        cmocka_unit_test(test_local_host),   cmocka_unit_test(test_token_file),
        cmocka_unit_test(test_encoded_bytes), cmocka_unit_test(test_any_target),
        cmocka_unit_test(test_routes),       cmocka_unit_test(test_problems),
        cmocka_unit_test(test_clients_late), cmocka_unit_test(test_clients_make_room),
        cmocka_unit_test(test_owner_turn_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
