/* What stands in texts and encodings of letters, and of what else is told as they are. Pure. */
#ifndef TARRY_DLQ_LETTER_TEXT_H
#define TARRY_DLQ_LETTER_TEXT_H

#include "base/buffer.h"

/* True when this character (well-formed UTF-8 of `length` bytes) is U+0000 to U+001F, U+007F or U+0080 to U+009F. */
bool letter_text_control(const uint8_t *character, size_t length);

/* True for well-formed UTF-8 without control characters other than \t \n \r. Absent and empty are. O(length). */
bool letter_text_clean(struct span text);

/* Appends base64 (RFC 4648, padded). */
void letter_text_add_base64(struct buffer *to, struct span bytes);

/* Appends what base64 text stands for. False: it is none (padded, canonical, nothing between), nothing was appended; or to->full. */
bool letter_text_decode_base64(struct buffer *to, struct span text);

/* A whole number in decimal, with `-` before a negative one: no blank, no `+`, no leading zero. False: it is none, or not within the two. */
bool letter_text_number(struct span text, int64_t least, int64_t greatest, int64_t *number);

#endif
