#include "tests/support/await.h"

#include <errno.h>
#include <time.h>

#define LOOK_EVERY_MS 20

static int64_t clock_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t await_wall_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

int64_t await_mono_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

void await_pause_ms(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

bool await_condition(bool (*condition)(void *context), void *context, int64_t timeout_ms)
{
    int64_t limit = await_mono_ms() + timeout_ms;
    while (!condition(context)) {
        if (await_mono_ms() > limit) {
            return false;
        }
        await_pause_ms(LOOK_EVERY_MS);
    }
    return true;
}
