/* Room-internal: what makes a record come again, and how it ends. */
#ifndef TARRY_BRIDGE_DECODE_RECURRENCE_H
#define TARRY_BRIDGE_DECODE_RECURRENCE_H

#include "bridge/dialect_read.h"

/* Reads tarry-cron or tarry-every, -tz, -until and -count (or what a dialect calls them). *recurrence is filled when true; runs is left 0. `decided`: max_delay,
 * which bounds tarry-every, does not count, since it was accepted once. False: *refusal says why (BAD_SCHEDULE, BAD_TIME, SECONDS, TOO_FAR, AMBIGUOUS; UNSUPPORTED: a
 * zone, end or count of what does not come again). O(bytes). Any thread. */
bool decode_recurrence_read(const struct decode_rules *rules,
                            const struct dialect_controls *controls,
                            bool decided,
                            struct decoded_recurrence *recurrence,
                            struct refusal *refusal);

/* Of none. */
struct decoded_recurrence decode_recurrence_none(void);

#endif
