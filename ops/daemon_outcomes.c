/*
 * What became of records: counted for everybody, told to those who ask (ops/history.h) and to the topic of outcomes (history.topic).
 *
 * Nothing rests on it: what is told is final, and what does not fit is counted and let fall.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ops/daemon_state.h"

#define IDS 32768                      /* of records read lately: outcomes come within a commit or two */
#define WAYS 4                         /* places that one may have: of those the oldest gives way */
#define ID_BYTES_MAX ((size_t)16 << 20)
#define JSON_MAX ((size_t)64 << 10)    /* an id of 4,096 bytes, each escaped, and names */
#define POLL_MS 1000

struct daemon_id {
    slot_index slot;
    uint32_t epoch;
    int64_t offset;
    uint16_t length; /* 0: none is here */
    uint64_t turn;   /* greater than that of what was read before */
    int64_t root;         /* of the record, -1: it is its own */
    int64_t found_offset; /* what the checkpoint knew of the id when it was read, and the root of that; -1: none */
    int64_t found_root;
    uint8_t *bytes;
};

bool daemon_outcomes_open(struct daemon *daemon, struct error *error)
{
    struct daemon_outcomes *outcomes = &daemon->outcomes;
    const struct config *config = daemon->config;
    outcomes->history = history_new(HISTORY_EVENTS_MAX, HISTORY_BYTES_MAX);
    outcomes->ids = memory_new(IDS, sizeof(*outcomes->ids));
    outcomes->json = buffer_new(JSON_MAX);
    if (config->history_topic == NULL) {
        return true;
    }
    struct history_sink_options options = {.properties = config->kafka_producer.items,
                                           .property_count = config->kafka_producer.count,
                                           .instance = config->instance,
                                           .topic = config->history_topic,
                                           .wake_fd = daemon->wake_fd};
    return history_sink_open(&options, &outcomes->sink, error);
}

void daemon_outcomes_close(struct daemon *daemon)
{
    struct daemon_outcomes *outcomes = &daemon->outcomes;
    history_sink_close(outcomes->sink);
    history_free(outcomes->history);
    for (size_t i = 0; outcomes->ids != NULL && i < IDS; i++) {
        free(outcomes->ids[i].bytes);
    }
    free(outcomes->ids);
    buffer_free(&outcomes->json);
}

void daemon_outcomes_poll(struct daemon *daemon)
{
    struct daemon_outcomes *outcomes = &daemon->outcomes;
    if (outcomes->sink != NULL) {
        history_sink_poll(outcomes->sink, &outcomes->counts);
        outcomes->poll_at_ms = daemon->now.mono.ms + POLL_MS;
    }
}

int64_t daemon_outcomes_deadline(const struct daemon *daemon)
{
    return daemon->outcomes.sink == NULL ? TIME_NEVER : daemon->outcomes.poll_at_ms;
}

/* ------------------------------------------------------------------------------------------------- ids read lately */

/* The WAYS places that a record's id may have. */
static struct daemon_id *places_of(const struct daemon *daemon, const struct partition *partition, int64_t offset)
{
    uint64_t named[2] = {(uint64_t)partition->epoch << 32 | partition->slot, (uint64_t)offset};
    return &daemon->outcomes.ids[daemon_ids_place(named, sizeof(named)) % (IDS / WAYS) * WAYS];
}

/* The one that was not used for the longest. */
static struct daemon_id *oldest_of(struct daemon_id *places)
{
    struct daemon_id *oldest = places;
    for (size_t i = 1; i < WAYS; i++) {
        oldest = places[i].turn < oldest->turn ? &places[i] : oldest;
    }
    return oldest;
}

