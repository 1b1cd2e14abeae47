/* `tarry completion`. */
#include "cli/verb_completion.h"

#include <stdio.h>
#include <string.h>

#include "cli/verb_arguments.h"
#include "cli/verbs.h"
#include "ops/config_value.h"

#define SCRIPT_MAX ((size_t)1024 * 1024)

static int print(struct buffer *script)
{
    struct span text = buffer_span(script);
    bool done = !script->full && fwrite(text.data, 1, text.length, stdout) == text.length && fflush(stdout) == 0;
    buffer_free(script);
    if (!done) {
        fprintf(stderr, "tarry completion: the output could not be written whole\n");
    }
    return done ? VERBS_EXIT_DONE : VERBS_EXIT_FAILED;
}

int verb_completion_run(int argc, char **argv)
{
    static const struct {
        const char *shell;
        void (*make)(struct buffer *script);
    } shells[] = {{"bash", verb_completion_bash}, {"zsh", verb_completion_zsh}, {"fish", verb_completion_fish}};
    struct verb_arguments arguments;
    struct buffer script = buffer_new(SCRIPT_MAX);
    if (!verb_arguments_read(verb_table_find("completion"), argc, argv, &arguments)) {
        return VERBS_EXIT_USAGE;
    }
    int code = verb_arguments_words(&arguments, 1, "the shell (bash, zsh or fish)") ? VERBS_EXIT_DONE : VERBS_EXIT_USAGE;
    const char *name = code == VERBS_EXIT_DONE ? arguments.words[0] : "";
    void (*make)(struct buffer *) = NULL;
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        make = strcmp(shells[i].shell, name) == 0 ? shells[i].make : make;
    }
    if (make != NULL) {
        make(&script);
        code = print(&script);
    } else if (code == VERBS_EXIT_DONE) {
        code = verb_arguments_wrong(arguments.verb, "%s is no shell that it is made for: bash, zsh or fish", config_value_show(name).text);
    }
    verb_arguments_free(&arguments);
    return code;
}
