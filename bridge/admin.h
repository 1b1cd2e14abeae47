/* The few administrative calls: topics made, the cluster's id. Blocking, bounded by some more than timeout_ms; for the command line, the demo and tests. */
#ifndef TARRY_BRIDGE_ADMIN_H
#define TARRY_BRIDGE_ADMIN_H

#include "bridge/source.h"

/* Makes `topic` with these partitions and the broker's default replication when it is absent; an existing one is left as it is.
 * ERROR_UNAVAILABLE: no broker answered; ERROR_INVALID: the broker refused (text says why, for example authorisation). */
bool admin_ensure_topic(const struct kafka_property *properties,
                        size_t property_count,
                        const char *topic,
                        int32_t partitions,
                        int timeout_ms,
                        bool *created,
                        struct error *error);

/* The id of the cluster, with NUL, cut to `size`. ERROR_INVALID: a property that librdkafka refuses; ERROR_UNAVAILABLE: no broker answered in time. */
bool admin_cluster_id(const struct kafka_property *properties, size_t property_count, int timeout_ms, char *id, size_t size, struct error *error);

#endif
