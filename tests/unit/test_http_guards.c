/* What a request has to be for a handler to see it: routes, tricks with paths, bodies, and who may write. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "ops/http_guard.h"
#include "ops/http_route.h"
#include "ops/json.h"
#include "tests/support/http_client.h"
#include "tests/support/http_scene.h"

#define LOCAL "Host: localhost\r\n"
#define JSON LOCAL "Content-Type: application/json\r\n"

static atomic_int written; /* how often the handler of a write ran */

/* Says what it was asked. */
static void echo(struct http_request *request, struct api *api)
{
    struct cJSON *document = json_object();
    char shown[256];
    (void)api;
    written += request->route->access == HTTP_ACCESS_WRITE;
    (void)text_printable(request->parameter, shown, sizeof(shown));
    json_add_text(document, "parameter", request->parameter.data == NULL ? "(none)" : shown);
    json_add_number(document, "parameter_bytes", (double)request->parameter.length);
    struct span asked = http_request_query(request, "q");
    (void)text_printable(asked, shown, sizeof(shown));
    json_add_text(document, "q", asked.data == NULL ? "(none)" : shown);
    (void)text_printable(request->idempotency_key, shown, sizeof(shown));
    json_add_text(document, "key", request->idempotency_key.data == NULL ? "(none)" : shown);
    json_add_text(document, "actor", request->actor);
    json_add_number(document, "upload_bytes", (double)request->upload.length);
    api_answer_json(request, request->route->access == HTTP_ACCESS_WRITE ? 201 : 200, document);
}

static void body(struct http_request *request, struct api *api)
{
    static const char *const known[] = {"a", "payload", NULL};
    struct cJSON *document = api_parameter_body(request, known);
    if (document != NULL) {
        api_answer_json(request, 201, document);
    }
    (void)api;
}

static const struct http_route routes[] = {
    {METRICS_METHOD_GET, "/livez", HTTP_ACCESS_OPEN, HTTP_ANSWERER_OWNER, 0, http_owner_live, NULL, ""},
    {METRICS_METHOD_GET, "/metrics", HTTP_ACCESS_OPEN, HTTP_ANSWERER_OWNER, 0, http_owner_metrics, NULL, ""},
    {METRICS_METHOD_POST, "/api/v1/things", HTTP_ACCESS_WRITE, HTTP_ANSWERER_WRITER, 5000, NULL, echo, ""},
    {METRICS_METHOD_POST, "/api/v1/bodies", HTTP_ACCESS_WRITE, HTTP_ANSWERER_WRITER, 5000, NULL, body, ""},
    {METRICS_METHOD_GET, "/api/v1/things/list", HTTP_ACCESS_READ, HTTP_ANSWERER_READER, 5000, NULL, echo, ""},
    {METRICS_METHOD_GET, "/api/v1/things/{id}", HTTP_ACCESS_READ, HTTP_ANSWERER_READER, 5000, NULL, echo, ""},
    {METRICS_METHOD_DELETE, "/api/v1/things/{id}", HTTP_ACCESS_WRITE, HTTP_ANSWERER_WRITER, 5000, NULL, echo, ""},
    {METRICS_METHOD_POST, "/api/v1/things/{id}/act", HTTP_ACCESS_WRITE, HTTP_ANSWERER_WRITER, 5000, NULL, echo, ""},
};

const struct http_route *http_route_all(size_t *count)
{
    *count = sizeof(routes) / sizeof(routes[0]);
    return routes;
}

static void check(const char *what, char *answer, int status, const char *part)
{
    if (http_client_status(answer) != status || strstr(answer, part) == NULL || strstr(answer, "Access-Control-") != NULL) {
        print_error("%s: wanted %d and %s, and nothing of CORS, got:\n%.3000s\n", what, status, part, answer == NULL ? "(nothing)" : answer);
        fail();
    }
    free(answer);
}

static void get(void **state, const char *path, int status, const char *part)
{
    const struct http_scene *scene = *state;
    check(path, http_client_request(scene->port, "GET", path, LOCAL), status, part);
}

