/* See slot.h. */
#include "scheduler/slot.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "scheduler/bucket_table.h"
#include "scheduler/catch_up.h"
#include "scheduler/command_list.h"
#include "scheduler/control.h"
#include "scheduler/copy_forward.h"
#include "scheduler/frontier.h"
#include "scheduler/outcome.h"
#include "scheduler/postpone.h"
#include "scheduler/queue.h"
#include "scheduler/reappend.h"
#include "scheduler/lane_limit.h"
#include "scheduler/postpone.h"
#include "scheduler/queue.h"
#include "scheduler/steer.h"
#include "scheduler/transaction.h"

struct slot *slot_find(const struct core *core, slot_index index, uint32_t epoch)
{
    if (index >= core->slot_count || core->slots[index] == NULL || core->slots[index]->epoch != epoch) {
        return NULL;
    }
    return core->slots[index];
}

static void make_room(struct core *core, slot_index index)
{
    if (index < core->slot_count) {
        return;
    }
    core->slots = memory_resize(core->slots, index + 1, sizeof(*core->slots));
    while (core->slot_count <= index) {
        core->slots[core->slot_count++] = NULL;
    }
}

/* What the lane was acknowledged to have done: its own entry, or the shared one (R7). */
static struct frontier gained_frontier(const struct partition_frontier *frontier, lane_index lane)
{
    for (uint16_t i = 0; i < frontier->lane_count; i++) {
        if (frontier->lanes[i].lane == lane) {
            return frontier->lanes[i].frontier;
        }
    }
    return frontier_of(frontier->shared);
}

static void gain_queues(struct core *core, struct slot *slot, const struct input_slot_gained *gained)
{
    for (lane_index lane = 0; lane < core->lane_count; lane++) {
        struct frontier frontier = gained_frontier(&gained->frontier, lane);
        struct queue *queue = queue_get(core, slot, lane, &frontier);
        if (queue->frontier.live.cut > slot->catch_up_to) {
            slot->catch_up_to = queue->frontier.live.cut;
        }
    }
    lane_limit_gain(slot, gained);
    steer_gain(slot, gained);
}

/* Controls behind it keep marks until it is decided. */
static void note_undecided(const struct core *core, struct slot *slot, lane_index lane, int64_t offset)
{
    if (lane == core->deciding_lane && offset > slot->undecided_last) {
        slot->undecided_last = offset;
    }
}

static void gain_buckets(const struct core *core, struct slot *slot, const struct input_slot_gained *gained)
{
    for (size_t i = 0; i < gained->bucket_count; i++) {
        const struct bucket_stats *stats = &gained->buckets[i];
        struct queue *queue = catch_up_bucket_queue(slot, stats->id);
        bucket_table_set(&queue->buckets, stats);
        queue->pending += stats->count; /* done ones too, until they are looked at, skipped or dropped */
        queue->pending_bytes += stats->bytes;
        note_undecided(core, slot, stats->id.lane, stats->last_offset);
    }
}

void slot_gain(struct core *core, slot_index index, const struct input_slot_gained *gained, struct now now)
{
    make_room(core, index);
    assert(core->slots[index] == NULL);
    struct slot *slot = memory_new(1, sizeof(*slot));
    core->slots[index] = slot;
    slot->index = index;
    slot->epoch = gained->epoch;
    slot->position = gained->position;
    slot->catch_up_to = gained->catch_up_to;
    slot->stored_position = gained->stored_position;
    slot->low_offset = gained->frontier.low_offset;
    slot->low_committing = slot->low_offset;
    slot->low_committed = slot->low_offset;
    slot->gained_low = slot->low_offset;
    slot->anchor = gained->frontier.anchor;
    slot->last_read = (struct anchor){.offset = -1};
    slot->shared = gained->frontier.shared;
    slot->shared_committed = slot->shared;
    slot->undecided_last = -1;
    slot->commit_at_ms = now.mono.ms;
    slot->written_at_ms = now.mono.ms;
    gain_queues(core, slot, gained);
    catch_up_gain(core, slot, gained, now);
    gain_buckets(core, slot, gained);
    marks_gain(&slot->marks, gained->high, slot->low_offset, gained->marks, gained->mark_count, gained->skips, gained->skip_count);
    dedupe_gain(&slot->dedupe, slot->low_offset, gained->skips, gained->skip_count);
    slot_look_caught_up(slot);
}

