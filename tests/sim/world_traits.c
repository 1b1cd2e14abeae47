/* What kind of world a seed makes: each draws its own limits, speeds and troubles, so that rare things are common somewhere. */
#include "tests/sim/world_state.h"

#define FAULTS_MAX 60

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
    options->erase_rows_max = (uint32_t)ONE_OF(world, 1, 3, 5000);
    options->unwritten_rows_max = (uint32_t)ONE_OF(world, 20, 50, 400000);
    options->unwritten_bytes_max = (uint64_t)ONE_OF(world, 2000, 64 << 20);
    options->window_ms = ONE_OF(world, 100, 4000, 60000);
    options->checkpoint_ms = ONE_OF(world, 1, 100, 2000);
    options->commit_ms = ONE_OF(world, 1, 250, 5000);
    options->unknown_topic_grace_ms = ONE_OF(world, 0, 30000);
    options->transaction_records_max = (uint32_t)ONE_OF(world, 1, 5, 16384);
    options->transaction_fill_ms = ONE_OF(world, 0, 20, 1000);
    options->transaction_wait_ms = ONE_OF(world, 0, 5, 50);
    options->transaction_busy_records = (uint32_t)ONE_OF(world, 1, 3, 512);
    options->transaction_busy_per_ms = (uint32_t)ONE_OF(world, 0, 0, 1);
    options->copy_rows_max = (uint32_t)ONE_OF(world, 5, 20, 1000); /* few, each time with a marker, make the log no shorter */
    options->copy_ms = ONE_OF(world, 100, 100, 5000);
    options->letter_later_ms = ONE_OF(world, 5000, 60000, 60000, HOUR_MS);
}

static void draw_lanes(struct world *world)
{
    for (int i = 0; i < world->traits.lanes; i++) {
        world->lane_options[i] = (struct core_lane_options){
            .max_in_flight = (uint32_t)ONE_OF(world, 1, 3, 20, 1000),
            .max_in_flight_bytes = (uint64_t)ONE_OF(world, 1, 500, 1 << 20),
            .rate_per_s = (uint32_t)ONE_OF(world, 0, 0, 0, 7, 50, 1000),
        };
    }
}

static void draw_faults(struct world *world)
{
    struct world_traits *traits = &world->traits;
    /* One failure aborts a whole transaction: if they are many it never gets through. */
    bool seldom = world->options.exactly_once;
    traits->fail_percent = (uint32_t)ONE_OF(world, 0, 0, seldom ? 1 : 5, seldom ? 5 : 30);
    traits->commit_fail_percent = (uint32_t)ONE_OF(world, 0, 0, 30);
    traits->sink_full_permille = (uint32_t)ONE_OF(world, 0, 0, seldom ? 5 : 20, seldom ? 20 : 200);
    traits->odd_target_percent = (uint32_t)ONE_OF(world, 0, 0, 10, 40);
    traits->full_percent = (uint32_t)ONE_OF(world, 0, 0, 20);
    traits->letter_fail_percent = (uint32_t)ONE_OF(world, 0, 10, 60);
    traits->letter_unsaid_percent = (uint32_t)ONE_OF(world, 0, 0, 20);
    /* Else retries are all that happens, for days. */
    bool retries = traits->fail_percent + traits->sink_full_permille > 0 || traits->records > 100;
    traits->fault_ms = ONE_OF(world, 500, 10 * SECOND_MS, 10 * MINUTE_MS);
    traits->calm_at = ONE_OF(world, 30 * SECOND_MS, HOUR_MS, retries ? HOUR_MS : 10 * DAY_MS);
    if (traits->calm_at / traits->fault_ms > FAULTS_MAX) {
        traits->fault_ms = traits->calm_at / FAULTS_MAX;
    }
    traits->abort_percent = (uint32_t)ONE_OF(world, 0, 0, 10, world->options.copy_rows_max > 0 ? 5 : 40);
    traits->unknown_percent = (uint32_t)ONE_OF(world, 0, 20);
    traits->foreign_percent = (uint32_t)ONE_OF(world, 0, 0, 10, 50);
    traits->freezes = world_chance(world, 50);
    traits->clock_drifts = world_chance(world, 30);
    traits->topics_at = world_chance(world, 50) ? random_between(&world->random, 0, 2 * traits->calm_at) : TIME_NEVER;
}

/* What comes with transactions, re-appends and schedules. */
static void draw_kinds(struct world *world)
{
    struct world_traits *traits = &world->traits;
    struct core_options *options = &world->options;
    options->exactly_once = world_chance(world, 50);
    options->span_max = 0;
    if (world_chance(world, 50)) {
        options->span_max = (uint64_t)ONE_OF(world, 2, 10, 40);
        traits->retention = world_chance(world, 50);
    } else {
        options->copy_rows_max = 0;
    }
    if (world_chance(world, 50)) {
        traits->ids = (uint32_t)ONE_OF(world, 1, 3, 12, WORLD_IDS_MAX);
        traits->cancel_percent = (uint32_t)ONE_OF(world, 0, 20, 50);
        traits->steer_percent = (uint32_t)ONE_OF(world, 0, 5, 20, 60);
        options->copy_rows_max = options->copy_rows_max == 0 ? 0 : (uint32_t)ONE_OF(world, 20, 1000);
    }
    traits->stops_reading = !options->exactly_once && options->copy_rows_max == 0 && traits->ids == 0;
}

