/* See control.h. */
#include "scheduler/control.h"

#include "scheduler/frontier.h"
#include "scheduler/queue.h"

static int64_t root_of(int64_t root, int64_t offset)
{
    return root >= 0 ? root : offset;
}

/* The pending event of this id: read lately, or written. It may be done, moved or cancelled since the store knew it. */
static bool find(const struct slot *slot, const struct input_record *record, struct stored_event *event)
{
    const struct id_entry *entry = id_table_find(&slot->ids, record->id);
    *event = entry == NULL ? record->found
                           : (struct stored_event){entry->offset, entry->due_ms, entry->root, entry->bytes, entry->lane};
    if (event->offset < slot->low_committed || event->offset < 0 || event->lane >= slot->queue_count ||
        slot->queues[event->lane] == NULL) {
        return false;
    }
    return !frontier_done(&slot->queues[event->lane]->committed, event->offset, event->due_ms) &&
           !cancelled_has(&slot->cancelled, event->offset);
}

static struct taken *find_taken(const struct queue *queue, struct key key)
{
    for (uint32_t i = 0; i < queue->taken.count && key_compare(key, queue->taken_point) <= 0; i++) {
        struct taken *item = taken_at(&queue->taken, i);
        if (item->key.offset == key.offset) {
            return item;
        }
    }
    return NULL;
}

/* True: it is ended. False: its delivery is under way, which a failure may still stop. */
static bool end_event(struct core *core, struct slot *slot, const struct stored_event *event)
{
    struct queue *queue = slot->queues[event->lane];
    struct key key = {event->due_ms, event->offset};
    struct taken *item = find_taken(queue, key);
    /* Whatever becomes of its delivery: a checkpoint that has passed the control must not hold the row any more (R3). */
    cancelled_add(&slot->cancelled, key, event->lane);
    if (item == NULL && queue_is_done(slot, queue, key)) {
        cancelled_find(&slot->cancelled, event->offset)->passed = true; /* too late; but no checkpoint brings it back behind the control */
        return false;
    }
    if (item == NULL) {
        queue->pending--;
        queue->pending_bytes -= event->bytes;
        return true;
    }
    cancelled_find(&slot->cancelled, event->offset)->passed = true; /* what is taken is not in the window */
    if (item->state == TAKEN_FAILED || item->state == TAKEN_POSTPONED) {
        taken_move(&queue->taken, item, TAKEN_ENDED);
        queue_advance(core, queue, !core->options.exactly_once);
        return true;
    }
    item->cancelled = item->state != TAKEN_ENDED;
    return false;
}

/* Its copy is read before the end of the transaction is known, which takes the event out of `pending`. (What is postponed stands in a FIFO, and is ended there
 * either way.) */
static bool is_moving(const struct slot *slot, const struct stored_event *event)
{
    return slot->copy.state == COPY_SENT && event->offset < slot->copy.below;
}

bool control_take(struct core *core, struct slot *slot, const struct input_record *record)
{
    struct stored_event event;
    bool again = record->root >= 0;
    if (again && marks_skip(&slot->marks, record->id, record->root, record->offset)) {
        slot->ended.skipped++;
        return false;
    }
    bool found = find(slot, record, &event);
    if (again && found && root_of(event.root, event.offset) > record->root) {
        marks_add_skip(&slot->marks, root_of(event.root, event.offset), record->offset);
        slot->ended.skipped++;
        return false;
    }
    if (!again) {
        marks_control(&slot->marks, record->id, record->offset);
    }
    if (found && !(again && is_moving(slot, &event)) && end_event(core, slot, &event)) {
        slot->ended.cancelled += record->cancel;
        slot->ended.replaced += !record->cancel;
    }
    if (record->cancel) {
        id_table_remove(&slot->ids, record->id);
    }
    return !record->cancel;
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

void control_failed(struct slot *slot, struct queue *queue, struct taken *item)
{
    taken_move(&queue->taken, item, item->cancelled ? TAKEN_ENDED : TAKEN_FAILED);
    slot->ended.cancelled += item->cancelled; /* by a cancel or a replacement: it is told no more */
}

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
    const struct queue *queue = slot->queues[row->lane];
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
