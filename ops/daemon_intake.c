/* What comes in: the source's events and the sink's reports, as facts for the next step. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bridge/refusal.h"
#include "ops/daemon_state.h"

#define EVENTS_MAX 512  /* of one turn: with their step they take a few milliseconds */
#define REPORTS_MAX 1024
#define PROBE_TIMEOUT_MS 100 /* holds the owner up, while no broker could take a delivery anyway */

static struct partition *find_partition(struct daemon *daemon, const struct source_event *event)
{
    struct partition *last = daemon->last_partition;
    if (last == NULL || last->topic != event->topic || last->number != event->partition) {
        last = partitions_find(&daemon->partitions, event->topic, event->partition);
        daemon->last_partition = last;
    }
    return last;
}

static void log_refusal(const struct partition *partition, const struct record *record, const struct refusal *refusal)
{
    log_write(LOG_LEVEL_WARNING, "record_refused",
              LOG_FIELDS(LOG_TEXT("topic", partition->topic), LOG_NUMBER("partition", partition->number),
                         LOG_NUMBER("offset", record->offset), LOG_TEXT("reason", refusal_name(refusal->reason))),
              "%s", refusal->text);
}

/* Makes the row. True: *lane and *due_ms say where it belongs. False: it cannot be kept at all. */
static bool make_row(struct daemon *daemon,
                     const struct partition *partition,
                     const struct record *record,
                     lane_index *lane,
                     int64_t *due_ms)
{
    struct decoded decoded;
    struct refusal refusal;
    struct error error;
    buffer_clear(&daemon->row);
    if (decode_record(&daemon->sources[partition->source_index].rules, record, &decoded, &refusal)) {
        *lane = decoded.lane;
        *due_ms = decoded.due_ms;
        if (decoded.root >= 0) {
            int64_t not_before_ms = decode_not_before(record); /* of a copy whose letter could not be kept; its row keeps when it was due */
            *due_ms = not_before_ms > decoded.due_ms ? not_before_ms : decoded.due_ms;
        }
        sink_prepare(daemon->sink, decoded.target);
        return row_encode(&daemon->row, record, &decoded, &error);
    }
    log_refusal(partition, record, &refusal);
    metrics_add(daemon->metrics, METRIC_RECORDS_REFUSED, partition->source_index, daemon_letters_reason(refusal.reason), 1);
    *lane = LANES_REFUSED;
    *due_ms = decode_not_before(record);
    return row_encode_refused(&daemon->row, record, &refusal, &error);
}

/* A record larger than a row can be: its refusal goes without the body, which stays where it is in the topic. */
static bool make_row_without_body(struct daemon *daemon, const struct partition *partition, const struct record *record)
{
    struct record bare = {.offset = record->offset, .timestamp_ms = record->timestamp_ms, .timestamp = record->timestamp};
    struct refusal refusal;
    struct error error;
    refusal_set(&refusal, REFUSAL_TOO_LARGE,
                "the record is larger than can be kept (%u bytes): key, value and headers are not here, but in the topic at that offset",
                STORE_ROW_MAX);
    log_refusal(partition, record, &refusal);
    metrics_add(daemon->metrics, METRIC_RECORDS_REFUSED, partition->source_index, daemon_letters_reason(refusal.reason), 1);
    buffer_clear(&daemon->row);
    return row_encode_refused(&daemon->row, &bare, &refusal, &error);
}

static void take_record(struct daemon *daemon, const struct source_event *event)
{
    struct partition *partition = find_partition(daemon, event);
    if (partition == NULL || !partition->gained) {
        return; /* on its way when the partition was given up */
    }
    lane_index lane;
    int64_t due_ms;
    if (!make_row(daemon, partition, &event->record, &lane, &due_ms)) {
        lane = LANES_REFUSED;
        due_ms = DUE_SINCE_EVER;
        (void)make_row_without_body(daemon, partition, &event->record); /* it is a few hundred bytes: it fits */
    }
    struct span row = buffer_span(&daemon->row);
    metrics_add(daemon->metrics, METRIC_RECORDS_READ, partition->source_index, 0, 1);
    daemon_input(daemon, INPUT_RECORD, partition)->as.record = (struct input_record){
        .offset = event->record.offset,
        .due_ms = due_ms,
        .lane = lane,
        .bytes = (uint32_t)row.length,
        .ref = arena_add(&daemon->arena, row),
        .timestamp_ms = event->record.timestamp_ms,
        .crc = source_record_crc(&event->record),
        .root = -1, /* counts for records with an id only */
        .found = {.offset = -1},
    };
}

