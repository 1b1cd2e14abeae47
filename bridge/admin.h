/* The few administrative calls: topics made. Blocking, bounded by timeout_ms; for the demo and tests. */
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

#endif
