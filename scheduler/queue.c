/* See queue.h, and docs/internals/core.md for the picture. */
#include "scheduler/queue.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "scheduler/catch_up.h"
#include "scheduler/copy_forward.h"
#include "scheduler/frontier.h"
#include "scheduler/lane_limit.h"
#include "scheduler/steer.h"
#include "scheduler/transaction.h"
#include "scheduler/window.h"

static struct queue *queue_new(struct core *core, uint16_t index, const struct frontier *frontier)
{
    struct queue *queue = memory_new(1, sizeof(*queue));
    queue->lane = index % LANES_MAX;
    queue->index = index;
    queue->floor = KEY_LEAST;
    queue->ceiling_ms = INT64_MAX;
    /* What goes into the wheel is beyond the point, so its base may begin there: fewer levels to come down. */
    wheel_init(&queue->wheel, &core->pool, frontier->live.point.due_ms < 0 ? 0 : frontier->live.point.due_ms);
    queue->late = late_heap_new();
    queue->spilled_from = INT64_MAX;
    queue->taken_point = frontier->live.point;
    queue->frontier = *frontier;
    queue->outlook = *frontier;
    queue->committing = *frontier;
    queue->committed = *frontier;
    queue->loaded = KEY_LEAST;
    queue->counted = KEY_LEAST;
    queue->beyond_due_ms = TIME_NEVER;
    queue->plan_coarse_ms = TIME_NEVER;
    return queue;
}

struct queue *queue_get(struct core *core, struct slot *slot, uint16_t index, const struct frontier *frontier)
{
    assert(index % LANES_MAX < core->lane_count);
    if (slot->queues[index] == NULL) {
        slot->queues[index] = queue_new(core, index, frontier);
        core->queue_total++;
        if (slot->queue_count <= index) {
            slot->queue_count = (uint16_t)(index + 1);
        }
    }
    return slot->queues[index];
}

void queue_free(struct core *core, struct queue *queue)
{
    wheel_free(&queue->wheel);
    core->late_count -= queue->late.count;
    late_heap_free(&queue->late);
    core->lane_taken[queue->index] -= queue->taken.count;
    core->lane_taken_bytes[queue->index] -= queue->taken.bytes;
    taken_free(&queue->taken);
    bucket_table_free(&queue->buckets);
    core->queue_total--;
    free(queue);
}

/* Room for one more old pair: in the lane's list, and in the metadata, which all lanes of the slot share. */
static bool may_start_over(const struct core *core, const struct slot *slot, const struct queue *queue)
{
    uint32_t pairs = catch_up_pairs(slot);
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        pairs += slot->queues[lane] == NULL ? 0 : slot->queues[lane]->frontier.old_count;
    }
    return queue->frontier.old_count < FRONTIER_PAIRS_MAX && pairs < core->options.old_pairs_max;
}

void queue_arrive(struct core *core, struct queue *queue, struct key key, uint32_t bytes)
{
    queue->pending++;
    queue->pending_bytes += bytes;
    if (key_compare(key, queue->loaded) <= 0) {
        queue_remember(core, queue, key, bytes);
    } else if (key.due_ms < queue->beyond_due_ms) {
        queue->beyond_due_ms = key.due_ms;
    }
}

/* The heap has outgrown its limit: those with the greatest offsets stay on disk (and in the unwritten list). The cut stands at the
 * first such one; when all before it is done they are loaded again, see start_over. */
static void spill(struct core *core, struct queue *queue)
{
    uint32_t keep = core->options.late_max / 2 + 1;
    struct late_entry *kept = memory_new(keep, sizeof(*kept));
    uint32_t count = 0;
    core->late_count -= queue->late.count;
    while (count < keep && late_heap_take_least(&queue->late, &kept[count])) {
        count++;
    }
    const struct late_entry *first = late_heap_peek(&queue->late);
    queue->spilled_from = first == NULL ? queue->spilled_from : first->key.offset;
    late_heap_free(&queue->late);
    for (uint32_t i = 0; i < count; i++) {
        late_heap_add(&queue->late, kept[i].key, kept[i].bytes);
    }
    core->late_count += count;
    free(kept);
}

