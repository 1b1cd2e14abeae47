/* `tarry dlq replay`: letters sent again. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/dlq_bulk.h"
#include "cli/dlq_replay_options.h"
#include "cli/dlq_replay_record.h"
#include "cli/dlq_replay_work.h"
#include "cli/dlq_tally.h"
#include "cli/dlq_verbs.h"
#include "cli/verbs.h"
#include "dlq/letter_json.h"

#define PLAN_JSON_MAX ((size_t)1024 * 1024)

/* What a dry run finds. */
struct plan {
    struct dlq_bulk *bulk;
    struct dlq_replay_record maker;
    struct dlq_tally tally;
    uint64_t letters;
    uint64_t skipped; /* replayed too often */
    uint64_t nowhere; /* have no topic to go to */
    struct buffer example;
};

static enum options_result take(void *owner, int argc, char **argv, int *index)
{
    return dlq_replay_options_take(owner, argc, argv, index);
}

static void add_bytes(struct buffer *json, const char *name, struct span bytes)
{
    char shown[200];
    (void)text_printable(bytes, shown, sizeof shown);
    buffer_add_format(json, ",\"%s\":", name);
    if (bytes.data == NULL) {
        buffer_add_text(json, "null");
    } else {
        letter_json_add_text(json, span_of_text(shown));
    }
}

/* The first, as it would go: enough to see whether it is what was meant. */
static void write_example(struct plan *plan, const struct letter *letter, const struct letter_sink_record *record)
{
    struct buffer *json = &plan->example;
    buffer_add_format(json, "{\"id\":\"%s\",\"topic\":\"%s\",\"partition\":", letter->id, record->topic);
    if (record->partition < 0) {
        buffer_add_text(json, "null");
    } else {
        buffer_add_format(json, "%" PRId32, record->partition);
    }
    add_bytes(json, "key", record->key);
    buffer_add_format(json, ",\"value_bytes\":%zu,\"headers\":[", record->value.length);
    for (size_t i = 0; i < record->header_count; i++) {
        char name[128];
        (void)text_printable(record->headers[i].name, name, sizeof name);
        buffer_add_text(json, i == 0 ? "{\"name\":" : ",{\"name\":");
        letter_json_add_text(json, span_of_text(name));
        add_bytes(json, "value", record->headers[i].value);
        buffer_add_text(json, "}");
    }
    buffer_add_text(json, "]}");
}

static bool count(void *visitor, const struct dlq_scan_letter *found)
{
    struct plan *plan = visitor;
    const struct letter *letter = found->letter;
    struct letter_sink_record record;
    if (letter->replays >= plan->maker.options->max_replays) {
        plan->skipped += 1;
    } else if (!dlq_replay_record_make(&plan->maker, letter, &record, NULL)) {
        plan->nowhere += 1;
    } else {
        plan->letters += 1;
        dlq_tally_add(&plan->tally, letter->target, dlq_replay_record_goes_to(&plan->maker, letter));
        /* What stands apart is not loaded to be counted; another will do. */
        if (plan->example.length == 0 && letter->parts == 0) {
            write_example(plan, letter, &record);
        }
    }
    return true;
}

static bool print_json(struct plan *plan)
{
    struct buffer json = buffer_new(PLAN_JSON_MAX + plan->example.length);
    buffer_add_format(&json, "{\"verb\":\"replay\",\"execute\":false,\"letters\":%" PRIu64 ",\"skipped\":%" PRIu64 ",\"nowhere\":%" PRIu64 ",", plan->letters,
                      plan->skipped, plan->nowhere);
    dlq_tally_json(&plan->tally, &json);
    buffer_add_text(&json, ",\"example\":");
    buffer_add_span(&json, plan->example.length == 0 ? span_of_text("null") : buffer_span(&plan->example));
    buffer_add_text(&json, "}");
    bool printed = dlq_bulk_print(plan->bulk, buffer_span(&json));
    buffer_free(&json);
    return printed;
}

static bool print_text(const struct plan *plan)
{
    char letters[OUTPUT_COUNT_SIZE];
    output_count(plan->letters, letters);
    printf("would replay %s letter%s", letters, plan->letters == 1 ? "" : "s");
    if (plan->skipped > 0) {
        printf(", skip %" PRIu64 " that had %" PRId64 " replays or more", plan->skipped, plan->maker.options->max_replays);
    }
    if (plan->nowhere > 0) {
        printf(", skip %" PRIu64 " that name no topic (give --to)", plan->nowhere);
    }
    printf("\n");
    dlq_tally_print(&plan->tally, &plan->bulk->command.output, true);
    if (plan->example.length > 0) {
        printf("the first of them: %.*s\n", (int)plan->example.length, (const char *)plan->example.data);
    }
    if (plan->maker.options->delay_ms > 0) {
        printf("by way of the delay topic, %" PRId64 " ms later\n", plan->maker.options->delay_ms);
    }
    printf("nothing was done: --execute does it\n");
    return fflush(stdout) == 0 && ferror(stdout) == 0;
}

