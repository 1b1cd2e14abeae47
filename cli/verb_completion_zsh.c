/* Completion for zsh: one _arguments for each verb. */
#include <string.h>

#include "cli/verb_completion.h"
#include "cli/verb_table.h"

/* Within single quotes, in an _arguments spec: quotes end and begin again, brackets and colons are escaped. */
static void add_quoted(struct buffer *script, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            buffer_add_text(script, "'\\''");
        } else {
            buffer_add_format(script, "%s%c", strchr("[]:\\", *text) == NULL ? "" : "\\", *text);
        }
    }
}

/* ":message:action" of an argument. */
static void add_action(struct buffer *script, const char *argument)
{
    char word[VERB_TABLE_WORD_SIZE];
    const char *at = argument;
    bool any = false;
    buffer_add_text(script, ":");
    add_quoted(script, argument);
    if (verb_table_is_file(argument)) {
        buffer_add_text(script, ":_files");
        return;
    }
    buffer_add_text(script, ":");
    while (verb_table_choice(&at, word)) {
        buffer_add_format(script, "%s%s", any ? " " : "(", word);
        any = true;
    }
    buffer_add_text(script, any ? ")" : " ");
}

/* '(-n --limit)'{-n+,--limit=}'[at most so many]:N: ' */
static void add_flag(struct buffer *script, const struct verb_flag *flag)
{
    bool value = flag->argument != NULL;
    buffer_add_text(script, " \\\n                ");
    if (flag->letter != '\0' && flag->repeats) {
        buffer_add_format(script, "'*'{-%c,%s%s}'[", flag->letter, flag->name, value ? "=" : "");
    } else if (flag->letter != '\0') {
        buffer_add_format(script, "'(-%c %s)'{-%c,%s%s}'[", flag->letter, flag->name, flag->letter, flag->name, value ? "=" : "");
    } else {
        buffer_add_format(script, "'%s%s%s[", flag->repeats ? "*" : "", flag->name, value ? "=" : "");
    }
    add_quoted(script, flag->meaning);
    buffer_add_text(script, "]");
    if (value) {
        add_action(script, flag->argument);
    }
    buffer_add_text(script, "'");
}

static void add_children(struct buffer *script, const struct verb *parent)
{
    const struct verb *child = NULL;
    buffer_add_text(script, "            words_here=(");
    for (size_t i = 0; (child = verb_table_child_at(parent, i)) != NULL; i++) {
        buffer_add_format(script, "%s'%s:", i == 0 ? "" : " ", verb_table_word(child));
        add_quoted(script, child->brief);
        buffer_add_text(script, "'");
    }
    buffer_add_text(script, ")\n            _describe verb words_here\n");
}

static void add_verb(struct buffer *script, const struct verb *verb)
{
    const struct verb_flag *flag = NULL;
    buffer_add_format(script, "        '%s')\n", verb->name);
    if (verb->run == NULL || strcmp(verb->name, "help") == 0) {
        add_children(script, verb->run == NULL ? verb : NULL);
    } else {
        buffer_add_text(script, "            _arguments -s -S");
        for (size_t i = 0; (flag = verb_table_flag_at(verb, i)) != NULL; i++) {
            add_flag(script, flag);
        }
        buffer_add_text(script, " \\\n                '--help[more about this verb]'");
        if (verb->arguments[0] != '\0') {
            buffer_add_text(script, " \\\n                '*");
            add_action(script, verb->arguments);
            buffer_add_text(script, "'");
        }
        buffer_add_text(script, "\n");
    }
    buffer_add_text(script, "            ;;\n");
}

void verb_completion_zsh(struct buffer *script)
{
    buffer_add_text(script, "#compdef tarry\n"
                            "# zsh completion for tarry: made by `tarry completion zsh`\n"
                            "_tarry() {\n"
                            "    local verb='' i taken=1\n"
                            "    local -a words_here\n"
                            "    for ((i = 2; i < CURRENT; i++)); do\n"
                            "        case \"$verb ${words[i]}\" in\n");
    for (size_t i = 0; i < verb_table_count(); i++) {
        const char *name = verb_table_at(i)->name;
        buffer_add_format(script, "            '%s%s') verb='%s' taken=$i ;;\n", strchr(name, ' ') == NULL ? " " : "", name, name);
    }
    /* _arguments is to see the verb's word as its command */
    buffer_add_text(script, "        esac\n"
                            "    done\n"
                            "    ((taken > 1)) && words=(\"${(@)words[taken, -1]}\") && ((CURRENT -= taken - 1))\n"
                            "    case $verb in\n"
                            "        '')\n");
    add_children(script, NULL);
    buffer_add_text(script, "            ;;\n");
    for (size_t i = 0; i < verb_table_count(); i++) {
        add_verb(script, verb_table_at(i));
    }
    buffer_add_text(script, "    esac\n"
                            "}\n"
                            "if [ \"$funcstack[1]\" = _tarry ]; then\n"
                            "    _tarry \"$@\"\n"
                            "else\n"
                            "    compdef _tarry tarry\n"
                            "fi\n");
}
