/*
 * Inside the room: NATS messages that are done with, destroyed many at a time. nats.c frees each on a thread of its own, which it wakes if that one sleeps:
 * one by one, waking it costs more than all else that a message takes.
 */
#ifndef TARRY_DLQ_LINK_SPENT_H
#define TARRY_DLQ_LINK_SPENT_H

#include <nats/nats.h>
#include <stddef.h>

#define LINK_SPENT_MESSAGES 128
#define LINK_SPENT_BYTES ((size_t)1 << 20) /* of their bodies: few large ones are not kept for the sake of others */

/* All zero: empty. */
struct link_spent {
    natsMsg *messages[LINK_SPENT_MESSAGES];
    size_t count;
    size_t bytes;
};

/* Takes the message over (NULL is allowed), whatever was borrowed from it. */
void link_spent_add(struct link_spent *spent, natsMsg *message);

/* Destroys all that are kept. */
void link_spent_clear(struct link_spent *spent);

#endif
