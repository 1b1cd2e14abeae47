/*
 * Transactions as Kafka has them. A record's offset is given when it is sent, and read by nobody before the end; the group has
 * the offsets once they are sent, and tells nobody of the partition before the end; the end is decided in one moment, known to
 * the producer at another, and its markers reach the partitions and the group at others again.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "tests/sim/world_state.h"

struct world_transaction *world_transaction_begin(struct world *world, int instance)
{
    GROW_FOR_ONE(world->transactions, world->transaction_count, world->transaction_capacity);
    struct world_transaction *transaction = memory_new(1, sizeof(*transaction));
    transaction->number = ++world->transaction_number;
    transaction->instance = instance;
    transaction->run = instance < 0 ? 0 : world->instances[instance].run;
    world->transactions[world->transaction_count++] = transaction;
    return transaction;
}

/* The one that takes what the instance sends now. */
static struct world_transaction *current(struct world *world, struct world_instance *instance)
{
    if (instance->transaction == NULL) {
        instance->transaction = world_transaction_begin(world, instance->number);
    }
    PROMISE(world, instance->transaction->state == TX_OPEN, "a record or an end for a transaction that is ending");
    return instance->transaction;
}

void world_transaction_add(struct world_transaction *transaction, const struct world_copy *copy)
{
    GROW_FOR_ONE(transaction->copies, transaction->copy_count, transaction->copy_capacity);
    transaction->copies[transaction->copy_count++] = *copy;
}

void world_transaction_free(struct world_transaction *transaction)
{
    free(transaction->outputs);
    free(transaction->copies);
    free(transaction->offsets);
    free(transaction);
}

/* What is sent belongs to it, whatever becomes of that: a report is due. */
void world_transaction_sent(struct world *world, struct world_instance *instance, const struct world_output *output)
{
    struct world_transaction *transaction = current(world, instance);
    GROW_FOR_ONE(transaction->outputs, transaction->output_count, transaction->output_capacity);
    transaction->outputs[transaction->output_count++] = *output;
    transaction->reports_open++;
    instance->slots[output->slot].notes[output->record->index].transaction = transaction->number;
}

void world_transaction_reported(struct world *world, struct world_instance *instance, bool failed)
{
    struct world_transaction *transaction = instance->transaction;
    PROMISE(world, transaction != NULL && transaction->reports_open > 0, "a report of no transaction");
    transaction->reports_open--;
    transaction->failed = transaction->failed || failed;
}

void world_transaction_copy(struct world *world, struct world_instance *instance, const struct command *command)
{
    struct world_slot *slot = &instance->slots[command->slot];
    const struct command_copy *order = &command->as.copy;
    PROMISE(world, slot->held && slot->epoch == command->epoch && !slot->reading_stopped, "a copy of no slot of ours");
    struct world_record *from = world_log_find(world, slot->partition, order->key.offset);
    struct life_note *note = world_oracle_note(world, slot, from);
    PROMISE(world, from->due_ms == order->key.due_ms && from->lane == order->lane && !from->cancel,
            "offset %lld is copied as another record", (long long)from->offset);
    PROMISE(world, !note->claimed && !note->copying && !(note->sent && !note->failed && !note->goes_on),
            "offset %lld is copied although it is done or under way", (long long)from->offset);
    PROMISE(world, !world_log_outdated(from, slot->position), "offset %lld is copied although it is cancelled or replaced",
            (long long)from->offset);
    world_oracle_row(world, instance, slot, order->ref, order->bucket, from);
    if (order->why == COPY_NEXT || order->why == COPY_DECIDED) {
        world_schedules_copy(world, instance, command, from);
        return;
    }
    PROMISE(world, !note->goes_on, "offset %lld went out, and is copied as if it had not", (long long)from->offset);
    bool steered = order->why == COPY_MOVED || order->why == COPY_PAUSED;
    int64_t due_ms = steered ? world_steer_due(world, instance, command, from) : order->due_ms;
    if (!steered) {
        world_letters_copied(world, instance, slot, order);
    }
    struct world_record again = world_schedules_again(from, due_ms);
    again.schedule.nominal_ms = order->why == COPY_MOVED ? due_ms : again.schedule.nominal_ms;
    note->copying = true;
    note->steering = steered;
    struct world_copy copy = {.from = from, .slot = (int)command->slot, .epoch = command->epoch, .why = order->why, .steered = steered};
    world_transaction_write(world, instance, &copy, &again);
}

