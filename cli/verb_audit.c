/* `tarry audit`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/memory.h"
#include "cli/client_command.h"
#include "cli/event_view.h"
#include "cli/output_table.h"
#include "cli/verbs.h"

#define LIMIT_DEFAULT 50

static const struct output_column COLUMNS[] = {
    {"at", true, 0}, {"who", false, 32}, {"action", false, 0}, {"result", false, 32}, {"what", false, 0},
};

static int by_time(const void *a, const void *b)
{
    const cJSON *const *first = a;
    const cJSON *const *second = b;
    int64_t first_ms = api_client_answer_whole(*first, "at_ms", 0);
    int64_t second_ms = api_client_answer_whole(*second, "at_ms", 0);
    return first_ms < second_ms ? 1 : first_ms > second_ms ? -1 : 0;
}

static void show_row(const struct client_command *command, struct output_table *table, const cJSON *item)
{
    char at[OUTPUT_TIME_SIZE];
    struct buffer what = buffer_new(EVENT_VIEW_MAX);
    output_time(&command->output, api_client_answer_whole(item, "at_ms", -1), at);
    bool has_what = event_view_id(item, &what);
    if (!has_what) {
        buffer_clear(&what);
        has_what = api_client_answer_bytes(item, "target", &what) || api_client_answer_bytes(item, "job", &what);
    }
    const struct span cells[] = {span_of_text(at), span_of_text(api_client_answer_text(item, "actor")), span_of_text(api_client_answer_text(item, "action")),
                                 span_of_text(api_client_answer_text(item, "result")), event_view_cell(has_what, &what)};
    output_table_row(table, cells);
    buffer_free(&what);
}

/* Newest first, whatever order they came in. */
static void print_all(struct client_command *command, const cJSON *items, int64_t limit)
{
    size_t count = 0;
    const cJSON *each = NULL;
    const cJSON **sorted = memory_new((size_t)cJSON_GetArraySize(items), sizeof *sorted);
    cJSON_ArrayForEach(each, items)
    {
        sorted[count++] = each;
    }
    qsort(sorted, count, sizeof *sorted, by_time);
    count = limit > 0 && (size_t)limit < count ? (size_t)limit : count;
    struct output_table *table = client_command_is_table(command) ? output_table_new(&command->output, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (table == NULL) {
            client_command_json(command, sorted[i]);
        } else {
            show_row(command, table, sorted[i]);
        }
    }
    if (table != NULL) {
        output_table_end(table);
    }
    free(sorted);
}

static int run(struct client_command *command)
{
    struct api_client_answer answer;
    int64_t limit = 0;
    if (!verb_arguments_number(&command->arguments, "--limit", 0, 1000000, LIMIT_DEFAULT, &limit)) {
        return VERBS_EXIT_USAGE;
    }
    int code = client_command_get(command, "/api/v1/audit", NULL, &answer);
    if (code == VERBS_EXIT_DONE) {
        print_all(command, api_client_answer_member(answer.json, "items"), limit);
    }
    api_client_answer_free(&answer);
    return code;
}

int verb_audit_run(int argc, char **argv)
{
    return client_command_run("audit", argc, argv, run);
}
