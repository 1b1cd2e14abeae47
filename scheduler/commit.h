/* Commits: what is told to Kafka of a slot's progress (R7, R9), and what its answer changes. */
#ifndef TARRY_SCHEDULER_COMMIT_H
#define TARRY_SCHEDULER_COMMIT_H

#include "scheduler/core_state.h"

/* Room for one commit of every slot, so that what commands point to does not move while they are built. Once in a step, before the first. */
void commit_make_room(struct core *core);

/* Builds the slot's commit and notes it as under way; its C is `low_least` at least (what is copied forward ends below it). NULL: it has nothing new
 * to say. Valid until the next step. */
const struct partition_frontier *commit_build(struct core *core, struct slot *slot, struct now now, int64_t low_least);

/* The same, also when there is nothing new to say: what is written in its transaction needs an owner's word, whatever F says. Never NULL. */
const struct partition_frontier *commit_build_all(struct core *core, struct slot *slot, struct now now);

/* True when the slot may commit now: none of it is under way, and its pause is over or there is hurry. */
bool commit_may(const struct core *core, const struct slot *slot, struct now now);

/* Without exactly_once: a plain commit for every slot that may and has something new to say. */
void commit_turn(struct core *core, struct now now);

/* INPUT_COMMIT_DONE. */
void commit_answered(struct core *core, struct slot *slot, enum commit_result result);

/* The frontier of a slot by what was committed last: for checkpoints. */
void commit_committed_frontier(const struct slot *slot, struct partition_frontier *frontier);

/* The monotonic time at which the slot's next commit may be built, TIME_NEVER: nothing new, or one is under way. */
int64_t commit_deadline(const struct core *core, struct slot *slot);

/* True when the slot has progress that Kafka has not acknowledged. O(queues + buckets). */
bool commit_is_behind(const struct core *core, struct slot *slot);

#endif
