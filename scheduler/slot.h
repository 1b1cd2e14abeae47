/* A slot: one partition that this instance holds: what was read of it, what is pending, and whether it may fire. */
#ifndef TARRY_SCHEDULER_SLOT_H
#define TARRY_SCHEDULER_SLOT_H

#include "scheduler/core_state.h"

/* The slot with this index and epoch, NULL: not held (any more). */
struct slot *slot_find(const struct core *core, slot_index index, uint32_t epoch);

/* INPUT_SLOT_GAINED. The index must be free. */
void slot_gain(struct core *core, slot_index index, const struct input_slot_gained *gained, struct now now);

/* INPUT_SLOT_LOST: frees it and releases its rows, but for those of the checkpoint under way. */
void slot_lose(struct core *core, struct slot *slot);

/* INPUT_RECORD and INPUT_POSITION. */
void slot_record(struct core *core, struct slot *slot, const struct input_record *record);
void slot_position(struct slot *slot, int64_t offset);

/* Looks whether everything that stood in the partition at the start has been read (R2). */
void slot_look_caught_up(struct slot *slot);

/* C: the least offset that someone who starts with nothing must still read, if what the queues' outlooks say comes true. O(unwritten list +
 * buckets + marks). */
int64_t slot_low_offset(const struct slot *slot);

/* C, and how far is copied forward, may not be greater than this, if nothing else is below `low`: marks and skips (R5), and what dedupe keeps (R10). O(marks + skips). */
int64_t slot_bound(const struct slot *slot, int64_t low);

/* The queue of what is undecided (R10), NULL: the slot has none. */
struct queue *slot_deciding_queue(const struct core *core, const struct slot *slot);

/* Everything undecided below it is done, if what the queues' outlooks say comes true. O(1). */
int64_t slot_decided(const struct core *core, const struct slot *slot);

/* Read or loaded and not done, all queues. */
uint64_t slot_pending(const struct slot *slot);

/* Back-pressure: pauses and resumes reading, all slots, by what is unwritten. */
void slot_pressure(struct core *core);

/* Takes the rows that the committed F covers, and those that were cancelled, out of the unwritten list, but for those of the plan under way, and releases them. O(list). */
void slot_release_done(struct core *core, struct slot *slot);

/* The same, if the list is more than half full: without room on disk they would stay. */
void slot_compact(struct core *core, struct slot *slot);

#endif
