/*
 * The way from foreign threads to the owner thread: a bounded queue of tickets, many askers, one owner. (Or some workers of a kind, ops/api.h: each ticket is
 * taken by one, who is its owner.)
 *
 * A ticket carries a payload that belongs to one side at a time: to the asker until it is posted, to the owner between
 * mailbox_take and mailbox_answer, then to the asker again. So payloads need no locks. An asker that stops waiting
 * drops its ticket, and the payload is freed by whoever has it last: a late answer touches nothing that is gone.
 */
#ifndef TARRY_OPS_MAILBOX_H
#define TARRY_OPS_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/time_types.h"

struct mailbox;
struct mailbox_ticket;

typedef void mailbox_free_fn(void *payload);

/* At most `capacity` tickets wait (1 or more). NULL: ERROR_SYSTEM. */
struct mailbox *mailbox_new(size_t capacity, struct error *error);

/* No thread may use the mailbox or a ticket of it any more, but dropping a ticket was enough. NULL is fine. */
void mailbox_free(struct mailbox *mailbox);

/* ---- owner thread ---- */

/* Readable while something waits to be taken (level). */
int mailbox_fd(const struct mailbox *mailbox);

/* The next ticket, or NULL when none waits. Those dropped meanwhile are freed on the way. The owner must answer each.
 * O(1). */
struct mailbox_ticket *mailbox_take(struct mailbox *mailbox);

/* Gives the payload back, changed as the owner likes. Frees both when the asker has gone; do not touch either
 * afterwards. */
void mailbox_answer(struct mailbox_ticket *ticket);

/* No more posts; what waits is given back unanswered, and its askers wake. For the end of the owner's loop. */
void mailbox_close(struct mailbox *mailbox);

/* "I have just ended a turn", for mailbox_last_beat. Costs one atomic store. */
void mailbox_beat(struct mailbox *mailbox, struct mono_ms now);

/* ---- any thread ---- */

struct mono_ms mailbox_last_beat(const struct mailbox *mailbox);

/* Sends `payload` to the owner; from here on it is freed with payload_free. ring: the answer also makes
 * mailbox_answers_fd readable. NULL: ERROR_FULL (try later) or ERROR_UNAVAILABLE (closed), and the payload is still the
 * caller's. Never blocks. */
struct mailbox_ticket *
mailbox_post(struct mailbox *mailbox, void *payload, mailbox_free_fn *payload_free, bool ring, struct error *error);

enum mailbox_state { MAILBOX_WAITING, MAILBOX_ANSWERED, MAILBOX_REFUSED /* the owner has closed */ };

/* How it stands with a posted ticket. Never blocks. */
enum mailbox_state mailbox_state(struct mailbox_ticket *ticket);

/* Waits until it is no longer MAILBOX_WAITING, timeout_ms at most (0 or more). */
enum mailbox_state mailbox_wait(struct mailbox_ticket *ticket, int64_t timeout_ms);

/* The payload, for the side that has it now. */
void *mailbox_payload(struct mailbox_ticket *ticket);

/* Of an answered ticket: the payload is the asker's alone from here on, and the ticket is gone. */
void *mailbox_keep(struct mailbox_ticket *ticket);

/* The asker is done, or gives up. The ticket and, unless the owner has it, the payload are gone after this. NULL is
 * fine. */
void mailbox_drop(struct mailbox_ticket *ticket);

/* Readable after answers to tickets posted with `ring`. For one asking thread that does not block; it calls
 * mailbox_answers_clear, then looks at its tickets. */
int mailbox_answers_fd(const struct mailbox *mailbox);
void mailbox_answers_clear(struct mailbox *mailbox);

#endif
