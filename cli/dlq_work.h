/*
 * A bulk verb at work: its job's record (written at the start, each second and at the end), signals, words of others (`jobs pause`), progress and complaints.
 *
 * SIGINT and SIGTERM ask it to stop in good order; a second one ends the process at once (ops/signals.h). Main thread.
 */
#ifndef TARRY_CLI_DLQ_WORK_H
#define TARRY_CLI_DLQ_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/dlq_context.h"
#include "cli/dlq_job.h"
#include "cli/output_progress.h"

enum dlq_work_word {
    DLQ_WORK_GO,
    DLQ_WORK_INTERRUPTED, /* by a signal */
    DLQ_WORK_PAUSED,      /* by `tarry dlq jobs pause` */
    DLQ_WORK_CANCELLED,   /* by `tarry dlq jobs cancel` */
    DLQ_WORK_ELSEWHERE,   /* another process took it over while this one was held up: the job is that one's now (told) */
};

struct dlq_work {
    const struct dlq_context *context;
    struct dlq_job *job;
    struct output_progress progress;
    uint64_t seen;           /* messages passed: for progress; the caller's */
    enum dlq_work_word word; /* once it is not GO, it stays */
    int64_t look_ms;         /* monotonic: when to look at signals again */
    int64_t write_ms;        /* when to write the record again */
    char complaint[256];     /* the last one */
    int64_t complain_ms;     /* when to say the same again */
};

/* Before the context is opened, as that begins threads. False: ERROR_SYSTEM. */
bool dlq_work_signals(struct error *error);

/* Writes the job's record, with a runner of its own, for the first time (job->revision 0) or takes over the one of that revision. Makes the jobs' stream when it is not there. The context
 * and the job outlive it. ERROR_UNAVAILABLE; ERROR_BUSY: somebody else has it; ERROR_INVALID: the server's words. */
bool dlq_work_begin(struct dlq_work *work, const struct dlq_context *context, struct dlq_job *job, struct error *error);

/* To be called often: cheap but for every 20 ms. The job's counts are the caller's to keep up. */
enum dlq_work_word dlq_work_tend(struct dlq_work *work);

/* Says why it does not get on: once, and the same again only every ten seconds. "": all is well again. */
void dlq_work_complain(struct dlq_work *work, const char *text);

/* The state in which the job is to be left after the last word: GO: done; ELSEWHERE: running. */
enum dlq_job_state dlq_work_state(const struct dlq_work *work);

/* Wipes the progress line and writes the record for the last time. False: it could not be written (told); the work is done all the same. When the job runs
 * elsewhere, its record is left alone, and job->state is running. */
bool dlq_work_end(struct dlq_work *work, enum dlq_job_state state);

#endif
