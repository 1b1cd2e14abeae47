/* See postpone.h. */
#include "scheduler/postpone.h"

#include "scheduler/bucket.h"
#include "scheduler/command_list.h"
#include "scheduler/commit.h"
#include "scheduler/control.h"
#include "scheduler/outcome.h"
#include "scheduler/queue.h"
#include "scheduler/transaction.h"

#define WAIT_MAX_MS 60000
#define ROWS_MAX 1000u /* in one transaction, where copy_rows_max, which is for copies forward, says none */

bool postpone_take(const struct slot *slot, struct queue *queue, struct taken *item, enum copy_why why)
{
    if (slot->reading_stopped || (why == COPY_LATER && item->why != COPY_FORWARD && item->why != COPY_LATER)) {
        return false; /* another topic; or its letter says that it goes on no more, and as it is it would go out twice */
    }
    item->why = (uint8_t)why;
    taken_move(&queue->taken, item, TAKEN_POSTPONED);
    return true;
}

void postpone_make_letter(struct queue *queue, struct taken *item)
{
    item->refused = true;
    item->reason = DELIVERY_FAULT;
    item->at_fault = false;
    taken_move(&queue->taken, item, TAKEN_FAILED);
}

void postpone_fault(struct core *core, const struct slot *slot, struct taken *item)
{
    bool sent = item->state == TAKEN_MOVED || (item->state == TAKEN_POSTPONED && slot->copy.state == COPY_SENT && item->key.offset < slot->copy.below);
    if (sent && item->why != COPY_LATER) {
        item->at_fault = true;
        core->transaction.at_fault = true;
        core->transaction.found = true;
    }
}

int64_t postpone_due_ms(const struct core *core, struct key key, struct now now)
{
    int64_t from_ms = key.due_ms > now.wall.ms ? key.due_ms : now.wall.ms;
    int64_t later_ms = core->options.letter_later_ms;
    return from_ms > INT64_MAX - later_ms ? INT64_MAX : from_ms + later_ms;
}

static uint32_t rows_limit(const struct core *core)
{
    return core->options.copy_rows_max > 0 ? core->options.copy_rows_max : ROWS_MAX;
}

/* How many may go into one transaction: fewer after some that nothing else explains. */
static uint32_t rows_max(const struct core *core, const struct slot *slot)
{
    return slot->postpone.rows_max > 0 ? slot->postpone.rows_max : rows_limit(core);
}

/* ----------------------------------------------------------------------------------------------------- sending */

static void copy(struct core *core, struct slot *slot, struct queue *queue, uint32_t position, struct now now)
{
    struct taken *item = taken_at(&queue->taken, position);
    bool later = item->why == COPY_LATER;
    taken_move(&queue->taken, item, TAKEN_MOVED);
    command_list_add(&core->commands, COMMAND_COPY, slot)->as.copy = (struct command_copy){
        .lane = queue->lane,
        .why = (enum copy_why)item->why,
        .sequence = queue->taken.first_sequence + position,
        .due_ms = later ? postpone_due_ms(core, item->key, now) : 0,
        .key = item->key,
        .ref = unwritten_find(&slot->unwritten, item->key.offset),
        .bucket = bucket_of(queue->lane, 0, item->key.due_ms),
    };
    core->transaction.postponed++;
    marks_reappending(&slot->marks);
}

/* At least once what is acknowledged leaves the head at once: so the frontier can pass a postponed record only if one stands there. */
static bool has_one_in_front(const struct slot *slot, bool delivered)
{
    bool found = false;
    for (uint16_t lane = 0; lane < slot->queue_count && !found; lane++) {
        const struct queue *queue = slot->queues[lane];
        const struct taken *item = queue == NULL || queue->taken.count == 0 ? NULL : taken_at(&queue->taken, 0);
        found = item != NULL && item->state == TAKEN_POSTPONED && !(delivered && item->why == COPY_LATER);
    }
    return found;
}

