/* COMMAND_DELIVER: what is due goes to its target, becomes a dead letter, is let fall, or is decided upon (R10). Answers become facts for the next step. */
#include "bridge/refusal.h"
#include "ops/daemon_state.h"

/* One command, and what is known of its record. */
struct delivery {
    const struct partition *partition;
    const struct command_deliver *command;
    struct row row;
    struct span bytes;
    bool fires;                  /* of a recurrence: this occurrence does; else always */
    bool again;                  /* the record is written again after it */
    struct outgoing_again again_as; /* of `again` */
};

static int64_t root_of(const struct delivery *delivery)
{
    return delivery->row.root >= 0 ? delivery->row.root : delivery->command->key.offset;
}

static struct in_flight_item *new_item(struct daemon *daemon, const struct delivery *delivery)
{
    const struct row *row = &delivery->row;
    struct in_flight_item *item = in_flight_take(&daemon->in_flight);
    *item = (struct in_flight_item){
        .slot = delivery->partition->slot,
        .epoch = delivery->partition->epoch,
        .lane = delivery->command->lane,
        .source_index = delivery->partition->source_index,
        .sequence = delivery->command->sequence,
        .due_ms = row->refused || row->decoded.undecided ? delivery->command->key.due_ms : row->decoded.due_ms,
        .sent_ms = daemon->now.mono.ms,
        .again = delivery->again,
        .why = delivery->fires ? COPY_NEXT : COPY_DECIDED,
        .told = daemon_outcomes_note(daemon, row, delivery->command->key.offset),
    };
    if (item->told != NULL) {
        item->told->finished = daemon_schedules_recurs(row) && !row->decoded.undecided && !delivery->again;
    }
    return item;
}

/* With exactly_once what follows a delivery is in its transaction; at least once it comes after the acknowledgement (COMMAND_COPY). */
static void write_again(struct daemon *daemon, const struct delivery *delivery, enum copy_why why)
{
    if (delivery->again && daemon_transaction_exact(daemon)) {
        struct daemon_place place = {delivery->command->lane, delivery->command->sequence, delivery->command->key, delivery->again_as.due_ms};
        daemon_again_write(daemon, delivery->partition, &delivery->row, &place, why, &delivery->again_as);
    }
}

/* ------------------------------------------------------------------------------------------------- not sent */

static void not_taken(struct daemon *daemon, const struct partition *partition, const struct command_deliver *deliver)
{
    daemon->spoilt = daemon->spoilt || daemon_transaction_exact(daemon);
    daemon->sink_full = true; /* the rest of this turn is not even tried, so that the order stays */
    daemon_input(daemon, INPUT_SINK_FULL, partition)->as.delivery =
        (struct input_delivery){.lane = deliver->lane, .sequence = deliver->sequence};
}

static void not_sent(struct daemon *daemon, const struct partition *partition, const struct in_flight_item *item, const struct sink_report *report)
{
    metrics_add(daemon->metrics, METRIC_DELIVERY_FAILURES, item->lane, (size_t)report->failure, 1);
    daemon->spoilt = daemon->spoilt || daemon_transaction_exact(daemon);
    in_flight_note(&daemon->in_flight, item, report->reason, report->error);
    daemon_input(daemon, INPUT_DELIVERY_FAILED, partition)->as.delivery =
        (struct input_delivery){.lane = item->lane, .sequence = item->sequence, .failure = report->failure, .target_hash = report->target_hash};
}

/* It is at fault itself, and that is known without asking anybody: it comes again as a letter. */
static void at_fault(struct daemon *daemon, const struct delivery *delivery, enum letter_reason reason, const char *text)
{
    daemon->spoilt = daemon->spoilt || daemon_transaction_exact(daemon);
    daemon_again_fault(daemon, delivery->partition, delivery->command->lane, delivery->command->sequence, reason, text);
}

/* Done without a delivery: that is final at once, with exactly_once when its transaction is committed. */
static void done(struct daemon *daemon, const struct delivery *delivery, enum in_flight_end end, enum copy_why why)
{
    struct in_flight_item *item = new_item(daemon, delivery);
    item->end = (uint8_t)end;
    write_again(daemon, delivery, why);
    daemon_input(daemon, INPUT_DELIVERED, delivery->partition)->as.delivery =
        (struct input_delivery){.lane = item->lane, .sequence = item->sequence, .again = delivery->again, .why = why};
    if (daemon_transaction_exact(daemon)) {
        daemon_transaction_note(daemon, item);
    } else {
        daemon_outcomes_settled(daemon, item);
    }
    in_flight_give(&daemon->in_flight, item);
}

/* ------------------------------------------------------------------------------------------------- letters */

