/* Targets that rest: each has an outage, and is left alone for a while that doubles, so that the others go on. Bounded. Pure. */
#ifndef TARRY_OPS_REDELIVERY_TARGETS_H
#define TARRY_OPS_REDELIVERY_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

#define REDELIVERY_TARGETS_MAX 256
#define REDELIVERY_TARGETS_FIRST_MS 1000
#define REDELIVERY_TARGETS_MOST_MS 60000

struct redelivery_target {
    uint64_t hash;
    int64_t since_ms; /* wall clock: when its rest began, the last time */
    int64_t until_ms;
    int64_t wait_ms;  /* how long the last rest was to be */
};

/* Zeroed: none. */
struct redelivery_targets {
    struct redelivery_target items[REDELIVERY_TARGETS_MAX];
    size_t count;
};

uint64_t redelivery_targets_hash(struct span topic);

/* True when a letter may be sent there now: it does not rest, or its time is over, and this letter is to show whether it works. False: wait until
 * *until_ms, which is later than now_ms and the same for all that ask in the meantime, so that they keep their order. */
bool redelivery_targets_open(struct redelivery_targets *targets, uint64_t hash, int64_t now_ms, int64_t *until_ms);

/* A letter that was sent at sent_ms failed for an outage: the target rests, twice as long as before unless it rests since then. Returns until when.
 * *news: it did not rest before. */
int64_t redelivery_targets_rest(struct redelivery_targets *targets, uint64_t hash, int64_t sent_ms, int64_t now_ms, bool *news);

/* A letter got an answer: it works. True: it had rested. */
bool redelivery_targets_works(struct redelivery_targets *targets, uint64_t hash);

#endif
