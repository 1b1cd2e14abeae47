/* Room-internal: what the files of the reader share. */
#ifndef TARRY_DLQ_READER_STATE_H
#define TARRY_DLQ_READER_STATE_H

#include <nats/nats.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/span.h"
#include "dlq/link_state.h"
#include "dlq/reader.h"

/* What a message's reply subject tells of it: "$JS.ACK.<stream>.<consumer>.<delivered>.<sequence>.<consumer sequence>.<time>.<pending>", with
 * <domain>.<account> before the stream and a token behind on some servers. */
struct reader_state_place {
    uint64_t sequence;
    uint64_t consumer_sequence;
    int64_t stored_ns;
    uint64_t pending; /* messages behind this one, when it was sent */
};

/* False: it is none. */
bool reader_state_place(const char *reply, struct reader_state_place *place);

/* The body; empty, never absent. Borrowed from the message. */
struct span reader_state_body(natsMsg *message);

/* The monotonic clock, in ms: for how long one may still wait. */
int64_t reader_state_clock_ms(void);

/* What a failed call says: ERROR_NOT_FOUND when the stream or message is not there, ERROR_UNAVAILABLE else. Returns false. */
bool reader_state_error(struct link_session *session, const char *doing, const char *stream, natsStatus status, jsErrCode code, struct error *error);

#include "dlq/reader_purge.h" /* last: it speaks of what stands above */

#endif
