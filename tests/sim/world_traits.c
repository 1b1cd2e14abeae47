/* What kind of world a seed makes: each draws its own limits, speeds and troubles, so that rare things are common somewhere. */
#include "tests/sim/world_state.h"

static int64_t one_of(struct world *world, const int64_t *values, size_t count)
{
    return values[random_below(&world->random, count)];
}
#define ONE_OF(world, ...)                                                                                             \
    one_of((world), (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void draw_options(struct world *world)
{
    struct core_options *options = &world->options;
    core_options_default(options);
    options->entries_max = (uint32_t)ONE_OF(world, 40, 300, 100000);
    options->late_max = (uint32_t)ONE_OF(world, 2, 8, 65536);
    options->old_pairs_max = (uint32_t)ONE_OF(world, 0, 4, 16);
    options->step_records_max = (uint32_t)ONE_OF(world, 1, 5, 4096);
    options->scan_rows_max = (uint32_t)ONE_OF(world, 1, 3, 50, 8192);
    options->split_rows_max = (uint32_t)ONE_OF(world, 1, 5, 50000);
    options->unwritten_rows_max = (uint32_t)ONE_OF(world, 20, 50, 400000);
    options->unwritten_bytes_max = (uint64_t)ONE_OF(world, 2000, 64 << 20);
    options->window_ms = ONE_OF(world, 100, 4000, 60000);
    options->checkpoint_ms = ONE_OF(world, 1, 100, 2000);
    options->commit_ms = ONE_OF(world, 1, 250, 5000);
    options->unknown_topic_grace_ms = ONE_OF(world, 0, 30000);
}

static void draw_lanes(struct world *world)
{
    for (int i = 0; i < world->traits.lanes; i++) {
        world->lane_options[i] = (struct core_lane_options){
            .max_in_flight = (uint32_t)ONE_OF(world, 1, 3, 20, 1000),
            .max_in_flight_bytes = (uint64_t)ONE_OF(world, 1, 500, 1 << 20),
        };
    }
}

void world_traits_draw(struct world *world)
{
    struct world_traits *traits = &world->traits;
    bool troubled = world_chance(world, 85);
    traits->partitions = (int)random_between(&world->random, 1, WORLD_PARTITIONS_MAX);
    traits->instances = (int)random_between(&world->random, 1, WORLD_INSTANCES_MAX);
    traits->lanes = (int)random_between(&world->random, 1, WORLD_LANES_MAX);
    traits->records = (size_t)ONE_OF(world, 20, 150, 400, 900);
    traits->spread_ms = ONE_OF(world, 20, 5 * SECOND_MS, 2 * MINUTE_MS, HOUR_MS, 3 * DAY_MS, 90 * DAY_MS);
    traits->produce_ms = ONE_OF(world, 0, 20, 500, 10 * SECOND_MS, 2 * HOUR_MS);
    traits->latency_ms = ONE_OF(world, 1, 100, 5 * SECOND_MS);
    traits->fault_ms = troubled ? ONE_OF(world, 500, 10 * SECOND_MS, 10 * MINUTE_MS) : 0;
    traits->calm_at = troubled ? ONE_OF(world, 30 * SECOND_MS, HOUR_MS, 10 * DAY_MS) : 1000;
    if (troubled && traits->calm_at / traits->fault_ms > 400) {
        traits->fault_ms = traits->calm_at / 400;
    }
    traits->fail_percent = troubled ? (uint32_t)ONE_OF(world, 0, 0, 5, 30) : 0;
    traits->commit_fail_percent = troubled ? (uint32_t)ONE_OF(world, 0, 0, 30) : 0;
    traits->sink_full_permille = troubled ? (uint32_t)ONE_OF(world, 0, 0, 20, 200) : 0;
    traits->odd_target_percent = troubled ? (uint32_t)ONE_OF(world, 0, 0, 10) : 0;
    traits->full_percent = troubled ? (uint32_t)ONE_OF(world, 0, 0, 20) : 0;
    traits->clock_steps = world_chance(world, 50);
    traits->clock_ms = (uint32_t)ONE_OF(world, 50, 10 * SECOND_MS, 2 * HOUR_MS, 2 * DAY_MS);
    traits->tight_stats = world_chance(world, 50);
    traits->validate_every = (uint32_t)ONE_OF(world, 1, 7);
    draw_options(world);
    draw_lanes(world);
}

int64_t world_traits_due(struct world *world)
{
    int64_t now = WORLD_WALL_0 + world->now;
    int64_t spread = world->traits.spread_ms;
    switch (random_below(&world->random, 10)) {
    case 0:
        return now - random_between(&world->random, 0, spread);
    case 1:
        return (now + spread / 2) / 1000 * 1000; /* many at one ms */
    case 2:
        return now + random_between(&world->random, 0, 50);
    case 3:
        return world_chance(world, 10) ? DUE_SINCE_EVER : now;
    case 4:
        return now + random_between(&world->random, 0, spread * 4);
    default:
        return now + random_between(&world->random, 0, spread);
    }
}
