/*
 * What the bulk verbs (replay, park, purge) have in common: their flags, the dry run, the beginning, the end and the picking up of a job.
 *
 * Without --execute nothing is changed. Main thread.
 */
#ifndef TARRY_CLI_DLQ_BULK_H
#define TARRY_CLI_DLQ_BULK_H

#include <stdbool.h>

#include "cli/dlq_command.h"
#include "cli/dlq_job.h"
#include "cli/dlq_scan.h"
#include "cli/dlq_work.h"

struct dlq_bulk {
    struct dlq_command command;
    dlq_command_take *take; /* the verb's own flags; NULL: none */
    void *owner;
    bool execute;
    bool state_given; /* --state */
    bool all;         /* no flag narrows it; of dlq_bulk_open and dlq_bulk_default_state */
    struct dlq_job job;
    struct dlq_work work;
};

/* `verb`: "dlq replay"; outlives it. `of`: what its jobs are. */
struct dlq_bulk dlq_bulk_new(const char *verb, enum dlq_job_verb of);

/* Takes all flags: those of configuration, filter and output, --execute, and the verb's own by `take` (NULL: none). 0, or the code to exit with, told. */
int dlq_bulk_flags(struct dlq_bulk *bulk, int argc, char **argv, dlq_command_take *take, void *owner);

/* Narrows the filter to this state unless --state was given. */
void dlq_bulk_default_state(struct dlq_bulk *bulk, enum letter_state state);

/* Connects, and looks how the streams stand: that is what the verb acts on, and nothing newer. 0, or the code to exit with, told. */
int dlq_bulk_open(struct dlq_bulk *bulk);

/* Takes over a job: filter and bounds are what they were; the context is open. Takes the job's contents. 0, or the code to exit with, told: the filter is
 * not understood, or a stream is not the one that it was. */
int dlq_bulk_adopt(struct dlq_bulk *bulk, struct dlq_job *job);

/* Goes over what matches: gives each to `visit` (NULL: to nobody) and counts. With --limit the bounds are narrowed so that no more than these stand within
 * them, and the limit is taken off. False: told; *code is what to exit with. */
bool dlq_bulk_measure(struct dlq_bulk *bulk, dlq_scan_visit *visit, void *visitor, uint64_t *matched, int *code);

/* False: a stream that the job acts on was deleted, or deleted and made again, since the job began (told); no letter of it can be taken out any more. True also
 * when nobody answers. One request a stream; at most DLQ_CONTEXT_TIMEOUT_MS. */
bool dlq_bulk_streams_remain(const struct dlq_bulk *bulk);

/* Begins the job: signals, and its record with the words of the verb's own options (NULL: none). 0, or the code to exit with, told. */
int dlq_bulk_begin(struct dlq_bulk *bulk, const struct dlq_job_words *options);

/* How it ended. Writes the job's record, tells counts and place (`done` names what was done: "replayed"), and gives the code to exit with. `left`:
 * acknowledged, and still in their stream. `back`: records that consumers gave back, -1: nobody looked. */
int dlq_bulk_end(struct dlq_bulk *bulk, enum dlq_job_state state, const char *done, uint64_t left, int64_t back);

/* Writes one JSON document as a line to stdout. False: told. */
bool dlq_bulk_print(const struct dlq_bulk *bulk, struct span json);

void dlq_bulk_free(struct dlq_bulk *bulk);

/* Of `tarry dlq jobs resume`: goes on with the job, whose context is open. Each takes the bulk's contents, and gives the code to exit with. */
int dlq_replay_resume(struct dlq_bulk *bulk);
int dlq_park_resume(struct dlq_bulk *bulk);
int dlq_purge_resume(struct dlq_bulk *bulk);

#endif