static void take_gone(struct daemon *daemon, struct partition *partition, const char *text)
{
    if (partition == NULL || !partition->gained || partition->state != PARTITIONS_OPEN) {
        return;
    }
    partition->state = PARTITIONS_DRAINING;
    snprintf(partition->problem, sizeof(partition->problem),
             "%s/%" PRId32 ": %s: what is pending still leaves, nothing more is read. If records expired, restart: it says which. If the topic "
             "was recreated, restart with --accept-change to read the new one from its beginning",
             partition->topic, partition->number, text);
    log_write(LOG_LEVEL_ERROR, "topic_changed",
              LOG_FIELDS(LOG_TEXT("topic", partition->topic), LOG_NUMBER("partition", partition->number)), "%s",
              partition->problem);
    daemon_input(daemon, INPUT_READING_STOPPED, partition);
}

static void take_committed(struct daemon *daemon, struct partition *partition, const struct source_event *event)
{
    metrics_add(daemon->metrics, METRIC_COMMITS,
                event->acknowledged ? METRICS_RESULT_OK : METRICS_RESULT_FAILED, 0, 1);
    if (partition == NULL || event->tag != partition->epoch) {
        return; /* of an earlier time that we held it: what it says is not what is committed now */
    }
    if (event->acknowledged) {
        partition->commit_fails = false;
    } else if (!partition->commit_fails) { /* told once until one succeeds: it is tried again four times a second */
        partition->commit_fails = true;
        log_write(LOG_LEVEL_WARNING, "commit_failed",
                  LOG_FIELDS(LOG_TEXT("topic", event->topic), LOG_NUMBER("partition", event->partition)),
                  "the frontier was not committed (%s); a newer one is committed soon", event->text);
    }
    if (partition->gained) {
        daemon_input(daemon, INPUT_COMMIT_DONE, partition)->as.commit =
            event->acknowledged ? COMMIT_ACKNOWLEDGED : COMMIT_FAILED;
    }
}

/* Trouble with a topic is that partition's own; without one it is the connection's, and lasts until there is a sign of life. */
static void take_trouble(struct daemon *daemon, const struct source_event *event)
{
    if (event->kind == SOURCE_TROUBLE && event->topic != NULL) {
        log_write(LOG_LEVEL_WARNING, "partition_trouble",
                  LOG_FIELDS(LOG_TEXT("topic", event->topic), LOG_NUMBER("partition", event->partition)), "%s", event->text);
        return;
    }
    daemon->connected = event->kind == SOURCE_CONNECTED;
    daemon->was_connected = daemon->was_connected || daemon->connected;
    snprintf(daemon->trouble, sizeof(daemon->trouble), "%s", daemon->connected ? "" : event->text);
    log_write(daemon->connected ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, daemon->connected ? "kafka_up" : "kafka_trouble", NULL, 0,
              "%s", daemon->connected ? "connected to Kafka" : event->text);
}

static void take_event(struct daemon *daemon, const struct source_event *event)
{
    struct partition *partition = event->kind == SOURCE_RECORD ? NULL : find_partition(daemon, event);
    struct error error;
    switch (event->kind) {
    case SOURCE_RECORD:
        take_record(daemon, event);
        break;
    case SOURCE_END:
        if (partition != NULL && partition->gained) {
            daemon_input(daemon, INPUT_POSITION, partition)->as.position.offset = event->offset;
        }
        break;
    case SOURCE_ASSIGNED:
        daemon_open_assigned(daemon, event->topic, event->partition);
        break;
    case SOURCE_REVOKED:
        if (partition != NULL) {
            daemon_open_leave(daemon, partition, event->lost);
        } else {
            source_release(daemon->source, event->topic, event->partition);
        }
        break;
    case SOURCE_COMMITTED:
        take_committed(daemon, partition, event);
        break;
    case SOURCE_GONE:
        take_gone(daemon, partition, event->text);
        break;
    case SOURCE_FATAL:
        error_set(&error, ERROR_FENCED,
                  "Kafka: %s. If another process runs with instance \"%s\", give each a name of its own; else start this one again", event->text,
                  daemon->config->instance);
        daemon_fail(daemon, &error);
        break;
    case SOURCE_TROUBLE:
    case SOURCE_CONNECTED:
        take_trouble(daemon, event);
        break;
    case SOURCE_NONE:
        break;
    }
}

