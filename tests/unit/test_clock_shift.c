/* The wall clock of end-to-end tests that step it: a process and its libraries see it in all of its steps, also those who wait for a moment of it; no other clock moves. */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include <nats/nats.h>
#include <poll.h>
#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/await.h"
#include "tests/support/shifted_clock.h"
#include "tests/support/temp.h"

#define HOUR_MS INT64_C(3600000)
#define NEAR_MS 5000 /* between two readings of a busy machine */

#define WAIT_MS 300
#define FOLLOW_MS 10000 /* in which the end of a wait is seen, on a busy machine */

/* The first three are the wall clock. */
enum { OF_CLOCK, OF_LIBRARY, OF_LIBC, SHIFTED, OF_MONOTONIC = SHIFTED, OF_BOOTTIME, OF_COARSE, READINGS };

static int64_t read_clock(clockid_t id)
{
    struct timespec time;
    assert_int_equal(clock_gettime(id, &time), 0);
    assert_true(time.tv_nsec >= 0 && time.tv_nsec < 1000000000);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void read_clocks(int64_t readings[READINGS])
{
    struct timeval now;
    assert_int_equal(gettimeofday(&now, NULL), 0);
    readings[OF_CLOCK] = read_clock(CLOCK_REALTIME);
    readings[OF_LIBRARY] = nats_Now();
    readings[OF_LIBC] = (int64_t)now.tv_sec * 1000 + now.tv_usec / 1000;
    readings[OF_MONOTONIC] = read_clock(CLOCK_MONOTONIC);
    readings[OF_BOOTTIME] = read_clock(CLOCK_BOOTTIME);
    readings[OF_COARSE] = read_clock(CLOCK_REALTIME_COARSE);
}

static void wait_for_moment(int64_t moment_ms)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec moment = {moment_ms / 1000, moment_ms % 1000 * 1000000};
    assert_int_equal(pthread_mutex_lock(&mutex), 0);
    while (pthread_cond_timedwait(&condition, &mutex, &moment) == 0) {
    }
    assert_int_equal(pthread_mutex_unlock(&mutex), 0);
}

static bool tell_clocks(void)
{
    int64_t readings[READINGS];
    read_clocks(readings);
    return write(STDOUT_FILENO, readings, sizeof(readings)) == (ssize_t)sizeof(readings);
}

/* Tells the clocks once for each byte that comes; after a "w" once more when WAIT_MS have passed by the wall clock. */
static int answer(void)
{
    char asked;
    bool told = true;
    while (told && read(STDIN_FILENO, &asked, 1) == 1) {
        int64_t moment_ms = read_clock(CLOCK_REALTIME) + WAIT_MS;
        told = tell_clocks();
        if (told && asked == 'w') {
            wait_for_moment(moment_ms);
            told = tell_clocks();
        }
    }
    return told ? 0 : 1;
}

struct other {
    pid_t pid;
    int asked;
    int answered;
};

static struct other start(char **environment)
{
    int ask[2];
    int tell[2];
    char *const arguments[] = {(char[]){"test_clock_shift"}, (char[]){"answer"}, NULL};
    assert_true(pipe(ask) == 0 && pipe(tell) == 0);
    struct other other = {fork(), ask[1], tell[0]};
    if (other.pid == 0) {
        if (dup2(ask[0], 0) == 0 && dup2(tell[1], 1) == 1 && close(ask[1]) == 0) {
            execve("/proc/self/exe", arguments, environment);
        }
        _exit(127);
    }
    assert_true(other.pid > 0 && close(ask[0]) == 0 && close(tell[1]) == 0);
    return other;
}

static void end(const struct other *other)
{
    int status = -1;
    assert_true(close(other->asked) == 0 && close(other->answered) == 0);
    assert_int_equal(waitpid(other->pid, &status, 0), other->pid);
    assert_int_equal(status, 0);
}

static void assert_near(int64_t reading_ms, int64_t own_ms)
{
    if (llabs(reading_ms - own_ms) > NEAR_MS) {
        fail_msg("%" PRId64 " is not near %" PRId64, reading_ms, own_ms);
    }
}

