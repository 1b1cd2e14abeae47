/* How many of something there were a second lately, counted by whole seconds. One thread. */
#ifndef TARRY_OPS_RECENT_RATE_H
#define TARRY_OPS_RECENT_RATE_H

#include <stdint.h>

#define RECENT_RATE_S 10 /* over how long */

/* Zeroed = new. */
struct recent_rate {
    int64_t seconds[RECENT_RATE_S + 1]; /* which monotonic second the count of that place is of */
    uint64_t counts[RECENT_RATE_S + 1];
    int64_t first_s; /* of the first one counted; 0: none was */
};

/* Counts `count` of them at this monotonic time. O(1). */
void recent_rate_add(struct recent_rate *rate, int64_t mono_ms, uint64_t count);

/* The average of the last RECENT_RATE_S whole seconds, or of those since the first one was counted; 0: nothing is known. O(1). */
double recent_rate_per_s(const struct recent_rate *rate, int64_t mono_ms);

#endif
