/* Checks of everything that can be checked from inside; see core.h. */
#include "base/invariant.h"
#include "scheduler/bucket.h"
#include "scheduler/catch_up.h"
#include "scheduler/core_state.h"
#include "scheduler/frontier.h"
#include "scheduler/queue.h"
#include "scheduler/reappend.h"

static void validate_taken(const struct queue *queue, bool exactly_once)
{
    uint32_t ended = 0;
    uint32_t postponed = 0;
    uint32_t moved = 0;
    uint32_t sent = 0;
    uint32_t failed = 0;
    uint32_t late = 0;
    struct key before = KEY_LEAST;
    for (uint32_t i = 0; i < queue->taken.count; i++) {
        const struct taken *item = taken_at(&queue->taken, i);
        sent += item->state == TAKEN_SENT;
        failed += item->state == TAKEN_FAILED;
        ended += item->state == TAKEN_ENDED;
        postponed += item->state == TAKEN_POSTPONED;
        moved += item->state == TAKEN_MOVED;
        late += item->late;
        if (!item->late) {
            INVARIANT(key_compare(before, item->key) < 0);
            INVARIANT(key_compare(item->key, queue->taken_point) <= 0);
            before = item->key;
        }
    }
    INVARIANT(sent == queue->taken.sent && failed == queue->taken.failed && late == queue->taken.late);
    INVARIANT(ended == queue->taken.ended && postponed == queue->taken.postponed && moved == queue->taken.moved);
    INVARIANT(queue->taken.count == 0 || key_compare(queue->loaded, queue->taken_point) >= 0); /* else no frontier passes what is written again */
    INVARIANT(queue->taken.count == 0 || taken_at(&queue->taken, 0)->state != TAKEN_ENDED);
    INVARIANT(queue->taken.count == 0 || exactly_once || taken_at(&queue->taken, 0)->state != TAKEN_DONE);
}

static void check_wheel_entry(const struct entry *entry, void *context)
{
    const struct queue *queue = context;
    INVARIANT(key_compare(entry_key(entry), queue->taken_point) > 0);
    INVARIANT(!frontier_done(&queue->frontier, entry->offset, entry->due_ms));
    INVARIANT(queue->scan.active || key_compare(entry_key(entry), queue->loaded) <= 0);
}

/* Each side of a catch-up boundary keeps to its own. */
static void validate_sides(const struct slot *slot, const struct queue *queue)
{
    struct key ceiling = {queue->ceiling_ms, INT64_MAX};
    struct key least;
    INVARIANT(queue == slot->queues[queue->index] && (queue->own != NULL) == (queue->index >= LANES_MAX));
    INVARIANT(key_compare(queue->taken_point, queue->floor) >= 0 && key_compare(queue->taken_point, ceiling) <= 0);
    INVARIANT(key_compare(queue->frontier.live.point, queue->floor) >= 0 && key_compare(queue->loaded, queue->floor) >= 0);
    INVARIANT(key_compare(queue->loaded, ceiling) <= 0);
    if (wheel_count(&queue->wheel) > 0) {
        struct key greatest;
        INVARIANT(wheel_greatest(&queue->wheel, &greatest) && key_compare(greatest, ceiling) <= 0);
        INVARIANT(wheel_peek((struct wheel *)(uintptr_t)&queue->wheel, &least) && key_compare(least, queue->floor) > 0);
    }
    for (uint32_t i = 0; i < queue->late.count; i++) {
        INVARIANT(catch_up_queue(slot, queue->lane, queue->late.entries[i].key.due_ms) == queue);
    }
    for (uint32_t i = 0; i < queue->taken.count; i++) {
        INVARIANT(catch_up_queue(slot, queue->lane, taken_at(&queue->taken, i)->key.due_ms) == queue);
    }
    for (uint8_t level = 0; level < BUCKET_LEVELS; level++) {
        for (uint32_t i = 0; i < queue->buckets.levels[level].count; i++) {
            struct bucket_id id = queue->buckets.levels[level].items[i].id;
            INVARIANT(catch_up_bucket_queue(slot, id) == queue);
            INVARIANT(queue->own != NULL || !catch_up_is_over(queue, id) || key_compare(queue->loaded, queue->floor) == 0);
        }
    }
}

static void validate_buckets(const struct queue *queue)
{
    for (uint8_t level = 0; level < BUCKET_LEVELS; level++) {
        const struct bucket_list *list = &queue->buckets.levels[level];
        for (uint32_t i = 0; i < list->count; i++) {
            INVARIANT(list->items[i].count > 0 && list->items[i].id.level == level);
            INVARIANT(i == 0 || list->items[i - 1].id.number < list->items[i].id.number);
        }
    }
}

