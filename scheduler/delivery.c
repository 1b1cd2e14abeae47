/* See delivery.h. */
#include "scheduler/delivery.h"

#include <string.h>

#include "scheduler/bucket.h"
#include "scheduler/catch_up.h"
#include "scheduler/command_list.h"
#include "scheduler/control.h"
#include "scheduler/copy_forward.h"
#include "scheduler/lane_limit.h"
#include "scheduler/outcome.h"
#include "scheduler/postpone.h"
#include "scheduler/queue.h"
#include "scheduler/steer.h"
#include "scheduler/transaction.h"

#define ALONE_WAITS 4       /* a lane that fails may have a fifth of the time, however long each attempt takes */
#define TURN_RECORDS 256u /* taken from one queue before the next one's turn */

static void send(struct core *core, const struct slot *slot, const struct queue *queue, uint64_t sequence, bool again)
{
    core->lane_sent[queue->index]++;
    lane_limit_spend(core, queue->lane);
    const struct taken *item = taken_find_sent(&queue->taken, sequence);
    struct command *command = command_list_add(&core->commands, COMMAND_DELIVER, slot);
    command->as.deliver = (struct command_deliver){
        .lane = queue->lane,
        .as_refused = item->refused,
        .again = again,
        .reason = (enum delivery_failure)item->reason,
        .not_reappended = item->refused && (item->why == COPY_NEXT || item->why == COPY_DECIDED),
        .sequence = sequence,
        .key = item->key,
        .ref = unwritten_find(&slot->unwritten, item->key.offset),
        .bucket = bucket_of(queue->lane, 0, item->key.due_ms),
    };
}

/* A held lane goes on when its time has come and nothing of it is in flight any more, so that the order stays. */
static void look_held(struct queue *queue, struct now now)
{
    if (queue->hold.held && queue->taken.sent == 0 && now.mono.ms >= queue->hold.until_ms) {
        queue->hold.held = false;
    }
}

/* What may be sent again now: with exactly_once the FIFO holds a transaction, which may be more than may be in flight. */
static uint32_t again_room(const struct core *core, const struct queue *queue)
{
    uint32_t most = core->lanes[queue->lane].max_in_flight;
    uint32_t sent = core->lane_sent[queue->lane] + core->lane_sent[LANES_MAX + queue->lane];
    return sent < most ? most - sent : queue->taken.sent == 0;
}

/* With exactly_once what is postponed goes in its turn: the frontier of a transaction passes no gap. */
static uint32_t to_send_again(const struct core *core, const struct queue *queue)
{
    return queue->taken.failed + (core->options.exactly_once ? queue->taken.postponed : 0);
}

static bool may_send_again(const struct core *core, const struct slot *slot, const struct queue *queue)
{
    bool closed = queue->hold.held || core->sink_full || core->lanes[queue->lane].paused || lane_limit_is_paused(queue) || core->stopping ||
                  slot->leaving || !transaction_admits(core, queue);
    return !closed && to_send_again(core, queue) > 0;
}

static uint32_t send_again(struct core *core, struct slot *slot, struct queue *queue, struct now now, uint32_t most)
{
    uint32_t sent = 0;
    if (!may_send_again(core, slot, queue)) {
        return 0;
    }
    most = most < again_room(core, queue) ? most : again_room(core, queue);
    for (uint32_t i = 0; i < queue->taken.count && sent < most && to_send_again(core, queue) > 0; i++) {
        struct taken *item = taken_at(&queue->taken, i);
        bool blocked = copy_forward_blocks(slot, item->key.offset) || steer_blocks(slot, item->key.offset) || lane_limit_admits(core, queue->lane) == 0;
        if (item->state == TAKEN_FAILED && blocked) {
            break;
        }
        if (item->state == TAKEN_FAILED) {
            taken_move(&queue->taken, item, TAKEN_SENT);
            send(core, slot, queue, queue->taken.first_sequence + i, true);
            transaction_note(core, queue, now);
            sent++;
        } else if (item->state == TAKEN_POSTPONED && core->options.exactly_once) {
            if (!postpone_send(core, slot, queue, i, now)) {
                break;
            }
            sent++;
        }
    }
    return sent;
}

static void drop_ended(struct core *core, struct slot *slot, struct queue *queue)
{
    if (slot->cancelled.count > 0 || slot->ended.copied > 0) {
        control_drop_ended(core, slot, queue);
    }
}

static uint32_t take_due(struct core *core, struct slot *slot, struct queue *queue, struct now now, uint32_t most)
{
    uint32_t taken = 0;
    uint64_t sequence;
    while (taken < most && queue_may_take(core, slot, queue) && queue_take(core, slot, queue, now, &sequence)) {
        send(core, slot, queue, sequence, false);
        transaction_note(core, queue, now);
        taken++;
        drop_ended(core, slot, queue); /* what is next now may have ended too */
    }
    return taken;
}

