/* See checkpoint_plan.h. */
#include "scheduler/checkpoint_plan.h"

#include <stdlib.h>

#include "base/memory.h"
#include "scheduler/bucket.h"
#include "scheduler/bucket_table.h"
#include "scheduler/catch_up.h"
#include "scheduler/command_list.h"
#include "scheduler/commit.h"
#include "scheduler/control.h"
#include "scheduler/frontier.h"
#include "scheduler/slot.h"
#include "scheduler/window.h"

#define ROWS_MAX 100000u /* of one plan: some 0.2 s of writing */

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
            if (catch_up_bucket_done(queue, &queue->committed, &list->items[i])) {
                GROW(checkpoint->drops, checkpoint->drop_count, checkpoint->drop_capacity);
                checkpoint->drops[checkpoint->drop_count++] = list->items[i].id;
            }
        }
    }
}

/* Not at the finest level while it may be being loaded. Later it must be: where all was moved nothing more fires, F stays, and C waits for the bucket. */
bool checkpoint_plan_trims(const struct slot *slot, const struct queue *queue, const struct bucket_stats *stats)
{
    bool loaded = key_compare((struct key){bucket_last_ms(stats->id), INT64_MAX}, queue->loaded) <= 0;
    return (stats->id.level > 0 || loaded) && stats->least_offset < slot->low_committed && slot->copy.state != COPY_SCANNING &&
           !catch_up_bucket_done(queue, &queue->committed, stats);
}

/* A row that stands in the bucket, or may, is to be erased by the same plan. */
static bool erases_in(const struct slot *slot, struct bucket_id id)
{
    bool found = false;
    for (uint32_t i = 0; slot->cancelled.count > 0 && i < slot->cancelled.capacity && !found; i++) {
        const struct cancelled_row *row = &slot->cancelled.rows[i];
        found = row->used && !row->erased && row->lane == id.lane && bucket_covers(id, row->key.due_ms);
    }
    return found;
}

/* Rows are moved out of the bucket by this plan, or into it. */
static bool is_split_now(const struct slot *slot, const struct queue *queue, struct bucket_id id, struct now now)
{
    struct bucket_id parent = id.level + 1 < BUCKET_LEVELS ? bucket_parent(id) : id;
    const struct queue *from = catch_up_bucket_queue(slot, parent);
    bool into = parent.level != id.level && bucket_table_find(&from->buckets, parent.level, parent.number) != NULL && is_split_due(from, parent, now);
    return into || (id.level > 0 && is_split_due(queue, id, now));
}

/* First what was below C already when the slot was gained: those rows were counted as pending then, the others were counted off when they were moved
 * (checkpoint_plan_answer.c). What is split or erased now is not trimmed in the same plan, so that the numbers stay clear. */
static void plan_trims(struct checkpoint *checkpoint, const struct slot *slot, const struct queue *queue, struct now now, uint64_t *budget)
{
    for (int level = 0; level < BUCKET_LEVELS; level++) {
        const struct bucket_list *list = &queue->buckets.levels[level];
        for (uint32_t i = 0; i < list->count && *budget > 0; i++) {
            const struct bucket_stats *stats = &list->items[i];
            if (!checkpoint_plan_trims(slot, queue, stats) || is_split_now(slot, queue, stats->id, now) ||
                (stats->least_offset < slot->gained_low && erases_in(slot, stats->id))) {
                continue;
            }
            GROW(checkpoint->trims, checkpoint->trim_count, checkpoint->trim_capacity);
            uint64_t rows = stats->count < *budget ? stats->count : *budget;
            checkpoint->trims[checkpoint->trim_count++] = (struct checkpoint_trim){
                stats->id, stats->least_offset < slot->gained_low ? slot->gained_low : slot->low_committed, (uint32_t)rows};
            *budget -= rows;
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
            if (catch_up_bucket_done(queue, &queue->committed, stats)) {
                continue;
            }
            GROW(checkpoint->splits, checkpoint->split_count, checkpoint->split_capacity);
            uint64_t rows = stats->count < *budget ? stats->count : *budget;
            checkpoint->splits[checkpoint->split_count++] = (struct checkpoint_split){stats->id, (uint32_t)rows};
            *budget -= rows;
        }
    }
}

struct erasing {
    struct checkpoint *checkpoint;
    const struct slot *slot;
    uint32_t left;
    bool behind; /* there were more */
};

/* What stands in the store: what was not written yet was left out of it already. */
static bool plan_erase(struct cancelled_row *row, void *context)
{
    struct erasing *erasing = context;
    struct checkpoint *checkpoint = erasing->checkpoint;
    bool stored = cancelled_is_stored(row, erasing->slot->stored_position);
    erasing->behind = erasing->behind || (stored && erasing->left == 0);
    if (stored && erasing->left > 0) {
        erasing->left--;
        GROW(checkpoint->erases, checkpoint->erase_count, checkpoint->erase_capacity);
        checkpoint->erases[checkpoint->erase_count++] = (struct checkpoint_erase){row->key, row->lane};
        row->planned = true;
    }
    return true;
}

static void plan_marks(struct checkpoint *checkpoint, const struct marks *marks)
{
    for (uint32_t i = 0; marks->table.count > 0 && i < marks->table.capacity; i++) {
        const struct id_entry *entry = &marks->table.entries[i];
        if (!record_id_is_none(entry->id)) {
            GROW(checkpoint->marks, checkpoint->mark_count, checkpoint->mark_capacity);
            checkpoint->marks[checkpoint->mark_count++] = (struct mark){entry->id, entry->offset, entry->end};
        }
    }
    for (uint32_t i = 0; i < marks->skip_count; i++) {
        GROW(checkpoint->skips, checkpoint->skip_count, checkpoint->skip_capacity);
        checkpoint->skips[checkpoint->skip_count++] = marks->skips[i];
    }
}

