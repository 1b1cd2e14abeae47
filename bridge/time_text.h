/* Moments as people write them: RFC 3339 with zone. Own calendar arithmetic: no libc time, no locale, no time zone
 * of the host. */
#ifndef TARRY_BRIDGE_TIME_TEXT_H
#define TARRY_BRIDGE_TIME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

/* The last millisecond that RFC 3339 can write: 9999-12-31T23:59:59.999Z. Below 2^53. */
#define TIME_TEXT_LAST_MS INT64_C(253402300799999)

/* Reads `YYYY-MM-DDThh:mm:ss[.fraction](Z|+hh:mm|-hh:mm)` (t and z may be small; nothing before or after) into
 * milliseconds since 1970-01-01 UTC, negative before that. A fraction of a millisecond rounds up: never early.
 * Second 60 is taken as the next second where a leap second can be, at the end of a UTC day. False: not of this
 * form, or no such day or time; *epoch_ms is untouched. O(length). Any thread. */
bool time_text_parse(struct span text, int64_t *epoch_ms);

#endif
