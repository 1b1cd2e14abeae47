/* What the owner tells of records, and how often: lines about one record name it, and what repeats is counted. Owner thread. */
#ifndef TARRY_OPS_DAEMON_LOG_H
#define TARRY_OPS_DAEMON_LOG_H

#include <stdint.h>

#include "bridge/record.h"
#include "bridge/refusal.h"
#include "bridge/row.h"
#include "dlq/letter.h"
#include "ops/log_limit.h"
#include "scheduler/core.h"

struct daemon;
struct partition;
struct sink_report;

/* Causes that can come with each record or each try. In struct daemon; zero-initialised. */
struct daemon_log {
    struct log_limits limits;
    struct log_limit *refused; /* by source; made with the first */
    struct log_limit letters[LETTER_REASONS];
    struct log_limit not_kept;
    struct log_limit failures[LANES_MAX];
    struct log_limit faults[LANES_MAX];
    struct log_limit aborts;
    struct log_limit waits;
    struct log_limit not_reappended;
    struct log_limit unreadable;
    struct log_limit store_full;
    struct log_limit commits;
    struct log_limit copies_wait;
};

/* A record was refused as it was read. */
void daemon_log_refused(struct daemon *daemon, const struct partition *partition, const struct record *record, const struct refusal *refusal);

/* A record goes on as a letter; `row` is the record's. */
void daemon_log_letter(struct daemon *daemon, const struct partition *partition, const struct letter *letter, const struct row *row, const char *error);
void daemon_log_not_kept(struct daemon *daemon, const char *error);

/* A delivery to the lane failed: by an outage, or (report->failure) by the record itself. */
void daemon_log_failure(struct daemon *daemon, lane_index lane, const struct sink_report *report);

/* A schedule or copy that cannot be written again, or does not read; `offset` is where a person wrote it. */
void daemon_log_not_reappended(struct daemon *daemon, const struct partition *partition, const char *error);
void daemon_log_unreadable(struct daemon *daemon, const struct partition *partition, const struct row *row, int64_t offset, const char *error);

void daemon_log_aborted(struct daemon *daemon, const char *error);
void daemon_log_transactions_wait(struct daemon *daemon, const char *trouble);
void daemon_log_copies_wait(struct daemon *daemon, const char *trouble);
void daemon_log_store_full(struct daemon *daemon, const char *error);
void daemon_log_commit_failed(struct daemon *daemon, const struct partition *partition, const char *error);

/* Tells the counts that are due; all of them: at the end. */
void daemon_log_tell(struct daemon *daemon, bool all);

/* When daemon_log_tell has something to say, monotonic; TIME_NEVER: nothing. */
int64_t daemon_log_deadline(const struct daemon *daemon);

void daemon_log_free(struct daemon *daemon);

#endif
