#include "cli/verb_help.h"

#include <stdio.h>
#include <string.h>

#include "cli/verbs.h"
#include "ops/config_near.h"
#include "ops/config_value.h"

#define PAGE_MAX ((size_t)64 * 1024)
#define NAME_COLUMN 12
#define HALF_COLUMN 38 /* of the overview's left half */
#define FLAG_COLUMN 28 /* a longer flag pushes its meaning to the right */
#define FLAG_SIZE 64
#define SHARED_WHOLE 4 /* a group of more flags is named without their arguments */

static void pad_to(struct buffer *page, size_t start, size_t column)
{
    while (page->length - start < column) {
        buffer_add_text(page, " ");
    }
}

static void add_brief(struct buffer *page, const struct verb *verb)
{
    size_t start = page->length;
    buffer_add_text(page, verb_table_word(verb));
    pad_to(page, start, NAME_COLUMN);
    buffer_add_text(page, verb->brief);
}

static size_t count_children(const struct verb *parent)
{
    size_t count = 0;
    while (verb_table_child_at(parent, count) != NULL) {
        count++;
    }
    return count;
}

static void add_verbs_in_two_columns(struct buffer *page)
{
    size_t lines = (count_children(NULL) + 1) / 2;
    for (size_t i = 0; i < lines; i++) {
        size_t start = page->length;
        buffer_add_text(page, "  ");
        add_brief(page, verb_table_child_at(NULL, i));
        const struct verb *right = verb_table_child_at(NULL, i + lines);
        if (right != NULL) {
            pad_to(page, start, HALF_COLUMN + 2);
            add_brief(page, right);
        }
        buffer_add_text(page, "\n");
    }
}

void verb_help_overview(struct buffer *page)
{
    buffer_add_text(page, "tarry: holds Kafka records until their time, then delivers them\n\n");
    add_verbs_in_two_columns(page);
    buffer_add_text(page, "\n"
                          "  tarry schedule -t orders --in 10m --value hello      then: tarry list\n"
                          "\n"
                          "Flags and an example of each: tarry VERB --help. Shared flags: tarry help server\n"
                          "serve, config and dlq read the configuration: -c FILE, else TARRY_CONFIG.\n"
                          "The others ask a daemon: --server URL, else TARRY_SERVER; --token-file FILE.\n"
                          "Output: tables on a terminal, JSON lines when piped; -o json|jsonl|table.\n"
                          "Exit: 0 done, 1 failed, 2 usage, 3 partly or not found, 4 not let in,\n"
                          "69 not reachable, 78 bad configuration. Manual: tarry(1), tarry.yaml(5).\n");
}

static void write_flag(const struct verb_flag *flag, char text[FLAG_SIZE])
{
    char letter[8] = "";
    if (flag->letter != '\0') {
        (void)snprintf(letter, sizeof letter, "-%c, ", flag->letter);
    }
    (void)snprintf(text, FLAG_SIZE, "%s%s%s%s", letter, flag->name, flag->argument == NULL ? "" : " ", flag->argument == NULL ? "" : flag->argument);
}

static size_t widest(const struct verb_flag *flags, size_t count)
{
    size_t width = 0;
    char text[FLAG_SIZE];
    for (size_t i = 0; i < count; i++) {
        write_flag(&flags[i], text);
        width = strlen(text) > width ? strlen(text) : width;
    }
    return width < FLAG_COLUMN ? width : FLAG_COLUMN;
}

static void add_flags(struct buffer *page, const struct verb_flag *flags, size_t count)
{
    size_t width = widest(flags, count);
    char text[FLAG_SIZE];
    for (size_t i = 0; i < count; i++) {
        size_t start = page->length;
        write_flag(&flags[i], text);
        buffer_add_format(page, "  %s", text);
        pad_to(page, start, width + 2);
        buffer_add_format(page, "  %s\n", flags[i].meaning);
    }
}

/* As short as it can be said: "-o json|jsonl|table", "--state" of a group with many flags. */
static void write_short(const struct verb_group *group, const struct verb_flag *flag, char text[FLAG_SIZE])
{
    bool argument = flag->argument != NULL && group->flag_count <= SHARED_WHOLE;
    if (flag->letter != '\0') {
        (void)snprintf(text, FLAG_SIZE, "-%c%s%s", flag->letter, argument ? " " : "", argument ? flag->argument : "");
    } else {
        (void)snprintf(text, FLAG_SIZE, "%s%s%s", flag->name, argument ? " " : "", argument ? flag->argument : "");
    }
}

