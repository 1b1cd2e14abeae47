/* Signals, each case in a process of its own. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ops/signals.h"

#define LONG_MS 20000
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            return __LINE__ % 100 + 1;                                                                                 \
        }                                                                                                              \
    } while (0)

static bool wakes(int timeout_ms)
{
    struct pollfd poll_fd = {signals_fd(), POLLIN, 0};
    int count;
    do {
        count = poll(&poll_fd, 1, timeout_ms); /* again when the signal itself interrupted it */
    } while (count < 0);
    return count == 1;
}

static int in_order(void)
{
    CHECK(signals_start(NULL));
    CHECK(signals_next() == SIGNALS_NONE);
    CHECK(!wakes(0));
    CHECK(kill(getpid(), SIGHUP) == 0 && wakes(LONG_MS));
    CHECK(signals_next() == SIGNALS_RELOAD);
    CHECK(signals_next() == SIGNALS_NONE);
    CHECK(!wakes(0));
    CHECK(kill(getpid(), SIGHUP) == 0 && kill(getpid(), SIGHUP) == 0 && kill(getpid(), SIGTERM) == 0 && wakes(LONG_MS));
    CHECK(signals_next() == SIGNALS_STOP);
    CHECK(signals_next() == SIGNALS_RELOAD);
    CHECK(signals_next() == SIGNALS_NONE);
    CHECK(!wakes(0));
    signals_stop();
    CHECK(signals_fd() == -1);
    return 0;
}

static int second_ends(void)
{
    CHECK(signals_start(NULL));
    CHECK(kill(getpid(), SIGTERM) == 0);
    CHECK(signals_next() == SIGNALS_STOP);
    (void)kill(getpid(), SIGINT);
    return 1; /* not reached */
}

/* Even when the loop never looks: the owner is stuck. */
static int second_ends_a_stuck_loop(void)
{
    CHECK(signals_start(NULL));
    (void)kill(getpid(), SIGINT);
    (void)kill(getpid(), SIGTERM);
    return 1; /* not reached */
}

static int pipe_is_ignored(void)
{
    CHECK(signals_start(NULL));
    int fds[2];
    CHECK(pipe(fds) == 0 && close(fds[0]) == 0);
    CHECK(write(fds[1], "x", 1) == -1);
    return 0;
}

/* A parent may have left them blocked. */
static int blocked_by_the_parent(void)
{
    sigset_t all;
    (void)sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
    CHECK(signals_start(NULL));
    CHECK(kill(getpid(), SIGTERM) == 0 && wakes(LONG_MS));
    CHECK(signals_next() == SIGNALS_STOP);
    return 0;
}

static void *wait_for_end(void *context)
{
    signals_block_in_thread();
    const int *fd = context;
    char byte;
    ssize_t count = read(*fd, &byte, 1);
    return count == 0 ? NULL : context; /* EINTR would mean that a signal came here */
}

static int threads_do_not_get_them(void)
{
    CHECK(signals_start(NULL));
    int fds[2];
    pthread_t thread;
    CHECK(pipe(fds) == 0);
    CHECK(pthread_create(&thread, NULL, wait_for_end, &fds[0]) == 0);
    CHECK(kill(getpid(), SIGHUP) == 0 && wakes(LONG_MS));
    CHECK(close(fds[1]) == 0);
    void *result;
    CHECK(pthread_join(thread, &result) == 0 && result == NULL);
    CHECK(signals_next() == SIGNALS_RELOAD);
    return 0;
}

static void assert_child(int (*body)(void), int expected)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(body());
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), expected);
}

static void test_in_order(void **state)
{
    (void)state;
    assert_child(in_order, 0);
}

static void test_second_ends(void **state)
{
    (void)state;
    assert_child(second_ends, 128 + SIGINT);
    assert_child(second_ends_a_stuck_loop, 128 + SIGTERM);
}

static void test_pipe_is_ignored(void **state)
{
    (void)state;
    assert_child(pipe_is_ignored, 0);
}

static void test_masks(void **state)
{
    (void)state;
    assert_child(blocked_by_the_parent, 0);
    assert_child(threads_do_not_get_them, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_order),
        cmocka_unit_test(test_second_ends),
        cmocka_unit_test(test_pipe_is_ignored),
        cmocka_unit_test(test_masks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
