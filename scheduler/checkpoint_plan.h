/* Checkpoints: what is written to the store next (R3), and what its answer changes. One plan is under way at a time. */
#ifndef TARRY_SCHEDULER_CHECKPOINT_PLAN_H
#define TARRY_SCHEDULER_CHECKPOINT_PLAN_H

#include "scheduler/core_state.h"

#define CHECKPOINT_POSITION_MS 10000 /* a checkpoint for the position alone is not worth its sync more often */

/* True when C has passed rows of the bucket: they were copied forward, and would stay in the store until all of it is done. */
bool checkpoint_plan_trims(const struct slot *slot, const struct queue *queue, const struct bucket_stats *stats);

/* Makes a plan and gives COMMAND_CHECKPOINT when the time has come and there is something to write. */
void checkpoint_plan_turn(struct core *core, struct now now);

/* INPUT_CHECKPOINT_DONE. */
void checkpoint_plan_answered(struct core *core, const struct input_checkpoint *answer, struct now now);

/* When checkpoint_plan_turn has something to do: on the monotonic clock (rows, drops) and on the wall clock (splits). */
struct core_deadline checkpoint_plan_deadline(const struct core *core);

/* True when something read has not been written, or is under way: what a shutdown waits for. */
bool checkpoint_plan_is_behind(const struct core *core);

void checkpoint_plan_free(struct core *core);

#endif
