/* `tarry demo`: the flags, and the play from start to end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    bool is_kafka = options_value(argc, argv, index, "--kafka", &value);
    if (!is_kafka && !options_value(argc, argv, index, "--count", &value)) {
        (void)options_usage("demo", argument);
        return false;
    }
    if (value == NULL || value[0] == '\0') {
        fprintf(stderr, "tarry demo: %s needs a value\n", is_kafka ? "--kafka" : "--count");
        return false;
    }
    if (is_kafka) {
        options->kafka = value;
        return true;
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
