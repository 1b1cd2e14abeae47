/* When a record is due: from its headers, its envelope, or its source's default_delay, and its Kafka timestamp. No
 * clock. */
#ifndef TARRY_BRIDGE_DUE_H
#define TARRY_BRIDGE_DUE_H

#include "bridge/dialect.h"
#include "bridge/envelope.h"

#define DUE_LEAST_MS                                                                                                   \
    INT64_C(100000000000) /* 1973-03-03: an absolute time before it is seconds where milliseconds are due */

/* Decides *due_ms, DUE_LEAST_MS to TIME_TEXT_LAST_MS for absolute times, 0 to TIME_TEXT_LAST_MS for relative ones.
 * False: *refusal says why (NO_TIME, BAD_TIME, AMBIGUOUS, TOO_FAR, SECONDS, NO_TIMESTAMP). Any thread. */
bool due_decide(const struct decode_rules *rules,
                const struct record *record,
                const struct dialect_controls *controls,
                const struct envelope *envelope,
                int64_t *due_ms,
                struct refusal *refusal);

#endif
