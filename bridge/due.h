/* When a record is due: from its headers, its envelope, or its source's default_delay, and its Kafka timestamp. No
 * clock. */
#ifndef TARRY_BRIDGE_DUE_H
#define TARRY_BRIDGE_DUE_H

#include "bridge/decimal.h"
#include "bridge/dialect_read.h"
#include "bridge/envelope.h"

#define DUE_LEAST_MS                                                                                                   \
    INT64_C(100000000000) /* 1973-03-03: an absolute time before it is seconds where milliseconds are due */

/* Decides *due_ms, DUE_LEAST_MS to TIME_TEXT_LAST_MS for absolute times, 0 to TIME_TEXT_LAST_MS for relative ones. What comes again and names no time comes
 * first `every` after the record's timestamp; of a cron *due_ms is DUE_SINCE_EVER then, and its first time is not for decoding to find.
 * False: *refusal says why (NO_TIME, BAD_TIME, AMBIGUOUS, TOO_FAR, SECONDS, NO_TIMESTAMP). Any thread. */
bool due_decide(const struct decode_rules *rules,
                const struct record *record,
                const struct dialect_controls *controls,
                const struct envelope *envelope,
                const struct decoded_recurrence *recurrence,
                int64_t *due_ms,
                struct refusal *refusal);

/* Reads the header of a field that is given as a moment, DUE_LEAST_MS to TIME_TEXT_LAST_MS, by its form. False: *refusal says why (BAD_TIME, SECONDS,
 * TOO_FAR). Any thread. */
bool due_read_moment(const struct dialect_controls *controls, enum dialect_field field, int64_t *ms, struct refusal *refusal);

/* Refuses (TOO_FAR) what a header asks for, a span longer than the source's max_delay, and names that. Returns false. Any thread. */
bool due_refuse_beyond(const struct decode_rules *rules, struct span name, struct span shown, struct refusal *refusal);

/* Reads the header of a field that is given as a span of time, 0 and more, by its form. *ms is written only for DECIMAL_READ. Any thread. */
enum decimal_result due_read_span(const struct dialect_controls *controls, enum dialect_field field, int64_t *ms);

#endif
