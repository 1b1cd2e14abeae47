/* The shell of an instance: starts, assignments, reading, reports, and its end. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tests/sim/world_state.h"

struct now world_shell_now(const struct world *world, const struct world_instance *instance)
{
    return (struct now){{WORLD_WALL_0 + world->now + instance->wall_offset}, {world->now + instance->mono_offset}};
}

struct input *world_shell_input(struct world_instance *instance, enum input_kind kind, int slot, uint32_t epoch)
{
    GROW_FOR_ONE(instance->inputs, instance->input_count, instance->input_capacity);
    struct input *input = &instance->inputs[instance->input_count++];
    *input = (struct input){.kind = kind, .slot = (slot_index)slot, .epoch = epoch};
    instance->touched = true;
    return input;
}

void world_shell_own(struct world_instance *instance, void *memory)
{
    GROW_FOR_ONE(instance->owned, instance->owned_count, instance->owned_capacity);
    instance->owned[instance->owned_count++] = memory;
}

void world_shell_start(struct world *world, int number)
{
    struct world_instance *instance = &world->instances[number];
    instance->alive = true;
    instance->stopping = false;
    instance->touched = true;
    instance->sink_full = false;
    instance->run = ++world->runs;
    instance->core = core_new(&world->options);
    instance->mono_offset = random_between(&world->random, 0, 1000000) - world->now;
    for (int i = 0; i < world->traits.lanes; i++) {
        instance->paused[i] = false;
        (void)core_lane_add(instance->core, &world->lane_options[i]);
    }
    world_say(world, "instance %d starts as run %llu, clock %+lld", number, (unsigned long long)instance->run,
              (long long)instance->wall_offset);
    world_faults_place(world);
}

static int free_slot(const struct world_instance *instance)
{
    int slot = 0;
    while (instance->slots[slot].held) {
        slot++;
    }
    return slot;
}

/* What is known of each record at the start of a life. */
static void know_records(struct world *world,
                         struct world_instance *instance,
                         struct world_slot *slot,
                         const struct store_part *stored)
{
    struct world_partition *partition = &world->partitions[slot->partition];
    int64_t wall = world_shell_now(world, instance).wall.ms;
    slot->exact = true;
    for (size_t i = 0; i < partition->count; i++) {
        struct world_record *record = &partition->records[i];
        record->known_wall_ms = TIME_NEVER;
        if (world_oracle_claims(&slot->last, record)) {
            record->claimed_life = slot->life;
            record->acked_life = slot->life;
        }
    }
    for (size_t i = 0; i < stored->count; i++) {
        struct world_record *record = world_oracle_find(world, slot->partition, stored->rows[i].offset);
        slot->exact = slot->exact && record->claimed_life != slot->life;
        record->known_wall_ms = wall;
    }
    for (int i = 0; i < world->traits.lanes; i++) {
        slot->lanes[i].disturbed = world_oracle_live(&slot->last, (lane_index)i)->point.due_ms > wall;
    }
}

void world_shell_gain(struct world *world, struct world_instance *instance, int number)
{
    struct world_partition *partition = &world->partitions[number];
    struct store_part *stored = &instance->disk.parts[number];
    int index = free_slot(instance);
    if (instance->forget[number]) {
        world_disk_forget(&instance->disk, number);
        world_disk_forget(&instance->old_disk, number);
        instance->forget[number] = false;
    }
    struct world_slot *slot = &instance->slots[index];
    struct input_slot_gained *gained = memory_new(1, sizeof(*gained));
    gained->frontier.shared = (struct frontier_pair){KEY_LEAST, 0};
    if (partition->has_group) {
        gained->frontier = partition->group;
    } else {
        gained->frontier.anchor.offset = -1;
    }
    gained->stored_position = stored->found ? stored->position : 0;
    gained->buckets = stored->buckets;
    gained->bucket_count = stored->bucket_count;
    gained->position =
        gained->frontier.low_offset > gained->stored_position ? gained->frontier.low_offset : gained->stored_position;
    gained->catch_up_to = partition->log_end;
    gained->epoch = slot->epoch + 1;
    *slot = (struct world_slot){.held = true, .partition = number, .life = ++world->lives, .epoch = gained->epoch};
    slot->position = gained->position;
    slot->catch_up_to = gained->catch_up_to;
    slot->last = gained->frontier;
    slot->acked = gained->frontier;
    slot->claimed = true;
    struct bucket_stats *buckets = memory_new(stored->bucket_count + 1, sizeof(*buckets));
    if (stored->bucket_count > 0) {
        memcpy(buckets, stored->buckets, stored->bucket_count * sizeof(*buckets));
    }
    gained->buckets = buckets;
    partition->holder = instance->number;
    partition->moving = false;
    know_records(world, instance, slot, stored);
    world_shell_input(instance, INPUT_SLOT_GAINED, index, slot->epoch)->as.gained = gained;
    world_shell_own(instance, gained);
    world_shell_own(instance, buckets);
    world_say(
        world, "instance %d gains partition %d as slot %d life %llu: position %lld, C %lld, stored %lld, end %lld",
        instance->number, number, index, (unsigned long long)slot->life, (long long)gained->position,
        (long long)gained->frontier.low_offset, (long long)gained->stored_position, (long long)gained->catch_up_to);
    world_shell_wake_poll(world, instance, index);
}

