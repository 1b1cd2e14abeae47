/* Moments in letters as text: RFC 3339 in UTC with milliseconds, "2026-01-31T12:00:00.000Z". Pure. */
#ifndef TARRY_DLQ_LETTER_TIME_H
#define TARRY_DLQ_LETTER_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

#define LETTER_TIME_SIZE 25 /* with NUL */
#define LETTER_TIME_LAST_MS INT64_C(253402300799999) /* 9999-12-31T23:59:59.999Z */

/* Writes the text of a moment in the years 0001 to 9999. False: outside of them; text is then "". */
bool letter_time_write(int64_t time_ms, char text[LETTER_TIME_SIZE]);

/* Reads exactly what letter_time_write writes; no other form. False: it is not that. */
bool letter_time_read(struct span text, int64_t *time_ms);

#endif
