/* How many events come due when: see core.h. */
#include <assert.h>

#include "scheduler/bucket.h"
#include "scheduler/bucket_table.h"
#include "scheduler/catch_up.h"
#include "scheduler/core_state.h"
#include "scheduler/frontier.h"
#include "scheduler/recurrence.h"

struct look {
    const struct core *core;
    const struct slot *slot;
    const bool *lanes;
    const struct queue *queue; /* whose wheel is walked */
    struct core_forecast *forecast;
    double counted[LANES_MAX]; /* of each lane, wherever it went: what is pending beside it had no room in memory */
};

/* --------------------------------------------------------------------------------------------------------- bins */

#define BIN_BEFORE (-1)

/* The bin of this time: BIN_BEFORE, `bins` and more: later. */
static int64_t bin_of(const struct core_forecast *forecast, int64_t due_ms)
{
    return due_ms < forecast->from_ms ? BIN_BEFORE : due_ms / forecast->bin_ms - forecast->from_ms / forecast->bin_ms;
}

/* The last ms that goes into the same place as this one. */
static int64_t last_alike(const struct core_forecast *forecast, int64_t due_ms)
{
    int64_t bin = bin_of(forecast, due_ms);
    if (bin == BIN_BEFORE) {
        return forecast->from_ms - 1;
    }
    bool later = bin >= (int64_t)forecast->bins || due_ms / forecast->bin_ms >= INT64_MAX / forecast->bin_ms;
    return later ? INT64_MAX : (due_ms / forecast->bin_ms + 1) * forecast->bin_ms - 1;
}

static void add(struct core_forecast *forecast, int64_t due_ms, double amount, bool estimated)
{
    int64_t bin = bin_of(forecast, due_ms);
    if (due_ms >= RECURRENCE_LAST_MS) {
        forecast->paused += amount;
    } else if (bin == BIN_BEFORE) {
        forecast->before += amount;
    } else if (bin >= (int64_t)forecast->bins) {
        forecast->later += amount;
    } else {
        forecast->counts[bin] += amount;
        forecast->estimated[bin] = forecast->estimated[bin] || estimated;
    }
}

/* Evenly over first to last: exact where both are in the same bin. */
static void spread(struct core_forecast *forecast, int64_t first, int64_t last, double amount, bool estimated)
{
    double width = (double)(last - first) + 1;
    bool apart = estimated || last_alike(forecast, first) < last;
    while (first <= last) {
        int64_t end = last_alike(forecast, first);
        end = end < last ? end : last;
        add(forecast, first, amount * (((double)(end - first) + 1) / width), apart);
        if (end == last) {
            return;
        }
        first = end + 1;
    }
}

/* ------------------------------------------------------------------------------------------------------- memory */

/* It is in memory still, and let fall when it is met. */
static bool has_ended(const struct slot *slot, int64_t offset)
{
    return offset < slot->low_committed || cancelled_has(&slot->cancelled, offset);
}

static void count_one(struct look *look, lane_index lane, int64_t due_ms)
{
    look->counted[lane]++;
    add(look->forecast, due_ms, 1, false);
}

/* What went out is not to come, though it may not be passed yet. */
static void add_taken(struct look *look, const struct queue *queue)
{
    for (uint32_t i = 0; i < queue->taken.count; i++) {
        const struct taken *item = taken_at(&queue->taken, i);
        bool fired = item->state == TAKEN_DONE || ((item->state == TAKEN_POSTPONED || item->state == TAKEN_MOVED) && item->why != COPY_LATER);
        if (fired || item->state == TAKEN_ENDED || item->cancelled) {
            look->counted[queue->lane]++;
        } else {
            count_one(look, queue->lane, item->key.due_ms);
        }
    }
}

static void add_late(struct look *look, const struct queue *queue)
{
    for (uint32_t i = 0; i < queue->late.count; i++) {
        struct key key = queue->late.entries[i].key;
        if (key_compare(key, queue->loaded) <= 0 && !has_ended(look->slot, key.offset)) {
            count_one(look, queue->lane, key.due_ms);
        }
    }
}

/* Beyond `loaded` stands what a scan has brought so far: its bucket counts as a whole until it is through. */
static void add_entry(const struct entry *entry, void *context)
{
    struct look *look = context;
    if (key_compare(entry_key(entry), look->queue->loaded) <= 0 && !has_ended(look->slot, entry->offset)) {
        count_one(look, look->queue->lane, entry->due_ms);
    }
}

