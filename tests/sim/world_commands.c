/* Carries out the commands of a step. */
#include <stdlib.h>

#include "base/memory.h"
#include "scheduler/bucket.h"
#include "tests/sim/world_state.h"

static void mix(struct world *world, uint64_t value)
{
    world->result.digest = (world->result.digest ^ value) * UINT64_C(1099511628211);
}

static struct event
answer(struct world *world, const struct world_instance *instance, const struct command *command, enum event_kind kind)
{
    struct event event = world_event(world, kind, instance->number);
    event.at += world_latency(world);
    event.slot = (int)command->slot;
    event.epoch = command->epoch;
    return event;
}

static int outcome(struct world *world, struct world_record *record, const struct command_deliver *deliver)
{
    if (deliver->as_refused) {
        return world_letters_publish(world, record) ? -1 : DELIVERY_NO_LETTER;
    }
    if (world->lane_down_until[deliver->lane] > world->now) {
        return DELIVERY_RETRIABLE;
    }
    if (record->target == TARGET_UNKNOWN && world->now < world->traits.topics_at) {
        return DELIVERY_UNKNOWN_TOPIC;
    }
    if (record->target == TARGET_FAULT) {
        return DELIVERY_FAULT;
    }
    return !world->calm && world_chance(world, world->traits.fail_percent) ? DELIVERY_RETRIABLE : -1;
}

static void arrange_room(struct world *world, struct world_instance *instance)
{
    instance->sink_full = true;
    struct event event = world_event(world, EVENT_SINK_ROOM, instance->number);
    event.at += world_latency(world) + 1;
    world_events_add(world, &event);
}

static void deliver(struct world *world, struct world_instance *instance, const struct command *command)
{
    struct world_slot *slot = &instance->slots[command->slot];
    const struct command_deliver *order = &command->as.deliver;
    world_say(world, "  deliver: slot %u lane %u offset %lld due %lld sequence %llu%s%s", command->slot, order->lane,
              (long long)order->key.offset, (long long)(order->key.due_ms - WORLD_WALL_0),
              (unsigned long long)order->sequence, order->again ? " again" : "",
              order->as_refused ? " as refused" : "");
    world_oracle_deliver(world, instance, slot, order);
    world_steer_rate(world, instance, order->lane);
    struct world_record *record = world_log_find(world, slot->partition, order->key.offset);
    struct world_output output = {record,      (int)command->slot, command->epoch,    slot->notes[record->index].read,
                                  order->lane, order->sequence,    order->as_refused, false, false, false};
    if (world->options.exactly_once) {
        world_transaction_sent(world, instance, &output);
    }
    struct event event = answer(world, instance, command, EVENT_REPORT);
    event.lane = order->lane;
    event.sequence = order->sequence;
    bool decides = order->lane == world->traits.deciding && !world->options.exactly_once;
    if (!decides && !instance->sink_full && !world->calm && random_below(&world->random, 1000) < world->traits.sink_full_permille) {
        arrange_room(world, instance);
    }
    if (instance->sink_full && !decides) {
        event.code = -2;
        world_shell_report(world, instance, &event);
        return;
    }
    if (world_schedules_deliver(world, instance, command, record, &event)) {
        return;
    }
    event.code = outcome(world, record, order);
    if (world->options.exactly_once) {
        instance->transaction->outputs[instance->transaction->output_count - 1].kept = order->as_refused && event.code == -1;
    }
    if (event.code == -1 && !world->options.exactly_once) {
        world_oracle_seen(world, record, output.read, output.letter);
        struct life_note *note = world_oracle_note(world, slot, record->event);
        PROMISE(world, !note->ended || slot->fenced, "offset %lld goes out, and was said to have ended", (long long)record->offset);
        PROMISE(world, note->outs++ == 0 || slot->fenced || order->not_reappended, "offset %lld went out twice in one life", (long long)record->event->offset);
    }
    world_events_add(world, &event);
}

static void checkpoint(struct world *world, struct world_instance *instance, const struct command *command)
{
    PROMISE(world, !instance->write.open, "two checkpoints are under way");
    world_plan_check(world, instance, command->as.plan);
    instance->write = (struct world_write){.open = true, .plan = command->as.plan};
    size_t rows = 0;
    for (size_t i = 0; i < command->as.plan->slot_count; i++) {
        const struct checkpoint_slot *part = &command->as.plan->slots[i];
        instance->write.partitions[i] = instance->slots[part->slot].partition;
        rows += part->row_count + part->split_count;
        world_say(world, "  checkpoint: slot %u rows %zu splits %zu drops %zu trims %zu erases %zu marks %zu position %lld",
                  part->slot, part->row_count, part->split_count, part->drop_count, part->trim_count,
                  part->erase_count, part->mark_count, (long long)part->position);
    }
    bool full = !world->calm && rows > 0 &&
                (world->store_full_until > world->now || world_chance(world, world->traits.full_percent));
    instance->write.result = full ? CHECKPOINT_FULL : CHECKPOINT_WRITTEN;
    struct event event = answer(world, instance, command, EVENT_WRITE);
    world_events_add(world, &event);
}

