/* Room-internal: What differs between a stream as it is and as it should be. Included by streams_state.h. */
#ifndef TARRY_DLQ_STREAMS_COMPARE_H
#define TARRY_DLQ_STREAMS_COMPARE_H

#include "dlq/streams_state.h"

/* Adds a finding for each key that matters and differs. True: letters can be entrusted to it. */
bool streams_compare(const struct streams_wanted *wanted, const jsStreamConfig *found, struct streams_findings *findings);

#endif
