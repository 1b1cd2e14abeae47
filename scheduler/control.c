/* See control.h. */
#include "scheduler/control.h"

#include "scheduler/catch_up.h"
#include "scheduler/frontier.h"
#include "scheduler/outcome.h"
#include "scheduler/queue.h"
#include "scheduler/reappend.h"
#include "scheduler/steer.h"

static int64_t root_of(int64_t root, int64_t offset)
{
    return root >= 0 ? root : offset;
}

/* The pending event of this id: read lately, or written. It may be done, moved or cancelled since the store knew it. */
static bool find(const struct slot *slot, struct record_id id, const struct stored_event *found, struct stored_event *event)
{
    const struct id_entry *entry = id_table_find(&slot->ids, id);
    *event = entry == NULL ? *found
                           : (struct stored_event){entry->offset, entry->due_ms, entry->root, entry->bytes, entry->lane};
    if (event->offset < slot->low_committed || event->offset < 0 || event->lane >= slot->queue_count ||
        slot->queues[event->lane] == NULL) {
        return false;
    }
    return !frontier_done(&catch_up_queue(slot, event->lane, event->due_ms)->committed, event->offset, event->due_ms) &&
           !cancelled_has(&slot->cancelled, event->offset);
}

bool control_find(const struct slot *slot, struct record_id id, const struct stored_event *found, struct stored_event *event)
{
    return find(slot, id, found, event);
}

bool control_is_pending(const struct slot *slot, struct record_id id, const struct stored_event *found)
{
    struct stored_event event;
    if (!find(slot, id, found, &event)) {
        return false;
    }
    const struct queue *queue = catch_up_queue(slot, event.lane, event.due_ms);
    struct key key = {event.due_ms, event.offset};
    const struct taken *item = queue_find_taken(queue, key);
    return item != NULL ? item->state != TAKEN_ENDED : !queue_is_done(slot, queue, key);
}

/* What a control does to the event it has found. */
enum ending {
    ENDING_NONE,    /* nothing: there is none, or it has ended already */
    ENDING_NOW,
    ENDING_SURE,    /* it ends whatever becomes of the transaction in which it is */
    ENDING_UNKNOWN, /* its delivery is under way, which a failure may still stop */
    ENDING_LATE,    /* it is delivered */
};

static enum ending end_taken(struct core *core, struct slot *slot, const struct input_record *record, struct queue *queue, struct taken *item)
{
    if (item->state == TAKEN_ENDED) {
        return ENDING_NONE; /* moved */
    }
    if (item->state == TAKEN_DONE && !core->options.exactly_once) {
        return ENDING_LATE;
    }
    if (item->state == TAKEN_FAILED || item->state == TAKEN_POSTPONED) {
        taken_move(&queue->taken, item, TAKEN_ENDED);
        queue_advance(core, queue, !core->options.exactly_once);
        return ENDING_NOW;
    }
    item->cancelled = true;
    if (item->state == TAKEN_MOVED || (queue->lane == core->deciding_lane && !item->refused)) {
        return ENDING_SURE; /* committed, its re-append ends by the mark; aborted, it does itself */
    }
    item->untold = record->root < 0; /* a re-append is nobody's order */
    slot->untold += item->untold;
    item->by_cancel = record->cancel;
    item->control = record->offset;
    return ENDING_UNKNOWN;
}

static enum ending end_event(struct core *core, struct slot *slot, const struct input_record *record, const struct stored_event *event)
{
    struct queue *queue = catch_up_queue(slot, event->lane, event->due_ms);
    struct key key = {event->due_ms, event->offset};
    struct taken *item = queue_find_taken(queue, key);
    /* Whatever becomes of its delivery: a checkpoint that has passed the control must not hold the row any more (R3). */
    cancelled_add(&slot->cancelled, key, event->lane);
    if (item == NULL && queue_is_done(slot, queue, key)) {
        cancelled_find(&slot->cancelled, event->offset)->passed = true; /* too late; but no checkpoint brings it back behind the control */
        return ENDING_LATE;
    }
    if (item == NULL) {
        queue->pending--;
        queue->pending_bytes -= event->bytes;
        return ENDING_NOW;
    }
    cancelled_find(&slot->cancelled, event->offset)->passed = true; /* what is taken is not in the window */
    return end_taken(core, slot, record, queue, item);
}

