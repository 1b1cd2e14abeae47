/* See world.h: the run of time. */
#include "tests/sim/world.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "tests/sim/world_state.h"

#define STEPS_MAX 100000
#define IDLE_STEPS_MAX 12
#define STOP_MAX_MS (30 * MINUTE_MS)

static void produce_some(struct world *world)
{
    int64_t count = world_chance(world, 10) ? 50 : 1;
    for (; count > 0 && world->produced < world->traits.records; count--) {
        world_log_produce(world);
    }
    world_steer_some(world);
    if (world->produced < world->traits.records) {
        struct event event = world_event(world, EVENT_PRODUCE, -1);
        event.at += random_between(&world->random, 0, world->traits.produce_ms);
        world_events_add(world, &event);
    }
}

static void fault(struct world *world)
{
    if (!world->calm) {
        world_faults_happen(world);
        struct event event = world_event(world, EVENT_FAULT, -1);
        event.at += random_between(&world->random, 1, 2 * world->traits.fault_ms);
        world_events_add(world, &event);
    }
}

/* What a frozen instance would do it does when it returns. */
static void happen_to(struct world *world, struct world_instance *instance, const struct event *event)
{
    if (!instance->alive || instance->run != event->run) {
        if (event->kind == EVENT_GAIN) {
            world->partitions[event->partition].moving = false;
            world_faults_place(world);
        }
    } else if (instance->frozen) {
        struct event later = *event;
        later.at = instance->thaw_at;
        world_events_add(world, &later);
    } else {
        world_answers_event(world, instance, event);
    }
}

static void happen(struct world *world, const struct event *event)
{
    switch (event->kind) {
    case EVENT_PRODUCE:
        produce_some(world);
        break;
    case EVENT_FAULT:
        fault(world);
        break;
    case EVENT_CALM:
        world_faults_calm(world);
        break;
    case EVENT_START:
        world_shell_start(world, event->instance);
        break;
    case EVENT_SCRIPT:
        world_script_event(world, event);
        break;
    case EVENT_FENCE:
    case EVENT_THAW:
    case EVENT_LEARN:
        world_faults_event(world, event);
        break;
    case EVENT_TRANSACTION_MARK:
    case EVENT_TRANSACTION_OVER:
        world_transaction_event(world, event);
        break;
    case EVENT_POLL:
    case EVENT_REPORT:
    case EVENT_SCAN:
    case EVENT_WRITE:
    case EVENT_WRITTEN:
    case EVENT_COMMIT:
    case EVENT_COMMITTED:
    case EVENT_SINK_ROOM:
    case EVENT_GAIN:
    case EVENT_LOSE:
    case EVENT_ENDED:
    case EVENT_TRANSACTION_END:
    case EVENT_TRANSACTION_KNOWN:
    case EVENT_RETENTION:
        happen_to(world, &world->instances[event->instance], event);
        break;
    }
}

/* The true time at which the instance wakes by itself. */
static int64_t wake_at(const struct world *world, const struct world_instance *instance)
{
    if (!instance->alive || instance->frozen) {
        return TIME_NEVER;
    }
    if (instance->touched) {
        return world->now;
    }
    struct core_deadline deadline = instance->deadline;
    int64_t wall =
        deadline.wall.ms == TIME_NEVER ? TIME_NEVER : world_clock_when(world, instance, deadline.wall.ms);
    int64_t mono = deadline.mono.ms == TIME_NEVER ? TIME_NEVER
                   : deadline.mono.ms < 0         ? world->now
                                                  : deadline.mono.ms - instance->mono_offset;
    int64_t at = wall < mono ? wall : mono;
    return at < world->now ? world->now : at;
}

/* Waking again and again at one moment without anything to do is a spin. */
static void look_for_spin(struct world *world, struct world_instance *instance, bool idle)
{
    bool here = instance->idle_at == world->now;
    instance->idle_steps = here && idle ? instance->idle_steps + 1 : 0;
    instance->busy_steps = here ? instance->busy_steps + 1 : 0;
    instance->idle_at = world->now;
    PROMISE(world, instance->idle_steps < IDLE_STEPS_MAX, "instance %d spins: deadline wall %lld mono %lld",
            instance->number, (long long)instance->deadline.wall.ms, (long long)instance->deadline.mono.ms);
    PROMISE(world, instance->busy_steps < 20000, "instance %d is busy without end", instance->number);
}

