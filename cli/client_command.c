#include "cli/client_command.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/api_client_path.h"
#include "cli/json_line.h"
#include "cli/verbs.h"
#include "ops/clock.h"

#define TIMEOUT_MOST_MS INT64_C(600000)
#define PARAMETER_SIZE 32

static bool has_group(const struct client_command *command, enum verb_group_index group)
{
    return (command->verb->groups & (1U << group)) != 0;
}

/* The table of verbs has checked that it is one of the three. */
static enum output_format format_of(const char *name)
{
    if (name == NULL) {
        return OUTPUT_AUTO;
    }
    return strcmp(name, "json") == 0 ? OUTPUT_JSON : strcmp(name, "jsonl") == 0 ? OUTPUT_JSONL : OUTPUT_TABLE;
}

int client_command_begin(struct client_command *command, const char *name, int argc, char **argv)
{
    *command = (struct client_command){.verb = verb_table_find(name)};
    assert(command->verb != NULL);
    if (!verb_arguments_read(command->verb, argc, argv, &command->arguments)) {
        return VERBS_EXIT_USAGE;
    }
    command->output = output_new(name, clock_wall().ms);
    if (has_group(command, VERB_GROUP_OUTPUT)) {
        command->output.format = format_of(verb_arguments_value(&command->arguments, "--output"));
    }
    output_settle(&command->output);
    return VERBS_EXIT_DONE;
}

int client_command_connect_within(struct client_command *command, int64_t timeout_ms)
{
    struct api_client_options options = {
        .verb = command->verb->name,
        .server = verb_arguments_value(&command->arguments, "--server"),
        .token_file = verb_arguments_value(&command->arguments, "--token-file"),
        .timeout_ms = timeout_ms,
        .follow = verb_arguments_has(&command->arguments, "--follow"),
    };
    return api_client_open(&options, &command->client);
}

int client_command_connect(struct client_command *command)
{
    int64_t timeout_ms = 0;
    if (!verb_arguments_duration(&command->arguments, "--timeout", 1, TIMEOUT_MOST_MS, API_CLIENT_TIMEOUT_MS, &timeout_ms)) {
        return VERBS_EXIT_USAGE;
    }
    return client_command_connect_within(command, timeout_ms);
}

int client_command_end(struct client_command *command, int code)
{
    bool list = code == VERBS_EXIT_DONE || command->output.items > 0; /* a failure alone is no empty list */
    bool done = command->output.format == OUTPUT_JSON && !list ? true : output_end(&command->output);
    api_client_close(command->client);
    verb_arguments_free(&command->arguments);
    return code == VERBS_EXIT_DONE && !done ? VERBS_EXIT_FAILED : code;
}

int client_command_run(const char *name, int argc, char **argv, int (*run)(struct client_command *command))
{
    struct client_command command;
    int code = client_command_begin(&command, name, argc, argv);
    return code == VERBS_EXIT_DONE ? client_command_end(&command, run(&command)) : code;
}

bool client_command_is_table(const struct client_command *command)
{
    return command->output.format == OUTPUT_TABLE;
}

void client_command_json(struct client_command *command, const struct cJSON *object)
{
    struct buffer line = buffer_new(API_CLIENT_ANSWER_MAX * 6);
    json_line_write(object, command->output.terminal, &line);
    output_item(&command->output, buffer_span(&line));
    buffer_free(&line);
}

void client_command_query(const struct client_command *command, const char *const *flags, struct buffer *path)
{
    char parameter[PARAMETER_SIZE];
    for (size_t i = 0; flags != NULL && flags[i] != NULL; i++) {
        (void)snprintf(parameter, sizeof parameter, "%s", flags[i] + 2);
        for (char *at = strchr(parameter, '-'); at != NULL; at = strchr(at, '-')) {
            *at = '_';
        }
        api_client_path_query(path, parameter, verb_arguments_value(&command->arguments, flags[i]));
    }
}

int client_command_get(struct client_command *command, const char *path, const char *const *flags, struct api_client_answer *answer)
{
    *answer = api_client_answer_new();
    int code = client_command_connect(command);
    if (code != VERBS_EXIT_DONE) {
        return code;
    }
    struct buffer whole = buffer_new(API_CLIENT_PATH_MAX);
    buffer_add_text(&whole, path);
    client_command_query(command, flags, &whole);
    const char *text = api_client_path_text(&whole);
    if (text == NULL) {
        client_command_note(command, "the flags are longer than a daemon takes");
        code = VERBS_EXIT_USAGE;
    } else {
        code = api_client_get(command->client, text, answer);
    }
    buffer_free(&whole);
    return code;
}

void client_command_note(const struct client_command *command, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "tarry %s: ", command->verb->name);
    (void)vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}
