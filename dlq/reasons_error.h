/* Error texts that say the same of different records made the same. */
#ifndef TARRY_DLQ_REASONS_ERROR_H
#define TARRY_DLQ_REASONS_ERROR_H

#include "base/buffer.h"
#include "base/span.h"

/* Appends `text` with N for each run of digits, and for each id: eight and more hex digits with a digit among them, 0x..., and UUIDs. All else stays, byte
 * for byte. Pure; O(length). */
void reasons_error(struct span text, struct buffer *out);

#endif
