/*
 * Re-appends that are written or were, and are not read back yet (R4): whose they are, so that a schedule counts as pending in between.
 *
 * A table for each slot, by id: the offset of the record that moved, its root, and where its re-append stands at the latest (unknown while its transaction is
 * under way). What core_decide has accepted stands here from then on. An entry goes when the re-append is read, when its transaction was aborted, and
 * counts no more once everything below its end was read; that of another root of the same id is none of its business. An id has one entry, the latest: one
 * that is accepted, or moves, while another one of its id does is younger, and a mark dooms the other. Owner thread; O(1) on the average, but for what says otherwise.
 */
#ifndef TARRY_SCHEDULER_REAPPEND_H
#define TARRY_SCHEDULER_REAPPEND_H

#include "scheduler/core_state.h"

#define REAPPEND_END_UNKNOWN INT64_MAX

/* INPUT_REAPPENDED: it stands in the transaction that is open or ending. Nothing when there is none: then it is not there. */
void reappend_note(const struct core *core, struct slot *slot, const struct input_reappended *input);

/* The transaction has ended: where what was noted in it stands, or that it is not there. Of each slot that is held. O(what was noted, and the slot's marks). */
void reappend_answered(struct slot *slot, const struct input_transaction *answer);

/* core_decide has accepted the record of this root (R10), or takes that back. */
void reappend_accept(const struct core *core, struct slot *slot, struct record_id id, int64_t root);
void reappend_drop(struct slot *slot, struct record_id id, int64_t root);

/* A re-append of this id and root was read. An event has one at a time, so it is the one that moved. */
void reappend_read(struct slot *slot, struct record_id id, int64_t root);

/* What is moving with this id, NULL: nothing. Borrowed until the next call that changes the table. */
const struct id_entry *reappend_find(const struct core *core, const struct slot *slot, struct record_id id);

/* Aborts if noted ones and table do not agree. O(everything). */
void reappend_validate(const struct core *core, const struct slot *slot);

/* The slot is given up. */
void reappend_free(struct slot *slot);

#endif