static uint32_t queue_turn(struct core *core, struct slot *slot, struct queue *queue, struct now now, uint32_t most)
{
    drop_ended(core, slot, queue);
    uint32_t sent = send_again(core, slot, queue, now, most);
    return sent + take_due(core, slot, queue, now, most - sent);
}

/* Whose turn a round is. */
enum round {
    ROUND_ALL,
    ROUND_FAILING, /* queues that have failed and are to try again */
    ROUND_SOUND,
};

static bool is_in_round(const struct queue *queue, enum round round)
{
    return queue != NULL && (round == ROUND_ALL || (queue->hold.wait_ms > 0) == (round == ROUND_FAILING));
}

/* Every queue of the slot may send up to TURN_RECORDS. */
static uint32_t slot_turn(struct core *core, struct slot *slot, struct now now, uint32_t budget, enum round round)
{
    uint32_t sent = 0;
    uint16_t lanes = slot->behind_count == 0 ? slot->queue_count : core->lane_count;
    for (uint16_t i = 0; i < lanes && sent < budget; i++) {
        lane_index lane = (lane_index)((core->turn + i) % lanes);
        struct queue *queues[] = {slot->queues[lane], catch_up_behind(slot, lane)}; /* what is on time first */
        for (int j = 0; j < 2 && sent < budget; j++) {
            uint32_t left = budget - sent;
            sent += is_in_round(queues[j], round) ? queue_turn(core, slot, queues[j], now, left < TURN_RECORDS ? left : TURN_RECORDS) : 0;
        }
    }
    return sent;
}

/* Also when nothing may be sent now: a wait that is over must not stay the next moment to wake at. And counts what is in flight. */
static void look_at_all(struct core *core, struct now now)
{
    memset(core->lane_sent, 0, sizeof(core->lane_sent));
    for (uint32_t i = 0; i < core->slot_count; i++) {
        struct slot *slot = core->slots[i];
        for (uint16_t lane = 0; slot != NULL && lane < slot->queue_count; lane++) {
            if (slot->queues[lane] != NULL) {
                look_held(slot->queues[lane], now);
                core->lane_sent[lane] += slot->queues[lane]->taken.sent;
            }
        }
    }
}

static uint32_t all_turn(struct core *core, struct now now, uint32_t budget, enum round round)
{
    uint32_t sent = 0;
    for (uint32_t i = 0; i < core->slot_count && sent < budget; i++) {
        struct slot *slot = core->slots[(core->turn + i) % core->slot_count];
        sent += slot == NULL ? 0 : slot_turn(core, slot, now, budget - sent, round);
    }
    return sent;
}

/* Who has failed goes alone: those and the others begin a transaction by turns, or the one would wait for the other for ever. */
static uint32_t first_turn(struct core *core, struct now now, uint32_t budget)
{
    if (!core->options.exactly_once || core->transaction.state != TRANSACTION_NONE) {
        return 0;
    }
    return all_turn(core, now, budget, core->transaction.alone != NULL ? ROUND_SOUND : ROUND_FAILING);
}

bool delivery_turn(struct core *core, struct now now)
{
    look_at_all(core, now);
    uint32_t room = transaction_room(core);
    uint32_t budget = room < core->options.step_records_max ? room : core->options.step_records_max;
    budget -= first_turn(core, now, budget);
    uint32_t sent = 1;
    while (budget > 0 && sent > 0) {
        sent = all_turn(core, now, budget, ROUND_ALL);
        budget -= sent;
    }
    core->turn++;
    return budget == 0 && room > 0;
}

static void hold(const struct core *core, struct queue *queue, struct now now)
{
    if (queue->hold.held) {
        return;
    }
    int64_t wait = queue->hold.wait_ms == 0 ? core->options.retry_ms : queue->hold.wait_ms * 2;
    queue->hold.wait_ms = wait < core->options.retry_max_ms ? wait : core->options.retry_max_ms;
    queue->hold.until_ms = now.mono.ms + queue->hold.wait_ms;
    queue->hold.held = true;
}

/* It had a transaction of its own, and everybody waited as long as that took: so its lane waits a few times as long, in all its partitions. */
static void hold_alone(struct core *core, struct queue *queue, struct now now)
{
    if (core->transaction.alone != queue || core->transaction.state == TRANSACTION_NONE) {
        return;
    }
    int64_t took_ms = now.mono.ms - core->transaction.opened_at_ms;
    int64_t until_ms = now.mono.ms + ALONE_WAITS * took_ms;
    queue->hold.until_ms = until_ms > queue->hold.until_ms ? until_ms : queue->hold.until_ms;
    for (uint32_t i = 0; i < core->slot_count; i++) {
        struct slot *slot = core->slots[i];
        struct queue *other = slot == NULL || queue->index >= slot->queue_count ? NULL : slot->queues[queue->index];
        if (other != NULL && other->hold.wait_ms > 0) {
            other->hold = queue->hold;
        }
    }
}

