#include "scheduler/unwritten.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

#define CAPACITY_FIRST 64u

void unwritten_free(struct unwritten *list)
{
    free(list->rows);
    *list = (struct unwritten){0};
}

static void grow(struct unwritten *list)
{
    uint32_t capacity = list->capacity == 0 ? CAPACITY_FIRST : list->capacity * 2;
    struct unwritten_row *rows = memory_new(capacity, sizeof(*rows));
    for (uint32_t i = 0; i < list->count; i++) {
        rows[i] = *unwritten_at(list, i);
    }
    free(list->rows);
    list->rows = rows;
    list->capacity = capacity;
    list->head = 0;
}

void unwritten_add(struct unwritten *list, const struct unwritten_row *row)
{
    assert(list->count == 0 || unwritten_at(list, list->count - 1)->offset < row->offset);
    if (list->count == list->capacity) {
        grow(list);
    }
    list->count++;
    list->bytes += row->bytes;
    *unwritten_at(list, list->count - 1) = *row;
}

uint32_t unwritten_search(const struct unwritten *list, int64_t offset)
{
    uint32_t low = 0;
    uint32_t high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (unwritten_at(list, middle)->offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

row_ref unwritten_find(const struct unwritten *list, int64_t offset)
{
    uint32_t position = unwritten_search(list, offset);
    if (position == list->count || unwritten_at(list, position)->offset != offset) {
        return 0;
    }
    return unwritten_at(list, position)->ref;
}

struct unwritten_row unwritten_pop(struct unwritten *list)
{
    assert(list->count > 0);
    struct unwritten_row row = *unwritten_at(list, 0);
    list->head = (list->head + 1) & (list->capacity - 1);
    list->count--;
    list->bytes -= row.bytes;
    if (list->planned > 0) {
        list->planned--;
    }
    return row;
}

void unwritten_filter(struct unwritten *list, unwritten_keep_fn *keep, void *context)
{
    uint32_t kept = list->planned;
    for (uint32_t i = list->planned; i < list->count; i++) {
        struct unwritten_row row = *unwritten_at(list, i);
        if (keep(&row, context)) {
            *unwritten_at(list, kept++) = row;
        } else {
            list->bytes -= row.bytes;
        }
    }
    list->count = kept;
}