bool postpone_is_owed(const struct core *core, const struct slot *slot)
{
    return !core->options.exactly_once && !slot->reading_stopped && !slot->commit_unknown && slot->postpone.wait_ms == 0 &&
           has_one_in_front(slot, true);
}

struct slot *postpone_ready(const struct core *core, struct now now)
{
    for (uint32_t i = 0; i < core->slot_count && !core->options.exactly_once; i++) {
        struct slot *slot = core->slots[(core->turn + i) % core->slot_count];
        if (slot == NULL || slot->left || slot->commit_under_way || slot->commit_unknown || !has_one_in_front(slot, false)) {
            continue;
        }
        bool ends = core->stopping || slot->leaving;
        if (ends ? postpone_is_owed(core, slot) : now.mono.ms >= slot->postpone.not_before_ms) {
            return slot;
        }
    }
    return NULL;
}

/* Of one queue: those before which nothing is left that is not done. */
static void copy_prefix(struct core *core, struct slot *slot, struct queue *queue, struct now now)
{
    for (uint32_t i = 0; i < queue->taken.count && core->transaction.postponed < rows_max(core, slot); i++) {
        struct taken *item = taken_at(&queue->taken, i);
        if (item->state == TAKEN_SENT || item->state == TAKEN_FAILED) {
            return;
        }
        if (item->state == TAKEN_POSTPONED) {
            copy(core, slot, queue, i, now);
        }
    }
}

const struct partition_frontier *postpone_send_all(struct core *core, struct slot *slot, struct now now)
{
    for (uint16_t i = 0; i < slot->queue_count; i++) {
        struct queue *queue = slot->queues[(core->turn + i) % slot->queue_count]; /* one that cannot be written stops its own lane alone */
        if (queue != NULL) {
            copy_prefix(core, slot, queue, now);
        }
    }
    return commit_build(core, slot, now, slot->low_offset);
}

bool postpone_send(struct core *core, struct slot *slot, struct queue *queue, uint32_t position, struct now now)
{
    struct transaction *transaction = &core->transaction;
    bool open = transaction->state == TRANSACTION_OPEN;
    bool others = open && transaction->postponing != NULL && transaction->postponing != slot;
    if (others || now.mono.ms < slot->postpone.not_before_ms || (open && transaction->postponed >= rows_max(core, slot))) {
        return false;
    }
    transaction_note(core, queue, now);
    transaction->postponing = slot;
    copy(core, slot, queue, position, now);
    return true;
}

/* ----------------------------------------------------------------------------------------------------- the end */

static void end_moved(struct core *core, struct slot *slot, struct queue *queue)
{
    for (uint32_t i = 0; i < queue->taken.count && queue->taken.moved > 0; i++) {
        struct taken *item = taken_at(&queue->taken, i);
        if (item->state == TAKEN_MOVED) {
            outcome_delivered(core, slot, item);
            taken_move(&queue->taken, item, TAKEN_ENDED);
            slot->ended.postponed += item->why == COPY_LATER;
        }
    }
}

/* Back to where they were. What was cancelled meanwhile ends; what can never be written, or not to the topic that stands there now, is a letter. */
static void take_back(struct slot *slot, struct queue *queue)
{
    for (uint32_t i = 0; i < queue->taken.count && queue->taken.moved > 0; i++) {
        struct taken *item = taken_at(&queue->taken, i);
        if (item->state != TAKEN_MOVED) {
            continue;
        }
        bool letter = item->at_fault || (slot->reading_stopped && item->why != COPY_LATER);
        if (letter && !item->cancelled) {
            postpone_make_letter(queue, item);
        } else {
            control_taken_back(slot, queue, item, slot->reading_stopped ? TAKEN_FAILED : TAKEN_POSTPONED);
        }
    }
}