static void validate_untold(const struct slot *slot)
{
    uint32_t untold = 0;
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        const struct queue *queue = slot->queues[lane];
        for (uint32_t i = 0; queue != NULL && i < queue->taken.count; i++) {
            const struct taken *item = taken_at(&queue->taken, i);
            INVARIANT(!item->untold || (item->cancelled && (item->state == TAKEN_SENT || item->state == TAKEN_DONE)));
            untold += item->untold;
            untold += item->verdict != VERDICT_NONE;
        }
    }
    INVARIANT(untold == slot->untold);
}

static void validate_queue(const struct core *core, const struct slot *slot, const struct queue *queue)
{
    wheel_validate(&queue->wheel);
    late_heap_validate(&queue->late);
    validate_taken(queue, core->options.exactly_once);
    INVARIANT(queue->taken.moved == 0 || (core->transaction.state != TRANSACTION_NONE && core->transaction.postponing == slot));
    INVARIANT(queue->taken.postponed == 0 || !slot->reading_stopped);
    wheel_each(&queue->wheel, check_wheel_entry, (void *)(uintptr_t)queue);
    validate_buckets(queue);
    validate_sides(slot, queue);
    for (uint32_t i = 0; i < queue->late.count; i++) {
        INVARIANT(key_compare(queue->late.entries[i].key, queue->taken_point) <= 0);
        INVARIANT(queue->late.entries[i].key.offset >= queue->frontier.live.cut);
    }
    INVARIANT(key_compare(queue->frontier.live.point, queue->taken_point) <= 0);
    INVARIANT(queue->frontier.live.cut <= slot->position || queue->frontier.live.cut <= slot->catch_up_to);
    const struct queue *behind = catch_up_behind(slot, queue->lane);
    const struct queue *own = slot->queues[queue->lane];
    uint64_t pending = own->pending + (behind == NULL ? 0 : behind->pending);
    uint64_t here = own->taken.count + queue_entries(own) + (behind == NULL ? 0 : behind->taken.count + queue_entries(behind));
    bool ended = slot->cancelled.count > 0 || slot->ended.copied > 0; /* they are pending no more, and let fall when they are met */
    INVARIANT(ended || pending >= here || !slot->caught_up);
}

static void validate_steer(const struct core *core, const struct slot *slot)
{
    INVARIANT(slot->steer.count <= STEER_MAX);
    for (uint32_t i = 0; i < slot->steer.count; i++) {
        const struct steered *item = &slot->steer.items[i];
        INVARIANT(!item->sent || (core->transaction.state == TRANSACTION_ENDING && core->transaction.steering == slot));
        INVARIANT(item->ended || !cancelled_has(&slot->cancelled, item->key.offset)); /* whatever ends it says so */
        INVARIANT(item->sent || !item->ended);
    }
}

static void validate_unwritten(const struct slot *slot)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < slot->unwritten.count; i++) {
        const struct unwritten_row *row = unwritten_at(&slot->unwritten, i);
        INVARIANT(row->ref != 0 && row->offset < slot->position);
        INVARIANT(i == 0 || unwritten_at(&slot->unwritten, i - 1)->offset < row->offset);
        bytes += row->bytes;
    }
    INVARIANT(bytes == slot->unwritten.bytes && slot->unwritten.planned <= slot->unwritten.count);
}

static void validate_lane(const struct core *core, uint16_t lane)
{
    uint64_t count = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < core->slot_count; i++) {
        const struct slot *slot = core->slots[i];
        if (slot != NULL && slot->queues[lane] != NULL) {
            count += slot->queues[lane]->taken.count;
            bytes += slot->queues[lane]->taken.bytes;
        }
    }
    INVARIANT(count == core->lane_taken[lane] && bytes == core->lane_taken_bytes[lane]);
}

void core_validate(const struct core *core)
{
    uint64_t late = 0;
    uint64_t wheels = 0;
    entry_pool_validate(&core->pool);
    for (uint32_t i = 0; i < core->slot_count; i++) {
        const struct slot *slot = core->slots[i];
        if (slot == NULL) {
            continue;
        }
        validate_steer(core, slot);
        validate_unwritten(slot);
        reappend_validate(core, slot);
        dedupe_validate(&slot->dedupe);
        validate_untold(slot);
        INVARIANT(slot->decided <= slot->position);
        for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
            if (slot->queues[lane] != NULL) {
                validate_queue(core, slot, slot->queues[lane]);
                late += slot->queues[lane]->late.count;
                wheels += wheel_count(&slot->queues[lane]->wheel);
            }
        }
    }
    for (lane_index lane = 0; lane < core->lane_count; lane++) {
        validate_lane(core, lane);
        validate_lane(core, (uint16_t)(LANES_MAX + lane));
    }
    INVARIANT(late == core->late_count && wheels == entry_pool_count(&core->pool));
}
