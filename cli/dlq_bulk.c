#include "cli/dlq_bulk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/verbs.h"
#include "ops/clock.h"

struct dlq_bulk dlq_bulk_new(const char *verb, enum dlq_job_verb of)
{
    struct dlq_bulk bulk = {.command = dlq_command_new(verb)};
    dlq_job_begin(&bulk.job, of, clock_wall().ms, clock_mono_us());
    return bulk;
}

void dlq_bulk_free(struct dlq_bulk *bulk)
{
    dlq_command_free(&bulk->command);
    dlq_job_free(&bulk->job);
    *bulk = (struct dlq_bulk){0};
}

static enum options_result take(void *owner, int argc, char **argv, int *index)
{
    struct dlq_bulk *bulk = owner;
    const char *argument = argv[*index];
    if (strcmp(argument, "--execute") == 0) {
        bulk->execute = true;
        *index += 1;
        return OPTIONS_TAKEN;
    }
    bulk->state_given = bulk->state_given || strcmp(argument, "--state") == 0 || strncmp(argument, "--state=", strlen("--state=")) == 0;
    return bulk->take == NULL ? OPTIONS_UNKNOWN : bulk->take(bulk->owner, argc, argv, index);
}

int dlq_bulk_flags(struct dlq_bulk *bulk, int argc, char **argv, dlq_command_take *verb_take, void *owner)
{
    bulk->take = verb_take;
    bulk->owner = owner;
    return dlq_command_flags(&bulk->command, argc, argv, take, bulk);
}

void dlq_bulk_default_state(struct dlq_bulk *bulk, enum letter_state state)
{
    char flag[] = "--state";
    char value[16];
    char *arguments[] = {flag, value, NULL};
    int index = 0;
    snprintf(value, sizeof value, "%s", dlq_context_state_name(state));
    bulk->all = dlq_filter_is_all(&bulk->command.filter);
    if (!bulk->state_given) {
        (void)dlq_filter_take(&bulk->command.filter, 2, arguments, &index);
    }
}

int dlq_bulk_open(struct dlq_bulk *bulk)
{
    struct error error = {ERROR_NONE, ""};
    if (bulk->execute && !dlq_work_signals(&error)) {
        return dlq_context_failed(&bulk->command.context, &error);
    }
    int code = dlq_command_open(&bulk->command);
    if (code != VERBS_EXIT_DONE) {
        return code;
    }
    return dlq_scan_look(&bulk->command.context, &bulk->command.filter, &bulk->job.bounds, &error) ? VERBS_EXIT_DONE : dlq_context_failed(&bulk->command.context, &error);
}

/* ----------------------------------------------------------------------------------------------- picking up a job */

static bool take_words(struct dlq_filter *filter, const struct dlq_job_words *words)
{
    bool taken = true;
    for (size_t i = 0; i < words->count && taken; i++) {
        int index = 0;
        taken = dlq_filter_take(filter, 1, &words->items[i], &index) == OPTIONS_TAKEN;
    }
    return taken;
}

/* Sequences mean nothing in another stream of that name. ERROR_INVALID: it is another, or gone; other errors: not known. */
static bool same_streams(const struct dlq_bulk *bulk, struct error *error)
{
    struct dlq_scan_bounds now;
    if (!dlq_scan_look(&bulk->command.context, &bulk->command.filter, &now, error)) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        const struct dlq_scan_bound *then = &bulk->job.bounds.of[i];
        if (then->looked_at && then->created_ms != now.of[i].created_ms) {
            return error_set(error, ERROR_INVALID, "stream %s was deleted since job %s began: its letters are gone; begin anew for those that came since",
                             dlq_context_stream(&bulk->command.context, (enum letter_state)i), bulk->job.id);
        }
    }
    return true;
}

bool dlq_bulk_streams_remain(const struct dlq_bulk *bulk)
{
    struct error error = {ERROR_NONE, ""};
    if (same_streams(bulk, &error) || error.code != ERROR_INVALID) {
        return true;
    }
    dlq_context_say(&bulk->command.context, "%s", error.text);
    return false;
}

int dlq_bulk_adopt(struct dlq_bulk *bulk, struct dlq_job *job)
{
    struct error error = {ERROR_NONE, ""};
    dlq_job_free(&bulk->job);
    bulk->job = *job;
    *job = (struct dlq_job){0};
    bulk->execute = true;
    if (!take_words(&bulk->command.filter, &bulk->job.filter)) {
        dlq_context_say(&bulk->command.context, "the filter of job %s is not understood by this version: begin anew", bulk->job.id);
        return VERBS_EXIT_FAILED;
    }
    /* It stands in the bounds already. And what was skipped is met again. */
    bulk->command.filter.limit = 0;
    bulk->job.counts.skipped = 0;
    return same_streams(bulk, &error) ? VERBS_EXIT_DONE : dlq_context_failed(&bulk->command.context, &error);
}

/* ------------------------------------------------------------------------------------------------------- measuring */

struct measure {
    dlq_scan_visit *visit;
    void *visitor;
    enum letter_state state; /* of the last match */
    uint64_t sequence;
};

static bool measure_one(void *context, const struct dlq_scan_letter *found)
{
    struct measure *measure = context;
    measure->state = found->state;
    measure->sequence = found->sequence;
    return measure->visit == NULL || measure->visit(measure->visitor, found);
}

static void narrow(struct dlq_bulk *bulk, const struct measure *measure, uint64_t matched)
{
    if (bulk->command.filter.limit > 0 && matched == (uint64_t)bulk->command.filter.limit) {
        bulk->job.bounds.of[measure->state].last = measure->sequence;
        if (measure->state == LETTER_WAITING) {
            bulk->job.bounds.of[LETTER_PARKED].looked_at = false;
        }
    }
    bulk->command.filter.limit = 0;
}

