/* xoshiro256**, seeded by splitmix64 (both by Blackman and Vigna, in the public domain): see random.h. */
#include "base/random.h"

#include <assert.h>
#include <string.h>

static uint64_t rotate_left(uint64_t value, unsigned by)
{
    return (value << by) | (value >> (64 - by));
}

/* Spreads a poor seed (0, 1, 2, ...) over all bits of the state. */
static uint64_t split_mix(uint64_t *seed)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = *seed;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

struct random random_new(uint64_t seed)
{
    struct random source;
    for (size_t i = 0; i < 4; i++) {
        source.state[i] = split_mix(&seed);
    }
    return source;
}

uint64_t random_next(struct random *source)
{
    uint64_t *state = source->state;
    uint64_t result = rotate_left(state[1] * 5, 7) * 9;
    uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate_left(state[3], 45);
    return result;
}

uint64_t random_below(struct random *source, uint64_t bound)
{
    assert(bound > 0);
    /* The first 2^64 mod bound values are dropped: what is left divides evenly. */
    uint64_t dropped = (0 - bound) % bound;
    uint64_t value;
    do {
        value = random_next(source);
    } while (value < dropped);
    return value % bound;
}

int64_t random_between(struct random *source, int64_t least, int64_t greatest)
{
    assert(least <= greatest);
    uint64_t width = (uint64_t)greatest - (uint64_t)least;
    uint64_t step = width == UINT64_MAX ? random_next(source) : random_below(source, width + 1);
    return (int64_t)((uint64_t)least + step);
}

void random_fill(struct random *source, void *bytes, size_t size)
{
    uint8_t *to = bytes;
    while (size > 0) {
        uint64_t word = random_next(source);
        size_t part = size < sizeof(word) ? size : sizeof(word);
        memcpy(to, &word, part);
        to += part;
        size -= part;
    }
}
