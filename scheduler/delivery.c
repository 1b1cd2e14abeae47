/* See delivery.h. */
#include "scheduler/delivery.h"

#include "scheduler/bucket.h"
#include "scheduler/command_list.h"
#include "scheduler/queue.h"

#define TURN_RECORDS 256u /* taken from one queue before the next one's turn */

static void send(struct core *core, const struct slot *slot, const struct queue *queue, uint64_t sequence, bool again)
{
    const struct taken *item = taken_find_sent(&queue->taken, sequence);
    struct command *command = command_list_add(&core->commands, COMMAND_DELIVER, slot);
    command->as.deliver = (struct command_deliver){
        .lane = queue->lane,
        .as_refused = item->refused,
        .again = again,
        .reason = (enum delivery_failure)item->reason,
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

static uint32_t send_again(struct core *core, const struct slot *slot, struct queue *queue, uint32_t most)
{
    bool closed = queue->hold.held || core->sink_full || core->lanes[queue->lane].paused || core->stopping ||
                  slot->leaving;
    uint32_t sent = 0;
    if (closed || queue->taken.failed == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < queue->taken.count && sent < most && queue->taken.failed > 0; i++) {
        struct taken *item = taken_at(&queue->taken, i);
        if (item->state == TAKEN_FAILED) {
            taken_move(&queue->taken, item, TAKEN_SENT);
            send(core, slot, queue, queue->taken.first_sequence + i, true);
            sent++;
        }
    }
    return sent;
}

static uint32_t take_due(struct core *core, struct slot *slot, struct queue *queue, struct now now, uint32_t most)
{
    uint32_t taken = 0;
    uint64_t sequence;
    while (taken < most && queue_may_take(core, slot, queue) && queue_take(core, slot, queue, now, &sequence)) {
        send(core, slot, queue, sequence, false);
        taken++;
    }
    return taken;
}

static uint32_t queue_turn(struct core *core, struct slot *slot, struct queue *queue, struct now now, uint32_t most)
{
    look_held(queue, now);
    uint32_t sent = send_again(core, slot, queue, most);
    return sent + take_due(core, slot, queue, now, most - sent);
}

/* One round: every queue of the slot may send up to TURN_RECORDS. */
static uint32_t slot_turn(struct core *core, struct slot *slot, struct now now, uint32_t budget)
{
    uint32_t sent = 0;
    for (uint16_t i = 0; i < slot->queue_count && sent < budget; i++) {
        struct queue *queue = slot->queues[(core->turn + i) % slot->queue_count];
        if (queue != NULL) {
            uint32_t left = budget - sent;
            sent += queue_turn(core, slot, queue, now, left < TURN_RECORDS ? left : TURN_RECORDS);
        }
    }
    return sent;
}

void delivery_turn(struct core *core, struct now now)
{
    uint32_t budget = core->options.step_records_max;
    uint32_t sent_in_round = 1;
    while (budget > 0 && sent_in_round > 0) {
        sent_in_round = 0;
        for (uint32_t i = 0; i < core->slot_count && budget > 0; i++) {
            struct slot *slot = core->slots[(core->turn + i) % core->slot_count];
            uint32_t sent = slot == NULL ? 0 : slot_turn(core, slot, now, budget);
            sent_in_round += sent;
            budget -= sent;
        }
    }
    core->turn++;
    core->more = core->more || budget == 0;
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

static void fail(struct core *core, struct queue *queue, struct taken *item, const struct input_delivery *report, struct now now)
{
    bool fault = report->failure == DELIVERY_FAULT ||
                 (report->failure == DELIVERY_UNKNOWN_TOPIC &&
                  unknown_topics_expired(&core->unknown, report->target_hash, now.mono, core->options.unknown_topic_grace_ms));
    taken_move(&queue->taken, item, TAKEN_FAILED);
    if (fault && !item->refused) {
        item->refused = true; /* goes to the refused topic instead, from the same place in the FIFO (R10) */
        item->reason = (uint8_t)report->failure;
    } else {
        hold(core, queue, now);
    }
}

void delivery_report(struct core *core, struct slot *slot, enum input_kind kind, const struct input_delivery *report, struct now now)
{
    struct queue *queue = report->lane < slot->queue_count ? slot->queues[report->lane] : NULL;
    struct taken *item = queue == NULL ? NULL : taken_find_sent(&queue->taken, report->sequence);
    if (item == NULL) {
        return;
    }
    if (kind == INPUT_DELIVERED) {
        taken_move(&queue->taken, item, TAKEN_DONE);
        queue->hold.wait_ms = queue->hold.held ? queue->hold.wait_ms : 0;
        queue_advance(core, queue);
    } else if (kind == INPUT_SINK_FULL) {
        taken_move(&queue->taken, item, TAKEN_FAILED);
        core->sink_full = true;
    } else {
        fail(core, queue, item, report, now);
    }
}

int64_t delivery_retry_at(const struct queue *queue)
{
    return queue->hold.held && queue->taken.sent == 0 ? queue->hold.until_ms : TIME_NEVER;
}