/* Of all that is postponed, or only of what is so because its letter was not kept: what was delivered goes on otherwise. */
static void make_letters(struct queue *queue, bool all)
{
    for (uint32_t i = 0; i < queue->taken.count && queue->taken.postponed > 0; i++) {
        struct taken *item = taken_at(&queue->taken, i);
        if (item->state == TAKEN_POSTPONED && item->why == COPY_LATER) {
            taken_move(&queue->taken, item, TAKEN_FAILED);
        } else if (item->state == TAKEN_POSTPONED && all) {
            postpone_make_letter(queue, item);
        }
    }
}

void postpone_copy_aborted(struct slot *slot)
{
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        struct queue *queue = slot->queues[lane];
        for (uint32_t i = 0; queue != NULL && queue->taken.postponed > 0 && i < queue->taken.count; i++) {
            struct taken *item = taken_at(&queue->taken, i);
            if (item->state == TAKEN_POSTPONED && item->at_fault) {
                postpone_make_letter(queue, item);
            }
        }
    }
}

/* Nothing but the copies can be why it was aborted: fewer of them the next time, and not at once. */
static void shrink(const struct core *core, struct slot *slot)
{
    struct postpone *postpone = &slot->postpone;
    uint32_t rows = rows_max(core, slot);
    postpone->rows_max = rows > 1 ? rows / 2 : 1;
    postpone->wait_ms = postpone->wait_ms == 0 ? core->options.retry_ms : postpone->wait_ms * 2;
    postpone->wait_ms = postpone->wait_ms < WAIT_MAX_MS ? postpone->wait_ms : WAIT_MAX_MS;
}

static void grow(const struct core *core, struct slot *slot)
{
    uint32_t rows = rows_max(core, slot);
    slot->postpone.rows_max = rows < rows_limit(core) / 2 ? rows * 2 : rows_limit(core);
    slot->postpone.wait_ms = 0;
}

static void rest(const struct core *core, struct slot *slot, struct now now)
{
    int64_t least_ms = core->options.exactly_once ? 0 : core->options.copy_ms; /* there the deliveries have transactions anyway */
    slot->postpone.not_before_ms = now.mono.ms + (slot->postpone.wait_ms > 0 ? slot->postpone.wait_ms : least_ms);
}

void postpone_answered(struct core *core, struct slot *slot, const struct input_transaction *answer, struct now now)
{
    bool committed = answer->result == TRANSACTION_COMMITTED;
    bool explained = (core->options.exactly_once && core->transaction.explained) || core->transaction.at_fault; /* at least once no delivery belongs to it */
    bool blamed = !committed && !explained;
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        struct queue *queue = slot->queues[lane];
        if (queue == NULL) {
            continue;
        }
        if (committed) {
            end_moved(core, slot, queue);
        } else {
            take_back(slot, queue);
        }
        if (blamed) {
            make_letters(queue, false);
        }
        queue_advance(core, queue, !core->options.exactly_once);
    }
    if (committed) {
        grow(core, slot);
    } else if (blamed) {
        shrink(core, slot);
    }
    rest(core, slot, now);
    slot->postpone.not_before_ms = core->transaction.at_fault ? now.mono.ms : slot->postpone.not_before_ms; /* the culprit is out of the way */
}

void postpone_stop(struct core *core, struct slot *slot)
{
    if (core->transaction.postponing == slot) {
        transaction_poison(core); /* what it would write is not for the topic that stands there now */
    }
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        if (slot->queues[lane] != NULL) {
            make_letters(slot->queues[lane], true);
        }
    }
}

int64_t postpone_deadline(const struct core *core, const struct slot *slot, const struct queue *queue)
{
    bool waits = queue->taken.postponed > 0 && slot->postpone.not_before_ms > core->last.mono.ms;
    return waits ? slot->postpone.not_before_ms : TIME_NEVER;
}

void postpone_lose(struct core *core, const struct slot *slot)
{
    if (core->transaction.postponing == slot) {
        core->transaction.postponing = NULL;
    }
}
