/* What leaves: taking due records from the queues in turn, and what becomes of each delivery. */
#ifndef TARRY_SCHEDULER_DELIVERY_H
#define TARRY_SCHEDULER_DELIVERY_H

#include "scheduler/core_state.h"

/* Sends again what failed, then takes what is due, all queues in turn, at most step_records_max. True: there may be more. */
bool delivery_turn(struct core *core, struct now now);

/* INPUT_DELIVERED, INPUT_DELIVERY_FAILED and INPUT_SINK_FULL. One that names nothing in flight is let pass. */
void delivery_report(struct core *core, struct slot *slot, enum input_kind kind, const struct input_delivery *report, struct now now);

/* The wall clock at which the queue has something to take, TIME_NEVER: nothing, or it is due already and waits for something else. */
int64_t delivery_next_due(const struct core *core, const struct slot *slot, struct queue *queue);

/* The monotonic time at which the lane's rate lets something of the queue go that is due, TIME_NEVER: it keeps nothing back. */
int64_t delivery_rate_at(const struct core *core, const struct slot *slot, struct queue *queue);

/* The monotonic time at which a held lane tries again, TIME_NEVER: none, or its reports are still to come. */
int64_t delivery_retry_at(const struct queue *queue);

#endif
