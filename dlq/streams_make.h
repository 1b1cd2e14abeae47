/* Room-internal: Making a stream that is absent. Included by streams_state.h. */
#ifndef TARRY_DLQ_STREAMS_MAKE_H
#define TARRY_DLQ_STREAMS_MAKE_H

#include "dlq/streams_state.h"

/* Makes it. ERROR_UNAVAILABLE: look again after a pause; ERROR_INVALID: the server refuses. */
bool streams_make(struct link_session *session, const struct streams_wanted *wanted, int64_t end_ms, bool *made, struct error *error);

/* Options of one request that is answered by end_ms (link_session_clock_ms). */
jsOptions streams_make_request(int64_t end_ms);

#endif
