/*
 * Who has written a record through the API waits for what becomes of it: it is known again when it is read (header tarry-request), and its end is told when the core has decided.
 *
 * A record that is neither conditional nor without a first time is scheduled when the step in which it was read has not let it fall. Anything undecided is when what was
 * decided is read back. A cancel is when its outcome comes.
 */
#include "ops/daemon_state.h"

#define EVENTS_LOOKED_AT 32 /* of an id's history */

bool daemon_watch_add(struct daemon *daemon, struct request_watch *watch)
{
    if (daemon->watches.count == DAEMON_WATCHES_MAX) {
        return false;
    }
    daemon->watches.items[daemon->watches.count++] = watch;
    return true;
}

void daemon_watch_close(struct daemon *daemon)
{
    for (size_t i = 0; i < daemon->watches.count; i++) {
        request_watch_drop(daemon->watches.items[i]);
    }
    daemon->watches.count = 0;
}

/* `offset`: of its record; -1: the place for which none was read yet. NULL: it has no such place that waits. */
static struct request_watch_place *find_place(struct request_watch *watch, slot_index slot, uint32_t epoch, int64_t offset)
{
    size_t count;
    struct request_watch_place *places = request_watch_places(watch, &count);
    for (size_t i = 0; i < count; i++) {
        if (places[i].slot == slot && places[i].epoch == epoch && places[i].offset == offset && places[i].end == REQUEST_WATCH_OPEN) {
            return &places[i];
        }
    }
    return NULL;
}

static void finish(struct request_watch *watch, struct request_watch_place *place, enum request_watch_end end, int64_t due_ms, int64_t at_ms)
{
    request_watch_lock(watch);
    place->end = end;
    place->due_ms = due_ms;
    place->at_ms = at_ms;
    request_watch_unlock(watch);
}

static void refuse(struct request_watch *watch, struct request_watch_place *place, int64_t offset, const struct refusal *refusal)
{
    request_watch_lock(watch);
    request_watch_refuse(watch, refusal);
    place->offset = offset;
    place->end = REQUEST_WATCH_REFUSED;
    request_watch_unlock(watch);
}

