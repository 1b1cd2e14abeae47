/* Verbs about tarry itself. */
#include "cli/verb_table_part.h"
#include "cli/verbs.h"

static const struct verb VERBS[] = {
    {"completion", verb_completion_run, "bash|zsh|fish", "for your shell", "Prints a script that completes tarry's verbs and flags in a shell", VERB_TABLE_NONE, 0,
     "bash: ~/.local/share/bash-completion/completions/tarry, or source it in .bashrc.\n"
     "zsh: a file _tarry in a folder of $fpath, before compinit.\n"
     "fish: ~/.config/fish/completions/tarry.fish.\n",
     "tarry completion bash > ~/.local/share/bash-completion/completions/tarry\n"
     "tarry completion fish > ~/.config/fish/completions/tarry.fish\n"},
    {"version", version_run, "", "what this is", "Prints the version of tarry, of its libraries, and of the formats it writes", VERB_TABLE_NONE, 0, "",
     "tarry version\n"},
    {"help", verb_help_run, "[VERB...]", "more about a verb", "Says more about a verb, or about the flags that verbs share", VERB_TABLE_NONE, 0,
     "Pages of flags: configuration, server, output, letters.\n",
     "tarry help schedule\n"
     "tarry help server\n"},
};

const struct verb_table_part verb_table_about = {VERBS, sizeof VERBS / sizeof VERBS[0]};