static void remember_late(struct core *core, struct queue *queue, struct key key, uint32_t bytes)
{
    if (key.offset >= queue->spilled_from) {
        return;
    }
    late_heap_add(&queue->late, key, bytes);
    core->late_count++;
    if (queue->late.count > core->options.late_max) {
        spill(core, queue);
    }
}

void queue_remember(struct core *core, struct queue *queue, struct key key, uint32_t bytes)
{
    if (key_compare(key, queue->taken_point) <= 0) {
        remember_late(core, queue, key, bytes);
    } else {
        wheel_add(&queue->wheel, key, bytes);
    }
}

/* Something moves it, and that is not known to be over: it must not be sent. */
static bool is_blocked(const struct slot *slot, int64_t offset)
{
    return copy_forward_blocks(slot, offset) || steer_blocks(slot, offset);
}

bool queue_is_open(const struct core *core, const struct slot *slot, const struct queue *queue)
{
    if (!catch_up_admits(core, queue)) {
        return false;
    }
    const struct core_lane_options *lane = &core->lanes[queue->lane];
    bool open = slot->caught_up && !slot->leaving && !core->stopping && !core->sink_full && !lane->paused && !lane_limit_is_paused(queue) &&
                !queue->hold.held && queue->taken.failed == 0 && transaction_admits(core, queue);
    uint32_t in_flight = catch_up_in_flight(core, queue->lane);
    bool room = queue->taken.count == 0 ||
                (in_flight < lane->max_in_flight && catch_up_taken_bytes(core, queue->lane) < lane->max_in_flight_bytes);
    bool passable = !core->options.exactly_once || queue->taken.postponed == 0; /* a transaction's frontier passes no gap */
    bool decidable = !lane->decides || slot->position >= slot->marks.high || slot->reading_stopped; /* all that others have decided was read (R10) */
    /* Below the point late records may still be on disk: their order and the cut wait for them. */
    return open && room && passable && decidable && key_compare(queue->loaded, queue->taken_point) >= 0;
}

bool queue_may_take(const struct core *core, const struct slot *slot, const struct queue *queue)
{
    return queue_is_open(core, slot, queue) && lane_limit_admits(core, queue->lane) > 0;
}

/* R1: what is late is not due by our clock, or had no room in memory. When nothing is in flight the pair is kept and the queue starts over
 * below it. Where no pair may be kept, what had no room is loaded once more from behind the cut, and what is not due is waited for. */
static void start_over(struct core *core, const struct slot *slot, struct queue *queue, struct now now)
{
    if (queue->taken.count > 0) {
        return;
    }
    queue_refresh(slot, queue, now.wall.ms);
    if (may_start_over(core, slot, queue) && frontier_step_back(&queue->frontier)) {
        queue->frontier.live.point = queue->floor;
        queue->taken_point = queue->floor;
    } else if (queue->late.count > 0) {
        return;
    }
    window_reset(core, queue);
    core->more = true;
}

static bool take(struct core *core, struct queue *queue, struct key key, uint32_t bytes, bool late, uint64_t *sequence)
{
    core->lane_taken[queue->index]++;
    core->lane_taken_bytes[queue->index] += bytes;
    catch_up_taken(core, queue, key);
    struct taken item = {.key = key, .bytes = bytes, .state = TAKEN_SENT, .late = late};
    *sequence = taken_add(&queue->taken, &item);
    return true;
}

static bool take_late(struct core *core, const struct slot *slot, struct queue *queue, struct now now, uint64_t *sequence)
{
    const struct late_entry *first = late_heap_peek(&queue->late);
    if (first == NULL || first->key.due_ms > now.wall.ms) {
        start_over(core, slot, queue, now);
        return false;
    }
    if (is_blocked(slot, first->key.offset)) {
        return false;
    }
    struct late_entry entry;
    late_heap_take_least(&queue->late, &entry);
    core->late_count--;
    return take(core, queue, entry.key, entry.bytes, true, sequence);
}