static void fail(struct core *core, struct slot *slot, struct queue *queue, struct taken *item, const struct input_delivery *report, struct now now)
{
    bool fault = report->failure == DELIVERY_FAULT ||
                 (report->failure == DELIVERY_UNKNOWN_TOPIC &&
                  unknown_topics_expired(&core->unknown, report->target_hash, now.mono, core->options.unknown_topic_grace_ms));
    bool cancelled = item->cancelled;
    transaction_poison(core);
    core->transaction.explained = core->transaction.explained || report->failure != DELIVERY_UNDONE;
    control_failed(core, slot, queue, item);
    if (cancelled) {
        queue_advance(core, queue, !core->options.exactly_once);
    } else if (report->failure == DELIVERY_UNDONE) {
        return; /* it goes again with the next transaction */
    } else if (report->failure == DELIVERY_NO_LETTER && queue->lane != core->deciding_lane && postpone_take(slot, queue, item, COPY_LATER)) {
        core->transaction.found = true;
    } else if (fault && !item->refused) {
        item->refused = true; /* goes out as a letter instead, from the same place in the FIFO (R10) */
        item->reason = (uint8_t)report->failure;
        core->transaction.found = true;
    } else {
        hold(core, queue, now);
        hold_alone(core, queue, now);
    }
}

/* At least once. */
static void delivered(struct core *core, struct slot *slot, struct queue *queue, struct taken *item, const struct input_delivery *report)
{
    if (!report->again) {
        outcome_delivered(core, slot, item);
        taken_move(&queue->taken, item, TAKEN_DONE);
    } else if (!control_stops_chain(core, slot, queue, item, report->why) && !postpone_take(slot, queue, item, report->why)) {
        item->why = (uint8_t)report->why;
        postpone_make_letter(queue, item);
    }
    queue->hold.wait_ms = queue->hold.held ? queue->hold.wait_ms : 0;
    queue_advance(core, queue, true);
}

void delivery_report(struct core *core, struct slot *slot, enum input_kind kind, const struct input_delivery *report, struct now now)
{
    bool behind = (report->sequence & SEQUENCE_BEHIND) != 0;
    struct queue *own = report->lane < slot->queue_count ? slot->queues[report->lane] : NULL;
    struct queue *queue = behind ? catch_up_behind(slot, report->lane) : own;
    struct taken *item = queue == NULL ? NULL : taken_find_sent(&queue->taken, report->sequence);
    if (item == NULL) {
        struct taken *copied = queue == NULL || kind != INPUT_DELIVERY_FAILED ? NULL : taken_find(&queue->taken, report->sequence);
        if (copied != NULL && report->failure == DELIVERY_FAULT && copied->state == TAKEN_DONE && core->options.exactly_once) {
            fail(core, slot, queue, copied, report, now); /* delivered, but what follows it cannot be written: so nothing of it is there */
        } else if (copied != NULL && report->failure == DELIVERY_FAULT) {
            postpone_fault(core, slot, copied);
        }
        return;
    }
    if (kind == INPUT_DELIVERED && core->options.exactly_once) {
        taken_move(&queue->taken, item, TAKEN_DONE); /* if its transaction commits */
        if (report->why == COPY_DECIDED) {
            outcome_settle(core, slot, item, outcome_of(item->by_cancel));
        }
    } else if (kind == INPUT_DELIVERED) {
        delivered(core, slot, queue, item, report);
    } else if (kind == INPUT_SINK_FULL) {
        core->sink_full = true;
        core->transaction.full = true;
        core->transaction.explained = true;
        transaction_poison(core);
        control_failed(core, slot, queue, item);
        queue_advance(core, queue, !core->options.exactly_once);
    } else {
        fail(core, slot, queue, item, report, now);
    }
}

int64_t delivery_next_due(const struct core *core, const struct slot *slot, struct queue *queue)
{
    if (!queue_is_open(core, slot, queue)) {
        return TIME_NEVER;
    }
    int64_t due_ms = queue_next_due(slot, queue);
    return lane_limit_admits(core, queue->lane) > 0 || due_ms > core->last.wall.ms ? due_ms : TIME_NEVER;
}

int64_t delivery_rate_at(const struct core *core, const struct slot *slot, struct queue *queue)
{
    if (core->lanes[queue->lane].rate_per_s == 0 || lane_limit_admits(core, queue->lane) > 0) {
        return TIME_NEVER;
    }
    bool again = queue->taken.failed > 0 && may_send_again(core, slot, queue);
    bool due = !again && queue_is_open(core, slot, queue) && queue_next_due(slot, queue) <= core->last.wall.ms;
    return again || due ? lane_limit_next_at(core, queue->lane) : TIME_NEVER;
}

int64_t delivery_retry_at(const struct queue *queue)
{
    return queue->hold.held && queue->taken.sent == 0 ? queue->hold.until_ms : TIME_NEVER;
}
