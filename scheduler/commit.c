/* See commit.h. */
#include "scheduler/commit.h"

#include "base/memory.h"
#include "scheduler/catch_up.h"
#include "scheduler/command_list.h"
#include "scheduler/control.h"
#include "scheduler/frontier.h"
#include "scheduler/outcome.h"
#include "scheduler/queue.h"
#include "scheduler/slot.h"
#include "scheduler/steer.h"

static void refresh(const struct core *core, struct slot *slot, struct now now)
{
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        if (slot->queues[lane] != NULL) {
            queue_refresh(slot, slot->queues[lane], now.wall.ms);
            queue_look_ahead(slot, slot->queues[lane], core->options.exactly_once);
        }
    }
    catch_up_pass(slot, now);
}

/* The pair that the others may come to share (none behind a catch-up boundary does, or gives one): the furthest point that our clock has reached (R7; a point from a clock that
 * was ahead stays its own lane's trouble, R1). NULL: there is none. */
static const struct frontier_pair *furthest(const struct slot *slot, struct now now)
{
    const struct frontier_pair *best = NULL;
    for (uint16_t lane = 0; lane < slot->queue_count && lane < LANES_MAX; lane++) {
        const struct queue *queue = slot->queues[lane];
        if (queue == NULL || queue->outlook.live.point.due_ms > now.wall.ms) {
            continue;
        }
        const struct frontier_pair *pair = &queue->outlook.live;
        int order = best == NULL ? 1 : key_compare(pair->point, best->point);
        if (order > 0 || (order == 0 && pair->cut > best->cut)) {
            best = pair;
        }
    }
    return best;
}

static void adopt(struct slot *slot, struct frontier_pair shared)
{
    for (uint16_t lane = 0; lane < slot->queue_count && lane < LANES_MAX; lane++) {
        struct queue *queue = slot->queues[lane];
        if (queue != NULL && !frontier_pair_equal(queue->frontier.live, shared) &&
            queue_is_clear_up_to(queue, shared.point) && frontier_can_adopt(&queue->frontier, shared, NULL)) {
            frontier_adopt(&queue->frontier, shared);
            queue->outlook = queue->frontier;
            queue->taken_point = shared.point;
            if (shared.point.due_ms > wheel_base(&queue->wheel)) {
                wheel_advance(&queue->wheel, shared.point.due_ms);
            }
        }
    }
}

static bool stands_at(const struct frontier *frontier, struct frontier_pair shared)
{
    return frontier->old_count == 0 && frontier_pair_equal(frontier->live, shared);
}

static const struct frontier *chosen(const struct queue *queue, bool committed)
{
    return committed ? &queue->committed : &queue->outlook;
}

static void add_behind(const struct slot *slot, struct partition_frontier *frontier, const struct queue *behind, bool committed)
{
    const struct frontier *mine = chosen(behind, committed);
    if (catch_up_is_apart(slot, mine, chosen(behind->own, committed))) {
        frontier->behind[frontier->behind_count++] = (struct frontier_lane){.lane = behind->lane, .frontier = *mine};
    }
}

/* Fills in `frontier` from one frontier of each queue: as the next commit says it, or as the last one did. A lane that is paused has an entry wherever it stands. */
static void fill(const struct slot *slot, struct partition_frontier *frontier, struct frontier_pair shared, bool committed)
{
    frontier->committed_offset = INT64_MAX;
    frontier->anchor = slot->anchor;
    frontier->shared = shared;
    frontier->lane_count = 0;
    frontier->behind_count = 0;
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        if (slot->queues[lane] == NULL) {
            continue;
        }
        const struct queue *queue = slot->queues[lane];
        const struct frontier *mine = chosen(queue, committed);
        bool paused = committed ? queue->paused_committed : queue->paused;
        if (mine->live.cut < frontier->committed_offset) {
            frontier->committed_offset = mine->live.cut;
        }
        if (queue->own != NULL) {
            add_behind(slot, frontier, queue, committed);
        } else if (paused || !stands_at(mine, shared)) {
            frontier->lanes[frontier->lane_count++] = (struct frontier_lane){.lane = lane, .paused = paused, .frontier = *mine};
        }
    }
    frontier->boundary_ms = frontier->behind_count == 0 ? 0 : slot->boundary_ms;
    if (frontier->committed_offset == INT64_MAX) {
        frontier->committed_offset = shared.cut;
    }
}

void commit_committed_frontier(const struct slot *slot, struct partition_frontier *frontier)
{
    fill(slot, frontier, slot->shared_committed, true);
    frontier->low_offset = slot->low_committed;
    frontier->moving = slot->steer.moving_committed;
}

void commit_make_room(struct core *core)
{
    core->frontier_count = 0;
    if (core->frontier_capacity < core->slot_count) {
        core->frontier_capacity = core->slot_count;
        core->frontier_room = memory_resize(core->frontier_room, core->slot_count, sizeof(*core->frontier_room));
    }
}

static struct marks_proof proof_of(const struct core *core, const struct slot *slot)
{
    return (struct marks_proof){slot->position, slot_decided(core, slot)};
}

static bool has_news(const struct core *core, const struct slot *slot, int64_t low)
{
    bool news = low != slot->low_committed || marks_provable(&slot->marks, proof_of(core, slot));
    news = news || slot->commit_unknown || steer_is_moving(slot) != slot->steer.moving_committed; /* what waits for it to be known must not wait for ever */
    for (uint16_t lane = 0; !news && lane < slot->queue_count; lane++) {
        const struct queue *queue = slot->queues[lane];
        news = queue != NULL && (!frontier_equal(&queue->outlook, &queue->committed) || queue->paused != queue->paused_committed);
    }
    return news;
}

