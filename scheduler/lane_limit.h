/*
 * What holds a lane back by a person's will: a pause, which F keeps, and a rate.
 *
 * The pause is of one queue. Where a lane is paused R1 is taken with budget 0: nothing is taken, its cut goes on with reading, and it adopts a pair when nothing of it is due (R7).
 * The rate is of a lane, all slots together: a token bucket on the monotonic clock, which holds what the lane may send in 100 ms, and one delivery at least.
 */
#ifndef TARRY_SCHEDULER_LANE_LIMIT_H
#define TARRY_SCHEDULER_LANE_LIMIT_H

#include "scheduler/core_state.h"

/* INPUT_LANE_PAUSE. A lane that the core does not have is let pass. The next commit says it. */
void lane_limit_pause(struct core *core, struct slot *slot, const struct input_lane_pause *input);

/* The lanes that were paused when the slot was gained. */
void lane_limit_gain(struct slot *slot, const struct input_slot_gained *gained);

/* True while a person has paused the queue's lane. One behind a catch-up boundary is paused with its lane. O(1). */
static inline bool lane_limit_is_paused(const struct queue *queue)
{
    return (queue->own != NULL ? queue->own : queue)->paused;
}

/* A lane was added or changed: where its rate is another one it begins with a full bucket. */
void lane_limit_begin(struct core *core, lane_index lane);

/* Once a step: fills the buckets up to now. O(lanes). */
void lane_limit_turn(struct core *core, struct now now);

/* How many deliveries the rate lets through now; without a rate UINT32_MAX. */
uint32_t lane_limit_admits(const struct core *core, lane_index lane);

/* One is sent, for the first time or again. */
void lane_limit_spend(struct core *core, lane_index lane);

/* The monotonic time at which the rate lets the next one through; the lane must have a rate. At or before the last step's: it does now. */
int64_t lane_limit_next_at(const struct core *core, lane_index lane);

#endif