static void test_paths(void **state)
{
    get(state, "/api/v1/things/42", 200, "\"parameter\":\"42\"");
    get(state, "/api/v1/things/list", 200, "\"parameter\":\"(none)\"");
    get(state, "/api/v1/things/a%2Fb%20c", 200, "\"parameter\":\"a/b c\"");
    get(state, "/api/v1/things/a+b", 200, "\"parameter\":\"a+b\"");
    get(state, "/api/v1/things/a%00b", 200, "\"parameter_bytes\":3");
    get(state, "/api/v1/things/%ff", 200, "\"parameter_bytes\":1");
    get(state, "/api/v1/things/x?q=1%262&q=3", 200, "\"q\":\"1&2\"");
    get(state, "/api/v1/things/x?q=a+b%2Bc", 200, "\"q\":\"a b+c\"");
    get(state, "/api/v1/things/x?&&q", 200, "\"q\":\"\"");
    get(state, "/api/v1/things/x?%71=y", 200, "\"q\":\"y\"");
    get(state, "/api/v1/things/x?other=y", 200, "\"q\":\"(none)\"");
    get(state, "/api/v1/things/%E2%82%AC?q=%E2%82%AC", 200, "\"q\":\"\xE2\x82\xAC\"");
}

/* Nothing is normalised, so nothing is found by a way around. */
static void test_path_tricks(void **state)
{
    static const char *const paths[] = {
        "/api/v1//things/42", "/api/v1/./things/42", "/api/v1/x/../things/42", "//api/v1/things/42", "/api/v1/things/42/", "/api/v1/things/", "/api/v1/things//act",
        "/api/v1/things/..", "/api/v1/things/.", "/api/v1/things/%2e%2e", "/api/v1/things/%2E", "/api/v1/things/.%2e", "/api/v1/%74hings/42", "/api%2Fv1/things/42",
        "/api/v1/things%2F42", "/api/v1\\things\\42", "/%61pi/v1/things/42", "/livez%00", "/livez/../api/v1/things/42", "/API/v1/things/42", "/api/v1/things;x=1/42", "*"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        get(state, paths[i], 404, "\"code\":\"not_found\"");
    }
    static const char *const bad[] = {"/api/v1/things/%", "/api/v1/things/%4", "/api/v1/things/%zz", "/api/v1/things/x?q=%", "/api/v1/things/x?%2=1", "/api/v1/things/x?q=%%"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        get(state, bad[i], 400, "\"code\":\"bad_parameter\"");
    }
}

static void test_too_many_parameters(void **state)
{
    struct buffer path = buffer_new(512);
    buffer_add_text(&path, "/api/v1/things/x?");
    for (int i = 0; i < HTTP_REQUEST_QUERY_MOST; i++) {
        buffer_add_text(&path, "a=1&");
    }
    buffer_add(&path, "", 1);
    get(state, (const char *)path.data, 200, "parameter");
    path.length--;
    buffer_add(&path, "b=1", 4);
    get(state, (const char *)path.data, 400, "more than 32 parameters");
    buffer_free(&path);
}

/* An id of 4,096 bytes, each encoded, fits; what does not is refused by size, and nothing is kept of it. */
static void test_long_paths(void **state)
{
    const struct http_scene *scene = *state;
    size_t size = 200 * 1024;
    char *request = malloc(size);
    assert_non_null(request);
    size_t at = (size_t)snprintf(request, size, "GET /api/v1/things/");
    for (int i = 0; i < 4096; i++) {
        memcpy(request + at, "%c3", 3);
        at += 3;
    }
    (void)snprintf(request + at, size - at, " HTTP/1.1\r\n" LOCAL "Connection: close\r\n\r\n");
    check("4,096 bytes", http_client_exchange(scene->port, request), 200, "\"parameter_bytes\":4096");
    at = (size_t)snprintf(request, size, "GET /api/v1/things/");
    memset(request + at, 'a', 100 * 1024);
    (void)snprintf(request + at + 100 * 1024, 100, " HTTP/1.1\r\n" LOCAL "\r\n");
    check("100 KiB", http_client_exchange(scene->port, request), 414, "");
    at = (size_t)snprintf(request, size, "GET /livez HTTP/1.1\r\n" LOCAL "X: ");
    memset(request + at, 'a', 100 * 1024);
    (void)snprintf(request + at + 100 * 1024, 100, "\r\n\r\n");
    check("a header of 100 KiB", http_client_exchange(scene->port, request), 431, "");
    free(request);
    get(state, "/livez", 200, "UP");
}

