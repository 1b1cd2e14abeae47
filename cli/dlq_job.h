/*
 * A job's record: what a bulk verb was told to do, how the streams stood when it began, and how far it is. JSON in the jobs stream (dlq/jobs.h).
 *
 *   {"id":"replay-20261130-060201-3f9a","verb":"replay","state":"running","runner":"c0ffee0123456789","filter":["--target=orders"],"options":["--rate=50/s"],
 *    "waiting":null,"parked":{"first":1,"last":1000,"created_ms":...},"counts":{"done":512,"failed":0,"skipped":3,"gone":0},"started_ms":...,"updated_ms":...}
 *
 * Pure; one thread at a time.
 */
#ifndef TARRY_CLI_DLQ_JOB_H
#define TARRY_CLI_DLQ_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/span.h"
#include "cli/dlq_scan.h"
#include "dlq/jobs.h"

enum dlq_job_verb { DLQ_JOB_REPLAY, DLQ_JOB_PARK, DLQ_JOB_PURGE, DLQ_JOB_VERBS };

enum dlq_job_state {
    DLQ_JOB_RUNNING,
    DLQ_JOB_PAUSED,    /* by `jobs pause` or a signal: `jobs resume` goes on */
    DLQ_JOB_STOPPED,   /* by --stop-after or a failure: the same */
    DLQ_JOB_CANCELLED, /* for good */
    DLQ_JOB_DONE,
    DLQ_JOB_STATES,
};

#define DLQ_JOB_RUNNER_SIZE 17 /* 16 hex digits */

/* Arguments, as `tarry dlq VERB` takes them. */
struct dlq_job_words {
    char **items; /* owned */
    size_t count;
};

struct dlq_job_counts {
    uint64_t done;    /* replayed, parked or purged: out of their stream */
    uint64_t failed;  /* failed again, and stand parked anew */
    uint64_t skipped; /* had been replayed too often, or could not be read: they stay */
    uint64_t gone;    /* were removed by somebody else before it was their turn */
};

struct dlq_job {
    char id[JOBS_ID_MAX + 1];
    enum dlq_job_verb verb;
    enum dlq_job_state state;
    char runner[DLQ_JOB_RUNNER_SIZE]; /* which process runs it, or ran it last; "": none yet */
    struct dlq_job_words filter;
    struct dlq_job_words options;
    struct dlq_scan_bounds bounds; /* as they were when it began: what is done with is not in the streams any more */
    struct dlq_job_counts counts;
    int64_t started_ms; /* wall clock */
    int64_t updated_ms;
    uint64_t revision; /* of the record; 0: not written yet. Not part of the JSON */
};

/* Names it "VERB-<UTC time>-<4 hex digits of seed>". The rest is zeroed, state running. */
void dlq_job_begin(struct dlq_job *job, enum dlq_job_verb verb, int64_t now_ms, uint64_t seed);
void dlq_job_free(struct dlq_job *job);

/* Makes the one who drew `token` (at random) its runner. Whoever reads another runner in its job's record has lost the job to that one. */
void dlq_job_set_runner(struct dlq_job *job, uint64_t token);

/* Adds a copy; for dlq_filter_arguments. `words` is a struct dlq_job_words. */
void dlq_job_add_word(void *words, const char *word);

void dlq_job_write(const struct dlq_job *job, struct buffer *json);

/* *job is zeroed before; free it also on failure. ERROR_INVALID: the text is no job (of this version). */
bool dlq_job_read(struct span json, struct dlq_job *job, struct error *error);

/* "replay", ... and "running", ... */
const char *dlq_job_verb_name(enum dlq_job_verb verb);
const char *dlq_job_state_name(enum dlq_job_state state);

/* How long a running job may be silent before it counts as dead. */
#define DLQ_JOB_SILENT_MS 30000

#endif
