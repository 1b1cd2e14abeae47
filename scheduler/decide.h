/* What is decided of a conditional record (R10): the work of core_decide, which says the contract. */
#ifndef TARRY_SCHEDULER_DECIDE_H
#define TARRY_SCHEDULER_DECIDE_H

#include "scheduler/core_state.h"

/* As core_decide in core.h. */
enum decision decide_conditional(struct core *core, slot_index index, uint32_t epoch, struct record_id id, int64_t root, const struct stored_event *found);

#endif
