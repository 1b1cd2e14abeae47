/*
 * The core's mirror of the store's bucket statistics, for one queue: sorted by level, then by number.
 *
 * The store is the truth: what it says of a bucket after a checkpoint replaces what stands here. All by the owner thread.
 */
#ifndef TARRY_SCHEDULER_BUCKET_TABLE_H
#define TARRY_SCHEDULER_BUCKET_TABLE_H

#include "scheduler/types.h"

struct bucket_list {
    struct bucket_stats *items; /* by number */
    uint32_t count;
    uint32_t capacity;
};

struct bucket_table {
    struct bucket_list levels[BUCKET_LEVELS];
};

void bucket_table_free(struct bucket_table *table);

/* Puts these statistics in the place of the older ones of the same bucket; count 0 takes the bucket out. O(log n) to find, O(n) to make room. */
void bucket_table_set(struct bucket_table *table, const struct bucket_stats *stats);

/* NULL: not there. Borrowed until the next set. O(log n). */
const struct bucket_stats *bucket_table_find(const struct bucket_table *table, uint8_t level, int64_t number);

/* Position in the level's list of the first bucket whose number is >= number (count if none). O(log n). */
uint32_t bucket_table_search(const struct bucket_table *table, uint8_t level, int64_t number);

/* All buckets of all levels together. */
uint32_t bucket_table_count(const struct bucket_table *table);

#endif