static const char *explain_failure(struct daemon *daemon, const struct delivery *delivery, enum letter_reason *reason, struct refusal *room)
{
    const struct command_deliver *deliver = delivery->command;
    const char *name;
    const char *text = in_flight_text(&daemon->in_flight, delivery->partition->epoch, deliver->lane, deliver->sequence, &name);
    struct refusal_shown target = refusal_show(delivery->row.decoded.target);
    *reason = LETTER_REASON_UNDELIVERABLE;
    if (deliver->reason == DELIVERY_UNKNOWN_TOPIC) {
        *reason = LETTER_REASON_UNKNOWN_TARGET;
        refusal_set(room, REFUSAL_UNKNOWN_TARGET,
                    "target topic %s does not exist, and did not for unknown_topic_grace: make it, or correct tarry-topic (%s)", target.text,
                    text);
        return room->text;
    }
    if (name != NULL) {
        (void)letter_reason_of(span_of_text(name), reason);
    }
    if (deliver->not_reappended && *reason != LETTER_REASON_NOT_REAPPENDED) { /* its words were pushed out by later ones */
        *reason = LETTER_REASON_NOT_REAPPENDED;
        return "it cannot be written to the end of its own partition again, so nothing follows it: see the log";
    }
    if (name == NULL && delivery->row.decoded.undecided) { /* no target has seen it, so none has refused it */
        *reason = LETTER_REASON_BAD_SCHEDULE;
        return "it was not decided upon, and why was pushed out by later words: see the log, and give it to its topic again";
    }
    if (*reason == LETTER_REASON_NOT_REAPPENDED || *reason == LETTER_REASON_BAD_SCHEDULE) {
        return text;
    }
    refusal_set(room, REFUSAL_UNDELIVERABLE, "the broker does not take this record for topic %s: %s", target.text, text);
    return room->text;
}

static void send_letter(struct daemon *daemon, const struct delivery *delivery, enum letter_reason reason, const char *error)
{
    struct in_flight_item *item = new_item(daemon, delivery);
    item->as_letter = true;
    item->refused = delivery->row.refused;
    item->reason = (uint8_t)reason;
    write_again(daemon, delivery, COPY_NEXT);
    daemon_letters_send(daemon, item, delivery->command->key, &delivery->row, delivery->bytes, error);
}

/* Works out what follows this occurrence. False: nobody can say. */
static bool look_ahead(struct daemon *daemon, struct delivery *delivery)
{
    struct recurrence_step step;
    const struct row *row = &delivery->row;
    delivery->fires = true;
    if (!daemon_schedules_recurs(row) || row->decoded.undecided) {
        return true;
    }
    if (!daemon_schedules_step(daemon, delivery->partition, row, delivery->command->key.offset, &step)) {
        return false;
    }
    delivery->fires = step.fire;
    delivery->again = !step.finished;
    delivery->again_as = (struct outgoing_again){.due_ms = step.next_due_ms, .runs = (int64_t)step.next_runs};
    return true;
}

/* Why it becomes a letter: found at reading (kept in the row), or at delivery. Its schedule goes on, unless that is what failed. */
static void refused(struct daemon *daemon, struct delivery *delivery)
{
    enum letter_reason reason;
    struct refusal room;
    if (delivery->row.refused) {
        send_letter(daemon, delivery, daemon_letters_reason(delivery->row.refusal.reason), delivery->row.refusal.text);
        return;
    }
    const char *error = explain_failure(daemon, delivery, &reason, &room);
    bool ends = reason == LETTER_REASON_NOT_REAPPENDED || reason == LETTER_REASON_BAD_SCHEDULE || delivery->partition->state == PARTITIONS_DRAINING;
    if (ends || !look_ahead(daemon, delivery)) {
        delivery->again = false;
    }
    delivery->fires = true; /* it did: it goes out as a letter */
    if (delivery->again) {
        delivery->again_as.runs = delivery->row.decoded.recurrence.runs + 1;
    }
    send_letter(daemon, delivery, reason, error);
}

/* ------------------------------------------------------------------------------------------------- to the target */

static enum sink_result send_row(struct daemon *daemon, const struct delivery *delivery, struct in_flight_item *item, struct sink_report *report)
{
    const struct partition *partition = delivery->partition;
    const struct config_source *source = &daemon->config->sources[partition->source_index];
    /* A copy goes out as the record that a person wrote: same id, same source. */
    struct sink_origin origin = {partition->topic, partition->number, root_of(delivery), delivery->row.decoded.due_ms,
                                 &daemon->sources[partition->source_index].rules};
    return sink_send(daemon->sink, &delivery->row, &origin, source->output_headers, item, report);
}

