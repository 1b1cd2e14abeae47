/* The service manager's protocol, with a socket in its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "ops/notify.h"

/* A datagram socket bound to `name` (@ for abstract). */
static int manager(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    memcpy(address.sun_path, name, length);
    if (name[0] == '@') {
        address.sun_path[0] = '\0';
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (name[0] == '@' ? 0 : 1));
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, size), 0);
    return fd;
}

static void assert_received(int fd, const char *expected)
{
    char text[1024];
    ssize_t length = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
    assert_true(length > 0);
    text[length] = '\0';
    assert_string_equal(text, expected);
}

static void speak_and_listen(const char *name)
{
    int fd = manager(name);
    struct notify *notify = notify_new(name);
    notify_ready(notify);
    notify_reloading(notify, 123456789);
    notify_watchdog(notify);
    notify_status(notify, "%d pending\nREADY=1", 7);
    notify_extend(notify, 90000);
    notify_stopping(notify);
    assert_true(notify_listens(notify));
    assert_received(fd, "READY=1\n");
    assert_received(fd, "RELOADING=1\nMONOTONIC_USEC=123456789\n");
    assert_received(fd, "WATCHDOG=1\n");
    assert_received(fd, "STATUS=7 pending READY=1");
    assert_received(fd, "EXTEND_TIMEOUT_USEC=90000000\n");
    assert_received(fd, "STOPPING=1\n");
    notify_free(notify);
    (void)close(fd);
}

static void test_path_and_abstract(void **state)
{
    (void)state;
    char directory[] = "/tmp/tarry-notify-XXXXXX";
    assert_non_null(mkdtemp(directory));
    char name[64];
    (void)snprintf(name, sizeof(name), "%s/socket", directory);
    speak_and_listen(name);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(rmdir(directory), 0);
    (void)snprintf(name, sizeof(name), "@tarry-notify-%d", (int)getpid());
    speak_and_listen(name);
}

static void test_nobody_listens(void **state)
{
    (void)state;
    char longer[300];
    memset(longer, 'a', sizeof(longer) - 1);
    longer[0] = '/';
    longer[sizeof(longer) - 1] = '\0';
    const char *const names[] = {NULL, "", "relative", "@", "/nonexistent/socket", longer};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct notify *notify = notify_new(names[i]);
        notify_ready(notify);
        notify_extend(notify, 1);
        notify_status(notify, "%s", longer);
        notify_free(notify);
    }
    notify_free(NULL);
}

/* A manager that does not read costs a watchdog message no time, and nothing breaks. */
static void test_full_socket(void **state)
{
    (void)state;
    char name[64];
    (void)snprintf(name, sizeof(name), "@tarry-notify-full-%d", (int)getpid());
    int fd = manager(name);
    struct notify *notify = notify_new(name);
    for (int i = 0; i < 2000; i++) {
        notify_watchdog(notify);
    }
    assert_received(fd, "WATCHDOG=1\n");
    notify_free(notify);
    (void)close(fd);
}

static void test_watchdog_interval(void **state)
{
    (void)state;
    assert_int_equal(notify_watchdog_ms(NULL, NULL, 5), 0);
    assert_int_equal(notify_watchdog_ms("30000000", NULL, 5), 15000);
    assert_int_equal(notify_watchdog_ms("30000000", "5", 5), 15000);
    assert_int_equal(notify_watchdog_ms("30000000", "6", 5), 0);
    assert_int_equal(notify_watchdog_ms("1", NULL, 5), 1);
    assert_int_equal(notify_watchdog_ms("0", NULL, 5), 0);
    assert_int_equal(notify_watchdog_ms("-5", NULL, 5), 0);
    assert_int_equal(notify_watchdog_ms("30s", NULL, 5), 0);
    assert_int_equal(notify_watchdog_ms("99999999999999999999", NULL, 5), 0);
    assert_int_equal(notify_watchdog_ms("", "", 5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path_and_abstract),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_full_socket),
        cmocka_unit_test(test_watchdog_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
