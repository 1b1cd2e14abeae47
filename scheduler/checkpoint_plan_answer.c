/* What the store's answer to a plan changes; see checkpoint_plan.h. */
#include "scheduler/bucket.h"
#include "scheduler/bucket_table.h"
#include "scheduler/catch_up.h"
#include "scheduler/checkpoint_plan.h"
#include "scheduler/command_list.h"
#include "scheduler/control.h"
#include "scheduler/queue.h"
#include "scheduler/slot.h"
#include "scheduler/window.h"

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

/* The statistics of a bucket after the plan, NULL: the answer does not name it. */
static const struct bucket_stats *after(const struct input_checkpoint *answer, slot_index slot, struct bucket_id bucket)
{
    for (size_t i = 0; i < answer->touched_count; i++) {
        if (answer->touched[i].slot == slot && bucket_compare(answer->touched[i].stats.id, bucket) == 0) {
            return &answer->touched[i].stats;
        }
    }
    return NULL;
}

static uint64_t count_puts(const struct checkpoint_slot *part, struct bucket_id bucket)
{
    uint64_t puts = 0;
    for (size_t i = 0; i < part->row_count; i++) {
        puts += bucket_compare(part->rows[i].bucket, bucket) == 0;
    }
    return puts;
}

/* What the plan took out of a bucket, as statistics; the store may have done a part of it only. */
static struct bucket_stats gone_of(const struct checkpoint_slot *part, const struct bucket_stats *before, const struct bucket_stats *now)
{
    struct bucket_stats gone = *before;
    if (now != NULL && now->count > 0) {
        uint64_t puts = count_puts(part, before->id);
        gone.count = before->count + puts - now->count;
        gone.bytes = puts == 0 ? before->bytes - now->bytes : before->bytes / before->count * gone.count;
    }
    return gone;
}

static void forget_bucket(const struct slot *slot, const struct checkpoint_slot *part, const struct input_checkpoint *answer, struct bucket_id id)
{
    struct queue *queue = catch_up_bucket_queue(slot, id);
    const struct bucket_stats *stats = bucket_table_find(&queue->buckets, id.level, id.number);
    if (stats != NULL) {
        struct bucket_stats gone = gone_of(part, stats, after(answer, part->slot, id));
        window_bucket_gone(queue, &gone);
        bucket_table_set(&queue->buckets, &(struct bucket_stats){.id = id});
    }
}

static bool note_erased(struct cancelled_row *row, void *context)
{
    (void)context;
    row->erased = row->erased || row->planned;
    return true;
}

static bool is_empty(const struct queue *queue)
{
    return queue != NULL && bucket_table_count(&queue->buckets) == 0 && queue_entries(queue) == 0 && queue->taken.count == 0 && !queue->scan.active;
}

static void forget_pending(struct queue *queue)
{
    if (queue != NULL) {
        queue->pending = 0;
        queue->pending_bytes = 0;
    }
}

/* A checkpoint older than C may hold rows that C has passed, and only the store that trims them knows how many. Where nothing is left, nothing is pending. */
static void count_anew(const struct slot *slot)
{
    for (uint16_t lane = 0; lane < slot->queue_count && lane < LANES_MAX && slot->unwritten.count == 0; lane++) {
        struct queue *queue = slot->queues[lane];
        struct queue *behind = catch_up_behind(slot, lane);
        if (is_empty(queue) && (behind == NULL || is_empty(behind))) {
            forget_pending(queue);
            forget_pending(behind);
        }
    }
}

static void part_answered(struct core *core, const struct checkpoint_slot *part, const struct input_checkpoint *answer, struct now now)
{
    struct slot *slot = slot_find(core, part->slot, part->epoch);
    if (slot == NULL) {
        release_part(core, part); /* it was lost meanwhile: its rows waited for this answer */
        return;
    }
    forget_coarse(slot);
    if (answer->result != CHECKPOINT_WRITTEN) {
        slot->unwritten.planned = 0;
        slot->unsaved = slot->unsaved || part->keeps_frontier;
        slot->text_behind = true;
        control_sweep(slot);
        return;
    }
    core->stats.rows_written += slot->unwritten.planned;
    for (size_t i = 0; i < part->drop_count; i++) {
        forget_bucket(slot, part, answer, part->drops[i]);
    }
    while (slot->unwritten.planned > 0) {
        struct unwritten_row row = unwritten_pop(&slot->unwritten);
        control_forget(slot, &row);
        command_list_release(&core->commands, row.ref);
    }
    cancelled_filter(&slot->cancelled, note_erased, NULL);
    control_sweep(slot);
    slot->stored_position = part->position;
    slot->written_at_ms = now.mono.ms;
}

/* Rows of a checkpoint older than C that are gone now: they counted as pending, as nobody had looked at them. */
static void count_trimmed(const struct checkpoint_slot *part, const struct checkpoint_trim *trim, struct slot *slot, const struct bucket_stats *now)
{
    struct queue *queue = catch_up_bucket_queue(slot, trim->bucket);
    const struct bucket_stats *before = bucket_table_find(&queue->buckets, trim->bucket.level, trim->bucket.number);
    if (before == NULL || trim->below_offset > slot->gained_low || bucket_start_ms(trim->bucket) <= queue->counted.due_ms) {
        return;
    }
    struct bucket_stats gone = gone_of(part, before, now);
    queue->pending -= gone.count;
    const struct queue *behind = catch_up_behind(slot, queue->lane);
    uint64_t bytes = slot->queues[queue->lane]->pending_bytes + (behind == NULL ? 0 : behind->pending_bytes);
    queue->pending_bytes -= gone.bytes < bytes ? gone.bytes : bytes;
}

static void trimmed(struct core *core, const struct checkpoint_slot *part, const struct input_checkpoint *answer)
{
    struct slot *slot = slot_find(core, part->slot, part->epoch);
    for (size_t i = 0; slot != NULL && i < part->trim_count; i++) {
        const struct bucket_stats *now = after(answer, part->slot, part->trims[i].bucket);
        if (now != NULL) {
            count_trimmed(part, &part->trims[i], slot, now);
        }
    }
}

static void touched(struct core *core, const struct checkpoint_touched *touched)
{
    struct slot *slot = slot_find(core, touched->slot, touched->epoch);
    lane_index lane = touched->stats.id.lane;
    if (slot != NULL && lane < slot->queue_count && slot->queues[lane] != NULL) {
        bucket_table_set(&catch_up_bucket_queue(slot, touched->stats.id)->buckets, &touched->stats);
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
        part_answered(core, &checkpoint->slots[i], answer, now);
    }
    for (size_t i = 0; written && i < checkpoint->slot_count; i++) {
        trimmed(core, &checkpoint->slots[i], answer);
    }
    for (size_t i = 0; written && i < answer->touched_count; i++) {
        touched(core, &answer->touched[i]);
    }
    for (size_t i = 0; written && i < checkpoint->slot_count; i++) {
        const struct slot *slot = slot_find(core, checkpoint->slots[i].slot, checkpoint->slots[i].epoch);
        if (slot != NULL) {
            count_anew(slot);
        }
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
