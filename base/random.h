/*
 * A seeded random source: the same seed gives the same numbers on every machine, for jitter, samples and tests.
 *
 * Not for secrets: the state can be computed from a few outputs. One source belongs to one thread. All calls are O(1).
 */
#ifndef TARRY_BASE_RANDOM_H
#define TARRY_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state[4]; /* never all zero */
};

/* A source for this seed; any value is good, 0 too. */
struct random random_new(uint64_t seed);

/* The next 64 bits. */
uint64_t random_next(struct random *source);

/* Evenly from 0 to bound - 1, without bias. bound > 0. */
uint64_t random_below(struct random *source, uint64_t bound);

/* Evenly from least to greatest, both included. least <= greatest. */
int64_t random_between(struct random *source, int64_t least, int64_t greatest);

/* Fills `size` bytes. */
void random_fill(struct random *source, void *bytes, size_t size);

#endif
