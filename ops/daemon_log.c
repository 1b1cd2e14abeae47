/* What the owner tells of records: see daemon_log.h. */
#include "ops/daemon_log.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "ops/daemon_state.h"
#include "ops/log_record.h"

#define EACH 10 /* lines of single records in a period: enough to see what they have in common */

static bool may_tell(struct daemon *daemon, struct log_limit *limit, const struct log_limit_rule *rule, const char *about)
{
    return log_limit_pass(&daemon->log.limits, limit, rule, about, daemon->now.mono);
}

static void write_record(struct log_record *line, enum log_level level, const char *event, const char *message)
{
    log_record_end(line);
    log_write(level, event, line->fields, line->count, "%s", message);
}

/* ------------------------------------------------------------------------------------------------- single records */

static struct log_limit *refused_of(struct daemon *daemon, size_t source_index)
{
    if (daemon->log.refused == NULL) {
        daemon->log.refused = memory_new(daemon->config->source_count, sizeof(*daemon->log.refused));
    }
    return &daemon->log.refused[source_index];
}

void daemon_log_refused(struct daemon *daemon, const struct partition *partition, const struct record *record, const struct refusal *refusal)
{
    static const struct log_limit_rule rule = {"record_refused", LOG_LEVEL_WARNING, EACH};
    struct log_record line;
    if (!may_tell(daemon, refused_of(daemon, partition->source_index), &rule, partition->topic)) {
        return;
    }
    log_record_begin(&line, partition->topic, partition->number, record->offset);
    log_record_headers(&line, record);
    log_record_add(&line, LOG_TEXT("reason", refusal_name(refusal->reason)));
    log_record_end(&line);
    log_write(rule.level, rule.event, line.fields, line.count, "a record was refused, and is to be kept whole as a parked dead letter (`tarry dlq list`, once JetStream has it): %s",
              refusal->text);
}

void daemon_log_letter(struct daemon *daemon, const struct partition *partition, const struct letter *letter, const struct row *row, const char *error)
{
    static const struct log_limit_rule rule = {"dead_letter", LOG_LEVEL_WARNING, EACH};
    const char *reason = letter_reason_name(letter->reason);
    char target[256]; /* of a topic's name; "" when it names none */
    struct log_record line;
    if (!may_tell(daemon, &daemon->log.letters[letter->reason], &rule, reason)) {
        return;
    }
    (void)text_printable(letter->target, target, sizeof(target));
    log_record_begin(&line, partition->topic, letter->origin.partition, letter->origin.offset);
    log_record_row(&line, row);
    log_record_add(&line, LOG_TEXT("reason", reason));
    log_record_add(&line, LOG_TEXT("letter", letter->id));
    log_record_add(&line, LOG_TEXT("target", target));
    log_record_end(&line);
    log_write(rule.level, rule.event, line.fields, line.count, "a record is to become a dead letter (`tarry dlq get %s`, once JetStream has it): %s", letter->id, error);
}

void daemon_log_unreadable(struct daemon *daemon, const struct partition *partition, const struct row *row, int64_t offset, const char *error)
{
    static const struct log_limit_rule rule = {"schedule_unreadable", LOG_LEVEL_ERROR, EACH};
    struct log_record line;
    if (may_tell(daemon, &daemon->log.unreadable, &rule, NULL)) {
        log_record_begin(&line, partition->topic, partition->number, offset);
        log_record_row(&line, row);
        write_record(&line, rule.level, rule.event, error);
    }
}

void daemon_log_not_reappended(struct daemon *daemon, const struct partition *partition, const char *error)
{
    static const struct log_limit_rule rule = {"not_reappended", LOG_LEVEL_WARNING, EACH};
    struct log_record line;
    if (may_tell(daemon, &daemon->log.not_reappended, &rule, NULL)) {
        log_record_begin(&line, partition == NULL ? NULL : partition->topic, partition == NULL ? -1 : partition->number, -1);
        write_record(&line, rule.level, rule.event, error);
    }
}

