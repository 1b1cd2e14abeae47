/*
 * tarry under a service manager: a socket of the test's own stands for systemd's. What it says when, that an owner which is stuck says nothing, and that
 * credentials are found.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/support/await.h"
#include "tests/support/http_client.h"
#include "tests/support/operated.h"
#include "tests/support/temp.h"

#define MESSAGES_MAX 4096
#define SOON_MS 30000
#define WATCHDOG "WATCHDOG_USEC=1000000" /* so that a message comes each half second */

struct manager {
    int fd;
    char *path;
    char variable[200];
    char messages[MESSAGES_MAX][512];
    size_t count;
};

static struct manager manager;

static void listen_for(const struct operated *operated)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    manager.count = 0;
    manager.path = temp_path(operated->folder, "notify");
    assert_true(strlen(manager.path) < sizeof(address.sun_path));
    memcpy(address.sun_path, manager.path, strlen(manager.path) + 1);
    manager.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(manager.fd >= 0);
    assert_int_equal(bind(manager.fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    snprintf(manager.variable, sizeof(manager.variable), "NOTIFY_SOCKET=%s", manager.path);
}

static void listen_no_more(void)
{
    close(manager.fd);
    free(manager.path);
}

static void hear(void)
{
    ssize_t length;
    while (manager.count < MESSAGES_MAX && (length = recv(manager.fd, manager.messages[manager.count], sizeof(manager.messages[0]) - 1, 0)) > 0) {
        manager.messages[manager.count++][length] = '\0';
    }
}

/* How many of the messages from `from` on begin with that. */
static size_t heard(size_t from, const char *start)
{
    size_t count = 0;
    hear();
    for (size_t i = from; i < manager.count; i++) {
        count += strncmp(manager.messages[i], start, strlen(start)) == 0;
    }
    return count;
}

struct wanted {
    size_t from;
    const char *start;
    size_t count;
};

static bool is_heard(void *context)
{
    const struct wanted *wanted = context;
    return heard(wanted->from, wanted->start) >= wanted->count;
}

static void await_heard(size_t from, const char *start, size_t count)
{
    if (!await_condition(is_heard, &(struct wanted){from, start, count}, SOON_MS)) {
        for (size_t i = from; i < manager.count; i++) {
            print_message("heard: %s\n", manager.messages[i]);
        }
        fail_msg("not heard in time: %s", start);
    }
}

static struct operated *under_manager(const struct operated_options *options, bool wait)
{
    struct operated *operated = operated_open();
    listen_for(operated);
    operated_configure(operated, options);
    char **environment = operated_environment((const char *const[]){manager.variable, WATCHDOG, NULL});
    operated_launch(operated, &(struct tarry_process_options){.environment = environment});
    free(environment);
    if (wait) {
        await_heard(0, "READY=1\n", 1);
    }
    return operated;
}

/* Kafka is not there: it lives, asks for more time and says why; it is never ready, and a reload does not make it so. */
static void a_start_that_waits(void **state)
{
    (void)state;
    struct operated *operated = under_manager(&(struct operated_options){.bootstrap = "127.0.0.1:1"}, false);
    await_heard(0, "EXTEND_TIMEOUT_USEC=60000000\n", 1);
    await_heard(0, "WATCHDOG=1\n", 4);
    tarry_process_signal(operated->process, SIGHUP);
    await_heard(manager.count, "WATCHDOG=1\n", 3);
    await_heard(0, "STATUS=not ready: kafka_unreachable: ", 1);
    assert_int_equal(heard(0, "READY=1"), 0);
    assert_int_equal(heard(0, "RELOADING=1"), 0);
    assert_int_equal(tarry_process_get(operated->process, "/livez", NULL, 0), 200);
    assert_int_equal(tarry_process_get(operated->process, "/readyz", NULL, 0), 503);
    assert_int_equal(tarry_process_stop(operated->process, SOON_MS), 0);
    assert_int_equal(heard(0, "READY=1"), 0);
    assert_int_equal(heard(0, "STOPPING=1\n"), 1);
    listen_no_more();
    operated_close(operated);
}

static uint64_t mono_us(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void assert_reload(size_t from, uint64_t before_us)
{
    size_t at = from;
    hear();
    while (strncmp(manager.messages[at], "RELOADING=1\n", 12) != 0) {
        at++;
    }
    uint64_t began_us = strtoull(strstr(manager.messages[at], "MONOTONIC_USEC=") + 15, NULL, 10);
    assert_in_range(began_us, before_us, mono_us());
    assert_int_equal(heard(from, "RELOADING=1\n"), 1);
    assert_int_equal(heard(at, "READY=1\n"), 1); /* after it */
}

static void ready_reload_stop(void **state)
{
    (void)state;
    struct operated *operated = under_manager(&(struct operated_options){0}, true);
    assert_int_equal(tarry_process_get(operated->process, "/readyz", NULL, 0), 200);
    await_heard(0, "STATUS=ready: 2 partitions, 0 pending, 0 overdue, 0 in flight, next due never", 1);
    operated_send(operated, 7, 3600 * 1000);
    await_heard(0, "STATUS=ready: 2 partitions, 7 pending, 0 overdue, 0 in flight, next due 2", 1);
    assert_int_equal(heard(0, "READY=1\n"), 1);
    size_t from = manager.count;
    uint64_t before_us = mono_us();
    operated_configure(operated, &(struct operated_options){.log_level = "debug"});
    tarry_process_signal(operated->process, SIGHUP);
    await_heard(from, "READY=1\n", 1);
    assert_reload(from, before_us);
    assert_true(tarry_process_log_count(operated->process, "log.level is in force") == 1);
    from = manager.count; /* a reload that fails ends, too: the service goes on as it was */
    before_us = mono_us();
    free(operated_file(operated, "tarry.yaml", "nonsense: true\n", 0600));
    tarry_process_signal(operated->process, SIGHUP);
    await_heard(from, "READY=1\n", 1);
    assert_reload(from, before_us);
    assert_true(tarry_process_log_count(operated->process, "reload_failed") == 1);
    assert_int_equal(heard(0, "STOPPING=1"), 0);
    assert_int_equal(tarry_process_stop(operated->process, SOON_MS), 0);
    assert_int_equal(heard(from, "STOPPING=1\n"), 1);
    assert_int_equal(heard(from, "EXTEND_TIMEOUT_USEC=35000000\n"), 1); /* shutdown_timeout and what closing may take */
    listen_no_more();
    operated_close(operated);
}

static bool is_not_live(void *context)
{
    struct operated *operated = context;
    return tarry_process_get(operated->process, "/livez", NULL, 0) != 200;
}

/* Only the thread of the main loop is held; all others, that of HTTP too, go on. */
static void an_owner_that_is_stuck(void **state)
{
    (void)state;
    struct operated *operated = under_manager(&(struct operated_options){0}, true);
    pid_t owner = tarry_process_pid(operated->process);
    size_t from = manager.count;
    int64_t began_ms = await_mono_ms();
    await_heard(from, "WATCHDOG=1\n", 6);
    assert_in_range(await_mono_ms() - began_ms, 2000, 20000); /* each half second, not more often */
    assert_int_equal(ptrace(PTRACE_SEIZE, owner, NULL, NULL), 0);
    assert_int_equal(ptrace(PTRACE_INTERRUPT, owner, NULL, NULL), 0);
    assert_int_equal(waitpid(owner, NULL, __WALL), owner);
    hear();
    from = manager.count;
    bool noticed = await_condition(is_not_live, operated, SOON_MS); /* more than ten seconds, in which systemd would have ended it ten times */
    size_t barks = heard(from, "WATCHDOG=1\n");
    assert_int_equal(ptrace(PTRACE_DETACH, owner, NULL, NULL), 0);
    assert_true(noticed);
    assert_int_equal(barks, 0);
    await_heard(from, "WATCHDOG=1\n", 2);
    assert_int_equal(tarry_process_get(operated->process, "/livez", NULL, 0), 200);
    assert_int_equal(tarry_process_stop(operated->process, SOON_MS), 0);
    listen_no_more();
    operated_close(operated);
}

/* ------------------------------------------------------------------------------------------------- credentials */

#define TOKEN "first-token-of-the-test"
#define OTHER_TOKEN "other-token-of-the-test"

static int get_info(const struct operated *operated, const char *token)
{
    char request[256];
    snprintf(request, sizeof(request), "GET /api/v1/info HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", token);
    char *answer = http_client_exchange((uint16_t)operated->http_port, request);
    assert_non_null(answer);
    int status = http_client_status(answer);
    free(answer);
    return status;
}

struct token_case {
    const struct operated *operated;
    const char *token;
};

static bool is_let_in(void *context)
{
    const struct token_case *expected = context;
    return get_info(expected->operated, expected->token) == 200;
}

static void credentials_are_found(void **state)
{
    (void)state;
    static const struct operated_options options = {.http = "token_file: \"credential:http-token\""};
    struct operated *operated = operated_open();
    operated_configure(operated, &options);
    operated_launch(operated, NULL); /* nobody says where they are */
    assert_int_equal(tarry_process_wait_exit(operated->process, SOON_MS), 78);
    assert_true(tarry_process_log_count(operated->process, "CREDENTIALS_DIRECTORY is not set: have the unit say LoadCredential=http-token:") == 1);
    char *directory = temp_path(operated->folder, "credentials");
    char *variable = temp_path("CREDENTIALS_DIRECTORY=", directory); /* two slashes are one */
    variable[strlen("CREDENTIALS_DIRECTORY=")] = '/';
    assert_int_equal(mkdir(directory, 0700), 0);
    free(operated_file(operated, "credentials/http-token", TOKEN "\n", 0400));
    char **environment = operated_environment((const char *const[]){variable, NULL});
    operated_start(operated, &(struct tarry_process_options){.environment = environment});
    assert_int_equal(get_info(operated, TOKEN), 200);
    assert_int_equal(get_info(operated, OTHER_TOKEN), 401);
    char *path = operated_file(operated, "credentials/http-token.new", OTHER_TOKEN "\n", 0400);
    char *target = temp_path(directory, "http-token");
    assert_int_equal(rename(path, target), 0);
    tarry_process_signal(operated->process, SIGHUP); /* read again */
    assert_true(await_condition(is_let_in, &(struct token_case){operated, OTHER_TOKEN}, SOON_MS));
    assert_int_equal(get_info(operated, TOKEN), 401);
    assert_int_equal(tarry_process_stop(operated->process, SOON_MS), 0);
    free(target);
    free(path);
    free(environment);
    free(variable);
    free(directory);
    operated_close(operated);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_start_that_waits, operated_teardown),
        cmocka_unit_test_teardown(ready_reload_stop, operated_teardown),
        cmocka_unit_test_teardown(an_owner_that_is_stuck, operated_teardown),
        cmocka_unit_test_teardown(credentials_are_found, operated_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
