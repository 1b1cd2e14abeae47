#include "scheduler/bucket_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void bucket_table_free(struct bucket_table *table)
{
    for (int level = 0; level < BUCKET_LEVELS; level++) {
        free(table->levels[level].items);
    }
    *table = (struct bucket_table){0};
}

uint32_t bucket_table_search(const struct bucket_table *table, uint8_t level, int64_t number)
{
    const struct bucket_list *list = &table->levels[level];
    uint32_t low = 0;
    uint32_t high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list->items[middle].id.number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct bucket_stats *bucket_table_find(const struct bucket_table *table, uint8_t level, int64_t number)
{
    const struct bucket_list *list = &table->levels[level];
    uint32_t position = bucket_table_search(table, level, number);
    return position < list->count && list->items[position].id.number == number ? &list->items[position] : NULL;
}

static void list_remove(struct bucket_list *list, uint32_t position)
{
    list->count--;
    memmove(&list->items[position], &list->items[position + 1], (list->count - position) * sizeof(*list->items));
}

static void list_insert(struct bucket_list *list, uint32_t position, const struct bucket_stats *stats)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 8 : list->capacity * 2;
        list->items = memory_resize(list->items, list->capacity, sizeof(*list->items));
    }
    memmove(&list->items[position + 1], &list->items[position], (list->count - position) * sizeof(*list->items));
    list->items[position] = *stats;
    list->count++;
}

void bucket_table_set(struct bucket_table *table, const struct bucket_stats *stats)
{
    assert(stats->id.level < BUCKET_LEVELS);
    struct bucket_list *list = &table->levels[stats->id.level];
    uint32_t position = bucket_table_search(table, stats->id.level, stats->id.number);
    bool here = position < list->count && list->items[position].id.number == stats->id.number;
    if (stats->count == 0) {
        if (here) {
            list_remove(list, position);
        }
    } else if (here) {
        list->items[position] = *stats;
    } else {
        list_insert(list, position, stats);
    }
}

uint32_t bucket_table_count(const struct bucket_table *table)
{
    uint32_t count = 0;
    for (int level = 0; level < BUCKET_LEVELS; level++) {
        count += table->levels[level].count;
    }
    return count;
}
