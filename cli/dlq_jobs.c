/* `tarry dlq jobs`: what replays, purges and parkings were begun, how far they are; and a word to them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/dlq_bulk.h"
#include "cli/dlq_job.h"
#include "cli/dlq_verbs.h"
#include "cli/output_table.h"
#include "cli/verbs.h"
#include "dlq/jobs_tell.h"
#include "ops/clock.h"

#define RECORD_MAX ((size_t)1024 * 1024)

struct jobs {
    struct dlq_bulk bulk;
    const char *what; /* list, pause, resume, cancel */
    const char *id;
    struct output_table *table; /* NULL: JSON */
};

static enum options_result take(void *owner, int argc, char **argv, int *index)
{
    struct jobs *jobs = owner;
    (void)argc;
    if (argv[*index][0] == '-' || jobs->id != NULL) {
        return OPTIONS_UNKNOWN;
    }
    if (jobs->what == NULL) {
        jobs->what = argv[*index];
    } else {
        jobs->id = argv[*index];
    }
    *index += 1;
    return OPTIONS_TAKEN;
}

static bool is(const struct jobs *jobs, const char *what)
{
    return strcmp(jobs->what, what) == 0;
}

static bool is_silent(const struct dlq_job *job)
{
    return job->state == DLQ_JOB_RUNNING && clock_wall().ms - job->updated_ms > DLQ_JOB_SILENT_MS;
}

/* --------------------------------------------------------------------------------------------------------- looking */

static const struct output_column COLUMNS[] = {
    {"id", false, 0},    {"verb", false, 0},   {"state", false, 0}, {"done", true, 0},
    {"failed", true, 0}, {"skipped", true, 0}, {"began", true, 0},  {"updated", true, 0},
};

static void show_row(struct jobs *jobs, const struct dlq_job *job)
{
    char done[OUTPUT_COUNT_SIZE];
    char failed[OUTPUT_COUNT_SIZE];
    char skipped[OUTPUT_COUNT_SIZE];
    char began[OUTPUT_TIME_SIZE];
    char updated[OUTPUT_TIME_SIZE];
    output_count(job->counts.done, done);
    output_count(job->counts.failed, failed);
    output_count(job->counts.skipped, skipped);
    output_time(&jobs->bulk.command.output, job->started_ms, began);
    output_time(&jobs->bulk.command.output, job->updated_ms, updated);
    const struct span cells[] = {
        span_of_text(job->id),  span_of_text(dlq_job_verb_name(job->verb)), span_of_text(is_silent(job) ? "silent" : dlq_job_state_name(job->state)),
        span_of_text(done),     span_of_text(failed),
        span_of_text(skipped),  span_of_text(began),
        span_of_text(updated),
    };
    output_table_row(jobs->table, cells);
}

static bool show(const struct jobs_job *found, void *context)
{
    struct jobs *jobs = context;
    struct dlq_job job = {0};
    struct error error = {ERROR_NONE, ""};
    if (!dlq_job_read(found->bytes, &job, &error)) {
        dlq_context_say(&jobs->bulk.command.context, "job %s: %s", found->id, error.text);
    } else if (jobs->table != NULL) {
        show_row(jobs, &job);
    } else {
        output_item(&jobs->bulk.command.output, found->bytes);
    }
    dlq_job_free(&job);
    return true;
}

static int list(struct jobs *jobs)
{
    struct error error = {ERROR_NONE, ""};
    struct dlq_command *command = &jobs->bulk.command;
    bool table = command->output.format == OUTPUT_TABLE;
    jobs->table = table ? output_table_new(&command->output, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]) : NULL;
    /* No stream: no job was ever begun. */
    bool listed = jobs_list(command->context.link, &command->context.streams, show, jobs, &error) || error.code == ERROR_NOT_FOUND;
    if (table) {
        output_table_end(jobs->table);
    }
    bool printed = output_end(&command->output);
    return !listed ? dlq_context_failed(&command->context, &error) : printed ? VERBS_EXIT_DONE : VERBS_EXIT_FAILED;
}

/* ---------------------------------------------------------------------------------------------------- a word to one */

/* *job is zeroed before; free it. */
static bool get(const struct jobs *jobs, struct dlq_job *job, struct error *error)
{
    const struct dlq_context *context = &jobs->bulk.command.context;
    struct buffer json = buffer_new(RECORD_MAX);
    uint64_t revision = 0;
    bool read = jobs_get(context->link, &context->streams, jobs->id, &json, &revision, error) && dlq_job_read(buffer_span(&json), job, error);
    job->revision = revision;
    buffer_free(&json);
    return read;
}

