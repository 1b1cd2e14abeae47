/*
 * Entries: what the memory holds of a pending record, 32 bytes each, in one pool that all wheels of a core share.
 *
 * An entry is named by its index, which stays the same while the entry lives; pointers do not (the pool may move as
 * it grows). Index ENTRY_NONE is nobody's. How many there may be is the core's decision (core_options.entries_max):
 * the pool itself has no limit but UINT32_MAX.
 */
#ifndef TARRY_SCHEDULER_ENTRY_H
#define TARRY_SCHEDULER_ENTRY_H

#include "scheduler/types.h"

typedef uint32_t entry_index;

#define ENTRY_NONE ((entry_index)0)

struct entry {
    int64_t due_ms;
    int64_t offset;
    entry_index next; /* in its list, or in the pool's free list */
    entry_index prev;
    uint32_t bytes; /* of the row, for accounting */
    uint32_t taken; /* 1 while it is somebody's: for entry_pool_validate and assertions */
};

_Static_assert(sizeof(struct entry) == 32, "ten million pending records are counted in these");

struct entry_pool {
    struct entry *entries; /* entries[0] is never used */
    uint32_t capacity;
    uint32_t fresh;   /* this one and all after it were never taken */
    entry_index free; /* head of those given back */
    uint32_t count;   /* taken now */
};

/* Empty, nothing allocated. */
struct entry_pool entry_pool_new(void);

/* Frees everything at once; whoever still holds an index holds nothing. */
void entry_pool_free(struct entry_pool *pool);

/* A new entry with these figures and no neighbours. Never ENTRY_NONE. O(1), growing is O(1) on the average. */
entry_index entry_pool_take(struct entry_pool *pool, struct key key, uint32_t bytes);

/* Gives it back. When the last one came back, the order of free entries starts over. O(1). */
void entry_pool_give(struct entry_pool *pool, entry_index index);

/* How many are taken. */
static inline uint32_t entry_pool_count(const struct entry_pool *pool)
{
    return pool->count;
}

/* Borrowed until the next entry_pool_take. `index` must be taken. */
static inline struct entry *entry_at(const struct entry_pool *pool, entry_index index)
{
    return &pool->entries[index];
}

static inline struct key entry_key(const struct entry *entry)
{
    return (struct key){entry->due_ms, entry->offset};
}

/* Aborts if counts and lists do not agree. O(entries). */
void entry_pool_validate(const struct entry_pool *pool);

#endif
