/*
 * Any bytes made fit for JSON and for the metrics exposition. Pure, any thread, O(length).
 * What is not UTF-8 becomes U+FFFD, one for each byte.
 */
#ifndef TARRY_OPS_ESCAPE_H
#define TARRY_OPS_ESCAPE_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/span.h"

/* Adds `text` as the inside of a JSON string (without its quotes), at most output_max bytes of it: cut at a whole
 * character, then "...". An absent span adds nothing. */
void escape_json(struct buffer *buffer, struct span text, size_t output_max);

/* Adds `text` as the inside of a label value of the text exposition: backslash, quote and line feed escaped. */
void escape_label(struct buffer *buffer, struct span text);

#endif