/* What was sent last goes out nowhere. */
void world_transaction_silent(struct world_instance *instance, bool falls)
{
    struct world_output *output = &instance->transaction->outputs[instance->transaction->output_count - 1];
    output->silent = true;
    output->falls = falls;
}

/* Something of it cannot be written, which a report will say. */
void world_transaction_refuse(struct world *world, struct world_instance *instance)
{
    struct world_transaction *transaction = current(world, instance);
    transaction->failed = true;
    transaction->reports_open++;
}

/* A record that an instance writes again; NULL: nothing follows. What is known of it is told at once. */
void world_transaction_write(struct world *world, struct world_instance *instance, const struct world_copy *order, const struct world_record *record)
{
    const struct world_slot *slot = &instance->slots[order->slot];
    struct world_transaction *transaction = current(world, instance);
    struct world_copy copy = *order;
    copy.partition = slot->partition;
    if (record != NULL) {
        transaction->failed = transaction->failed || (!world->calm && world_chance(world, world->traits.fail_percent / 8));
        copy.to = world_log_append(world, slot->partition, record);
        uint32_t id = record->schedule.conditional ? 0 : record->id;
        world_shell_input(instance, INPUT_REAPPENDED, order->slot, order->epoch)->as.reappended = (struct input_reappended){{id, id}, copy.from->offset, copy.from->origin->offset};
    }
    world_transaction_add(transaction, &copy);
}

static void
arrange(struct world *world, const struct world_instance *instance, const struct world_transaction *transaction, enum event_kind kind, int64_t after_ms)
{
    struct event event = world_event(world, kind, instance->number);
    event.at += after_ms;
    event.sequence = transaction->number;
    world_events_add(world, &event);
}

void world_transaction_command(struct world *world, struct world_instance *instance, const struct command *command)
{
    const struct command_transaction *order = &command->as.transaction;
    struct world_transaction *transaction = current(world, instance);
    transaction->core_number = order->number;
    transaction->failed = transaction->failed || order->abort;
    transaction->state = TX_ENDING;
    transaction->offsets = memory_new(order->slot_count + 1, sizeof(*transaction->offsets));
    world_say(world, "  transaction %llu: %zu outputs, %zu copies, %zu slots%s", (unsigned long long)order->number,
              transaction->output_count, transaction->copy_count, order->slot_count, order->abort ? ", to abort" : "");
    for (size_t i = 0; i < order->slot_count; i++) {
        struct world_slot *slot = &instance->slots[order->slots[i].slot];
        PROMISE(world, slot->held && slot->epoch == order->slots[i].epoch && !slot->reading_stopped,
                "a transaction names a slot that is not ours to commit");
        PROMISE(world, !slot->commit_open, "a transaction names a slot that has a commit under way");
        world_say(world, "    slot %u: offset %lld C %lld", order->slots[i].slot,
                  (long long)order->slots[i].frontier->committed_offset, (long long)order->slots[i].frontier->low_offset);
        if (!order->abort) {
            world_oracle_frontier(world, slot, order->slots[i].frontier, transaction);
        }
        transaction->offsets[transaction->offset_count++] = (struct world_offsets){
            (int)order->slots[i].slot, order->slots[i].epoch, slot->partition, *order->slots[i].frontier};
    }
    world->result.transactions++;
    arrange(world, instance, transaction, EVENT_TRANSACTION_END, world_latency(world));
}

bool world_transaction_names(const struct world_instance *instance, int slot)
{
    const struct world_transaction *transaction = instance->transaction;
    bool named = false;
    for (size_t i = 0; transaction != NULL && i < transaction->offset_count; i++) {
        named = named || (transaction->offsets[i].slot == slot &&
                          transaction->offsets[i].epoch == instance->slots[slot].epoch);
    }
    return named;
}

/* ------------------------------------------------------------------------------------------------- the end */

static const struct world_offsets *offsets_of(const struct world_transaction *transaction, int slot, uint32_t epoch)
{
    for (size_t i = 0; i < transaction->offset_count; i++) {
        if (transaction->offsets[i].slot == slot && transaction->offsets[i].epoch == epoch) {
            return &transaction->offsets[i];
        }
    }
    return NULL;
}

