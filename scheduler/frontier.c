/* The frontier's arithmetic: see frontier.h. */
#include "scheduler/frontier.h"

#include <assert.h>

struct frontier frontier_fresh(int64_t offset)
{
    return frontier_of((struct frontier_pair){KEY_LEAST, offset});
}

struct frontier frontier_of(struct frontier_pair pair)
{
    return (struct frontier){.live = pair};
}

static bool pair_done(struct frontier_pair pair, int64_t offset, int64_t due_ms)
{
    return offset < pair.cut && key_compare((struct key){due_ms, offset}, pair.point) <= 0;
}

/* True when `pair` says all that `other` says. */
static bool pair_includes(struct frontier_pair pair, struct frontier_pair other)
{
    return pair.cut >= other.cut && key_compare(pair.point, other.point) >= 0;
}

bool frontier_done(const struct frontier *frontier, int64_t offset, int64_t due_ms)
{
    bool done = pair_done(frontier->live, offset, due_ms);
    for (size_t i = 0; !done && i < frontier->old_count; i++) {
        done = pair_done(frontier->old[i], offset, due_ms);
    }
    return done;
}

bool frontier_covers_point(const struct frontier *frontier, struct key point)
{
    return key_compare(frontier->live.point, point) >= 0;
}

bool frontier_covers_pair(const struct frontier *frontier, struct frontier_pair pair)
{
    bool covered = pair_includes(frontier->live, pair);
    for (size_t i = 0; !covered && i < frontier->old_count; i++) {
        covered = pair_includes(frontier->old[i], pair);
    }
    return covered;
}

static void drop_included(struct frontier *frontier)
{
    uint8_t kept = 0;
    for (uint8_t i = 0; i < frontier->old_count; i++) {
        if (!pair_includes(frontier->live, frontier->old[i])) {
            frontier->old[kept++] = frontier->old[i];
        }
    }
    frontier->old_count = kept;
}

void frontier_advance(struct frontier *frontier, struct key point, int64_t cut)
{
    if (key_compare(point, frontier->live.point) > 0) {
        frontier->live.point = point;
    }
    if (cut > frontier->live.cut) {
        frontier->live.cut = cut;
    }
    drop_included(frontier);
}

bool frontier_step_back(struct frontier *frontier)
{
    if (key_compare(frontier->live.point, KEY_LEAST) == 0) {
        return true; /* it says nothing: there is nothing to keep */
    }
    if (frontier->old_count == FRONTIER_PAIRS_MAX) {
        return false;
    }
    frontier->old[frontier->old_count++] = frontier->live;
    frontier->live.point = KEY_LEAST;
    return true;
}

bool frontier_can_adopt(const struct frontier *frontier, struct frontier_pair pair, const struct key *unfinished)
{
    return pair_includes(pair, frontier->live) && (unfinished == NULL || key_compare(*unfinished, pair.point) > 0);
}

void frontier_adopt(struct frontier *frontier, struct frontier_pair pair)
{
    assert(pair_includes(pair, frontier->live));
    frontier_advance(frontier, pair.point, pair.cut);
}

static bool bucket_done(struct frontier_pair pair, const struct bucket_stats *stats)
{
    return stats->last_offset < pair.cut && key_compare(stats->greatest, pair.point) <= 0;
}

bool frontier_bucket_done(const struct frontier *frontier, const struct bucket_stats *stats)
{
    if (stats->count == 0) {
        return true;
    }
    bool done = bucket_done(frontier->live, stats);
    for (size_t i = 0; !done && i < frontier->old_count; i++) {
        done = bucket_done(frontier->old[i], stats);
    }
    return done;
}

bool frontier_pair_equal(struct frontier_pair a, struct frontier_pair b)
{
    return a.cut == b.cut && key_compare(a.point, b.point) == 0;
}

bool frontier_equal(const struct frontier *a, const struct frontier *b)
{
    bool equal = a->old_count == b->old_count && frontier_pair_equal(a->live, b->live);
    for (size_t i = 0; equal && i < a->old_count; i++) {
        equal = frontier_pair_equal(a->old[i], b->old[i]);
    }
    return equal;
}
