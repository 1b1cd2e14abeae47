/* What every verb that asks a daemon has in common: its arguments, the output, the client. One thread. */
#ifndef TARRY_CLI_CLIENT_COMMAND_H
#define TARRY_CLI_CLIENT_COMMAND_H

#include "cli/api_client.h"
#include "cli/output.h"
#include "cli/verb_arguments.h"

struct cJSON;

struct client_command {
    const struct verb *verb;
    struct verb_arguments arguments;
    struct output output;
    struct api_client *client; /* from client_command_connect on */
};

/* Takes the arguments of this verb ("target list") and settles the output. 0: end it with client_command_end. Else the code to exit with, told. */
int client_command_begin(struct client_command *command, const char *name, int argc, char **argv);

/* All of a verb: begins it, runs `run`, and ends it with the code that this returns. Returns the code to exit with. */
int client_command_run(const char *name, int argc, char **argv, int (*run)(struct client_command *command));

/* After the verb has looked at its arguments: reads address and token. 0, or the code to exit with, told. */
int client_command_connect(struct client_command *command);

/* The same with another timeout than that of --timeout. */
int client_command_connect_within(struct client_command *command, int64_t timeout_ms);

/* Ends output and client, frees. Returns the code, or that the output could not be written whole. */
int client_command_end(struct client_command *command, int code);

/* True when answers are for a person. */
bool client_command_is_table(const struct client_command *command);

/* Prints an object as one item of JSON output. What would upset a terminal is escaped when there is one. */
void client_command_json(struct client_command *command, const struct cJSON *object);

/* Connects, and GETs `path` with the value of each flag named (NULL-ended; NULL: none) as the query parameter of that name, '-' turned into '_' ("--due-from":
 * due_from). 0, or the code, told; answer is to be freed in any case. */
int client_command_get(struct client_command *command, const char *path, const char *const *flags, struct api_client_answer *answer);

/* Appends those parameters to a path. */
void client_command_query(const struct client_command *command, const char *const *flags, struct buffer *path);

/* Says "tarry VERB: ..." on stderr. */
void client_command_note(const struct client_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
