/* How it stands with one event, for people who ask: see core.h. */
#include <assert.h>

#include "scheduler/catch_up.h"
#include "scheduler/control.h"
#include "scheduler/copy_forward.h"
#include "scheduler/core_state.h"
#include "scheduler/queue.h"
#include "scheduler/reappend.h"

static const struct slot *slot_of(const struct core *core, slot_index index)
{
    assert(index < core->slot_count && core->slots[index] != NULL);
    return core->slots[index];
}

/* Without late ones the FIFO is in the order of its keys, and a page of rows is looked up in it one by one. */
static const struct taken *find_taken(const struct queue *queue, struct key key)
{
    if (queue->taken.late > 0) {
        return queue_find_taken(queue, key);
    }
    uint32_t low = 0;
    uint32_t high = queue->taken.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (key_compare(taken_at(&queue->taken, middle)->key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct taken *item = low < queue->taken.count ? taken_at(&queue->taken, low) : NULL;
    return item != NULL && key_compare(item->key, key) == 0 ? item : NULL;
}

/* It went out, and what follows it is about to be written. */
static bool has_fired(const struct taken *item)
{
    return (item->state == TAKEN_POSTPONED || item->state == TAKEN_MOVED) && (item->why == COPY_NEXT || item->why == COPY_DECIDED);
}

static enum core_event_state state_of(const struct taken *item)
{
    if (item->cancelled) {
        return CORE_EVENT_ENDED; /* also when its row is erased and forgotten, before its delivery is known */
    }
    switch ((enum taken_state)item->state) {
    case TAKEN_SENT:
    case TAKEN_DONE: /* behind another one that is not, or in a transaction that has not ended */
        return CORE_EVENT_RUNNING;
    case TAKEN_ENDED:
        return CORE_EVENT_ENDED;
    case TAKEN_FAILED:
        return CORE_EVENT_PENDING;
    case TAKEN_POSTPONED:
    case TAKEN_MOVED:
        break;
    }
    return has_fired(item) ? CORE_EVENT_RUNNING : CORE_EVENT_PENDING;
}

/* Rows of the store may be ahead of the position: after a start with `dedupe` what they came from is read once more. */
static bool is_known(const struct slot *slot, int64_t offset)
{
    return offset >= slot->low_committed && (offset < slot->position || offset < slot->stored_position);
}

/* Late ones stand anywhere in the FIFO: then it is gone through once for all the keys, which are in order. */
static void find_all(const struct queue *queue, const struct key *keys, size_t count, const struct taken **items)
{
    for (uint32_t i = 0; i < queue->taken.count; i++) {
        const struct taken *item = taken_at(&queue->taken, i);
        size_t low = 0;
        size_t high = count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (key_compare(keys[middle], item->key) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low < count && key_compare(keys[low], item->key) == 0) {
            items[low] = item;
        }
    }
}

/* All of one queue. What is beyond the point that was taken is neither under way nor passed. */
static void look_at(const struct core *core, const struct slot *slot, const struct queue *queue, const struct key *keys, size_t count, enum core_event_state *states)
{
    const struct taken *items[CORE_LOOK_ROWS_MAX] = {NULL};
    bool taken = key_compare(keys[0], queue->taken_point) <= 0;
    bool many = taken && queue->taken.late > 0;
    int64_t cut = taken ? queue_cut(slot, queue) : 0;
    if (many) {
        find_all(queue, keys, count, items);
    }
    for (size_t i = 0; i < count; i++) {
        const struct taken *item = many || !taken ? items[i] : find_taken(queue, keys[i]);
        bool forgotten = !is_known(slot, keys[i].offset) || cancelled_has(&slot->cancelled, keys[i].offset);
        bool done = item == NULL && queue_is_done_below(queue, keys[i], cut);
        states[i] = item != NULL ? state_of(item) : CORE_EVENT_PENDING;
        states[i] = forgotten || done ? CORE_EVENT_ENDED : states[i];
        states[i] = states[i] != CORE_EVENT_ENDED && core->lanes[queue->lane].decides ? CORE_EVENT_UNDECIDED : states[i];
    }
}

void core_look_rows(const struct core *core, slot_index index, lane_index lane, const struct key *keys, size_t count, enum core_event_state *states)
{
    const struct slot *slot = slot_of(core, index);
    assert(lane < core->lane_count && count <= CORE_LOOK_ROWS_MAX);
    for (size_t from = 0, to = 0; from < count; from = to) {
        const struct queue *queue = catch_up_queue(slot, lane, keys[from].due_ms);
        while (to < count && catch_up_queue(slot, lane, keys[to].due_ms) == queue) {
            assert(to == 0 || key_compare(keys[to - 1], keys[to]) < 0);
            states[to++] = CORE_EVENT_ENDED; /* of a lane of which nothing was ever here */
        }
        if (queue != NULL) {
            look_at(core, slot, queue, keys + from, to - from, states + from);
        }
    }
}

enum core_event_state core_look_row(const struct core *core, slot_index index, lane_index lane, struct key key)
{
    enum core_event_state state;
    core_look_rows(core, index, lane, &key, 1, &state);
    return state;
}

/* ------------------------------------------------------------------------------------------------------- by its id */

static bool is_sent_by_person(const struct slot *slot, int64_t offset)
{
    for (uint32_t i = 0; i < slot->steer.count; i++) {
        if (slot->steer.items[i].key.offset == offset) {
            return slot->steer.items[i].sent;
        }
    }
    return false;
}

/* Where it is written again, it is pending in two places, or in none. */
static bool is_moving(const struct slot *slot, const struct queue *queue, struct key key)
{
    const struct taken *item = find_taken(queue, key);
    return copy_forward_blocks(slot, key.offset) || is_sent_by_person(slot, key.offset) || (item != NULL && (item->state == TAKEN_MOVED || has_fired(item)));
}

static bool look_for_moved(const struct core *core, const struct slot *slot, struct record_id id, struct core_event *event)
{
    const struct id_entry *entry = reappend_find(core, slot, id);
    if (entry == NULL) {
        return false;
    }
    *event = (struct core_event){.state = CORE_EVENT_MOVING, .lane = LANES_MAX, .key = {DUE_SINCE_EVER, entry->offset}, .root = entry->root};
    return true;
}

bool core_look_id(const struct core *core, slot_index index, struct record_id id, const struct stored_event *found, struct core_event *event)
{
    const struct slot *slot = slot_of(core, index);
    struct stored_event stored;
    if (!control_find(slot, id, found, &stored)) {
        return look_for_moved(core, slot, id, event);
    }
    struct key key = {stored.due_ms, stored.offset};
    enum core_event_state state = core_look_row(core, index, stored.lane, key);
    if (state == CORE_EVENT_ENDED) {
        return look_for_moved(core, slot, id, event);
    }
    *event = (struct core_event){.state = is_moving(slot, catch_up_queue(slot, stored.lane, stored.due_ms), key) ? CORE_EVENT_MOVING : state,
                                 .lane = stored.lane,
                                 .key = key,
                                 .root = stored.root >= 0 ? stored.root : stored.offset,
                                 .ref = unwritten_find(&slot->unwritten, stored.offset)};
    return true;
}

/* ---------------------------------------------------------------------------------------------------- by its place */

bool core_look_offset(const struct core *core, slot_index index, int64_t offset, struct core_event *event)
{
    const struct slot *slot = slot_of(core, index);
    uint32_t position = unwritten_search(&slot->unwritten, offset);
    const struct unwritten_row *row = position < slot->unwritten.count ? unwritten_at(&slot->unwritten, position) : NULL;
    if (row == NULL || row->offset != offset) {
        return false;
    }
    struct key key = {row->due_ms, row->offset};
    *event = (struct core_event){
        .state = core_look_row(core, index, row->lane, key), .lane = row->lane, .key = key, .root = row->root >= 0 ? row->root : row->offset, .ref = row->ref};
    return true;
}
