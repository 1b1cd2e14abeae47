/* The one binary: finds the verb and lets it run. */
#include <string.h>

#include "cli/verb_help.h"
#include "cli/verb_table.h"
#include "cli/verbs.h"
#include "ops/log_output.h"

static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

/* `tarry --version` is `tarry version`. */
static const char *spelled_out(const char *name)
{
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        return "version";
    }
    return is_help(name) ? "help" : name;
}

/* `tarry list --help` is `tarry help list`. What stands behind -- is no flag, and what a flag takes is its value: `schedule --value -h` is no question. */
static bool asks_for_help(const struct verb *verb, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const struct verb_flag *flag = verb_table_flag(verb, argv[i]);
        if (is_help(argv[i])) {
            return true;
        }
        i += flag != NULL && flag->argument != NULL && strchr(argv[i], '=') == NULL;
    }
    return false;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    if (verb->run != verb_help_run && asks_for_help(verb, argc, argv)) {
        return verb_help_print(verb);
    }
    return verb->run(argc, argv);
}

/* argv[0] is the word of `verb`, which has verbs of its own. */
static int run_below(const struct verb *verb, int argc, char **argv)
{
    if (argc < 2) {
        (void)verb_help_print(verb);
        return VERBS_EXIT_USAGE;
    }
    if (is_help(argv[1]) || strcmp(argv[1], "help") == 0) {
        const struct verb *asked = argc > 2 ? verb_table_child(verb, argv[2]) : NULL;
        return verb_help_print(asked == NULL ? verb : asked);
    }
    const struct verb *below = verb_table_child(verb, argv[1]);
    return below == NULL ? verb_help_unknown(verb, argv[1]) : run(below, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    log_output_secure_standard_fds();
    if (argc < 2) {
        (void)verb_help_print(NULL);
        return VERBS_EXIT_USAGE;
    }
    const struct verb *verb = verb_table_child(NULL, spelled_out(argv[1]));
    if (verb == NULL) {
        return verb_help_unknown(NULL, argv[1]);
    }
    return verb->run == NULL ? run_below(verb, argc - 1, argv + 1) : run(verb, argc - 1, argv + 1);
}
