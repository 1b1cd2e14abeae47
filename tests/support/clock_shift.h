/*
 * A wall clock of its own for one process: clock_shift.c, a library for LD_PRELOAD, adds a number of milliseconds to CLOCK_REALTIME as everybody in the process sees it.
 * The number may change while the process runs (tests/support/shifted_clock.h does it), and that is what a step of the host's clock is: a wait for a moment of the wall
 * clock takes so much longer or shorter, also one that has begun.
 *
 * What adjtimex answers is the test's, too, as it says of this very clock whether somebody keeps it right.
 *
 * Every other clock is untouched. Files' times, timers of the kernel and other processes go by the host's clock.
 */
#ifndef TARRY_TESTS_SUPPORT_CLOCK_SHIFT_H
#define TARRY_TESTS_SUPPORT_CLOCK_SHIFT_H

#include <stdatomic.h>
#include <stdint.h>

/* Environment variable: names the file that holds a struct clock_shift. */
#define CLOCK_SHIFT_FILE "CLOCK_SHIFT_FILE"

struct clock_shift {
    _Atomic int64_t ms;
    _Atomic int32_t unsynchronised; /* what adjtimex says: 0, that the clock is kept right */
};

#endif
