/*
 * Inside the room: the connections behind a link.
 *
 * A session is one TCP connection from its handshake to its end; nats.c reconnects nothing by itself. So what is sent into a connection that ended fails
 * at once and is never kept for later behind our back, a wrong password never ends the trying, and an answer can only be one to what this session asked.
 * Whoever uses a session holds it; when it ended, calls on it fail (NATS_CONNECTION_CLOSED), subscriptions wake, and the holder drops it and holds the next.
 */
#ifndef TARRY_DLQ_LINK_STATE_H
#define TARRY_DLQ_LINK_STATE_H

#include <nats/nats.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "dlq/link.h"

struct link_session;

/* Waits up to timeout_ms for a session with a greater number than that: the one after a session known to have ended, 0: any. False: ERROR_UNAVAILABLE. */
bool link_wait_after(struct link *link, uint64_t number, int64_t timeout_ms, struct error *error);

#include "dlq/link_session.h" /* last: it speaks of what stands above */

#endif
