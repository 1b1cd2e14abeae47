/* Re-appends that are written or were, and are not read back yet (R4): whose they are, so that a schedule counts as pending in between. */
#ifndef TARRY_SCHEDULER_REAPPEND_H
#define TARRY_SCHEDULER_REAPPEND_H

#include "scheduler/core_state.h"

/* INPUT_REAPPENDED: it stands in the transaction that is open or ending. */
void reappend_note(struct slot *slot, const struct input_reappended *input);

#endif
