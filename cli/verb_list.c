/* `tarry list`. */
#include <stdio.h>
#include <string.h>

#include "cli/event_pages.h"
#include "cli/event_view.h"
#include "cli/output_table.h"
#include "cli/verbs.h"

#define LIMIT_DEFAULT 50
#define COLUMNS_ONCE 5

/* What comes again has one column more. */
static const struct output_column COLUMNS[] = {
    {"id", false, 40}, {"due", true, 0}, {"state", false, 0}, {"target", false, 32}, {"source", false, 0},
};
static const struct output_column COLUMNS_AGAIN[] = {
    {"id", false, 40}, {"next", true, 0}, {"state", false, 0}, {"target", false, 32}, {"source", false, 0}, {"repeats", false, 0},
};

struct list {
    struct client_command command;
    struct output_table *table; /* NULL: JSON */
};

static void show_row(struct list *list, const struct cJSON *event)
{
    char due[OUTPUT_TIME_SIZE];
    struct buffer id = buffer_new(EVENT_VIEW_MAX);
    struct buffer source = buffer_new(EVENT_VIEW_MAX);
    struct buffer repeats = buffer_new(EVENT_VIEW_MAX);
    output_time(&list->command.output, event_view_due_ms(event), due);
    bool has_id = event_view_id(event, &id);
    bool has_source = event_view_place(api_client_answer_member(event, "source"), &source);
    bool again = event_view_recurrence(event, &repeats);
    const struct span cells[] = {
        event_view_cell(has_id, &id),
        span_of_text(due),
        span_of_text(api_client_answer_text(event, "state")),
        span_of_text(api_client_answer_text(api_client_answer_member(event, "target"), "topic")),
        event_view_cell(has_source, &source),
        event_view_cell(again, &repeats),
    };
    output_table_row(list->table, cells);
    buffer_free(&id);
    buffer_free(&source);
    buffer_free(&repeats);
}

static bool visit(void *context, const struct cJSON *event)
{
    struct list *list = context;
    if (list->table == NULL) {
        client_command_json(&list->command, event);
    } else {
        show_row(list, event);
    }
    return ferror(stdout) == 0;
}

/* For a person: that there are none, or more. Programs get it by -o and exit codes alone; the cursor is for both. */
static void say_rest(const struct list *list, const struct event_pages *pages)
{
    if (pages->seen == 0 && list->table != NULL) {
        client_command_note(&list->command, "%s", event_pages_chosen(&list->command) ? "nothing pending matches" : "nothing is pending");
    } else if (pages->cursor.length > 0) {
        client_command_note(&list->command, "there are more: go on with --cursor %s, or say --limit 0", (const char *)pages->cursor.data);
    }
}

static int run(struct list *list)
{
    struct event_pages pages = {.command = &list->command, .visit = visit, .context = list, .cursor = buffer_new(64 * 1024)};
    const char *cursor = verb_arguments_value(&list->command.arguments, "--cursor");
    bool again = verb_arguments_has(&list->command.arguments, "--schedules");
    pages.payload = verb_arguments_has(&list->command.arguments, "--payload");
    if (!verb_arguments_number(&list->command.arguments, "--limit", 0, INT64_C(1000000000), LIMIT_DEFAULT, &pages.limit)) {
        return VERBS_EXIT_USAGE;
    }
    int code = client_command_connect(&list->command);
    if (code != VERBS_EXIT_DONE) {
        return code;
    }
    if (cursor != NULL && cursor[0] != '\0') {
        buffer_add(&pages.cursor, cursor, strlen(cursor) + 1);
    }
    if (client_command_is_table(&list->command)) {
        list->table = output_table_new(&list->command.output, again ? COLUMNS_AGAIN : COLUMNS, again ? COLUMNS_ONCE + 1 : COLUMNS_ONCE);
    }
    code = event_pages_run(&pages);
    if (list->table != NULL) {
        output_table_end(list->table);
    }
    if (code == VERBS_EXIT_DONE) {
        say_rest(list, &pages);
    }
    buffer_free(&pages.cursor);
    return code;
}

int verb_list_run(int argc, char **argv)
{
    struct list list = {.table = NULL};
    int code = client_command_begin(&list.command, "list", argc, argv);
    return code == VERBS_EXIT_DONE ? client_command_end(&list.command, run(&list)) : code;
}