void daemon_outcomes_read(struct daemon *daemon, const struct partition *partition, int64_t offset, struct span id)
{
    struct daemon_outcomes *outcomes = &daemon->outcomes;
    struct daemon_id *kept = oldest_of(places_of(daemon, partition, offset));
    outcomes->id_bytes -= kept->length;
    free(kept->bytes);
    *kept = (struct daemon_id){0};
    if (outcomes->id_bytes + id.length <= ID_BYTES_MAX) {
        *kept = (struct daemon_id){.slot = partition->slot,
                                   .epoch = partition->epoch,
                                   .offset = offset,
                                   .length = (uint16_t)id.length,
                                   .turn = ++outcomes->id_turn,
                                   .root = -1,
                                   .found_offset = -1,
                                   .found_root = -1,
                                   .bytes = (uint8_t *)memory_text(id.data, id.length)};
        outcomes->id_bytes += id.length;
    }
}

static struct daemon_id *find_kept(const struct daemon *daemon, const struct partition *partition, int64_t offset)
{
    struct daemon_id *places = places_of(daemon, partition, offset);
    for (size_t i = 0; i < WAYS && offset >= 0; i++) {
        struct daemon_id *kept = &places[i];
        if (kept->length > 0 && kept->slot == partition->slot && kept->epoch == partition->epoch && kept->offset == offset) {
            return kept;
        }
    }
    return NULL;
}

void daemon_outcomes_root(struct daemon *daemon, const struct partition *partition, const struct input_record *taken)
{
    struct daemon_id *kept = find_kept(daemon, partition, taken->offset);
    if (kept != NULL) {
        kept->root = taken->root;
        kept->found_offset = taken->found.offset;
        kept->found_root = taken->found.root;
    }
}

static struct span find_id(const struct daemon *daemon, const struct partition *partition, int64_t offset)
{
    const struct daemon_id *kept = find_kept(daemon, partition, offset);
    return kept == NULL ? SPAN_ABSENT : (struct span){kept->bytes, kept->length};
}

/* Where a person wrote the event: known of what was read lately, and of what the checkpoint knew when its control was read. Else it is where it stands now. */
static int64_t root_of(const struct daemon *daemon, const struct partition *partition, const struct command_outcome *outcome)
{
    const struct daemon_id *event = find_kept(daemon, partition, outcome->event_offset);
    const struct daemon_id *control = find_kept(daemon, partition, outcome->control_offset);
    if (event != NULL) {
        return event->root >= 0 ? event->root : event->offset;
    }
    bool was_found = control != NULL && control->found_offset == outcome->event_offset && control->found_root >= 0;
    return was_found ? control->found_root : outcome->event_offset;
}

/* ------------------------------------------------------------------------------------------------- telling */

static bool is_watched(const struct daemon *daemon)
{
    return daemon->feed != NULL && event_feed_watched(daemon->feed);
}

static void tell(struct daemon *daemon, const struct history_event *event)
{
    struct daemon_outcomes *outcomes = &daemon->outcomes;
    struct error error;
    bool watched = is_watched(daemon);
    history_add(outcomes->history, event);
    if (outcomes->sink == NULL && !watched) {
        return;
    }
    buffer_clear(&outcomes->json);
    bool made = history_json(&outcomes->json, event, &error);
    if (made && watched) {
        event_feed_add(daemon->feed, history_outcome_name(event->outcome), event->id, event->target, buffer_span(&outcomes->json));
    }
    if (outcomes->sink != NULL && (!made || !history_sink_send(outcomes->sink, event->id, buffer_span(&outcomes->json)))) {
        outcomes->no_room++;
    }
}

/* Of a refused record nothing was decoded; but whoever wrote it knows it by its id. */
static struct span id_of_refused(const struct row *row)
{
    struct span rest = row->headers;
    struct record_header header;
    bool damaged = false;
    while (row_next_header(&rest, &header, &damaged)) {
        if (span_equals_text(header.name, "tarry-id") && header.value.data != NULL && header.value.length > 0 && header.value.length <= DECODE_ID_MAX) {
            return header.value;
        }
    }
    return SPAN_ABSENT;
}

