/* Controls (R5): cancels, replacements and re-appends act on what is pending with their id. */
#ifndef TARRY_SCHEDULER_CONTROL_H
#define TARRY_SCHEDULER_CONTROL_H

#include "scheduler/core_state.h"

/* A record with an id was read: what is pending with that id is ended, as far as this one is newer. False: a newer control has ended this one already
 * (a re-append), or it was a cancel: there is no event to keep. */
bool control_take(struct core *core, struct slot *slot, const struct input_record *record);

/* The event was kept: it is found by its id until it is written. */
void control_keep(struct slot *slot, const struct input_record *record);

/* The row leaves the unwritten list: its id is found in the store from now on, or nowhere. */
void control_forget(struct slot *slot, const struct unwritten_row *row);

/* A delivery failed or was aborted: it is to go again, unless its event was cancelled meanwhile. */
void control_failed(struct slot *slot, struct queue *queue, struct taken *item);

/* Takes what was cancelled, or moved by C, off the heads of wheel and heap. */
void control_drop_ended(struct core *core, struct slot *slot, struct queue *queue);

/* After a checkpoint: forgets what neither the store nor the window has any more. */
void control_sweep(struct slot *slot);

#endif
