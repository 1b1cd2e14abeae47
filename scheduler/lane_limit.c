/* See lane_limit.h. */
#include "scheduler/lane_limit.h"

#include "scheduler/frontier.h"
#include "scheduler/queue.h"

#define ONE UINT64_C(1000) /* a delivery, in thousandths: a rate of N a second gives N of these in a millisecond */
#define BURST_MS 100u

void lane_limit_pause(struct core *core, struct slot *slot, const struct input_lane_pause *input)
{
    if (input->lane < core->lane_count) {
        struct frontier fresh = frontier_fresh(slot->position);
        queue_get(core, slot, input->lane, &fresh)->paused = input->paused;
    }
}

void lane_limit_gain(struct slot *slot, const struct input_slot_gained *gained)
{
    for (uint16_t i = 0; i < gained->frontier.lane_count; i++) {
        const struct frontier_lane *lane = &gained->frontier.lanes[i];
        struct queue *queue = lane->lane < slot->queue_count ? slot->queues[lane->lane] : NULL;
        if (queue != NULL) {
            queue->paused = lane->paused;
            queue->paused_committing = lane->paused;
            queue->paused_committed = lane->paused;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------- the rate */

static uint64_t burst(const struct core *core, lane_index lane)
{
    uint64_t credit = (uint64_t)core->lanes[lane].rate_per_s * BURST_MS / ONE * ONE;
    return credit < ONE ? ONE : credit;
}

void lane_limit_begin(struct core *core, lane_index lane)
{
    uint32_t rate = core->lanes[lane].rate_per_s;
    if (rate != core->lane_tokens[lane].rate_per_s) {
        core->lane_tokens[lane] = (struct lane_tokens){burst(core, lane), core->last.mono.ms, rate};
    }
}

/* Time beyond what fills an empty bucket gives nothing, so no product is greater than rate x (burst + 1) ms. */
static void fill(struct core *core, lane_index lane, struct now now)
{
    struct lane_tokens *tokens = &core->lane_tokens[lane];
    uint64_t rate = core->lanes[lane].rate_per_s;
    uint64_t most = burst(core, lane);
    uint64_t elapsed_ms = now.mono.ms > tokens->at_ms ? (uint64_t)now.mono.ms - (uint64_t)tokens->at_ms : 0;
    uint64_t given = elapsed_ms > most / rate ? most : elapsed_ms * rate;
    tokens->credit = tokens->credit + given < most ? tokens->credit + given : most;
    tokens->at_ms = now.mono.ms;
}

void lane_limit_turn(struct core *core, struct now now)
{
    for (lane_index lane = 0; lane < core->lane_count; lane++) {
        if (core->lanes[lane].rate_per_s > 0) {
            fill(core, lane, now);
        }
    }
}

uint32_t lane_limit_admits(const struct core *core, lane_index lane)
{
    return core->lanes[lane].rate_per_s == 0 ? UINT32_MAX : (uint32_t)(core->lane_tokens[lane].credit / ONE);
}

void lane_limit_spend(struct core *core, lane_index lane)
{
    if (core->lanes[lane].rate_per_s > 0) {
        struct lane_tokens *tokens = &core->lane_tokens[lane];
        tokens->credit = tokens->credit > ONE ? tokens->credit - ONE : 0;
    }
}

int64_t lane_limit_next_at(const struct core *core, lane_index lane)
{
    const struct lane_tokens *tokens = &core->lane_tokens[lane];
    uint64_t rate = core->lanes[lane].rate_per_s;
    uint64_t missing = tokens->credit < ONE ? ONE - tokens->credit : 0;
    return tokens->at_ms + (int64_t)((missing + rate - 1) / rate);
}
