/* See world.h: the run of time. */
#include "tests/sim/world.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "tests/sim/world_state.h"

#define STEPS_MAX 400000
#define IDLE_STEPS_MAX 12
#define STOP_MAX_MS (30 * MINUTE_MS)

static void produce(struct world *world)
{
    struct world_partition *partition =
        &world->partitions[random_below(&world->random, (uint64_t)world->traits.partitions)];
    int64_t hole = world_chance(world, 15) ? random_between(&world->random, 1, 5) : 0;
    GROW_FOR_ONE(partition->records, partition->count, partition->capacity);
    /* Records move when the array grows: room for all of them is made at the start. */
    partition->records[partition->count++] = (struct world_record){
        .offset = partition->log_end + hole,
        .due_ms = world_traits_due(world),
        .bytes = (uint32_t)random_between(&world->random, 1, 100),
        .lane = (lane_index)random_below(&world->random, (uint64_t)world->traits.lanes),
        .target = world_chance(world, world->traits.odd_target_percent)
                      ? (world_chance(world, 50) ? TARGET_UNKNOWN : TARGET_FAULT)
                      : TARGET_GOOD,
        .known_wall_ms = TIME_NEVER,
    };
    partition->log_end +=
        hole + 1 + (world_chance(world, 20) ? 1 : 0); /* at times a control record stands at the end */
    world->produced++;
    world->result.records++;
    struct world_record *record = &partition->records[partition->count - 1];
    world_say(world, "record: partition %d offset %lld lane %u due %lld", (int)(partition - world->partitions),
              (long long)record->offset, record->lane, (long long)(record->due_ms - WORLD_WALL_0));
    for (int i = 0; i < world->traits.instances; i++) {
        for (int j = 0; j < WORLD_PARTITIONS_MAX; j++) {
            struct world_slot *slot = &world->instances[i].slots[j];
            if (slot->held && &world->partitions[slot->partition] == partition) {
                world_shell_wake_poll(world, &world->instances[i], j);
            }
        }
    }
}

static void produce_some(struct world *world)
{
    int64_t count = world_chance(world, 10) ? 50 : 1;
    for (; count > 0 && world->produced < world->traits.records; count--) {
        produce(world);
    }
    if (world->produced < world->traits.records) {
        struct event event = world_event(world, EVENT_PRODUCE, -1);
        event.at += random_between(&world->random, 0, world->traits.produce_ms);
        world_events_add(world, &event);
    }
}

static void answer_scan(struct world *world, struct world_instance *instance, const struct event *event)
{
    struct scanned_row *rows = memory_new(event->scan.rows_max, sizeof(*rows));
    size_t count;
    bool end;
    world_disk_scan(&instance->disk.parts[event->partition], &event->scan, rows, &count, &end);
    struct input *input = world_shell_input(instance, INPUT_ROWS, event->slot, event->epoch);
    input->as.rows = (struct input_rows){event->scan.bucket, rows, count, end};
    world_shell_own(instance, rows);
    world_say(world, "  rows: slot %d lane %u: %zu%s", event->slot, event->scan.bucket.lane, count, end ? ", end" : "");
}

static void apply_write(struct world *world, struct world_instance *instance, const struct event *event)
{
    world_disk_write(world, instance);
    struct event next = *event;
    next.kind = EVENT_WRITTEN;
    next.at = world->now + world_latency(world);
    world_events_add(world, &next);
}

static void answer_write(struct world *world, struct world_instance *instance)
{
    struct world_write *write = &instance->write;
    struct input *input = world_shell_input(instance, INPUT_CHECKPOINT_DONE, 0, 0);
    input->as.checkpoint = (struct input_checkpoint){write->result, write->touched, write->touched_count};
    if (write->touched != NULL) {
        world_shell_own(instance, write->touched);
    }
    world_say(world, "  checkpoint %s", write->result == CHECKPOINT_WRITTEN ? "written" : "found no room");
    *write = (struct world_write){0};
}

/* A commit arrives, or fails, and even then it may have arrived. */
static void apply_commit(struct world *world, struct world_instance *instance, const struct event *event)
{
    struct world_slot *slot = &instance->slots[event->slot];
    bool current = slot->held && slot->epoch == event->epoch;
    bool fails = current && !world->calm && world_chance(world, world->traits.commit_fail_percent);
    if (current && slot->commit_open && (!fails || world_chance(world, 30))) {
        world_group_apply(world, slot);
    }
    struct event next = *event;
    next.kind = EVENT_COMMITTED;
    next.code = fails ? COMMIT_FAILED : COMMIT_ACKNOWLEDGED;
    next.at = world->now + world_latency(world);
    world_events_add(world, &next);
}

static void answer_commit(struct world *world, struct world_instance *instance, const struct event *event)
{
    struct world_slot *slot = &instance->slots[event->slot];
    world_shell_input(instance, INPUT_COMMIT_DONE, event->slot, event->epoch)->as.commit =
        (enum commit_result)event->code;
    world_say(world, "  commit of slot %d: %s", event->slot, event->code == COMMIT_FAILED ? "failed" : "acknowledged");
    if (!slot->held || slot->epoch != event->epoch) {
        return;
    }
    slot->commit_open = false;
    if (event->code == COMMIT_ACKNOWLEDGED) {
        slot->acked = slot->sent;
    }
}

