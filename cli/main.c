/* The one binary: finds the verb and lets it run. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/verbs.h"
#include "ops/log_output.h"
#include "ops/config_near.h"

struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
};

static const struct verb VERBS[] = {
    {"serve", serve_run},     {"demo", demo_run},         {"config", config_verb_run},
    {"dlq", dlq_run},         {"version", version_run},   {"--version", version_run},
    {"-V", version_run},      {"help", help_run},         {"--help", help_run},
    {"-h", help_run},
};

#define VERB_COUNT (sizeof VERBS / sizeof VERBS[0])

static const struct verb *find(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (strcmp(VERBS[i].name, name) == 0) {
            return &VERBS[i];
        }
    }
    return NULL;
}

static int unknown(const char *name)
{
    size_t distance;
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (config_near_is(name, VERBS[i].name, &distance)) {
            fprintf(stderr, "tarry: there is no verb '%s'; did you mean %s? See `tarry help`\n", name, VERBS[i].name);
            return VERBS_EXIT_USAGE;
        }
    }
    fprintf(stderr, "tarry: there is no verb '%s'; see `tarry help`\n", name);
    return VERBS_EXIT_USAGE;
}

/* `tarry serve --help` is `tarry help serve`. */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    log_output_secure_standard_fds();
    if (argc < 2) {
        char *help[] = {argv[0], NULL};
        (void)help_run(1, help);
        return VERBS_EXIT_USAGE;
    }
    const struct verb *verb = find(argv[1]);
    if (verb == NULL) {
        return unknown(argv[1]);
    }
    bool helps_itself = verb->run == help_run || verb->run == dlq_run;
    if (!helps_itself && asks_for_help(argc - 1, argv + 1)) {
        char help[] = "help";
        char *arguments[] = {help, argv[1], NULL};
        return help_run(2, arguments);
    }
    return verb->run(argc - 1, argv + 1);
}
