#include "cli/dlq_work.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "ops/clock.h"
#include "ops/signals.h"

#define LOOK_MS 20
#define WRITE_MS 1000
#define COMPLAIN_MS 10000
#define RECORD_MAX ((size_t)1024 * 1024)

bool dlq_work_signals(struct error *error)
{
    return signals_start(error);
}

static bool write_record(struct dlq_work *work, struct error *error)
{
    struct buffer json = buffer_new(RECORD_MAX);
    struct dlq_job *job = work->job;
    job->updated_ms = clock_wall().ms;
    dlq_job_write(job, &json);
    bool written = json.full ? error_set(error, ERROR_INVALID, "the filter and options of a job take more than 1 MiB: use fewer")
                             : jobs_put(work->context->link, &work->context->streams, job->id, buffer_span(&json), &job->revision, error);
    buffer_free(&json);
    return written;
}

/* Told apart from any other process, also one of the same id on another machine. */
static void draw_runner(struct dlq_job *job)
{
    uint64_t token;
    bool drawn = getrandom(&token, sizeof token, 0) == (ssize_t)sizeof token; /* never short for so few bytes */
    dlq_job_set_runner(job, drawn ? token : 0);
}

bool dlq_work_begin(struct dlq_work *work, const struct dlq_context *context, struct dlq_job *job, struct error *error)
{
    struct streams_findings findings = {0};
    struct error own = {ERROR_NONE, ""};
    uint64_t total = job->bounds.of[LETTER_WAITING].messages + job->bounds.of[LETTER_PARKED].messages;
    *work = (struct dlq_work){.context = context, .job = job, .progress = output_progress_new(context->options.verb, total)};
    job->state = DLQ_JOB_RUNNING;
    draw_runner(job);
    bool written = write_record(work, &own);
    if (!written && own.code == ERROR_NOT_FOUND) {
        /* It also says whether the other streams are as they should be; what matters here is whether a record can be written. */
        (void)streams_ensure(context->link, &context->streams, DLQ_CONTEXT_TIMEOUT_MS, &findings, NULL);
        written = write_record(work, &own);
    }
    work->write_ms = clock_mono().ms + WRITE_MS;
    return written || error_set(error, own.code, "the job's record could not be written: %s", own.text);
}

/* This process was held up for so long (suspended, cut off) that a person had the job resumed by another. */
static void lose(struct dlq_work *work)
{
    output_progress_clear(&work->progress);
    dlq_context_say(work->context, "job %s runs elsewhere now: another process took it over; this one stops", work->job->id);
    work->word = DLQ_WORK_ELSEWHERE;
}

/* Somebody wrote the record, or nobody knows whether we did: what stands there now, and what it tells us to do. */
static void read_record(struct dlq_work *work, struct error *error)
{
    struct buffer json = buffer_new(RECORD_MAX);
    struct dlq_job now = {0};
    uint64_t revision = 0;
    bool read = jobs_get(work->context->link, &work->context->streams, work->job->id, &json, &revision, error) &&
                dlq_job_read(buffer_span(&json), &now, error);
    if (read && strcmp(now.runner, work->job->runner) != 0) {
        lose(work);
    } else if (read) {
        work->job->revision = revision;
        work->word = now.state == DLQ_JOB_PAUSED ? DLQ_WORK_PAUSED : now.state == DLQ_JOB_CANCELLED ? DLQ_WORK_CANCELLED : work->word;
    }
    if (read) {
        error->code = ERROR_NONE;
    }
    dlq_job_free(&now);
    buffer_free(&json);
}

/* Each second. A record that cannot be written now is no reason to stop: the streams are the truth. */
static void keep_record(struct dlq_work *work)
{
    struct error error = {ERROR_NONE, ""};
    if (!link_up(work->context->link, NULL, 0) || write_record(work, &error)) {
        return;
    }
    if (error.code == ERROR_BUSY || error.code == ERROR_UNAVAILABLE) {
        read_record(work, &error);
    }
    if (error.code != ERROR_NONE) {
        dlq_work_complain(work, error.text);
    }
}

static void show(struct dlq_work *work)
{
    char more[64] = "";
    if (work->job->counts.failed > 0) {
        snprintf(more, sizeof more, "%" PRIu64 " failed", work->job->counts.failed);
    }
    output_progress_at(&work->progress, work->seen, more[0] == '\0' ? NULL : more);
}

enum dlq_work_word dlq_work_tend(struct dlq_work *work)
{
    int64_t now_ms = clock_mono().ms;
    if (now_ms < work->look_ms || work->word != DLQ_WORK_GO) {
        return work->word;
    }
    work->look_ms = now_ms + LOOK_MS;
    show(work);
    if (now_ms >= work->write_ms) {
        keep_record(work);
        work->write_ms = clock_mono().ms + WRITE_MS;
    }
    if (signals_next() == SIGNALS_STOP && work->word == DLQ_WORK_GO) {
        work->word = DLQ_WORK_INTERRUPTED;
    }
    return work->word;
}

void dlq_work_complain(struct dlq_work *work, const char *text)
{
    int64_t now_ms = clock_mono().ms;
    bool same = strcmp(text, work->complaint) == 0;
    if (text[0] != '\0' && (!same || now_ms >= work->complain_ms)) {
        output_progress_clear(&work->progress);
        dlq_context_say(work->context, "%s", text);
        work->complain_ms = now_ms + COMPLAIN_MS;
    }
    snprintf(work->complaint, sizeof work->complaint, "%.*s", (int)sizeof work->complaint - 1, text);
}

enum dlq_job_state dlq_work_state(const struct dlq_work *work)
{
    switch (work->word) {
    case DLQ_WORK_GO:
        return DLQ_JOB_DONE;
    case DLQ_WORK_INTERRUPTED:
    case DLQ_WORK_PAUSED:
        return DLQ_JOB_PAUSED;
    case DLQ_WORK_CANCELLED:
        return DLQ_JOB_CANCELLED;
    case DLQ_WORK_ELSEWHERE:
        break;
    }
    return DLQ_JOB_RUNNING;
}

bool dlq_work_end(struct dlq_work *work, enum dlq_job_state state)
{
    struct error error = {ERROR_NONE, ""};
    output_progress_clear(&work->progress);
    work->job->state = state;
    bool written = work->word != DLQ_WORK_ELSEWHERE && write_record(work, &error);
    if (!written && (error.code == ERROR_BUSY || error.code == ERROR_UNAVAILABLE)) {
        read_record(work, &error);
        written = work->word != DLQ_WORK_ELSEWHERE && write_record(work, &error);
    }
    if (work->word == DLQ_WORK_ELSEWHERE) {
        work->job->state = DLQ_JOB_RUNNING;
    } else if (!written) {
        dlq_context_say(work->context, "the record of job %s could not be written: %s", work->job->id, error.text);
    }
    return written;
}