static void post(void **state, const char *path, const char *headers, const char *text, int status, const char *part)
{
    const struct http_scene *scene = *state;
    char what[512];
    (void)snprintf(what, sizeof(what), "POST %s\n%s", path, headers);
    check(what, http_client_send_body(scene->port, "POST", path, headers, text, strlen(text)), status, part);
}

static void test_methods(void **state)
{
    const struct http_scene *scene = *state;
    post(state, "/api/v1/things", JSON, "{}", 201, "\"upload_bytes\":2");
    post(state, "/api/v1/things/a%2Fb/act", JSON, "{}", 201, "\"parameter\":\"a/b\"");
    post(state, "/api/v1/things/42", JSON, "{}", 405, "Allow: GET, HEAD, DELETE\r\n");
    post(state, "/api/v1/things/list", JSON, "{}", 405, "Allow: GET, HEAD\r\n");
    check("DELETE", http_client_request(scene->port, "DELETE", "/api/v1/things/42", LOCAL), 201, "\"parameter\":\"42\"");
    check("PUT", http_client_request(scene->port, "PUT", "/api/v1/things", JSON "Content-Length: 0\r\n"), 405, "Allow: POST\r\n");
    check("OPTIONS", http_client_request(scene->port, "OPTIONS", "/api/v1/things", LOCAL "Origin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n"), 405,
          "Allow: POST\r\n");
    check("TRACE", http_client_request(scene->port, "TRACE", "/api/v1/things/42", LOCAL "X: y\r\n"), 405, "method_not_allowed");
    check("GET", http_client_request(scene->port, "GET", "/api/v1/things", LOCAL), 405, "Allow: POST\r\n");
    post(state, "/livez", LOCAL, "x", 405, "Allow: GET, HEAD\r\n");
}

/* A page of another site that its reader's browser shows: it can send what a form can, and under its own name. */
static void test_cross_site(void **state)
{
    int before = written;
    post(state, "/api/v1/things", LOCAL, "{}", 415, "\"code\":\"unsupported_media_type\"");
    static const char *const types[] = {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx", "text/plain; application/json", "", "json"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        char headers[256];
        (void)snprintf(headers, sizeof(headers), LOCAL "Content-Type: %s\r\n", types[i]);
        post(state, "/api/v1/things", headers, "{}", 415, "\"code\":\"unsupported_media_type\"");
    }
    static const char *const origins[] = {"http://evil.example", "null", "http://localhost.evil.example", "http://localhost:1", "file://", "https://localhost@evil.example", ""};
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
        char headers[256];
        (void)snprintf(headers, sizeof(headers), JSON "Origin: %s\r\n", origins[i]);
        post(state, "/api/v1/things", headers, "{}", 403, "\"code\":\"origin_not_allowed\"");
    }
    post(state, "/api/v1/things", JSON "Sec-Fetch-Site: cross-site\r\n", "{}", 403, "\"code\":\"origin_not_allowed\"");
    post(state, "/api/v1/things", JSON "Sec-Fetch-Site: same-site\r\n", "{}", 403, "\"code\":\"origin_not_allowed\"");
    post(state, "/api/v1/things/4/act", LOCAL, "", 415, "\"code\":\"unsupported_media_type\"");
    assert_int_equal(written, before);
    post(state, "/api/v1/things", JSON "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n", "{}", 201, "\"actor\":\"loopback\"");
    post(state, "/api/v1/things", LOCAL "Content-Type: Application/JSON; charset=utf-8\r\nSec-Fetch-Site: none\r\n", "{}", 201, "loopback");
    assert_int_equal(written, before + 2);
}

