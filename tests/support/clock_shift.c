/* See clock_shift.h. Stands in for those functions of libc that read CLOCK_REALTIME or wait for a moment of it, and that tarry or its libraries call. */
#include "tests/support/clock_shift.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SLICE_MS 20                 /* between two looks at whether the clock has been set */
#define MONOTONIC_MOST_S 1000000000 /* a moment before that is one of another clock: no host is up for thirty years */

static const struct clock_shift *shift; /* NULL: before the library's start */

/* A process that was to have a shifted clock and has none would pass tests for nothing: it does not run. */
__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv(CLOCK_SHIFT_FILE);
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    void *page = file < 0 ? MAP_FAILED : mmap(NULL, sizeof(*shift), PROT_READ, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) {
        abort();
    }
    (void)close(file);
    shift = page;
}

static void add_ms(struct timespec *time, int64_t ms)
{
    int64_t ns = time->tv_nsec + ms % 1000 * 1000000;
    time->tv_sec += ms / 1000 + (ns >= 1000000000 ? 1 : ns < 0 ? -1 : 0);
    time->tv_nsec = ns >= 1000000000 ? ns - 1000000000 : ns < 0 ? ns + 1000000000 : ns;
}

static struct timespec host_time(clockid_t id)
{
    struct timespec time = {0};
    (void)syscall(SYS_clock_gettime, id, &time);
    return time;
}

static struct timespec shifted_time(void)
{
    struct timespec time = host_time(CLOCK_REALTIME);
    if (shift != NULL) {
        add_ms(&time, atomic_load_explicit(&shift->ms, memory_order_acquire));
    }
    return time;
}

/* --------------------------------------------------------------------------------------------------- reading */

int clock_gettime(clockid_t id, struct timespec *time)
{
    if (id != CLOCK_REALTIME) {
        return (int)syscall(SYS_clock_gettime, id, time);
    }
    *time = shifted_time();
    return 0;
}

int timespec_get(struct timespec *time, int base)
{
    if (base != TIME_UTC) {
        return 0;
    }
    *time = shifted_time();
    return base;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    (void)zone;
    struct timespec now = shifted_time();
    *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *seconds)
{
    time_t now = shifted_time().tv_sec;
    if (seconds != NULL) {
        *seconds = now;
    }
    return now;
}

/* Asked, not set: nobody in the process may change the host's clock. */
int adjtimex(struct timex *answer)
{
    if (answer->modes != 0) {
        errno = EPERM;
        return -1;
    }
    bool wrong = shift != NULL && atomic_load_explicit(&shift->unsynchronised, memory_order_acquire) != 0;
    *answer = (struct timex){.status = wrong ? STA_UNSYNC : STA_PLL, .maxerror = wrong ? 16000000 : 1000};
    return wrong ? TIME_ERROR : TIME_OK;
}

/* --------------------------------------------------------------------------------------------------- waiting */

/* Waits in slices until the moment is there by the clock as it then is. */
static int wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *moment)
{
    if (moment->tv_sec < MONOTONIC_MOST_S) {
        return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, moment);
    }
    for (;;) {
        struct timespec now = shifted_time();
        struct timespec until = host_time(CLOCK_MONOTONIC);
        int64_t left_ms = (int64_t)(moment->tv_sec - now.tv_sec) * 1000 + (moment->tv_nsec - now.tv_nsec + 999999) / 1000000;
        add_ms(&until, left_ms < SLICE_MS ? left_ms : SLICE_MS);
        int result = left_ms <= 0 ? ETIMEDOUT : pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &until);
        if (result != ETIMEDOUT || left_ms <= 0) {
            return result;
        }
    }
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict moment)
{
    return wait_until(condition, mutex, moment);
}

/* glibc's C11 conditions and mutexes are its POSIX ones. */
int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict moment)
{
    int result = wait_until((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, moment);
    return result == 0 ? thrd_success : result == ETIMEDOUT ? thrd_timedout : thrd_error;
}
