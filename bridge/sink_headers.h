/* Room-internal: the headers of records that go out, as librdkafka's lists. */
#ifndef TARRY_BRIDGE_SINK_HEADERS_H
#define TARRY_BRIDGE_SINK_HEADERS_H

#include <librdkafka/rdkafka.h>

#include "bridge/sink.h"

/* Those of outgoing_accepted. The caller owns the list. NULL: the row is damaged. */
rd_kafka_headers_t *sink_headers_accepted(const struct row *row, const struct sink_origin *origin, enum output_headers style);

/* Those of outgoing_copied. The same. */
rd_kafka_headers_t *sink_headers_copied(const struct row *row, const struct sink_origin *origin, const struct outgoing_again *again);

#endif
