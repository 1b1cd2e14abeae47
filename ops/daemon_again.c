/* Records that are written again to the end of their own partition (R4): what is other in them than before, and what is told of it. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "bridge/time_text.h"
#include "ops/daemon_state.h"

#define READY_MS 2000 /* after the order to stop, for the first transaction of an instance */

static const struct outgoing_again as_the_row_says = {.due_ms = 0, .not_before_ms = 0, .runs = -1};

/* ------------------------------------------------------------------------------------------------- what is other */

/* `fired`: false of an occurrence that misfire let fall, which counts as no run, whatever the clock says by now. */
static enum daemon_decided
next(struct daemon *daemon, const struct partition *partition, const struct row *row, int64_t offset, bool fired, struct outgoing_again *again)
{
    struct recurrence_step step;
    if (!daemon_schedules_step(daemon, partition, row, offset, &step)) {
        return DAEMON_DECIDED_NEVER;
    }
    if (step.finished) {
        return DAEMON_DECIDED_NOTHING;
    }
    *again = as_the_row_says;
    again->due_ms = step.next_due_ms;
    again->runs = row->decoded.recurrence.runs + (fired ? 1 : 0);
    return DAEMON_DECIDED_WRITE;
}

/* Of a cron whose first time is not known: finds it. False: it never comes. */
static bool find_first(struct daemon *daemon, const struct partition *partition, const struct row *row, int64_t offset, int64_t *due_ms)
{
    bool unknown = row->decoded.undecided && row->decoded.recurrence.kind == DECODE_RECURRENCE_CRON && row->decoded.due_ms == DUE_SINCE_EVER;
    return !unknown || daemon_schedules_first(daemon, partition, row, offset, due_ms);
}

enum daemon_decided
daemon_again_decide(struct daemon *daemon, const struct partition *partition, const struct row *row, int64_t offset, struct outgoing_again *again)
{
    *again = as_the_row_says;
    again->due_ms = row->decoded.due_ms;
    if (row->decoded.conditional) {
        struct record_id id = daemon_ids_hash(daemon, row->decoded.id);
        struct stored_event found = daemon_ids_find(daemon, partition, id);
        int64_t root = row->root >= 0 ? row->root : offset;
        if (daemon->failed || core_decide(daemon->core, partition->slot, partition->epoch, id, root, &found) != DECISION_ACCEPT) {
            return DAEMON_DECIDED_NOTHING;
        }
    }
    return find_first(daemon, partition, row, offset, &again->due_ms) ? DAEMON_DECIDED_WRITE : DAEMON_DECIDED_NEVER;
}

/* The time that it has of its own, of what is moved or paused. */
static enum daemon_decided find_own(struct daemon *daemon, const struct partition *partition, const struct row *row, int64_t offset, int64_t *due_ms)
{
    *due_ms = row->decoded.due_ms;
    return find_first(daemon, partition, row, offset, due_ms) ? DAEMON_DECIDED_WRITE : DAEMON_DECIDED_NEVER;
}

enum daemon_decided daemon_again_make(struct daemon *daemon,
                                      const struct partition *partition,
                                      const struct command_copy *command,
                                      const struct row *row,
                                      struct outgoing_again *again,
                                      const struct outgoing_again **how)
{
    *how = again;
    *again = as_the_row_says;
    again->due_ms = row->decoded.due_ms;
    switch (command->why) {
    case COPY_FORWARD:
    case COPY_LATER:
        *how = NULL;
        return DAEMON_DECIDED_WRITE;
    case COPY_NEXT:
        return next(daemon, partition, row, command->key.offset, true, again);
    case COPY_DECIDED: /* of what is decided already: an occurrence that misfire let fall */
        return row->decoded.undecided ? daemon_again_decide(daemon, partition, row, command->key.offset, again)
                                      : next(daemon, partition, row, command->key.offset, false, again);
    case COPY_MOVED:
        again->due_ms = command->due_ms;
        return command->due_ms != DUE_SINCE_EVER ? DAEMON_DECIDED_WRITE
                                                 : find_own(daemon, partition, row, command->key.offset, &again->due_ms); /* resumed */
    case COPY_PAUSED:
        again->not_before_ms = TIME_TEXT_LAST_MS;
        return find_own(daemon, partition, row, command->key.offset, &again->due_ms);
    }
    return DAEMON_DECIDED_NEVER;
}

/* ------------------------------------------------------------------------------------------------- writing it */

