/* The shell of an instance: starts, assignments, reading, reports, and its end. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tests/sim/world_state.h"

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
    instance->frozen = false;
    instance->stopping = false;
    instance->touched = true;
    instance->sink_full = false;
    instance->run = ++world->runs;
    instance->started_at = world->now;
    instance->core = core_new(&world->options);
    instance->mono_offset = random_between(&world->random, 0, 1000000) - world->now;
    for (int i = 0; i < world->traits.lanes; i++) {
        instance->paused[i] = false;
        instance->sent[i] = 0;
        (void)core_lane_add(instance->core, &world->lane_options[i]);
    }
    world_say(world, "instance %d starts as run %llu, clock %+lld", number, (unsigned long long)instance->run,
              (long long)(world_clock_now(world, instance).wall.ms - WORLD_WALL_0 - world->now));
    world_transaction_finish(world, number);
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
    int64_t wall = world_clock_now(world, instance).wall.ms;
    slot->marked = stored->mark_count > 0;
    slot->exact = !slot->marked;
    world_oracle_claimed(world, slot, &slot->last);
    for (size_t i = 0; i < stored->count; i++) {
        struct life_note *note = world_oracle_note(world, slot, stored->rows[i].record);
        slot->exact = slot->exact && !note->claimed;
        note->known_wall_ms = wall;
    }
    for (int i = 0; i < world->traits.lanes; i++) {
        slot->lanes[i].disturbed = world_oracle_live(&slot->last, (lane_index)i)->point.due_ms > wall;
        slot->behind[i].point = world_oracle_behind(&slot->last, (lane_index)i)->point;
        slot->behind[i].passed = KEY_LEAST;
    }
}

static void *own_copy(struct world_instance *instance, const void *items, size_t count, size_t size)
{
    void *copy = memory_new(count + 1, size);
    if (count > 0) {
        memcpy(copy, items, count * size);
    }
    world_shell_own(instance, copy);
    return copy;
}

static struct input_slot_gained *
gained_of(struct world *world, struct world_instance *instance, int number, const struct store_part *stored)
{
    const struct world_partition *partition = &world->partitions[number];
    struct input_slot_gained *gained = memory_new(1, sizeof(*gained));
    world_shell_own(instance, gained);
    gained->frontier.shared = (struct frontier_pair){KEY_LEAST, 0};
    gained->frontier.anchor.offset = -1;
    if (partition->has_group) {
        gained->frontier = partition->group;
    }
    int64_t low = gained->frontier.low_offset;
    gained->stored_position = stored->found ? stored->position : 0;
    gained->position = low > gained->stored_position || world->traits.dedupe_ms > 0 ? low : gained->stored_position;
    gained->catch_up_to = world_log_stable(world, number);
    gained->high = partition->log_end;
    gained->buckets = own_copy(instance, stored->buckets, stored->bucket_count, sizeof(*stored->buckets));
    gained->bucket_count = stored->bucket_count;
    gained->marks = own_copy(instance, stored->marks, stored->mark_count, sizeof(*stored->marks));
    gained->mark_count = stored->mark_count;
    gained->skips = own_copy(instance, stored->skips, stored->skip_count, sizeof(*stored->skips));
    gained->skip_count = stored->skip_count;
    return gained;
}

void world_shell_gain(struct world *world, struct world_instance *instance, int number)
{
    struct world_partition *partition = &world->partitions[number];
    const struct store_part *stored = &instance->disk.parts[number];
    int index = free_slot(instance);
    if (instance->forget[number]) {
        world_disk_forget(&instance->disk, number);
        world_disk_forget(&instance->old_disk, number);
        instance->forget[number] = false;
    }
    struct world_slot *slot = &instance->slots[index];
    struct input_slot_gained *gained = gained_of(world, instance, number, stored);
    gained->epoch = slot->epoch + 1;
    *slot = (struct world_slot){.held = true, .partition = number, .life = ++world->lives, .epoch = gained->epoch};
    slot->reading = gained->position;
    slot->position = gained->stored_position > gained->position ? gained->stored_position : gained->position;
    slot->catch_up_to = gained->catch_up_to;
    slot->high = gained->high;
    slot->gained_low = gained->frontier.low_offset;
    slot->known_below = gained->stored_position > gained->frontier.low_offset ? gained->stored_position : gained->frontier.low_offset;
    slot->gained_position = slot->position;
    slot->last = gained->frontier;
    slot->acked = gained->frontier;
    partition->holder = instance->number;
    partition->moving = false;
    know_records(world, instance, slot, stored);
    world_shell_input(instance, INPUT_SLOT_GAINED, index, slot->epoch)->as.gained = gained;
    world_say(world,
              "instance %d gains partition %d as slot %d life %llu: position %lld, C %lld, stored %lld, stable %lld, high %lld",
              instance->number, number, index, (unsigned long long)slot->life, (long long)gained->position,
              (long long)gained->frontier.low_offset, (long long)gained->stored_position,
              (long long)gained->catch_up_to, (long long)gained->high);
    world_steer_gained(world, instance, index);
    world_shell_wake_poll(world, instance, index);
}

/* A commit that was sent arrives, or does not: known before anybody else may hold the partition (R9). */
void world_shell_settle(struct world *world, struct world_slot *slot)
{
    if (slot->commit_open && !slot->commit_settled) {
        slot->commit_settled = true;
        slot->commit_there = world_chance(world, 50);
    }
    if (slot->commit_open && slot->commit_there && !slot->fenced) {
        world_group_apply(world, slot->partition, &slot->sent, ++world->commit_sequence);
    }
}

