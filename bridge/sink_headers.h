/* Room-internal: the headers of records that go out. */
#ifndef TARRY_BRIDGE_SINK_HEADERS_H
#define TARRY_BRIDGE_SINK_HEADERS_H

#include <librdkafka/rdkafka.h>

#include "bridge/sink.h"

/* The row's headers less the control headers, then (style tarry) tarry-id, tarry-due, tarry-source. The caller owns the list. NULL: the row
 * is damaged. */
rd_kafka_headers_t *sink_headers_accepted(const struct row *row, const struct sink_origin *origin, enum output_headers style);

/* All of the row's headers less earlier __dlq.errors.*, then ours. */
rd_kafka_headers_t *sink_headers_refused(const struct row *row, const struct sink_origin *origin, const struct refusal *refusal);

/* All of the row's headers less an earlier tarry-root, then tarry-root: offset and timestamp of the record that a person wrote (R4), and of an accepted
 * row the due time and target that were decided for it, so that they stand whatever the rules are when the copy is read (R6). */
rd_kafka_headers_t *sink_headers_copied(const struct row *row, const struct sink_origin *origin);

#endif