/* "Daemon: --server URL, --token-file FILE", broken at the edge. */
static void add_shared(struct buffer *page, const struct verb_group *group)
{
    size_t start = page->length;
    char text[FLAG_SIZE];
    buffer_add_format(page, "  %s:", group->title);
    for (size_t i = 0; i < group->flag_count; i++) {
        write_short(group, &group->flags[i], text);
        bool last = i + 1 == group->flag_count;
        if (page->length - start + strlen(text) + 2 > VERB_HELP_COLUMNS) {
            buffer_add_text(page, "\n   ");
            start = page->length - 3;
        }
        buffer_add_format(page, " %s%s", text, last ? "\n" : ",");
    }
}

static void add_indented(struct buffer *page, const char *lines)
{
    while (*lines != '\0') {
        size_t length = strcspn(lines, "\n");
        buffer_add_format(page, "  %.*s\n", (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

static void add_children(struct buffer *page, const struct verb *parent)
{
    const struct verb *child = NULL;
    for (size_t i = 0; (child = verb_table_child_at(parent, i)) != NULL; i++) {
        buffer_add_text(page, "  ");
        add_brief(page, child);
        buffer_add_text(page, "\n");
    }
}

void verb_help_verb(const struct verb *verb, struct buffer *page)
{
    bool has_flags = verb->flag_count > 0 || verb->groups != 0;
    buffer_add_format(page, "tarry %s%s%s%s%s\n%s.\n", verb->name, verb->run == NULL ? " VERB" : "", has_flags ? " [FLAG...]" : "", verb->arguments[0] == '\0' ? "" : " ",
                      verb->arguments, verb->meaning);
    buffer_add_text(page, has_flags || verb->run == NULL ? "\n" : "");
    add_children(page, verb);
    add_flags(page, verb->flags, verb->flag_count);
    for (size_t i = 0; i < VERB_GROUPS; i++) {
        if ((verb->groups & (1U << i)) != 0) {
            add_shared(page, verb_table_group((enum verb_group_index)i));
        }
    }
    buffer_add_format(page, "%s%s\n", verb->text[0] == '\0' ? "" : "\n", verb->text);
    add_indented(page, verb->example);
}

void verb_help_group(const struct verb_group *group, struct buffer *page)
{
    buffer_add_format(page, "%s flags: %s\n\n", group->title, group->meaning);
    add_flags(page, group->flags, group->flag_count);
    buffer_add_format(page, "\n%s", group->text);
}

static int print(struct buffer *page)
{
    struct span text = buffer_span(page);
    bool done = fwrite(text.data, 1, text.length, stdout) == text.length && fflush(stdout) == 0;
    buffer_free(page);
    return done ? VERBS_EXIT_DONE : VERBS_EXIT_FAILED;
}

int verb_help_print(const struct verb *verb)
{
    struct buffer page = buffer_new(PAGE_MAX);
    if (verb == NULL) {
        verb_help_overview(&page);
    } else {
        verb_help_verb(verb, &page);
    }
    return print(&page);
}

int verb_help_unknown(const struct verb *parent, const char *name)
{
    if (parent == NULL && name[0] == '-') {
        fprintf(stderr, "tarry: %s stands before the verb; flags come after it, as in `tarry list --server HOST:PORT`\n", config_value_show(name).text);
        return VERBS_EXIT_USAGE;
    }
    size_t distance;
    const struct verb *child = NULL;
    const char *above = parent == NULL ? "" : parent->name;
    const char *blank = parent == NULL ? "" : " ";
    for (size_t i = 0; (child = verb_table_child_at(parent, i)) != NULL; i++) {
        if (config_near_is(name, verb_table_word(child), &distance)) {
            fprintf(stderr, "tarry%s%s: there is no verb %s; did you mean %s? See `tarry%s%s --help`\n", blank, above, config_value_show(name).text,
                    verb_table_word(child), blank, above);
            return VERBS_EXIT_USAGE;
        }
    }
    fprintf(stderr, "tarry%s%s: there is no verb %s; see `tarry%s%s --help`\n", blank, above, config_value_show(name).text, blank, above);
    return VERBS_EXIT_USAGE;
}

static bool print_group(const char *name, int *code)
{
    for (size_t i = 0; i < VERB_GROUPS; i++) {
        const struct verb_group *group = verb_table_group((enum verb_group_index)i);
        if (strcmp(group->name, name) == 0) {
            struct buffer page = buffer_new(PAGE_MAX);
            verb_help_group(group, &page);
            *code = print(&page);
            return true;
        }
    }
    return false;
}

int verb_help_run(int argc, char **argv)
{
    const struct verb *verb = NULL;
    int code = VERBS_EXIT_DONE;
    if (argc == 2 && print_group(argv[1], &code)) {
        return code;
    }
    if (argc == 2 && strcmp(argv[0], "help") == 0 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        return verb_help_print(verb_table_find("help"));
    }
    for (int i = 1; i < argc; i++) {
        const struct verb *parent = verb;
        verb = verb_table_child(parent, argv[i]);
        if (verb == NULL) {
            return verb_help_unknown(parent, argv[i]);
        }
    }
    return verb_help_print(verb);
}