static void count_wheel(struct look *look, const struct queue *queue)
{
    bool exact = look->slot->cancelled.count == 0 && look->slot->ended.copied == 0;
    uint32_t all = wheel_count_due(&queue->wheel, queue->loaded.due_ms);
    uint32_t passed = 0;
    int64_t from_ms = 0;
    while (passed < all) {
        int64_t end_ms = last_alike(look->forecast, from_ms);
        uint32_t here = end_ms >= queue->loaded.due_ms ? all : wheel_count_due(&queue->wheel, end_ms);
        add(look->forecast, from_ms, here - passed, !exact && here > passed);
        passed = here;
        from_ms = passed < all ? end_ms + 1 : from_ms;
    }
    look->counted[queue->lane] += all;
}

static void add_wheel(struct look *look, const struct queue *queue)
{
    if (wheel_count(&queue->wheel) > look->forecast->walk_max) {
        count_wheel(look, queue);
        return;
    }
    look->forecast->walk_max -= wheel_count(&queue->wheel);
    look->queue = queue;
    wheel_each(&queue->wheel, add_entry, look);
}

static bool is_in_memory(const struct queue *queue, struct key key)
{
    bool spilled = key_compare(key, queue->taken_point) <= 0 && key.offset >= queue->spilled_from;
    return key_compare(key, queue->loaded) <= 0 && !spilled;
}

