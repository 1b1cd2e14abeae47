/*
 * A world in virtual time around the core: partitions, group offsets, targets, stores, clocks, crashes and takeovers, all
 * drawn from one seed. It drives core_step alone, as the shell does, sleeps until core_next_deadline or the next event, and
 * checks after every step what docs/frontier.md promises. The same seed gives the same commands on every machine.
 */
#ifndef TARRY_TESTS_WORLD_H
#define TARRY_TESTS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

struct world_result {
    uint64_t digest; /* of all commands and releases of all instances */
    uint64_t steps;
    uint64_t records;
    uint64_t deliveries; /* sent */
    uint64_t behind;     /* of those, for the first time and from behind a catch-up boundary */
    int64_t late_ms;     /* the most by which one left late that was known in time, and not behind a boundary */
    uint64_t outputs;    /* that readers see */
    uint64_t repeats; /* taken by a target more than once */
    uint64_t crashes;
    uint64_t commits;
    uint64_t checkpoints;
    uint64_t transactions;
    uint64_t aborts;
    uint64_t copies;
    uint64_t postponed; /* of those, due later than what they copy */
    uint64_t letters;   /* in the stream */
    uint64_t cancels;   /* events that a cancel or a later one of their id ended, as the last lives say */
    uint64_t skips;
    uint64_t outcomes;
    uint64_t told[16]; /* of those, by enum outcome */
    uint64_t duplicates; /* as each life said */
    uint64_t delivered; /* of what persons wrote */
    uint64_t cancelled;
    uint64_t steered; /* events that a person moved, as answered */
    uint64_t foreseen; /* by exact bins of forecasts, summed up over all checks */
    uint64_t fenced; /* times the group took partitions from somebody who did not know */
};

/* Runs the world of this seed to its end. On a broken promise it says which, names the seed, and ends the process with 1. */
void world_run(uint64_t seed, bool trace, struct world_result *result);

/* Runs what the file says (tests/sim/README.md), with the same oracles. A file that cannot be read, or means nothing, ends the process too. */
void world_run_script(const char *path, bool trace, struct world_result *result);

#endif
