/* `tarry dlq reasons`: what fails how often. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/dlq_command.h"
#include "cli/dlq_scan.h"
#include "cli/dlq_verbs.h"
#include "cli/output_progress.h"
#include "cli/output_table.h"
#include "cli/verbs.h"
#include "dlq/reasons.h"
#include "ops/config_value.h"

#define JSON_MAX ((size_t)64 * 1024)


struct reasons {
    struct dlq_command command;
    struct output_progress progress;
    uint64_t passed;
    enum reasons_by by;
    struct reasons_table table;
    struct buffer name;
};

static bool visit(void *context, const struct dlq_scan_letter *found)
{
    struct reasons *reasons = context;
    buffer_clear(&reasons->name);
    reasons_name(reasons->by, found->letter, &reasons->name);
    reasons_table_add(&reasons->table, buffer_span(&reasons->name), found->letter, found->state);
    return true;
}

static void at(void *context, enum letter_state state, uint64_t sequence)
{
    struct reasons *reasons = context;
    (void)state;
    (void)sequence;
    reasons->passed += 1;
    output_progress_at(&reasons->progress, reasons->passed, NULL);
}

/* ----------------------------------------------------------------------------------------------------- printing */

static void print_table(const struct reasons *reasons)
{
    const struct output_column columns[] = {
        {"count", true, 0}, {"share", true, 0}, {"first", true, 0}, {"last", true, 0}, {"example", false, 0}, {reasons_by_names[reasons->by], false, 0},
    };
    struct output_table *table = output_table_new(&reasons->command.output, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < reasons->table.count; i++) {
        const struct reasons_table_group *group = &reasons->table.groups[i];
        char count[OUTPUT_COUNT_SIZE];
        char share[16];
        char first[OUTPUT_TIME_SIZE];
        char last[OUTPUT_TIME_SIZE];
        output_count(group->count, count);
        (void)snprintf(share, sizeof share, "%.1f%%", 100.0 * (double)group->count / (double)reasons->table.letters);
        output_time(&reasons->command.output, group->first_ms, first);
        output_time(&reasons->command.output, group->last_ms, last);
        const struct span cells[] = {span_of_text(count), span_of_text(share),          span_of_text(first),
                                     span_of_text(last),  span_of_text(group->example), group->name};
        output_table_row(table, cells);
    }
    output_table_end(table);
}

static void print_json(struct reasons *reasons)
{
    struct buffer json = buffer_new(JSON_MAX);
    for (size_t i = 0; i < reasons->table.count; i++) {
        buffer_clear(&json);
        reasons_json(reasons->by, &reasons->table.groups[i], reasons->table.letters, &json);
        output_item(&reasons->command.output, buffer_span(&json));
    }
    buffer_free(&json);
}

static int run(struct reasons *reasons)
{
    struct error error = {ERROR_NONE, ""};
    struct dlq_scan_totals totals = {0};
    struct dlq_scan scan = {.context = &reasons->command.context, .filter = &reasons->command.filter, .visit = visit, .visitor = reasons, .at = at};
    if (!dlq_scan_look(&reasons->command.context, &reasons->command.filter, &scan.bounds, &error)) {
        return dlq_context_failed(&reasons->command.context, &error);
    }
    uint64_t total = scan.bounds.of[LETTER_WAITING].messages + scan.bounds.of[LETTER_PARKED].messages;
    reasons->progress = output_progress_new(reasons->command.output.verb, total);
    bool done = dlq_scan_run(&scan, &totals, &error);
    output_progress_clear(&reasons->progress);
    if (!done) {
        return dlq_context_failed(&reasons->command.context, &error); /* half a count would look like a whole one */
    }
    reasons_table_sort(&reasons->table, reasons->by == REASONS_BY_HOUR);
    if (reasons->command.output.format == OUTPUT_TABLE) {
        print_table(reasons);
    } else {
        print_json(reasons);
    }
    if (reasons->table.count == 0) {
        dlq_command_say_none(&reasons->command);
    }
    int code = dlq_scan_exit(&reasons->command.context, &totals);
    return output_end(&reasons->command.output) ? code : VERBS_EXIT_FAILED;
}

static enum options_result take(void *owner, int argc, char **argv, int *index)
{
    struct reasons *reasons = owner;
    const char *value = NULL;
    unsigned by;
    if (!options_value(argc, argv, index, "--by", &value)) {
        return OPTIONS_UNKNOWN;
    }
    if (value == NULL || !config_value_choice(value, "reason|error|target|source|hour", &by, NULL)) {
        dlq_context_say(&reasons->command.context, "--by is %s: give reason, error, target, source or hour",
                        value == NULL ? "empty" : config_value_show(value).text);
        return OPTIONS_WRONG;
    }
    reasons->by = (enum reasons_by)by;
    return OPTIONS_TAKEN;
}

int dlq_reasons_run(int argc, char **argv)
{
    struct reasons reasons = {.command = dlq_command_new("dlq reasons"), .name = buffer_new(REASONS_NAME_MAX)};
    int code = dlq_command_flags(&reasons.command, argc, argv, take, &reasons);
    code = code == VERBS_EXIT_DONE ? dlq_command_open(&reasons.command) : code;
    if (code == VERBS_EXIT_DONE) {
        code = run(&reasons);
    }
    buffer_free(&reasons.name);
    reasons_table_free(&reasons.table);
    dlq_command_free(&reasons.command);
    return code;
}