/* Its copy is read before the end of the transaction is known, which takes the event out of `pending`. (What is postponed stands in a FIFO, and is ended there
 * either way.) */
static bool is_moving(const struct slot *slot, const struct stored_event *event)
{
    return slot->copy.state == COPY_SENT && event->offset < slot->copy.below;
}

/* A re-append was let fall. */
static void skip(struct core *core, struct slot *slot, const struct input_record *record, int64_t control, bool by_cancel)
{
    slot->ended.skipped++;
    outcome_tell(core, slot, &(struct command_outcome){OUTCOME_SKIPPED, control, record->offset, record->due_ms, by_cancel});
}

static bool skip_marked(struct core *core, struct slot *slot, const struct input_record *record)
{
    if (!marks_skip(&slot->marks, record->id, record->root, record->offset)) {
        return false;
    }
    const struct id_entry *mark = marks_find(&slot->marks, record->id);
    skip(core, slot, record, mark == NULL ? -1 : mark->offset, mark != NULL && mark->by_cancel);
    outcome_met(core, slot, record->id, record->root, (struct key){record->due_ms, record->offset});
    return true;
}

/* One that has found nothing waits, if something that its mark ends may still come up. */
static void tell_control(struct core *core, struct slot *slot, const struct input_record *record, bool marked, enum ending ending, const struct stored_event *event)
{
    struct command_outcome outcome = {outcome_of(record->cancel), record->offset, event->offset, event->due_ms, record->cancel};
    if (ending == ENDING_NONE && !(marked && marks_wait(&slot->marks, record->id, record->offset, record->cancel))) {
        outcome_not_found(core, slot, (struct waiting_control){record->offset, record->cancel});
    } else if (ending == ENDING_NOW || ending == ENDING_SURE) {
        outcome_tell(core, slot, &outcome);
    } else if (ending == ENDING_LATE) {
        outcome.outcome = OUTCOME_TOO_LATE;
        outcome_tell(core, slot, &outcome);
    }
}

/* ---------------------------------------------------------------------------------------------------- reading */

static bool undecided_may_be(const struct slot *slot)
{
    return slot->undecided_last >= slot->decided;
}

bool control_take(struct core *core, struct slot *slot, const struct input_record *record)
{
    struct stored_event event;
    enum ending ending = ENDING_NONE;
    bool marked = false;
    bool again = record->root >= 0;
    if (again) {
        reappend_read(slot, record->id, record->root);
    }
    if (again && skip_marked(core, slot, record)) {
        return false;
    }
    bool found = find(slot, record->id, &record->found, &event);
    if (again && found && root_of(event.root, event.offset) > record->root) {
        marks_add_skip(&slot->marks, root_of(event.root, event.offset), record->offset);
        skip(core, slot, record, root_of(event.root, event.offset), false);
        return false;
    }
    if (!again) {
        marked = marks_control(&slot->marks, record->id, record->offset, record->cancel, undecided_may_be(slot));
    }
    if (found && !(again && is_moving(slot, &event))) {
        ending = end_event(core, slot, record, &event);
    }
    if (ending == ENDING_NOW) {
        bool moved = again && steer_blocks(slot, event.offset); /* by a person: that is counted when it is known to be committed */
        slot->ended.cancelled += record->cancel;
        slot->ended.replaced += !record->cancel && !moved;
    }
    if (found) {
        steer_overtaken(core, slot, event.offset, again && root_of(event.root, event.offset) == record->root);
    }
    if (!again) {
        tell_control(core, slot, record, marked, ending, &event);
    }
    if (record->cancel) {
        id_table_remove(&slot->ids, record->id);
    }
    return !record->cancel;
}

bool control_take_conditional(struct core *core, struct slot *slot, const struct input_record *record)
{
    if (record->root < 0) {
        return true;
    }
    reappend_read(slot, record->id, record->root);
    return !skip_marked(core, slot, record);
}