bool queue_take(struct core *core, struct slot *slot, struct queue *queue, struct now now, uint64_t *sequence)
{
    if (queue->late.count > 0 || queue->spilled_from != INT64_MAX) {
        return take_late(core, slot, queue, now, sequence);
    }
    struct key key;
    if (!wheel_peek(&queue->wheel, &key) || key.due_ms > now.wall.ms || key_compare(key, queue->loaded) > 0 ||
        is_blocked(slot, key.offset)) {
        return false;
    }
    struct entry entry;
    wheel_take_least(&queue->wheel, &entry);
    queue->taken_point = key;
    return take(core, queue, key, entry.bytes, false, sequence);
}

void queue_advance(struct core *core, struct queue *queue, bool done_too)
{
    struct taken item;
    while (taken_pop(&queue->taken, done_too, &item)) {
        if (!item.late) {
            frontier_advance(&queue->frontier, item.key, queue->frontier.live.cut);
        }
        queue->pending--;
        queue->ahead -= queue->ahead > 0;
        queue->pending_bytes -= item.bytes;
        core->lane_taken[queue->index]--;
        core->lane_taken_bytes[queue->index] -= item.bytes;
    }
}

/* Old pairs up to which nothing is pending any more are one with the live pair, once our clock has reached them: else a bucket whose
 * rows are done by one pair here and by another there would stay, and C with it, until something new is fired. */
static void pass_old_pairs(struct queue *queue, int64_t wall_ms)
{
    for (uint8_t i = queue->frontier.old_count; i-- > 0;) {
        struct key point = queue->frontier.old[i].point;
        if (point.due_ms <= wall_ms && key_compare(point, queue->taken_point) > 0 && queue_is_clear_up_to(queue, point)) {
            queue->taken_point = point;
            frontier_advance(&queue->frontier, point, queue->frontier.live.cut);
            i = queue->frontier.old_count;
        }
    }
}

/* What was due last in a bucket was cancelled or moved, so nothing that fires takes the point past it: it passes by itself when its time has come. Else
 * the bucket would stay, and C with it. */
static void pass_ended_buckets(struct queue *queue, int64_t wall_ms)
{
    const struct bucket_list *list = &queue->buckets.levels[0];
    for (uint32_t i = list->count; i-- > 0;) {
        struct key greatest = list->items[i].greatest;
        if (greatest.due_ms <= wall_ms && key_compare(greatest, queue->taken_point) > 0 && queue_is_clear_up_to(queue, greatest)) {
            queue->taken_point = greatest;
            frontier_advance(&queue->frontier, greatest, queue->frontier.live.cut);
            return;
        }
    }
}

/* The first late arrival that is not done, with the first `prefix` of the FIFO done; else how far was read (R1). */
static int64_t cut_behind(const struct slot *slot, const struct queue *queue, uint32_t prefix)
{
    int64_t cut = catch_up_read_to(slot, queue);
    int64_t late = taken_first_late(&queue->taken, prefix);
    const struct late_entry *first = late_heap_peek(&queue->late);
    cut = late < cut ? late : cut;
    cut = first != NULL && first->key.offset < cut ? first->key.offset : cut;
    return queue->spilled_from < cut ? queue->spilled_from : cut;
}

struct taken *queue_find_taken(const struct queue *queue, struct key key)
{
    for (uint32_t i = 0; i < queue->taken.count && key_compare(key, queue->taken_point) <= 0; i++) {
        struct taken *item = taken_at(&queue->taken, i);
        if (item->key.offset == key.offset) {
            return item;
        }
    }
    return NULL;
}

int64_t queue_cut(const struct slot *slot, const struct queue *queue)
{
    return cut_behind(slot, queue, 0);
}

bool queue_is_done_below(const struct queue *queue, struct key key, int64_t cut)
{
    if (frontier_done(&queue->frontier, key.offset, key.due_ms)) {
        return true;
    }
    bool passed = key_compare(key, queue->frontier.live.point) <= 0 && key_compare(queue->loaded, queue->taken_point) >= 0;
    return passed && key.offset < cut;
}

bool queue_is_done(const struct slot *slot, const struct queue *queue, struct key key)
{
    bool passed = key_compare(key, queue->frontier.live.point) <= 0;
    return queue_is_done_below(queue, key, passed ? queue_cut(slot, queue) : 0);
}

