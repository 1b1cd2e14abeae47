/* See catch_up.h. */
#include "scheduler/catch_up.h"

#include "scheduler/bucket_table.h"
#include "scheduler/queue.h"

#define CREDIT_OF_ONE 1000 /* so that a millisecond's worth is the rate itself */
#define BURST_MS 100
#define PAIRS_OF_ONE 2u    /* an entry is not longer than two old pairs */

/* ------------------------------------------------------------------------------------------------- the beginning */

static struct key end_of(const struct slot *slot)
{
    return (struct key){slot->boundary_ms, INT64_MAX};
}

/* What is due up to the boundary is none of the lane's own business any more, so its point may stand there. */
static void raise(struct queue *queue, struct key floor)
{
    queue->floor = floor;
    frontier_advance(&queue->frontier, floor, queue->frontier.live.cut);
    queue->outlook = queue->frontier;
    queue->committing = queue->frontier;
    queue->committed = queue->frontier;
    queue->taken_point = queue->frontier.live.point;
    queue->loaded = floor;
}

static void add(struct core *core, struct slot *slot, lane_index lane, const struct frontier *frontier)
{
    struct queue *own = slot->queues[lane];
    struct queue *behind = queue_get(core, slot, (lane_index)(LANES_MAX + lane), frontier);
    behind->own = own;
    behind->ceiling_ms = slot->boundary_ms;
    behind->taken.first_sequence = SEQUENCE_BEHIND;
    raise(own, end_of(slot));
    slot->behind_count++;
    core->behind_total++;
    if (frontier->live.cut > slot->catch_up_to) {
        slot->catch_up_to = frontier->live.cut;
    }
}

static bool has_room(const struct core *core, const struct slot *slot)
{
    uint32_t pairs = 1 + PAIRS_OF_ONE * (slot->behind_count + 1U); /* 1: the boundary itself */
    for (lane_index lane = 0; lane < slot->queue_count && lane < LANES_MAX; lane++) {
        pairs += slot->queues[lane] == NULL ? 0 : slot->queues[lane]->frontier.old_count;
    }
    return slot->behind_count < CATCH_UP_MAX && pairs <= core->options.old_pairs_max;
}

/* A lane that has fired beyond the boundary has caught up; one with old pairs has seen its clock go wrong, and sorts that out first. */
static bool may_split(const struct core *core, const struct slot *slot, lane_index lane)
{
    const struct queue *queue = slot->queues[lane];
    return core->lanes[lane].catches_up && !core->lanes[lane].decides && slot->queues[LANES_MAX + lane] == NULL && queue->frontier.old_count == 0 &&
           key_compare(queue->frontier.live.point, end_of(slot)) < 0 && has_room(core, slot);
}

static bool has_overdue(const struct input_slot_gained *gained, lane_index lane, int64_t boundary_ms)
{
    bool found = false;
    for (size_t i = 0; i < gained->bucket_count && !found; i++) {
        found = gained->buckets[i].id.lane == lane && bucket_start_ms(gained->buckets[i].id) <= boundary_ms;
    }
    return found;
}

/* The last ms before the finest bucket that holds now: what is due from now on is beyond it, and the clock is too. Where there is not room for all lanes,
 * those that are known to have something overdue come first. */
static void begin(struct core *core, struct slot *slot, const struct input_slot_gained *gained, struct now now)
{
    int64_t boundary_ms = now.wall.ms < 0 ? 0 : bucket_start_ms(bucket_of(0, 0, now.wall.ms)) - 1;
    if (boundary_ms <= 0) {
        return;
    }
    slot->boundary_ms = boundary_ms;
    for (int pass = 0; pass < 2; pass++) {
        for (lane_index lane = 0; lane < core->lane_count; lane++) {
            struct frontier frontier = slot->queues[lane]->frontier;
            if ((pass == 1 || has_overdue(gained, lane, boundary_ms)) && may_split(core, slot, lane)) {
                add(core, slot, lane, &frontier);
            }
        }
    }
    slot->boundary_ms = slot->behind_count == 0 ? 0 : boundary_ms;
}

void catch_up_gain(struct core *core, struct slot *slot, const struct input_slot_gained *gained, struct now now)
{
    const struct partition_frontier *frontier = &gained->frontier;
    if (frontier->behind_count > 0) {
        slot->boundary_ms = frontier->boundary_ms;
        for (uint16_t i = 0; i < frontier->behind_count; i++) {
            add(core, slot, frontier->behind[i].lane, &frontier->behind[i].frontier);
        }
    } else if (core->options.catch_up_per_s > 0) {
        begin(core, slot, gained, now);
    }
}

/* ------------------------------------------------------------------------------------------------------ its run */

int64_t catch_up_read_to(const struct slot *slot, const struct queue *queue)
{
    int64_t needed = slot->position;
    if (queue->own != NULL) {
        int64_t own = queue->own->frontier.live.cut;
        needed = own > queue->taken_end ? own : queue->taken_end;
    }
    return needed < slot->position ? needed : slot->position;
}

bool catch_up_admits(const struct core *core, const struct queue *queue)
{
    if (queue->own == NULL) {
        return true;
    }
    uint32_t in_flight = core->options.exactly_once ? core->lane_sent[queue->index] : core->lane_taken[queue->index];
    bool room = in_flight == 0 || in_flight < core->lanes[queue->lane].max_in_flight / 2;
    return room && (core->options.catch_up_per_s == 0 || core->catch_up.credit >= CREDIT_OF_ONE);
}