static void step(struct world *world, struct world_instance *instance)
{
    size_t count = instance->input_count;
    instance->input_count = 0; /* carrying out commands may add the next ones: they go to a new array */
    struct input *inputs = instance->inputs;
    instance->inputs = NULL;
    instance->input_capacity = 0;
    size_t owned = instance->owned_count;
    instance->touched = false;
    struct now now = world_clock_now(world, instance);
    struct commands commands = core_step(instance->core, now, inputs, count);
    world_say(world, "step of instance %d: %zu inputs, %zu commands, %zu releases", instance->number, count,
              commands.count, commands.release_count);
    world_commands_run(world, instance, &commands);
    world->result.steps++;
    world_check_step(world, instance);
    instance->deadline = core_next_deadline(instance->core);
    for (size_t i = 0; i < owned; i++) {
        free(instance->owned[i]);
    }
    instance->owned_count = 0;
    free(inputs);
    look_for_spin(world, instance, count == 0 && commands.count == 0 && commands.release_count == 0);
    PROMISE(world, !instance->stopping || world->now - instance->stop_at < STOP_MAX_MS + 100 * world->traits.latency_ms,
            "instance %d does not stop", instance->number);
}

static void step_those_awake(struct world *world)
{
    for (int i = 0; i < world->traits.instances; i++) {
        struct world_instance *instance = &world->instances[i];
        if (instance->alive && wake_at(world, instance) <= world->now) {
            step(world, instance);
        }
    }
}

static int64_t next_moment(const struct world *world)
{
    int64_t next = world_events_next(world);
    for (int i = 0; i < world->traits.instances; i++) {
        int64_t at = wake_at(world, &world->instances[i]);
        next = at < next ? at : next;
    }
    return next;
}

static void live(struct world *world)
{
    for (int64_t next = next_moment(world); next != TIME_NEVER && !world->unsure; next = next_moment(world)) {
        struct event event;
        world->now = next;
        while (world_events_take(world, next, &event)) {
            happen(world, &event);
            if (world->script == NULL && world_chance(world, 50)) {
                break;
            }
        }
        step_those_awake(world);
        PROMISE(world, world->result.steps < STEPS_MAX, "it does not come to rest");
    }
}

static void arrange_all(struct world *world)
{
    struct event event = world_event(world, EVENT_PRODUCE, -1);
    world_events_add(world, &event);
    event = world_event(world, EVENT_CALM, -1);
    event.at = world->traits.calm_at;
    world_events_add(world, &event);
    if (world->traits.fault_ms > 0) {
        event = world_event(world, EVENT_FAULT, -1);
        world_events_add(world, &event);
    }
}

static void begin(struct world *world)
{
    for (int i = 0; i < world->traits.partitions; i++) {
        world->partitions[i].holder = -1;
        world->partitions[i].log_end =
            world->script != NULL || world_chance(world, 50) ? 0 : random_between(&world->random, 1, 1000);
    }
    for (int i = 0; i < world->traits.instances; i++) {
        struct world_instance *instance = &world->instances[i];
        instance->number = i;
        instance->wall_permille = 1000;
        instance->wall_offset = world->traits.clock_steps ? random_between(&world->random, -1000, 1000) : 0;
        world_shell_start(world, i);
    }
}

static void end(struct world *world)
{
    for (int i = 0; i < world->traits.instances; i++) {
        struct world_instance *instance = &world->instances[i];
        if (instance->alive) {
            world_shell_end(world, instance, false);
        }
        world_disk_free(&instance->disk);
        world_disk_free(&instance->old_disk);
        free(instance->inputs);
        free(instance->owned);
    }
    for (int i = 0; i < world->traits.partitions; i++) {
        for (size_t j = 0; j < world->partitions[i].count; j++) {
            free(world->partitions[i].records[j]);
        }
        free(world->partitions[i].records);
    }
    for (size_t i = 0; i < world->transaction_count; i++) {
        world_transaction_free(world->transactions[i]);
    }
    free(world->transactions);
    free(world->refs);
    free(world->steers);
    free(world->events);
}

void world_run(uint64_t seed, bool trace, struct world_result *result)
{
    struct world *world = memory_new(1, sizeof(*world));
    world->seed = seed;
    world->trace = trace;
    world->random = random_new(seed);
    world_traits_draw(world);
    begin(world);
    arrange_all(world);
    live(world);
    if (!world->unsure) {
        world_check_end(world);
    }
    *result = world->result;
    end(world);
    free(world);
}

void world_run_script(const char *path, bool trace, struct world_result *result)
{
    struct world *world = memory_new(1, sizeof(*world));
    world->trace = trace;
    world->random = random_new(0);
    world->script = world_script_read(path);
    world_script_options(world);
    begin(world);
    world_script_begin(world);
    live(world);
    world_check_end(world);
    world_script_end(world);
    *result = world->result;
    end(world);
    world_script_free(world->script);
    free(world);
}
