/*
 * A row: what is kept of a record until it has left. Bytes with a version, written by row_encode, read by row_decode.
 *
 * It holds the record whole (key, value, headers in order with repeats, null, empty, binary; timestamp) and what
 * decoding made of it (target, partition, key, value span, id), so that a change of configuration does not change
 * what is pending (R8); or the reason why it was refused; and of a re-append its root.
 */
#ifndef TARRY_BRIDGE_ROW_H
#define TARRY_BRIDGE_ROW_H

#include "base/buffer.h"
#include "base/error.h"
#include "bridge/decode.h"

/* The latest; a row is written in the earliest that can hold it: 1; 2 for re-appends; 3 for what expires, comes again, is undecided or paused. */
#define ROW_VERSION 3

/* Appends the row of an accepted record that is to be scheduled: controls (DECODE_CANCEL) have none. ERROR_FULL: the buffer's bound. */
bool row_encode(struct buffer *buffer, const struct record *record, const struct decoded *decoded, struct error *error);

/* Appends the row of a refused record (R10: due since ever; leaves as a dead letter). Its root is read from the record's headers. */
bool row_encode_refused(struct buffer *buffer,
                        const struct record *record,
                        const struct refusal *refusal,
                        struct error *error);

/* A decoded row: spans borrow from the row's bytes. */
struct row {
    bool refused;
    struct refusal refusal; /* refused only */
    struct record record;   /* headers is NULL here: walk them with row_next_header; partition is not kept: 0 */
    struct decoded decoded; /* accepted only; lane is not kept in the row: 0 */
    struct span headers;    /* encoded headers */
    int64_t root;           /* as in struct decoded, of refused rows too; -1: no re-append */
    int64_t root_timestamp_ms;
};

/* ERROR_TOO_NEW, ERROR_CORRUPT; never reads outside `bytes`. O(1) beyond the key's and id's varints. */
bool row_decode(struct span bytes, struct row *row, struct error *error);

/* Takes the next header off `headers`; false at the end. It checks as it goes: a damaged rest reads as the end, with
 * *damaged set. */
bool row_next_header(struct span *headers, struct record_header *header, bool *damaged);

#endif
