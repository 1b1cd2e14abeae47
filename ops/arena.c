/* See arena.h. */
#include "ops/arena.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

#define CHUNK_BYTES ((size_t)256 * 1024)
#define ALIGNMENT ((size_t)8)

struct arena_chunk {
    struct arena_chunk *next;
    struct arena_chunk *before;
    size_t size;
    size_t used;
    uint32_t rows; /* not yet released */
    _Alignas(8) uint8_t bytes[];
};

struct arena_row {
    struct arena_chunk *chunk;
    size_t length;
    uint8_t bytes[];
};

static struct arena_row *row_of(row_ref ref)
{
    return (struct arena_row *)(uintptr_t)ref; /* NOLINT(performance-no-int-to-ptr): a ref is an address by design */
}

static void chunk_free(struct arena *arena, struct arena_chunk *chunk)
{
    arena->bytes -= chunk->size;
    if (chunk->before != NULL) {
        chunk->before->next = chunk->next;
    } else {
        arena->chunks = chunk->next;
    }
    if (chunk->next != NULL) {
        chunk->next->before = chunk->before;
    }
    free(chunk);
}

static struct arena_chunk *chunk_with_room(struct arena *arena, size_t need)
{
    struct arena_chunk *chunk = arena->current;
    if (chunk != NULL && chunk->size - chunk->used >= need) {
        return chunk;
    }
    if (chunk != NULL && chunk->rows == 0) {
        chunk_free(arena, chunk);
    }
    size_t size = need > CHUNK_BYTES ? need : CHUNK_BYTES;
    chunk = memory_new(1, sizeof(*chunk) + size);
    chunk->size = size;
    chunk->next = arena->chunks;
    if (chunk->next != NULL) {
        chunk->next->before = chunk;
    }
    arena->chunks = chunk;
    arena->bytes += size;
    arena->current = chunk;
    return chunk;
}

row_ref arena_add(struct arena *arena, struct span bytes)
{
    size_t need = (sizeof(struct arena_row) + bytes.length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct arena_chunk *chunk = chunk_with_room(arena, need);
    struct arena_row *row = (struct arena_row *)(void *)(chunk->bytes + chunk->used);
    chunk->used += need;
    chunk->rows++;
    arena->rows++;
    row->chunk = chunk;
    row->length = bytes.length;
    if (bytes.length > 0) {
        memcpy(row->bytes, bytes.data, bytes.length);
    }
    return (row_ref)(uintptr_t)row;
}

struct span arena_row(row_ref ref)
{
    const struct arena_row *row = row_of(ref);
    return (struct span){row->bytes, row->length};
}

void arena_release(struct arena *arena, row_ref ref)
{
    struct arena_chunk *chunk = row_of(ref)->chunk;
    assert(chunk->rows > 0);
    arena->rows--;
    chunk->rows--;
    if (chunk->rows == 0 && chunk != arena->current) {
        chunk_free(arena, chunk);
    }
}

void arena_free(struct arena *arena)
{
    struct arena_chunk *chunk = arena->chunks;
    while (chunk != NULL) {
        struct arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    *arena = (struct arena){0};
}
