/* See steer.h: what is asked, and what comes in between. The transactions are in steer_send.c. */
#include "scheduler/steer.h"

#include "scheduler/catch_up.h"
#include "scheduler/command_list.h"
#include "scheduler/control.h"
#include "scheduler/copy_forward.h"
#include "scheduler/queue.h"
#include "scheduler/reappend.h"

static void answer(struct core *core, const struct slot *slot, uint64_t token, enum steer_result result, int64_t due_ms)
{
    command_list_add(&core->commands, COMMAND_STEERED, slot)->as.steered =
        (struct command_steered){.token = token, .result = result, .due_ms = due_ms};
}

void steer_answer(struct core *core, struct slot *slot, uint32_t place, enum steer_result result)
{
    struct steer *steer = &slot->steer;
    answer(core, slot, steer->items[place].token, result, steer->items[place].key.due_ms);
    steer->count--;
    for (uint32_t i = place; i < steer->count; i++) { /* those that came first are sent first */
        steer->items[i] = steer->items[i + 1];
    }
}

void steer_refuse(struct core *core, const struct input *input)
{
    struct command *command = command_list_add(&core->commands, COMMAND_STEERED, NULL);
    command->slot = input->slot;
    command->epoch = input->epoch;
    command->as.steered = (struct command_steered){.token = input->as.steer.token, .result = STEER_STOPPED};
}

/* ------------------------------------------------------------------------------------------------- what is asked */

static bool is_closed(const struct core *core, const struct slot *slot)
{
    return core->stopping || slot->leaving || slot->reading_stopped;
}

static bool is_steered(const struct slot *slot, struct record_id id)
{
    bool found = false;
    for (uint32_t i = 0; i < slot->steer.count && !found; i++) {
        found = record_id_equal(slot->steer.items[i].id, id);
    }
    return found;
}

/* Nothing pending is known of the id: perhaps because what was written again is not read back. */
static enum steer_result look_for_moved(const struct core *core, const struct slot *slot, struct record_id id)
{
    const struct steer *steer = &slot->steer;
    if (reappend_find(core, slot, id) != NULL) {
        return STEER_MOVING;
    }
    return slot->position < steer->moved_end || slot->position < steer->copied_end ? STEER_MOVING : STEER_NOT_FOUND;
}

/* What waits in the FIFO after a failure may be steered, as it may be cancelled; what was delivered, and goes on or ends as a letter, may not: it fired. */
static enum steer_result look_at_taken(const struct taken *item)
{
    bool waits = item->state == TAKEN_FAILED || item->state == TAKEN_POSTPONED;
    bool fired = item->why == COPY_NEXT || item->why == COPY_DECIDED;
    if (item->state == TAKEN_POSTPONED && fired) {
        return STEER_MOVING; /* its next occurrence is about to be written */
    }
    return waits && !fired ? STEER_DONE : STEER_TOO_LATE;
}

static enum steer_result look_at_event(const struct core *core, const struct slot *slot, const struct stored_event *event)
{
    struct key key = {event->due_ms, event->offset};
    const struct queue *queue = catch_up_queue(slot, event->lane, event->due_ms);
    const struct taken *item = queue_find_taken(queue, key);
    if (copy_forward_blocks(slot, event->offset) || core->lanes[event->lane].decides) {
        return STEER_MOVING; /* what is undecided goes on as a re-append, and soon (R10) */
    }
    enum steer_result result = item == NULL ? STEER_DONE : look_at_taken(item);
    if (result != STEER_DONE) {
        return result;
    }
    if (item == NULL && queue_is_done(slot, queue, key)) {
        return STEER_TOO_LATE;
    }
    return slot->steer.count < STEER_MAX ? STEER_DONE : STEER_BUSY;
}

/* STEER_DONE: it can be. Before the slot has caught up a former owner's re-append of the same event may stand further up: two would fire. */
static enum steer_result look(const struct core *core, const struct slot *slot, const struct input_steer *input, struct stored_event *event)
{
    if (is_closed(core, slot)) {
        return STEER_STOPPED;
    }
    if (!slot->caught_up || is_steered(slot, input->id)) {
        return STEER_MOVING;
    }
    if (!control_find(slot, input->id, &input->found, event)) {
        return look_for_moved(core, slot, input->id);
    }
    return look_at_event(core, slot, event);
}