/* A commit that was sent arrives, or does not: known before anybody else may hold the partition (R9). */
static void settle_commit(struct world *world, struct world_slot *slot)
{
    if (slot->commit_open && world_chance(world, 50)) {
        world_group_apply(world, slot);
    }
    slot->commit_open = false;
}

void world_shell_lose(struct world *world, struct world_instance *instance, int index)
{
    struct world_slot *slot = &instance->slots[index];
    world_say(world, "instance %d loses slot %d (partition %d)", instance->number, index, slot->partition);
    settle_commit(world, slot);
    world_shell_input(instance, INPUT_SLOT_LOST, index, slot->epoch);
    world->partitions[slot->partition].holder = -1;
    for (int i = 0; i < WORLD_LANES_MAX; i++) {
        free(slot->lanes[i].notes);
        slot->lanes[i] = (struct world_lane){0};
    }
    slot->held = false;
    world_faults_place(world);
}

void world_shell_end(struct world *world, struct world_instance *instance, bool crash)
{
    world_say(world, "instance %d %s", instance->number, crash ? "crashes" : "has stopped");
    if (instance->write.open && !instance->write.applied && world_chance(world, 50)) {
        world_disk_write(world, instance);
    }
    free(instance->write.touched);
    instance->write = (struct world_write){0};
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        if (instance->slots[i].held) {
            world_shell_lose(world, instance, i);
        }
    }
    for (size_t i = 0; i < instance->owned_count; i++) {
        free(instance->owned[i]);
    }
    instance->owned_count = 0;
    instance->input_count = 0;
    core_free(instance->core);
    instance->core = NULL;
    instance->alive = false;
    instance->touched = false;
    world->result.crashes += crash;
}

void world_shell_wake_poll(struct world *world, struct world_instance *instance, int index)
{
    struct world_slot *slot = &instance->slots[index];
    if (slot->poll_due || slot->reading_paused || slot->reading_stopped) {
        return;
    }
    slot->poll_due = true;
    struct event event = world_event(world, EVENT_POLL, instance->number);
    event.at += world_latency(world);
    event.slot = index;
    event.epoch = slot->epoch;
    world_events_add(world, &event);
}

static void hand_over(struct world *world, struct world_instance *instance, int index, struct world_record *record)
{
    struct world_slot *slot = &instance->slots[index];
    GROW_FOR_ONE(world->refs, world->ref_count, world->ref_capacity);
    if (world->ref_count == 0) {
        world->ref_count = 1; /* 0 is none */
    }
    world->refs[world->ref_count] = (struct world_ref){record, instance->number, instance->run, REF_LIVE};
    struct input *input = world_shell_input(instance, INPUT_RECORD, index, slot->epoch);
    input->as.record = (struct input_record){
        .offset = record->offset,
        .due_ms = record->due_ms,
        .lane = record->lane,
        .bytes = record->bytes,
        .ref = world->ref_count++,
        .timestamp_ms = record->due_ms,
    };
    slot->position = record->offset + 1;
    if (record->known_wall_ms == TIME_NEVER) {
        record->known_wall_ms = world_shell_now(world, instance).wall.ms;
    }
}

void world_shell_poll(struct world *world, struct world_instance *instance, int index)
{
    struct world_slot *slot = &instance->slots[index];
    struct world_partition *partition = &world->partitions[slot->partition];
    slot->poll_due = false;
    if (slot->reading_paused || slot->reading_stopped) {
        return;
    }
    int64_t most = random_between(&world->random, 1, 20);
    for (size_t i = 0; i < partition->count && most > 0; i++) {
        if (partition->records[i].offset >= slot->position) {
            hand_over(world, instance, index, &partition->records[i]);
            most--;
        }
    }
    if (most > 0) {
        slot->position = partition->log_end > slot->position ? partition->log_end : slot->position;
        world_shell_input(instance, INPUT_POSITION, index, slot->epoch)->as.position.offset = partition->log_end;
    } else {
        world_shell_wake_poll(world, instance, index);
    }
}

static void note_report(struct world_slot *slot, const struct event *event)
{
    struct world_lane *lane = &slot->lanes[event->lane];
    struct sequence_note *note = &lane->notes[event->sequence];
    note->open = false;
    lane->in_flight--;
    if (event->code < 0) {
        note->done = true;
        note->record->reported_life = slot->life;
        while (lane->prefix < lane->count && lane->notes[lane->prefix].done) {
            lane->prefix++;
        }
    } else {
        note->record->failed_life = slot->life;
    }
}

/* code: -1 delivered, -2 sink full, else a failure. */
void world_shell_report(struct world *world, struct world_instance *instance, const struct event *event)
{
    struct world_slot *slot = &instance->slots[event->slot];
    enum input_kind kind = event->code == -1   ? INPUT_DELIVERED
                           : event->code == -2 ? INPUT_SINK_FULL
                                               : INPUT_DELIVERY_FAILED;
    struct event noted = *event;
    noted.code = event->code == -2 ? 0 : event->code;
    if (slot->held && slot->epoch == event->epoch) {
        note_report(slot, &noted);
    }
    struct input *input = world_shell_input(instance, kind, event->slot, event->epoch);
    input->as.delivery = (struct input_delivery){
        .lane = event->lane,
        .sequence = event->sequence,
        .failure = event->code > 0 ? (enum delivery_failure)event->code : DELIVERY_RETRIABLE,
        .target_hash = event->lane + 1U,
    };
    world_say(world, "  report: lane %u sequence %llu: %d", event->lane, (unsigned long long)event->sequence,
              event->code);
}