void world_shell_lose(struct world *world, struct world_instance *instance, int index)
{
    struct world_slot *slot = &instance->slots[index];
    world_say(world, "instance %d loses slot %d (partition %d)", instance->number, index, slot->partition);
    if (!slot->fenced) {
        world_shell_settle(world, slot);
        world->partitions[slot->partition].holder = -1;
    }
    world_shell_input(instance, INPUT_SLOT_LOST, index, slot->epoch);
    for (int i = 0; i < WORLD_LANES_MAX; i++) {
        free(slot->lanes[i].notes);
        slot->lanes[i] = (struct world_lane){0};
        free(slot->behind[i].notes);
        slot->behind[i] = (struct world_lane){0};
    }
    free(slot->notes);
    slot->notes = NULL;
    slot->note_count = 0;
    slot->held = false;
    slot->commit_open = false;
    world_faults_place(world);
}

void world_shell_end(struct world *world, struct world_instance *instance, bool crash)
{
    world_say(world, "instance %d %s", instance->number, crash ? "crashes" : "has stopped");
    instance->alive = false;
    if (instance->write.open && !instance->write.applied && world_chance(world, 50)) {
        world_write(world, instance);
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
    world_transaction_orphan(world, instance);
    instance->owned_count = 0;
    instance->input_count = 0;
    core_free(instance->core);
    instance->core = NULL;
    instance->frozen = false;
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

static row_ref new_ref(struct world *world, const struct world_instance *instance, struct world_record *record)
{
    GROW_FOR_ONE(world->refs, world->ref_count, world->ref_capacity);
    if (world->ref_count == 0) {
        world->ref_count = 1; /* 0 is none */
    }
    world->refs[world->ref_count] = (struct world_ref){record, instance->number, instance->run, REF_LIVE};
    return world->ref_count++;
}

static void hand_over(struct world *world, struct world_instance *instance, int index, struct world_record *record)
{
    struct world_slot *slot = &instance->slots[index];
    struct input *input = world_shell_input(instance, INPUT_RECORD, index, slot->epoch);
    input->as.record = (struct input_record){
        .offset = record->offset,
        .due_ms = record->due_ms,
        .lane = record->lane,
        .bytes = record->bytes,
        .ref = record->cancel ? 0 : new_ref(world, instance, record),
        .timestamp_ms = record->timestamp_ms,
        .root = record->root,
        .cancel = record->cancel,
        .conditional = record->schedule.conditional,
        .id = {record->id, record->id},
        .found = {.offset = -1, .root = -1},
    };
    if (record->id != 0) {
        input->as.record.found = world_disk_by_id(&instance->disk.parts[slot->partition], record->id);
    }
    world_dedupe_record(world, record, &input->as.record);
    slot->reading = record->offset + 1;
    slot->position = slot->reading > slot->position ? slot->reading : slot->position;
    struct life_note *note = world_oracle_note(world, slot, record);
    if (note->known_wall_ms == 0 && record->offset >= slot->known_below) {
        note->known_wall_ms = world_clock_now(world, instance).wall.ms;
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
    int64_t stable = world_log_stable(world, slot->partition);
    int64_t most = random_between(&world->random, 1, 20);
    size_t i = world_log_from(partition, slot->reading);
    for (; i < partition->count && partition->records[i]->offset < stable && most > 0; i++) {
        if (partition->records[i]->state == RECORD_VISIBLE) {
            hand_over(world, instance, index, partition->records[i]);
            most--;
        }
    }
    if (most > 0) {
        slot->reading = stable > slot->reading ? stable : slot->reading;
        slot->position = slot->reading > slot->position ? slot->reading : slot->position;
        world_shell_input(instance, INPUT_POSITION, index, slot->epoch)->as.position.offset = slot->reading;
    } else {
        world_shell_wake_poll(world, instance, index);
    }
}

static void note_report(struct world *world, struct world_slot *slot, const struct event *event)
{
    struct world_lane *lane = world_lane_of(slot, event->lane, event->sequence);
    struct sequence_note *note = world_sequence(slot, event->lane, event->sequence);
    if (!note->open) {
        return; /* what follows it could not be written: it has failed already */
    }
    note->open = false;
    lane->in_flight--;
    if (event->code >= 0) {
        slot->notes[note->record->index].failed = true;
        return;
    }
    note->done = !world->options.exactly_once && !event->again;
    slot->notes[note->record->index].done = note->done;
    slot->notes[note->record->index].goes_on = !world->options.exactly_once && event->again;
    slot->notes[note->record->index].went = slot->notes[note->record->index].went || event->again;
}

/* code: -1 delivered, -2 sink full, else a failure. */
void world_shell_report(struct world *world, struct world_instance *instance, const struct event *event)
{
    struct world_slot *slot = &instance->slots[event->slot];
    if (event->of_copy) {
        world_schedules_report(world, instance, event);
        return;
    }
    enum input_kind kind = event->code == -1   ? INPUT_DELIVERED
                           : event->code == -2 ? INPUT_SINK_FULL
                                               : INPUT_DELIVERY_FAILED;
    if (world->options.exactly_once) {
        world_transaction_reported(world, instance, event->code != -1);
    }
    struct event noted = *event;
    noted.code = event->code == -2 ? 0 : event->code;
    if (slot->held && slot->epoch == event->epoch) {
        world_letters_report(world, slot, world_sequence(slot, event->lane, event->sequence)->record, event->code);
        note_report(world, slot, &noted);
    }
    struct input *input = world_shell_input(instance, kind, event->slot, event->epoch);
    input->as.delivery = (struct input_delivery){
        .lane = event->lane,
        .sequence = event->sequence,
        .failure = event->code > 0 ? (enum delivery_failure)event->code : DELIVERY_RETRIABLE,
        .target_hash = event->lane + 1U,
        .again = event->again && event->code == -1,
        .why = event->why,
    };
    world_say(world, "  report: lane %u sequence %llu: %d", event->lane, (unsigned long long)event->sequence,
              event->code);
}
