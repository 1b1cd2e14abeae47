/*
 * Room-internal: what librdkafka carries for a record of a transaction, and gives back with its report: whose it is, and whether it is a copy.
 *
 * Tickets come from a pool and go back to it with the report, the refusal or the end of the sink, each exactly once: there are never more than records that
 * were taken and not reported. Owner thread.
 */
#ifndef TARRY_BRIDGE_SINK_TICKET_H
#define TARRY_BRIDGE_SINK_TICKET_H

#include "bridge/sink.h"

struct sink_ticket {
    struct sink_ticket *next; /* while free */
    void *token;              /* the caller's; a copy's may be NULL: no report */
    size_t place;             /* of a copy: sink_copy_place */
    bool copy;
};

#define SINK_TICKET_BLOCK 256 /* so many are made at once */

struct sink_ticket_block;

struct sink_ticket_pool {
    struct sink_ticket *free;
    struct sink_ticket_block *blocks;
};

/* Never NULL. O(1). */
struct sink_ticket *sink_ticket_take(struct sink_ticket_pool *pool, void *token, bool copy, size_t place);

/* Gives it back. */
void sink_ticket_give(struct sink_ticket_pool *pool, struct sink_ticket *ticket);

/* The report's token is a ticket: puts the caller's token in its place, says whether it is on a copy, gives the ticket back; returns what stood on it. */
struct sink_ticket sink_ticket_redeem(struct sink_ticket_pool *pool, struct sink_report *report);

/* Frees all, those that are out as well: nobody may look at them any more. */
void sink_ticket_free_all(struct sink_ticket_pool *pool);

#endif