/* The place of the record with that word, when it is the first one that is read there. */
static struct request_watch_place *find_word(struct daemon *daemon, const struct partition *partition, struct span word, struct request_watch **watch)
{
    for (size_t i = 0; word.data != NULL && i < daemon->watches.count; i++) {
        *watch = daemon->watches.items[i];
        if (span_equal(request_watch_word(*watch), word)) {
            return find_place(*watch, partition->slot, partition->epoch, -1);
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- rows */

bool daemon_watch_row(struct daemon *daemon,
                      const struct partition *partition,
                      const struct core_event *event,
                      void (*look)(void *context, const struct row *row),
                      void *context)
{
    struct error error;
    struct row row;
    struct span bytes;
    bool was_reading = daemon->store_reading;
    if (event->ref != 0) {
        bytes = arena_row(event->ref);
    } else if (event->lane >= daemon->lanes.count || !daemon_commands_stored(daemon, partition->slot, event->lane, event->key, &bytes, &error)) {
        bytes = SPAN_ABSENT;
    }
    bool found = bytes.data != NULL && row_decode(bytes, &row, &error);
    if (found) {
        look(context, &row);
    }
    if (daemon->store_reading && !was_reading) { /* the next step's reads need a snapshot of their own */
        store_read_end(daemon->store);
        daemon->store_reading = false;
    }
    return found;
}

static void note_recurrence(void *context, const struct row *row)
{
    *(int *)context = daemon_schedules_recurs(row);
}

/* Whether what a cancel is about comes again: before the core ends it. */
static int recurs(struct daemon *daemon, const struct partition *partition, const struct input_record *cancel)
{
    struct core_event event;
    int known = -1;
    if (core_look_id(daemon->core, partition->slot, cancel->id, &cancel->found, &event)) {
        (void)daemon_watch_row(daemon, partition, &event, note_recurrence, &known);
    }
    return known;
}

/* ------------------------------------------------------------------------------------------------- what is read */

/* What was decided of an undecided record, read back. */
static void read_decision(struct daemon *daemon, const struct partition *partition, const struct decoded *decoded)
{
    for (size_t i = 0; i < daemon->watches.count; i++) {
        struct request_watch *watch = daemon->watches.items[i];
        struct request_watch_place *place = find_place(watch, partition->slot, partition->epoch, decoded->root);
        if (place != NULL && place->undecided && !decoded->undecided) {
            finish(watch, place, REQUEST_WATCH_SCHEDULED, decoded->due_ms, -1);
        }
    }
}

void daemon_watch_read(struct daemon *daemon, const struct partition *partition, const struct input_record *taken, const struct decoded *decoded)
{
    struct request_watch *watch;
    if (daemon->watches.count == 0) {
        return;
    }
    if (decoded->root >= 0) {
        read_decision(daemon, partition, decoded);
        return;
    }
    struct request_watch_place *place = find_word(daemon, partition, decoded->request, &watch);
    if (place == NULL) {
        return;
    }
    bool known = !taken->cancel && !decoded->undecided;
    int comes_again = taken->cancel ? recurs(daemon, partition, taken) : -1;
    request_watch_lock(watch);
    place->offset = taken->offset;
    place->cancel = taken->cancel;
    place->undecided = !taken->cancel && decoded->undecided;
    place->recurs = comes_again;
    place->due_ms = known ? decoded->due_ms : -1;
    request_watch_unlock(watch);
}

void daemon_watch_refused(struct daemon *daemon, const struct partition *partition, const struct record *record, const struct refusal *refusal)
{
    struct request_watch *watch;
    if (daemon->watches.count == 0) {
        return;
    }
    struct span word = decode_request(&daemon->sources[partition->source_index].rules, record);
    struct request_watch_place *place = find_word(daemon, partition, word, &watch);
    if (place != NULL) {
        refuse(watch, place, record->offset, refusal);
    }
}

/* ------------------------------------------------------------------------------------------------- what became of it */

enum request_watch_end daemon_watch_past(const struct daemon *daemon, const struct partition *partition, struct span id, int64_t *at_ms)
{
    struct history_event events[EVENTS_LOOKED_AT];
    size_t count = history_state(daemon->outcomes.history, id, events, EVENTS_LOOKED_AT);
    for (size_t i = 0; i < count; i++) {
        const struct history_event *event = &events[i];
        if (event->source_partition != partition->number || !span_equals_text(event->source_topic, partition->topic)) {
            continue;
        }
        switch (event->outcome) {
        case HISTORY_DELIVERED:
            *at_ms = event->at_ms;
            return REQUEST_WATCH_DELIVERED;
        case HISTORY_CANCELLED:
        case HISTORY_SKIPPED: /* nothing is pending: so it was a control that ended what was to come */
            *at_ms = event->at_ms;
            return REQUEST_WATCH_ALREADY;
        case HISTORY_LETTER:
        case HISTORY_REPLACED:
        case HISTORY_DROPPED_LATE:
        case HISTORY_EXPIRED:
        case HISTORY_NEXT:
            return REQUEST_WATCH_NOT_FOUND;
        case HISTORY_REJECTED: /* these tell of others, or change nothing */
        case HISTORY_DUPLICATE:
        case HISTORY_TOO_LATE:
        case HISTORY_NOT_FOUND:
        case HISTORY_MOVED:
        case HISTORY_PAUSED:
        case HISTORY_RESUMED:
        case HISTORY_FINISHED:
        case HISTORY_OUTCOMES:
            break;
        }
    }
    return REQUEST_WATCH_NOT_FOUND;
}

static void take_of_cancel(struct daemon *daemon,
                           const struct partition *partition,
                           struct request_watch *watch,
                           struct request_watch_place *place,
                           const struct command_outcome *outcome)
{
    int64_t at_ms = -1;
    if (outcome->outcome == OUTCOME_CANCELLED) {
        finish(watch, place, REQUEST_WATCH_CANCELLED, outcome->event_due_ms, -1);
    } else if (outcome->outcome == OUTCOME_TOO_LATE) {
        finish(watch, place, place->recurs == 1 ? REQUEST_WATCH_STOPPED : REQUEST_WATCH_TOO_LATE, outcome->event_due_ms, -1);
    } else if (outcome->outcome == OUTCOME_NOT_FOUND) {
        enum request_watch_end end = daemon_watch_past(daemon, partition, request_watch_id(watch), &at_ms);
        finish(watch, place, end, -1, at_ms);
    }
}

static void take_of_event(struct request_watch *watch, struct request_watch_place *place, enum outcome outcome)
{
    if (outcome == OUTCOME_DUPLICATE) {
        finish(watch, place, REQUEST_WATCH_DUPLICATE, place->due_ms, -1);
    } else if (outcome == OUTCOME_REJECTED) {
        finish(watch, place, REQUEST_WATCH_EXISTS, -1, -1);
    } else if (place->undecided) {
        finish(watch, place, REQUEST_WATCH_DROPPED, -1, -1);
    }
}

void daemon_watch_outcome(struct daemon *daemon, const struct partition *partition, const struct command_outcome *outcome)
{
    for (size_t i = 0; i < daemon->watches.count; i++) {
        struct request_watch *watch = daemon->watches.items[i];
        struct request_watch_place *control = outcome->control_offset < 0 ? NULL : find_place(watch, partition->slot, partition->epoch, outcome->control_offset);
        struct request_watch_place *event = outcome->event_offset < 0 ? NULL : find_place(watch, partition->slot, partition->epoch, outcome->event_offset);
        if (control != NULL && control->cancel) {
            take_of_cancel(daemon, partition, watch, control, outcome);
        } else if (event != NULL && !event->cancel) {
            take_of_event(watch, event, outcome->outcome);
        }
    }
}

/* Of one that was read as undecided: it has no time, for example in a zone that this host does not have. What is refused at once was told then. */
void daemon_watch_letter(struct daemon *daemon, const struct in_flight_item *item)
{
    static const struct refusal never = {REFUSAL_BAD_SCHEDULE, "when it is due could not be worked out: its dead letter says why"};
    for (size_t i = 0; item->told != NULL && i < daemon->watches.count; i++) {
        struct request_watch *watch = daemon->watches.items[i];
        struct request_watch_place *place = find_place(watch, item->slot, item->epoch, item->told->offset);
        if (place != NULL && place->undecided) {
            refuse(watch, place, place->offset, &never);
        }
    }
}

static void look_after(struct daemon *daemon, struct request_watch *watch)
{
    size_t count;
    struct request_watch_place *places = request_watch_places(watch, &count);
    for (size_t i = 0; i < count; i++) {
        const struct partition *partition = partitions_at(&daemon->partitions, places[i].slot);
        if (places[i].end != REQUEST_WATCH_OPEN) {
            continue;
        }
        if (partition == NULL || partition->epoch != places[i].epoch || !partition->gained) {
            finish(watch, &places[i], REQUEST_WATCH_LOST, -1, -1);
        } else if (places[i].offset >= 0 && !places[i].cancel && !places[i].undecided) {
            finish(watch, &places[i], REQUEST_WATCH_SCHEDULED, places[i].due_ms, -1);
        }
    }
}

void daemon_watch_stepped(struct daemon *daemon)
{
    struct daemon_watches *watches = &daemon->watches;
    size_t i = 0;
    while (i < watches->count) {
        if (request_watch_left(watches->items[i])) {
            request_watch_drop(watches->items[i]);
            watches->items[i] = watches->items[--watches->count];
        } else {
            look_after(daemon, watches->items[i]);
            i++;
        }
    }
}