/* Nothing happens but that the one instance dies and comes back later: then what comes due is on time, however much is overdue. */
static void draw_plain(struct world *world)
{
    struct world_traits *traits = &world->traits;
    *traits = (struct world_traits){
        .partitions = traits->partitions, .instances = 1, .lanes = traits->lanes, .records = traits->records, .spread_ms = traits->spread_ms,
        .produce_ms = traits->produce_ms, .latency_ms = 1, .timeout_ms = 1, .fault_ms = 10 * MINUTE_MS, .calm_at = HOUR_MS, .topics_at = TIME_NEVER,
        .validate_every = traits->validate_every, .plain_crashes = true, .deciding = -1,
    };
    bool exactly_once = world->options.exactly_once;
    uint32_t rate = (uint32_t)random_between(&world->own, 1, 20);
    core_options_default(&world->options);
    world->options.exactly_once = exactly_once;
    world->options.copy_rows_max = 0;
    world->options.catch_up_per_s = rate;
    for (int i = 0; i < traits->lanes; i++) {
        world->lane_options[i] = (struct core_lane_options){.max_in_flight = 1000, .max_in_flight_bytes = 1 << 20, .catches_up = true};
    }
}

/* From a stream of its own, so that the worlds without it stay as they were. */
static void draw_catch_up(struct world *world)
{
    static const uint32_t rates[] = {1, 1, 5, 1000000};
    static const uint32_t old_percents[] = {0, 10, 40};
    struct random *own = &world->own;
    *own = random_new(world->seed ^ UINT64_C(0x63617463682d7570));
    if (random_below(own, 100) < 60) {
        return;
    }
    world->options.catch_up_per_s = rates[random_below(own, 4)];
    world->options.old_pairs_max = random_below(own, 3) == 0 ? 5 : 16;
    for (int i = 0; i < world->traits.lanes; i++) {
        world->lane_options[i].catches_up = random_below(own, 100) < 85;
    }
    if (random_below(own, 6) == 0) {
        draw_plain(world);
    }
    world->traits.old_percent = old_percents[random_below(own, 3)];
}

/* Most worlds are small: they find more in the same time. */
void world_traits_draw(struct world *world)
{
    struct world_traits *traits = &world->traits;
    traits->partitions = (int)ONE_OF(world, 1, 1, 1, 2, WORLD_PARTITIONS_MAX);
    traits->instances = (int)ONE_OF(world, 1, 2, 2, WORLD_INSTANCES_MAX);
    traits->lanes = (int)ONE_OF(world, 1, 1, 2, WORLD_LANES_MAX - 1);
    traits->records = (size_t)ONE_OF(world, 5, 12, 12, 25, 25, 40, 40, 60, 60, 100);
    traits->records = world_chance(world, 2) ? 600 : traits->records;
    traits->spread_ms = ONE_OF(world, 20, 5 * SECOND_MS, 2 * MINUTE_MS, HOUR_MS, 3 * DAY_MS, 90 * DAY_MS);
    traits->produce_ms = ONE_OF(world, 0, 20, 500, 10 * SECOND_MS, 2 * HOUR_MS);
    traits->latency_ms = ONE_OF(world, 1, 100, 5 * SECOND_MS);
    traits->marker_ms = ONE_OF(world, 0, 100, 20 * SECOND_MS);
    traits->timeout_ms = ONE_OF(world, 1, 10 * SECOND_MS, 10 * SECOND_MS, 10 * MINUTE_MS);
    traits->calm_at = 1000;
    traits->topics_at = TIME_NEVER;
    traits->deciding = -1;
    traits->clock_steps = world_chance(world, 50);
    traits->clock_ms = (uint32_t)ONE_OF(world, 50, 10 * SECOND_MS, 2 * HOUR_MS, 2 * DAY_MS);
    traits->tight_stats = world_chance(world, 50);
    traits->validate_every = (uint32_t)ONE_OF(world, 1, 7);
    draw_options(world);
    draw_kinds(world);
    draw_lanes(world);
    if (world_chance(world, 85)) {
        draw_faults(world);
    }
    world_schedules_traits(world);
    draw_catch_up(world);
}

static int64_t due(struct world *world)
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

int64_t world_traits_due(struct world *world)
{
    int64_t due_ms = due(world);
    bool old = world->traits.old_percent > 0 && random_below(&world->own, 100) < world->traits.old_percent;
    return old ? WORLD_WALL_0 + world->now - random_between(&world->own, 0, 2 * world->traits.spread_ms + 20 * SECOND_MS) : due_ms;
}
