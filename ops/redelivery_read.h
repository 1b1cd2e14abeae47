/* Room-internal: From the stream into memory. Included by redelivery_state.h. */
#ifndef TARRY_OPS_REDELIVERY_READ_H
#define TARRY_OPS_REDELIVERY_READ_H

#include "ops/redelivery_state.h"

/* Reads what has come, waiting at most timeout_ms for the first. False: the stream must be read anew. */
bool redelivery_read(struct redelivery *redelivery, int64_t timeout_ms, struct error *error);

/* Reads to the end as it is now, or until memory is full. */
bool redelivery_read_all(struct redelivery *redelivery, struct error *error);

/* Puts an entry (back) into `waiting`; what that makes superfluous is owed. False: no room. */
bool redelivery_read_put(struct redelivery *redelivery, const struct waiting_entry *entry);

#endif
