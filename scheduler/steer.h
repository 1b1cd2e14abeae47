/* Steering one schedule (R4): a person moves it to another time, or has it wait. */
#ifndef TARRY_SCHEDULER_STEER_H
#define TARRY_SCHEDULER_STEER_H

#include "scheduler/core_state.h"

/* INPUT_STEER. */
void steer_take(struct core *core, struct slot *slot, const struct input_steer *input);

#endif
