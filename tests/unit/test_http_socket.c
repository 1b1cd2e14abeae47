/* The Unix socket: its mode, stale and live ones, and who comes by it. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "ops/http_route.h"
#include "ops/http_socket.h"
#include "tests/support/http_client.h"
#include "tests/support/http_scene.h"

static void say_actor(struct http_request *request, struct api *api)
{
    (void)api;
    request->status = 200;
    request->content_type = "text/plain";
    buffer_add_text(&request->body, request->actor);
}

static const struct http_route routes[] = {
    {METRICS_METHOD_GET, "/livez", HTTP_ACCESS_OPEN, HTTP_ANSWERER_OWNER, 0, http_owner_live, NULL, ""},
    {METRICS_METHOD_GET, "/api/v1/actor", HTTP_ACCESS_READ, HTTP_ANSWERER_READER, 10000, NULL, say_actor, ""},
    {METRICS_METHOD_POST, "/api/v1/actor", HTTP_ACCESS_WRITE, HTTP_ANSWERER_WRITER, 10000, NULL, say_actor, ""},
};

const struct http_route *http_route_all(size_t *count)
{
    *count = sizeof(routes) / sizeof(routes[0]);
    return routes;
}

static char folder[] = "/tmp/tarry-socket-XXXXXX";
static char path[100];

static int make_folder(void **state)
{
    (void)state;
    bool made = mkdtemp(folder) != NULL;
    (void)snprintf(path, sizeof(path), "%s/tarry.sock", folder);
    return made ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void test_mode(void **state)
{
    (void)state;
    struct error error;
    struct http_socket socket;
    struct stat status;
    mode_t before = umask(0);
    assert_true(http_socket_open(&socket, path, &error));
    assert_int_equal(umask(before), 0); /* it is as it was */
    assert_int_equal(lstat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0660);
    http_socket_close(&socket);
    assert_int_equal(access(path, F_OK), -1);
}

static void test_live_and_stale(void **state)
{
    (void)state;
    struct error error;
    struct http_socket first;
    struct http_socket second;
    assert_true(http_socket_open(&first, path, &error));
    assert_false(http_socket_open(&second, path, &error));
    assert_int_equal(error.code, ERROR_BUSY);
    assert_non_null(strstr(error.text, path));
    assert_int_equal(second.fd, -1);
    assert_int_equal(close(first.fd), 0); /* as a process that was killed */
    first.fd = -1;
    assert_true(http_socket_open(&second, path, &error));
    /* Another one stands there by now: it is left alone. */
    assert_int_equal(unlink(path), 0);
    struct http_socket third;
    assert_true(http_socket_open(&third, path, &error));
    http_socket_close(&second);
    assert_int_equal(access(path, F_OK), 0);
    http_socket_close(&third);
    free(first.path);
    http_socket_close(&first); /* closed already */
}

static void test_refusals(void **state)
{
    (void)state;
    struct error error;
    struct http_socket socket;
    char longer[HTTP_SOCKET_PATH_MOST + 2];
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_false(http_socket_open(&socket, path, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, "is no socket"));
    assert_int_equal(unlink(path), 0); /* it was left */
    char making[sizeof(path) + 8];
    (void)snprintf(making, sizeof(making), "%s.new", path); /* the name that it is made under may be somebody's, too */
    file = fopen(making, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_false(http_socket_open(&socket, path, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, making));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(unlink(making), 0); /* it was left */
    assert_false(http_socket_open(&socket, "/nonexistent/tarry.sock", &error));
    assert_int_equal(error.code, ERROR_INVALID);
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_false(http_socket_open(&socket, longer, &error));
    assert_non_null(strstr(error.text, "103 bytes"));
}

static char *exchange(const char *request)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    bool closed;
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_true(http_client_send(fd, request, strlen(request)));
    char *answer = http_client_read_to_end(fd, 20000, &closed);
    assert_true(closed);
    return answer;
}

/* No token, any Host: who may open the file may ask. Who that is goes into the audit. What guards against browsers stays. */
static void test_server(void **state)
{
    (void)state;
    char token_path[256];
    char actor[64];
    (void)snprintf(token_path, sizeof(token_path), "%s/token", folder);
    FILE *file = fopen(token_path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "0123456789abcdef\n") > 0);
    assert_int_equal(fclose(file), 0);
    const struct http_options options = {.listen = "127.0.0.1:0", .socket = path, .token_file = token_path};
    struct http_scene *scene = http_scene_open(&options);
    (void)snprintf(actor, sizeof(actor), "\r\n\r\nuid %lu", (unsigned long)getuid());
    char *answer = exchange("GET /api/v1/actor HTTP/1.1\r\nHost: anything\r\nConnection: close\r\n\r\n");
    assert_int_equal(http_client_status(answer), 200);
    assert_non_null(strstr(answer, actor));
    free(answer);
    answer = exchange("POST /api/v1/actor HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
    assert_non_null(strstr(answer, actor));
    free(answer);
    answer = exchange("POST /api/v1/actor HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
    assert_int_equal(http_client_status(answer), 415);
    free(answer);
    answer = http_client_request(scene->port, "GET", "/api/v1/actor", "Host: localhost\r\n"); /* the other way still needs one */
    assert_int_equal(http_client_status(answer), 401);
    free(answer);
    http_scene_close(scene);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(unlink(token_path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mode),
        cmocka_unit_test(test_live_and_stale),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_server),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
