/* `tarry demo`: the flags, and the play from start to end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/demo_play.h"
#include "cli/options.h"
#include "cli/verbs.h"

#define COUNT_DEFAULT 36
#define COUNT_MOST 500

static bool read_count(const char *text, int *count)
{
    char *end = NULL;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || number < 1 || number > COUNT_MOST) {
        fprintf(stderr, "tarry demo: --count is '%s': give a whole number from 1 to %d\n", text, COUNT_MOST);
        return false;
    }
    *count = (int)number;
    return true;
}

/* The flags that take a value. */
static const char *const valued[] = {"--kafka", "--nats-server", "--count"};

/* Takes the flag at argv[*index] and its value (NULL: missing), and moves on; NULL: it is none of them. */
static const char *take_valued(int argc, char **argv, int *index, const char **value)
{
    for (size_t i = 0; i < sizeof valued / sizeof valued[0]; i++) {
        if (options_value(argc, argv, index, valued[i], value)) {
            return valued[i];
        }
    }
    return NULL;
}

static bool check_program(const char *path)
{
    if (access(path, X_OK) != 0) {
        fprintf(stderr, "tarry demo: --nats-server is '%s': %s; give the path of the program nats-server, or leave it out\n", path, strerror(errno));
        return false;
    }
    return true;
}

/* Takes the argument at argv[*index] and moves on; false: told on stderr. */
static bool take(int argc, char **argv, int *index, struct demo_play_options *options)
{
    const char *argument = argv[*index];
    const char *value = NULL;
    if (strcmp(argument, "--keep") == 0) {
        options->keep = true;
        *index += 1;
        return true;
    }
    const char *flag = take_valued(argc, argv, index, &value);
    if (flag == NULL) {
        (void)options_usage("demo", argument);
        return false;
    }
    if (value == NULL || value[0] == '\0') {
        fprintf(stderr, "tarry demo: %s needs a value\n", flag);
        return false;
    }
    if (strcmp(flag, "--kafka") == 0) {
        options->kafka = value;
        return true;
    }
    if (strcmp(flag, "--nats-server") == 0) {
        options->nats_server = value;
        return check_program(value);
    }
    return read_count(value, &options->count);
}

int demo_run(int argc, char **argv)
{
    struct demo_play_options options = {.count = COUNT_DEFAULT};
    for (int i = 1; i < argc;) {
        if (!take(argc, argv, &i, &options)) {
            return VERBS_EXIT_USAGE;
        }
    }
    return demo_play_run(&options) ? VERBS_EXIT_DONE : VERBS_EXIT_FAILED;
}
