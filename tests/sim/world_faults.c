/* What goes wrong, and how it ends. */
#include "tests/sim/world_state.h"

/* Partitions that nobody holds and nobody is about to get: an instance that lives gets them after a while. */
void world_faults_place(struct world *world)
{
    for (int i = 0; i < world->traits.partitions; i++) {
        struct world_partition *partition = &world->partitions[i];
        int number = (int)random_below(&world->random, (uint64_t)world->traits.instances);
        if (partition->holder >= 0 || partition->moving || !world->instances[number].alive ||
            world->instances[number].stopping) {
            continue;
        }
        partition->moving = true;
        struct event event = world_event(world, EVENT_GAIN, number);
        event.at += world_latency(world);
        event.partition = i;
        world_events_add(world, &event);
    }
}

static void start_later(struct world *world, int number)
{
    struct event event = world_event(world, EVENT_START, number);
    event.at += random_between(&world->random, 1, world->traits.fault_ms * 2 + 1000);
    world_events_add(world, &event);
}

/* The disk comes back as it was, as it was earlier, or empty. */
static void change_disk(struct world *world, struct world_instance *instance)
{
    uint64_t roll = random_below(&world->random, 10);
    if (roll == 0) {
        world_disk_free(&instance->disk);
    } else if (roll <= 3) {
        world_disk_copy(&instance->disk, &instance->old_disk);
    } else if (roll <= 6) {
        world_disk_copy(&instance->old_disk, &instance->disk);
    }
}

static void crash(struct world *world, struct world_instance *instance)
{
    if (!instance->alive) {
        return;
    }
    world_shell_end(world, instance, true);
    change_disk(world, instance);
    start_later(world, instance->number);
}

static void step_clock(struct world *world, struct world_instance *instance)
{
    int64_t step = random_between(&world->random, -(int64_t)world->traits.clock_ms, world->traits.clock_ms);
    if (!world->traits.clock_steps) {
        return;
    }
    instance->wall_offset = world_chance(world, 30) ? 0 : step;
    world_say(world, "the clock of instance %d is now %+lld", instance->number, (long long)instance->wall_offset);
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        for (int lane = 0; lane < WORLD_LANES_MAX; lane++) {
            instance->slots[i].lanes[lane].disturbed = true;
        }
    }
}

static void turn_lane(struct world *world, struct world_instance *instance, bool paused)
{
    int lane = (int)random_below(&world->random, (uint64_t)world->traits.lanes);
    if (instance->alive) {
        struct core_lane_options options = world->lane_options[lane];
        options.paused = paused;
        instance->paused[lane] = paused;
        instance->touched = true;
        core_lane_change(instance->core, (lane_index)lane, &options);
        world_say(world, "lane %d of instance %d is %s", lane, instance->number, paused ? "paused" : "on");
    }
}

static void turn_slot(struct world *world, struct world_instance *instance, uint64_t what)
{
    int index = (int)random_below(&world->random, WORLD_PARTITIONS_MAX);
    struct world_slot *slot = &instance->slots[index];
    if (!instance->alive || !slot->held) {
        return;
    }
    if (what == 0) {
        world_shell_lose(world, instance, index);
    } else if (what == 1 && !slot->leaving) {
        slot->leaving = true;
        (void)world_shell_input(instance, INPUT_SLOT_LEAVING, index, slot->epoch);
        world_say(world, "slot %d of instance %d is to leave", index, instance->number);
    } else if (what == 2 && !slot->leaving && !slot->reading_stopped) {
        slot->reading_stopped = true;
        instance->forget[slot->partition] = true;
        (void)world_shell_input(instance, INPUT_READING_STOPPED, index, slot->epoch);
        world_say(world, "reading of slot %d of instance %d stops", index, instance->number);
    }
}

static void stop(struct world *world, struct world_instance *instance)
{
    if (instance->alive && !instance->stopping) {
        instance->stopping = true;
        instance->stop_at = world->now;
        (void)world_shell_input(instance, INPUT_STOP, 0, 0);
        world_say(world, "instance %d is told to stop", instance->number);
    }
}

void world_faults_happen(struct world *world)
{
    struct world_instance *instance =
        &world->instances[random_below(&world->random, (uint64_t)world->traits.instances)];
    switch (random_below(&world->random, 12)) {
    case 0:
    case 1:
        crash(world, instance);
        break;
    case 2:
    case 3:
        step_clock(world, instance);
        break;
    case 4:
        turn_lane(world, instance, world_chance(world, 60));
        break;
    case 5:
        turn_slot(world, instance, 0);
        break;
    case 6:
        turn_slot(world, instance, 1);
        break;
    case 7:
        turn_slot(world, instance, world_chance(world, 20) ? 2 : 0);
        break;
    case 8:
        stop(world, instance);
        break;
    case 9:
        world->store_full_until = world->now + random_between(&world->random, 0, 10 * MINUTE_MS);
        break;
    case 10:
        world->lane_down_until[random_below(&world->random, (uint64_t)world->traits.lanes)] =
            world->now + random_between(&world->random, 0, world->traits.fault_ms * 3);
        break;
    default:
        world_disk_copy(&instance->old_disk, &instance->disk);
        break;
    }
    world_faults_place(world);
}

/* From now on everything works. */
void world_faults_calm(struct world *world)
{
    world->calm = true;
    world->store_full_until = 0;
    world_say(world, "faults end");
    for (int i = 0; i < world->traits.instances; i++) {
        struct world_instance *instance = &world->instances[i];
        for (int lane = 0; instance->alive && lane < world->traits.lanes; lane++) {
            if (instance->paused[lane]) {
                instance->paused[lane] = false;
                instance->touched = true;
                core_lane_change(instance->core, (lane_index)lane, &world->lane_options[lane]);
            }
        }
        for (int slot = 0; slot < WORLD_PARTITIONS_MAX; slot++) {
            if (instance->slots[slot].held && instance->slots[slot].reading_stopped) {
                world_shell_lose(world, instance, slot);
            }
        }
    }
    for (int lane = 0; lane < world->traits.lanes; lane++) {
        world->lane_down_until[lane] = 0;
    }
}
