/* The wall clock of an instance: it differs, steps, drifts and stops; its monotonic one is right. */
#include "tests/sim/world_state.h"

static int64_t offset_at(int64_t now, const struct world_instance *instance)
{
    int64_t passed = now - instance->wall_base;
    return instance->wall_offset + passed * (instance->wall_permille - 1000) / 1000;
}

struct now world_clock_now(const struct world *world, const struct world_instance *instance)
{
    return (struct now){{WORLD_WALL_0 + world->now + offset_at(world->now, instance)},
                        {world->now + instance->mono_offset}};
}

/* It shows true time and `offset` now (TIME_NEVER: what it shows anyway), and goes on at this speed. */
void world_clock_set(struct world *world, struct world_instance *instance, int64_t offset, int32_t permille)
{
    int64_t before = offset_at(world->now, instance);
    instance->wall_offset = offset == TIME_NEVER ? before : offset;
    instance->wall_base = world->now;
    instance->wall_permille = permille;
    instance->touched = instance->alive && !instance->frozen;
    world_say(world, "the clock of instance %d is at %+lld and goes at %d permille", instance->number,
              (long long)instance->wall_offset, permille);
    for (int i = 0; instance->wall_offset != before && i < WORLD_PARTITIONS_MAX; i++) {
        for (int lane = 0; lane < WORLD_LANES_MAX; lane++) {
            instance->slots[i].lanes[lane].disturbed = true;
            instance->slots[i].behind[lane].disturbed = true;
        }
    }
}

/* The true time at which it will show `wall_ms` if nobody touches it. */
int64_t world_clock_when(const struct world *world, const struct world_instance *instance, int64_t wall_ms)
{
    int64_t missing = wall_ms - world_clock_now(world, instance).wall.ms;
    if (missing <= 0) {
        return world->now;
    }
    if (instance->wall_permille == 0) {
        return TIME_NEVER;
    }
    if (instance->wall_permille == 1000) {
        return world->now + missing;
    }
    int64_t at = world->now + missing * 1000 / instance->wall_permille;
    while (WORLD_WALL_0 + at + offset_at(at, instance) < wall_ms) {
        at++;
    }
    return at;
}
