/* A binary heap by offset: see late_heap.h. */
#include "scheduler/late_heap.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "base/memory.h"

#define LEAST_CAPACITY 16

struct late_heap late_heap_new(void)
{
    return (struct late_heap){.entries = NULL};
}

void late_heap_free(struct late_heap *heap)
{
    free(heap->entries);
    *heap = late_heap_new();
}

static bool before(const struct late_heap *heap, uint32_t a, uint32_t b)
{
    return heap->entries[a].key.offset < heap->entries[b].key.offset;
}

static void swap(struct late_heap *heap, uint32_t a, uint32_t b)
{
    struct late_entry kept = heap->entries[a];
    heap->entries[a] = heap->entries[b];
    heap->entries[b] = kept;
}

static void resize(struct late_heap *heap, uint32_t capacity)
{
    heap->entries = memory_resize(heap->entries, capacity, sizeof(struct late_entry));
    heap->capacity = capacity;
}

void late_heap_add(struct late_heap *heap, struct key key, uint32_t bytes)
{
    if (heap->count == heap->capacity) {
        INVARIANT(heap->capacity <= UINT32_MAX / 2);
        resize(heap, heap->capacity == 0 ? LEAST_CAPACITY : heap->capacity * 2);
    }
    uint32_t at = heap->count++;
    heap->entries[at] = (struct late_entry){key, bytes};
    heap->bytes += bytes;
    while (at > 0 && before(heap, at, (at - 1) / 2)) {
        swap(heap, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

const struct late_entry *late_heap_peek(const struct late_heap *heap)
{
    return heap->count == 0 ? NULL : &heap->entries[0];
}

static void sink_first(struct late_heap *heap)
{
    uint32_t at = 0;
    while (at < heap->count / 2) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < heap->count && before(heap, child + 1, child)) {
            child++;
        }
        if (!before(heap, child, at)) {
            return;
        }
        swap(heap, child, at);
        at = child;
    }
}

bool late_heap_take_least(struct late_heap *heap, struct late_entry *taken)
{
    if (heap->count == 0) {
        return false;
    }
    *taken = heap->entries[0];
    heap->bytes -= taken->bytes;
    heap->entries[0] = heap->entries[--heap->count];
    sink_first(heap);
    if (heap->capacity > LEAST_CAPACITY && heap->count < heap->capacity / 8) {
        resize(heap, heap->capacity / 2);
    }
    return true;
}

uint32_t late_heap_count_due(const struct late_heap *heap, int64_t now_ms)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < heap->count; i++) {
        count += heap->entries[i].key.due_ms <= now_ms;
    }
    return count;
}

int64_t late_heap_least_due(const struct late_heap *heap)
{
    int64_t least = TIME_NEVER;
    for (uint32_t i = 0; i < heap->count; i++) {
        least = heap->entries[i].key.due_ms < least ? heap->entries[i].key.due_ms : least;
    }
    return least;
}

void late_heap_validate(const struct late_heap *heap)
{
    INVARIANT(heap->count <= heap->capacity);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < heap->count; i++) {
        INVARIANT(i == 0 || before(heap, (i - 1) / 2, i));
        bytes += heap->entries[i].bytes;
    }
    INVARIANT(bytes == heap->bytes);
}
