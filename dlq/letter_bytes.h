/*
 * The alphabet of what dlq/ writes: varints (7 bits a byte, the least first), signed ones zigzag; bytes are their length and themselves; of bytes that may be
 * absent the length plus 1, and 0. Room-internal. Pure.
 */
#ifndef TARRY_DLQ_LETTER_BYTES_H
#define TARRY_DLQ_LETTER_BYTES_H

#include "base/buffer.h"

#define LETTER_BYTES_NUMBER_MAX 10 /* bytes of the longest varint */

void letter_bytes_put_number(struct buffer *to, uint64_t number);
void letter_bytes_put_signed(struct buffer *to, int64_t number);
void letter_bytes_put_fixed(struct buffer *to, uint64_t number); /* 8 bytes, the least first */
void letter_bytes_put(struct buffer *to, struct span bytes);     /* never absent: absent is written as empty */
void letter_bytes_put_optional(struct buffer *to, struct span bytes);

/* What is left to read; `ok` goes false at the first thing that does not fit and stays so; what is read then is 0 or absent. */
struct letter_bytes_reader {
    struct span rest;
    bool ok;
};

uint64_t letter_bytes_get_number(struct letter_bytes_reader *reader, uint64_t most);
int64_t letter_bytes_get_signed(struct letter_bytes_reader *reader, int64_t least, int64_t greatest);
uint64_t letter_bytes_get_fixed(struct letter_bytes_reader *reader);
struct span letter_bytes_get_raw(struct letter_bytes_reader *reader, uint64_t length);
struct span letter_bytes_get(struct letter_bytes_reader *reader); /* empty, never absent, while ok */
struct span letter_bytes_get_optional(struct letter_bytes_reader *reader);

#endif
