#include "scheduler/id_table.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

#define CAPACITY_FIRST 16u

void id_table_free(struct id_table *table)
{
    free(table->entries);
    *table = (struct id_table){0};
}

static uint32_t home(const struct id_table *table, struct record_id id)
{
    return (uint32_t)(id.low ^ id.high) & (table->capacity - 1);
}

/* The place of the id, or the free one where it belongs. */
static uint32_t place_of(const struct id_table *table, struct record_id id)
{
    uint32_t place = home(table, id);
    while (!record_id_is_none(table->entries[place].id) && !record_id_equal(table->entries[place].id, id)) {
        place = (place + 1) & (table->capacity - 1);
    }
    return place;
}

static void rebuild(struct id_table *table, uint32_t capacity, id_table_keep_fn *keep, void *context)
{
    struct id_table old = *table;
    table->entries = memory_new(capacity, sizeof(*table->entries));
    table->capacity = capacity;
    table->count = 0;
    for (uint32_t i = 0; i < old.capacity; i++) {
        if (!record_id_is_none(old.entries[i].id) && (keep == NULL || keep(&old.entries[i], context))) {
            table->entries[place_of(table, old.entries[i].id)] = old.entries[i];
            table->count++;
        }
    }
    free(old.entries);
}

void id_table_put(struct id_table *table, const struct id_entry *entry)
{
    assert(!record_id_is_none(entry->id));
    if (table->count + 1 > table->capacity / 4 * 3) {
        rebuild(table, table->capacity == 0 ? CAPACITY_FIRST : table->capacity * 2, NULL, NULL);
    }
    struct id_entry *place = &table->entries[place_of(table, entry->id)];
    table->count += record_id_is_none(place->id);
    *place = *entry;
}

struct id_entry *id_table_find(const struct id_table *table, struct record_id id)
{
    if (table->count == 0 || record_id_is_none(id)) {
        return NULL;
    }
    struct id_entry *entry = &table->entries[place_of(table, id)];
    return record_id_is_none(entry->id) ? NULL : entry;
}

/* Closes the gap: what stands behind it and belongs before moves up. */
static void close_gap(struct id_table *table, uint32_t gap)
{
    uint32_t mask = table->capacity - 1;
    for (uint32_t next = (gap + 1) & mask; !record_id_is_none(table->entries[next].id); next = (next + 1) & mask) {
        uint32_t from_home = (next - home(table, table->entries[next].id)) & mask;
        if (from_home >= ((next - gap) & mask)) {
            table->entries[gap] = table->entries[next];
            gap = next;
        }
    }
    table->entries[gap].id = RECORD_ID_NONE;
}

void id_table_remove(struct id_table *table, struct record_id id)
{
    struct id_entry *entry = id_table_find(table, id);
    if (entry != NULL) {
        table->count--;
        close_gap(table, (uint32_t)(entry - table->entries));
    }
}

void id_table_filter(struct id_table *table, id_table_keep_fn *keep, void *context)
{
    if (table->count > 0) {
        rebuild(table, table->capacity, keep, context);
    }
}
