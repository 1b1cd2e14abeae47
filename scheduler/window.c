/* See window.h. */
#include "scheduler/window.h"

#include "scheduler/bucket.h"
#include "scheduler/bucket_table.h"
#include "scheduler/catch_up.h"
#include "scheduler/command_list.h"
#include "scheduler/frontier.h"
#include "scheduler/queue.h"

#define KEEP_LEAST 32u /* entries that a queue may keep however crowded the memory is */

static struct key last_key_before(int64_t due_ms)
{
    return (struct key){due_ms - 1, INT64_MAX};
}

static uint64_t share(const struct core *core)
{
    uint64_t share = core->options.entries_max / (core->queue_total == 0 ? 1 : core->queue_total);
    return share < 2 * KEEP_LEAST ? 2 * KEEP_LEAST : share;
}

/* A queue far below its share may load even when memory is full: then another one lets go (a paused lane must not starve the rest). So may one
 * that has yet to reach its point: it fires nothing before, and what it loads goes to the late heap, which has its own limit. */
static bool may_load(const struct core *core, const struct queue *queue)
{
    uint64_t entries = core_state_entries(core);
    return entries < (uint64_t)core->options.entries_max / 2 || queue_entries(queue) < share(core) / 4 ||
           key_compare(queue->loaded, queue->taken_point) < 0;
}

int64_t window_reference_ms(const struct queue *queue, struct now now)
{
    /* A point ahead of our clock: up to there all must be looked at before the queue can fire. */
    if (key_compare(queue->loaded, queue->taken_point) < 0 && queue->taken_point.due_ms > now.wall.ms) {
        return queue->taken_point.due_ms;
    }
    bool behind = key_compare(queue->loaded, KEY_LEAST) > 0 && queue->loaded.due_ms < now.wall.ms;
    return behind ? queue->loaded.due_ms : now.wall.ms;
}

unsigned window_level(const struct queue *queue, struct key key, struct now now)
{
    if (key_compare(key, queue->loaded) <= 0 || (queue->scan.active && key_compare(key, queue->scan.limit) <= 0)) {
        return 0;
    }
    unsigned level = bucket_level_for(key.due_ms, window_reference_ms(queue, now));
    while (level > 0 && catch_up_is_over(queue, bucket_of(queue->lane, level, key.due_ms))) {
        level--;
    }
    return level;
}

/* Where the window may not go on until a checkpoint has split what is there: the first coarse bucket, or one being written. */
static int64_t coarse_start_ms(const struct queue *queue)
{
    int64_t least = queue->plan_coarse_ms;
    for (unsigned level = 1; level < BUCKET_LEVELS; level++) {
        const struct bucket_list *list = &queue->buckets.levels[level];
        for (uint32_t i = 0; i < list->count; i++) {
            if (!catch_up_bucket_done(queue, &queue->frontier, &list->items[i])) {
                int64_t start = bucket_start_ms(list->items[i].id);
                least = start < least ? start : least;
                break;
            }
        }
    }
    if (queue->own != NULL) { /* one that reaches over the boundary holds rows of both */
        int64_t over = coarse_start_ms(queue->own);
        least = over <= queue->ceiling_ms && over < least ? over : least;
    }
    return least;
}

/* The first finest bucket that may hold something beyond `loaded`; NULL: none. */
static const struct bucket_stats *next_bucket(const struct queue *queue)
{
    const struct bucket_list *list = &queue->buckets.levels[0];
    int64_t from = queue->loaded.due_ms < 0 ? 0 : queue->loaded.due_ms;
    uint32_t i = bucket_table_search(&queue->buckets, 0, bucket_of(queue->lane, 0, from).number);
    for (; i < list->count; i++) {
        struct key last = {bucket_last_ms(list->items[i].id), INT64_MAX};
        if (key_compare(last, queue->loaded) > 0 && !catch_up_bucket_done(queue, &queue->frontier, &list->items[i])) {
            return &list->items[i];
        }
    }
    return NULL;
}

/* Buckets that are skipped because they are done (the checkpoint is older than F) counted as pending until now. */
static void count_up_to(struct queue *queue, struct key key)
{
    if (key_compare(key, queue->counted) <= 0) {
        return;
    }
    for (unsigned level = 0; level < BUCKET_LEVELS; level++) {
        const struct bucket_list *list = &queue->buckets.levels[level];
        for (uint32_t i = 0; i < list->count && bucket_start_ms(list->items[i].id) <= key.due_ms; i++) {
            if (catch_up_bucket_done(queue, &queue->frontier, &list->items[i])) {
                window_bucket_gone(queue, &list->items[i]);
            }
        }
    }
    queue->counted = key;
}

