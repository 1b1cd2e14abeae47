/*
 * Outcomes: what becomes of controls (R5), and of what a rule has let fall (R10), told once each, when it is final.
 *
 * A control that ends an event is answered at once. One whose event is under way waits with it in the FIFO (`untold`), a verdict on an undecided record too. One that
 * finds nothing, while a re-append or something undecided may still come up that its mark ends, waits with its mark (marks_wait).
 */
#ifndef TARRY_SCHEDULER_OUTCOME_H
#define TARRY_SCHEDULER_OUTCOME_H

#include "scheduler/core_state.h"

/* Ended by a cancel, or by an event that replaces. */
enum outcome outcome_of(bool cancel);

/* COMMAND_OUTCOME. */
void outcome_tell(struct core *core, const struct slot *slot, const struct command_outcome *outcome);

/* Nothing was pending: that is told to cancels. */
void outcome_not_found(struct core *core, const struct slot *slot, struct waiting_control control);

/* The record was let fall by dedupe. */
void outcome_duplicate(struct core *core, const struct slot *slot, const struct input_record *record);

/* The mark of this id has met something of this root: who waits for that is answered. */
void outcome_met(struct core *core, struct slot *slot, struct record_id id, int64_t root, struct key event);

/* What has become of a record that a control has met while it was under way. Nothing when it was told already. */
void outcome_settle(struct core *core, struct slot *slot, struct taken *item, enum outcome outcome);

/* It is delivered, or decided, for good: a control that came meanwhile was too late, and what was decided is told. */
void outcome_delivered(struct core *core, struct slot *slot, struct taken *item);

/* Between two steps: this was decided of the conditional record of this root, by the control of its mark (NULL: none). It is told when its delivery is known;
 * what waits for the mark is told with the next step. O(log FIFO). */
void outcome_judge(struct core *core, struct slot *slot, struct record_id id, int64_t root, enum verdict verdict, const struct id_entry *mark);

/* It is to be decided once more. */
void outcome_forget(struct slot *slot, struct taken *item);

/* A commit has proved so much (marks_proved). Controls that found nothing know now. */
void outcome_proved(struct core *core, struct slot *slot);

/* INPUT_READING_STOPPED: what waited for something further up the log waits no more. */
void outcome_stop(struct core *core, struct slot *slot);

#endif