struct in_flight_told *daemon_outcomes_note(const struct daemon *daemon, const struct row *row, int64_t offset)
{
    struct span id = row->refused ? id_of_refused(row) : row->decoded.id;
    struct span target = row->refused ? SPAN_ABSENT : row->decoded.target;
    if (id.data == NULL && daemon->outcomes.sink == NULL && !is_watched(daemon)) {
        return NULL;
    }
    struct in_flight_told *told = memory_new(1, sizeof(*told) + id.length + target.length + 1);
    told->offset = row->root >= 0 ? row->root : offset;
    told->target_partition = -1;
    told->target_offset = -1;
    told->id_length = (uint16_t)id.length; /* DECODE_ID_MAX, and 249, at most */
    told->target_length = (uint16_t)target.length;
    if (id.data != NULL) {
        memcpy(told->bytes, id.data, id.length);
    }
    if (target.data != NULL) {
        memcpy(told->bytes + id.length, target.data, target.length);
    }
    return told;
}

static struct history_event event_of(const struct daemon *daemon, const struct in_flight_told *told, const struct partition *partition)
{
    return (struct history_event){
        .id = told->id_length == 0 ? SPAN_ABSENT : (struct span){told->bytes, told->id_length},
        .source_topic = span_of_text(partition->topic),
        .source_partition = partition->number,
        .source_offset = told->offset,
        .due_ms = -1,
        .at_ms = daemon->now.wall.ms,
        .target = SPAN_ABSENT,
        .target_partition = -1,
        .target_offset = -1,
        .lateness_ms = -1,
    };
}

static enum history_outcome outcome_of(const struct in_flight_item *item)
{
    if (item->end == IN_FLIGHT_DROPPED) {
        return HISTORY_DROPPED_LATE;
    }
    if (item->end == IN_FLIGHT_SKIPPED) {
        return HISTORY_SKIPPED;
    }
    if (item->as_letter) {
        return item->reason == LETTER_REASON_EXPIRED ? HISTORY_EXPIRED : HISTORY_LETTER;
    }
    return HISTORY_DELIVERED;
}

static void tell_settled(struct daemon *daemon, const struct in_flight_item *item, int64_t lateness_ms)
{
    const struct partition *partition = partitions_at(&daemon->partitions, item->slot);
    const struct in_flight_told *told = item->told;
    if (told == NULL || partition == NULL || partition->epoch != item->epoch) {
        return; /* it has another owner: whose word is the last one, nobody here knows */
    }
    struct history_event event = event_of(daemon, told, partition);
    event.outcome = outcome_of(item);
    event.due_ms = item->refused ? -1 : item->due_ms;
    event.reason = item->as_letter ? letter_reason_name((enum letter_reason)item->reason) : NULL;
    event.refused = item->refused;
    if (event.outcome == HISTORY_DELIVERED) {
        event.target = (struct span){told->bytes + told->id_length, told->target_length};
        event.target_partition = told->target_partition;
        event.target_offset = told->target_offset;
        event.lateness_ms = lateness_ms;
    }
    tell(daemon, &event);
    if (told->finished) {
        struct history_event last = event_of(daemon, told, partition);
        last.outcome = HISTORY_FINISHED;
        tell(daemon, &last);
    }
}

/* A letter that the target's will or the record's own fault made; expired and late ones count among the letters alone. */
static void count_letter(struct daemon *daemon, const struct in_flight_item *item)
{
    if (!item->refused && item->reason != LETTER_REASON_EXPIRED && item->reason != LETTER_REASON_LATE) {
        metrics_add(daemon->metrics, METRIC_UNDELIVERABLE, item->lane, item->reason, 1);
        metrics_add(daemon->metrics, METRIC_RECORDS_REFUSED, item->source_index, item->reason, 1);
    }
}

void daemon_outcomes_settled(struct daemon *daemon, const struct in_flight_item *item)
{
    int64_t lateness_ms = daemon->now.wall.ms - item->due_ms;
    lateness_ms = lateness_ms < 0 ? 0 : lateness_ms;
    if (item->end == IN_FLIGHT_DROPPED) {
        metrics_add(daemon->metrics, METRIC_DROPPED_LATE, item->source_index, 0, 1);
    } else if (item->end == IN_FLIGHT_SKIPPED) {
        metrics_add(daemon->metrics, METRIC_SKIPPED, item->source_index, METRICS_SKIP_MISFIRE, 1);
    } else if (item->as_letter) {
        count_letter(daemon, item);
        daemon_watch_letter(daemon, item);
    } else {
        metrics_add(daemon->metrics, METRIC_DELIVERED, item->lane, 0, 1);
        recent_rate_add(&daemon->outcomes.delivered, daemon->now.mono.ms, 1);
        metrics_observe(daemon->metrics, METRIC_LATENESS_SECONDS, item->lane, 0, (double)lateness_ms / 1000.0);
    }
    tell_settled(daemon, item, lateness_ms);
}