void window_bucket_gone(struct queue *queue, const struct bucket_stats *stats)
{
    if (bucket_start_ms(stats->id) > queue->counted.due_ms) {
        queue->pending -= stats->count;
        queue->pending_bytes -= stats->bytes;
        queue->scan.counted = queue->scan.counted || bucket_compare(queue->scan.bucket, stats->id) == 0;
    }
}

/* Everything up to `key` is in memory but for what the unwritten list holds: take that in too. */
static void extend_to(struct core *core, const struct slot *slot, struct queue *queue, struct key key)
{
    struct key before = queue->loaded;
    if (key_compare(key, before) <= 0) {
        return;
    }
    queue->loaded = key;
    count_up_to(queue, key);
    if (queue->beyond_due_ms == TIME_NEVER) {
        return;
    }
    queue->beyond_due_ms = TIME_NEVER;
    for (uint32_t i = 0; i < slot->unwritten.count; i++) {
        const struct unwritten_row *row = unwritten_at(&slot->unwritten, i);
        struct key at = {row->due_ms, row->offset};
        if (catch_up_queue(slot, row->lane, row->due_ms) != queue || key_compare(at, before) <= 0 ||
            frontier_done(&queue->frontier, row->offset, row->due_ms) || cancelled_has(&slot->cancelled, row->offset)) {
            continue;
        }
        if (key_compare(at, key) <= 0) {
            queue_remember(core, queue, at, row->bytes);
        } else if (at.due_ms < queue->beyond_due_ms) {
            queue->beyond_due_ms = at.due_ms;
        }
    }
}

static void ask(struct core *core, const struct slot *slot, struct queue *queue, int64_t from_offset)
{
    queue->scan.below_offset = slot->stored_position;
    queue->scan.waiting = true;
    struct command *command = command_list_add(&core->commands, COMMAND_SCAN, slot);
    command->as.scan = (struct command_scan){.bucket = queue->scan.bucket,
                                             .purpose = SCAN_WINDOW,
                                             .from_offset = from_offset,
                                             .below_offset = slot->stored_position,
                                             .rows_max = core->options.scan_rows_max};
}

static int64_t target_ms(const struct core *core, const struct queue *queue, struct now now)
{
    int64_t target = now.wall.ms > INT64_MAX - core->options.window_ms ? INT64_MAX : now.wall.ms + core->options.window_ms;
    /* After a start the window reaches the point at once, however far ahead the last owner's clock was (R1). */
    target = queue->taken_point.due_ms > target ? queue->taken_point.due_ms : target;
    target = bucket_end_ms(bucket_of(queue->lane, 0, target < 0 ? 0 : target));
    return target > queue->ceiling_ms ? queue->ceiling_ms + 1 : target;
}

void window_extend(struct core *core, struct slot *slot, struct queue *queue, struct now now)
{
    int64_t target = target_ms(core, queue, now);
    if (queue->scan.active || key_compare(last_key_before(target), queue->loaded) <= 0 || !may_load(core, queue)) {
        return;
    }
    int64_t coarse = coarse_start_ms(queue);
    int64_t stop = coarse < target ? coarse : target;
    const struct bucket_stats *next = next_bucket(queue);
    if (next == NULL || bucket_start_ms(next->id) >= stop) {
        extend_to(core, slot, queue, last_key_before(stop));
        return;
    }
    extend_to(core, slot, queue, last_key_before(bucket_start_ms(next->id)));
    queue->scan.active = true;
    queue->scan.counted = false;
    queue->scan.done_rows = 0;
    queue->scan.done_bytes = 0;
    queue->scan.bucket = next->id;
    queue->scan.limit = (struct key){bucket_last_ms(next->id), INT64_MAX};
    ask(core, slot, queue, 0);
}

static void take_row_in(struct core *core, const struct slot *slot, struct queue *queue, const struct scanned_row *row)
{
    struct key key = {row->due_ms, row->offset};
    if (key_compare(key, queue->loaded) <= 0) {
        return;
    }
    if (cancelled_has(&slot->cancelled, row->offset) ||
        (row->offset >= slot->gained_low && row->offset < slot->low_committed && !frontier_done(&queue->frontier, row->offset, row->due_ms))) {
        return; /* cancelled or moved: it was taken out of `pending` then */
    }
    if (row->offset < slot->low_committed || frontier_done(&queue->frontier, row->offset, row->due_ms)) {
        if (key_compare(key, queue->counted) > 0) { /* a checkpoint older than F: it counts as pending until the scan is through */
            queue->scan.done_rows++;
            queue->scan.done_bytes += row->bytes;
        }
        return;
    }
    if (key_compare(key, queue->scan.limit) <= 0) {
        queue_remember(core, queue, key, row->bytes);
    }
}

