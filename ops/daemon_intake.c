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

/* Where a record belongs that says what it wants: its lane, and when it is looked at there. */
static void place(const struct record *record, const struct decoded *decoded, struct input_record *taken)
{
    taken->lane = decoded->undecided ? LANES_UNDECIDED : decoded->lane;
    taken->due_ms = decoded->undecided ? DUE_SINCE_EVER : decoded->due_ms;
    taken->conditional = decoded->conditional;
    if (decoded->root >= 0) { /* of a copy whose letter could not be kept, or that is paused; its row keeps when it was due */
        int64_t not_before_ms = decode_not_before(record);
        taken->due_ms = not_before_ms > taken->due_ms ? not_before_ms : taken->due_ms;
    }
}

/* What the dedupe rule looks at: 0, nothing; -1, not at this one, whose due time is of no first event. */
static void look_for_duplicates(const struct daemon *daemon, const struct partition *partition, const struct decoded *decoded, struct input_record *taken)
{
    int64_t dedupe_ms = daemon->config->sources[partition->source_index].dedupe_ms;
    bool recurs = decoded->recurrence.kind != DECODE_RECURRENCE_NONE;
    bool unknown = recurs && (decoded->root >= 0 || decoded->due_ms == DUE_SINCE_EVER);
    taken->dedupe_ms = dedupe_ms > 0 && unknown ? -1 : dedupe_ms;
    taken->dedupe_due_ms = decoded->due_ms;
}

static void identify(struct daemon *daemon, struct partition *partition, const struct decoded *decoded, struct input_record *taken)
{
    if (decoded->id.data == NULL) {
        return;
    }
    taken->id = daemon_ids_hash(daemon, decoded->id);
    taken->root = decoded->root;
    taken->found = daemon_ids_find(daemon, partition, taken->id);
    partition->has_ids = partition->has_ids || !(taken->cancel || taken->conditional);
    look_for_duplicates(daemon, partition, decoded, taken);
    daemon_outcomes_read(daemon, partition, taken->offset, decoded->id);
    daemon_outcomes_root(daemon, partition, taken);
}

static void refuse(struct daemon *daemon, const struct partition *partition, const struct record *record, const struct refusal *refusal)
{
    daemon_log_refused(daemon, partition, record, refusal);
    metrics_add(daemon->metrics, METRIC_RECORDS_REFUSED, partition->source_index, daemon_letters_reason(refusal->reason), 1);
    daemon_watch_refused(daemon, partition, record, refusal);
}

/* Makes the row, and says what there is to say of the record. False: it cannot be kept at all. */
static bool make_row(struct daemon *daemon, struct partition *partition, const struct record *record, struct input_record *taken)
{
    struct decoded decoded;
    struct refusal refusal;
    struct error error;
    buffer_clear(&daemon->row);
    if (decode_record(&daemon->sources[partition->source_index].rules, record, &decoded, &refusal) &&
        (decoded.action == DECODE_CANCEL || daemon_schedules_check(daemon, &decoded, &refusal))) {
        taken->cancel = decoded.action == DECODE_CANCEL;
        if (!taken->cancel) {
            place(record, &decoded, taken);
            sink_prepare(daemon->sink, decoded.target);
            if (decoded.undecided || decoded.recurrence.kind != DECODE_RECURRENCE_NONE) {
                daemon_again_prepare(daemon);
            }
        }
        if (!taken->cancel && !row_encode(&daemon->row, record, &decoded, &error)) {
            return false;
        }
        identify(daemon, partition, &decoded, taken);
        daemon_watch_read(daemon, partition, taken, &decoded);
        return true;
    }
    refuse(daemon, partition, record, &refusal);
    taken->lane = LANES_REFUSED;
    taken->due_ms = decode_refused_due(record);
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
    refuse(daemon, partition, record, &refusal);
    buffer_clear(&daemon->row);
    return row_encode_refused(&daemon->row, &bare, &refusal, &error);
}

