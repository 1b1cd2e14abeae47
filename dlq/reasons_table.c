#include "dlq/reasons_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SLOTS ((size_t)1 << 15) /* more than twice as many as groups: a free one is always near */

void reasons_table_free(struct reasons_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        free((void *)(uintptr_t)table->groups[i].name.data);
    }
    free(table->groups);
    free(table->slots);
    *table = (struct reasons_table){0};
}

/* FNV-1a: names come from records, and whoever wants to can only make this one command slow. */
static uint64_t hash_of(struct span name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < name.length; i++) {
        hash = (hash ^ name.data[i]) * UINT64_C(1099511628211);
    }
    return hash ^ hash >> 32;
}

/* The slot in which the group stands or would stand. */
static size_t slot_of(const struct reasons_table *table, struct span name)
{
    size_t slot = (size_t)hash_of(name) & (SLOTS - 1);
    while (table->slots[slot] != 0 && !span_equal(table->groups[table->slots[slot] - 1].name, name)) {
        slot = (slot + 1) & (SLOTS - 1);
    }
    return slot;
}

static struct reasons_table_group *find_or_add(struct reasons_table *table, struct span name)
{
    if (table->slots == NULL) {
        table->slots = memory_new(SLOTS, sizeof *table->slots);
    }
    size_t slot = slot_of(table, name);
    if (table->slots[slot] == 0 && table->count >= REASONS_TABLE_MAX) {
        name = span_of_text(REASONS_TABLE_OTHERS);
        slot = slot_of(table, name);
    }
    if (table->slots[slot] == 0) {
        if (table->count == table->capacity) {
            table->capacity = table->capacity == 0 ? 16 : table->capacity * 2;
            table->groups = memory_resize(table->groups, table->capacity, sizeof *table->groups);
        }
        struct span copy = {(const uint8_t *)memory_text(name.data, name.length), name.length};
        table->groups[table->count] = (struct reasons_table_group){.name = copy, .first_ms = -1, .last_ms = -1};
        table->count += 1;
        table->slots[slot] = (uint32_t)table->count;
    }
    return &table->groups[table->slots[slot] - 1];
}

void reasons_table_add(struct reasons_table *table, struct span name, const struct letter *letter, enum letter_state state)
{
    struct reasons_table_group *group = find_or_add(table, name);
    group->count += 1;
    group->of[state] += 1;
    table->letters += 1;
    if (group->first_ms < 0 || (letter->first_failure_ms >= 0 && letter->first_failure_ms < group->first_ms)) {
        group->first_ms = letter->first_failure_ms;
    }
    if (letter->last_failure_ms >= group->last_ms) {
        group->last_ms = letter->last_failure_ms;
        memcpy(group->example, letter->id, sizeof group->example);
    }
}

static int compare_names(const void *a, const void *b)
{
    struct span one = ((const struct reasons_table_group *)a)->name;
    struct span two = ((const struct reasons_table_group *)b)->name;
    int order = memcmp(one.data, two.data, one.length < two.length ? one.length : two.length);
    return order != 0 ? order : (one.length > two.length) - (one.length < two.length);
}

static int compare_counts(const void *a, const void *b)
{
    uint64_t one = ((const struct reasons_table_group *)a)->count;
    uint64_t two = ((const struct reasons_table_group *)b)->count;
    return one != two ? (one < two) - (one > two) : compare_names(a, b);
}

void reasons_table_sort(struct reasons_table *table, bool by_name)
{
    if (table->count > 1) {
        qsort(table->groups, table->count, sizeof *table->groups, by_name ? compare_names : compare_counts);
    }
}