static void finish_scan(struct core *core, const struct slot *slot, struct queue *queue)
{
    if (queue->scan.below_offset < slot->stored_position) {
        ask(core, slot, queue, queue->scan.below_offset); /* a checkpoint was written meanwhile: the rest of the bucket */
        return;
    }
    struct key last = {bucket_last_ms(queue->scan.bucket), INT64_MAX};
    queue->scan.active = false;
    if (!queue->scan.counted) {
        queue->pending -= queue->scan.done_rows;
        queue->pending_bytes -= queue->scan.done_bytes;
    }
    queue->counted = key_compare(last, queue->counted) > 0 ? last : queue->counted;
    extend_to(core, slot, queue, queue->scan.limit); /* with what arrived during the scan, from the unwritten list */
}

void window_rows(struct core *core, struct slot *slot, struct queue *queue, const struct input_rows *rows)
{
    if (queue->scan.ignore > 0) {
        queue->scan.ignore--;
        return;
    }
    queue->scan.waiting = false;
    for (size_t i = 0; i < rows->count; i++) {
        take_row_in(core, slot, queue, &rows->rows[i]);
    }
    if (core_state_entries(core) > core->options.entries_max) {
        window_trim(core);
    }
    if (!queue->scan.active) {
        return; /* the trim ended it */
    }
    if (rows->end) {
        finish_scan(core, slot, queue);
    } else {
        ask(core, slot, queue, rows->rows[rows->count - 1].offset + 1);
    }
}

static void cancel_scan(struct queue *queue)
{
    queue->scan.active = false;
    if (queue->scan.waiting) {
        queue->scan.waiting = false;
        queue->scan.ignore++;
    }
}

static struct queue *most_crowded(const struct core *core)
{
    struct queue *most = NULL;
    for (uint32_t s = 0; s < core->slot_count; s++) {
        for (uint16_t l = 0; core->slots[s] != NULL && l < core->slots[s]->queue_count; l++) {
            struct queue *queue = core->slots[s]->queues[l];
            if (queue != NULL && (most == NULL || wheel_count(&queue->wheel) > wheel_count(&most->wheel))) {
                most = queue;
            }
        }
    }
    return most;
}

static void trim(struct queue *queue, uint32_t keep)
{
    struct key kept;
    if (wheel_trim(&queue->wheel, keep, &kept) == 0) {
        return;
    }
    if (key_compare(kept, queue->taken_point) < 0) {
        kept = queue->taken_point;
    }
    if (key_compare(kept, queue->loaded) < 0) {
        queue->loaded = kept;
        cancel_scan(queue);
    } else if (queue->scan.active && key_compare(kept, queue->scan.limit) < 0) {
        queue->scan.limit = kept;
    }
    if (kept.due_ms < queue->beyond_due_ms) {
        queue->beyond_due_ms = kept.due_ms; /* perhaps: the next extension looks */
    }
}

void window_trim(struct core *core)
{
    const uint64_t most = core->options.entries_max;
    while (core_state_entries(core) > most) {
        struct queue *queue = most_crowded(core);
        uint64_t least = share(core) / 2;
        if (queue == NULL || wheel_count(&queue->wheel) <= least) {
            return; /* the rest is late heaps, bounded by late_max each */
        }
        /* Not further than needed, and not so far that it may load again at once: that would never end. */
        uint64_t surplus = core_state_entries(core) - most / 8 * 7;
        uint64_t count = wheel_count(&queue->wheel);
        trim(queue, (uint32_t)(count > surplus + least ? count - surplus : least));
    }
}

void window_reset(struct core *core, struct queue *queue)
{
    wheel_free(&queue->wheel);
    wheel_init(&queue->wheel, &core->pool, 0);
    core->late_count -= queue->late.count;
    late_heap_free(&queue->late);
    queue->spilled_from = INT64_MAX;
    queue->loaded = queue->floor;
    queue->beyond_due_ms = INT64_MIN;
    cancel_scan(queue);
}

int64_t window_deadline(const struct core *core, const struct queue *queue)
{
    if (queue->scan.active || !may_load(core, queue)) {
        return TIME_NEVER;
    }
    const struct bucket_stats *next = next_bucket(queue);
    int64_t start = coarse_start_ms(queue);
    if (next != NULL && bucket_start_ms(next->id) < start) {
        start = bucket_start_ms(next->id);
    }
    start = queue->beyond_due_ms < start ? queue->beyond_due_ms : start;
    /* What is nearer than the target was seen by window_extend: it waits for a split or an answer. */
    return start == TIME_NEVER || start < target_ms(core, queue, core->last) ? TIME_NEVER : start - core->options.window_ms;
}
