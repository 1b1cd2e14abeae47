/*
 * Steering one schedule (R4): a person moves it to another time, or has it wait.
 *
 * Of a slot, up to STEER_MAX under way: READY, the event does not fire any more -> SENT, its re-append stands in the transaction that is ending, with the slot's
 * F of now -> over. After a commit the old event ends at once, as a cancelled one does: its row is erased with the next checkpoint. After an abort it is READY
 * again, twice; the third time it goes alone, so that one that can never be written fails only itself.
 *
 * F does not cover what was moved: its time may be far off. Whoever comes next has both records, and the re-append, read, displaces the older one (R5): so nothing may fire
 * before it is read. R2 alone does not see to that, as the transaction's marker may reach the partition later than the group. Therefore F says `moving` until the re-append
 * was read back, and who finds that reads up to the high watermark first.
 *
 * A control that is read meanwhile wins. All by the owner thread.
 */
#ifndef TARRY_SCHEDULER_STEER_H
#define TARRY_SCHEDULER_STEER_H

#include "scheduler/core_state.h"

/* INPUT_STEER. Answered at once unless the event can be moved. O(STEER_MAX + FIFO). */
void steer_take(struct core *core, struct slot *slot, const struct input_steer *input);

/* INPUT_STEER of a slot that is not held any more: STEER_STOPPED. */
void steer_refuse(struct core *core, const struct input *input);

/* What was gained says that re-appends are not read back: nothing fires before the high watermark of now. */
void steer_gain(struct slot *slot, const struct input_slot_gained *gained);

/* Once a step, after all that may get hold of an event: answers those that are not sent and cannot be any more: the slot is being given up, or something else moves the
 * event from now on. */
void steer_turn(struct core *core);

/* The event at this offset was ended by a record that was just read; `own`: by a re-append of the same root, else by a control. O(STEER_MAX). */
void steer_overtaken(struct core *core, struct slot *slot, int64_t offset, bool own);

/* Events of the slot stand in a copy forward that is sent, or postponed ones: where they end. */
void steer_note_copies(struct slot *slot, int64_t end);

/* True while F has to say that re-appends are not read back. */
bool steer_is_moving(const struct slot *slot);

/* True when the record at this offset is being steered; O(STEER_MAX). */
bool steer_holds(const struct slot *slot, int64_t offset);

/* The same, cheap where nothing is: it must not be sent. */
static inline bool steer_blocks(const struct slot *slot, int64_t offset)
{
    return slot->steer.count > 0 && steer_holds(slot, offset);
}

/* A slot that has something to send now; NULL: none. O(slots). */
struct slot *steer_ready(const struct core *core, struct now now);

/* Sends all that is ready and builds the commit that goes with it. Never NULL; valid until the next step. */
const struct partition_frontier *steer_send(struct core *core, struct slot *slot, struct now now);

/* The transaction has ended. */
void steer_answered(struct core *core, struct slot *slot, const struct input_transaction *answer, struct now now);

/* The monotonic time at which a pause ends for something that is ready, TIME_NEVER: nothing waits for that. */
int64_t steer_deadline(const struct core *core, const struct slot *slot);

/* The slot is given up: all are answered. */
void steer_lose(struct core *core, struct slot *slot);

/* Takes the item at this place out, with an answer. */
void steer_answer(struct core *core, struct slot *slot, uint32_t place, enum steer_result result);

#endif
