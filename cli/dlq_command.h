/* What `tarry dlq` verbs that look at letters have in common: their flags, and getting ready. */
#ifndef TARRY_CLI_DLQ_COMMAND_H
#define TARRY_CLI_DLQ_COMMAND_H

#include "cli/dlq_context.h"
#include "cli/dlq_filter.h"
#include "cli/output.h"

struct dlq_command {
    struct dlq_context context;
    struct dlq_filter filter;
    struct output output;
    bool takes_filter; /* true unless the verb sets it so: flags that choose letters are understood */
};

/* `verb`: "dlq list". Looks at the clock: all times of one command count from here. */
struct dlq_command dlq_command_new(const char *verb);

/* A verb's own flags and arguments; as options_take. */
typedef enum options_result dlq_command_take(void *owner, int argc, char **argv, int *index);

/* Takes the flags of configuration, filter and output, and the verb's own by `take` (first). 0, or the code to exit with, told. */
int dlq_command_flags(struct dlq_command *command, int argc, char **argv, dlq_command_take *take, void *owner);

/* After the flags: loads the configuration, connects, settles the output. 0, or the code to exit with, told. */
int dlq_command_open(struct dlq_command *command);

/* Any state. */
void dlq_command_free(struct dlq_command *command);

/* On a terminal: that there are none. */
void dlq_command_say_none(const struct dlq_command *command);

#endif