void control_keep(struct slot *slot, const struct input_record *record)
{
    id_table_put(&slot->ids, &(struct id_entry){.id = record->id,
                                                .offset = record->offset,
                                                .due_ms = record->due_ms,
                                                .root = record->root,
                                                .bytes = record->bytes,
                                                .lane = record->lane});
}

void control_forget(struct slot *slot, const struct unwritten_row *row)
{
    const struct id_entry *entry = id_table_find(&slot->ids, row->id);
    if (entry != NULL && entry->offset == row->offset) {
        id_table_remove(&slot->ids, row->id);
    }
}

/* ------------------------------------------------------------------------------------- what is under way */

void control_failed(struct core *core, struct slot *slot, struct queue *queue, struct taken *item)
{
    outcome_settle(core, slot, item, outcome_of(item->by_cancel));
    control_taken_back(slot, queue, item, TAKEN_FAILED);
}

void control_taken_back(struct slot *slot, struct queue *queue, struct taken *item, enum taken_state state)
{
    outcome_forget(slot, item); /* it is asked about once more */
    taken_move(&queue->taken, item, item->cancelled ? TAKEN_ENDED : state);
    slot->ended.cancelled += item->cancelled; /* by a cancel or a replacement: it is told no more */
}

bool control_stops_chain(struct core *core, struct slot *slot, struct queue *queue, struct taken *item, enum copy_why why)
{
    if (!item->cancelled) {
        return false;
    }
    if (why == COPY_DECIDED) {
        outcome_settle(core, slot, item, outcome_of(item->by_cancel));
    }
    if (item->untold) {
        struct command_outcome skipped = {OUTCOME_SKIPPED, item->control, item->key.offset, item->key.due_ms, item->by_cancel};
        outcome_settle(core, slot, item, OUTCOME_TOO_LATE);
        outcome_tell(core, slot, &skipped); /* its next occurrence, which is not written */
        slot->ended.skipped++;
    } else {
        slot->ended.cancelled++;
    }
    taken_move(&queue->taken, item, TAKEN_ENDED);
    return true;
}

/* ---------------------------------------------------------------------------------------------- what has ended */

static bool has_ended(const struct slot *slot, int64_t offset)
{
    return offset < slot->low_committed || cancelled_has(&slot->cancelled, offset);
}

static void note_passed(struct slot *slot, int64_t offset)
{
    struct cancelled_row *row = cancelled_find(&slot->cancelled, offset);
    if (row != NULL) {
        row->passed = true;
    }
}

void control_drop_ended(struct core *core, struct slot *slot, struct queue *queue)
{
    const struct late_entry *late = late_heap_peek(&queue->late);
    struct key key;
    while (late != NULL && has_ended(slot, late->key.offset)) {
        struct late_entry dropped;
        late_heap_take_least(&queue->late, &dropped);
        core->late_count--;
        note_passed(slot, dropped.key.offset);
        late = late_heap_peek(&queue->late);
    }
    while (wheel_peek(&queue->wheel, &key) && has_ended(slot, key.offset)) {
        wheel_drop_least(&queue->wheel); /* not taken: the base stays with what was */
        note_passed(slot, key.offset);
    }
}

/* Kept while the store may have it, or the window does, or what is to be copied. */
static bool keep(struct cancelled_row *row, void *context)
{
    const struct slot *slot = context;
    const struct queue *queue = catch_up_queue(slot, row->lane, row->key.due_ms);
    row->planned = false;
    bool in_copy = slot->copy.state != COPY_IDLE && row->key.offset < slot->copy.below; /* was looked up for it */
    if (!row->erased || in_copy) {
        return true;
    }
    bool in_window = key_compare(row->key, queue->loaded) <= 0 ||
                     (queue->scan.active && key_compare(row->key, queue->scan.limit) <= 0);
    return in_window && !row->passed && !frontier_done(&queue->frontier, row->key.offset, row->key.due_ms);
}

void control_sweep(struct slot *slot)
{
    cancelled_filter(&slot->cancelled, keep, slot);
}