void catch_up_taken(struct core *core, struct queue *queue, struct key key)
{
    if (queue->own != NULL) {
        queue->taken_end = key.offset >= queue->taken_end ? key.offset + 1 : queue->taken_end;
        core->catch_up.credit -= core->options.catch_up_per_s == 0 ? 0 : CREDIT_OF_ONE;
    }
}

static void refill(struct core *core, struct now now)
{
    struct catch_up *catch_up = &core->catch_up;
    int64_t rate = core->options.catch_up_per_s;
    int64_t most = rate * BURST_MS > CREDIT_OF_ONE ? rate * BURST_MS : CREDIT_OF_ONE;
    int64_t ms = now.mono.ms - catch_up->refilled_ms;
    catch_up->refilled_ms = now.mono.ms;
    catch_up->credit = rate == 0 || ms >= most / rate ? most : catch_up->credit + ms * rate;
    catch_up->credit = catch_up->credit < most ? catch_up->credit : most;
}

uint32_t catch_up_pairs(const struct slot *slot)
{
    return slot->behind_count == 0 ? 0 : 1 + PAIRS_OF_ONE * slot->behind_count;
}

/* ------------------------------------------------------------------------------------------------------ its end */

/* Of the two frontiers one says ((B, greatest), cut) and the other a point beyond B with the same cut: of what is due up to B they say the same. An own
 * point is never below B while there is a queue behind (raise, start_over), and old pairs of the one behind are within its live one then. */
bool catch_up_is_apart(const struct slot *slot, const struct frontier *behind, const struct frontier *own)
{
    return key_compare(behind->live.point, end_of(slot)) < 0 || behind->live.cut != own->live.cut;
}

/* Nothing that was read, or that the checkpoint held, and that is due up to the boundary is pending: the point may stand at its end, as after the last
 * bucket (queue.c), and the cut with the lane's own, which is nowhere beyond what was read. */
void catch_up_pass(const struct slot *slot, struct now now)
{
    bool known = slot->caught_up && slot->boundary_ms <= now.wall.ms; /* what the clock has not passed may still have to wait */
    for (uint16_t i = LANES_MAX; i < slot->queue_count && known; i++) {
        struct queue *behind = slot->queues[i];
        if (behind != NULL && behind->own->outlook.live.cut <= slot->position && queue_is_clear_up_to(behind, end_of(slot))) {
            frontier_advance(&behind->frontier, end_of(slot), behind->own->outlook.live.cut);
            behind->outlook = behind->frontier;
            behind->taken_point = end_of(slot);
        }
    }
}

/* F as Kafka has it names no such queue: the lane's own frontier speaks for all of the lane there. It may here too when nothing is left of the one behind
 * and the own cut has reached its: every record due up to B that is done then has an offset below that cut, so F covers it, and all others are yet to be read. */
static bool may_end(const struct core *core, const struct slot *slot, struct queue *behind, struct now now)
{
    bool quiet = !slot->commit_under_way && !behind->scan.active && !behind->scan.waiting && behind->scan.ignore == 0 &&
                 (core->transaction.state == TRANSACTION_NONE || core->transaction.alone != behind);
    if (!quiet || !slot->caught_up || catch_up_is_apart(slot, &behind->committed, &behind->own->committed) ||
        !queue_is_clear_up_to(behind, end_of(slot))) {
        return false;
    }
    queue_refresh(slot, behind->own, now.wall.ms);
    int64_t own = behind->own->frontier.live.cut;
    return behind->frontier.live.cut <= own && behind->taken_end <= own;
}

static void end(struct core *core, struct slot *slot, struct queue *behind)
{
    struct queue *own = behind->own;
    for (int level = 0; level < BUCKET_LEVELS; level++) {
        for (uint32_t i = 0; i < behind->buckets.levels[level].count; i++) {
            bucket_table_set(&own->buckets, &behind->buckets.levels[level].items[i]);
        }
    }
    own->pending += behind->pending;
    own->pending_bytes += behind->pending_bytes;
    own->counted = key_compare(behind->counted, own->counted) > 0 ? behind->counted : own->counted;
    own->floor = KEY_LEAST;
    core->transaction.alone = core->transaction.alone == behind ? NULL : core->transaction.alone;
    slot->queues[behind->index] = NULL;
    slot->behind_count--;
    core->behind_total--;
    queue_free(core, behind);
    while (slot->queue_count > 0 && slot->queues[slot->queue_count - 1] == NULL) {
        slot->queue_count--;
    }
    slot->boundary_ms = slot->behind_count == 0 ? 0 : slot->boundary_ms;
}

void catch_up_turn(struct core *core, struct now now)
{
    if (core->behind_total == 0) {
        return;
    }
    refill(core, now);
    for (uint32_t s = 0; s < core->slot_count; s++) {
        struct slot *slot = core->slots[s];
        for (uint16_t i = slot == NULL ? 0 : slot->queue_count; i-- > LANES_MAX;) {
            if (i < slot->queue_count && slot->queues[i] != NULL && may_end(core, slot, slot->queues[i], now)) {
                end(core, slot, slot->queues[i]);
            }
        }
    }
}

int64_t catch_up_rate_deadline(const struct core *core, const struct queue *queue)
{
    int64_t rate = core->options.catch_up_per_s;
    int64_t missing = CREDIT_OF_ONE - core->catch_up.credit;
    bool waits = queue->own != NULL && rate > 0 && missing > 0; /* even with nothing in memory: what had no room there is loaded when it may be taken */
    return waits ? core->catch_up.refilled_ms + (missing + rate - 1) / rate : TIME_NEVER;
}

int64_t catch_up_boundary_deadline(const struct slot *slot, int64_t wall_ms)
{
    return slot->boundary_ms > wall_ms ? slot->boundary_ms : TIME_NEVER;
}