static void take_answer(const struct other *other, int64_t readings[READINGS])
{
    assert_int_equal(read(other->answered, readings, READINGS * sizeof(*readings)), READINGS * sizeof(*readings));
}

static void ask(const struct other *other, const char *question, int64_t readings[READINGS])
{
    assert_int_equal(write(other->asked, question, 1), 1);
    take_answer(other, readings);
}

/* The wall clock is `shift_ms` ahead, whoever reads it, and no other is. */
static void assert_shifted(const struct other *other, int64_t shift_ms)
{
    int64_t own[READINGS];
    int64_t theirs[READINGS];
    ask(other, "?", theirs);
    read_clocks(own);
    for (size_t i = 0; i < READINGS; i++) {
        assert_near(theirs[i], own[i] + (i < SHIFTED ? shift_ms : 0));
    }
}

static bool answers_within(const struct other *other, int ms)
{
    struct pollfd answered = {other->answered, POLLIN, 0};
    return poll(&answered, 1, ms) == 1;
}

static void a_process_sees_each_step(void **state)
{
    (void)state;
    static const int64_t shifts_ms[] = {0, -HOUR_MS, HOUR_MS, -999, 1, 365 * 24 * HOUR_MS, 0};
    char *folder = temp_directory("tarry-clock");
    struct shifted_clock *clock = shifted_clock_new(folder);
    struct other other = start(shifted_clock_environment(clock));
    for (size_t i = 0; i < sizeof(shifts_ms) / sizeof(shifts_ms[0]); i++) {
        shifted_clock_set(clock, shifts_ms[i]);
        assert_near(shifted_clock_ms(clock), await_wall_ms() + shifts_ms[i]);
        assert_shifted(&other, shifts_ms[i]);
    }
    end(&other);
    shifted_clock_free(clock);
    temp_remove(folder);
}

/* Who waits for a moment of the wall clock waits an hour longer when it is set back by one, and no longer when it is set forward. */
static void a_wait_goes_by_the_clock(void **state)
{
    (void)state;
    int64_t readings[READINGS];
    char *folder = temp_directory("tarry-clock");
    struct shifted_clock *clock = shifted_clock_new(folder);
    struct other other = start(shifted_clock_environment(clock));
    ask(&other, "w", readings); /* the moment is fixed */
    shifted_clock_set(clock, -HOUR_MS);
    assert_false(answers_within(&other, 3 * WAIT_MS));
    shifted_clock_set(clock, 1);
    assert_true(answers_within(&other, FOLLOW_MS));
    take_answer(&other, readings);
    end(&other);
    shifted_clock_free(clock);
    temp_remove(folder);
}

static void the_greatest_time_between_two_moments(void **state)
{
    (void)state;
    char *folder = temp_directory("tarry-clock");
    struct shifted_clock *clock = shifted_clock_new(folder);
    int64_t start_ms = await_wall_ms();
    assert_int_equal(shifted_clock_greatest_ms(NULL, start_ms - 5, start_ms), start_ms);
    assert_int_equal(shifted_clock_greatest_ms(clock, start_ms - 5, start_ms), start_ms);
    shifted_clock_set(clock, HOUR_MS);
    shifted_clock_set(clock, -HOUR_MS);
    int64_t stepped_ms = await_wall_ms();
    assert_int_equal(shifted_clock_greatest_ms(clock, start_ms - 10, start_ms - 1), start_ms - 1);
    assert_int_equal(shifted_clock_greatest_ms(clock, stepped_ms + 1, stepped_ms + 10), stepped_ms + 10 - HOUR_MS);
    int64_t greatest_ms = shifted_clock_greatest_ms(clock, start_ms, stepped_ms);
    assert_true(greatest_ms >= start_ms + HOUR_MS && greatest_ms <= stepped_ms + HOUR_MS);
    shifted_clock_free(clock);
    temp_remove(folder);
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_sees_each_step),
        cmocka_unit_test(a_wait_goes_by_the_clock),
        cmocka_unit_test(the_greatest_time_between_two_moments),
    };
    if (argument_count == 2 && strcmp(arguments[1], "answer") == 0) {
        return answer();
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
