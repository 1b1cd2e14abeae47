/* What must hold after every step, and at the end. */
#include "tests/sim/world_state.h"

/* Pending: what was read and is not done, as the core can know it. */
static uint64_t count_pending(const struct world *world, const struct world_slot *slot, lane_index lane)
{
    const struct world_partition *partition = &world->partitions[slot->partition];
    uint64_t count = 0;
    for (size_t i = 0; i < partition->count && partition->records[i].offset < slot->position; i++) {
        const struct world_record *record = &partition->records[i];
        count += record->lane == lane && !(record->claimed_life == slot->life && record->sent_life != slot->life);
    }
    return count - slot->lanes[lane].prefix;
}

static void check_queue(struct world *world, const struct world_instance *instance, int index, lane_index lane)
{
    const struct world_slot *slot = &instance->slots[index];
    struct core_queue_stats stats;
    core_queue_stats(instance->core, (slot_index)index, lane, world_shell_now(world, instance), &stats);
    uint64_t pending = count_pending(world, slot, lane);
    PROMISE(world, stats.pending >= pending, "lane %u: %llu are pending, it says %llu", lane,
            (unsigned long long)pending, (unsigned long long)stats.pending);
    PROMISE(world, !slot->exact || stats.pending == pending, "lane %u: %llu are pending, it says %llu", lane,
            (unsigned long long)pending, (unsigned long long)stats.pending);
    PROMISE(world, instance->input_count > 0 || stats.in_flight == slot->lanes[lane].in_flight,
            "lane %u: in flight differs", lane);
}

static void check_memory(struct world *world, const struct world_instance *instance)
{
    struct core_stats stats;
    core_stats(instance->core, &stats);
    uint64_t queues = (uint64_t)(world->traits.lanes * world->traits.partitions);
    uint64_t least = 64 * queues; /* each may keep some, however small the limit */
    uint64_t most =
        (world->options.entries_max > least ? world->options.entries_max : least) + queues * world->options.late_max;
    PROMISE(world, stats.entries <= most, "%llu entries in memory", (unsigned long long)stats.entries);
}

void world_oracle_step(struct world *world, struct world_instance *instance)
{
    check_memory(world, instance);
    if (world->result.steps % world->traits.validate_every != 0) {
        return;
    }
    core_validate(instance->core);
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        for (lane_index lane = 0; instance->slots[i].held && lane < world->traits.lanes; lane++) {
            check_queue(world, instance, i, lane);
        }
    }
}

static void check_partition_end(struct world *world, int number)
{
    const struct world_partition *partition = &world->partitions[number];
    for (size_t i = 0; i < partition->count; i++) {
        const struct world_record *record = &partition->records[i];
        PROMISE(world, record->taken > 0, "offset %lld of partition %d never got out: lane %u due %lld",
                (long long)record->offset, number, record->lane, (long long)(record->due_ms - WORLD_WALL_0));
        PROMISE(world, record->committed, "offset %lld of partition %d was never committed", (long long)record->offset,
                number);
    }
    PROMISE(world, partition->holder >= 0, "partition %d has no holder", number);
    PROMISE(world, partition->group.low_offset == partition->log_end, "C of partition %d is %lld, the end %lld", number,
            (long long)partition->group.low_offset, (long long)partition->log_end);
    PROMISE(world, partition->group.committed_offset == partition->log_end, "the committed offset is behind");
    const struct store_part *store = &world->instances[partition->holder].disk.parts[number];
    PROMISE(world, store->count == 0, "%zu rows are left in the store", store->count);
    PROMISE(world, store->position == partition->log_end, "the checkpoint's position is behind");
}

static void check_slot_end(struct world *world, const struct world_instance *instance, int index)
{
    struct core_slot_stats stats;
    core_slot_stats(instance->core, (slot_index)index, &stats);
    PROMISE(world, stats.unwritten_rows == 0 && stats.buckets == 0 && !stats.reading_paused && stats.caught_up,
            "slot %d is not at rest", index);
    for (lane_index lane = 0; lane < world->traits.lanes; lane++) {
        struct core_queue_stats queue;
        core_queue_stats(instance->core, (slot_index)index, lane, world_shell_now(world, instance), &queue);
        PROMISE(world, queue.pending == 0 && queue.pending_bytes == 0 && queue.in_memory == 0,
                "lane %u still has %llu pending", lane, (unsigned long long)queue.pending);
    }
}

static void check_refs_end(struct world *world)
{
    for (size_t i = 1; i < world->ref_count; i++) {
        const struct world_ref *ref = &world->refs[i];
        const struct world_instance *instance = &world->instances[ref->instance];
        bool forgotten = ref->state == REF_LIVE && instance->alive && instance->run == ref->run;
        PROMISE(world, !forgotten, "ref %zu was never released", i);
    }
}

void world_oracle_end(struct world *world)
{
    for (int i = 0; i < world->traits.partitions; i++) {
        check_partition_end(world, i);
    }
    for (int i = 0; i < world->traits.instances; i++) {
        for (int j = 0; j < WORLD_PARTITIONS_MAX; j++) {
            if (world->instances[i].slots[j].held) {
                check_slot_end(world, &world->instances[i], j);
            }
        }
    }
    check_refs_end(world);
}