/* A name of the attacker's that was pointed at loopback meanwhile. */
static void test_rebinding(void **state)
{
    const struct http_scene *scene = *state;
    int before = written;
    post(state, "/api/v1/things", "Host: evil.example:7411\r\nOrigin: http://evil.example:7411\r\nContent-Type: application/json\r\n", "{}", 403, "\"code\":\"host_not_allowed\"");
    check("DELETE", http_client_request(scene->port, "DELETE", "/api/v1/things/42", "Host: evil.example\r\n"), 403, "\"code\":\"host_not_allowed\"");
    check("GET", http_client_request(scene->port, "GET", "/api/v1/things/42", "Host: evil.example\r\n"), 403, "\"code\":\"host_not_allowed\"");
    check("two", http_client_request(scene->port, "GET", "/api/v1/things/42", LOCAL "Host: evil.example\r\n"), 403, "\"code\":\"host_not_allowed\"");
    check("no path", http_client_request(scene->port, "GET", "/api/none", "Host: evil.example\r\n"), 403, "\"code\":\"host_not_allowed\"");
    assert_int_equal(written, before);
}

static void test_bodies(void **state)
{
    const struct http_scene *scene = *state;
    post(state, "/api/v1/bodies", JSON, "{\"a\": [1, {\"b\": null}], \"payload\": \"\\ud83d\\ude00\"}", 201, "\"a\":[1,{\"b\":null}]");
    static const char *const bad[] = {"", "{", "[]", "null", "1", "{}x", "{} {}", "{\"a\":1,}", "{'a':1}", "{\"a\":01}", "{\"a\":NaN}", "{\"a\":1 /* */}", "{\"a\":\"\xff\"}", "{\"a\":\"\\ud800\"}",
                                      "\xEF\xBB\xBF{}", "{\"a\":\"\\u0000\"}", "{\"\\u0000\":1}", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "{\"a\":\"\t\"}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        post(state, "/api/v1/bodies", JSON, bad[i], 400, "\"code\":\"bad_json\"");
    }
    post(state, "/api/v1/bodies", JSON, "{\"a\":1 \"b\":2}", 400, "at byte 7");
    post(state, "/api/v1/bodies", JSON, "{\"paylaod\":1}", 400, "did you mean payload?");
    post(state, "/api/v1/bodies", JSON, "{\"x\":1}", 400, "\"code\":\"unknown_member\"");
    char *deep = malloc(200001);
    assert_non_null(deep);
    memset(deep, '[', 200000);
    memcpy(deep, "{\"a\":", 5);
    deep[200000] = '\0';
    post(state, "/api/v1/bodies", JSON, deep, 400, "\"code\":\"bad_json\"");
    free(deep);
    check("NUL", http_client_send_body(scene->port, "POST", "/api/v1/bodies", JSON, "{\0}", 3), 400, "\"code\":\"bad_json\"");
}

static void test_body_sizes(void **state)
{
    const struct http_scene *scene = *state;
    size_t most = HTTP_REQUEST_UPLOAD_MOST;
    char *bytes = malloc(most + 1);
    assert_non_null(bytes);
    memset(bytes, ' ', most + 1);
    check("2 MiB", http_client_send_body(scene->port, "POST", "/api/v1/things", JSON, bytes, most), 201, "\"upload_bytes\":2097152");
    check("more", http_client_send_body(scene->port, "POST", "/api/v1/things", JSON, bytes, most + 1), 413, "\"code\":\"payload_too_large\"");
    free(bytes);
    check("announced", http_client_exchange(scene->port, "POST /api/v1/things HTTP/1.1\r\n" JSON "Content-Length: 100000000000\r\n\r\n"), 413, "payload_too_large");
    check("beyond numbers", http_client_exchange(scene->port, "POST /api/v1/things HTTP/1.1\r\n" JSON "Content-Length: 99999999999999999999999\r\n\r\n"), 413, "");
}

