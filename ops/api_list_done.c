/* See api_list_done.h. */
#include "ops/api_list_done.h"

#include <string.h>

#include "scheduler/bucket.h"
#include "scheduler/frontier.h"

static const struct frontier *entry_of(const struct metadata_lane *lanes, uint16_t count, const char *lane)
{
    for (uint16_t i = 0; i < count; i++) {
        if (strcmp(lanes[i].name, lane) == 0) {
            return &lanes[i].frontier;
        }
    }
    return NULL;
}

struct api_list_done api_list_done_of(const struct metadata *metadata, const char *lane)
{
    if (metadata == NULL) {
        return (struct api_list_done){.own = frontier_fresh(0)};
    }
    const struct frontier *own = entry_of(metadata->lanes, metadata->lane_count, lane);
    const struct frontier *behind = entry_of(metadata->behind, metadata->behind_count, lane);
    return (struct api_list_done){.low_offset = metadata->low_offset,
                                  .boundary_ms = metadata->boundary_ms,
                                  .has_behind = behind != NULL,
                                  .own = own != NULL ? *own : frontier_of(metadata->shared),
                                  .behind = behind != NULL ? *behind : frontier_fresh(0)};
}

bool api_list_done_row(const struct api_list_done *done, int64_t offset, int64_t due_ms)
{
    const struct frontier *frontier = done->has_behind && due_ms <= done->boundary_ms ? &done->behind : &done->own;
    return offset < done->low_offset || frontier_done(frontier, offset, due_ms);
}

bool api_list_done_bucket(const struct api_list_done *done, const struct bucket_stats *stats)
{
    if (stats->count == 0 || stats->last_offset < done->low_offset) {
        return true;
    }
    if (!done->has_behind || bucket_start_ms(stats->id) > done->boundary_ms) {
        return frontier_bucket_done(&done->own, stats);
    }
    return bucket_last_ms(stats->id) <= done->boundary_ms && frontier_bucket_done(&done->behind, stats);
}
