/* Completion for bash: one function that knows nothing but words; it needs no bash-completion package. */
#include <string.h>

#include "cli/verb_completion.h"
#include "cli/verb_table.h"

/* The words on the line are split at '=' by bash itself: `--state=wa` is three words. */
static const char HEAD[] = "# bash completion for tarry: made by `tarry completion bash`\n"
                           "_tarry() {\n"
                           "    local word=${COMP_WORDS[COMP_CWORD]} before='' verb='' i verbs='' flags='' valued='' words='' files=''\n"
                           "    COMPREPLY=()\n"
                           "    ((COMP_CWORD == 0)) || before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                           "    if [ \"$word\" = '=' ]; then\n"
                           "        word=''\n"
                           "    elif [ \"$before\" = '=' ] && ((COMP_CWORD > 1)); then\n"
                           "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
                           "    fi\n"
                           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                           "        case \"$verb ${COMP_WORDS[i]}\" in\n";

static const char MIDDLE[] = "        esac\n"
                             "    done\n"
                             "    case $verb in\n";

static const char TAIL[] = "    esac\n"
                           "    case \" $valued \" in\n"
                           "    *\" $before \"*)\n"
                           "        flags='' verbs='' words='' files=''\n"
                           "        case \"$verb $before\" in\n";

static const char END[] = "        esac\n"
                          "        ;;\n"
                          "    esac\n"
                          "    case $word in\n"
                          "    -*) mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$word\") ;;\n"
                          "    *)\n"
                          "        mapfile -t COMPREPLY < <(compgen -W \"$verbs $words\" -- \"$word\")\n"
                          "        if [ -n \"$files\" ]; then\n"
                          "            compopt -o filenames 2>/dev/null\n"
                          "            mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$word\")\n"
                          "        fi\n"
                          "        ;;\n"
                          "    esac\n"
                          "}\n"
                          "complete -F _tarry tarry\n";

static void add_words(struct buffer *script, const char *argument)
{
    char word[VERB_TABLE_WORD_SIZE];
    const char *at = argument;
    for (bool first = true; verb_table_choice(&at, word); first = false) {
        buffer_add_format(script, "%s%s", first ? "" : " ", word);
    }
}

static void add_children(struct buffer *script, const struct verb *parent)
{
    const struct verb *child = NULL;
    for (size_t i = 0; (child = verb_table_child_at(parent, i)) != NULL; i++) {
        buffer_add_format(script, "%s%s", i == 0 ? "" : " ", verb_table_word(child));
    }
}

/* "--limit -n" of all flags, or of those with a value. */
static void add_flags(struct buffer *script, const struct verb *verb, bool valued)
{
    const struct verb_flag *flag = NULL;
    for (size_t i = 0; (flag = verb_table_flag_at(verb, i)) != NULL; i++) {
        if (valued && flag->argument == NULL) {
            continue;
        }
        buffer_add_format(script, "%s ", flag->name);
        if (flag->letter != '\0') {
            buffer_add_format(script, "-%c ", flag->letter);
        }
    }
}

static void add_verb(struct buffer *script, const struct verb *verb)
{
    buffer_add_format(script, "    '%s')\n        flags='", verb->name);
    add_flags(script, verb, false);
    buffer_add_text(script, "--help' valued='");
    add_flags(script, verb, true);
    buffer_add_text(script, "' words='");
    add_words(script, verb->arguments);
    if (strcmp(verb->name, "help") == 0) {
        add_children(script, NULL);
    }
    buffer_add_format(script, "' files='%s' verbs='", verb_table_is_file(verb->arguments) ? "yes" : "");
    if (verb->run == NULL) {
        add_children(script, verb);
    }
    buffer_add_text(script, "'\n        ;;\n");
}

/* What a flag's value may be. */
static void add_values(struct buffer *script, const struct verb *verb)
{
    const struct verb_flag *flag = NULL;
    for (size_t i = 0; (flag = verb_table_flag_at(verb, i)) != NULL; i++) {
        char word[VERB_TABLE_WORD_SIZE];
        const char *at = flag->argument == NULL ? "" : flag->argument;
        bool file = verb_table_is_file(flag->argument);
        if (!file && !verb_table_choice(&at, word)) {
            continue;
        }
        buffer_add_format(script, "        '%s %s'", verb->name, flag->name);
        if (flag->letter != '\0') {
            buffer_add_format(script, " | '%s -%c'", verb->name, flag->letter);
        }
        buffer_add_text(script, ") words='");
        add_words(script, flag->argument);
        buffer_add_format(script, "' files='%s' ;;\n", file ? "yes" : "");
    }
}

void verb_completion_bash(struct buffer *script)
{
    buffer_add_text(script, HEAD);
    for (size_t i = 0; i < verb_table_count(); i++) {
        const char *name = verb_table_at(i)->name;
        buffer_add_format(script, "        '%s%s') verb='%s' ;;\n", strchr(name, ' ') == NULL ? " " : "", name, name);
    }
    buffer_add_text(script, MIDDLE);
    buffer_add_text(script, "    '')\n        flags='--help --version' verbs='");
    add_children(script, NULL);
    buffer_add_text(script, "'\n        ;;\n");
    for (size_t i = 0; i < verb_table_count(); i++) {
        add_verb(script, verb_table_at(i));
    }
    buffer_add_text(script, TAIL);
    for (size_t i = 0; i < verb_table_count(); i++) {
        add_values(script, verb_table_at(i));
    }
    buffer_add_text(script, END);
}
