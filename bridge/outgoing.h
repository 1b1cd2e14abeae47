/*
 * The headers of records that go out, as data: the one truth for the sink and for dead letters. Pure.
 */
#ifndef TARRY_BRIDGE_OUTGOING_H
#define TARRY_BRIDGE_OUTGOING_H

#include "bridge/row.h"

enum output_headers { OUTPUT_HEADERS_TARRY, OUTPUT_HEADERS_NONE };

/* Where a row came from: for tarry-source, and for a dead letter. */
struct sink_origin {
    const char *topic;
    int32_t partition;
    int64_t offset;
    int64_t due_ms;
};

/* Takes one header; name never absent, value absent: null. Both are borrowed for the call. */
typedef void outgoing_fn(void *context, struct span name, struct span value);

/* Hands over, in order, what an accepted row goes out with: its own headers less the control headers, then (style tarry) tarry-id, tarry-due, tarry-source,
 * each once. False: the row is damaged, and what was handed over is not all. O(headers). */
bool outgoing_accepted(const struct row *row, const struct sink_origin *origin, enum output_headers style, outgoing_fn *add, void *context);

/* What a refused row came with: all headers, less those that tarry writes on its own re-appends. False: as above. */
bool outgoing_refused(const struct row *row, outgoing_fn *add, void *context);

/* What a row is written again with to the end of its partition: all headers, less an earlier tarry-root, then tarry-root: offset and timestamp of the record
 * that a person wrote (R4), and of an accepted row the due time and target that were decided, so that they stand whatever the rules are when the copy is
 * read (R6). Of a refused row what its root says stands as it is; one that was refused does not become a good one. If origin->due_ms is later than
 * what was decided (DUE_SINCE_EVER of a refused row), because its letter could not be kept, tarry-not-before says so. False: as above. */
bool outgoing_copied(const struct row *row, const struct sink_origin *origin, outgoing_fn *add, void *context);

#endif