static void take_record(struct daemon *daemon, const struct source_event *event)
{
    struct partition *partition = find_partition(daemon, event);
    if (partition == NULL || !partition->gained) {
        return; /* on its way when the partition was given up */
    }
    const struct record *record = &event->record;
    struct input_record taken = {.offset = record->offset,
                                 .timestamp_ms = record->timestamp_ms,
                                 .crc = source_record_crc(record),
                                 .root = -1,
                                 .found = {.offset = -1, .root = -1}};
    if (!make_row(daemon, partition, record, &taken)) {
        taken.lane = LANES_REFUSED;
        taken.due_ms = DUE_SINCE_EVER;
        taken.conditional = false;
        (void)make_row_without_body(daemon, partition, record); /* it is a few hundred bytes: it fits */
    }
    metrics_add(daemon->metrics, METRIC_RECORDS_READ, partition->source_index, 0, 1);
    if (!taken.cancel) {
        struct span row = buffer_span(&daemon->row);
        taken.bytes = (uint32_t)row.length;
        taken.ref = arena_add(&daemon->arena, row);
    }
    daemon_input(daemon, INPUT_RECORD, partition)->as.record = taken;
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
                  "progress was not committed (%s); deliveries go on, and a newer commit follows soon", event->text);
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
                  LOG_FIELDS(LOG_TEXT("topic", event->topic), LOG_NUMBER("partition", event->partition)),
                  "reading %s/%" PRId32 " has trouble, and is tried again; what is pending leaves all the same: %s", event->topic, event->partition, event->text);
        return;
    }
    daemon->connected = event->kind == SOURCE_CONNECTED;
    daemon->was_connected = daemon->was_connected || daemon->connected;
    snprintf(daemon->trouble, sizeof(daemon->trouble), "%s", daemon->connected ? "" : event->text);
    log_write(daemon->connected ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, daemon->connected ? "kafka_up" : "kafka_trouble", NULL, 0,
              daemon->connected ? "connected to Kafka%s" : "Kafka cannot be reached; what is due waits in order and leaves when it is back: %s",
              daemon->connected ? "" : event->text);
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

static void settle(struct daemon *daemon, struct in_flight_item *item, const struct sink_report *report)
{
    if (item->told != NULL) {
        item->told->target_partition = report->partition;
        item->told->target_offset = report->offset;
    }
    if (daemon_transaction_exact(daemon)) {
        daemon_transaction_note(daemon, item);
    } else {
        daemon_outcomes_settled(daemon, item);
    }
}

static void take_report(struct daemon *daemon, const struct sink_report *report)
{
    if (report->copy) {
        daemon_again_report(daemon, report);
        return;
    }
    struct in_flight_item *item = report->token;
    const struct partition *partition = partitions_at(&daemon->partitions, item->slot);
    if (report->delivered) {
        metrics_observe(daemon->metrics, METRIC_DELIVERY_SECONDS, 0, 0, (double)(daemon->now.mono.ms - item->sent_ms) / 1000.0);
        settle(daemon, item, report);
    } else {
        metrics_add(daemon->metrics, METRIC_DELIVERY_FAILURES, item->lane, (size_t)report->failure, 1);
        if (report->failure != DELIVERY_UNDONE) { /* its transaction says why */
            daemon_log_failure(daemon, item->lane, report);
        }
        if (report->failure != DELIVERY_UNDONE) { /* thousands of neighbours must not push the culprit's words out */
            in_flight_note(&daemon->in_flight, item, report->reason, report->error);
        }
    }
    if (partition != NULL && partition->gained && partition->epoch == item->epoch) {
        struct input *input =
            daemon_input(daemon, report->delivered ? INPUT_DELIVERED : INPUT_DELIVERY_FAILED, partition);
        input->as.delivery = (struct input_delivery){.lane = item->lane,
                                                     .sequence = item->sequence,
                                                     .failure = report->failure,
                                                     .target_hash = report->target_hash,
                                                     .again = report->delivered && item->again,
                                                     .why = item->why};
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
