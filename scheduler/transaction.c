/* See transaction.h. */
#include "scheduler/transaction.h"

#include <stdlib.h>

#include "base/memory.h"
#include "scheduler/command_list.h"
#include "scheduler/commit.h"
#include "scheduler/control.h"
#include "scheduler/copy_forward.h"
#include "scheduler/outcome.h"
#include "scheduler/postpone.h"
#include "scheduler/queue.h"
#include "scheduler/reappend.h"
#include "scheduler/steer.h"

#define NEXT_MS 2         /* for the next record */

bool transaction_admits(const struct core *core, const struct queue *queue)
{
    const struct transaction *transaction = &core->transaction;
    if (!core->options.exactly_once) {
        return true;
    }
    bool failing = queue->hold.wait_ms > 0;
    bool alone = transaction->alone != NULL || failing;
    return (transaction->state == TRANSACTION_NONE && core->last.mono.ms >= transaction->not_before_ms) ||
           (transaction->state == TRANSACTION_OPEN && !transaction->poisoned && transaction_room(core) > 0 &&
            (!alone || transaction->alone == queue));
}

uint32_t transaction_room(const struct core *core)
{
    const struct transaction *transaction = &core->transaction;
    if (!core->options.exactly_once) {
        return UINT32_MAX;
    }
    uint32_t records = transaction->state == TRANSACTION_NONE ? 0 : transaction->records;
    return transaction->limit > records ? transaction->limit - records : 0;
}

static void open(struct core *core, struct now now)
{
    struct transaction *transaction = &core->transaction;
    transaction->state = TRANSACTION_OPEN;
    transaction->number++;
    transaction->records = 0;
    transaction->poisoned = false;
    transaction->found = false;
    transaction->full = false;
    transaction->first_records = 0;
    transaction->explained = false;
    transaction->at_fault = false;
    transaction->copying = NULL;
    transaction->postponing = NULL;
    transaction->postponed = 0;
    transaction->steering = NULL;
    transaction->opened_at_ms = now.mono.ms;
}

void transaction_note(struct core *core, const struct queue *queue, struct now now)
{
    struct transaction *transaction = &core->transaction;
    if (!core->options.exactly_once) {
        return;
    }
    if (transaction->state == TRANSACTION_NONE) {
        open(core, now);
        transaction->alone = queue->hold.wait_ms > 0 ? queue : NULL;
    }
    transaction->records++;
    transaction->taken_at_ms = now.mono.ms;
}

void transaction_poison(struct core *core)
{
    core->transaction.poisoned = core->transaction.poisoned || core->transaction.state == TRANSACTION_OPEN;
}

static bool queue_has_part(const struct queue *queue)
{
    return queue != NULL && queue->taken.count > queue->taken.failed + queue->taken.ended + queue->taken.postponed;
}

static bool slot_has_part(const struct slot *slot)
{
    bool part = false;
    for (uint16_t lane = 0; lane < slot->queue_count && !part; lane++) {
        part = queue_has_part(slot->queues[lane]);
    }
    return part;
}

bool transaction_holds(const struct core *core, const struct slot *slot)
{
    return core->options.exactly_once && core->transaction.state != TRANSACTION_NONE && slot_has_part(slot);
}

/* ------------------------------------------------------------------------------------------------- its end */

static void add_slot(struct transaction *transaction, const struct slot *slot, const struct partition_frontier *frontier)
{
    if (transaction->slot_count == transaction->slot_capacity) {
        transaction->slot_capacity = transaction->slot_capacity == 0 ? 8 : transaction->slot_capacity * 2;
        transaction->slots = memory_resize(transaction->slots, transaction->slot_capacity, sizeof(*transaction->slots));
    }
    transaction->slots[transaction->slot_count++] = (struct transaction_slot){slot->index, slot->epoch, frontier};
}

/* One whose reading has stopped is not ours to commit (R8): its checkpoint keeps the progress, once the transaction is known to be there. */
static void take_part(struct core *core, struct slot *slot, struct now now)
{
    const struct partition_frontier *frontier = commit_build(core, slot, now, slot->low_offset);
    if (frontier != NULL) {
        slot->in_transaction = true;
        if (!slot->reading_stopped) {
            add_slot(&core->transaction, slot, frontier);
        }
    }
}

static void end(struct core *core)
{
    struct transaction *transaction = &core->transaction;
    transaction->state = TRANSACTION_ENDING;
    transaction->ended_at_ms = core->last.mono.ms;
    struct command *command = command_list_add(&core->commands, COMMAND_TRANSACTION, NULL);
    command->as.transaction = (struct command_transaction){
        .number = transaction->number,
        .abort = transaction->poisoned,
        .slots = transaction->slots,
        .slot_count = transaction->slot_count,
    };
}

