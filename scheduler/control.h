/* Controls (R5): cancels, replacements and re-appends act on what is pending with their id. */
#ifndef TARRY_SCHEDULER_CONTROL_H
#define TARRY_SCHEDULER_CONTROL_H

#include "scheduler/core_state.h"

/* A record with an id was read: what is pending with that id is ended, as far as this one is newer, and the outcome told as soon as it is known. False: a newer
 * control has ended this one already (a re-append), or it was a cancel: there is no event to keep. */
bool control_take(struct core *core, struct slot *slot, const struct input_record *record);

/* A conditional record was read (R10). False: it is a copy of one that a newer control has ended. */
bool control_take_conditional(struct core *core, struct slot *slot, const struct input_record *record);

/* True when an event of this id is pending; `found` as in input_record. O(1) on the average for what is not due yet, else O(FIFO). */
bool control_is_pending(const struct slot *slot, struct record_id id, const struct stored_event *found);

/* The event was kept: it is found by its id until it is written. */
void control_keep(struct slot *slot, const struct input_record *record);

/* The row leaves the unwritten list: its id is found in the store from now on, or nowhere. */
void control_forget(struct slot *slot, const struct unwritten_row *row);

/* A delivery failed or was aborted: it is to go again, unless its event was cancelled meanwhile. */
void control_failed(struct core *core, struct slot *slot, struct queue *queue, struct taken *item);

/* At least once its delivery has succeeded, and the record was to go on as a re-append: one that was cancelled meanwhile does not. True: that is so, and it
 * is ended. */
bool control_stops_chain(struct core *core, struct slot *slot, struct queue *queue, struct taken *item, enum copy_why why);

/* It is to be written again no more, or not now: cancelled meanwhile it ends, else it goes into `state`. */
void control_taken_back(struct slot *slot, struct queue *queue, struct taken *item, enum taken_state state);

/* Takes what was cancelled, or moved by C, off the heads of wheel and heap. */
void control_drop_ended(struct core *core, struct slot *slot, struct queue *queue);

/* After a checkpoint: forgets what neither the store nor the window has any more. */
void control_sweep(struct slot *slot);

/* The pending event of this id, as far as it is known: read lately, or `found` in the store. False: there is none. What is done, and no commit says so yet, may be found
 * all the same. O(1) on the average. */
bool control_find(const struct slot *slot, struct record_id id, const struct stored_event *found, struct stored_event *event);

#endif
