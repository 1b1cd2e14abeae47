/* See lane_limit.h. */
#include "scheduler/lane_limit.h"

void lane_limit_pause(struct core *core, struct slot *slot, const struct input_lane_pause *input)
{
    (void)core;
    (void)slot;
    (void)input;
}
