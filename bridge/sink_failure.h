/* Room-internal: what Kafka's error codes mean for a record. */
#ifndef TARRY_BRIDGE_SINK_FAILURE_H
#define TARRY_BRIDGE_SINK_FAILURE_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

#include "scheduler/core.h"

/* What a delivery's error says. Codes we do not know are retriable: an outage is waited out, and nothing is given up for a reason that we
 * cannot name. */
enum delivery_failure sink_failure_of(rd_kafka_resp_err_t code);

/* Why a record is at fault, as a dead letter says it: "too_large", "not_authorised", "invalid" or "undeliverable". Never NULL. */
const char *sink_failure_reason(rd_kafka_resp_err_t code);

/* True if the broker refuses a whole batch for one of its records: then it must be asked about each alone before any is called at fault. */
bool sink_failure_of_batch(rd_kafka_resp_err_t code);

/* True if the message was thrown out of the queue because something else failed. */
bool sink_failure_is_purge(rd_kafka_resp_err_t code);

/* What a producer's fatal error means for an operator: `words` are librdkafka's. */
void sink_failure_fatal(rd_kafka_resp_err_t code, const char *words, char *text, size_t size);

#endif