static void probe(struct daemon *daemon)
{
    if (daemon->trouble[0] == '\0' || daemon->now.mono.ms < daemon->probe_at_ms) {
        return;
    }
    daemon->probe_at_ms = daemon->now.mono.ms + DAEMON_PROBE_MS;
    if (source_probe(daemon->source, PROBE_TIMEOUT_MS)) {
        take_trouble(daemon, &(struct source_event){.kind = SOURCE_CONNECTED});
    }
}

bool daemon_intake(struct daemon *daemon)
{
    probe(daemon);
    struct source_event event;
    for (int i = 0; i < EVENTS_MAX; i++) {
        source_poll(daemon->source, &event);
        if (event.kind == SOURCE_NONE) {
            return false;
        }
        take_event(daemon, &event);
    }
    return true;
}

void daemon_intake_delivered(struct daemon *daemon, const struct in_flight_item *item)
{
    int64_t lateness_ms = daemon->now.wall.ms - item->due_ms;
    if (item->as_letter && !item->refused) {
        metrics_add(daemon->metrics, METRIC_UNDELIVERABLE, item->lane, item->reason, 1);
        metrics_add(daemon->metrics, METRIC_RECORDS_REFUSED, item->source_index, item->reason, 1);
    } else if (!item->as_letter) {
        metrics_add(daemon->metrics, METRIC_DELIVERED, item->lane, 0, 1);
        metrics_observe(daemon->metrics, METRIC_LATENESS_SECONDS, item->lane, 0,
                        (double)(lateness_ms < 0 ? 0 : lateness_ms) / 1000.0);
    }
}

/* An outage fails every record of a lane: it is told once in a while. A record's own fault is told for each. */
static void log_failure(struct daemon *daemon, const struct in_flight_item *item, const struct sink_report *report)
{
    if (report->failure != DELIVERY_FAULT && !daemon_may_tell(daemon, &daemon->failure_told_ms[item->lane])) {
        return;
    }
    log_write(LOG_LEVEL_WARNING, "delivery_failed",
              LOG_FIELDS(LOG_TEXT("target", daemon->lanes.names[item->lane]), LOG_TEXT("error", report->error)), "%s",
              report->failure == DELIVERY_FAULT ? "a record cannot be delivered: it becomes a dead letter"
                                                : "a delivery failed: its lane waits and tries again");
}

static void take_report(struct daemon *daemon, const struct sink_report *report)
{
    struct in_flight_item *item = report->token;
    const struct partition *partition = partitions_at(&daemon->partitions, item->slot);
    if (report->delivered) {
        metrics_observe(daemon->metrics, METRIC_DELIVERY_SECONDS, 0, 0, (double)(daemon->now.mono.ms - item->sent_ms) / 1000.0);
        if (daemon_transaction_exact(daemon)) {
            daemon_transaction_note(daemon, item);
        } else {
            daemon_intake_delivered(daemon, item);
        }
    } else {
        metrics_add(daemon->metrics, METRIC_DELIVERY_FAILURES, item->lane, (size_t)report->failure, 1);
        if (report->failure != DELIVERY_UNDONE) { /* its transaction says why */
            log_failure(daemon, item, report);
        }
        if (report->failure != DELIVERY_UNDONE) { /* thousands of neighbours must not push the culprit's words out */
            in_flight_note(&daemon->in_flight, item, report->reason, report->error);
        }
    }
    if (partition != NULL && partition->gained && partition->epoch == item->epoch) {
        struct input *input =
            daemon_input(daemon, report->delivered ? INPUT_DELIVERED : INPUT_DELIVERY_FAILED, partition);
        input->as.delivery = (struct input_delivery){.lane = item->lane, .sequence = item->sequence, .failure = report->failure, .target_hash = report->target_hash};
    }
    in_flight_give(&daemon->in_flight, item);
}

bool daemon_intake_reports(struct daemon *daemon)
{
    static struct sink_report reports[REPORTS_MAX]; /* large, and used by the owner thread alone */
    size_t count = sink_poll(daemon->sink, reports, REPORTS_MAX);
    for (size_t i = 0; i < count; i++) {
        take_report(daemon, &reports[i]);
    }
    if (count > 0 && daemon->sink_full) {
        daemon->sink_full = false;
        daemon_input(daemon, INPUT_SINK_ROOM, NULL);
    }
    if (count < REPORTS_MAX) {
        daemon_transaction_take(daemon);
    }
    struct error error = {.code = ERROR_UNAVAILABLE};
    if (sink_fatal(daemon->sink, error.text, sizeof(error.text))) {
        daemon_fail(daemon, &error);
    }
    return count == REPORTS_MAX;
}