void slot_lose(struct core *core, struct slot *slot)
{
    transaction_poison(core);
    copy_forward_lose(core, slot);
    postpone_lose(core, slot);
    steer_lose(core, slot);
    for (uint32_t i = slot->unwritten.planned; i < slot->unwritten.count; i++) {
        command_list_release(&core->commands, unwritten_at(&slot->unwritten, i)->ref);
    }
    unwritten_free(&slot->unwritten);
    id_table_free(&slot->ids);
    cancelled_free(&slot->cancelled);
    marks_free(&slot->marks);
    dedupe_free(&slot->dedupe);
    reappend_free(slot);
    core->behind_total -= slot->behind_count;
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        if (slot->queues[lane] != NULL) {
            queue_free(core, slot->queues[lane]);
        }
    }
    core->slots[slot->index] = NULL;
    free(slot);
}

void slot_look_caught_up(struct slot *slot)
{
    slot->caught_up = slot->caught_up || slot->reading_stopped || slot->position >= slot->catch_up_to;
}

void slot_position(struct slot *slot, int64_t offset)
{
    if (offset > slot->position) {
        slot->position = offset;
    }
    slot_look_caught_up(slot);
}

static void release(struct core *core, row_ref ref)
{
    if (ref != 0) { /* a cancel has none */
        command_list_release(&core->commands, ref);
    }
}

static void keep_record(struct core *core, struct slot *slot, struct queue *queue, const struct input_record *record)
{
    struct unwritten_row row = {record->offset, record->due_ms, record->ref, record->bytes, record->lane, record->root,
                                record->conditional ? RECORD_ID_NONE : record->id}; /* a conditional one is found by nobody */
    unwritten_add(&slot->unwritten, &row);
    queue_arrive(core, queue, (struct key){record->due_ms, record->offset}, record->bytes);
    note_undecided(core, slot, record->lane, record->offset);
    if (!record_id_is_none(row.id)) {
        control_keep(slot, record);
    }
}

/* What is read once more below the checkpoint's position goes through it, too: it is known, but the fold begins at C. */
static bool is_duplicate(struct slot *slot, const struct input_record *record)
{
    if (slot->dedupe.count > 0) {
        dedupe_pass(&slot->dedupe, record->timestamp_ms);
    }
    bool judged = record->cancel ? slot->dedupe.count > 0 : record->dedupe_ms > 0;
    if (!judged || record_id_is_none(record->id)) {
        return false;
    }
    struct dedupe_record seen = {.id = record->id,
                                 .offset = record->offset,
                                 .timestamp_ms = record->timestamp_ms,
                                 .due_ms = record->dedupe_due_ms,
                                 .window_ms = record->dedupe_ms,
                                 .cancel = record->cancel,
                                 .conditional = record->conditional,
                                 .again = record->root >= 0};
    return dedupe_take(&slot->dedupe, &seen);
}

/* False: there is no event to keep. */
static bool act(struct core *core, struct slot *slot, const struct input_record *record)
{
    return record->conditional ? control_take_conditional(core, slot, record) : control_take(core, slot, record);
}

void slot_record(struct core *core, struct slot *slot, const struct input_record *record)
{
    struct frontier fresh = frontier_fresh(slot->position);
    (void)queue_get(core, slot, record->lane, &fresh); /* there is one from now on */
    struct queue *queue = catch_up_queue(slot, record->lane, record->due_ms);
    bool again = record->offset < slot->position;
    slot_position(slot, record->offset + 1);
    bool known = again || record->offset < slot->low_offset || record->offset < slot->stored_position;
    bool duplicate = !again && record->root < 0 && is_duplicate(slot, record);
    if (duplicate && !known) {
        slot->ended.duplicates++;
        outcome_duplicate(core, slot, record);
    }
    bool event = known || record_id_is_none(record->id) || (!duplicate && act(core, slot, record));
    bool counts = known ? !marks_skipped(&slot->marks, record->offset) : event;
    if (!again && record->root >= 0 && counts) {
        (void)is_duplicate(slot, record); /* the event goes on as this copy */
    }
    if (known || !event || frontier_done(&queue->frontier, record->offset, record->due_ms)) {
        release(core, record->ref);
    } else {
        keep_record(core, slot, queue, record);
    }
    if (!again && record->offset >= slot->stored_position) { /* else it is behind what the checkpoint is known by (R8) */
        slot->last_read = (struct anchor){record->offset, record->timestamp_ms, record->crc};
    }
}

static int64_t least_unwritten(const struct slot *slot)
{
    for (uint32_t i = 0; i < slot->unwritten.count; i++) {
        const struct unwritten_row *row = unwritten_at(&slot->unwritten, i);
        if (!frontier_done(&catch_up_queue(slot, row->lane, row->due_ms)->outlook, row->offset, row->due_ms) &&
            !cancelled_has(&slot->cancelled, row->offset)) {
            return row->offset;
        }
    }
    return slot->position;
}

