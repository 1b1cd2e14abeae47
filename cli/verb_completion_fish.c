/* Completion for fish: a line for each verb, flag and choice. */
#include <string.h>

#include "cli/verb_completion.h"
#include "cli/verb_table.h"

static void add_quoted(struct buffer *script, const char *text)
{
    buffer_add_text(script, "'");
    for (; *text != '\0'; text++) {
        buffer_add_format(script, "%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
    }
    buffer_add_text(script, "'");
}

/* The words of an argument, as one list for -a. False: there are none. */
static bool add_words(struct buffer *script, const char *argument)
{
    char word[VERB_TABLE_WORD_SIZE];
    const char *at = argument;
    bool any = false;
    while (verb_table_choice(&at, word)) {
        buffer_add_format(script, "%s%s", any ? " " : " -a '", word);
        any = true;
    }
    buffer_add_text(script, any ? "'" : "");
    return any;
}

static void add_head(struct buffer *script, const char *verb)
{
    buffer_add_format(script, "complete -c tarry -n \"__tarry_is '%s'\"", verb);
}

static void add_flag(struct buffer *script, const struct verb *verb, const struct verb_flag *flag)
{
    add_head(script, verb->name);
    buffer_add_format(script, " -l %s", flag->name + 2);
    if (flag->letter != '\0') {
        buffer_add_format(script, " -s %c", flag->letter);
    }
    if (flag->argument != NULL) {
        buffer_add_text(script, verb_table_is_file(flag->argument) ? " -r -F" : " -x");
        (void)add_words(script, flag->argument);
    }
    buffer_add_text(script, " -d ");
    add_quoted(script, flag->meaning);
    buffer_add_text(script, "\n");
}

static void add_children(struct buffer *script, const char *verb, const struct verb *parent)
{
    const struct verb *child = NULL;
    for (size_t i = 0; (child = verb_table_child_at(parent, i)) != NULL; i++) {
        add_head(script, verb);
        buffer_add_format(script, " -a %s -d ", verb_table_word(child));
        add_quoted(script, child->brief);
        buffer_add_text(script, "\n");
    }
}

static void add_verb(struct buffer *script, const struct verb *verb)
{
    const struct verb_flag *flag = NULL;
    if (verb->run == NULL || strcmp(verb->name, "help") == 0) {
        add_children(script, verb->name, verb->run == NULL ? verb : NULL);
    }
    for (size_t i = 0; (flag = verb_table_flag_at(verb, i)) != NULL; i++) {
        add_flag(script, verb, flag);
    }
    struct buffer words = buffer_new(4096);
    if (add_words(&words, verb->arguments)) {
        add_head(script, verb->name);
        buffer_add_span(script, buffer_span(&words));
        buffer_add_text(script, "\n");
    }
    buffer_free(&words);
    if (verb_table_is_file(verb->arguments)) {
        add_head(script, verb->name);
        buffer_add_text(script, " -F\n");
    }
}

void verb_completion_fish(struct buffer *script)
{
    buffer_add_text(script, "# fish completion for tarry: made by `tarry completion fish`\n"
                            "function __tarry_is\n"
                            "    set -l verb ''\n"
                            "    for word in (commandline -opc)[2..-1]\n"
                            "        switch \"$verb $word\"\n");
    for (size_t i = 0; i < verb_table_count(); i++) {
        const char *name = verb_table_at(i)->name;
        buffer_add_format(script, "            case '%s%s'\n                set verb '%s'\n", strchr(name, ' ') == NULL ? " " : "", name, name);
    }
    buffer_add_text(script, "        end\n"
                            "    end\n"
                            "    test \"$verb\" = \"$argv[1]\"\n"
                            "end\n"
                            "complete -c tarry -f\n"
                            "complete -c tarry -l help -s h -d 'more about a verb'\n");
    add_children(script, "", NULL);
    for (size_t i = 0; i < verb_table_count(); i++) {
        add_verb(script, verb_table_at(i));
    }
}
