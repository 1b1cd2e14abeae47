/* See steer.h. */
#include "scheduler/steer.h"

#include "scheduler/command_list.h"

void steer_take(struct core *core, struct slot *slot, const struct input_steer *input)
{
    command_list_add(&core->commands, COMMAND_STEERED, slot)->as.steered = (struct command_steered){.token = input->token, .result = STEER_NOT_FOUND};
}
