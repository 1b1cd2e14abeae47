#include "bridge/sink_ticket.h"

#include <stdlib.h>

#include "base/memory.h"

struct sink_ticket_block {
    struct sink_ticket_block *next;
    struct sink_ticket tickets[SINK_TICKET_BLOCK];
};

static void add_block(struct sink_ticket_pool *pool)
{
    struct sink_ticket_block *block = memory_new(1, sizeof *block);
    block->next = pool->blocks;
    pool->blocks = block;
    for (size_t i = 0; i < SINK_TICKET_BLOCK; i++) {
        sink_ticket_give(pool, &block->tickets[i]);
    }
}

struct sink_ticket *sink_ticket_take(struct sink_ticket_pool *pool, void *token, bool copy, size_t place)
{
    if (pool->free == NULL) {
        add_block(pool);
    }
    struct sink_ticket *ticket = pool->free;
    pool->free = ticket->next;
    *ticket = (struct sink_ticket){.token = token, .copy = copy, .place = place};
    return ticket;
}

void sink_ticket_give(struct sink_ticket_pool *pool, struct sink_ticket *ticket)
{
    ticket->next = pool->free;
    pool->free = ticket;
}

struct sink_ticket sink_ticket_redeem(struct sink_ticket_pool *pool, struct sink_report *report)
{
    struct sink_ticket *ticket = report->token;
    struct sink_ticket read = *ticket;
    sink_ticket_give(pool, ticket);
    report->token = read.token;
    report->copy = read.copy;
    return read;
}

void sink_ticket_free_all(struct sink_ticket_pool *pool)
{
    while (pool->blocks != NULL) {
        struct sink_ticket_block *block = pool->blocks;
        pool->blocks = block->next;
        free(block);
    }
    pool->free = NULL;
}
