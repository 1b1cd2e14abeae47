/* Commits: what is told to Kafka of a slot's progress (R7, R9), and what its answer changes. */
#ifndef TARRY_SCHEDULER_COMMIT_H
#define TARRY_SCHEDULER_COMMIT_H

#include "scheduler/core_state.h"

/* Builds a commit for every slot that has something new to say, may commit now, and has none under way. */
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
