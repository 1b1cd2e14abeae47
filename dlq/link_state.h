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

/* The session of now; give it back with link_drop. NULL and ERROR_UNAVAILABLE with the reason: the link is down. Does not wait. */
struct link_session *link_hold(struct link *link, struct error *error);

/* NULL is allowed. May block for moments when it was the last hold of an ended session. Subscriptions made on it are destroyed before. */
void link_drop(struct link_session *session);

/* Valid while held; owned by the session. */
natsConnection *link_connection(struct link_session *session);
jsCtx *link_jetstream(struct link_session *session);

/* False: it ended; drop it. */
bool link_alive(struct link_session *session);

/* Counts sessions of this link from 1: another number is another session. */
uint64_t link_number(const struct link_session *session);

/* Waits up to timeout_ms for a session with a greater number than that: the one after a session known to have ended, 0: any. False: ERROR_UNAVAILABLE. */
bool link_wait_after(struct link *link, uint64_t number, int64_t timeout_ms, struct error *error);

/* Ends the session: it cannot be trusted any more (a write that stopped in its middle). The link makes the next one. */
void link_break(struct link_session *session);

/* Puts the failure of a call on the session into words: a code for the reason and nats.c's text, without secrets; js is of JetStream calls, else 0. Also
 * what the server last complained about on this session (permissions), if it did. Returns false. */
bool link_failure(struct link_session *session, natsStatus status, jsErrCode js, struct error *error);

/* The monotonic clock in ms: for how long one may still wait. */
int64_t link_clock_ms(void);

#endif
