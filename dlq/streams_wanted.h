/* Room-internal: A stream as it should be. Included by streams_state.h. */
#ifndef TARRY_DLQ_STREAMS_WANTED_H
#define TARRY_DLQ_STREAMS_WANTED_H

#include "dlq/streams_state.h"

void streams_wanted_fill(const struct streams_options *options, int which, struct streams_wanted *wanted);

#endif