static void send(struct daemon *daemon, const struct delivery *delivery)
{
    struct sink_report report;
    struct in_flight_item *item = new_item(daemon, delivery);
    enum sink_result result = send_row(daemon, delivery, item, &report);
    if (delivery->again) {
        daemon_again_prepare(daemon); /* of what comes from the disk none was read in this life */
    }
    if (result == SINK_TAKEN) {
        write_again(daemon, delivery, COPY_NEXT);
        return;
    }
    if (result == SINK_FULL && daemon->in_flight.count > 1) {
        not_taken(daemon, delivery->partition, delivery->command);
    } else if (result == SINK_FULL) { /* with nothing else in the queue it will not fit later either: wait as for an outage */
        report = (struct sink_report){.failure = DELIVERY_RETRIABLE,
                                      .error = "larger than queue.buffering.max.kbytes: raise it under kafka.producer"};
        not_sent(daemon, delivery->partition, item, &report);
    } else {
        not_sent(daemon, delivery->partition, item, &report);
    }
    in_flight_give(&daemon->in_flight, item);
}

static void fire(struct daemon *daemon, struct delivery *delivery)
{
    const struct row *row = &delivery->row;
    bool recurs = daemon_schedules_recurs(row);
    if (!look_ahead(daemon, delivery)) {
        at_fault(daemon, delivery, LETTER_REASON_BAD_SCHEDULE,
                 "its time zone or expression reads no more, so nobody knows when it is next: see the log, and give it to its topic again");
        return;
    }
    if (delivery->again && delivery->partition->state == PARTITIONS_DRAINING) {
        at_fault(daemon, delivery, LETTER_REASON_NOT_REAPPENDED,
                 "another topic stands where this schedule came from, so that nothing follows it: give it to the new topic again");
        return;
    }
    if (!delivery->fires) {
        done(daemon, delivery, IN_FLIGHT_SKIPPED, COPY_DECIDED);
        return;
    }
    switch (firing_decide(daemon->sources[delivery->partition->source_index].firing, row->decoded.due_ms, row->decoded.expires_ms, recurs,
                          daemon->now.wall.ms)) {
    case FIRING_DELIVER:
        send(daemon, delivery);
        break;
    case FIRING_LETTER_EXPIRED:
        send_letter(daemon, delivery, LETTER_REASON_EXPIRED, "its turn came when its tarry-expires had passed");
        break;
    case FIRING_LETTER_LATE:
        send_letter(daemon, delivery, LETTER_REASON_LATE, "its turn came more than max_lateness after its due time");
        break;
    case FIRING_DROP_LATE:
        done(daemon, delivery, IN_FLIGHT_DROPPED, COPY_NEXT);
        break;
    }
}

/* ------------------------------------------------------------------------------------------------- decisions (R10) */

/* What the lane that decides "delivers": nothing, of what is let fall; else the record goes on, decided. */
static void decide(struct daemon *daemon, struct delivery *delivery)
{
    const struct row *row = &delivery->row;
    enum daemon_decided decided = DAEMON_DECIDED_NOTHING; /* a duplicate is known to the core, which tells of it */
    delivery->fires = true;
    if (row->decoded.undecided && delivery->partition->state == PARTITIONS_DRAINING) {
        at_fault(daemon, delivery, LETTER_REASON_NOT_REAPPENDED,
                 "another topic stands where this record came from, so that it cannot be decided upon: give it to the new topic again");
        return;
    }
    if (row->decoded.undecided) {
        decided = daemon_again_decide(daemon, delivery->partition, row, delivery->command->key.offset, &delivery->again_as);
    }
    if (decided == DAEMON_DECIDED_NEVER) {
        at_fault(daemon, delivery, LETTER_REASON_BAD_SCHEDULE,
                 "no time of its schedule comes any more, or this host has no such zone: correct tarry-cron, tarry-until or tarry-tz, or install tzdata");
        return;
    }
    delivery->again = decided == DAEMON_DECIDED_WRITE;
    write_again(daemon, delivery, COPY_DECIDED);
    daemon_input(daemon, INPUT_DELIVERED, delivery->partition)->as.delivery = (struct input_delivery){
        .lane = delivery->command->lane, .sequence = delivery->command->sequence, .again = delivery->again, .why = COPY_DECIDED};
}

void daemon_deliver(struct daemon *daemon, const struct partition *partition, const struct command_deliver *deliver)
{
    struct delivery delivery = {.partition = partition, .command = deliver, .fires = true};
    bool elsewhere = deliver->as_refused || deliver->lane == LANES_REFUSED || deliver->lane == LANES_UNDECIDED; /* not to a target */
    if (daemon->sink_full && (!elsewhere || daemon_transaction_exact(daemon))) {
        not_taken(daemon, partition, deliver);
        return;
    }
    if (daemon->failed ||
        !daemon_commands_row(daemon, partition, deliver->lane, deliver->key, deliver->ref, &delivery.row, &delivery.bytes)) {
        daemon->spoilt = true; /* nothing that counts on it may be committed any more */
        return;
    }
    if (deliver->again) {
        metrics_add(daemon->metrics, METRIC_DELIVERY_RETRIES, deliver->lane, 0, 1);
    }
    if (delivery.row.refused || deliver->as_refused) {
        refused(daemon, &delivery);
    } else if (deliver->lane == LANES_UNDECIDED) {
        decide(daemon, &delivery);
    } else {
        fire(daemon, &delivery);
    }
}