/* An outage fails every record of a lane; a record's own fault is told with what it is, and once more when it becomes a letter. */
void daemon_log_failure(struct daemon *daemon, lane_index lane, const struct sink_report *report)
{
    static const struct log_limit_rule outage = {"delivery_failed", LOG_LEVEL_WARNING, 1};
    static const struct log_limit_rule fault = {"delivery_failed", LOG_LEVEL_WARNING, EACH};
    const char *target = daemon->lanes.names[lane];
    bool own = report->failure == DELIVERY_FAULT;
    if (may_tell(daemon, own ? &daemon->log.faults[lane] : &daemon->log.failures[lane], own ? &fault : &outage, target)) {
        log_write(LOG_LEVEL_WARNING, "delivery_failed", LOG_FIELDS(LOG_TEXT("target", target), LOG_TEXT("error", report->error)),
                  own ? "the broker does not take a record: it becomes a dead letter, others go on: %s"
                      : "a delivery failed: nothing is lost, its target waits and is tried again by itself, others go on: %s",
                  report->error);
    }
}

/* ------------------------------------------------------------------------------------------------- what is tried again */

void daemon_log_not_kept(struct daemon *daemon, const char *error)
{
    static const struct log_limit_rule rule = {"dead_letter_not_kept", LOG_LEVEL_WARNING, 1};
    if (may_tell(daemon, &daemon->log.not_kept, &rule, NULL)) {
        log_write(rule.level, rule.event, LOG_FIELDS(LOG_TEXT("error", error)),
                  "JetStream did not take a dead letter (%s): its record stays pending, and is tried again in %" PRId64 " ms (dlq.retry_later)", error,
                  daemon->config->dlq_retry_later_ms);
    }
}

void daemon_log_aborted(struct daemon *daemon, const char *error)
{
    static const struct log_limit_rule rule = {"transaction_aborted", LOG_LEVEL_WARNING, 1};
    if (may_tell(daemon, &daemon->log.aborts, &rule, NULL)) {
        log_write(rule.level, rule.event, LOG_FIELDS(LOG_TEXT("error", error)),
                  "a transaction was aborted (%s): read_committed consumers see nothing of it, and all of it goes again", error);
    }
}

void daemon_log_transactions_wait(struct daemon *daemon, const char *trouble)
{
    static const struct log_limit_rule rule = {"transactions_wait", LOG_LEVEL_WARNING, 1};
    if (may_tell(daemon, &daemon->log.waits, &rule, NULL)) {
        log_write(rule.level, rule.event, NULL, 0, "partitions cannot be taken over yet, as an earlier transaction has not ended; it is tried again: %s",
                  trouble);
    }
}

void daemon_log_copies_wait(struct daemon *daemon, const char *trouble)
{
    static const struct log_limit_rule rule = {"copies_wait", LOG_LEVEL_WARNING, 1};
    if (may_tell(daemon, &daemon->log.copies_wait, &rule, NULL)) {
        log_write(rule.level, rule.event, NULL, 0,
                  "nothing can be written to the sources again: deliveries go on, but copies forward, schedules' next times and failed records wait: %s",
                  trouble);
    }
}

void daemon_log_store_full(struct daemon *daemon, const char *error)
{
    static const struct log_limit_rule rule = {"store_full", LOG_LEVEL_ERROR, 1};
    if (may_tell(daemon, &daemon->log.store_full, &rule, NULL)) {
        log_write(rule.level, rule.event, NULL, 0, "%s. Deliveries go on and nothing is lost; reading pauses when memory.unwritten is used up", error);
    }
}

void daemon_log_commit_failed(struct daemon *daemon, const struct partition *partition, const char *error)
{
    static const struct log_limit_rule rule = {"commit_failed", LOG_LEVEL_WARNING, 1};
    if (may_tell(daemon, &daemon->log.commits, &rule, NULL)) {
        log_write(rule.level, rule.event, LOG_FIELDS(LOG_TEXT("topic", partition->topic), LOG_NUMBER("partition", partition->number)),
                  "progress was not committed (%s); deliveries go on, and a newer commit follows soon", error);
    }
}

/* ------------------------------------------------------------------------------------------------- counts */

void daemon_log_tell(struct daemon *daemon, bool all)
{
    log_limit_tell(&daemon->log.limits, all ? (struct mono_ms){TIME_NEVER} : daemon->now.mono);
}

int64_t daemon_log_deadline(const struct daemon *daemon)
{
    return log_limit_deadline(&daemon->log.limits).ms;
}

void daemon_log_free(struct daemon *daemon)
{
    free(daemon->log.refused);
}