/* A body without a length that goes on and on: refused when it ends in time, else cut; never kept. */
static void test_chunks(void **state)
{
    const struct http_scene *scene = *state;
    static char chunk[65536 + 16];
    int length = snprintf(chunk, sizeof(chunk), "10000\r\n");
    memset(chunk + length, ' ', 65536);
    memcpy(chunk + length + 65536, "\r\n", 2);
    static const char head[] = "POST /api/v1/things HTTP/1.1\r\n" JSON "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
    int chunks[] = {1, 40, 100000};
    for (size_t i = 0; i < 3; i++) {
        int fd = http_client_connect(scene->port);
        bool sent = http_client_send(fd, head, sizeof(head) - 1);
        for (int n = 0; sent && n < chunks[i]; n++) {
            sent = http_client_send(fd, chunk, (size_t)length + 65536 + 2);
        }
        bool closed;
        bool whole = sent && http_client_send(fd, "0\r\n\r\n", 5);
        char *answer = http_client_read_to_end(fd, 20000, &closed);
        assert_true(closed);
        assert_int_equal(whole, i < 2);
        if (whole) {
            assert_int_equal(http_client_status(answer), i == 0 ? 201 : 413);
        }
        free(answer);
    }
    get(state, "/livez", 200, "UP");
}

/* Many large bodies at a time that do not come to their end: there is room for so many, and for others after them. */
static void test_many_bodies(void **state)
{
    const struct http_scene *scene = *state;
    static const char head[] = "POST /api/v1/things HTTP/1.1\r\n" JSON "Content-Length: 2097152\r\nConnection: close\r\n\r\n";
    size_t part = HTTP_REQUEST_UPLOAD_MOST - 1;
    char *bytes = malloc(part);
    int fds[100];
    int count = 0;
    int status = 201;
    assert_non_null(bytes);
    memset(bytes, ' ', part);
    while (status == 201 && count < 100) { /* 32 fit; but many are refused when they come at a time */
        fds[count] = http_client_connect(scene->port);
        assert_true(http_client_send(fds[count], head, sizeof(head) - 1) && http_client_send(fds[count], bytes, part));
        count++;
        char *answer = count < 32 ? NULL : http_client_send_body(scene->port, "POST", "/api/v1/things", JSON, bytes, part);
        status = count < 32 ? 201 : http_client_status(answer);
        free(answer);
    }
    assert_int_equal(status, 503);
    get(state, "/livez", 200, "UP");
    int taken = 0;
    for (int i = 0; i < count; i++) {
        bool closed;
        assert_true(http_client_send(fds[i], " ", 1));
        char *answer = http_client_read_to_end(fds[i], 20000, &closed);
        assert_true(closed && (http_client_status(answer) == 201 || http_client_status(answer) == 503));
        taken += http_client_status(answer) == 201;
        free(answer);
    }
    assert_true(taken > 16 && taken <= 32);
    free(bytes);
    post(state, "/api/v1/things", JSON, "{}", 201, "\"upload_bytes\":2");
}

/* Who waits for leave to send a body is refused without one. */
static void test_expect(void **state)
{
    const struct http_scene *scene = *state;
    check("expects", http_client_exchange(scene->port, "POST /api/v1/things HTTP/1.1\r\n" LOCAL "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n"), 415, "unsupported_media_type");
    int fd = http_client_connect(scene->port);
    static const char head[] = "POST /api/v1/things HTTP/1.1\r\n" JSON "Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n";
    assert_true(http_client_send(fd, head, sizeof(head) - 1));
    char leave[26] = "";
    assert_true(http_client_read_some(fd, leave, sizeof(leave) - 1, 20000));
    assert_string_equal(leave, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_true(http_client_send(fd, "{}", 2));
    bool closed;
    check("continues", http_client_read_to_end(fd, 20000, &closed), 201, "\"upload_bytes\":2");
}

static void test_idempotency_key(void **state)
{
    char headers[1024];
    post(state, "/api/v1/things", JSON "Idempotency-Key: abc %20\r\n", "{}", 201, "\"key\":\"abc %20\"");
    post(state, "/api/v1/things", JSON, "{}", 201, "\"key\":\"(none)\"");
    post(state, "/api/v1/things", JSON "Idempotency-Key: \r\n", "{}", 400, "Idempotency-Key has 1 to 255 bytes");
    (void)snprintf(headers, sizeof(headers), JSON "Idempotency-Key: %0256d\r\n", 1);
    post(state, "/api/v1/things", headers, "{}", 400, "\"code\":\"bad_parameter\"");
}

/* Two readings of one request, for a proxy before us and for us, would let one be smuggled in the other. */
static void test_smuggling(void **state)
{
    const struct http_scene *scene = *state;
    int before = written;
    static const char *const requests[] = {
        "POST /api/v1/things HTTP/1.1\r\n" JSON "Content-Length: 2\r\nContent-Length: 3\r\nConnection: close\r\n\r\n{}x",
        "POST /api/v1/things HTTP/1.1\r\n" JSON "Content-Length: 2\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n",
        "POST /api/v1/things HTTP/1.1\r\n" JSON "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nConnection: close\r\n\r\n0\r\n\r\n",
        "POST /api/v1/things HTTP/1.1\r\n" JSON "Content-Length: -1\r\nConnection: close\r\n\r\n",
        "POST /api/v1/things HTTP/1.1\r\n" JSON "Content-Length: 0x2\r\nConnection: close\r\n\r\n{}",
        "POST /api/v1/things HTTP/1.1\r\n" JSON "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        "POST /api/v1/things HTTP/1.1\r\n" JSON "Transfer-Encoding: xchunked\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    };
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        char *answer = http_client_exchange(scene->port, requests[i]);
        if (http_client_status(answer) == 201) {
            print_error("taken: %s\n%s\n", requests[i], answer);
            fail();
        }
        free(answer);
    }
    assert_int_equal(written, before);
}

