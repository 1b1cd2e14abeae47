/* See checkpoint_plan.h. */
#include "scheduler/checkpoint_plan.h"

#include <stdlib.h>

#include "base/memory.h"
#include "scheduler/bucket.h"
#include "scheduler/bucket_table.h"
#include "scheduler/command_list.h"
#include "scheduler/commit.h"
#include "scheduler/frontier.h"
#include "scheduler/slot.h"
#include "scheduler/window.h"

#define ROWS_MAX 100000u /* of one plan: some 0.2 s of writing */
#define POSITION_MS 10000 /* a checkpoint for the position alone is not worth its sync more often */

/* Makes room for one more element; growing keeps what is there. */
#define GROW(array, count, capacity) \
    do { \
        if ((count) == (capacity)) { \
            (capacity) = (capacity) == 0 ? 16 : (capacity) * 2; \
            (array) = memory_resize((array), (capacity), sizeof(*(array))); \
        } \
    } while (0)

static bool is_split_due(const struct queue *queue, struct bucket_id id, struct now now)
{
    return bucket_split_ms(id) <= window_reference_ms(queue, now);
}

static void plan_drops(struct checkpoint *checkpoint, const struct queue *queue)
{
    for (int level = 0; level < BUCKET_LEVELS; level++) {
        const struct bucket_list *list = &queue->buckets.levels[level];
        for (uint32_t i = 0; i < list->count; i++) {
            if (frontier_bucket_done(&queue->committed, &list->items[i])) {
                GROW(checkpoint->drops, checkpoint->drop_count, checkpoint->drop_capacity);
                checkpoint->drops[checkpoint->drop_count++] = list->items[i].id;
            }
        }
    }
}

static void plan_splits(struct core *core, const struct queue *queue, struct now now, uint64_t *budget)
{
    struct checkpoint *checkpoint = &core->checkpoint;
    for (int level = BUCKET_LEVELS - 1; level > 0; level--) {
        const struct bucket_list *list = &queue->buckets.levels[level];
        for (uint32_t i = 0; i < list->count && *budget > 0 && is_split_due(queue, list->items[i].id, now); i++) {
            const struct bucket_stats *stats = &list->items[i];
            if (frontier_bucket_done(&queue->committed, stats)) {
                continue;
            }
            GROW(checkpoint->splits, checkpoint->split_count, checkpoint->split_capacity);
            uint64_t rows = stats->count < *budget ? stats->count : *budget;
            checkpoint->splits[checkpoint->split_count++] = (struct checkpoint_split){stats->id, (uint32_t)rows};
            *budget -= rows;
        }
    }
}

static void plan_row(struct core *core, struct queue *queue, const struct unwritten_row *row, struct now now)
{
    struct checkpoint *checkpoint = &core->checkpoint;
    struct key key = {row->due_ms, row->offset};
    struct bucket_id bucket = bucket_of(queue->lane, window_level(queue, key, now), row->due_ms);
    if (bucket.level > 0 && bucket_start_ms(bucket) < queue->plan_coarse_ms) {
        queue->plan_coarse_ms = bucket_start_ms(bucket);
    }
    GROW(checkpoint->rows, checkpoint->row_count, checkpoint->row_capacity);
    checkpoint->rows[checkpoint->row_count++] = (struct checkpoint_row){bucket, row->offset, row->due_ms, row->ref};
}

static void plan_rows(struct core *core, struct slot *slot, struct now now)
{
    slot_release_done(core, slot); /* what the committed F covers is never written (docs/frontier.md) */
    while (slot->unwritten.planned < slot->unwritten.count && core->checkpoint.row_count < ROWS_MAX) {
        const struct unwritten_row *row = unwritten_at(&slot->unwritten, slot->unwritten.planned);
        plan_row(core, slot->queues[row->lane], row, now);
        slot->unwritten.planned++;
    }
}

static int64_t planned_position(const struct core *core, const struct slot *slot)
{
    if (core->checkpoint.scope != SCOPE_ALL) {
        return slot->stored_position;
    }
    const struct unwritten *list = &slot->unwritten;
    int64_t position = list->planned < list->count ? unwritten_at(list, list->planned)->offset : slot->position;
    return position > slot->stored_position ? position : slot->stored_position;
}

static bool is_position_due(const struct core *core, const struct slot *slot, struct now now)
{
    return slot->position > slot->stored_position && slot->unwritten.count == 0 &&
           (core->stopping || now.mono.ms - slot->written_at_ms >= POSITION_MS);
}

