#include "scheduler/cancelled.h"

#include <stdlib.h>

#include "base/memory.h"

#define CAPACITY_FIRST 16u

void cancelled_free(struct cancelled *set)
{
    free(set->rows);
    *set = (struct cancelled){0};
}

static uint32_t place_of(const struct cancelled *set, int64_t offset)
{
    uint32_t place = (uint32_t)(((uint64_t)offset * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (set->capacity - 1);
    while (set->rows[place].used && set->rows[place].key.offset != offset) {
        place = (place + 1) & (set->capacity - 1);
    }
    return place;
}

static void rebuild(struct cancelled *set, uint32_t capacity, cancelled_keep_fn *keep, void *context)
{
    struct cancelled old = *set;
    set->rows = memory_new(capacity, sizeof(*set->rows));
    set->capacity = capacity;
    set->count = 0;
    for (uint32_t i = 0; i < old.capacity; i++) {
        if (old.rows[i].used && (keep == NULL || keep(&old.rows[i], context))) {
            set->rows[place_of(set, old.rows[i].key.offset)] = old.rows[i];
            set->count++;
        }
    }
    free(old.rows);
}

void cancelled_add(struct cancelled *set, struct key key, lane_index lane)
{
    if (set->count + 1 > set->capacity / 4 * 3) {
        rebuild(set, set->capacity == 0 ? CAPACITY_FIRST : set->capacity * 2, NULL, NULL);
    }
    struct cancelled_row *row = &set->rows[place_of(set, key.offset)];
    if (!row->used) {
        *row = (struct cancelled_row){.key = key, .lane = lane, .used = true};
        set->count++;
    }
}

struct cancelled_row *cancelled_find(const struct cancelled *set, int64_t offset)
{
    if (set->count == 0) {
        return NULL;
    }
    struct cancelled_row *row = &set->rows[place_of(set, offset)];
    return row->used ? row : NULL;
}

void cancelled_filter(struct cancelled *set, cancelled_keep_fn *keep, void *context)
{
    if (set->count > 0) {
        rebuild(set, set->capacity, keep, context);
    }
}
