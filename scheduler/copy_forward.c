/* See copy_forward.h. */
#include "scheduler/copy_forward.h"

#include <stdlib.h>

#include "base/memory.h"
#include "scheduler/bucket.h"
#include "scheduler/bucket_table.h"
#include "scheduler/cancelled.h"
#include "scheduler/catch_up.h"
#include "scheduler/command_list.h"
#include "scheduler/commit.h"
#include "scheduler/control.h"
#include "scheduler/frontier.h"
#include "scheduler/outcome.h"
#include "scheduler/postpone.h"
#include "scheduler/queue.h"
#include "scheduler/transaction.h"
#include "scheduler/slot.h"

#define WAIT_MAX_MS 60000
#define ROWS_MOST (1u << 20) /* what a skip spans may be more than copy_rows_max */

/* Below which offset all that is pending is to be copied; not above C: nothing is. */
static int64_t wanted_below(const struct core *core, const struct slot *slot)
{
    uint64_t span = (uint64_t)(slot->position - slot->low_committed);
    bool too_long = core->options.span_max > 0 && span > core->options.span_max && span / 2 > slot_pending(slot);
    int64_t below = too_long ? slot->stored_position : slot->copy.wanted_below;
    return below < slot->stored_position ? below : slot->stored_position;
}

static bool may_begin(const struct core *core, const struct slot *slot)
{
    return core->options.copy_rows_max > 0 && slot->copy.state == COPY_IDLE && slot->caught_up && !slot->leaving && !core->stopping &&
           !slot->reading_stopped;
}

void copy_forward_below(struct slot *slot, int64_t offset)
{
    slot->copy.wanted_below = offset > slot->copy.wanted_below ? offset : slot->copy.wanted_below;
}

/* Nothing could be copied, or it was not taken: not at once again. */
static void wait_longer(const struct core *core, struct copy *copy)
{
    copy->wait_ms = copy->wait_ms == 0 ? core->options.retry_ms : copy->wait_ms * 2;
    copy->wait_ms = copy->wait_ms < WAIT_MAX_MS ? copy->wait_ms : WAIT_MAX_MS;
}

static void rest(const struct core *core, struct slot *slot, struct now now)
{
    slot->copy.state = COPY_IDLE;
    slot->copy.not_before_ms = now.mono.ms + (slot->copy.wait_ms > 0 ? slot->copy.wait_ms : core->options.copy_ms);
}

/* ------------------------------------------------------------------------------------------------- looking up */

/* What is in flight goes out by itself: the limit stays below. */
static int64_t first_in_flight(const struct core *core, const struct slot *slot, int64_t below)
{
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        const struct queue *queue = slot->queues[lane];
        for (uint32_t i = 0; queue != NULL && i < queue->taken.count; i++) {
            const struct taken *item = taken_at(&queue->taken, i);
            /* What went out once, or was decided, is a letter now that says that nothing follows: as it is it would go out twice. */
            bool last = item->state == TAKEN_FAILED && (queue->lane == core->deciding_lane || item->why == COPY_NEXT || item->why == COPY_DECIDED);
            bool open = item->state == TAKEN_SENT || item->state == TAKEN_DONE || item->at_fault || last;
            below = open && item->key.offset < below ? item->key.offset : below;
        }
    }
    return below;
}

/* What waits to be decided is not copied undecided: the mark of a control that was read since would not reach its copy (R10). */
static int64_t first_undecided(const struct core *core, const struct slot *slot, int64_t below)
{
    const struct queue *queue = slot_deciding_queue(core, slot);
    int64_t decided = queue == NULL || queue->pending <= queue->taken.count ? below : slot_decided(core, slot);
    return decided < below ? decided : below;
}

static void add_buckets(struct copy *copy, const struct queue *queue)
{
    for (int level = 0; level < BUCKET_LEVELS; level++) {
        const struct bucket_list *list = &queue->buckets.levels[level];
        for (uint32_t i = 0; i < list->count; i++) {
            if (list->items[i].least_offset >= copy->below || catch_up_bucket_done(queue, &queue->frontier, &list->items[i])) {
                continue;
            }
            if (copy->bucket_count == copy->bucket_capacity) {
                copy->bucket_capacity = copy->bucket_capacity == 0 ? 64 : copy->bucket_capacity * 2;
                copy->buckets = memory_resize(copy->buckets, copy->bucket_capacity, sizeof(*copy->buckets));
            }
            copy->buckets[copy->bucket_count++] = list->items[i].id;
        }
    }
}

static int by_offset(const void *a, const void *b)
{
    int64_t first = ((const struct copied_row *)a)->key.offset;
    int64_t second = ((const struct copied_row *)b)->key.offset;
    return (first > second) - (first < second);
}

/* All rows below the limit were found: no more of them are copied at once than may be. */
static void finish(struct slot *slot)
{
    struct copy *copy = &slot->copy;
    uint32_t count = 0;
    if (copy->row_count > 0) { /* else there may be no array at all */
        qsort(copy->rows, copy->row_count, sizeof(*copy->rows), by_offset);
    }
    while (count < copy->row_count && copy->rows[count].key.offset < copy->below) {
        count++;
    }
    if (count > copy->rows_max) {
        count = copy->rows_max;
        copy->below = copy->rows[count].key.offset;
    }
    copy->row_count = count;
    copy->state = COPY_READY;
}

