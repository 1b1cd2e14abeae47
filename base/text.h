/*
 * Text made of bytes from outside, fit for a terminal, a log line or JSON.
 *
 * Pure functions, any thread, O(length).
 */
#ifndef TARRY_BASE_TEXT_H
#define TARRY_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

#define TEXT_ESCAPE_MAX 5 /* room, with its NUL, for the longest escape or character that text_printable writes */

/* Length of the well-formed UTF-8 character that `bytes` begins with (1 to 4), or 0: not well-formed (overlong,
 * surrogate, beyond U+10FFFF, cut off), or length is 0. A NUL is a character of length 1. */
size_t text_utf8_length(const uint8_t *bytes, size_t length);

/* True when all of it is well-formed UTF-8. Absent and empty are. */
bool text_is_utf8(struct span bytes);

/*
 * Writes `bytes` as printable UTF-8: printable characters stay, control characters (C0, DEL, C1, and the Unicode
 * marks that change direction or break lines), backslash and bytes that are not UTF-8 become \n \r \t \\ or \xHH for
 * each byte. Cut at a whole character or escape so that it fits `size` with its NUL; what was cut ends in "..." when
 * size has room for that (4 and more). Always terminated when size > 0. An absent span gives an empty text. Returns
 * the length without the NUL.
 */
size_t text_printable(struct span bytes, char *text, size_t size);

#endif