static void end_deliveries(struct core *core, struct now now)
{
    core->transaction.slot_count = 0;
    for (uint32_t i = 0; i < core->slot_count && !core->transaction.poisoned; i++) {
        struct slot *slot = core->slots[i];
        if (slot != NULL && (slot_has_part(slot) || commit_may(core, slot, now))) {
            take_part(core, slot, now);
        }
    }
    end(core);
}

/* Frontiers alone: reading and pauses go on even when nothing is delivered. */
static void begin_empty(struct core *core, struct now now)
{
    struct transaction *transaction = &core->transaction;
    bool opened = false;
    transaction->slot_count = 0;
    for (uint32_t i = 0; i < core->slot_count; i++) {
        struct slot *slot = core->slots[i];
        if (slot == NULL || !commit_may(core, slot, now)) {
            continue;
        }
        take_part(core, slot, now);
        opened = opened || slot->in_transaction;
    }
    if (opened) {
        open(core, now);
        end(core);
    }
}

typedef const struct partition_frontier *send_fn(struct core *core, struct slot *slot, struct now now);

/* One of a slot's re-appends alone, if there is such a slot: `send` writes them and builds what its frontier says. */
static void begin_of(struct core *core, struct slot *slot, struct slot **of, send_fn *send, struct now now)
{
    struct transaction *transaction = &core->transaction;
    if (slot == NULL) {
        return;
    }
    open(core, now);
    transaction->slot_count = 0;
    *of = slot;
    add_slot(transaction, slot, send(core, slot, now));
    slot->in_transaction = true;
    end(core);
}

static void begin_steering(struct core *core, struct now now)
{
    begin_of(core, steer_ready(core, now), &core->transaction.steering, steer_send, now);
}

static void begin_copy(struct core *core, struct now now)
{
    begin_of(core, copy_forward_ready(core, now), &core->transaction.copying, copy_forward_send, now);
}

static void begin_postponing(struct core *core, struct now now)
{
    begin_of(core, postpone_ready(core, now), &core->transaction.postponing, postpone_send_all, now);
}

/* By turns, where several have something. */
static void begin_moving(struct core *core, struct now now)
{
    static void (*const begins[])(struct core *, struct now) = {begin_steering, begin_copy, begin_postponing};
    const uint32_t kinds = sizeof(begins) / sizeof(*begins);
    struct transaction *transaction = &core->transaction;
    for (uint32_t i = 0, first = transaction->moving_turn; i < kinds && transaction->state == TRANSACTION_NONE; i++) {
        transaction->moving_turn = (first + i + 1) % kinds;
        begins[(first + i) % kinds](core, now);
    }
}

/* Under load many records come due while one is ending: the next waits a little for more, so that the brokers have fewer of them to end. Only where
 * the stream is so fast, and goes on: a lone record, or what a pause has dammed up, leaves at once. 0: it does not wait. */
static int64_t wait_until(const struct core *core)
{
    const struct transaction *transaction = &core->transaction;
    const struct core_options *options = &core->options;
    int64_t since_ms = transaction->opened_at_ms - transaction->ended_at_ms;
    bool fast = transaction->first_records >= options->transaction_busy_records &&
                transaction->first_records >= options->transaction_busy_per_ms * (uint64_t)since_ms;
    if (transaction->state != TRANSACTION_OPEN || !fast || core->stopping || options->transaction_wait_ms == 0) {
        return 0;
    }
    int64_t all = transaction->opened_at_ms + options->transaction_wait_ms;
    int64_t next = transaction->taken_at_ms + NEXT_MS;
    return all < next ? all : next;
}

static bool is_full(const struct core *core, struct now now, bool hungry)
{
    const struct transaction *transaction = &core->transaction;
    return (!hungry && now.mono.ms >= wait_until(core)) || transaction->poisoned || transaction_room(core) == 0 ||
           now.mono.ms >= transaction->opened_at_ms + core->options.transaction_fill_ms;
}

void transaction_copy_turn(struct core *core, struct now now)
{
    const struct transaction *transaction = &core->transaction;
    bool moved = transaction->copying != NULL || transaction->steering != NULL;
    if (core->options.exactly_once && transaction->state == TRANSACTION_NONE && !moved && now.mono.ms >= transaction->not_before_ms) {
        begin_moving(core, now);
    }
}

void transaction_turn(struct core *core, struct now now, bool hungry)
{
    struct transaction *transaction = &core->transaction;
    transaction->first_records = transaction->first_records == 0 ? transaction->records : transaction->first_records;
    if (transaction->state == TRANSACTION_OPEN && is_full(core, now, hungry)) {
        end_deliveries(core, now);
    } else if (transaction->state == TRANSACTION_NONE && now.mono.ms >= transaction->not_before_ms) {
        begin_moving(core, now);
        if (transaction->state == TRANSACTION_NONE && core->options.exactly_once) {
            begin_empty(core, now);
        }
    }
}

/* ---------------------------------------------------------------------------------------------- its answer */