static void check_claimed(struct world *world,
                          const struct world_transaction *transaction,
                          const struct world_record *record,
                          int slot,
                          uint32_t epoch)
{
    const struct world_offsets *offsets = offsets_of(transaction, slot, epoch);
    /* Where reading was stopped the checkpoint keeps the progress, not the group (R8). */
    bool apart = world->instances[transaction->instance].slots[slot].reading_stopped;
    PROMISE(world, apart || (offsets != NULL && world_oracle_claims(&offsets->frontier, record)),
            "a transaction writes offset %lld, and its frontier does not say so", (long long)record->offset);
}

static void commit(struct world *world, const struct world_transaction *transaction)
{
    for (size_t i = 0; i < transaction->output_count; i++) {
        const struct world_output *output = &transaction->outputs[i];
        check_claimed(world, transaction, output->record, output->slot, output->epoch);
        if (output->silent) {
            output->record->event->let_fall = output->record->event->let_fall || output->falls;
            continue;
        }
        world_oracle_seen(world, output->record, output->read, output->letter);
    }
    for (size_t i = 0; i < transaction->copy_count && transaction->instance >= 0; i++) {
        const struct world_copy *copy = &transaction->copies[i];
        if (copy->steered) { /* its time may be far off: no frontier says it is done, but an owner's word is needed */
            PROMISE(world, offsets_of(transaction, copy->slot, copy->epoch) != NULL, "offset %lld is moved without a frontier", (long long)copy->from->offset);
        } else {
            check_claimed(world, transaction, copy->from, copy->slot, copy->epoch);
        }
        copy->from->steered = copy->steered;
        PROMISE(world, !copy->from->moved, "offset %lld is copied twice", (long long)copy->from->offset);
        if (copy->to == NULL) {
            copy->from->event->let_fall = copy->from->event->let_fall || copy->from->schedule.undecided;
            continue;
        }
        copy->from->moved = true;
        copy->from->copy = copy->to;
        world->result.copies++;
        world->result.postponed += copy->why == COPY_LATER;
    }
    for (size_t i = 0; i < transaction->offset_count; i++) {
        const struct world_offsets *offsets = &transaction->offsets[i];
        struct world_instance *instance = &world->instances[transaction->instance];
        struct world_slot *slot = &instance->slots[offsets->slot];
        if (instance->run == transaction->run && slot->held && slot->epoch == offsets->epoch) {
            world_oracle_claimed(world, slot, &offsets->frontier);
        }
    }
}

static void arrange_marker(struct world *world, struct world_transaction *transaction, int where)
{
    struct event event = world_event(world, EVENT_TRANSACTION_MARK, -1);
    event.at += random_between(&world->random, 0, world_chance(world, 70) ? 1 : world->traits.marker_ms);
    event.sequence = transaction->number;
    event.code = where;
    transaction->markers_left++;
    world_events_add(world, &event);
}

void world_transaction_decide(struct world *world, struct world_transaction *transaction, bool commits)
{
    world_say(world, "transaction %llu of %d: %s at the broker", (unsigned long long)transaction->core_number,
              transaction->instance, commits ? "committed" : "aborted");
    bool sent = transaction->state == TX_SENT;
    transaction->state = TX_DECIDED;
    transaction->committed = commits;
    world->result.aborts += !commits;
    if (commits) {
        commit(world, transaction);
    }
    for (size_t i = 0; !commits && i < transaction->output_count; i++) {
        transaction->outputs[i].record->event->unsaid += transaction->outputs[i].kept;
    }
    arrange_marker(world, transaction, 0);
    if (sent) {
        arrange_marker(world, transaction, 1);
    }
}

static void mark_partitions(struct world *world, struct world_transaction *transaction)
{
    bool marked[WORLD_PARTITIONS_MAX] = {false};
    for (size_t i = 0; i < transaction->copy_count; i++) {
        const struct world_copy *copy = &transaction->copies[i];
        if (copy->to == NULL) {
            continue;
        }
        copy->to->state = transaction->committed ? RECORD_VISIBLE : RECORD_ABORTED;
        marked[copy->partition] = true;
    }
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        if (marked[i]) {
            world_log_control(world, i);
            world_log_wake(world, i);
        }
    }
}

static void mark_group(struct world *world, const struct world_transaction *transaction)
{
    for (size_t i = 0; i < transaction->offset_count; i++) {
        const struct world_offsets *offsets = &transaction->offsets[i];
        world->partitions[offsets->partition].offsets_pending--;
        if (transaction->committed) {
            world_group_apply(world, offsets->partition, &offsets->frontier, transaction->sequence);
        }
    }
}

