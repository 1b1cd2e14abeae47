/* `tarry dlq list`: letters, one a line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/dlq_command.h"
#include "cli/dlq_scan.h"
#include "cli/dlq_verbs.h"
#include "cli/output_table.h"
#include "cli/verbs.h"
#include "dlq/letter_json.h"
#include "dlq/subject.h"
#include "ops/clock.h"
#include "ops/config_value.h"

#define TERMINAL_LIMIT 50
#define COUNT_ON_MS 2000 /* how long letters behind the page are counted, to say how many there are */
#define JSON_MAX ((size_t)2 * 1024 * 1024 * 1024)

static const struct output_column COLUMNS[] = {
    {"id", false, 0},      {"state", false, 0}, {"target", false, 32}, {"reason", false, 0},
    {"attempt", true, 0},  {"age", true, 0},    {"key", false, 24},    {"error", false, 0},
};

struct list {
    struct dlq_command command;
    struct output_table *table; /* NULL: JSON */
    struct buffer json;
    bool payload;
    bool after; /* --after was given */
    enum letter_state after_state;
    uint64_t after_sequence;
    uint64_t limit;   /* 0: none */
    uint64_t shown;
    uint64_t more;    /* counted behind the page */
    bool more_still;  /* and there are others yet */
    int64_t until_ms; /* of counting on */
    enum letter_state last_state;
    uint64_t last_sequence;
};

static void show_row(struct list *list, const struct dlq_scan_letter *found)
{
    const struct letter *letter = found->letter;
    char attempt[16];
    char age[OUTPUT_AGE_SIZE];
    (void)snprintf(attempt, sizeof attempt, "%" PRIu32, letter->attempt);
    output_age(&list->command.output, letter->last_failure_ms, age);
    bool apart = letter->parts > 0 && !dlq_filter_needs_record(&list->command.filter);
    const struct span cells[] = {
        span_of_text(letter->id),
        span_of_text(dlq_context_state_name(found->state)),
        letter->target.data == NULL ? span_of_text(SUBJECT_REFUSED) : letter->target,
        span_of_text(letter_reason_name(letter->reason)),
        span_of_text(attempt),
        span_of_text(age),
        apart ? span_of_text("(large record)") : letter->record.key,
        letter->error,
    };
    output_table_row(list->table, cells);
}

static void show_json(struct list *list, const struct dlq_scan_letter *found)
{
    struct error error = {ERROR_NONE, ""};
    buffer_clear(&list->json);
    if (letter_json_write(&list->json, found->letter, found->state, list->payload && !found->record_missing, &error)) {
        output_item(&list->command.output, buffer_span(&list->json));
    } else {
        dlq_context_say(&list->command.context, "letter %s: %s", found->letter->id, error.text);
    }
}

/* A letter of the page, or one behind it, which is only counted. */
static bool visit(void *context, const struct dlq_scan_letter *found)
{
    struct list *list = context;
    if (list->limit > 0 && list->shown >= list->limit) {
        list->until_ms = list->more == 0 ? clock_mono().ms + COUNT_ON_MS : list->until_ms;
        list->more += 1;
        list->more_still = clock_mono().ms >= list->until_ms;
        return !list->more_still;
    }
    if (list->table != NULL) {
        show_row(list, found);
    } else {
        show_json(list, found);
    }
    list->shown += 1;
    list->last_state = found->state;
    list->last_sequence = found->sequence;
    return ferror(stdout) == 0;
}

/* "parked:123" */
static bool read_place(struct list *list, const char *text)
{
    int64_t sequence;
    const char *colon = text == NULL ? NULL : strchr(text, ':');
    for (int state = LETTER_WAITING; colon != NULL && state <= LETTER_PARKED; state++) {
        const char *name = dlq_context_state_name((enum letter_state)state);
        if (strlen(name) == (size_t)(colon - text) && strncmp(name, text, strlen(name)) == 0 && config_value_count(colon + 1, &sequence, NULL)) {
            list->after = true;
            list->after_state = (enum letter_state)state;
            list->after_sequence = (uint64_t)sequence;
            return true;
        }
    }
    dlq_context_say(&list->command.context, "--after is %s: give a place as list says it, for example parked:123", text == NULL ? "empty" : config_value_show(text).text);
    return false;
}

/* Narrows what is looked at to what stands behind --after. */
static void go_behind(const struct list *list, struct dlq_scan_bounds *bounds)
{
    if (!list->after) {
        return;
    }
    if (list->after_state == LETTER_PARKED) {
        bounds->of[LETTER_WAITING].looked_at = false;
    }
    struct dlq_scan_bound *bound = &bounds->of[list->after_state];
    bound->first = list->after_sequence >= bound->first ? list->after_sequence + 1 : bound->first;
}

static void say_more(const struct list *list)
{
    char more[OUTPUT_COUNT_SIZE];
    if (list->more > 0) {
        output_count(list->more, more);
        dlq_context_say(&list->command.context, "%s%s more; go on with --after %s:%" PRIu64, list->more_still ? "at least " : "", more,
                        dlq_context_state_name(list->last_state), list->last_sequence);
    } else if (list->shown == 0) {
        dlq_command_say_none(&list->command);
    }
}

static int run(struct list *list)
{
    struct error error = {ERROR_NONE, ""};
    struct dlq_scan_totals totals = {0};
    struct dlq_scan scan = {.context = &list->command.context, .filter = &list->command.filter, .visit = visit, .visitor = list};
    list->limit = list->command.filter.limit > 0 ? (uint64_t)list->command.filter.limit : list->command.output.terminal && list->table != NULL ? TERMINAL_LIMIT : 0;
    list->command.filter.limit = 0; /* those behind the page are counted */
    scan.records = list->table == NULL && list->payload;
    if (!dlq_scan_look(&list->command.context, &list->command.filter, &scan.bounds, &error)) {
        return dlq_context_failed(&list->command.context, &error);
    }
    go_behind(list, &scan.bounds);
    bool done = dlq_scan_run(&scan, &totals, &error);
    if (list->table != NULL) {
        output_table_end(list->table);
        list->table = NULL;
    }
    bool written = output_end(&list->command.output);
    if (!done) {
        return dlq_context_failed(&list->command.context, &error);
    }
    say_more(list);
    int code = dlq_scan_exit(&list->command.context, &totals);
    return written ? code : VERBS_EXIT_FAILED;
}

static enum options_result take(void *owner, int argc, char **argv, int *index)
{
    struct list *list = owner;
    const char *value = NULL;
    if (strcmp(argv[*index], "--no-payload") == 0) {
        list->payload = false;
        *index += 1;
        return OPTIONS_TAKEN;
    }
    if (!options_value(argc, argv, index, "--after", &value)) {
        return OPTIONS_UNKNOWN;
    }
    return read_place(list, value) ? OPTIONS_TAKEN : OPTIONS_WRONG;
}

int dlq_list_run(int argc, char **argv)
{
    struct list list = {.command = dlq_command_new("dlq list"), .json = buffer_new(JSON_MAX), .payload = true};
    int code = dlq_command_flags(&list.command, argc, argv, take, &list);
    code = code == VERBS_EXIT_DONE ? dlq_command_open(&list.command) : code;
    if (code == VERBS_EXIT_DONE) {
        const struct output *output = &list.command.output;
        bool table = output->format == OUTPUT_TABLE;
        list.table = table ? output_table_new(output, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]) : NULL;
        code = run(&list);
    }
    buffer_free(&list.json);
    dlq_command_free(&list.command);
    return code;
}