static size_t label_of(enum copy_why why)
{
    static const enum metrics_why labels[] = {
        [COPY_FORWARD] = METRICS_WHY_COPY,    [COPY_LATER] = METRICS_WHY_LETTER, [COPY_NEXT] = METRICS_WHY_NEXT,
        [COPY_DECIDED] = METRICS_WHY_DECIDED, [COPY_MOVED] = METRICS_WHY_MOVED,  [COPY_PAUSED] = METRICS_WHY_PAUSED,
    };
    return labels[why];
}

static void note_end(struct daemon_copies *copies, const struct partition *partition)
{
    for (size_t i = copies->end_count; i > 0; i--) { /* copies come partition by partition */
        if (copies->ends[i - 1].slot == partition->slot && copies->ends[i - 1].epoch == partition->epoch) {
            return;
        }
    }
    if (copies->end_count == copies->end_capacity) {
        copies->end_capacity = copies->end_capacity == 0 ? 16 : copies->end_capacity * 2;
        copies->ends = memory_resize(copies->ends, copies->end_capacity, sizeof(*copies->ends));
    }
    copies->ends[copies->end_count++] = (struct copied_end){partition->slot, partition->epoch, -1};
}

static struct daemon_copy *note_copy(struct daemon_copies *copies)
{
    if (copies->count == copies->capacity) {
        copies->capacity = copies->capacity == 0 ? 256 : copies->capacity * 2;
        copies->items = memory_resize(copies->items, copies->capacity, sizeof(*copies->items));
    }
    return &copies->items[copies->count++];
}

/* It is told of by its number, as the list may be moved. */
static void *token_of(const struct daemon_copies *copies, enum copy_why why)
{
    bool told = why == COPY_NEXT || why == COPY_DECIDED;
    return told ? (void *)(uintptr_t)copies->count : NULL;
}

void daemon_again_write(struct daemon *daemon,
                        const struct partition *partition,
                        const struct row *row,
                        const struct daemon_place *place,
                        enum copy_why why,
                        const struct outgoing_again *again)
{
    struct sink_origin origin = {partition->topic, partition->number, place->key.offset, place->due_ms, &daemon->sources[partition->source_index].rules};
    struct daemon_copies *copies = &daemon->copies;
    note_end(copies, partition);
    *note_copy(copies) = (struct daemon_copy){
        .slot = partition->slot,
        .epoch = partition->epoch,
        .lane = place->lane,
        .sequence = place->sequence,
        .why = why,
        .resumed = why == COPY_MOVED && !row->refused && row->decoded.paused,
        .due_ms = again == NULL ? place->due_ms : again->due_ms,
        .told = why >= COPY_NEXT ? daemon_outcomes_note(daemon, row, place->key.offset) : NULL,
    };
    bool full = sink_copy(daemon->sink, row, &origin, again, token_of(copies, why)) == SINK_FULL;
    daemon->sink_full = daemon->sink_full || (full && daemon_transaction_exact(daemon)); /* that queue is the deliveries', too */
    bool undecided = !row->refused && row->decoded.conditional && again == NULL; /* it acts on nothing, and nobody finds it */
    struct record_id id = row->refused || undecided ? RECORD_ID_NONE : daemon_ids_hash(daemon, row->decoded.id);
    daemon_input(daemon, INPUT_REAPPENDED, partition)->as.reappended = (struct input_reappended){id, place->key.offset, row->root >= 0 ? row->root : place->key.offset};
}

void daemon_again_fault(struct daemon *daemon, const struct partition *partition, lane_index lane, uint64_t sequence, enum letter_reason reason, const char *text)
{
    struct in_flight_item item = {.slot = partition->slot, .epoch = partition->epoch, .lane = lane, .sequence = sequence};
    in_flight_note(&daemon->in_flight, &item, letter_reason_name(reason), text);
    metrics_add(daemon->metrics, METRIC_DELIVERY_FAILURES, lane, DELIVERY_FAULT, 1);
    daemon_input(daemon, INPUT_DELIVERY_FAILED, partition)->as.delivery =
        (struct input_delivery){.lane = lane, .sequence = sequence, .failure = DELIVERY_FAULT};
}

/* ------------------------------------------------------------------------------------------------- COMMAND_COPY */

/* For good: another topic stands there (R8), or there are no rights. What a delivery has left behind ends here, with a letter; all else stays where it is. */
static void refuse(struct daemon *daemon, const struct partition *partition, const struct command_copy *command, const char *text)
{
    daemon->spoilt = true;
    if (command->why == COPY_NEXT || command->why == COPY_DECIDED) {
        daemon_again_fault(daemon, partition, command->lane, command->sequence, LETTER_REASON_NOT_REAPPENDED, text);
    }
}