bool commit_is_behind(const struct core *core, struct slot *slot)
{
    refresh(core, slot, core->last);
    return has_news(core, slot, slot_low_offset(slot));
}

static void move_anchor(struct slot *slot)
{
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        const struct queue *queue = slot->queues[lane];
        if (queue != NULL && slot->last_read.offset >= 0 && slot->last_read.offset < queue->outlook.live.cut) {
            slot->anchor = slot->last_read;
            return;
        }
    }
}

/* `always`: also when there is nothing new to say. */
static const struct partition_frontier *build(struct core *core, struct slot *slot, struct now now, int64_t low_least, bool always)
{
    refresh(core, slot, now);
    if (slot->caught_up) {
        dedupe_rest(&slot->dedupe, now.wall.ms);
    }
    const struct frontier_pair *best = slot->caught_up ? furthest(slot, now) : NULL;
    if (best != NULL) {
        slot->shared = *best;
        adopt(slot, slot->shared);
        catch_up_pass(slot, now);
    }
    int64_t low = slot_low_offset(slot);
    slot->commit_at_ms = now.mono.ms + core->options.commit_ms;
    if (!always && !has_news(core, slot, low) && low_least <= low) {
        return NULL;
    }
    struct partition_frontier *frontier = &core->frontier_room[core->frontier_count++];
    move_anchor(slot);
    slot->low_offset = low;
    slot->low_committing = low > low_least ? low : low_least;
    slot->proving = proof_of(core, slot);
    fill(slot, frontier, slot->shared, false);
    frontier->low_offset = slot->low_committing;
    frontier->moving = steer_is_moving(slot);
    slot->steer.moving_committing = frontier->moving;
    slot->lanes_apart = (uint16_t)(frontier->lane_count + frontier->behind_count);
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        if (slot->queues[lane] != NULL) {
            slot->queues[lane]->committing = slot->queues[lane]->outlook;
            slot->queues[lane]->paused_committing = slot->queues[lane]->paused;
        }
    }
    slot->commit_under_way = true;
    return frontier;
}

const struct partition_frontier *commit_build(struct core *core, struct slot *slot, struct now now, int64_t low_least)
{
    return build(core, slot, now, low_least, false);
}

const struct partition_frontier *commit_build_all(struct core *core, struct slot *slot, struct now now)
{
    return build(core, slot, now, slot->low_offset, true);
}

/* Where reading has stopped another topic stands now: its offsets are not ours to commit. The checkpoint alone keeps the progress (R8). */
static void commit(struct core *core, struct slot *slot, struct now now)
{
    const struct partition_frontier *frontier = commit_build(core, slot, now, slot->low_offset);
    if (frontier == NULL) {
        return;
    }
    if (slot->reading_stopped) {
        commit_answered(core, slot, COMMIT_ACKNOWLEDGED);
    } else {
        command_list_add(&core->commands, COMMAND_COMMIT, slot)->as.frontier = frontier;
    }
}

bool commit_may(const struct core *core, const struct slot *slot, struct now now)
{
    bool hurry = core->stopping || slot->leaving;
    return !slot->commit_under_way && (hurry || now.mono.ms >= slot->commit_at_ms);
}

void commit_turn(struct core *core, struct now now)
{
    for (uint32_t i = 0; i < core->slot_count && !core->options.exactly_once; i++) {
        if (core->slots[i] != NULL && commit_may(core, core->slots[i], now)) {
            commit(core, core->slots[i], now);
        }
    }
}

void commit_answered(struct core *core, struct slot *slot, enum commit_result result)
{
    if (!slot->commit_under_way) {
        return;
    }
    slot->commit_under_way = false;
    if (result != COMMIT_ACKNOWLEDGED) {
        /* An aborted transaction is surely not there; a plain commit may be, and what it said was true. */
        slot->low_offset = slot->in_transaction ? slot->low_committed : slot->low_offset;
        slot->shared = slot->in_transaction ? slot->shared_committed : slot->shared;
        return;
    }
    slot->low_committed = slot->low_committing;
    slot->shared_committed = slot->shared;
    slot->low_offset = slot->low_committed > slot->low_offset ? slot->low_committed : slot->low_offset;
    slot->text_behind = true;
    slot->steer.moving_committed = slot->steer.moving_committing;
    slot->decided = slot->proving.decided;
    outcome_proved(core, slot);
    dedupe_committed(&slot->dedupe, slot->low_committed);
    slot->unsaved = slot->unsaved || slot->reading_stopped;
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        if (slot->queues[lane] != NULL) {
            slot->queues[lane]->committed = slot->queues[lane]->committing;
            slot->queues[lane]->paused_committed = slot->queues[lane]->paused_committing;
        }
    }
    slot_compact(core, slot);
}

int64_t commit_deadline(const struct core *core, struct slot *slot)
{
    bool blocked = slot->commit_under_way || (core->options.exactly_once && core->transaction.state != TRANSACTION_NONE);
    int64_t not_before_ms = core->options.exactly_once ? core->transaction.not_before_ms : INT64_MIN;
    if (blocked || !commit_is_behind(core, slot)) {
        return TIME_NEVER;
    }
    return slot->commit_at_ms > not_before_ms ? slot->commit_at_ms : not_before_ms;
}
