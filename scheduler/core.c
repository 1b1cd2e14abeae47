/* The step: facts in, decisions out. What each decision is about lives in the file named after it. */
#include "scheduler/core.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "scheduler/catch_up.h"
#include "scheduler/checkpoint_plan.h"
#include "scheduler/command_list.h"
#include "scheduler/commit.h"
#include "scheduler/control.h"
#include "scheduler/copy_forward.h"
#include "scheduler/core_state.h"
#include "scheduler/decide.h"
#include "scheduler/delivery.h"
#include "scheduler/lane_limit.h"
#include "scheduler/outcome.h"
#include "scheduler/postpone.h"
#include "scheduler/queue.h"
#include "scheduler/reappend.h"
#include "scheduler/slot.h"
#include "scheduler/steer.h"
#include "scheduler/transaction.h"
#include "scheduler/window.h"

#define CLOCK_STEP_MS 1000

struct core *core_new(const struct core_options *options)
{
    struct core *core = memory_new(1, sizeof(*core));
    core->options = *options;
    core->pool = entry_pool_new();
    core->transaction.limit = options->transaction_records_max;
    core->deciding_lane = LANES_MAX;
    return core;
}

void core_free(struct core *core)
{
    if (core == NULL) {
        return;
    }
    for (uint32_t i = 0; i < core->slot_count; i++) {
        if (core->slots[i] != NULL) {
            slot_lose(core, core->slots[i]);
        }
    }
    free(core->slots);
    checkpoint_plan_free(core);
    transaction_free(core);
    command_list_free(&core->commands);
    command_list_free(&core->told);
    free(core->frontier_room);
    entry_pool_free(&core->pool);
    free(core);
}

lane_index core_lane_add(struct core *core, const struct core_lane_options *options)
{
    assert(core->lane_count < LANES_MAX);
    assert(!options->decides || core->deciding_lane == LANES_MAX);
    core->deciding_lane = options->decides ? core->lane_count : core->deciding_lane;
    core->lanes[core->lane_count] = *options;
    lane_limit_begin(core, core->lane_count);
    return core->lane_count++;
}

void core_lane_change(struct core *core, lane_index lane, const struct core_lane_options *options)
{
    assert(lane < core->lane_count && options->decides == core->lanes[lane].decides);
    core->lanes[lane] = *options;
    lane_limit_begin(core, lane);
}

/* Counts steps of the wall clock: it should advance as the monotonic one does. */
static void look_at_clock(struct core *core, struct now now)
{
    int64_t wall = now.wall.ms - core->last.wall.ms;
    int64_t mono = now.mono.ms - core->last.mono.ms;
    if (core->stepped && wall - mono > CLOCK_STEP_MS) {
        core->stats.clock_steps_forward++;
    } else if (core->stepped && mono - wall > CLOCK_STEP_MS) {
        core->stats.clock_steps_back++;
    }
    core->last = now;
    core->stepped = true;
}

static void take_rows(struct core *core, struct slot *slot, const struct input_rows *rows)
{
    if (rows->purpose == SCAN_COPY) {
        copy_forward_rows(core, slot, rows);
    } else {
        window_rows(core, slot, catch_up_bucket_queue(slot, rows->bucket), rows);
    }
}

