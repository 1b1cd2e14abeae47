/*
 * The unwritten list of a slot: what was read and kept, and does not stand in a written checkpoint yet, in offset order.
 *
 * The first `planned` rows are in the checkpoint under way: they leave the list only when it is answered, so that until then whoever
 * looks for what is not on disk (the window, C, a delivery) finds them here. A ring; all by the owner thread.
 */
#ifndef TARRY_SCHEDULER_UNWRITTEN_H
#define TARRY_SCHEDULER_UNWRITTEN_H

#include "scheduler/types.h"

struct unwritten_row {
    int64_t offset;
    int64_t due_ms;
    row_ref ref;
    uint32_t bytes;
    lane_index lane;
    int64_t root;        /* as in input_record */
    struct record_id id;
};

struct unwritten {
    struct unwritten_row *rows;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t head;
    uint32_t count;
    uint32_t planned;
    uint64_t bytes;
};

/* Frees the room; the list is empty and usable. Refs are the caller's to release. */
void unwritten_free(struct unwritten *list);

/* Appends; offsets must ascend. O(1) on the average. */
void unwritten_add(struct unwritten *list, const struct unwritten_row *row);

/* The row at a position, 0 = oldest. Borrowed until the next add. */
static inline struct unwritten_row *unwritten_at(const struct unwritten *list, uint32_t position)
{
    return &list->rows[(list->head + position) & (list->capacity - 1)];
}

/* Position of the first row whose offset is >= offset (count if none). O(log n). */
uint32_t unwritten_search(const struct unwritten *list, int64_t offset);

/* The ref of the row at this offset, 0: it is not here. O(log n). */
row_ref unwritten_find(const struct unwritten *list, int64_t offset);

/* Takes the oldest row out. */
struct unwritten_row unwritten_pop(struct unwritten *list);

typedef bool unwritten_keep_fn(const struct unwritten_row *row, void *context);

/* Asks `keep` about every row that is not planned, oldest first, and takes out those it does not want. O(n). */
void unwritten_filter(struct unwritten *list, unwritten_keep_fn *keep, void *context);

#endif