static bool write_names(const struct world_instance *instance, int partition)
{
    bool named = false;
    for (size_t i = 0; instance->write.open && !instance->write.applied && i < instance->write.plan->slot_count; i++) {
        named = named || instance->write.partitions[i] == partition;
    }
    return named;
}

static void gain(struct world *world, struct world_instance *instance, const struct event *event)
{
    struct world_partition *partition = &world->partitions[event->partition];
    if (write_names(instance, event->partition)) {
        struct event again = *event; /* the shell waits until the writer is through */
        again.at = world->now + 1;
        world_events_add(world, &again);
    } else if (instance->stopping) {
        partition->moving = false;
    } else {
        world_shell_gain(world, instance, event->partition);
    }
}

static void instance_event(struct world *world, struct world_instance *instance, const struct event *event)
{
    struct world_slot *slot = &instance->slots[event->slot];
    bool current = slot->held && slot->epoch == event->epoch;
    if (event->kind == EVENT_POLL && current) {
        world_shell_poll(world, instance, event->slot);
    } else if (event->kind == EVENT_REPORT) {
        world_shell_report(world, instance, event);
    } else if (event->kind == EVENT_SCAN) {
        answer_scan(world, instance, event);
    } else if (event->kind == EVENT_WRITE) {
        apply_write(world, instance, event);
    } else if (event->kind == EVENT_WRITTEN) {
        answer_write(world, instance);
    } else if (event->kind == EVENT_COMMIT) {
        apply_commit(world, instance, event);
    } else if (event->kind == EVENT_COMMITTED) {
        answer_commit(world, instance, event);
    } else if (event->kind == EVENT_SINK_ROOM) {
        instance->sink_full = false;
        (void)world_shell_input(instance, INPUT_SINK_ROOM, 0, 0);
    } else if (event->kind == EVENT_GAIN) {
        gain(world, instance, event);
    } else if (event->kind == EVENT_LOSE && current) {
        world_shell_lose(world, instance, event->slot);
    } else if (event->kind == EVENT_ENDED) {
        world_shell_end(world, instance, false);
        struct event start = world_event(world, EVENT_START, instance->number);
        start.at += 1 + world_latency(world);
        world_events_add(world, &start);
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

static void happen(struct world *world, const struct event *event)
{
    if (event->kind == EVENT_PRODUCE) {
        produce_some(world);
    } else if (event->kind == EVENT_FAULT) {
        fault(world);
    } else if (event->kind == EVENT_CALM) {
        world_faults_calm(world);
    } else if (event->kind == EVENT_START) {
        world_shell_start(world, event->instance);
    } else if (world->instances[event->instance].alive && world->instances[event->instance].run == event->run) {
        instance_event(world, &world->instances[event->instance], event);
    } else if (event->kind == EVENT_GAIN) {
        world->partitions[event->partition].moving = false;
        world_faults_place(world);
    }
}

/* The true time at which the instance wakes by itself. */
static int64_t wake_at(const struct world *world, const struct world_instance *instance)
{
    if (!instance->alive) {
        return TIME_NEVER;
    }
    if (instance->touched) {
        return world->now;
    }
    struct core_deadline deadline = instance->deadline;
    int64_t wall = deadline.wall.ms == TIME_NEVER ? TIME_NEVER
                   : deadline.wall.ms < 0         ? world->now
                                                  : deadline.wall.ms - WORLD_WALL_0 - instance->wall_offset;
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
    struct now now = world_shell_now(world, instance);
    struct commands commands = core_step(instance->core, now, inputs, count);
    world_say(world, "step of instance %d: %zu inputs, %zu commands, %zu releases", instance->number, count,
              commands.count, commands.release_count);
    world_commands_run(world, instance, &commands);
    world->result.steps++;
    world_oracle_step(world, instance);
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
    for (int64_t next = next_moment(world); next != TIME_NEVER; next = next_moment(world)) {
        struct event event;
        world->now = next;
        while (world_events_take(world, next, &event)) {
            happen(world, &event);
            if (world_chance(world, 50)) {
                break;
            }
        }
        step_those_awake(world);
        PROMISE(world, world->result.steps < STEPS_MAX, "it does not come to rest");
    }
}

static void begin(struct world *world)
{
    world_traits_draw(world);
    for (int i = 0; i < world->traits.partitions; i++) {
        struct world_partition *partition = &world->partitions[i];
        partition->holder = -1;
        partition->capacity = world->traits.records;
        partition->records = memory_new(partition->capacity, sizeof(*partition->records));
        partition->log_end = world_chance(world, 50) ? 0 : random_between(&world->random, 1, 1000);
    }
    for (int i = 0; i < world->traits.instances; i++) {
        world->instances[i].number = i;
        world->instances[i].wall_offset = world->traits.clock_steps ? random_between(&world->random, -1000, 1000) : 0;
        world_shell_start(world, i);
    }
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
        free(world->partitions[i].records);
    }
    free(world->refs);
    free(world->events);
}

void world_run(uint64_t seed, bool trace, struct world_result *result)
{
    struct world *world = memory_new(1, sizeof(*world));
    world->seed = seed;
    world->trace = trace;
    world->random = random_new(seed);
    begin(world);
    live(world);
    world_oracle_end(world);
    *result = world->result;
    end(world);
    free(world);
}
