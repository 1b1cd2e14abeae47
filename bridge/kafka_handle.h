/* Room-internal: how a librdkafka handle of ours is made. Only files that adapt librdkafka include this. */
#ifndef TARRY_BRIDGE_KAFKA_HANDLE_H
#define TARRY_BRIDGE_KAFKA_HANDLE_H

#include <librdkafka/rdkafka.h>

#include "base/error.h"
#include "bridge/source.h"

struct kafka_handle_setting {
    const char *name;
    const char *value;
};

/* A copy that outlives the user's. Never NULL; freed with the same count. */
struct kafka_property *kafka_handle_properties(const struct kafka_property *properties, size_t count);
void kafka_handle_properties_free(struct kafka_property *properties, size_t count);

/* Sets one property. ERROR_INVALID: librdkafka does not know it or not this value. The text shows no secret. */
bool kafka_handle_set(rd_kafka_conf_t *conf, const char *name, const char *value, struct error *error);

/* A configuration with logging to base/log.h: first our `defaults`, then the user's properties, then what is `fixed`. NULL: ERROR_INVALID
 * (a property is refused or wrong). The caller owns it. */
rd_kafka_conf_t *kafka_handle_conf(const struct kafka_handle_setting *defaults,
                                   size_t default_count,
                                   const struct kafka_property *properties,
                                   size_t property_count,
                                   const struct kafka_handle_setting *fixed,
                                   size_t fixed_count,
                                   struct error *error);

/* Makes the handle; takes the configuration in any case. NULL: ERROR_INVALID with librdkafka's words (settings that contradict each other,
 * unreadable certificates). Does not wait for a broker. */
rd_kafka_t *kafka_handle_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, struct error *error);

/* The monotonic clock, in ms: for how long one may still wait. */
int64_t kafka_handle_clock_ms(void);

/* Takes a handle down, without a consumer's close protocol. Bounded by 5 s: a handle that librdkafka does not get to its end by then is left
 * to the end of the process (a warning says so). All that belongs to it (queues, events, topics) must be destroyed before. */
void kafka_handle_destroy(rd_kafka_t *handle);

/* The same in two parts, for who has better things to do meanwhile. */
struct kafka_handle_ending;

/* Begins: the handle ends on a thread of its own, and this call does not wait. The caller owes a kafka_handle_destroy_end. (NULL: no thread
 * or descriptor was to be had, and the handle was taken down at once, without a bound.) */
struct kafka_handle_ending *kafka_handle_destroy_begin(rd_kafka_t *handle);

/* Waits at most timeout_ms and frees; what has not ended by then is left behind, with a warning. NULL is allowed. */
void kafka_handle_destroy_end(struct kafka_handle_ending *ending, int timeout_ms);

#endif