void daemon_outcomes_copied(struct daemon *daemon, const struct daemon_copy *copy)
{
    const struct partition *partition = partitions_at(&daemon->partitions, copy->slot);
    if (copy->told == NULL || partition == NULL || partition->epoch != copy->epoch) {
        return;
    }
    struct history_event event = event_of(daemon, copy->told, partition);
    event.due_ms = copy->due_ms;
    event.outcome = copy->why == COPY_PAUSED ? HISTORY_PAUSED : copy->resumed ? HISTORY_RESUMED : copy->why == COPY_MOVED ? HISTORY_MOVED : HISTORY_NEXT;
    tell(daemon, &event);
}

/* ------------------------------------------------------------------------------------------------- the core's word */

static enum history_outcome count(struct daemon *daemon, size_t source, const struct command_outcome *outcome)
{
    switch (outcome->outcome) {
    case OUTCOME_CANCELLED:
        metrics_add(daemon->metrics, METRIC_CANCELLED, source, 0, 1);
        return HISTORY_CANCELLED;
    case OUTCOME_REPLACED:
        metrics_add(daemon->metrics, METRIC_REPLACED, source, 0, 1);
        return HISTORY_REPLACED;
    case OUTCOME_TOO_LATE:
        metrics_add(daemon->metrics, METRIC_TOO_LATE, outcome->by_cancel ? METRICS_ACTION_CANCEL : METRICS_ACTION_REPLACE, 0, 1);
        return HISTORY_TOO_LATE;
    case OUTCOME_NOT_FOUND:
        metrics_add(daemon->metrics, METRIC_NOT_FOUND, source, 0, 1);
        return HISTORY_NOT_FOUND;
    case OUTCOME_DUPLICATE:
        metrics_add(daemon->metrics, METRIC_REJECTED, source, METRICS_REJECTION_DUPLICATE, 1);
        return HISTORY_DUPLICATE;
    case OUTCOME_REJECTED:
        metrics_add(daemon->metrics, METRIC_REJECTED, source, METRICS_REJECTION_EXISTS, 1);
        return HISTORY_REJECTED;
    case OUTCOME_DROPPED:
        metrics_add(daemon->metrics, METRIC_REJECTED, source, METRICS_REJECTION_DROPPED, 1);
        return HISTORY_REJECTED;
    case OUTCOME_SKIPPED:
    case OUTCOME_COUNT:
        break;
    }
    metrics_add(daemon->metrics, METRIC_SKIPPED, source, METRICS_SKIP_ENDED, 1);
    return HISTORY_SKIPPED;
}

void daemon_outcomes_take(struct daemon *daemon, const struct partition *partition, const struct command_outcome *outcome)
{
    if (partition == NULL) {
        return;
    }
    daemon_watch_outcome(daemon, partition, outcome);
    struct span id = find_id(daemon, partition, outcome->control_offset);
    struct history_event event = {
        .id = id.data != NULL ? id : find_id(daemon, partition, outcome->event_offset),
        .source_topic = span_of_text(partition->topic),
        .source_partition = partition->number,
        .source_offset = outcome->event_offset >= 0 ? root_of(daemon, partition, outcome) : outcome->control_offset,
        .due_ms = outcome->event_offset >= 0 ? outcome->event_due_ms : -1,
        .outcome = count(daemon, partition->source_index, outcome),
        .at_ms = daemon->now.wall.ms,
        .target = SPAN_ABSENT,
        .target_partition = -1,
        .target_offset = -1,
        .lateness_ms = -1,
    };
    event.due_ms = event.due_ms == DUE_SINCE_EVER ? -1 : event.due_ms;
    tell(daemon, &event);
}
