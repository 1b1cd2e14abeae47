/* Reading clocks: see clock.h. */
#include "ops/clock.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define YEAR_0_MS INT64_C(-62167219200000)
#define YEAR_10000_MS INT64_C(253402300800000)

/* Cannot fail: both clocks exist on every Linux and the address is ours. */
static struct timespec reading(clockid_t id)
{
    struct timespec time = {0};
    (void)clock_gettime(id, &time);
    return time;
}

static int64_t in_ms(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

struct wall_ms clock_wall(void)
{
    return (struct wall_ms){in_ms(reading(CLOCK_REALTIME))};
}

struct mono_ms clock_mono(void)
{
    return (struct mono_ms){in_ms(reading(CLOCK_MONOTONIC))};
}

int64_t clock_wall_into_ms_ns(void)
{
    return reading(CLOCK_REALTIME).tv_nsec % 1000000;
}

uint64_t clock_mono_us(void)
{
    struct timespec time = reading(CLOCK_MONOTONIC);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

struct now clock_read(struct clock *clock)
{
    int64_t mono_ms = clock_mono().ms;
    if (mono_ms > clock->last_mono_ms) {
        clock->last_mono_ms = mono_ms;
    }
    return (struct now){.wall = clock_wall(), .mono = {clock->last_mono_ms}};
}

size_t clock_text(struct wall_ms wall, char *text, size_t size)
{
    assert(size >= CLOCK_TEXT_SIZE);
    struct tm parts;
    int64_t ms = ((wall.ms % 1000) + 1000) % 1000;
    time_t seconds = (time_t)(wall.ms / 1000 - (wall.ms % 1000 < 0 ? 1 : 0));
    int length;
    if (wall.ms < YEAR_0_MS || wall.ms >= YEAR_10000_MS || gmtime_r(&seconds, &parts) == NULL) {
        length = snprintf(text, size, "%" PRId64, wall.ms);
    } else {
        length = snprintf(text, size, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1,
                          parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, (int)ms);
    }
    return length < 0 || (size_t)length >= size ? 0 : (size_t)length;
}