/* The part of a slot. Its arrays are found by their counts, as the common arrays may still move. */
static void plan_slot(struct core *core, struct slot *slot, struct now now, uint64_t *split_budget)
{
    struct checkpoint *checkpoint = &core->checkpoint;
    size_t rows = checkpoint->row_count;
    size_t splits = checkpoint->split_count;
    size_t drops = checkpoint->drop_count;
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        if (slot->queues[lane] != NULL) {
            plan_drops(checkpoint, slot->queues[lane]);
            plan_splits(core, slot->queues[lane], now, split_budget);
        }
    }
    if (checkpoint->scope == SCOPE_ALL) {
        plan_rows(core, slot, now);
    }
    rows = checkpoint->row_count - rows;
    splits = checkpoint->split_count - splits;
    drops = checkpoint->drop_count - drops;
    bool last = core->stopping && slot->text_behind && !slot->commit_under_way;
    if (rows + splits + drops == 0 && !slot->unsaved && !last && !is_position_due(core, slot, now)) {
        return;
    }
    GROW(checkpoint->slots, checkpoint->slot_count, checkpoint->slot_capacity);
    struct checkpoint_slot *part = &checkpoint->slots[checkpoint->slot_count++];
    part->slot = slot->index;
    part->epoch = slot->epoch;
    part->position = planned_position(core, slot);
    part->row_count = rows;
    part->split_count = splits;
    part->drop_count = drops;
    part->keeps_frontier = slot->unsaved;
    slot->unsaved = false;
    slot->text_behind = false;
    commit_committed_frontier(slot, &part->frontier);
    if (slot->last_read.offset >= 0) {
        part->frontier.anchor = slot->last_read; /* what the checkpoint's own position is known by (R8) */
    }
}

/* Now that the arrays stand still: where each slot's part of them begins. */
static void point_into_arrays(struct checkpoint *checkpoint)
{
    const struct checkpoint_row *rows = checkpoint->rows;
    const struct checkpoint_split *splits = checkpoint->splits;
    const struct bucket_id *drops = checkpoint->drops;
    for (size_t i = 0; i < checkpoint->slot_count; i++) {
        struct checkpoint_slot *part = &checkpoint->slots[i];
        part->rows = rows;
        part->splits = splits;
        part->drops = drops;
        rows += part->row_count;
        splits += part->split_count;
        drops += part->drop_count;
    }
    checkpoint->plan = (struct checkpoint_plan){checkpoint->slots, checkpoint->slot_count};
}

void checkpoint_plan_turn(struct core *core, struct now now)
{
    struct checkpoint *checkpoint = &core->checkpoint;
    bool hurry = core->stopping && !checkpoint->full;
    if (checkpoint->under_way || (!hurry && now.mono.ms < checkpoint->not_before_ms)) {
        return;
    }
    uint64_t split_budget = checkpoint->scope == SCOPE_DROPS ? 0 : core->options.split_rows_max;
    checkpoint->slot_count = 0;
    checkpoint->row_count = 0;
    checkpoint->split_count = 0;
    checkpoint->drop_count = 0;
    for (uint32_t i = 0; i < core->slot_count; i++) {
        if (core->slots[i] != NULL) {
            plan_slot(core, core->slots[i], now, &split_budget);
        }
    }
    if (checkpoint->slot_count > 0) {
        point_into_arrays(checkpoint);
        checkpoint->under_way = true;
        command_list_add(&core->commands, COMMAND_CHECKPOINT, NULL)->as.plan = &checkpoint->plan;
    }
    bool no_way = checkpoint->scope != SCOPE_ALL && checkpoint->slot_count == 0; /* to make room */
    checkpoint->scope = no_way ? SCOPE_ALL : checkpoint->scope;
    checkpoint->not_before_ms = now.mono.ms + (no_way ? core->options.store_retry_ms : core->options.checkpoint_ms);
}

static void release_part(struct core *core, const struct checkpoint_slot *part)
{
    for (size_t i = 0; i < part->row_count; i++) {
        command_list_release(&core->commands, part->rows[i].ref);
    }
}

static void forget_coarse(struct slot *slot)
{
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        if (slot->queues[lane] != NULL) {
            slot->queues[lane]->plan_coarse_ms = TIME_NEVER;
        }
    }
}

static void forget_bucket(const struct slot *slot, struct bucket_id id)
{
    struct queue *queue = slot->queues[id.lane];
    const struct bucket_stats *stats = bucket_table_find(&queue->buckets, id.level, id.number);
    if (stats != NULL) {
        window_bucket_gone(queue, stats);
        bucket_table_set(&queue->buckets, &(struct bucket_stats){.id = id});
    }
}