static int tell(const struct jobs *jobs, enum jobs_tell_word word)
{
    struct error error = {ERROR_NONE, ""};
    const struct dlq_context *context = &jobs->bulk.command.context;
    struct buffer record = buffer_new(JOBS_TELL_RECORD_MAX);
    enum jobs_tell_result result = JOBS_TELL_BUSY;
    for (int i = 0; i < JOBS_TELL_TRIES && result == JOBS_TELL_BUSY; i++) {
        result = jobs_tell(context->link, &context->streams, jobs->id, word, &record, &error);
    }
    buffer_free(&record);
    if (result != JOBS_TELL_DONE) {
        return dlq_context_failed(context, &error);
    }
    dlq_context_say(context, "job %s is %s", jobs->id, dlq_job_state_name(word == JOBS_TELL_PAUSE ? DLQ_JOB_PAUSED : DLQ_JOB_CANCELLED));
    return VERBS_EXIT_DONE;
}

/* -------------------------------------------------------------------------------------------------------- going on */

static int go_on(struct dlq_bulk *bulk)
{
    switch (bulk->job.verb) {
    case DLQ_JOB_REPLAY:
        return dlq_replay_resume(bulk);
    case DLQ_JOB_PARK:
        return dlq_park_resume(bulk);
    case DLQ_JOB_PURGE:
        return dlq_purge_resume(bulk);
    case DLQ_JOB_VERBS:
        break;
    }
    return VERBS_EXIT_FAILED;
}

static int resume(struct jobs *jobs)
{
    struct error error = {ERROR_NONE, ""};
    struct dlq_job job = {0};
    bool read = get(jobs, &job, &error);
    bool over = job.state == DLQ_JOB_DONE || job.state == DLQ_JOB_CANCELLED;
    if (read && over) {
        read = error_set(&error, ERROR_INVALID, "job %s is %s: there is nothing to go on with", jobs->id, dlq_job_state_name(job.state));
    } else if (read && job.state == DLQ_JOB_RUNNING && !is_silent(&job)) {
        read = error_set(&error, ERROR_BUSY, "job %s is running elsewhere: pause it there first, or wait %d s if its process is gone", jobs->id,
                         DLQ_JOB_SILENT_MS / 1000);
    }
    int code = read ? dlq_bulk_adopt(&jobs->bulk, &job) : dlq_context_failed(&jobs->bulk.command.context, &error);
    dlq_job_free(&job);
    return code == VERBS_EXIT_DONE ? go_on(&jobs->bulk) : code;
}

static int run_open(struct jobs *jobs)
{
    struct error error = {ERROR_NONE, ""};
    if (is(jobs, "resume") && !dlq_work_signals(&error)) {
        return dlq_context_failed(&jobs->bulk.command.context, &error);
    }
    int code = dlq_command_open(&jobs->bulk.command);
    if (code != VERBS_EXIT_DONE) {
        return code;
    }
    if (is(jobs, "resume")) {
        return resume(jobs);
    }
    return is(jobs, "list") ? list(jobs) : tell(jobs, is(jobs, "pause") ? JOBS_TELL_PAUSE : JOBS_TELL_CANCEL);
}

int dlq_jobs_run(int argc, char **argv)
{
    struct jobs jobs = {.bulk = dlq_bulk_new("dlq jobs", DLQ_JOB_REPLAY)};
    jobs.bulk.command.takes_filter = false;
    int code = dlq_command_flags(&jobs.bulk.command, argc, argv, take, &jobs);
    jobs.what = jobs.what == NULL ? "list" : jobs.what;
    bool known = is(&jobs, "list") || is(&jobs, "pause") || is(&jobs, "resume") || is(&jobs, "cancel");
    if (code == VERBS_EXIT_DONE && (!known || is(&jobs, "list") != (jobs.id == NULL))) {
        dlq_context_say(&jobs.bulk.command.context, "say list, pause ID, resume ID or cancel ID; see `tarry dlq jobs --help`");
        code = VERBS_EXIT_USAGE;
    }
    code = code == VERBS_EXIT_DONE ? run_open(&jobs) : code;
    dlq_bulk_free(&jobs.bulk);
    return code;
}
