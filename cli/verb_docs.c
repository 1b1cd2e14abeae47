#include "cli/verb_docs.h"

#include <string.h>

#include "cli/verb_help.h"
#include "cli/verb_table.h"

/* "... ends. Another begins": mdoc wants a line for each sentence. */
static bool ends_sentence(const char *at)
{
    return (at[0] == '.' || at[0] == ':') && at[1] == ' ' && at[2] >= 'A' && at[2] <= 'Z';
}

/* Text within mdoc: a backslash is \e; a line that begins with a dot or quote is no macro. Prose has a line for each sentence. */
static void add_escaped(struct buffer *mdoc, const char *text, bool prose)
{
    bool start = true;
    for (; *text != '\0'; text++) {
        if (prose && ends_sentence(text)) {
            buffer_add(mdoc, text, 1);
            text++;
            buffer_add_text(mdoc, "\n");
            start = true;
            continue;
        }
        if (start && (*text == '.' || *text == '\'')) {
            buffer_add_text(mdoc, "\\&");
        }
        if (*text == '\\') {
            buffer_add_text(mdoc, "\\e");
        } else if (*text == '-') {
            buffer_add_text(mdoc, "\\-"); /* a minus that can be copied */
        } else {
            buffer_add(mdoc, text, 1);
        }
        start = *text == '\n';
    }
}

/* One quoted argument of a macro. */
static void add_argument(struct buffer *mdoc, const char *text)
{
    buffer_add_text(mdoc, "\"");
    for (; *text != '\0'; text++) {
        buffer_add_format(mdoc, "%s%c", *text == '"' ? "\"" : "", *text);
    }
    buffer_add_text(mdoc, "\"");
}

static void add_flag(struct buffer *mdoc, const struct verb_flag *flag)
{
    buffer_add_text(mdoc, ".It ");
    if (flag->letter != '\0') {
        buffer_add_format(mdoc, "Fl %c , ", flag->letter);
    }
    buffer_add_format(mdoc, "Fl Fl %s", flag->name + 2);
    if (flag->argument != NULL) {
        buffer_add_text(mdoc, " Ar ");
        add_argument(mdoc, flag->argument);
    }
    buffer_add_text(mdoc, "\n");
    add_escaped(mdoc, flag->meaning, true);
    buffer_add_text(mdoc, ".\n");
}

static void add_flags(struct buffer *mdoc, const struct verb_flag *flags, size_t count)
{
    if (count == 0) {
        return;
    }
    buffer_add_text(mdoc, ".Bl -tag -width Ds -compact\n");
    for (size_t i = 0; i < count; i++) {
        add_flag(mdoc, &flags[i]);
    }
    buffer_add_text(mdoc, ".El\n");
}

/* "It takes the flags of the groups Daemon and Output." */
static void add_groups(struct buffer *mdoc, unsigned groups)
{
    const char *between = "Also flags of: ";
    for (size_t i = 0; i < VERB_GROUPS; i++) {
        if ((groups & (1U << i)) != 0) {
            buffer_add_format(mdoc, "%s%s", between, verb_table_group((enum verb_group_index)i)->name);
            between = ", ";
        }
    }
    buffer_add_text(mdoc, groups == 0 ? "" : ".\n");
}

static void add_example(struct buffer *mdoc, const char *example)
{
    buffer_add_text(mdoc, ".Bd -literal -offset indent\n");
    add_escaped(mdoc, example, false);
    buffer_add_text(mdoc, ".Ed\n");
}

static void add_verb(struct buffer *mdoc, const struct verb *verb)
{
    buffer_add_format(mdoc, ".Ss tarry %s%s%s%s\n", verb->name, verb->flag_count > 0 || verb->groups != 0 ? " [flag ...]" : "", verb->arguments[0] == '\0' ? "" : " ",
                      verb->arguments);
    add_escaped(mdoc, verb->meaning, true);
    buffer_add_text(mdoc, ".\n");
    add_escaped(mdoc, verb->text, true);
    buffer_add_text(mdoc, verb->flag_count == 0 ? "" : ".Pp\n");
    add_flags(mdoc, verb->flags, verb->flag_count);
    buffer_add_text(mdoc, verb->groups == 0 || verb->flag_count == 0 ? "" : ".Pp\n");
    add_groups(mdoc, verb->groups);
    add_example(mdoc, verb->example);
}

