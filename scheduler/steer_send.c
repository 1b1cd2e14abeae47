/* The transactions in which steered events are written again; see steer.h. */
#include "scheduler/bucket.h"
#include "scheduler/catch_up.h"
#include "scheduler/command_list.h"
#include "scheduler/commit.h"
#include "scheduler/queue.h"
#include "scheduler/reappend.h"
#include "scheduler/steer.h"
#include "scheduler/transaction.h"

#define FAILURES_MAX 3

static bool has_ready(const struct slot *slot)
{
    bool ready = false;
    for (uint32_t i = 0; i < slot->steer.count && !ready; i++) {
        ready = !slot->steer.items[i].sent;
    }
    return ready;
}

struct slot *steer_ready(const struct core *core, struct now now)
{
    for (uint32_t i = 0; i < core->slot_count && !core->stopping; i++) {
        struct slot *slot = core->slots[(core->turn + i) % core->slot_count];
        if (slot != NULL && has_ready(slot) && now.mono.ms >= slot->steer.not_before_ms && !slot->commit_under_way && !slot->commit_unknown &&
            !slot->leaving && !slot->reading_stopped) {
            return slot;
        }
    }
    return NULL;
}

static void send(struct core *core, struct slot *slot, struct steered *item)
{
    item->sent = true;
    reappend_note(core, slot, &(struct input_reappended){item->id, item->key.offset, item->root});
    command_list_add(&core->commands, COMMAND_COPY, slot)->as.copy = (struct command_copy){
        .lane = item->lane,
        .why = item->verb == STEER_PAUSE ? COPY_PAUSED : COPY_MOVED,
        .due_ms = item->verb == STEER_PAUSE ? 0 : item->due_ms,
        .key = item->key,
        .ref = unwritten_find(&slot->unwritten, item->key.offset),
        .bucket = bucket_of(item->lane, 0, item->key.due_ms),
    };
}

const struct partition_frontier *steer_send(struct core *core, struct slot *slot, struct now now)
{
    struct steer *steer = &slot->steer;
    uint32_t sent = 0;
    for (uint32_t i = 0; i < steer->count; i++) {
        if (steer->items[i].failures + 1 < FAILURES_MAX) {
            send(core, slot, &steer->items[i]);
            sent++;
        }
    }
    steer->alone = sent == 0;
    if (steer->alone) { /* the last attempt of each is its own; after it nobody need wait, as it is over either way */
        send(core, slot, &steer->items[0]);
        core->transaction.found = true;
    }
    return commit_build_all(core, slot, now);
}

/* ----------------------------------------------------------------------------------------------------- the end */

/* As a cancelled one ends: it falls where it is met, and the next checkpoint erases its row. */
static void end_event(struct core *core, struct slot *slot, const struct steered *item)
{
    struct queue *queue = catch_up_queue(slot, item->lane, item->key.due_ms);
    struct taken *taken = queue_find_taken(queue, item->key);
    cancelled_add(&slot->cancelled, item->key, item->lane);
    if (taken == NULL) {
        queue->pending--;
        queue->pending_bytes -= item->bytes;
    } else {
        cancelled_find(&slot->cancelled, item->key.offset)->passed = true; /* what is taken is not in the window */
        taken_move(&queue->taken, taken, TAKEN_ENDED);
        queue_advance(core, queue, !core->options.exactly_once);
    }
}

static void committed(struct core *core, struct slot *slot, uint32_t place)
{
    const struct steered *item = &slot->steer.items[place];
    if (!item->ended) {
        end_event(core, slot, item);
    }
    slot->ended.moved += !item->beaten;
    steer_answer(core, slot, place, item->beaten ? STEER_NOT_FOUND : STEER_DONE);
}

/* One that a re-append has ended all the same: somebody else's, who holds the partition by now. */
static void aborted(struct core *core, struct slot *slot, uint32_t place)
{
    struct steered *item = &slot->steer.items[place];
    item->sent = false;
    item->failures++;
    if (item->ended) {
        steer_answer(core, slot, place, item->beaten ? STEER_NOT_FOUND : STEER_MOVING);
    } else if (item->failures == FAILURES_MAX) {
        steer_answer(core, slot, place, STEER_FAILED);
    }
}

static void rest(const struct core *core, struct steer *steer, bool done, struct now now)
{
    int64_t wait_ms = steer->wait_ms == 0 ? core->options.retry_ms : steer->wait_ms * 2;
    steer->wait_ms = done ? 0 : wait_ms < core->options.retry_max_ms ? wait_ms : core->options.retry_max_ms;
    steer->not_before_ms = now.mono.ms + steer->wait_ms;
}

void steer_answered(struct core *core, struct slot *slot, const struct input_transaction *answer, struct now now)
{
    struct steer *steer = &slot->steer;
    bool done = answer->result == TRANSACTION_COMMITTED;
    int64_t end = transaction_copied_end(answer, slot);
    steer->moved_end = end > steer->moved_end ? end : steer->moved_end;
    for (uint32_t i = steer->count; i-- > 0;) {
        if (steer->items[i].sent && done) {
            committed(core, slot, i);
        } else if (steer->items[i].sent) {
            aborted(core, slot, i);
        }
    }
    rest(core, steer, done || steer->alone, now);
}

int64_t steer_deadline(const struct core *core, const struct slot *slot)
{
    bool waits = slot->steer.not_before_ms > core->last.mono.ms && has_ready(slot);
    return waits ? slot->steer.not_before_ms : TIME_NEVER;
}
