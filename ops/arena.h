/*
 * Where rows live between reading and their checkpoint: bytes appended to chunks, a chunk freed when its last row is released.
 *
 * A row_ref is the address of its row here. Rows are released about in the order they came, so chunks go soon. The owner thread adds and
 * releases; the writer thread may read rows of the plan that it was given.
 */
#ifndef TARRY_OPS_ARENA_H
#define TARRY_OPS_ARENA_H

#include "base/span.h"
#include "scheduler/types.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;  /* all, newest first */
    struct arena_chunk *current; /* being filled, NULL: none */
    uint64_t bytes;              /* allocated, chunks with their unused rest */
    uint64_t rows;
};

/* Copies a row in. Never 0. O(bytes). */
row_ref arena_add(struct arena *arena, struct span bytes);

/* The row's bytes; valid until its release. */
struct span arena_row(row_ref ref);

/* Gives the row back; each ref once. */
void arena_release(struct arena *arena, row_ref ref);

/* Frees everything, rows that were not released too. */
void arena_free(struct arena *arena);

#endif