static int64_t least_in_buckets(const struct queue *queue, int64_t least)
{
    for (int level = 0; level < BUCKET_LEVELS; level++) {
        const struct bucket_list *list = &queue->buckets.levels[level];
        for (uint32_t i = 0; i < list->count; i++) {
            const struct bucket_stats *stats = &list->items[i];
            if (stats->least_offset < least && !catch_up_bucket_done(queue, &queue->outlook, stats)) {
                least = stats->least_offset;
            }
        }
    }
    return least;
}

int64_t slot_bound(const struct slot *slot, int64_t low)
{
    return marks_bound(&slot->marks, dedupe_bound(&slot->dedupe, low));
}

int64_t slot_low_offset(const struct slot *slot)
{
    int64_t low = least_unwritten(slot);
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        if (slot->queues[lane] != NULL) {
            low = least_in_buckets(slot->queues[lane], low);
        }
    }
    low = slot_bound(slot, low);
    return low > slot->low_offset ? low : slot->low_offset;
}

struct queue *slot_deciding_queue(const struct core *core, const struct slot *slot)
{
    return core->deciding_lane < LANES_MAX ? slot->queues[core->deciding_lane] : NULL; /* from LANES_MAX on they are others */
}

/* They are all due since ever, so they are decided in the order of their offsets. */
int64_t slot_decided(const struct core *core, const struct slot *slot)
{
    const struct queue *queue = slot_deciding_queue(core, slot);
    bool complete = queue == NULL || key_compare(queue->loaded, queue->taken_point) >= 0;
    if (queue == NULL || (complete && queue->pending <= queue->ahead)) {
        return slot->position;
    }
    const struct frontier_pair *done = &queue->outlook.live;
    int64_t passed = done->point.due_ms == DUE_SINCE_EVER ? done->point.offset + 1 : 0;
    passed = done->point.due_ms > DUE_SINCE_EVER || done->cut < passed ? done->cut : passed;
    passed = passed < slot->position ? passed : slot->position; /* a former owner had read further */
    return passed > slot->decided ? passed : slot->decided;
}

uint64_t slot_pending(const struct slot *slot)
{
    uint64_t sum = 0;
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        sum += slot->queues[lane] == NULL ? 0 : slot->queues[lane]->pending;
    }
    return sum;
}

static void pause(struct core *core, struct slot *slot, bool paused)
{
    if (slot->reading_paused != paused && !slot->reading_stopped) {
        slot->reading_paused = paused;
        command_list_add(&core->commands, paused ? COMMAND_READ_PAUSE : COMMAND_READ_RESUME, slot);
    }
}

void slot_pressure(struct core *core)
{
    uint64_t rows = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < core->slot_count; i++) {
        rows += core->slots[i] == NULL ? 0 : core->slots[i]->unwritten.count;
        bytes += core->slots[i] == NULL ? 0 : core->slots[i]->unwritten.bytes;
    }
    bool full = rows >= core->options.unwritten_rows_max || bytes >= core->options.unwritten_bytes_max;
    bool roomy = rows <= core->options.unwritten_rows_max / 2 && bytes <= core->options.unwritten_bytes_max / 2;
    for (uint32_t i = 0; i < core->slot_count; i++) {
        struct slot *slot = core->slots[i];
        if (slot == NULL) {
            continue;
        }
        if (full) {
            pause(core, slot, true);
        } else if (roomy) {
            pause(core, slot, false); /* not before half is free: each resume throws fetched records away */
        }
    }
}

struct keeping {
    struct core *core;
    struct slot *slot;
};

static bool keep_undone(const struct unwritten_row *row, void *context)
{
    struct keeping *keeping = context;
    struct cancelled_row *cancelled = cancelled_find(&keeping->slot->cancelled, row->offset);
    const struct queue *queue = catch_up_queue(keeping->slot, row->lane, row->due_ms);
    if (cancelled == NULL && !frontier_done(&queue->committed, row->offset, row->due_ms)) {
        return true;
    }
    if (cancelled != NULL) {
        cancelled->erased = true; /* it was never written */
    }
    control_forget(keeping->slot, row);
    command_list_release(&keeping->core->commands, row->ref);
    keeping->core->stats.rows_never_written++;
    return false;
}

void slot_release_done(struct core *core, struct slot *slot)
{
    struct keeping keeping = {core, slot};
    unwritten_filter(&slot->unwritten, keep_undone, &keeping);
}

void slot_compact(struct core *core, struct slot *slot)
{
    if (slot->unwritten.count > core->options.unwritten_rows_max / 2 ||
        slot->unwritten.bytes > core->options.unwritten_bytes_max / 2) {
        slot_release_done(core, slot);
    }
}
