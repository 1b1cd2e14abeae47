/* What holds a lane back by a person's will: a pause, which F keeps, and a rate. */
#ifndef TARRY_SCHEDULER_LANE_LIMIT_H
#define TARRY_SCHEDULER_LANE_LIMIT_H

#include "scheduler/core_state.h"

/* INPUT_LANE_PAUSE. */
void lane_limit_pause(struct core *core, struct slot *slot, const struct input_lane_pause *input);

#endif
