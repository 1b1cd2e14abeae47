/* What tarry must reach, held against what was measured. */
#ifndef TARRY_BENCH_BENCH_TARGETS_H
#define TARRY_BENCH_BENCH_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/bench_figures.h"

#define BENCH_TARGETS 14

struct bench_targets_one {
    const char *name; /* of the figure */
    const char *rule; /* in words */
    bool measured;    /* else nothing below is set */
    double value;     /* its median */
    double limit;
    bool met;
};

void bench_targets_judge(const struct bench_figures *figures, struct bench_targets_one targets[BENCH_TARGETS]);

#endif