int64_t transaction_copied_end(const struct input_transaction *answer, const struct slot *slot)
{
    for (size_t i = 0; i < answer->end_count && answer->result == TRANSACTION_COMMITTED; i++) {
        if (answer->ends[i].slot == slot->index && answer->ends[i].epoch == slot->epoch) {
            return answer->ends[i].end;
        }
    }
    return 0;
}

static void tell_delivered(struct core *core, struct slot *slot, const struct queue *queue)
{
    for (uint32_t i = 0; slot->untold > 0 && i < queue->taken.count; i++) {
        outcome_delivered(core, slot, taken_at(&queue->taken, i));
    }
}

static void queue_committed(struct core *core, struct slot *slot, struct queue *queue)
{
    tell_delivered(core, slot, queue);
    if (queue_has_part(queue)) {
        queue->hold.wait_ms = 0;
    }
    queue_advance(core, queue, true);
}

/* What was sent, and even what was acknowledged, is not there: all of it goes again. */
static void queue_aborted(struct core *core, struct slot *slot, struct queue *queue)
{
    for (uint32_t i = 0; i < queue->taken.count; i++) {
        struct taken *item = taken_at(&queue->taken, i);
        if (item->state == TAKEN_SENT || item->state == TAKEN_DONE) {
            control_failed(core, slot, queue, item);
        }
    }
    bool held_by_it = queue->hold.held && queue->hold.until_ms - queue->hold.wait_ms >= core->transaction.opened_at_ms;
    if (core->transaction.found && held_by_it) {
        queue->hold.wait_ms = core->options.retry_ms;
        queue->hold.until_ms = 0;
    }
    queue_advance(core, queue, false);
}

static void slot_answered(struct core *core, struct slot *slot, bool committed)
{
    for (uint16_t lane = 0; lane < slot->queue_count && core->options.exactly_once; lane++) {
        if (slot->queues[lane] == NULL) {
            continue;
        }
        if (committed) {
            queue_committed(core, slot, slot->queues[lane]);
        } else {
            queue_aborted(core, slot, slot->queues[lane]);
        }
    }
    if (slot->in_transaction) {
        commit_answered(core, slot, committed ? COMMIT_ACKNOWLEDGED : COMMIT_FAILED);
        slot->in_transaction = false;
    }
}

/* The first one that is aborted is followed at once, and so is one that showed a culprit; where it is every one, something else is wrong than a
 * delivery, and takes its time. */
static void adapt(struct core *core, bool committed, struct now now)
{
    struct transaction *transaction = &core->transaction;
    transaction->aborts = committed || transaction->found ? 0 : transaction->aborts + 1;
    if (transaction->aborts > 1) {
        int64_t wait = core->options.retry_ms << (transaction->aborts < 8 ? transaction->aborts - 2 : 6);
        transaction->not_before_ms = now.mono.ms + (wait < core->options.retry_max_ms ? wait : core->options.retry_max_ms);
    }
    if (!committed && transaction->full) {
        transaction->limit = transaction->records > 1 ? transaction->records / 2 : 1;
    } else if (committed && transaction->limit < core->options.transaction_records_max) {
        transaction->limit += transaction->limit / 8 + 1;
    }
}

static void note_copies(struct slot *slot, const struct input_transaction *answer)
{
    if (slot != NULL) {
        steer_note_copies(slot, transaction_copied_end(answer, slot));
    }
}

void transaction_answered(struct core *core, const struct input_transaction *answer, struct now now)
{
    struct transaction *transaction = &core->transaction;
    bool committed = answer->result == TRANSACTION_COMMITTED;
    if (transaction->state != TRANSACTION_ENDING || answer->number != transaction->number) {
        return;
    }
    transaction->state = TRANSACTION_NONE;
    transaction->full = transaction->full || (answer->result == TRANSACTION_FULL && transaction->records > 0);
    adapt(core, committed, now);
    for (uint32_t i = 0; i < core->slot_count; i++) {
        if (core->slots[i] != NULL) {
            reappend_answered(core->slots[i], answer);
        }
    }
    if (transaction->copying != NULL) {
        copy_forward_answered(core, transaction->copying, answer, now);
    }
    if (transaction->postponing != NULL) {
        postpone_answered(core, transaction->postponing, answer, now);
    }
    if (transaction->steering != NULL) {
        steer_answered(core, transaction->steering, answer, now);
    }
    note_copies(transaction->copying, answer);
    note_copies(transaction->postponing, answer);
    for (uint32_t i = 0; i < core->slot_count; i++) {
        if (core->slots[i] != NULL) {
            slot_answered(core, core->slots[i], committed);
        }
    }
}

int64_t transaction_deadline(const struct core *core)
{
    const struct transaction *transaction = &core->transaction;
    bool waits = transaction->state == TRANSACTION_NONE && transaction->not_before_ms > core->last.mono.ms;
    if (transaction->state == TRANSACTION_OPEN) {
        return wait_until(core);
    }
    return waits ? transaction->not_before_ms : TIME_NEVER;
}

void transaction_free(struct core *core)
{
    free(core->transaction.slots);
}
