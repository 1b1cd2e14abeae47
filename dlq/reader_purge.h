/* Room-internal: Whether a stream is still the one that was looked at. Included by reader_state.h. */
#ifndef TARRY_DLQ_READER_PURGE_H
#define TARRY_DLQ_READER_PURGE_H

#include "dlq/reader_state.h"

/* True: it is still the stream that was looked at. ERROR_UNAVAILABLE: another one of that name; ERROR_NOT_FOUND. */
bool reader_purge_same(struct link *link, const struct reader_stream *stream, int64_t timeout_ms, struct error *error);

#endif
