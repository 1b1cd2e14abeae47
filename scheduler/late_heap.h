/*
 * The late arrivals of one queue (R1), least offset first: a binary heap.
 *
 * How many there may be is the caller's bound (core_options.late_max). One owner thread.
 */
#ifndef TARRY_SCHEDULER_LATE_HEAP_H
#define TARRY_SCHEDULER_LATE_HEAP_H

#include "scheduler/types.h"

struct late_entry {
    struct key key;
    uint32_t bytes; /* of the row, for accounting */
};

struct late_heap {
    struct late_entry *entries; /* entries[i] is not behind entries[2 i + 1] and entries[2 i + 2] */
    uint32_t count;
    uint32_t capacity;
    uint64_t bytes; /* sum of the rows' bytes */
};

/* Empty, nothing allocated. */
struct late_heap late_heap_new(void);

/* Frees its memory; empty and usable again. */
void late_heap_free(struct late_heap *heap);

/* O(log count). Offsets in a heap differ. */
void late_heap_add(struct late_heap *heap, struct key key, uint32_t bytes);

/* The entry with the least offset, borrowed until the next change; NULL: empty. O(1). */
const struct late_entry *late_heap_peek(const struct late_heap *heap);

/* Takes that entry out. False: empty. O(log count). Room that is far too large is given back on the way. */
bool late_heap_take_least(struct late_heap *heap, struct late_entry *taken);

/* How many are due at now_ms or before. O(count). */
uint32_t late_heap_count_due(const struct late_heap *heap, int64_t now_ms);

/* Least due, TIME_NEVER: empty. O(count). */
int64_t late_heap_least_due(const struct late_heap *heap);

/* Aborts if order or sums are broken. O(count). */
void late_heap_validate(const struct late_heap *heap);

#endif
