/*
 * Transactions (R9): deliveries with exactly_once, and copies forward and postponed records in both modes, together with the frontiers that say they are done.
 *
 * One at a time: NONE -> OPEN, records are taken into it -> ENDING, the shell was told to end it -> NONE when the end is known for certain. What
 * the frontiers of an ending transaction say holds only if it commits; so a queue keeps its records in the FIFO until then, and after an abort
 * all of them go again, in the same order.
 */
#ifndef TARRY_SCHEDULER_TRANSACTION_H
#define TARRY_SCHEDULER_TRANSACTION_H

#include "scheduler/core_state.h"

/* True when this queue may send now, as far as transactions are concerned: without exactly_once always. A queue that has failed goes alone, so
 * that its next failure aborts nobody else's deliveries. */
bool transaction_admits(const struct core *core, const struct queue *queue);

/* How many more records may go into it. */
uint32_t transaction_room(const struct core *core);

/* A delivery goes into it; the first one opens it. Nothing without exactly_once. */
void transaction_note(struct core *core, const struct queue *queue, struct now now);

/* Something of it failed or is not ours any more: it will be aborted. Nothing unless it is open. */
void transaction_poison(struct core *core);

/* True when deliveries of the slot's queues stand in a transaction that has not ended. */
bool transaction_holds(const struct core *core, const struct slot *slot);

/* Before deliveries: records that are steered, or ready to be copied forward, get every other transaction, however much is due. Nothing without exactly_once. */
void transaction_copy_turn(struct core *core, struct now now);

/* Ends the open transaction when nothing more is due or it is full; with exactly_once begins an empty one for frontiers alone; begins one for
 * records to be copied forward, or at least once for postponed ones. `hungry`: more was due than this step could take. */
void transaction_turn(struct core *core, struct now now, bool hungry);

/* INPUT_TRANSACTION_DONE. One of another number is let pass. */
void transaction_answered(struct core *core, const struct input_transaction *answer, struct now now);

/* The monotonic time at which the open one ends at the latest, or the next may begin after some that were aborted; TIME_NEVER: nothing to wait for. */
int64_t transaction_deadline(const struct core *core);

void transaction_free(struct core *core);

/* Where the re-appends of the slot end, 0: nothing of it was written, or it was aborted. O(slots of the answer). */
int64_t transaction_copied_end(const struct input_transaction *answer, const struct slot *slot);

#endif