static void ask(struct core *core, struct slot *slot)
{
    struct copy *copy = &slot->copy;
    if (copy->bucket_next == copy->bucket_count) {
        finish(slot);
        core->more = true;
        return;
    }
    struct command *command = command_list_add(&core->commands, COMMAND_SCAN, slot);
    command->as.scan = (struct command_scan){.bucket = copy->buckets[copy->bucket_next],
                                             .purpose = SCAN_COPY,
                                             .from_offset = slot->low_committed,
                                             .below_offset = copy->below,
                                             .rows_max = copy->rows_max};
}

static void begin(struct core *core, struct slot *slot, struct now now, int64_t below)
{
    struct copy *copy = &slot->copy;
    copy->below = below;
    copy->rows_max = copy->rows_max == 0 ? core->options.copy_rows_max : copy->rows_max;
    copy->bucket_count = 0;
    copy->bucket_next = 0;
    copy->row_count = 0;
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        if (slot->queues[lane] != NULL) {
            add_buckets(copy, slot->queues[lane]);
        }
    }
    if (copy->bucket_count == 0) {
        wait_longer(core, copy);
        rest(core, slot, now); /* C comes by itself */
        return;
    }
    copy->state = COPY_SCANNING;
    ask(core, slot);
}

void copy_forward_turn(struct core *core, struct now now)
{
    for (uint32_t i = 0; i < core->slot_count && !core->checkpoint.under_way; i++) {
        struct slot *slot = core->slots[i];
        if (slot == NULL || !may_begin(core, slot) || now.mono.ms < slot->copy.not_before_ms) {
            continue;
        }
        int64_t below = wanted_below(core, slot);
        if (below <= slot->low_committed) {
            continue;
        }
        below = slot_bound(slot, first_in_flight(core, slot, below));
        if (below > slot->low_committed) {
            begin(core, slot, now, below);
        } else {
            wait_longer(core, &slot->copy);
            rest(core, slot, now); /* what is in flight holds C, or a mark */
        }
    }
}

static void take_row(struct copy *copy, lane_index lane, const struct scanned_row *row)
{
    if (copy->row_count == copy->row_capacity) {
        copy->row_capacity = copy->row_capacity == 0 ? 256 : copy->row_capacity * 2;
        copy->rows = memory_resize(copy->rows, copy->row_capacity, sizeof(*copy->rows));
    }
    copy->rows[copy->row_count++] =
        (struct copied_row){.key = {row->due_ms, row->offset}, .due_ms = row->due_ms, .bytes = row->bytes, .lane = lane, .why = COPY_FORWARD};
}

void copy_forward_rows(struct core *core, struct slot *slot, const struct input_rows *rows)
{
    struct copy *copy = &slot->copy;
    if (copy->state != COPY_SCANNING) {
        return;
    }
    for (size_t i = 0; i < rows->count; i++) {
        take_row(copy, rows->bucket.lane, &rows->rows[i]);
    }
    if (!rows->end && rows->rows[rows->count - 1].offset + 1 < copy->below) {
        copy->below = rows->rows[rows->count - 1].offset + 1; /* what is behind was not looked at */
    }
    copy->bucket_next++;
    ask(core, slot);
}

/* ----------------------------------------------------------------------------------------------------- sending */

/* What a skip spans is copied together or not at all: when it is more than may be copied this time, it may be more the next time, else C stood for ever. */
static void bound_by_marks(struct slot *slot)
{
    struct copy *copy = &slot->copy;
    bool possible = copy->below > slot->low_committed;
    copy->below = marks_bound(&slot->marks, copy->below);
    if (possible && copy->below <= slot->low_committed && copy->rows_max < ROWS_MOST) {
        copy->rows_max *= 2;
    }
    copy->below = slot_bound(slot, copy->below); /* dedupe keeps what it keeps */
}

struct slot *copy_forward_ready(struct core *core, struct now now)
{
    for (uint32_t i = 0; i < core->slot_count; i++) {
        struct slot *slot = core->slots[(core->turn + i) % core->slot_count];
        if (slot == NULL || slot->copy.state != COPY_READY || slot->commit_under_way || slot->commit_unknown) {
            continue;
        }
        slot->copy.below = first_undecided(core, slot, first_in_flight(core, slot, slot->copy.below));
        bound_by_marks(slot);
        if (slot->copy.below <= slot->low_committed || slot->leaving || core->stopping || slot->reading_stopped) {
            wait_longer(core, &slot->copy);
            rest(core, slot, now);
            continue;
        }
        return slot;
    }
    return NULL;
}

static bool is_pending(const struct slot *slot, const struct copied_row *row)
{
    const struct queue *queue = catch_up_queue(slot, row->lane, row->key.due_ms);
    return !queue_is_done(slot, queue, row->key) && !cancelled_has(&slot->cancelled, row->key.offset);
}

