/*
 * How `tarry dlq replay` sends: its flags, and the same as arguments for the job's record.
 *
 *   --to TOPIC            instead of the letter's target        --delay DUR    by way of the delay topic, so much later
 *   --set-header K=V      all headers of that name become this (given again with the same K: one more of it)
 *   --rate N[/s|/m|/h]    --ramp DUR: from 1/s up to the rate   --spread DUR: evenly over that time
 *   --stop-after 20%|N    of what was replayed failing again    --max-replays N (10)
 */
#ifndef TARRY_CLI_DLQ_REPLAY_OPTIONS_H
#define TARRY_CLI_DLQ_REPLAY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/dlq_job.h"
#include "cli/options.h"

#define DLQ_REPLAY_OPTIONS_HEADERS_MAX 100
#define DLQ_REPLAY_OPTIONS_SHARE_LEAST 20 /* replays before a share says anything */

struct dlq_replay_header {
    struct span name;
    struct span value;
};

struct dlq_replay_options {
    const char *verb;
    const char *to;       /* NULL: each to its target */
    int64_t delay_ms;     /* 0: none */
    struct dlq_replay_header headers[DLQ_REPLAY_OPTIONS_HEADERS_MAX];
    size_t header_count;
    double rate_per_s;    /* 0: no limit */
    int64_t ramp_ms;
    int64_t spread_ms;    /* 0: no spread */
    int64_t stop_percent; /* -1: not given */
    int64_t stop_count;   /* -1: not given */
    int64_t max_replays;
    struct dlq_job_words words; /* what was given, as --flag=value; texts above point into it */
};

struct dlq_replay_options dlq_replay_options_new(const char *verb);
void dlq_replay_options_free(struct dlq_replay_options *options);

/* Takes the flag at argv[*index] with its value; as options_take. Copies what it keeps. */
enum options_result dlq_replay_options_take(struct dlq_replay_options *options, int argc, char **argv, int *index);

/* After the last flag: false when they do not go together, told on stderr. */
bool dlq_replay_options_check(const struct dlq_replay_options *options);

/* True when so many failures among so many replays are to stop the job. */
bool dlq_replay_options_stops(const struct dlq_replay_options *options, uint64_t replays, uint64_t failures);

#endif