static void commit(struct world *world, struct world_instance *instance, const struct command *command)
{
    struct world_slot *slot = &instance->slots[command->slot];
    PROMISE(world, slot->held && !slot->commit_open && !world_transaction_names(instance, (int)command->slot),
            "two commits of a slot are under way");
    world_say(world, "  commit: slot %u offset %lld C %lld lanes apart %u", command->slot,
              (long long)command->as.frontier->committed_offset, (long long)command->as.frontier->low_offset,
              command->as.frontier->lane_count);
    world_oracle_frontier(world, slot, command->as.frontier, NULL);
    world_oracle_claimed(world, slot, command->as.frontier);
    slot->commit_open = true;
    slot->commit_settled = false;
    slot->sent = *command->as.frontier;
    struct event event = answer(world, instance, command, EVENT_COMMIT);
    world_events_add(world, &event);
    world->result.commits++;
}

static void scan(struct world *world, struct world_instance *instance, const struct command *command)
{
    struct event event = answer(world, instance, command, EVENT_SCAN);
    event.at = event.at < instance->scan_at ? instance->scan_at : event.at;
    instance->scan_at = event.at;
    event.scan = command->as.scan;
    event.partition = instance->slots[command->slot].partition;
    world_say(world, "  scan: slot %u lane %u bucket %u/%lld from %lld below %lld", command->slot,
              event.scan.bucket.lane, event.scan.bucket.level,
              (long long)(bucket_start_ms(event.scan.bucket) - WORLD_WALL_0), (long long)event.scan.from_offset,
              (long long)event.scan.below_offset);
    world_events_add(world, &event);
}

static void copy(struct world *world, struct world_instance *instance, const struct command *command)
{
    world_say(world, "  copy: slot %u lane %u offset %lld due %lld why %d sequence %llu", command->slot, command->as.copy.lane,
              (long long)command->as.copy.key.offset, (long long)(command->as.copy.due_ms - WORLD_WALL_0), (int)command->as.copy.why,
              (unsigned long long)command->as.copy.sequence);
    world_transaction_copy(world, instance, command);
    mix(world, (uint64_t)command->as.copy.key.offset ^ (uint64_t)command->as.copy.due_ms);
}

static void
later(struct world *world, const struct world_instance *instance, const struct command *command, enum event_kind kind)
{
    struct event event = answer(world, instance, command, kind);
    world_events_add(world, &event);
}

static void turn_reading(struct world *world, struct world_instance *instance, const struct command *command)
{
    struct world_slot *slot = &instance->slots[command->slot];
    slot->reading_paused = command->kind == COMMAND_READ_PAUSE;
    if (!slot->reading_paused) {
        world_shell_wake_poll(world, instance, (int)command->slot);
    }
}

static void leave(struct world *world, struct world_instance *instance, const struct command *command)
{
    if (command->kind == COMMAND_SLOT_LEFT) {
        PROMISE(world, instance->slots[command->slot].leaving, "a slot left that was not told to");
        later(world, instance, command, EVENT_LOSE);
    } else {
        PROMISE(world, instance->stopping, "stopped without an order");
        later(world, instance, command, EVENT_ENDED);
    }
}

static void run(struct world *world, struct world_instance *instance, const struct command *command)
{
    static void (*const runs[])(struct world *, struct world_instance *, const struct command *) = {
        [COMMAND_READ_PAUSE] = turn_reading,
        [COMMAND_READ_RESUME] = turn_reading,
        [COMMAND_DELIVER] = deliver,
        [COMMAND_SCAN] = scan,
        [COMMAND_CHECKPOINT] = checkpoint,
        [COMMAND_COMMIT] = commit,
        [COMMAND_COPY] = copy,
        [COMMAND_TRANSACTION] = world_transaction_command,
        [COMMAND_OUTCOME] = world_outcomes_hear,
        [COMMAND_STEERED] = world_steer_answer,
        [COMMAND_SLOT_LEFT] = leave,
        [COMMAND_STOPPED] = leave,
    };
    runs[command->kind](world, instance, command);
    mix(world, (uint64_t)command->kind << 56 ^ (uint64_t)command->slot << 48 ^ command->epoch);
    if (command->kind == COMMAND_DELIVER) {
        mix(world, (uint64_t)command->as.deliver.key.offset ^ command->as.deliver.sequence << 32);
    } else if (command->kind == COMMAND_TRANSACTION) {
        mix(world, command->as.transaction.number ^ (uint64_t)command->as.transaction.slot_count << 32);
    } else if (command->kind == COMMAND_COMMIT) {
        mix(world, (uint64_t)command->as.frontier->low_offset);
    }
}

void world_commands_run(struct world *world, struct world_instance *instance, const struct commands *commands)
{
    for (size_t i = 0; i < commands->count; i++) {
        run(world, instance, &commands->items[i]);
    }
    for (size_t i = 0; i < commands->release_count; i++) {
        struct world_ref *ref = &world->refs[commands->releases[i]];
        PROMISE(world, commands->releases[i] > 0 && commands->releases[i] < world->ref_count && ref->state == REF_LIVE,
                "ref %llu is released twice or unknown", (unsigned long long)commands->releases[i]);
        ref->state = REF_RELEASED;
        mix(world, commands->releases[i]);
    }
}