static void slot_input(struct core *core, struct slot *slot, const struct input *input, struct now now)
{
    switch (input->kind) {
    case INPUT_SLOT_LEAVING:
        slot->leaving = true;
        slot->postpone.wait_ms = 0;
        break;
    case INPUT_SLOT_LOST:
        slot_lose(core, slot);
        break;
    case INPUT_RECORD:
        slot_record(core, slot, &input->as.record);
        break;
    case INPUT_POSITION:
        slot_position(slot, input->as.position.offset);
        break;
    case INPUT_READING_STOPPED:
        slot->reading_stopped = true;
        postpone_stop(core, slot);
        outcome_stop(core, slot);
        slot_look_caught_up(slot);
        break;
    case INPUT_DELIVERED:
    case INPUT_DELIVERY_FAILED:
    case INPUT_SINK_FULL:
        delivery_report(core, slot, input->kind, &input->as.delivery, now);
        break;
    case INPUT_ROWS:
        take_rows(core, slot, &input->as.rows);
        break;
    case INPUT_COMMIT_DONE:
        slot->commit_unknown = input->as.commit == COMMIT_FAILED;
        commit_answered(core, slot, input->as.commit);
        break;
    case INPUT_RETENTION:
        copy_forward_below(slot, input->as.retention.offset);
        break;
    case INPUT_REAPPENDED:
        reappend_note(core, slot, &input->as.reappended);
        break;
    case INPUT_STEER:
        steer_take(core, slot, &input->as.steer);
        break;
    case INPUT_LANE_PAUSE:
        lane_limit_pause(core, slot, &input->as.lane_pause);
        break;
    case INPUT_SLOT_GAINED:
    case INPUT_SINK_ROOM:
    case INPUT_CHECKPOINT_DONE:
    case INPUT_TRANSACTION_DONE:
    case INPUT_STOP:
        break;
    }
}

/* A record of a slot that was lost still brings a ref, which is released; and whoever asks is answered. */
static void orphan_input(struct core *core, const struct input *input)
{
    if (input->kind == INPUT_RECORD && input->as.record.ref != 0) {
        command_list_release(&core->commands, input->as.record.ref);
    } else if (input->kind == INPUT_STEER) {
        steer_refuse(core, input);
    }
}

static void take_input(struct core *core, const struct input *input, struct now now)
{
    if (input->kind == INPUT_SLOT_GAINED) {
        slot_gain(core, input->slot, input->as.gained, now);
    } else if (input->kind == INPUT_SINK_ROOM) {
        core->sink_full = false;
    } else if (input->kind == INPUT_CHECKPOINT_DONE) {
        checkpoint_plan_answered(core, &input->as.checkpoint, now);
    } else if (input->kind == INPUT_TRANSACTION_DONE) {
        transaction_answered(core, &input->as.transaction, now);
    } else if (input->kind == INPUT_STOP) {
        core->stopping = true;
        for (uint32_t i = 0; i < core->slot_count; i++) {
            if (core->slots[i] != NULL) {
                core->slots[i]->postpone.wait_ms = 0; /* what was aborted lately is tried once more: there is no later */
            }
        }
    } else {
        struct slot *slot = slot_find(core, input->slot, input->epoch);
        if (slot != NULL) {
            slot_input(core, slot, input, now);
        } else {
            orphan_input(core, input);
        }
    }
}

enum decision core_decide(struct core *core, slot_index index, uint32_t epoch, struct record_id id, int64_t root, const struct stored_event *found)
{
    return decide_conditional(core, index, epoch, id, root, found);
}

static void extend_windows(struct core *core, struct now now)
{
    for (uint32_t i = 0; i < core->slot_count; i++) {
        struct slot *slot = core->slots[i];
        for (uint16_t lane = 0; slot != NULL && lane < slot->queue_count; lane++) {
            if (slot->queues[lane] != NULL) {
                window_extend(core, slot, slot->queues[lane], now);
            }
        }
    }
}

static bool is_in_flight(const struct core *core, const struct slot *slot)
{
    bool in_flight = slot->commit_under_way || transaction_holds(core, slot) || postpone_is_owed(core, slot);
    for (uint16_t lane = 0; lane < slot->queue_count && !in_flight; lane++) {
        in_flight = slot->queues[lane] != NULL && slot->queues[lane]->taken.sent > 0;
    }
    return in_flight;
}

