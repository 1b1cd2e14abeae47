/*
 * What can happen for each record or each try, told a few times in a period; the rest is counted, and the count is told when the period is over.
 *
 * The sink (ops/log_output.h) bounds each event name as a whole; this bounds one cause, so that a producer that sends nonsense does not use up the lines of
 * all others. No clock, no I/O but log_write. One thread.
 */
#ifndef TARRY_OPS_LOG_LIMIT_H
#define TARRY_OPS_LOG_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "base/time_types.h"

#define LOG_LIMIT_PERIOD_MS 10000

/* How often a cause may be told in LOG_LIMIT_PERIOD_MS. A constant. */
struct log_limit_rule {
    const char *event;
    enum log_level level; /* of the line that tells the count */
    unsigned burst;       /* at least 1 */
};

/* One cause. Zero-initialised; stays where it is while its log_limits is used. */
struct log_limit {
    const struct log_limit_rule *rule;
    const char *about; /* NULL: nothing */
    int64_t began_ms;  /* monotonic */
    unsigned passed;   /* in this period; 0: there was none yet */
    uint64_t left_out;
    struct log_limit *next; /* of those with something left out */
};

/* All causes of one owner. Zero-initialised. */
struct log_limits {
    struct log_limit *first;
};

/* True: tell it now. False: it was counted. `rule` and `about` (the target, the source, the reason: bounded names) outlive the limits. O(1). */
bool log_limit_pass(
    struct log_limits *limits, struct log_limit *limit, const struct log_limit_rule *rule, const char *about, struct mono_ms now);

/* Tells the counts of the periods that are over; TIME_NEVER as `now`: of all. O(causes with something left out). */
void log_limit_tell(struct log_limits *limits, struct mono_ms now);

/* When log_limit_tell has something to say; TIME_NEVER: nothing was left out. O(causes with something left out). */
struct mono_ms log_limit_deadline(const struct log_limits *limits);

#endif
