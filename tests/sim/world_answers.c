/* What comes back to an instance: answers of its disk, of the group, of its targets, and of who gives it partitions. */
#include <stdlib.h>

#include "base/memory.h"
#include "tests/sim/world_state.h"

static void answer_scan(struct world *world, struct world_instance *instance, const struct event *event)
{
    struct scanned_row *rows = memory_new(event->scan.rows_max, sizeof(*rows));
    size_t count;
    bool end;
    world_disk_scan(&instance->disk.parts[event->partition], &event->scan, rows, &count, &end);
    struct input *input = world_shell_input(instance, INPUT_ROWS, event->slot, event->epoch);
    input->as.rows = (struct input_rows){event->scan.bucket, event->scan.purpose, rows, count, end};
    world_shell_own(instance, rows);
    world_say(world, "  rows: slot %d lane %u: %zu%s", event->slot, event->scan.bucket.lane, count, end ? ", end" : "");
}

static void apply_write(struct world *world, struct world_instance *instance, const struct event *event)
{
    world_write(world, instance);
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

/* A commit arrives, or fails, and even then it may have arrived. That of somebody who lost the partition does not. */
static void apply_commit(struct world *world, struct world_instance *instance, const struct event *event)
{
    struct world_slot *slot = &instance->slots[event->slot];
    bool current = slot->held && slot->epoch == event->epoch && slot->commit_open;
    bool fails = current && !world->calm &&
                 (world->refusals_next > 0 || world_chance(world, world->traits.commit_fail_percent));
    world->refusals_next -= fails && world->refusals_next > 0;
    if (current && slot->fenced) {
        fails = !(slot->commit_settled && slot->commit_there);
    } else if (current && (!fails || world_chance(world, 30))) {
        world_group_apply(world, slot->partition, &slot->sent, ++world->commit_sequence);
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
    if (partition->offsets_pending > 0 || write_names(instance, event->partition)) {
        struct event again = *event; /* until the writer is through, and no transaction is open that names it (R9) */
        again.at = world->now + 1 + world->traits.latency_ms / 8;
        world_events_add(world, &again);
    } else if (instance->stopping) {
        partition->moving = false;
    } else {
        world_shell_gain(world, instance, event->partition);
    }
}

/* Records of the first part of what it holds come near their end. */
static void near_retention(struct world *world, struct world_instance *instance, const struct event *event)
{
    const struct world_slot *slot = &instance->slots[event->slot];
    int64_t low = slot->acked.low_offset;
    int64_t below = low < slot->position ? random_between(&world->random, low, slot->position) : low;
    world_shell_input(instance, INPUT_RETENTION, event->slot, event->epoch)->as.retention.offset = below;
    world_say(world, "slot %d of instance %d: offsets below %lld come near retention", event->slot, instance->number,
              (long long)below);
}

void world_answers_event(struct world *world, struct world_instance *instance, const struct event *event)
{
    struct world_slot *slot = &instance->slots[event->slot];
    bool current = slot->held && slot->epoch == event->epoch;
    bool known = event->kind == EVENT_WRITTEN || event->kind == EVENT_COMMITTED || event->kind == EVENT_TRANSACTION_KNOWN || event->kind == EVENT_POLL;
    if (known && !world->calm) {
        world_steer_some(world);
    }
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
    } else if (event->kind == EVENT_TRANSACTION_END || event->kind == EVENT_TRANSACTION_KNOWN) {
        world_transaction_event(world, event);
    } else if (event->kind == EVENT_RETENTION && current) {
        near_retention(world, instance, event);
    } else if (event->kind == EVENT_LOSE && current) {
        world_shell_lose(world, instance, event->slot);
    } else if (event->kind == EVENT_ENDED) {
        world_shell_end(world, instance, false);
        struct event start = world_event(world, EVENT_START, instance->number);
        start.at += 1 + world_latency(world);
        world_events_add(world, &start);
    }
}
