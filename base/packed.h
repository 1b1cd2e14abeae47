/*
 * The alphabet of what is kept as bytes (rows, letters): varints (7 bits a byte, the least first), signed ones zigzag; bytes are their length and themselves; of
 * bytes that may be absent the length plus 1, and 0.
 *
 * Pure. A reader never reads outside what it was given, whatever stands there; spans that it returns borrow from that. O(what is read or written).
 */
#ifndef TARRY_BASE_PACKED_H
#define TARRY_BASE_PACKED_H

#include "base/buffer.h"

#define PACKED_NUMBER_MAX 10 /* bytes of the longest varint */

void packed_put_number(struct buffer *to, uint64_t number);
void packed_put_signed(struct buffer *to, int64_t number);
void packed_put_fixed(struct buffer *to, uint64_t number); /* 8 bytes, the least first */
void packed_put(struct buffer *to, struct span bytes);     /* never absent: absent is written as empty */
void packed_put_optional(struct buffer *to, struct span bytes);

/* What is left to read; `ok` goes false at the first thing that does not fit and stays so; what is read then is 0 or absent. */
struct packed_reader {
    struct span rest;
    bool ok;
};

unsigned packed_get_byte(struct packed_reader *reader);

/* A number beyond `most`, or outside least .. greatest, does not fit. */
uint64_t packed_get_number(struct packed_reader *reader, uint64_t most);
int64_t packed_get_signed(struct packed_reader *reader, int64_t least, int64_t greatest);
uint64_t packed_get_fixed(struct packed_reader *reader);
struct span packed_get_raw(struct packed_reader *reader, uint64_t length);
struct span packed_get(struct packed_reader *reader); /* empty, never absent, while ok */
struct span packed_get_optional(struct packed_reader *reader);

#endif
