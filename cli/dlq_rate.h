/*
 * How fast a replay may send: a steady rate, reached at once or little by little. Pure: time is an argument.
 *
 * What could not be sent in time is not made up for by a burst: at most a tenth of a second's worth (one at least) is ever ready.
 */
#ifndef TARRY_CLI_DLQ_RATE_H
#define TARRY_CLI_DLQ_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define DLQ_RATE_MOST 10000000 /* a second */

struct dlq_rate {
    double per_ms;    /* 0: no limit */
    int64_t ramp_ms;  /* from one a second up to per_ms, in a straight line; 0: at once */
    int64_t began_ms; /* of the ramp */
    int64_t last_ms;  /* when `ready` was counted */
    double ready;     /* how many may go now */
};

/* Begins at now_ms (any monotonic clock), the first at once. per_s: 0 no limit; else above 0, at most DLQ_RATE_MOST. ramp_ms >= 0. */
void dlq_rate_start(struct dlq_rate *rate, double per_s, int64_t ramp_ms, int64_t now_ms);

/* After an outage: from the foot of the ramp again. */
void dlq_rate_restart(struct dlq_rate *rate, int64_t now_ms);

/* True: one may go now, and is counted. now_ms never goes back. */
bool dlq_rate_take(struct dlq_rate *rate, int64_t now_ms);

/* How long until the next may go, at most `most_ms`: 0 when it may now. Exact to a millisecond, but on a ramp, where it may be too long: ask with a small most_ms. */
int64_t dlq_rate_wait_ms(const struct dlq_rate *rate, int64_t now_ms, int64_t most_ms);

/* Reads `50`, `50/s`, `30/m`, `6/h`: a whole number above 0. ERROR_INVALID says what the form is. */
bool dlq_rate_parse(const char *text, double *per_s, struct error *error);

#endif
