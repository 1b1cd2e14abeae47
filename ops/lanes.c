/* See lanes.h. */
#include "ops/lanes.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_IN_FLIGHT 10000
#define IN_FLIGHT_BYTES ((uint64_t)32 << 20) /* of one lane, in librdkafka's queue */

static void add(struct lanes *lanes, const char *name)
{
    snprintf(lanes->names[lanes->count++], sizeof(lanes->names[0]), "%s", name);
}

void lanes_init(struct lanes *lanes, const struct config *config)
{
    lanes->count = 0;
    add(lanes, LANES_DEFAULT_NAME);
    add(lanes, LANES_REFUSED_NAME);
    add(lanes, LANES_UNDECIDED_NAME);
    for (size_t i = 0; i < config->target_count && lanes->count < LANES_MAX; i++) {
        add(lanes, config->targets[i].name);
    }
    lanes->configured = lanes->count;
}

bool lanes_find(const struct lanes *lanes, const char *name, lane_index *lane)
{
    for (uint16_t i = 0; i < lanes->count; i++) {
        if (strcmp(lanes->names[i], name) == 0) {
            *lane = i;
            return true;
        }
    }
    return false;
}

bool lanes_add(struct lanes *lanes, const char *name, lane_index *lane, struct error *error)
{
    if (lanes->count == LANES_MAX) {
        return error_set(error, ERROR_FULL,
                         "no room for the retired lane \"%s\": %d lanes are the most; put its entry back into targets until it is empty",
                         name, LANES_MAX);
    }
    *lane = lanes->count;
    add(lanes, name);
    return true;
}

struct core_lane_options lanes_options(const struct lanes *lanes, const struct config *config, lane_index lane)
{
    struct core_lane_options options = {.max_in_flight = DEFAULT_IN_FLIGHT,
                                        .max_in_flight_bytes = IN_FLIGHT_BYTES,
                                        .decides = lane == LANES_UNDECIDED,
                                        .catches_up = lane != LANES_REFUSED && lane != LANES_UNDECIDED};
    if (lane >= LANES_BUILT_IN && lane < lanes->configured) {
        const struct config_target *target = &config->targets[lane - LANES_BUILT_IN];
        options.max_in_flight = (uint32_t)target->max_in_flight;
        options.rate_per_s = target->rate_per_s;
    }
    return options;
}

void lanes_metadata(const struct lanes *lanes, const struct partition_frontier *frontier, struct metadata *metadata)
{
    metadata->low_offset = frontier->low_offset;
    metadata->anchor = frontier->anchor;
    metadata->moving = frontier->moving;
    metadata->shared = frontier->shared;
    metadata->lane_count = frontier->lane_count;
    for (uint16_t i = 0; i < frontier->lane_count; i++) {
        struct metadata_lane *to = &metadata->lanes[i];
        memcpy(to->name, lanes->names[frontier->lanes[i].lane], sizeof(to->name));
        to->paused = frontier->lanes[i].paused;
        to->frontier = frontier->lanes[i].frontier;
    }
    metadata->boundary_ms = frontier->boundary_ms;
    metadata->behind_count = frontier->behind_count;
    for (uint16_t i = 0; i < frontier->behind_count; i++) {
        struct metadata_lane *to = &metadata->behind[i];
        memcpy(to->name, lanes->names[frontier->behind[i].lane], sizeof(to->name));
        to->frontier = frontier->behind[i].frontier;
    }
}

void lanes_frontier(const struct lanes *lanes, const struct metadata *metadata, struct partition_frontier *frontier)
{
    frontier->committed_offset = metadata->shared.cut;
    frontier->low_offset = metadata->low_offset;
    frontier->anchor = metadata->anchor;
    frontier->moving = metadata->moving;
    frontier->shared = metadata->shared;
    frontier->lane_count = 0;
    for (uint16_t i = 0; i < metadata->lane_count; i++) {
        lane_index lane;
        if (lanes_find(lanes, metadata->lanes[i].name, &lane)) {
            frontier->lanes[frontier->lane_count++] =
                (struct frontier_lane){.lane = lane, .paused = metadata->lanes[i].paused, .frontier = metadata->lanes[i].frontier};
        }
    }
    frontier->boundary_ms = metadata->boundary_ms;
    frontier->behind_count = 0;
    for (uint16_t i = 0; i < metadata->behind_count; i++) {
        lane_index lane;
        if (lanes_find(lanes, metadata->behind[i].name, &lane)) {
            frontier->behind[frontier->behind_count++] = (struct frontier_lane){.lane = lane, .frontier = metadata->behind[i].frontier};
        }
    }
}