static void part_answered(struct core *core, const struct checkpoint_slot *part, bool written, struct now now)
{
    struct slot *slot = slot_find(core, part->slot, part->epoch);
    if (slot == NULL) {
        release_part(core, part); /* it was lost meanwhile: its rows waited for this answer */
        return;
    }
    forget_coarse(slot);
    if (!written) {
        slot->unwritten.planned = 0;
        slot->unsaved = slot->unsaved || part->keeps_frontier;
        slot->text_behind = true;
        return;
    }
    core->stats.rows_written += slot->unwritten.planned;
    for (size_t i = 0; i < part->drop_count; i++) {
        forget_bucket(slot, part->drops[i]);
    }
    while (slot->unwritten.planned > 0) {
        command_list_release(&core->commands, unwritten_pop(&slot->unwritten).ref);
    }
    slot->stored_position = part->position;
    slot->written_at_ms = now.mono.ms;
}

static void touched(struct core *core, const struct checkpoint_touched *touched)
{
    struct slot *slot = slot_find(core, touched->slot, touched->epoch);
    lane_index lane = touched->stats.id.lane;
    if (slot != NULL && lane < slot->queue_count && slot->queues[lane] != NULL) {
        bucket_table_set(&slot->queues[lane]->buckets, &touched->stats);
    }
}

void checkpoint_plan_answered(struct core *core, const struct input_checkpoint *answer, struct now now)
{
    struct checkpoint *checkpoint = &core->checkpoint;
    bool written = answer->result == CHECKPOINT_WRITTEN;
    if (!checkpoint->under_way) {
        return;
    }
    checkpoint->under_way = false;
    for (size_t i = 0; i < checkpoint->slot_count; i++) {
        part_answered(core, &checkpoint->slots[i], written, now);
    }
    for (size_t i = 0; written && i < answer->touched_count; i++) {
        touched(core, &answer->touched[i]);
    }
    checkpoint->full = !written || (checkpoint->full && checkpoint->scope != SCOPE_ALL);
    if (written) {
        checkpoint->scope = SCOPE_ALL;
    } else if (checkpoint->scope != SCOPE_DROPS) {
        checkpoint->scope++; /* less of it, at once */
        checkpoint->not_before_ms = now.mono.ms;
    } else {
        checkpoint->scope = SCOPE_ALL;
        checkpoint->not_before_ms = now.mono.ms + core->options.store_retry_ms;
    }
}

static bool has_drops(const struct queue *queue)
{
    for (int level = 0; level < BUCKET_LEVELS; level++) {
        const struct bucket_list *list = &queue->buckets.levels[level];
        for (uint32_t i = 0; i < list->count; i++) {
            if (frontier_bucket_done(&queue->committed, &list->items[i])) {
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
        if (!frontier_bucket_done(&queue->committed, &list->items[i])) {
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

static void queue_deadline(const struct core *core, const struct queue *queue, struct core_deadline *deadline)
{
    if (has_drops(queue)) {
        add_deadline(deadline, TIME_NEVER, core->checkpoint.not_before_ms);
    }
    int64_t split = split_deadline(queue);
    if (split <= window_reference_ms(queue, core->last)) {
        add_deadline(deadline, TIME_NEVER, core->checkpoint.not_before_ms);
    } else if (window_reference_ms(queue, core->last) == core->last.wall.ms) {
        add_deadline(deadline, split, TIME_NEVER); /* a queue that stands still wakes by itself */
    }
}

struct core_deadline checkpoint_plan_deadline(const struct core *core)
{
    struct core_deadline deadline = {{TIME_NEVER}, {TIME_NEVER}};
    for (uint32_t i = 0; i < core->slot_count && !core->checkpoint.under_way; i++) {
        const struct slot *slot = core->slots[i];
        if (slot == NULL) {
            continue;
        }
        if (slot->unwritten.count > 0 || slot->unsaved) {
            add_deadline(&deadline, TIME_NEVER, core->checkpoint.not_before_ms);
        } else if (slot->position > slot->stored_position) {
            int64_t at = slot->written_at_ms + POSITION_MS;
            add_deadline(&deadline, TIME_NEVER, at > core->checkpoint.not_before_ms ? at : core->checkpoint.not_before_ms);
        }
        for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
            if (slot->queues[lane] != NULL) {
                queue_deadline(core, slot->queues[lane], &deadline);
            }
        }
    }
    return deadline;
}

bool checkpoint_plan_is_behind(const struct core *core)
{
    bool behind = false;
    for (uint32_t i = 0; i < core->slot_count && !behind; i++) {
        const struct slot *slot = core->slots[i];
        behind = slot != NULL && (slot->unwritten.count > 0 || slot->unsaved || slot->text_behind || slot->position > slot->stored_position);
    }
    return core->checkpoint.under_way || (behind && !core->checkpoint.full);
}

void checkpoint_plan_free(struct core *core)
{
    free(core->checkpoint.slots);
    free(core->checkpoint.rows);
    free(core->checkpoint.splits);
    free(core->checkpoint.drops);
}