/* Read, and neither in memory nor in a checkpoint. */
static void add_unwritten(struct look *look)
{
    const struct slot *slot = look->slot;
    for (uint32_t i = 0; i < slot->unwritten.count; i++) {
        const struct unwritten_row *row = unwritten_at(&slot->unwritten, i);
        const struct queue *queue = look->lanes[row->lane] ? catch_up_queue(slot, row->lane, row->due_ms) : NULL;
        struct key key = {row->due_ms, row->offset};
        if (queue != NULL && !is_in_memory(queue, key) && !has_ended(slot, row->offset) &&
            !frontier_done(&queue->frontier, row->offset, row->due_ms)) {
            count_one(look, row->lane, row->due_ms);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------ buckets */

/* What of a bucket is to come and not in memory: when, and how much of each of its rows. */
struct part {
    int64_t first_ms;
    int64_t last_ms;
    double share; /* 0: nothing of it is */
    bool estimated;
};

/* Everything due up to `passed_ms` is out of it. */
static void cut_off(struct part *part, int64_t passed_ms)
{
    if (passed_ms < part->first_ms) {
        return;
    }
    int64_t left = passed_ms < part->last_ms ? part->last_ms - passed_ms : 1; /* the last ms may hold some yet */
    part->share *= (double)left / ((double)(part->last_ms - part->first_ms) + 1);
    part->first_ms = part->last_ms - left + 1;
    part->estimated = true;
}

static void cut_off_done(struct part *part, struct frontier_pair pair, const struct bucket_stats *stats)
{
    if (pair.point.due_ms < part->first_ms || stats->least_offset >= pair.cut) {
        return;
    }
    part->estimated = true;
    if (stats->last_offset < pair.cut) {
        cut_off(part, pair.point.due_ms);
    }
}

/* Between which times a bucket's rows are due. What holds paused ones, which stand at the end of all time, holds nothing else but by a rare chance. */
static struct part whole_of(const struct slot *slot, const struct bucket_stats *stats)
{
    int64_t last_ms = bucket_last_ms(stats->id);
    int64_t first_ms = bucket_start_ms(stats->id);
    last_ms = stats->greatest.due_ms < last_ms ? stats->greatest.due_ms : last_ms;
    return (struct part){last_ms >= RECURRENCE_LAST_MS ? last_ms : first_ms, last_ms, 1, stats->least_offset < slot->low_committed};
}

static struct part part_of(const struct slot *slot, const struct queue *queue, const struct bucket_stats *stats)
{
    struct part part = whole_of(slot, stats);
    if (catch_up_is_over(queue, stats->id)) { /* on both sides of the boundary: nothing of it is loaded before it is split */
        part.estimated = part.estimated || stats->least_offset < catch_up_queue(slot, queue->lane, part.first_ms)->frontier.live.cut;
        return part;
    }
    if (key_compare(stats->greatest, queue->loaded) <= 0 || catch_up_bucket_done(queue, &queue->frontier, stats)) {
        part.share = 0;
        return part;
    }
    cut_off(&part, queue->loaded.due_ms);
    cut_off_done(&part, queue->frontier.live, stats);
    for (uint8_t i = 0; i < queue->frontier.old_count; i++) {
        cut_off_done(&part, queue->frontier.old[i], stats);
    }
    return part;
}

static void add_part(struct look *look, lane_index lane, const struct part *part, double rows)
{
    if (part->share > 0) {
        look->counted[lane] += rows * part->share;
        spread(look->forecast, part->first_ms, part->last_ms, rows * part->share, part->estimated);
    }
}

static void add_buckets(struct look *look, const struct queue *queue)
{
    for (unsigned level = 0; level < BUCKET_LEVELS; level++) {
        const struct bucket_list *list = &queue->buckets.levels[level];
        for (uint32_t i = 0; i < list->count; i++) {
            struct part part = part_of(look->slot, queue, &list->items[i]);
            add_part(look, queue->lane, &part, (double)list->items[i].count);
        }
    }
}

/* A bucket counts a cancelled row until that is erased, which is soon. It may never have been written, and in which of the buckets of its time it stands is known only where
 * there is one: so this is an estimate. */
static void take_off(struct look *look, const struct cancelled_row *row)
{
    struct part part = {0};
    for (unsigned level = 0; level < BUCKET_LEVELS && part.share == 0; level++) {
        struct bucket_id id = bucket_of(row->lane, level, row->key.due_ms);
        const struct queue *queue = catch_up_bucket_queue(look->slot, id);
        const struct bucket_stats *stats = queue == NULL ? NULL : bucket_table_find(&queue->buckets, (uint8_t)level, id.number);
        if (stats != NULL && stats->least_offset <= row->key.offset && row->key.offset <= stats->last_offset) {
            part = part_of(look->slot, queue, stats);
        }
    }
    part.estimated = true;
    add_part(look, row->lane, &part, -1);
}

static void take_off_cancelled(struct look *look)
{
    const struct cancelled *cancelled = &look->slot->cancelled;
    for (uint32_t i = 0; cancelled->count > 0 && i < cancelled->capacity; i++) {
        const struct cancelled_row *row = &cancelled->rows[i];
        if (cancelled_is_stored(row, look->slot->stored_position) && look->lanes[row->lane]) {
            take_off(look, row);
        }
    }
}

/* --------------------------------------------------------------------------------------------------------- all */

/* After the clock was set back what is late here need not be due. */
static void estimate_up_to(struct core_forecast *forecast, int64_t due_ms)
{
    int64_t bin = bin_of(forecast, due_ms);
    for (int64_t i = 0; i <= bin && i < (int64_t)forecast->bins; i++) {
        forecast->estimated[i] = true;
    }
}

/* Late ones that had no room in memory stand in buckets that count as loaded. */
static void add_spilled(struct look *look, lane_index lane)
{
    const struct queue *own = look->slot->queues[lane];
    const struct queue *behind = catch_up_behind(look->slot, lane);
    uint64_t pending = own->pending + (behind == NULL ? 0 : behind->pending);
    double missing = (double)pending - look->counted[lane];
    bool spilled = own->spilled_from != INT64_MAX || (behind != NULL && behind->spilled_from != INT64_MAX);
    if (spilled && missing > 0) {
        look->forecast->before += missing;
        estimate_up_to(look->forecast, own->taken_point.due_ms);
    }
}

static void add_queue(struct look *look, const struct queue *queue)
{
    if (queue != NULL) {
        add_taken(look, queue);
        add_late(look, queue);
        add_wheel(look, queue);
        add_buckets(look, queue);
    }
}

/* What was taken off may have been counted elsewhere. */
static void keep_above(double *amount)
{
    *amount = *amount < 0 ? 0 : *amount;
}

void core_look_forecast(const struct core *core, slot_index index, const bool *lanes, struct core_forecast *forecast)
{
    assert(index < core->slot_count && core->slots[index] != NULL && forecast->bin_ms > 0 && forecast->from_ms >= 0);
    const struct slot *slot = core->slots[index];
    struct look look = {.core = core, .slot = slot, .lanes = lanes, .forecast = forecast};
    for (lane_index lane = 0; lane < core->lane_count; lane++) {
        if (lanes[lane]) {
            add_queue(&look, slot->queues[lane]);
            add_queue(&look, catch_up_behind(slot, lane));
        }
    }
    add_unwritten(&look);
    take_off_cancelled(&look);
    for (lane_index lane = 0; lane < core->lane_count; lane++) {
        if (lanes[lane] && slot->queues[lane] != NULL) {
            add_spilled(&look, lane);
        }
    }
    for (size_t i = 0; i < forecast->bins; i++) {
        forecast->estimated[i] = forecast->estimated[i] || forecast->counts[i] < 0;
        keep_above(&forecast->counts[i]);
    }
    keep_above(&forecast->before);
    keep_above(&forecast->later);
    keep_above(&forecast->paused);
}
