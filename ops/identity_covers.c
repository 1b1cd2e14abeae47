/* See identity_covers.h. */
#include "ops/identity_covers.h"

#include <string.h>

#include "scheduler/frontier.h"

static struct frontier frontier_of_named(const struct metadata_lane *lanes, uint16_t count, const char *name, struct frontier none)
{
    for (uint16_t i = 0; i < count; i++) {
        if (strcmp(lanes[i].name, name) == 0) {
            return lanes[i].frontier;
        }
    }
    return none;
}

static struct frontier frontier_named(const struct metadata *metadata, const char *name)
{
    return frontier_of_named(metadata->lanes, metadata->lane_count, name, frontier_of(metadata->shared));
}

/* What counts of a lane up to the catch-up boundary: its entry behind it, else the lane's own. */
static struct frontier frontier_behind(const struct metadata *metadata, const char *name)
{
    return frontier_of_named(metadata->behind, metadata->behind_count, name, frontier_named(metadata, name));
}

static bool covers_frontier(struct frontier mine, struct frontier theirs)
{
    bool covers = frontier_covers_pair(&mine, theirs.live);
    for (uint8_t i = 0; covers && i < theirs.old_count; i++) {
        covers = frontier_covers_pair(&mine, theirs.old[i]);
    }
    return covers;
}

/* All that `b` says of this lane is said by `a` too. Between two boundaries one speaks with the frontier of this side and the other with that side's. */
static bool covers_lane(const struct metadata *a, const struct metadata *b, const char *name)
{
    bool covers = covers_frontier(frontier_named(a, name), frontier_named(b, name)) && covers_frontier(frontier_behind(a, name), frontier_behind(b, name));
    bool between = a->behind_count > 0 && b->behind_count > 0 && a->boundary_ms != b->boundary_ms;
    return covers && (!between || (covers_frontier(frontier_named(a, name), frontier_behind(b, name)) &&
                                   covers_frontier(frontier_behind(a, name), frontier_named(b, name))));
}

static bool covers_lanes(const struct metadata *a, const struct metadata *b, const struct metadata_lane *lanes, uint16_t count)
{
    bool all = true;
    for (uint16_t i = 0; all && i < count; i++) {
        all = covers_lane(a, b, lanes[i].name);
    }
    return all;
}

bool identity_covers(const struct metadata *a, const struct metadata *b)
{
    return a->low_offset >= b->low_offset && covers_lane(a, b, "") /* no lane is named so: one that stands at `shared` */
        && covers_lanes(a, b, a->lanes, a->lane_count) && covers_lanes(a, b, b->lanes, b->lane_count)
        && covers_lanes(a, b, a->behind, a->behind_count) && covers_lanes(a, b, b->behind, b->behind_count);
}
