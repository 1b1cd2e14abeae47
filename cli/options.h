/*
 * Flags that every verb with a configuration takes, and loading that configuration with its problems told on stderr.
 *
 *   -c FILE, --config FILE     the file; else what TARRY_CONFIG names; else there is none
 *   --set PATH=VALUE           one value, any number of times
 *   --log-level LEVEL          short for --set log.level=LEVEL
 * Long flags take their value as `--flag VALUE` or `--flag=VALUE`.
 */
#ifndef TARRY_CLI_OPTIONS_H
#define TARRY_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "ops/config.h"

struct options {
    const char *verb; /* for messages: "config check" */
    const char *path; /* NULL: none given */
    struct config_setting *settings;
    size_t setting_count;
    struct config_arena arena;
};

enum options_result {
    OPTIONS_TAKEN,   /* *index stands on the next argument */
    OPTIONS_UNKNOWN, /* not one of ours: nothing was taken */
    OPTIONS_WRONG,   /* ours, and wrong: told on stderr, exit with VERBS_EXIT_USAGE */
};

/* Takes the flag at argv[*index], with its value, if it is one of ours. argv must outlive the options. */
enum options_result options_take(struct options *options, int argc, char **argv, int *index);

/* True when argv[index] is `--name VALUE` or `--name=VALUE`: *value (NULL when it is missing) and *index moves on. For
 * verbs' own flags. */
bool options_value(int argc, char **argv, int *index, const char *name, const char **value);

/* Says that an argument is not understood, and where help is; returns VERBS_EXIT_USAGE. */
int options_usage(const char *verb, const char *argument);

void options_free(struct options *options);

/* What config_load needs, environment and librdkafka's checks included. Borrows from `options`. Use it again for a
 * reload. */
struct config_request options_request(const struct options *options);

/* Loads; tells warnings and errors on stderr. True: *config is the caller's. False: exit with VERBS_EXIT_CONFIG. */
bool options_load(const struct options *options, struct config **config);

/* The same for who does not use all of it: problems whose texts begin so ("http.") are passed over, and what is wrong there
 * has its default or nothing. NULL at the end. */
bool options_load_without(const struct options *options, const char *const *ignored, struct config **config);

/* One line a problem, then how many errors there are. */
void options_print_problems(FILE *file, const struct config_problems *problems);

#endif
