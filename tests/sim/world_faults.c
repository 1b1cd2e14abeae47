/* What goes wrong, and how it ends. */
#include "tests/sim/world_state.h"

/* One that the group gives partitions to: not while it has not learned that it lost some. */
static bool is_member(const struct world_instance *instance)
{
    bool member = instance->alive && !instance->stopping && !instance->frozen;
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        member = member && !(instance->slots[i].held && instance->slots[i].fenced);
    }
    return member;
}

/* Partitions that nobody holds and nobody is about to get: an instance that lives gets them after a while. */
void world_faults_place(struct world *world)
{
    int instances = world->traits.instances;
    for (int i = 0; i < world->traits.partitions; i++) {
        struct world_partition *partition = &world->partitions[i];
        int number = world->script != NULL ? world->preferred : (int)random_below(&world->random, (uint64_t)instances);
        for (int turn = 0; turn < instances && !is_member(&world->instances[number]); turn++) {
            number = (number + 1) % instances;
        }
        if (partition->holder >= 0 || partition->moving || !is_member(&world->instances[number])) {
            continue;
        }
        partition->moving = true;
        struct event event = world_event(world, EVENT_GAIN, number);
        event.at += world_latency(world);
        event.partition = i;
        world_events_add(world, &event);
    }
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

void world_faults_crash(struct world *world, int number, int64_t back_after_ms)
{
    struct world_instance *instance = &world->instances[number];
    if (instance->alive) {
        world_shell_end(world, instance, true);
        struct event event = world_event(world, EVENT_START, number);
        event.at += back_after_ms;
        world_events_add(world, &event);
    }
}

static int64_t some_time(struct world *world)
{
    return random_between(&world->random, 1, world->traits.fault_ms * 2 + 1000);
}

static void crash(struct world *world, struct world_instance *instance)
{
    if (instance->alive) {
        world_faults_crash(world, instance->number, some_time(world));
        change_disk(world, instance);
    }
}

static void turn_clock(struct world *world, struct world_instance *instance)
{
    const struct world_traits *traits = &world->traits;
    int64_t step = random_between(&world->random, -(int64_t)traits->clock_ms, traits->clock_ms);
    if (traits->clock_drifts && world_chance(world, 50)) {
        static const int32_t speeds[] = {0, 500, 990, 1000, 1001, 1500};
        world_clock_set(world, instance, TIME_NEVER, speeds[random_below(&world->random, 6)]);
    } else if (traits->clock_steps) {
        world_clock_set(world, instance, world_chance(world, 30) ? 0 : step, instance->wall_permille);
    }
}

/* SIGSTOP. Its partitions are given away after fence_after_ms, if it has not returned by then. */
void world_faults_freeze(struct world *world, int number, int64_t fence_after_ms, int64_t thaw_after_ms)
{
    struct world_instance *instance = &world->instances[number];
    if (!instance->alive || instance->frozen) {
        return;
    }
    world_say(world, "instance %d is stopped for %lld ms", number, (long long)thaw_after_ms);
    instance->frozen = true;
    instance->thaw_at = world->now + thaw_after_ms;
    world_transaction_freeze(world, instance);
    struct event event = world_event(world, EVENT_FENCE, number);
    event.at += fence_after_ms;
    if (fence_after_ms < thaw_after_ms) {
        world_events_add(world, &event);
    }
    event = world_event(world, EVENT_THAW, number);
    event.at = instance->thaw_at;
    world_events_add(world, &event);
}

static void fence(struct world *world, struct world_instance *instance)
{
    world_say(world, "the group takes what instance %d has", instance->number);
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        struct world_slot *slot = &instance->slots[i];
        if (slot->held && !slot->fenced) {
            world_shell_settle(world, slot);
            slot->fenced = true;
            world->result.fenced++;
            world->partitions[slot->partition].holder = -1;
        }
    }
    world_faults_place(world);
}

static void learn(struct world *world, struct world_instance *instance)
{
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        if (instance->slots[i].held && instance->slots[i].fenced) {
            world_shell_lose(world, instance, i);
        }
    }
}

/* One whose transaction was ended for it is fenced: it exits, and is started again. */
static void thaw(struct world *world, struct world_instance *instance)
{
    world_say(world, "instance %d goes on", instance->number);
    instance->frozen = false;
    instance->touched = true;
    instance->stop_at = world->now;
    struct event event = world_event(world, EVENT_LEARN, instance->number);
    event.at += random_between(&world->random, 0, 3 * world->traits.latency_ms);
    world_events_add(world, &event);
    if (instance->transaction != NULL && instance->transaction->orphaned) {
        world_faults_crash(world, instance->number, 1000);
    }
    world_faults_place(world);
}

void world_faults_event(struct world *world, const struct event *event)
{
    struct world_instance *instance = &world->instances[event->instance];
    if (!instance->alive || instance->run != event->run) {
        return;
    }
    if (event->kind == EVENT_FENCE && instance->frozen) {
        fence(world, instance);
    } else if (event->kind == EVENT_THAW && instance->frozen) {
        thaw(world, instance);
    } else if (event->kind == EVENT_LEARN) {
        learn(world, instance);
    }
}

static void freeze(struct world *world, struct world_instance *instance)
{
    int64_t longest = 4 * world->traits.latency_ms + world->traits.timeout_ms;
    int64_t fence_after = random_between(&world->random, 0, longest);
    world_faults_freeze(world, instance->number, fence_after, random_between(&world->random, 1, 2 * longest));
}

static void show_retention(struct world *world, struct world_instance *instance)
{
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        struct event event = world_event(world, EVENT_RETENTION, instance->number);
        event.slot = i;
        event.epoch = instance->slots[i].epoch;
        if (instance->alive && instance->slots[i].held) {
            world_events_add(world, &event);
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
    } else if (what == 2 && !slot->leaving && !slot->reading_stopped && world->traits.stops_reading) {
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
    int64_t longest = 3 * world->traits.fault_ms;
    switch (world->traits.plain_crashes ? 0 : random_below(&world->random, 17)) {
    case 0:
    case 1:
        crash(world, instance);
        break;
    case 2:
    case 3:
        turn_clock(world, instance);
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
            world->now + random_between(&world->random, 0, longest < HOUR_MS ? longest : HOUR_MS);
        break;
    case 11:
        if (world->traits.freezes) {
            freeze(world, instance);
        }
        break;
    case 12:
        if (world->traits.retention) {
            show_retention(world, instance);
        }
        break;
    case 13:
        world->letters_down_until = world->now + random_between(&world->random, 0, 10 * MINUTE_MS);
        break;
    case 14:
        world_steer_turn_lane(world, instance);
        break;
    case 15:
        world_steer_some(world);
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
    world->letters_down_until = 0;
    world_say(world, "faults end");
    for (int i = 0; i < world->traits.instances; i++) {
        struct world_instance *instance = &world->instances[i];
        world_clock_set(world, instance, TIME_NEVER, 1000);
        if (instance->frozen) {
            thaw(world, instance);
        }
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
    world_steer_calm(world);
}