static void forget(struct world *world, struct world_transaction *transaction)
{
    size_t at = 0;
    while (world->transactions[at] != transaction) {
        at++;
    }
    world->transactions[at] = world->transactions[--world->transaction_count];
    world_transaction_free(transaction);
}

static bool is_waited_for(const struct world *world, const struct world_transaction *transaction)
{
    return transaction->instance >= 0 && world->instances[transaction->instance].transaction == transaction;
}

static void mark(struct world *world, struct world_transaction *transaction, int where)
{
    if (where == 0) {
        mark_partitions(world, transaction);
    } else {
        mark_group(world, transaction);
    }
    if (--transaction->markers_left == 0 && !is_waited_for(world, transaction)) {
        forget(world, transaction);
    }
}

/* Kafka looks at the generation when offsets are sent, not at the end. */
static bool offsets_are_taken(const struct world_instance *instance, const struct world_transaction *transaction)
{
    bool taken = true;
    for (size_t i = 0; i < transaction->offset_count; i++) {
        const struct world_slot *slot = &instance->slots[transaction->offsets[i].slot];
        taken = taken && slot->held && slot->epoch == transaction->offsets[i].epoch && !slot->fenced;
    }
    return taken;
}

static void send_offsets(struct world *world, struct world_transaction *transaction)
{
    transaction->state = TX_SENT;
    transaction->sequence = ++world->commit_sequence;
    for (size_t i = 0; i < transaction->offset_count; i++) {
        world->partitions[transaction->offsets[i].partition].offsets_pending++;
    }
}

/* The next step of ending it: wait for the reports, send the offsets, end, ask until the end is known. */
static void go_on(struct world *world, struct world_instance *instance, struct world_transaction *transaction)
{
    bool fails = !world->calm && (world->aborts_next > 0 || world_chance(world, world->traits.abort_percent));
    if (transaction->state == TX_ENDING && transaction->reports_open > 0) {
        arrange(world, instance, transaction, EVENT_TRANSACTION_END, 1 + world->traits.latency_ms / 8);
        return;
    }
    if (transaction->state == TX_ENDING && !transaction->failed && !fails && offsets_are_taken(instance, transaction)) {
        send_offsets(world, transaction);
        arrange(world, instance, transaction, EVENT_TRANSACTION_END, world_latency(world));
        return;
    }
    if (transaction->state != TX_DECIDED) {
        world->aborts_next -= world->aborts_next > 0;
        world_transaction_decide(world, transaction, transaction->state == TX_SENT && !fails);
    }
    bool unknown = !world->calm && world_chance(world, world->traits.unknown_percent);
    arrange(world, instance, transaction, EVENT_TRANSACTION_KNOWN,
            unknown ? 10 * world->traits.latency_ms : world_latency(world));
}

static void note_output(struct world_instance *instance, const struct world_output *output, bool committed)
{
    struct world_slot *slot = &instance->slots[output->slot];
    if (!slot->held || slot->epoch != output->epoch) {
        return;
    }
    world_sequence(slot, output->lane, output->sequence)->done = committed;
    slot->notes[output->record->index].done = committed;
    slot->notes[output->record->index].failed = !committed;
}

/* Keeps the greatest end of each slot. Returns how many there are. */
static size_t note_end(struct copied_end *ends, size_t count, const struct world_copy *copy)
{
    size_t i = 0;
    while (i < count && ends[i].slot != (slot_index)copy->slot) {
        i++;
    }
    if (i == count) {
        ends[count++] = (struct copied_end){(slot_index)copy->slot, copy->epoch, 0};
    }
    ends[i].end = copy->to->offset >= ends[i].end ? copy->to->offset + 1 : ends[i].end;
    return count;
}

