/*
 * The window of a queue: which of its pending records are in memory.
 *
 * All with key <= `loaded` are (wheel, late heap, FIFO), the others only on disk or in the unwritten list. `loaded` follows the clock by
 * whole finest buckets as long as memory allows, and is lowered when there is too much (docs/internals/core.md).
 */
#ifndef TARRY_SCHEDULER_WINDOW_H
#define TARRY_SCHEDULER_WINDOW_H

#include "scheduler/core_state.h"

/* Moves `loaded` towards the clock as far as it goes without the disk, and asks for the next bucket (COMMAND_SCAN) where there is one. */
void window_extend(struct core *core, struct slot *slot, struct queue *queue, struct now now);

/* An answer to COMMAND_SCAN. */
void window_rows(struct core *core, struct slot *slot, struct queue *queue, const struct input_rows *rows);

/* Brings the entries in memory back under entries_max: the queue that holds most of them lets its greatest keys go. O(dropped). */
void window_trim(struct core *core);

/* Forgets what is in memory, to load it again from the beginning: after the point was set back. Nothing may be in flight. */
void window_reset(struct core *core, struct queue *queue);

/* A bucket that is done is dropped or skipped: what of it was never looked at no longer counts as pending. */
void window_bucket_gone(struct queue *queue, const struct bucket_stats *stats);

/* The wall clock at which window_extend has something to do, TIME_NEVER: nothing, or something else has to happen first. */
int64_t window_deadline(const struct core *core, const struct queue *queue);

/* The time by which levels are chosen and buckets split: now, or where a queue that stands still has got to. */
int64_t window_reference_ms(const struct queue *queue, struct now now);

/* The level at which a row of this queue is written now: the finest for all that is in memory or being loaded, so that it is found by its due alone. */
unsigned window_level(const struct queue *queue, struct key key, struct now now);

#endif