void steer_take(struct core *core, struct slot *slot, const struct input_steer *input)
{
    struct stored_event event = {.offset = -1};
    enum steer_result result = look(core, slot, input, &event);
    if (result != STEER_DONE) {
        answer(core, slot, input->token, result, event.offset < 0 ? 0 : event.due_ms);
        return;
    }
    slot->steer.items[slot->steer.count++] = (struct steered){
        .token = input->token,
        .id = input->id,
        .key = {event.due_ms, event.offset},
        .root = event.root >= 0 ? event.root : event.offset,
        .due_ms = input->due_ms,
        .bytes = event.bytes,
        .lane = event.lane,
        .verb = (uint8_t)input->verb,
    };
}

/* ------------------------------------------------------------------------------------------- what comes in between */

bool steer_holds(const struct slot *slot, int64_t offset)
{
    bool found = false;
    for (uint32_t i = 0; i < slot->steer.count && !found; i++) {
        found = slot->steer.items[i].key.offset == offset;
    }
    return found;
}

void steer_overtaken(struct core *core, struct slot *slot, int64_t offset, bool own)
{
    struct steer *steer = &slot->steer;
    uint32_t i = 0;
    while (i < steer->count && steer->items[i].key.offset != offset) {
        i++;
    }
    if (i == steer->count) {
        return;
    }
    if (steer->items[i].sent) {
        steer->items[i].ended = true;
        steer->items[i].beaten = steer->items[i].beaten || !own; /* its own re-append is not a control: it proves that the transaction is there */
    } else {
        steer_answer(core, slot, i, own ? STEER_MOVING : STEER_NOT_FOUND);
    }
}

void steer_note_copies(struct slot *slot, int64_t end)
{
    slot->steer.copied_end = end > slot->steer.copied_end ? end : slot->steer.copied_end;
}

bool steer_is_moving(const struct slot *slot)
{
    bool sent = false;
    for (uint32_t i = 0; i < slot->steer.count && !sent; i++) {
        sent = slot->steer.items[i].sent;
    }
    return sent || slot->position < slot->steer.moved_end;
}

void steer_gain(struct slot *slot, const struct input_slot_gained *gained)
{
    slot->steer.moving_committing = gained->frontier.moving;
    slot->steer.moving_committed = gained->frontier.moving;
    if (gained->frontier.moving) {
        slot->steer.moved_end = gained->high;
        slot->catch_up_to = gained->high > slot->catch_up_to ? gained->high : slot->catch_up_to;
    }
}

/* Not sent yet: something else may have got hold of the event, which was not so when it was asked for. */
static enum steer_result look_again(const struct core *core, const struct slot *slot, const struct steered *item)
{
    const struct taken *taken = queue_find_taken(catch_up_queue(slot, item->lane, item->key.due_ms), item->key);
    if (is_closed(core, slot)) {
        return STEER_STOPPED;
    }
    if (copy_forward_blocks(slot, item->key.offset)) {
        return STEER_MOVING;
    }
    return taken == NULL ? STEER_DONE : look_at_taken(taken);
}

static void slot_turn(struct core *core, struct slot *slot)
{
    for (uint32_t i = slot->steer.count; i-- > 0;) {
        enum steer_result result = slot->steer.items[i].sent ? STEER_DONE : look_again(core, slot, &slot->steer.items[i]);
        if (result != STEER_DONE) {
            steer_answer(core, slot, i, result);
        }
    }
}

void steer_turn(struct core *core)
{
    for (uint32_t i = 0; i < core->slot_count; i++) {
        if (core->slots[i] != NULL) {
            slot_turn(core, core->slots[i]);
        }
    }
}

void steer_lose(struct core *core, struct slot *slot)
{
    if (core->transaction.steering == slot) {
        core->transaction.steering = NULL;
    }
    while (slot->steer.count > 0) {
        steer_answer(core, slot, slot->steer.count - 1, STEER_STOPPED);
    }
}