/* What is postponed and held up by something in front of it is copied as what it is: due later, or as what comes after it. */
static void postpone_rows(const struct core *core, struct slot *slot, struct now now)
{
    struct copy *copy = &slot->copy;
    for (uint16_t lane = 0; lane < slot->queue_count && copy->row_count > 0; lane++) {
        const struct queue *queue = slot->queues[lane];
        for (uint32_t i = 0; queue != NULL && queue->taken.postponed > 0 && i < queue->taken.count; i++) {
            const struct taken *item = taken_at(&queue->taken, i);
            struct copied_row sought = {.key = item->key};
            struct copied_row *row = item->state != TAKEN_POSTPONED
                                         ? NULL
                                         : bsearch(&sought, copy->rows, copy->row_count, sizeof(sought), by_offset);
            if (row != NULL && item->why == COPY_LATER) {
                row->due_ms = postpone_due_ms(core, item->key, now);
            }
            if (row != NULL) {
                row->why = item->why;
                row->sequence = queue->taken.first_sequence + i;
            }
        }
    }
}

const struct partition_frontier *copy_forward_send(struct core *core, struct slot *slot, struct now now)
{
    struct copy *copy = &slot->copy;
    uint32_t count = 0;
    postpone_rows(core, slot, now);
    for (uint32_t i = 0; i < copy->row_count && copy->rows[i].key.offset < copy->below; i++) {
        if (!is_pending(slot, &copy->rows[i])) {
            continue;
        }
        copy->rows[count++] = copy->rows[i];
        const struct copied_row *row = &copy->rows[count - 1];
        command_list_add(&core->commands, COMMAND_COPY, slot)->as.copy = (struct command_copy){
            .lane = row->lane,
            .why = (enum copy_why)row->why,
            .sequence = row->sequence,
            .due_ms = row->due_ms,
            .key = row->key,
            .ref = unwritten_find(&slot->unwritten, row->key.offset),
            .bucket = bucket_of(row->lane, 0, row->key.due_ms),
        };
    }
    copy->row_count = count;
    copy->state = COPY_SENT;
    marks_reappending(&slot->marks);
    return commit_build(core, slot, now, copy->below);
}

/* Moved: they come again at the end of the partition. What of them waits in a FIFO to be sent again is not. */
static void end_moved(struct core *core, struct slot *slot)
{
    struct copy *copy = &slot->copy;
    for (uint32_t i = 0; i < copy->row_count; i++) {
        struct queue *queue = catch_up_queue(slot, copy->rows[i].lane, copy->rows[i].key.due_ms);
        if (!cancelled_has(&slot->cancelled, copy->rows[i].key.offset)) { /* meanwhile: then it is off already */
            queue->pending--;
            queue->pending_bytes -= copy->rows[i].bytes;
        }
    }
    slot->ended.copied += copy->row_count;
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        struct queue *queue = slot->queues[lane];
        for (uint32_t i = 0; queue != NULL && i < queue->taken.count; i++) {
            struct taken *item = taken_at(&queue->taken, i);
            bool postponed = item->state == TAKEN_POSTPONED;
            if ((item->state == TAKEN_FAILED || postponed) && item->key.offset < copy->below) {
                slot->ended.postponed += postponed && item->why == COPY_LATER;
                outcome_delivered(core, slot, item);
                taken_move(&queue->taken, item, TAKEN_ENDED);
                queue->pending++; /* the FIFO takes it off once more */
                queue->pending_bytes += item->bytes;
            }
        }
        if (queue != NULL) {
            queue_advance(core, queue, !core->options.exactly_once);
        }
    }
}

void copy_forward_answered(struct core *core, struct slot *slot, const struct input_transaction *answer, struct now now)
{
    struct copy *copy = &slot->copy;
    if (answer->result == TRANSACTION_COMMITTED) {
        end_moved(core, slot);
        copy->rows_max = copy->rows_max * 2 < core->options.copy_rows_max ? copy->rows_max * 2 : core->options.copy_rows_max;
        copy->wait_ms = 0;
    } else if (core->transaction.at_fault) {
        postpone_copy_aborted(slot);
    } else { /* perhaps one of them can never be written again: fewer at a time find it, and the rest goes on */
        copy->rows_max = copy->rows_max > 1 ? copy->rows_max / 2 : 1;
        wait_longer(core, copy);
    }
    rest(core, slot, now);
}

int64_t copy_forward_deadline(const struct core *core, const struct slot *slot)
{
    bool wants = may_begin(core, slot) && !core->checkpoint.under_way && wanted_below(core, slot) > slot->low_committed;
    return wants ? slot->copy.not_before_ms : TIME_NEVER;
}

void copy_forward_lose(struct core *core, struct slot *slot)
{
    if (core->transaction.copying == slot) {
        core->transaction.copying = NULL;
    }
    free(slot->copy.buckets);
    free(slot->copy.rows);
    slot->copy = (struct copy){0};
}
