#include "cli/dlq_command.h"

#include "cli/verbs.h"
#include "ops/clock.h"

struct dlq_command dlq_command_new(const char *verb)
{
    int64_t now_ms = clock_wall().ms;
    return (struct dlq_command){dlq_context_new(verb), dlq_filter_new(verb, now_ms), output_new(verb, now_ms), true};
}

static enum options_result
take_one(struct dlq_command *command, int argc, char **argv, int *index, dlq_command_take *take, void *owner)
{
    enum options_result result = take == NULL ? OPTIONS_UNKNOWN : take(owner, argc, argv, index);
    result = result == OPTIONS_UNKNOWN ? dlq_context_take(&command->context, argc, argv, index) : result;
    result = result == OPTIONS_UNKNOWN && command->takes_filter ? dlq_filter_take(&command->filter, argc, argv, index) : result;
    return result == OPTIONS_UNKNOWN ? output_take(&command->output, argc, argv, index) : result;
}

int dlq_command_flags(struct dlq_command *command, int argc, char **argv, dlq_command_take *take, void *owner)
{
    for (int i = 1; i < argc;) {
        enum options_result result = take_one(command, argc, argv, &i, take, owner);
        if (result != OPTIONS_TAKEN) {
            return result == OPTIONS_UNKNOWN ? dlq_context_usage(&command->context, argv[i]) : VERBS_EXIT_USAGE;
        }
    }
    return VERBS_EXIT_DONE;
}

int dlq_command_open(struct dlq_command *command)
{
    output_settle(&command->output);
    return dlq_context_open(&command->context);
}

void dlq_command_free(struct dlq_command *command)
{
    dlq_filter_free(&command->filter);
    dlq_context_close(&command->context);
}

void dlq_command_say_none(const struct dlq_command *command)
{
    if (command->output.terminal) {
        dlq_context_say(&command->context, "%s", dlq_filter_is_all(&command->filter) ? "no letters" : "no letter matches");
    }
}