bool dlq_bulk_measure(struct dlq_bulk *bulk, dlq_scan_visit *visit, void *visitor, uint64_t *matched, int *code)
{
    struct error error = {ERROR_NONE, ""};
    struct measure measure = {.visit = visit, .visitor = visitor};
    struct dlq_scan scan = {
        .context = &bulk->command.context, .filter = &bulk->command.filter, .bounds = bulk->job.bounds, .visit = measure_one, .visitor = &measure};
    struct dlq_scan_totals totals;
    if (!dlq_scan_run(&scan, &totals, &error)) {
        *code = dlq_context_failed(&bulk->command.context, &error);
        return false;
    }
    narrow(bulk, &measure, totals.matched);
    *matched = totals.matched;
    *code = dlq_scan_exit(&bulk->command.context, &totals);
    return true;
}

/* ------------------------------------------------------------------------------------------------ beginning and end */

int dlq_bulk_begin(struct dlq_bulk *bulk, const struct dlq_job_words *options)
{
    struct error error = {ERROR_NONE, ""};
    if (bulk->job.revision == 0) {
        dlq_filter_arguments(&bulk->command.filter, dlq_job_add_word, &bulk->job.filter);
        for (size_t i = 0; options != NULL && i < options->count; i++) {
            dlq_job_add_word(&bulk->job.options, options->items[i]);
        }
    }
    int code = dlq_context_own(&bulk->command.context);
    if (code != VERBS_EXIT_DONE) {
        return code;
    }
    return dlq_work_begin(&bulk->work, &bulk->command.context, &bulk->job, &error) ? VERBS_EXIT_DONE : dlq_context_failed(&bulk->command.context, &error);
}

bool dlq_bulk_print(const struct dlq_bulk *bulk, struct span json)
{
    bool printed = fwrite(json.data, 1, json.length, stdout) == json.length && fputs("\n", stdout) >= 0 && fflush(stdout) == 0;
    if (!printed) {
        dlq_context_say(&bulk->command.context, "the output could not be written whole");
    }
    return printed;
}

static bool print_json(const struct dlq_bulk *bulk, const char *done, uint64_t left, int64_t back)
{
    const struct dlq_job *job = &bulk->job;
    struct buffer json = buffer_new((size_t)64 * 1024);
    buffer_add_format(&json, "{\"job\":\"%s\",\"verb\":\"%s\",\"state\":\"%s\",\"%s\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"skipped\":%" PRIu64, job->id,
                      dlq_job_verb_name(job->verb), dlq_job_state_name(job->state), done, job->counts.done, job->counts.failed, job->counts.skipped);
    buffer_add_format(&json, ",\"gone\":%" PRIu64 ",\"left\":%" PRIu64, job->counts.gone, left);
    if (back >= 0) {
        buffer_add_format(&json, ",\"given_back\":%" PRId64, back);
    }
    buffer_add_text(&json, "}");
    bool printed = dlq_bulk_print(bulk, buffer_span(&json));
    buffer_free(&json);
    return printed;
}

static bool print_text(const struct dlq_bulk *bulk, const char *done, uint64_t left, int64_t back)
{
    const struct dlq_job *job = &bulk->job;
    char count[OUTPUT_COUNT_SIZE];
    output_count(job->counts.done, count);
    printf("%s %s", done, count);
    if (job->verb == DLQ_JOB_REPLAY) {
        output_count(job->counts.failed, count);
        printf(", failed again %s", count);
    }
    output_count(job->counts.skipped, count);
    printf(", skipped %s", count);
    output_count(job->counts.gone, count);
    printf(", gone meanwhile %s", count);
    if (back >= 0) {
        printf(", given back by consumers %" PRId64, back);
    }
    printf("\n");
    if (left > 0) {
        output_count(left, count);
        printf("%s more were done and could not be taken out of their stream: they will be done again\n", count);
    }
    if (job->state == DLQ_JOB_RUNNING) {
        printf("job %s runs elsewhere\n", job->id);
    } else if (job->state != DLQ_JOB_DONE) {
        printf("job %s is %s%s%s\n", job->id, dlq_job_state_name(job->state), job->state == DLQ_JOB_CANCELLED ? "" : "; to go on: tarry dlq jobs resume ",
               job->state == DLQ_JOB_CANCELLED ? "" : job->id);
    }
    return fflush(stdout) == 0 && ferror(stdout) == 0;
}

static int exit_code(const struct dlq_bulk *bulk, uint64_t left)
{
    const struct dlq_job_counts *counts = &bulk->job.counts;
    if (bulk->job.state != DLQ_JOB_DONE) {
        return bulk->job.state == DLQ_JOB_STOPPED ? VERBS_EXIT_FAILED : VERBS_EXIT_PARTLY;
    }
    bool found = counts->done + counts->failed + counts->skipped + counts->gone > 0 || bulk->all;
    bool whole = counts->failed + counts->skipped + left == 0;
    return found && whole ? VERBS_EXIT_DONE : VERBS_EXIT_PARTLY;
}

int dlq_bulk_end(struct dlq_bulk *bulk, enum dlq_job_state state, const char *done, uint64_t left, int64_t back)
{
    (void)dlq_work_end(&bulk->work, state);
    bool table = bulk->command.output.format == OUTPUT_TABLE;
    bool printed = table ? print_text(bulk, done, left, back) : print_json(bulk, done, left, back);
    int code = exit_code(bulk, left);
    return printed || code != VERBS_EXIT_DONE ? code : VERBS_EXIT_FAILED;
}
