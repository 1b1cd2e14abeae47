/*
 * Time, in two types that the compiler keeps apart.
 *
 * wall_ms counts milliseconds since 1970-01-01 UTC: due times and record timestamps. It may step.
 * mono_ms counts milliseconds since some fixed moment: timeouts, backoff, rates. It never goes back.
 * Nothing below ops/ reads a clock: both are read once per turn and handed down as `struct now`.
 */
#ifndef TARRY_BASE_TIME_TYPES_H
#define TARRY_BASE_TIME_TYPES_H

#include <stdint.h>

struct wall_ms {
    int64_t ms;
};

struct mono_ms {
    int64_t ms;
};

struct now {
    struct wall_ms wall;
    struct mono_ms mono;
};

#define TIME_NEVER INT64_MAX

#endif