/* What we took for a request of its own would be the body of another to a proxy: an answer, and no more of this connection. */
static void test_unclear_length(void **state)
{
    const struct http_scene *scene = *state;
    static const char *const unclear[] = {"Content-Length : 40\r\n",          "Content-Length\t: 40\r\n",           "Transfer-Encoding : chunked\r\n",
                                          "Transfer-Encoding: xchunked\r\n",  "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: identity\r\n",
                                          "Transfer-Encoding: chunked,\r\n", "X Content-Length: 40\r\n",
                                          "Content-Length:\r\n 40\r\n",        "Content-Length: 4\r\n\t0\r\n", "Transfer-Encoding:\r\n chunked\r\n"};
    static const char *const methods[] = {"GET /api/v1/things/a", "POST /api/v1/things", "DELETE /api/v1/things/a"};
    int before = written;
    for (size_t i = 0; i < sizeof(unclear) / sizeof(unclear[0]) * 3; i++) {
        char request[512];
        (void)snprintf(request, sizeof(request), "%s HTTP/1.1\r\n" JSON "%s\r\nPOST /api/v1/things HTTP/1.1\r\n" JSON "Content-Length: 0\r\n\r\n", methods[i % 3], unclear[i / 3]);
        char *answer = http_client_exchange(scene->port, request);
        assert_true(answer == NULL || strstr(answer + 1, "HTTP/1.1 ") == NULL); /* one at most */
        check(request, answer, 400, "\"code\":\"bad_body\"");
    }
    assert_int_equal(written, before);
}

/* As many as there is room for, all of them to be answered by one who does not: that it lives is said all the same. */
static void test_all_ask(void **state)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\n" LOCAL "\r\n";
    struct http_scene *scene = *state;
    int fds[HTTP_CLIENTS_MOST];
    char answer[400] = "";
    http_scene_stick(scene);
    for (size_t i = 0; i < HTTP_CLIENTS_MOST; i++) {
        fds[i] = http_client_connect(scene->port);
        assert_true(fds[i] >= 0 && http_client_send(fds[i], request, strlen(request)));
    }
    assert_true(http_client_read_some(fds[HTTP_CLIENTS_MOST - 1], answer, 12, 20000));
    assert_string_equal(answer, "HTTP/1.1 503");
    struct pollfd first = {fds[0], POLLIN, 0};
    assert_int_equal(poll(&first, 1, 0), 0); /* refused at once, as others wait */
    get(state, "/livez", 200, "UP");
    get(state, "/api/v1/things/a", 503, "\"code\":\"too_many_requests_waiting\"");
    scene->stuck = false;
    for (size_t i = 0; i < HTTP_CLIENTS_MOST; i++) {
        assert_int_equal(close(fds[i]), 0);
    }
}

