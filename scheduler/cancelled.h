/*
 * Events that a cancel or a replacement ended while they waited (R5): the window still has some of them, the store too. Each is let fall where it is
 * met, and is kept in mind here until neither has it any more. A hash set by offset; owner thread.
 */
#ifndef TARRY_SCHEDULER_CANCELLED_H
#define TARRY_SCHEDULER_CANCELLED_H

#include "scheduler/types.h"

struct cancelled_row {
    struct key key;
    lane_index lane;
    bool used;    /* the place is */
    bool erased;  /* not in the store, or not any more */
    bool planned; /* the plan under way erases it */
    bool passed;  /* not in the window any more */
};

struct cancelled {
    struct cancelled_row *rows;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
};

void cancelled_free(struct cancelled *set);

/* Adds a record; one that is there stays as it is. O(1) on the average. */
void cancelled_add(struct cancelled *set, struct key key, lane_index lane);

/* The record at this offset, NULL: it is not cancelled. Borrowed until the next add. */
struct cancelled_row *cancelled_find(const struct cancelled *set, int64_t offset);

static inline bool cancelled_has(const struct cancelled *set, int64_t offset)
{
    return set->count > 0 && cancelled_find(set, offset) != NULL;
}

/* True when the row stands in the store, where rows are complete below `stored_position`, and is to be erased there. */
static inline bool cancelled_is_stored(const struct cancelled_row *row, int64_t stored_position)
{
    return row->used && !row->erased && row->key.offset < stored_position;
}

typedef bool cancelled_keep_fn(struct cancelled_row *row, void *context);

/* Asks `keep` about every record, which it may change but for its offset, and takes out those it does not want. O(capacity). */
void cancelled_filter(struct cancelled *set, cancelled_keep_fn *keep, void *context);

#endif
