/* What cJSON does not do with JSON from outside. Room-internal. Pure. */
#ifndef TARRY_DLQ_LETTER_JSON_SCAN_H
#define TARRY_DLQ_LETTER_JSON_SCAN_H

#include "base/buffer.h"
#include "base/error.h"

/* Begins each string that was a number. No UTF-8 has this byte, so that no string from outside can begin with it. */
#define LETTER_JSON_SCAN_NUMBER '\xFF'

/*
 * Copies `text` to `out` (cleared first, with a NUL at the end) with each number as a string behind LETTER_JSON_SCAN_NUMBER: cJSON reads numbers as double,
 * exact up to 2^53 only, but keeps strings as they are. Refuses on the way what cJSON lets pass: bytes that are no UTF-8, control characters, \u0000 and \u
 * without four hex digits (both would end a string early), and more values than the text of a letter can have (each costs far more than a byte).
 * ERROR_INVALID. O(text.length).
 */
bool letter_json_scan(struct span text, struct buffer *out, struct error *error);

#endif