void daemon_again_prepare(struct daemon *daemon)
{
    struct error error;
    if (!sink_transaction_ready(daemon->sink) && !sink_transaction_start(daemon->sink, &error)) {
        daemon_fail(daemon, &error);
    }
}

/* At the end there is no later: what was delivered would be delivered again after the next start. Nothing else is under way then that this could hold up. */
static void await_ready(struct daemon *daemon)
{
    int64_t ready_by_ms = daemon->stop_by_ms - daemon->config->shutdown_timeout_ms + READY_MS;
    int64_t until_ms = ready_by_ms < daemon->stop_by_ms ? ready_by_ms : daemon->stop_by_ms;
    int64_t left_ms = until_ms - clock_mono().ms;
    while (left_ms > 0 && !sink_transaction_ready(daemon->sink) && !sink_transaction_refused(daemon->sink)) {
        struct pollfd woken = {daemon->wake_fd, POLLIN, 0}; /* by the sink, too */
        uint64_t count;
        if (poll(&woken, 1, (int)left_ms) > 0 && read(daemon->wake_fd, &count, sizeof(count)) < 0) {
            return;
        }
        left_ms = until_ms - clock_mono().ms;
    }
}

void daemon_again_copy(struct daemon *daemon, const struct partition *partition, const struct command_copy *command)
{
    struct row row;
    struct outgoing_again again;
    const struct outgoing_again *how;
    char text[SINK_ERROR_MAX + 128];
    daemon_again_prepare(daemon);
    if (daemon->stopping) {
        await_ready(daemon);
    }
    if (sink_transaction_refused(daemon->sink)) {
        snprintf(text, sizeof(text), "nothing can be written again, so nothing follows it: %s", sink_transaction_trouble(daemon->sink));
        refuse(daemon, partition, command, text);
        return;
    }
    if (!sink_transaction_ready(daemon->sink)) { /* the first copy of an instance that delivers at least once: it is tried again soon */
        daemon->spoilt = true;
        return;
    }
    if (partition->state == PARTITIONS_DRAINING) {
        refuse(daemon, partition, command,
               "another topic stands where this schedule came from, so that nothing follows it: give it to the new topic again");
        return;
    }
    if (daemon->failed || !daemon_commands_row(daemon, partition, command->lane, command->key, command->ref, &row, NULL)) {
        daemon->spoilt = true;
        return;
    }
    switch (daemon_again_make(daemon, partition, command, &row, &again, &how)) {
    case DAEMON_DECIDED_WRITE: {
        struct daemon_place place = {command->lane, command->sequence, command->key, command->due_ms};
        daemon_again_write(daemon, partition, &row, &place, command->why, how);
        break;
    }
    case DAEMON_DECIDED_NEVER:
        refuse(daemon, partition, command, "no time of its schedule comes any more, or its time zone is not on this host, so nothing follows it: see the log");
        break;
    case DAEMON_DECIDED_NOTHING:
        break;
    }
}

/* ------------------------------------------------------------------------------------------------- what became of them */

void daemon_again_report(struct daemon *daemon, const struct sink_report *report)
{
    size_t number = (size_t)(uintptr_t)report->token;
    if (number == 0 || number > daemon->copies.count) {
        return;
    }
    const struct daemon_copy *copy = &daemon->copies.items[number - 1];
    const struct partition *partition = partitions_at(&daemon->partitions, copy->slot);
    char text[SINK_ERROR_MAX + 128];
    snprintf(text, sizeof(text), "it cannot be written to the end of its own partition again, so nothing follows it: %s", report->error);
    daemon_log_not_reappended(daemon, partition, text);
    if (partition != NULL && partition->gained && partition->epoch == copy->epoch) {
        daemon_again_fault(daemon, partition, copy->lane, copy->sequence, LETTER_REASON_NOT_REAPPENDED, text);
    }
}

void daemon_again_end(struct daemon *daemon, bool committed)
{
    struct daemon_copies *copies = &daemon->copies;
    for (size_t i = 0; i < copies->count; i++) {
        if (committed) {
            metrics_add(daemon->metrics, METRIC_REAPPENDED, label_of(copies->items[i].why), 0, 1);
            daemon_outcomes_copied(daemon, &copies->items[i]);
        }
        free(copies->items[i].told);
    }
    copies->count = 0;
}
