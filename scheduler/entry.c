/* The pool of entries: see entry.h. */
#include "scheduler/entry.h"

#include <assert.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "base/memory.h"

#define LEAST_CAPACITY 64

struct entry_pool entry_pool_new(void)
{
    return (struct entry_pool){.fresh = 1};
}

void entry_pool_free(struct entry_pool *pool)
{
    free(pool->entries);
    *pool = entry_pool_new();
}

static void grow(struct entry_pool *pool)
{
    uint32_t capacity = LEAST_CAPACITY;
    if (pool->capacity > 0) {
        INVARIANT(pool->capacity < UINT32_MAX);
        capacity = pool->capacity > UINT32_MAX / 2 ? UINT32_MAX : pool->capacity * 2;
    }
    pool->entries = memory_resize(pool->entries, capacity, sizeof(struct entry));
    pool->capacity = capacity;
}

entry_index entry_pool_take(struct entry_pool *pool, struct key key, uint32_t bytes)
{
    entry_index index = pool->free;
    if (index != ENTRY_NONE) {
        pool->free = pool->entries[index].next;
    } else {
        if (pool->fresh >= pool->capacity) {
            grow(pool);
        }
        index = pool->fresh++;
    }
    pool->entries[index] = (struct entry){.due_ms = key.due_ms, .offset = key.offset, .bytes = bytes, .taken = 1};
    pool->count++;
    return index;
}

void entry_pool_give(struct entry_pool *pool, entry_index index)
{
    struct entry *entry = entry_at(pool, index);
    assert(index != ENTRY_NONE && entry->taken == 1);
    entry->taken = 0;
    entry->next = pool->free;
    pool->free = index;
    pool->count--;
    if (pool->count == 0) {
        /* Neighbours in a list become neighbours in memory again. */
        pool->free = ENTRY_NONE;
        pool->fresh = 1;
    }
}

void entry_pool_validate(const struct entry_pool *pool)
{
    INVARIANT(pool->fresh >= 1 && (pool->fresh <= pool->capacity || pool->capacity == 0));
    uint32_t taken = 0;
    for (uint32_t i = 1; i < pool->fresh; i++) {
        INVARIANT(pool->entries[i].taken <= 1);
        taken += pool->entries[i].taken;
    }
    INVARIANT(taken == pool->count);
    uint32_t given = 0;
    for (entry_index i = pool->free; i != ENTRY_NONE; i = pool->entries[i].next) {
        INVARIANT(i < pool->fresh && pool->entries[i].taken == 0 && given < pool->fresh);
        given++;
    }
    INVARIANT(taken + given == pool->fresh - 1);
}
