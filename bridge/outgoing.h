/*
 * The headers of records that go out, as data: the one truth for the sink and for dead letters. Pure.
 */
#ifndef TARRY_BRIDGE_OUTGOING_H
#define TARRY_BRIDGE_OUTGOING_H

#include "bridge/row.h"

enum output_headers {
    OUTPUT_HEADERS_TARRY, /* tarry-id, tarry-due, tarry-source */
    OUTPUT_HEADERS_NONE,
    OUTPUT_HEADERS_ETF1, /* scheduler-timestamp (seconds; left out of a record without one), scheduler-key, scheduler-topic */
};

/* Where a row came from: for tarry-source, and for a dead letter. */
struct sink_origin {
    const char *topic;
    int32_t partition;
    int64_t offset;
    int64_t due_ms;
    const struct decode_rules *rules; /* of its source: the control headers of these dialects do not go out. NULL: tarry's own alone */
};

/* What is other than in the row when it is written again after something was decided: a next occurrence, a decision (R10), a schedule that was moved
 * or paused. */
struct outgoing_again {
    int64_t due_ms;        /* when it is due now: in tarry-root */
    int64_t not_before_ms; /* tarry-not-before; 0: none. TIME_TEXT_LAST_MS: paused */
    int64_t runs;          /* firings done: tarry-runs when above 0; -1: as the row says */
};

/* Takes one header; name never absent, value absent: null. Both are borrowed for the call. */
typedef void outgoing_fn(void *context, struct span name, struct span value);

/* Hands over, in order, what an accepted row goes out with: its own headers less the control headers, then those of the style,
 * each once however often the record goes round. False: the row is damaged, and what was handed over is not all. O(headers). */
bool outgoing_accepted(const struct row *row, const struct sink_origin *origin, enum output_headers style, outgoing_fn *add, void *context);

/* What a row came with, refused or not: all headers, less those that tarry writes on its own re-appends, and tarry-request. False: as above. */
bool outgoing_refused(const struct row *row, outgoing_fn *add, void *context);

/* What a row is written again with to the end of its partition: all headers, less those of an earlier copy, then tarry-root: offset and timestamp of the record
 * that a person wrote (R4), and of an accepted row the due time and target that were decided, so that they stand whatever the rules are when the copy is
 * read (R6). Of a refused row what its root says stands as it is; one that was refused does not become a good one.
 *
 * `again` NULL: nothing was decided anew. Then an undecided row (R10) stays one: its root says no due time and no target. If origin->due_ms is later than what was
 * decided (DUE_SINCE_EVER of a refused or undecided row), because its letter could not be kept or it is paused, tarry-not-before says so. Else *again stands in the
 * place of the row's due time, of origin->due_ms and of the runs done, and the copy is decided. Of a refused row only again->not_before_ms counts.
 * False: as above. */
bool outgoing_copied(const struct row *row, const struct sink_origin *origin, const struct outgoing_again *again, outgoing_fn *add, void *context);

#endif