/* `tarry dlq`: its verbs by name, and where they are described. */
static void add_letters(struct buffer *mdoc, const struct verb *verb)
{
    const struct verb *child = NULL;
    buffer_add_format(mdoc, ".Ss tarry %s verb\n%s.\nIts verbs are described in\n.Xr tarry-dlq 1 :\n.Bl -tag -width Ds -compact\n", verb->name, verb->meaning);
    for (size_t i = 0; (child = verb_table_child_at(verb, i)) != NULL; i++) {
        buffer_add_format(mdoc, ".It Cm %s\n%s.\n", verb_table_word(child), child->meaning);
    }
    buffer_add_text(mdoc, ".El\n");
}

/* An empty line parts paragraphs. */
static void add_paragraphs(struct buffer *mdoc, const char *text)
{
    const char *empty = strstr(text, "\n\n");
    while (empty != NULL) {
        struct buffer part = buffer_new(mdoc->most);
        buffer_add(&part, text, (size_t)(empty - text) + 1);
        buffer_add(&part, "", 1);
        add_escaped(mdoc, (const char *)part.data, true);
        buffer_add_text(mdoc, ".Pp\n");
        buffer_free(&part);
        text = empty + 2;
        empty = strstr(text, "\n\n");
    }
    add_escaped(mdoc, text, true);
}

void verb_docs_mdoc(struct buffer *mdoc)
{
    buffer_add_text(mdoc, ".Sh COMMANDS\n");
    for (size_t i = 0; i < verb_table_count(); i++) {
        const struct verb *verb = verb_table_at(i);
        if (strcmp(verb->name, "dlq") == 0) {
            add_letters(mdoc, verb);
        } else if (verb->run != NULL && strncmp(verb->name, "dlq ", 4) != 0) {
            add_verb(mdoc, verb);
        }
    }
    buffer_add_text(mdoc, ".Sh FLAGS OF SEVERAL COMMANDS\n");
    for (size_t i = 0; i < VERB_GROUPS; i++) {
        const struct verb_group *group = verb_table_group((enum verb_group_index)i);
        if (i == VERB_GROUP_LETTERS) {
            continue; /* in tarry-dlq(1) */
        }
        buffer_add_format(mdoc, ".Ss %s: %s\n", group->name, group->meaning);
        add_flags(mdoc, group->flags, group->flag_count);
        buffer_add_text(mdoc, ".Pp\n");
        add_paragraphs(mdoc, group->text);
    }
}

/* Moves the page into a section "tarry ABOUT NAME". */
static void add_page(struct buffer *markdown, const char *about, const char *name, struct buffer *page)
{
    buffer_add_format(markdown, "\n## tarry %s%s\n\n```\n", about, name);
    buffer_add_span(markdown, buffer_span(page));
    buffer_add_text(markdown, "```\n");
    buffer_clear(page);
}

void verb_docs_markdown(struct buffer *markdown)
{
    struct buffer page = buffer_new(markdown->most);
    buffer_add_text(markdown, "<!-- Made from the table of verbs (cli/verb_table*.c). Change it there, then run the tests with TARRY_UPDATE_DOCS=1. -->\n"
                              "# The command line\n\n"
                              "What `tarry --help` and `tarry VERB --help` say. The manual pages as text: [tarry(1)](man/tarry.1.txt), [tarry-dlq(1)](man/tarry-dlq.1.txt),\n"
                              "[tarry.yaml(5)](man/tarry.yaml.5.txt).\n");
    verb_help_overview(&page);
    add_page(markdown, "", "--help", &page);
    for (size_t i = 0; i < verb_table_count(); i++) {
        const struct verb *verb = verb_table_at(i);
        verb_help_verb(verb, &page);
        add_page(markdown, "", verb->name, &page);
    }
    for (size_t i = 0; i < VERB_GROUPS; i++) {
        const struct verb_group *group = verb_table_group((enum verb_group_index)i);
        verb_help_group(group, &page);
        add_page(markdown, "help ", group->name, &page);
    }
    buffer_free(&page);
}
