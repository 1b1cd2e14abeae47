/*
 * Headers that tell of a failure: taken off a record, and put on one that goes again.
 *
 * Taken off are those of all four families (`__dlq.errors.*`, `__connect.errors.*`, `__streams.errors.*`, Spring's `kafka_dlt-*`) and `tarry-redelivery`,
 * `tarry-replays`, so that a record that failed ten times carries one set, not ten. Header lists are encoded (letter_add_header). Pure.
 */
#ifndef TARRY_DLQ_FAILURE_HEADERS_H
#define TARRY_DLQ_FAILURE_HEADERS_H

#include "dlq/letter.h"

#define FAILURE_HEADERS_REDELIVERY "tarry-redelivery" /* decimal: how many deliveries failed before this one */
#define FAILURE_HEADERS_REPLAYS "tarry-replays"       /* decimal: how often a person had it replayed */

/* True for a header of one of those names. */
bool failure_headers_is(struct span name);

/* Appends the headers that are not such ones, in order. buffer_full as ever: check out->full. */
void failure_headers_strip(struct buffer *out, struct span headers);

enum failure_headers_way {
    FAILURE_HEADERS_REDELIVERED, /* by tarry: with __dlq.errors.delivery.count and tarry-redelivery, both letter->attempt */
    FAILURE_HEADERS_REPLAYED,    /* by a person: without these two */
};

/*
 * Appends the headers that a letter's record goes out with: its own, stripped, then `__dlq.errors.topic`, `.partition`, `.offset` (of the origin), `.group`,
 * [`.delivery.count`], `.message` (letter->error), [`tarry-redelivery`], and `tarry-replays` if letter->replays > 0. All are decimal or plain text, as
 * KIP-1191 writes them; what is unknown (-1, absent) is left out, an empty error too. A replay sets letter->replays to the new count before.
 */
void failure_headers_add(struct buffer *out, const struct letter *letter, enum failure_headers_way way);

#endif
