/*
 * Postponing (R4): a record whose letter could not be kept is written again to the end of its partition, due later, and the frontier that passes it says
 * so in the same transaction. Its lane goes on meanwhile. At least once what goes on after its delivery, a recurrence or what was decided (R10), is
 * written in the same way (INPUT_DELIVERED.again): the next occurrence, and not the same one later.
 *
 * In the FIFO: TAKEN_POSTPONED -> TAKEN_MOVED, its copy stands in the transaction that has not ended -> TAKEN_ENDED. At least once such records have
 * transactions of their own, for one slot each, at most every copy_ms; with exactly_once they go with the deliveries among which they stand, those
 * of one slot in each transaction. What an abort says nothing of is given as a letter once more: perhaps there is room for it by now, and perhaps it cannot
 * be written again at all. What was delivered is never made a letter for that, as its next occurrence must come: it waits, and fewer go at once. One that
 * is known to be at fault (INPUT_DELIVERY_FAILED) becomes a letter, and its chain ends there; its neighbours go again at once. Where another topic stands
 * now nothing is written (R8): such a letter is tried until it is kept.
 */
#ifndef TARRY_SCHEDULER_POSTPONE_H
#define TARRY_SCHEDULER_POSTPONE_H

#include "scheduler/core_state.h"

/* It is to be written again: its letter could not be kept, or it is delivered and goes on. False: it cannot be written again either. */
bool postpone_take(const struct slot *slot, struct queue *queue, struct taken *item, enum copy_why why);

/* What cannot be written again goes out as a letter: of a record that goes on after its delivery. */
void postpone_make_letter(struct queue *queue, struct taken *item);

/* A re-append in the transaction under way can never be written. Nothing for one that is not in it. */
void postpone_fault(struct core *core, const struct slot *slot, struct taken *item);

/* After an abort of a copy forward: what was at fault in it is a letter now. */
void postpone_copy_aborted(struct slot *slot);

/* How much later it is due than it was. */
int64_t postpone_due_ms(const struct core *core, struct key key, struct now now);

/* At least once: a slot whose postponed records may be written again now; NULL: none. O(queues). */
struct slot *postpone_ready(const struct core *core, struct now now);

/* At least once, while the slot is given up or all stops: what was delivered and goes on as a re-append stands in front, and no transaction of it has failed: it is
 * written before, else each restart would deliver it once more. (A letter that is not kept waits for the next owner.) O(lanes). */
bool postpone_is_owed(const struct core *core, const struct slot *slot);

/* Sends them, as many as may be, and builds the commit that passes them. Valid until the next step. O(FIFOs). */
const struct partition_frontier *postpone_send_all(struct core *core, struct slot *slot, struct now now);

/* With exactly_once: the one at this position of the FIFO goes into the transaction with what is delivered. False: not into this one, and nothing that stands behind it may either. */
bool postpone_send(struct core *core, struct slot *slot, struct queue *queue, uint32_t position, struct now now);

/* The transaction they were sent in has ended. */
void postpone_answered(struct core *core, struct slot *slot, const struct input_transaction *answer, struct now now);

/* INPUT_READING_STOPPED: what was to be written again is a letter once more. */
void postpone_stop(struct core *core, struct slot *slot);

/* The monotonic time at which a pause ends for something of this queue, TIME_NEVER: nothing waits for one. */
int64_t postpone_deadline(const struct core *core, const struct slot *slot, const struct queue *queue);

/* The slot is given up. */
void postpone_lose(struct core *core, const struct slot *slot);

#endif