static void test_token(void **state)
{
    (void)state;
    char path[64];
    struct http_scene *scene = http_scene_open_with_token(path);
    void *own = scene;
    int before = written;
    post(&own, "/api/v1/things", JSON, "{}", 401, "WWW-Authenticate: Bearer realm=\"tarry\"\r\n");
    post(&own, "/api/v1/things", JSON "Authorization: Bearer 0123456789abcdeg\r\n", "{}", 401, "\"code\":\"unauthorized\"");
    post(&own, "/api/v1/things?token=0123456789abcdef", JSON, "{}", 401, "\"code\":\"unauthorized\"");
    check("DELETE", http_client_request(scene->port, "DELETE", "/api/v1/things/1", LOCAL), 401, "unauthorized");
    get(&own, "/api/v1/things/list", 401, "unauthorized");
    get(&own, "/api/v1/none", 401, "unauthorized");
    assert_int_equal(written, before);
    post(&own, "/api/v1/things", JSON "Authorization: Bearer 0123456789abcdef\r\n", "{}", 201, "\"actor\":\"token\"");
    post(&own, "/api/v1/things", JSON "Authorization: Bearer 0123456789abcdef\r\nOrigin: http://evil.example\r\n", "{}", 403, "origin_not_allowed");
    /* Who stands before us may have looked at the other one. */
    static const char *const twice[] = {"Authorization: Bearer 0123456789abcdef\r\nAuthorization: Bearer x\r\n", "Authorization: Bearer x\r\nAuthorization: Bearer 0123456789abcdef\r\n",
                                        "Authorization: Bearer 0123456789abcdef\r\nOrigin: http://localhost\r\nOrigin: http://evil.example\r\n",
                                        "Authorization: Bearer 0123456789abcdef\r\nSec-Fetch-Site: none\r\nsec-fetch-site: cross-site\r\n",
                                        "Authorization: Bearer 0123456789abcdef\r\nContent-Type: text/plain\r\n",
                                        "Authorization: Bearer 0123456789abcdef\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\n"};
    before = written;
    for (size_t i = 0; i < sizeof(twice) / sizeof(twice[0]); i++) {
        char headers[512];
        (void)snprintf(headers, sizeof(headers), JSON "%s", twice[i]);
        post(&own, "/api/v1/things", headers, "{}", 400, "\"code\":\"bad_body\"");
    }
    assert_int_equal(written, before);
    http_scene_close(scene);
    assert_int_equal(unlink(path), 0);
}

static void test_guards(void **state)
{
    (void)state;
    assert_true(http_guard_same_origin(NULL, NULL));
    assert_true(http_guard_same_origin("http://Localhost:7411", "localhost:7411"));
    assert_true(http_guard_same_origin("https://tarry.example", "tarry.example"));
    assert_false(http_guard_same_origin("http://localhost", NULL));
    assert_false(http_guard_same_origin("http://localhost/", "localhost"));
    assert_false(http_guard_same_origin("localhost", "localhost"));
    assert_true(http_guard_is_json("application/json ;charset=utf-8"));
    assert_false(http_guard_is_json("application/json+x"));
    assert_false(http_guard_is_json(NULL));
}

#define WITH_SCENE(test) cmocka_unit_test_setup_teardown(test, http_scene_setup, http_scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCENE(test_paths),      WITH_SCENE(test_path_tricks), WITH_SCENE(test_too_many_parameters), WITH_SCENE(test_long_paths), WITH_SCENE(test_methods),
        WITH_SCENE(test_cross_site), WITH_SCENE(test_rebinding),   WITH_SCENE(test_bodies),              WITH_SCENE(test_body_sizes), WITH_SCENE(test_chunks),
        WITH_SCENE(test_many_bodies), WITH_SCENE(test_expect),     WITH_SCENE(test_smuggling), WITH_SCENE(test_unclear_length), WITH_SCENE(test_all_ask),   WITH_SCENE(test_idempotency_key),     cmocka_unit_test(test_token), cmocka_unit_test(test_guards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
