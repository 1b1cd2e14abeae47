/* What the core knows, copied out for metrics; see core.h. */
#include <assert.h>

#include "scheduler/bucket.h"
#include "scheduler/bucket_table.h"
#include "scheduler/catch_up.h"
#include "scheduler/core_state.h"
#include "scheduler/queue.h"
#include "scheduler/slot.h"

/* Due times and counts of what is in flight. */
static void add_taken(const struct queue *queue, struct now now, struct core_queue_stats *stats)
{
    for (uint32_t i = 0; i < queue->taken.count; i++) {
        const struct taken *item = taken_at(&queue->taken, i);
        if (item->state == TAKEN_DONE) {
            continue;
        }
        stats->overdue += item->key.due_ms <= now.wall.ms;
        if (item->key.due_ms != DUE_SINCE_EVER && item->key.due_ms < stats->oldest_due_ms) {
            stats->oldest_due_ms = item->key.due_ms;
        }
    }
}

static void add_memory(const struct queue *queue, struct now now, struct core_queue_stats *stats)
{
    int64_t late_due = late_heap_least_due(&queue->late);
    int64_t wheel_due = wheel_next_bound(&queue->wheel);
    int64_t least = late_due < wheel_due ? late_due : wheel_due;
    struct key greatest;
    stats->overdue += late_heap_count_due(&queue->late, now.wall.ms);
    if (wheel_due <= now.wall.ms) { /* mostly nothing is: the wheel need not be walked */
        stats->overdue += wheel_count_due(&queue->wheel, now.wall.ms);
    }
    stats->next_due_ms = least < stats->next_due_ms ? least : stats->next_due_ms;
    if (least <= now.wall.ms && least != DUE_SINCE_EVER && least < stats->oldest_due_ms) {
        stats->oldest_due_ms = least;
    }
    if (bucket_table_count(&queue->buckets) == 0 && wheel_greatest(&queue->wheel, &greatest) && greatest.due_ms > stats->last_due_ms) {
        stats->last_due_ms = greatest.due_ms;
    }
}

/* Buckets beyond the window: whole ones count as overdue when their time has run out. */
static void add_disk(const struct queue *queue, struct now now, struct core_queue_stats *stats)
{
    for (int level = 0; level < BUCKET_LEVELS; level++) {
        const struct bucket_list *list = &queue->buckets.levels[level];
        for (uint32_t i = 0; i < list->count; i++) {
            int64_t start = bucket_start_ms(list->items[i].id);
            if (list->items[i].greatest.due_ms > stats->last_due_ms) {
                stats->last_due_ms = list->items[i].greatest.due_ms;
            }
            if (start <= queue->loaded.due_ms) {
                continue;
            }
            stats->next_due_ms = start < stats->next_due_ms ? start : stats->next_due_ms;
            if (list->items[i].greatest.due_ms <= now.wall.ms) {
                stats->overdue += list->items[i].count;
                stats->oldest_due_ms = start < stats->oldest_due_ms ? start : stats->oldest_due_ms;
            }
        }
    }
}

static void add_queue(const struct queue *queue, struct now now, struct core_queue_stats *stats)
{
    stats->pending += queue->pending;
    stats->pending_bytes += queue->pending_bytes;
    stats->in_memory += queue_entries(queue);
    stats->in_flight += queue->taken.sent;
    stats->held = stats->held || queue->hold.held;
    add_taken(queue, now, stats);
    add_memory(queue, now, stats);
    add_disk(queue, now, stats);
}

void core_queue_stats(const struct core *core, slot_index index, lane_index lane, struct now now, struct core_queue_stats *stats)
{
    assert(index < core->slot_count && core->slots[index] != NULL && lane < core->lane_count);
    const struct slot *slot = core->slots[index];
    const struct queue *queue = slot->queues[lane];
    *stats = (struct core_queue_stats){.oldest_due_ms = TIME_NEVER, .next_due_ms = TIME_NEVER};
    if (queue == NULL) {
        return;
    }
    stats->paused = queue->paused;
    add_queue(queue, now, stats);
    if (catch_up_behind(slot, lane) != NULL) {
        add_queue(catch_up_behind(slot, lane), now, stats);
    }
}

void core_slot_stats(const struct core *core, slot_index index, struct core_slot_stats *stats)
{
    assert(index < core->slot_count && core->slots[index] != NULL);
    const struct slot *slot = core->slots[index];
    *stats = (struct core_slot_stats){
        .caught_up = slot->caught_up,
        .reading_paused = slot->reading_paused,
        .position = slot->position,
        .low_offset = slot->low_offset,
        .pending = slot_pending(slot),
        .unwritten_rows = slot->unwritten.count,
        .unwritten_bytes = slot->unwritten.bytes,
        .lanes_apart = slot->lanes_apart,
        .lanes_behind = slot->behind_count,
        .cancelled = slot->ended.cancelled,
        .replaced = slot->ended.replaced,
        .moved = slot->ended.moved,
        .copied = slot->ended.copied,
        .postponed = slot->ended.postponed,
        .skipped = slot->ended.skipped,
        .duplicates = slot->ended.duplicates,
        .dedupe_ids = slot->dedupe.count,
        .dedupe_forgotten = slot->dedupe.forgotten,
        .moving = slot->moving.table.count,
        .marks = slot->marks.table.count,
    };
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        if (slot->queues[lane] != NULL) {
            stats->buckets += bucket_table_count(&slot->queues[lane]->buckets);
        }
    }
}

void core_stats(const struct core *core, struct core_stats *stats)
{
    *stats = core->stats;
    stats->entries = core_state_entries(core);
    stats->store_full = core->checkpoint.full;
}
