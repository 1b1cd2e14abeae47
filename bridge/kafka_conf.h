/*
 * The librdkafka properties a user may set: which are refused and why, and whether librdkafka knows them.
 *
 * For `config check` and for whoever opens a source or a sink. No broker is asked.
 */
#ifndef TARRY_BRIDGE_KAFKA_CONF_H
#define TARRY_BRIDGE_KAFKA_CONF_H

#include <stdbool.h>

#include "base/error.h"

/* Why a property may not be set by users (a promise rests on it, or tarry sets it itself), as half a sentence: "tarry commits ... itself".
 * NULL: it may. Static text. O(number of refused names). Any thread. */
const char *kafka_conf_refused(const char *name);

/* True if librdkafka takes this value for this property, and for an idempotent producer. ERROR_INVALID: it is refused (kafka_conf_refused), unknown,
 * or the value is wrong; the text names the property, and the value unless it may be a secret. Any thread; builds and frees a configuration,
 * some 10 us. */
bool kafka_conf_check(const char *name, const char *value, struct error *error);

/* True if the property's value must not be shown. */
bool kafka_conf_secret(const char *name);

#endif