void queue_refresh(const struct slot *slot, struct queue *queue, int64_t wall_ms)
{
    if (key_compare(queue->loaded, queue->taken_point) < 0) {
        return;
    }
    frontier_advance(&queue->frontier, queue->frontier.live.point, cut_behind(slot, queue, 0));
    if (slot->caught_up && slot->position >= queue->frontier.live.cut) { /* before, what is pending is not known (R2) */
        pass_old_pairs(queue, wall_ms);
        pass_ended_buckets(queue, wall_ms);
    }
}

/* What was sent, or written again, counts as done: in a transaction the frontier holds only if all of it is. In order, up to the first that is to be sent
 * or written again. */
static uint32_t look_ahead_point(const struct queue *queue, bool sent_too, struct key *point)
{
    uint32_t i = 0;
    for (; i < queue->taken.count; i++) {
        const struct taken *item = taken_at(&queue->taken, i);
        if (item->state == TAKEN_FAILED || item->state == TAKEN_POSTPONED || (item->state == TAKEN_SENT && !sent_too)) {
            break;
        }
        *point = item->late ? *point : item->key;
    }
    return i;
}

void queue_look_ahead(const struct slot *slot, struct queue *queue, bool sent_too)
{
    queue->outlook = queue->frontier;
    queue->ahead = 0;
    if (queue->taken.count == 0 || key_compare(queue->loaded, queue->taken_point) < 0) {
        return;
    }
    struct key point = queue->frontier.live.point;
    queue->ahead = look_ahead_point(queue, sent_too, &point);
    frontier_advance(&queue->outlook, point, cut_behind(slot, queue, queue->ahead));
}

/* When pass_ended_buckets has something to do. */
static int64_t next_ended_bucket(struct queue *queue, int64_t wall_ms)
{
    const struct bucket_list *list = &queue->buckets.levels[0];
    for (uint32_t i = 0; i < list->count; i++) {
        struct key greatest = list->items[i].greatest;
        if (greatest.due_ms > wall_ms && key_compare(greatest, queue->taken_point) > 0) {
            return queue_is_clear_up_to(queue, greatest) ? greatest.due_ms : TIME_NEVER;
        }
    }
    return TIME_NEVER;
}

int64_t queue_next_pass(struct queue *queue, int64_t wall_ms)
{
    int64_t next = next_ended_bucket(queue, wall_ms);
    for (uint8_t i = 0; i < queue->frontier.old_count; i++) {
        int64_t due_ms = queue->frontier.old[i].point.due_ms;
        next = due_ms > wall_ms && due_ms < next ? due_ms : next;
    }
    return next;
}

int64_t queue_next_due(const struct slot *slot, struct queue *queue)
{
    const struct late_entry *first = late_heap_peek(&queue->late);
    struct key least;
    if (first != NULL) {
        return is_blocked(slot, first->key.offset) ? TIME_NEVER : first->key.due_ms;
    }
    if (queue->spilled_from != INT64_MAX) {
        return queue->taken.count == 0 ? INT64_MIN : TIME_NEVER; /* starts over when nothing is in flight */
    }
    bool blocking = slot->copy.state == COPY_SENT || slot->steer.count > 0;
    if (blocking && wheel_peek(&queue->wheel, &least) && is_blocked(slot, least.offset)) {
        return TIME_NEVER; /* not before the transaction has ended */
    }
    if (queue->scan.active && wheel_peek(&queue->wheel, &least) && key_compare(least, queue->loaded) > 0) {
        return TIME_NEVER; /* not before the scan has come to its end */
    }
    return wheel_next_bound(&queue->wheel);
}

bool queue_is_clear_up_to(struct queue *queue, struct key point)
{
    struct key least;
    if (queue->taken.count > 0 || queue->late.count > 0 || queue->spilled_from != INT64_MAX ||
        key_compare(queue->loaded, point) < 0) {
        return false;
    }
    return !wheel_peek(&queue->wheel, &least) || key_compare(least, point) > 0;
}
