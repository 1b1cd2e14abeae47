/* When a plan has something to do by itself; see checkpoint_plan.h. */
#include "scheduler/bucket.h"
#include "scheduler/bucket_table.h"
#include "scheduler/catch_up.h"
#include "scheduler/checkpoint_plan.h"
#include "scheduler/frontier.h"
#include "scheduler/window.h"

/* Whole buckets that are done, or rows that C has passed. */
static bool has_drops(const struct slot *slot, const struct queue *queue)
{
    for (int level = 0; level < BUCKET_LEVELS; level++) {
        const struct bucket_list *list = &queue->buckets.levels[level];
        for (uint32_t i = 0; i < list->count; i++) {
            if (catch_up_bucket_done(queue, &queue->committed, &list->items[i]) || checkpoint_plan_trims(slot, queue, &list->items[i])) {
                return true;
            }
        }
    }
    return false;
}

/* First bucket of the level that is not done and so stands next to be split. */
static const struct bucket_stats *first_undone(const struct queue *queue, int level)
{
    const struct bucket_list *list = &queue->buckets.levels[level];
    for (uint32_t i = 0; i < list->count; i++) {
        if (!catch_up_bucket_done(queue, &queue->committed, &list->items[i])) {
            return &list->items[i];
        }
    }
    return NULL;
}

static int64_t split_deadline(const struct queue *queue)
{
    int64_t least = TIME_NEVER;
    for (int level = 1; level < BUCKET_LEVELS; level++) {
        const struct bucket_stats *stats = first_undone(queue, level);
        if (stats != NULL && bucket_split_ms(stats->id) < least) {
            least = bucket_split_ms(stats->id);
        }
    }
    return least;
}

static void add_deadline(struct core_deadline *deadline, int64_t wall_ms, int64_t mono_ms)
{
    deadline->wall.ms = wall_ms < deadline->wall.ms ? wall_ms : deadline->wall.ms;
    deadline->mono.ms = mono_ms < deadline->mono.ms ? mono_ms : deadline->mono.ms;
}

static void queue_deadline(const struct core *core, const struct slot *slot, const struct queue *queue, struct core_deadline *deadline)
{
    if (has_drops(slot, queue)) {
        add_deadline(deadline, TIME_NEVER, core->checkpoint.not_before_ms);
    }
    int64_t split = split_deadline(queue);
    if (slot->copy.state == COPY_SCANNING) {
        return; /* nothing is split meanwhile */
    }
    if (split <= window_reference_ms(queue, core->last)) {
        add_deadline(deadline, TIME_NEVER, core->checkpoint.not_before_ms);
    } else if (window_reference_ms(queue, core->last) == core->last.wall.ms) {
        add_deadline(deadline, split, TIME_NEVER); /* a queue that stands still wakes by itself */
    }
}

/* Whatever was cancelled and is written is to be erased. */
static bool has_erases(const struct slot *slot)
{
    for (uint32_t i = 0; slot->cancelled.count > 0 && i < slot->cancelled.capacity; i++) {
        if (cancelled_is_stored(&slot->cancelled.rows[i], slot->stored_position)) {
            return true;
        }
    }
    return false;
}

struct core_deadline checkpoint_plan_deadline(const struct core *core)
{
    struct core_deadline deadline = {{TIME_NEVER}, {TIME_NEVER}};
    for (uint32_t i = 0; i < core->slot_count && !core->checkpoint.under_way; i++) {
        const struct slot *slot = core->slots[i];
        if (slot == NULL) {
            continue;
        }
        if (slot->unwritten.count > 0 || slot->unsaved || has_erases(slot)) {
            add_deadline(&deadline, TIME_NEVER, core->checkpoint.not_before_ms);
        } else if (slot->position > slot->stored_position) {
            int64_t at = slot->written_at_ms + CHECKPOINT_POSITION_MS;
            add_deadline(&deadline, TIME_NEVER, at > core->checkpoint.not_before_ms ? at : core->checkpoint.not_before_ms);
        }
        for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
            if (slot->queues[lane] != NULL) {
                queue_deadline(core, slot, slot->queues[lane], &deadline);
            }
        }
    }
    return deadline;
}
