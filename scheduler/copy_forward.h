/*
 * Bounded span (R6): the oldest pending records of a partition are written again to its end, and C passes them in the same transaction.
 *
 * A slot's copy: IDLE -> SCANNING, the rows below a limit are looked up in all buckets, lane by lane -> READY -> SENT, in a transaction with C at the
 * limit -> IDLE. All pending rows below the limit are copied, so C needs to know of none of them. Rows never move between buckets while they
 * are looked up (no checkpoint with splits), or one could be missed.
 */
#ifndef TARRY_SCHEDULER_COPY_FORWARD_H
#define TARRY_SCHEDULER_COPY_FORWARD_H

#include "scheduler/core_state.h"

/* Begins to look up what is to be copied, for every slot whose log is too long or near its retention. */
void copy_forward_turn(struct core *core, struct now now);

/* INPUT_RETENTION. */
void copy_forward_below(struct slot *slot, int64_t offset);

/* INPUT_ROWS of SCAN_COPY. */
void copy_forward_rows(struct core *core, struct slot *slot, const struct input_rows *rows);

/* A slot whose copies may be sent now; NULL: none. */
struct slot *copy_forward_ready(struct core *core, struct now now);

/* Sends them and builds the commit that goes with them. Valid until the next step. */
const struct partition_frontier *copy_forward_send(struct core *core, struct slot *slot, struct now now);

/* The transaction they were sent in has ended. */
void copy_forward_answered(struct core *core, struct slot *slot, const struct input_transaction *answer, struct now now);

/* True while the record may have been moved by a transaction that has not ended: it must not be sent. */
static inline bool copy_forward_blocks(const struct slot *slot, int64_t offset)
{
    return slot->copy.state == COPY_SENT && offset < slot->copy.below;
}

/* The monotonic time at which copy_forward_turn has something to begin, TIME_NEVER: nothing. */
int64_t copy_forward_deadline(const struct core *core, const struct slot *slot);

/* The slot is given up. */
void copy_forward_lose(struct core *core, struct slot *slot);

#endif
