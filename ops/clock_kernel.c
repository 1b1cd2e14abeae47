/* The kernel's word on the clock: see clock_kernel.h. */
#include "ops/clock_kernel.h"

#define MICROS 1e6
#define NANOS 1e9

struct clock_kernel clock_kernel_of(int state, const struct timex *answer)
{
    if (state < 0) {
        return (struct clock_kernel){.known = false};
    }
    return (struct clock_kernel){
        .known = true,
        .synchronised = state != TIME_ERROR && (answer->status & STA_UNSYNC) == 0,
        .offset_seconds = (double)answer->offset / ((answer->status & STA_NANO) != 0 ? NANOS : MICROS),
        .max_error_seconds = (double)answer->maxerror / MICROS,
    };
}

struct clock_kernel clock_kernel_read(void)
{
    struct timex answer = {.modes = 0};
    int state = adjtimex(&answer);
    return clock_kernel_of(state, &answer);
}