static int dry_run(struct dlq_bulk *bulk, const struct dlq_replay_options *options)
{
    int code = VERBS_EXIT_DONE;
    uint64_t matched = 0;
    struct plan *plan = &(struct plan){.bulk = bulk, .maker = dlq_replay_record_new(bulk->command.context.config, options),
                                       .example = buffer_new(PLAN_JSON_MAX)};
    if (dlq_bulk_measure(bulk, count, plan, &matched, &code)) {
        bool printed = bulk->command.output.format == OUTPUT_TABLE ? print_text(plan) : print_json(plan);
        code = !printed ? VERBS_EXIT_FAILED : matched == 0 && !bulk->all ? VERBS_EXIT_PARTLY : code;
    }
    dlq_replay_record_free(&plan->maker);
    dlq_tally_free(&plan->tally);
    buffer_free(&plan->example);
    return code;
}

static int execute(struct dlq_bulk *bulk, const struct dlq_replay_options *options)
{
    int code = VERBS_EXIT_DONE;
    uint64_t matched = 0;
    /* How many there are is needed to spread them, and where the last of them stands to keep to a limit; else one reading is enough. */
    if ((options->spread_ms > 0 || bulk->command.filter.limit > 0) && !dlq_bulk_measure(bulk, NULL, NULL, &matched, &code)) {
        return code;
    }
    code = dlq_bulk_begin(bulk, &options->words);
    return code == VERBS_EXIT_DONE ? dlq_replay_work(bulk, options, matched) : code;
}

/* With the context open. */
static int run_open(struct dlq_bulk *bulk, const struct dlq_replay_options *options)
{
    struct error error = {ERROR_NONE, ""};
    struct dlq_replay_record maker = dlq_replay_record_new(bulk->command.context.config, options);
    bool possible = dlq_replay_record_check(&maker, &error);
    dlq_replay_record_free(&maker);
    if (!possible) {
        dlq_context_say(&bulk->command.context, "%s", error.text);
        return VERBS_EXIT_USAGE;
    }
    return bulk->execute ? execute(bulk, options) : dry_run(bulk, options);
}

/* A running daemon would redeliver waiting ones at the same time: consumers would get them twice. */
static int check_state(const struct dlq_bulk *bulk)
{
    if (!dlq_filter_wants(&bulk->command.filter, LETTER_WAITING)) {
        return VERBS_EXIT_DONE;
    }
    dlq_context_say(&bulk->command.context, "--state waiting makes no sense here: the daemon redelivers these, and they would go twice; park them first "
                                            "(`tarry dlq park` with the same flags and --execute), then replay without --state");
    return VERBS_EXIT_USAGE;
}

int dlq_replay_run(int argc, char **argv)
{
    struct dlq_bulk bulk = dlq_bulk_new("dlq replay", DLQ_JOB_REPLAY);
    struct dlq_replay_options options = dlq_replay_options_new("dlq replay");
    int code = dlq_bulk_flags(&bulk, argc, argv, take, &options);
    if (code == VERBS_EXIT_DONE && !dlq_replay_options_check(&options)) {
        code = VERBS_EXIT_USAGE;
    }
    if (code == VERBS_EXIT_DONE) {
        dlq_bulk_default_state(&bulk, LETTER_PARKED);
        code = check_state(&bulk);
    }
    code = code == VERBS_EXIT_DONE ? dlq_bulk_open(&bulk) : code;
    code = code == VERBS_EXIT_DONE ? run_open(&bulk, &options) : code;
    dlq_replay_options_free(&options);
    dlq_bulk_free(&bulk);
    return code;
}

int dlq_replay_resume(struct dlq_bulk *bulk)
{
    struct dlq_replay_options options = dlq_replay_options_new("dlq jobs resume");
    enum options_result result = OPTIONS_TAKEN;
    for (size_t i = 0; i < bulk->job.options.count && result == OPTIONS_TAKEN; i++) {
        int index = 0;
        result = dlq_replay_options_take(&options, 1, &bulk->job.options.items[i], &index);
    }
    int code = VERBS_EXIT_FAILED;
    if (result == OPTIONS_TAKEN) {
        code = run_open(bulk, &options);
    } else {
        dlq_context_say(&bulk->command.context, "the options of job %s are not understood by this version: begin anew", bulk->job.id);
    }
    dlq_replay_options_free(&options);
    return code;
}