/* A slot that is to be given up has nothing more to say when nothing is in flight and its last commit was answered. */
static void look_leaving(struct core *core)
{
    for (uint32_t i = 0; i < core->slot_count; i++) {
        struct slot *slot = core->slots[i];
        bool unsaved = slot != NULL && slot->reading_stopped && (slot->unsaved || core->checkpoint.under_way);
        if (slot != NULL && slot->leaving && !slot->left && !unsaved && !is_in_flight(core, slot) && !commit_is_behind(core, slot)) {
            slot->left = true;
            command_list_add(&core->commands, COMMAND_SLOT_LEFT, slot);
        }
    }
}

static void look_stopped(struct core *core)
{
    bool busy = !core->stopping || core->stopped || checkpoint_plan_is_behind(core);
    for (uint32_t i = 0; i < core->slot_count && !busy; i++) {
        busy = core->slots[i] != NULL && (is_in_flight(core, core->slots[i]) || commit_is_behind(core, core->slots[i]));
    }
    if (!busy) {
        core->stopped = true;
        command_list_add(&core->commands, COMMAND_STOPPED, NULL);
    }
}

struct commands core_step(struct core *core, struct now now, const struct input *inputs, size_t count)
{
    command_list_take(&core->commands, &core->told);
    core->more = false;
    core->stats.steps++;
    look_at_clock(core, now);
    for (size_t i = 0; i < count; i++) {
        take_input(core, &inputs[i], now);
    }
    lane_limit_turn(core, now);
    catch_up_turn(core, now);
    extend_windows(core, now);
    window_trim(core);
    commit_make_room(core);
    transaction_copy_turn(core, now);
    bool hungry = delivery_turn(core, now);
    core->more = core->more || hungry;
    copy_forward_turn(core, now);
    checkpoint_plan_turn(core, now);
    transaction_turn(core, now, hungry);
    steer_turn(core);
    commit_turn(core, now);
    slot_pressure(core);
    look_leaving(core);
    look_stopped(core);
    return (struct commands){core->commands.items, core->commands.count, core->commands.releases,
                             core->commands.release_count};
}

static void add_wall(struct core_deadline *deadline, int64_t wall_ms)
{
    deadline->wall.ms = wall_ms < deadline->wall.ms ? wall_ms : deadline->wall.ms;
}

static void add_mono(struct core_deadline *deadline, int64_t mono_ms)
{
    deadline->mono.ms = mono_ms < deadline->mono.ms ? mono_ms : deadline->mono.ms;
}

static void slot_deadline(const struct core *core, struct slot *slot, struct core_deadline *deadline)
{
    add_mono(deadline, commit_deadline(core, slot));
    add_mono(deadline, copy_forward_deadline(core, slot));
    add_mono(deadline, steer_deadline(core, slot));
    add_wall(deadline, catch_up_boundary_deadline(slot, core->last.wall.ms));
    for (uint16_t lane = 0; lane < slot->queue_count; lane++) {
        struct queue *queue = slot->queues[lane];
        if (queue == NULL) {
            continue;
        }
        add_wall(deadline, window_deadline(core, queue));
        add_wall(deadline, queue_next_pass(queue, core->last.wall.ms));
        add_mono(deadline, delivery_retry_at(queue));
        add_mono(deadline, postpone_deadline(core, slot, queue));
        add_mono(deadline, delivery_rate_at(core, slot, queue));
        add_mono(deadline, catch_up_rate_deadline(core, queue));
        add_wall(deadline, delivery_next_due(core, slot, queue));
    }
}

struct core_deadline core_next_deadline(const struct core *core)
{
    if (core->more || core->told.count > 0) {
        return (struct core_deadline){{TIME_NEVER}, {INT64_MIN}};
    }
    struct core_deadline deadline = checkpoint_plan_deadline(core);
    add_mono(&deadline, transaction_deadline(core));
    for (uint32_t i = 0; i < core->slot_count; i++) {
        if (core->slots[i] != NULL) {
            slot_deadline(core, core->slots[i], &deadline);
        }
    }
    return deadline;
}
