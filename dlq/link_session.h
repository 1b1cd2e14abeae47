/* Room-internal: A connection of the link, held by who uses it. Included by link_state.h. */
#ifndef TARRY_DLQ_LINK_SESSION_H
#define TARRY_DLQ_LINK_SESSION_H

#include "dlq/link_state.h"

/* False: it ended; drop it. */
bool link_session_alive(struct link_session *session);

/* Ends the session: it cannot be trusted any more (a write that stopped in its middle). The link makes the next one. */
void link_session_break(struct link_session *session);

/* The monotonic clock in ms: for how long one may still wait. */
int64_t link_session_clock_ms(void);

/* Valid while held; owned by the session. */
natsConnection *link_session_connection(struct link_session *session);

/* NULL is allowed. May block for moments when it was the last hold of an ended session. Subscriptions made on it are destroyed before. */
void link_session_drop(struct link_session *session);

/*
 * Ends and frees a subscription made on this session; NULL is allowed. nats.c 3.4.1 looks a subscription up for a message that came in, and locks it later without holding
 * it: one that is destroyed in between is used after it was freed. So it is taken out of the connection first, and destroyed when a round trip has shown that the
 * reading thread is past what came before; without an answer, when the session is freed. Blocks for a round trip, FLUSH_MS at most.
 */
void link_session_unsubscribe(struct link_session *session, natsSubscription *subscription);

/* Puts the failure of a call on the session into words: a code for the reason and nats.c's text, without secrets; js is of JetStream calls, else 0. Also
 * what the server last complained about on this session (permissions), if it did. Returns false. */
bool link_session_failure(struct link_session *session, natsStatus status, jsErrCode js, struct error *error);

/* The session of now; give it back with link_session_drop. NULL and ERROR_UNAVAILABLE with the reason: the link is down. Does not wait. */
struct link_session *link_session_hold(struct link *link, struct error *error);

jsCtx *link_session_jetstream(struct link_session *session);

/* Counts sessions of this link from 1: another number is another session. */
uint64_t link_session_number(const struct link_session *session);

#endif