static void know(struct world *world, struct world_instance *instance, struct world_transaction *transaction)
{
    struct copied_end *ends = memory_new(WORLD_PARTITIONS_MAX, sizeof(*ends));
    size_t end_count = 0;
    world_shell_own(instance, ends);
    for (size_t i = 0; i < transaction->output_count; i++) {
        note_output(instance, &transaction->outputs[i], transaction->committed);
    }
    for (size_t i = 0; i < transaction->copy_count; i++) {
        const struct world_copy *copy = &transaction->copies[i];
        struct world_slot *slot = &instance->slots[copy->slot];
        if (slot->held && slot->epoch == copy->epoch) {
            slot->notes[copy->from->index].copying = false;
            slot->notes[copy->from->index].steering = false;
            slot->notes[copy->from->index].moved = transaction->committed;
            if (!transaction->committed) {
                world_letters_back(slot);
            } else if (slot->notes[copy->from->index].goes_on) {
                world_sequence(slot, copy->lane, copy->sequence)->done = true;
            }
        }
        end_count = copy->to == NULL ? end_count : note_end(ends, end_count, copy);
    }
    for (size_t i = 0; transaction->committed && i < transaction->offset_count; i++) {
        const struct world_offsets *offsets = &transaction->offsets[i];
        struct world_slot *slot = &instance->slots[offsets->slot];
        if (slot->held && slot->epoch == offsets->epoch) {
            slot->acked = offsets->frontier;
        }
    }
    world_say(world, "  transaction %llu: %s", (unsigned long long)transaction->core_number,
              transaction->committed ? "committed" : "aborted");
    world_shell_input(instance, INPUT_TRANSACTION_DONE, 0, 0)->as.transaction = (struct input_transaction){
        transaction->core_number, transaction->committed ? TRANSACTION_COMMITTED : TRANSACTION_ABORTED, ends, end_count};
    instance->transaction = NULL;
    if (transaction->markers_left == 0) {
        forget(world, transaction);
    }
}

/* -------------------------------------------------------------------------------------- its owner goes away */

/* Its end may have been asked for: then it commits; else the broker aborts it when its time is up. */
static void leave_to_broker(struct world *world, const struct world_transaction *transaction)
{
    bool asked = transaction->state == TX_SENT && world_chance(world, 50);
    struct event event = world_event(world, EVENT_TRANSACTION_OVER, -1);
    event.at += asked ? world_latency(world) : world->traits.timeout_ms;
    event.sequence = transaction->number;
    event.code = asked;
    world_events_add(world, &event);
}

void world_transaction_orphan(struct world *world, struct world_instance *instance)
{
    struct world_transaction *transaction = instance->transaction;
    instance->transaction = NULL;
    if (transaction == NULL) {
        return;
    }
    transaction->orphaned = true;
    if (transaction->state != TX_DECIDED) {
        leave_to_broker(world, transaction);
    } else if (transaction->markers_left == 0) {
        forget(world, transaction);
    }
}

void world_transaction_freeze(struct world *world, struct world_instance *instance)
{
    if (instance->transaction != NULL && instance->transaction->state != TX_DECIDED) {
        leave_to_broker(world, instance->transaction);
    }
}

/* A new start of the instance ends what a former one left open, before anything else (R9). */
void world_transaction_finish(struct world *world, int instance)
{
    for (size_t i = 0; i < world->transaction_count; i++) {
        struct world_transaction *transaction = world->transactions[i];
        if (transaction->instance == instance && transaction->orphaned && transaction->state != TX_DECIDED) {
            world_transaction_decide(world, transaction, false);
        }
    }
}

static void time_is_up(struct world *world, struct world_transaction *transaction, bool commits)
{
    bool frozen = transaction->instance >= 0 && is_waited_for(world, transaction) &&
                  world->instances[transaction->instance].frozen;
    if (transaction->state == TX_DECIDED || !(transaction->instance < 0 || transaction->orphaned || frozen)) {
        return;
    }
    transaction->orphaned = transaction->orphaned || (frozen && !commits);
    world_transaction_decide(world, transaction, commits);
}

void world_transaction_event(struct world *world, const struct event *event)
{
    struct world_transaction *transaction = NULL;
    for (size_t i = 0; i < world->transaction_count && transaction == NULL; i++) {
        transaction = world->transactions[i]->number == event->sequence ? world->transactions[i] : NULL;
    }
    if (transaction == NULL) {
        return;
    }
    if (event->kind == EVENT_TRANSACTION_MARK) {
        mark(world, transaction, event->code);
    } else if (event->kind == EVENT_TRANSACTION_OVER) {
        time_is_up(world, transaction, event->code != 0);
    } else if (event->kind == EVENT_TRANSACTION_END) {
        go_on(world, &world->instances[event->instance], transaction);
    } else {
        know(world, &world->instances[event->instance], transaction);
    }
}
