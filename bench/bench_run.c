#include "bench/bench_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int64_t bench_run_size(const struct bench_run *run, int64_t full, int64_t quick)
{
    return run->quick ? quick : full;
}

void bench_run_name(struct bench_run *run, const char *stem, char name[BENCH_RUN_NAME])
{
    snprintf(name, BENCH_RUN_NAME, "%.40s-%u", stem, ++run->names);
}

static int64_t clock_us(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

int64_t bench_run_wall_us(void)
{
    return clock_us(CLOCK_REALTIME);
}

int64_t bench_run_wall_ms(void)
{
    return bench_run_wall_us() / 1000;
}

int64_t bench_run_mono_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

void bench_run_sleep_ms(int64_t ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    if (ms > 0) {
        nanosleep(&pause, NULL);
    }
}

void bench_run_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

void bench_run_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(EXIT_FAILURE);
}
