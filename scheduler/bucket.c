/* Arithmetic of time buckets: see bucket.h. */
#include "scheduler/bucket.h"

#include <assert.h>

static unsigned shift_of(unsigned level)
{
    assert(level < BUCKET_LEVELS);
    return BUCKET_SHIFT_0 + BUCKET_SHIFT_STEP * level;
}

int64_t bucket_width_ms(unsigned level)
{
    return INT64_C(1) << shift_of(level);
}

struct bucket_id bucket_of(lane_index lane, unsigned level, int64_t due_ms)
{
    assert(due_ms >= 0);
    return (struct bucket_id){lane, (uint8_t)level, due_ms >> shift_of(level)};
}

unsigned bucket_level_for(int64_t due_ms, int64_t now_ms)
{
    assert(due_ms >= 0);
    int64_t from_ms = now_ms < 0 ? 0 : now_ms;
    for (unsigned level = 0; level + 1 < BUCKET_LEVELS; level++) {
        if ((due_ms >> shift_of(level)) - (from_ms >> shift_of(level)) < BUCKET_AHEAD_MAX) {
            return level;
        }
    }
    return BUCKET_LEVELS - 1;
}

bool bucket_is_valid(struct bucket_id id)
{
    return id.level < BUCKET_LEVELS && id.number >= 0 && id.number <= (INT64_MAX >> shift_of(id.level));
}

int64_t bucket_start_ms(struct bucket_id id)
{
    assert(bucket_is_valid(id));
    return id.number << shift_of(id.level);
}

int64_t bucket_last_ms(struct bucket_id id)
{
    return bucket_start_ms(id) | (bucket_width_ms(id.level) - 1);
}

int64_t bucket_end_ms(struct bucket_id id)
{
    int64_t last = bucket_last_ms(id);
    return last == INT64_MAX ? TIME_NEVER : last + 1;
}

bool bucket_covers(struct bucket_id id, int64_t due_ms)
{
    return due_ms >= 0 && due_ms >> shift_of(id.level) == id.number;
}

struct bucket_id bucket_parent(struct bucket_id id)
{
    assert(id.level + 1 < BUCKET_LEVELS);
    return (struct bucket_id){id.lane, (uint8_t)(id.level + 1), id.number >> BUCKET_SHIFT_STEP};
}

struct bucket_id bucket_first_child(struct bucket_id id)
{
    assert(id.level > 0);
    return (struct bucket_id){id.lane, (uint8_t)(id.level - 1), id.number << BUCKET_SHIFT_STEP};
}

int64_t bucket_split_ms(struct bucket_id id)
{
    assert(id.level > 0);
    return bucket_start_ms(id) - bucket_width_ms(id.level) / 4 + 1;
}

int bucket_compare(struct bucket_id a, struct bucket_id b)
{
    if (a.lane != b.lane) {
        return a.lane < b.lane ? -1 : 1;
    }
    if (a.level != b.level) {
        return a.level < b.level ? -1 : 1;
    }
    return (a.number > b.number) - (a.number < b.number);
}
