/* See in_flight.h. */
#include "ops/in_flight.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

#define BLOCK_ITEMS 1024

struct in_flight_block {
    struct in_flight_block *next;
    struct in_flight_item items[BLOCK_ITEMS];
};

static void add_block(struct in_flight *in_flight)
{
    struct in_flight_block *block = memory_new(1, sizeof(*block));
    block->next = in_flight->blocks;
    in_flight->blocks = block;
    for (size_t i = 0; i < BLOCK_ITEMS; i++) {
        block->items[i].next = in_flight->free;
        in_flight->free = &block->items[i];
    }
}

struct in_flight_item *in_flight_take(struct in_flight *in_flight)
{
    if (in_flight->free == NULL) {
        add_block(in_flight);
    }
    struct in_flight_item *item = in_flight->free;
    in_flight->free = item->next;
    in_flight->count++;
    return item;
}

void in_flight_give(struct in_flight *in_flight, struct in_flight_item *item)
{
    free(item->told);
    item->told = NULL;
    item->next = in_flight->free;
    in_flight->free = item;
    in_flight->count--;
}

/* Lanes count from 0 each, in each partition; an epoch is of one partition alone. */
static size_t place_of(uint32_t epoch, lane_index lane, uint64_t sequence)
{
    return (size_t)((sequence + (uint64_t)lane * 127 + (uint64_t)epoch * 521) % IN_FLIGHT_ERRORS);
}

void in_flight_note(struct in_flight *in_flight, const struct in_flight_item *item, const char *reason, const char *text)
{
    if (text[0] == '\0') {
        return;
    }
    struct in_flight_error *error = &in_flight->errors[place_of(item->epoch, item->lane, item->sequence)];
    error->sequence = item->sequence;
    error->epoch = item->epoch;
    error->lane = item->lane;
    error->reason = reason;
    snprintf(error->text, sizeof(error->text), "%s", text);
}

const char *in_flight_text(const struct in_flight *in_flight, uint32_t epoch, lane_index lane, uint64_t sequence, const char **reason)
{
    const struct in_flight_error *error = &in_flight->errors[place_of(epoch, lane, sequence)];
    bool found = error->epoch == epoch && error->lane == lane && error->sequence == sequence && error->text[0] != '\0';
    *reason = found ? error->reason : NULL;
    return found ? error->text : "the target does not take this record";
}

void in_flight_free(struct in_flight *in_flight)
{
    while (in_flight->blocks != NULL) {
        struct in_flight_block *block = in_flight->blocks;
        in_flight->blocks = block->next;
        free(block);
    }
    *in_flight = (struct in_flight){0};
}