/* As skips that span nothing. */
static void plan_duplicates(struct checkpoint *checkpoint, const struct dedupe *dedupe)
{
    for (uint32_t i = 0; i < dedupe->refused_count; i++) {
        GROW(checkpoint->skips, checkpoint->skip_count, checkpoint->skip_capacity);
        checkpoint->skips[checkpoint->skip_count++] = (struct skip){dedupe->refused[i], dedupe->refused[i]};
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
    checkpoint->rows[checkpoint->row_count++] = (struct checkpoint_row){
        .bucket = bucket, .offset = row->offset, .due_ms = row->due_ms, .ref = row->ref, .id = row->id, .root = row->root};
}

static void plan_rows(struct core *core, struct slot *slot, struct now now)
{
    slot_release_done(core, slot); /* what the committed F covers is never written (docs/frontier.md) */
    while (slot->unwritten.planned < slot->unwritten.count && core->checkpoint.row_count < ROWS_MAX) {
        const struct unwritten_row *row = unwritten_at(&slot->unwritten, slot->unwritten.planned);
        plan_row(core, catch_up_queue(slot, row->lane, row->due_ms), row, now);
        slot->unwritten.planned++;
    }
}

static int64_t planned_position(const struct slot *slot)
{
    const struct unwritten *list = &slot->unwritten;
    int64_t position = list->planned < list->count ? unwritten_at(list, list->planned)->offset : slot->position;
    return position > slot->stored_position ? position : slot->stored_position;
}

static bool is_position_due(const struct core *core, const struct slot *slot, struct now now)
{
    return slot->position > slot->stored_position && slot->unwritten.count == 0 &&
           (core->stopping || now.mono.ms - slot->written_at_ms >= CHECKPOINT_POSITION_MS);
}

static void plan_buckets(struct core *core, struct slot *slot, struct now now, uint64_t *budget)
{
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        if (slot->queues[lane] == NULL) {
            continue;
        }
        plan_drops(&core->checkpoint, slot->queues[lane]);
        plan_trims(&core->checkpoint, slot, slot->queues[lane], now, budget);
        if (slot->copy.state != COPY_SCANNING) { /* rows that move could be missed */
            plan_splits(core, slot->queues[lane], now, budget);
        }
    }
}

/* The part of a slot. Its arrays are found by their counts, as the common arrays may still move. */
static void plan_slot(struct core *core, struct slot *slot, struct now now, uint64_t *split_budget)
{
    struct checkpoint *checkpoint = &core->checkpoint;
    size_t rows = checkpoint->row_count;
    size_t splits = checkpoint->split_count;
    size_t drops = checkpoint->drop_count;
    size_t trims = checkpoint->trim_count;
    size_t erases = checkpoint->erase_count;
    struct erasing erasing = {checkpoint, slot, core->options.erase_rows_max, false};
    plan_buckets(core, slot, now, split_budget);
    cancelled_filter(&slot->cancelled, plan_erase, &erasing);
    bool goes_on = checkpoint->scope == SCOPE_ALL && !erasing.behind; /* else rows would come back behind the controls that ended them (R3) */
    if (goes_on) {
        plan_rows(core, slot, now);
    }
    rows = checkpoint->row_count - rows;
    splits = checkpoint->split_count - splits;
    drops = checkpoint->drop_count - drops;
    trims = checkpoint->trim_count - trims;
    erases = checkpoint->erase_count - erases;
    bool last = core->stopping && slot->text_behind && !slot->commit_under_way;
    if (rows + splits + drops + trims + erases == 0 && !slot->unsaved && !last && !is_position_due(core, slot, now)) {
        return;
    }
    GROW(checkpoint->slots, checkpoint->slot_count, checkpoint->slot_capacity);
    struct checkpoint_slot *part = &checkpoint->slots[checkpoint->slot_count++];
    part->slot = slot->index;
    part->epoch = slot->epoch;
    part->position = goes_on ? planned_position(slot) : slot->stored_position;
    part->row_count = rows;
    part->split_count = splits;
    part->drop_count = drops;
    part->trim_count = trims;
    part->erase_count = erases;
    part->mark_count = checkpoint->mark_count;
    part->skip_count = checkpoint->skip_count;
    plan_marks(checkpoint, &slot->marks);
    plan_duplicates(checkpoint, &slot->dedupe);
    part->mark_count = checkpoint->mark_count - part->mark_count;
    part->skip_count = checkpoint->skip_count - part->skip_count;
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
    const struct checkpoint_trim *trims = checkpoint->trims;
    const struct checkpoint_erase *erases = checkpoint->erases;
    const struct mark *marks = checkpoint->marks;
    const struct skip *skips = checkpoint->skips;
    for (size_t i = 0; i < checkpoint->slot_count; i++) {
        struct checkpoint_slot *part = &checkpoint->slots[i];
        part->rows = rows;
        part->splits = splits;
        part->drops = drops;
        part->trims = trims;
        part->erases = erases;
        part->marks = marks;
        part->skips = skips;
        rows += part->row_count;
        splits += part->split_count;
        drops += part->drop_count;
        trims += part->trim_count;
        erases += part->erase_count;
        marks += part->mark_count;
        skips += part->skip_count;
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
    checkpoint->trim_count = 0;
    checkpoint->erase_count = 0;
    checkpoint->mark_count = 0;
    checkpoint->skip_count = 0;
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
    free(core->checkpoint.trims);
    free(core->checkpoint.erases);
    free(core->checkpoint.marks);
    free(core->checkpoint.skips);
}
