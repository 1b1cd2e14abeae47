/* What must hold after every step, and at the end. */
#include "tests/sim/world_state.h"

/* It failed, and will not be sent again: it was cancelled, replaced or moved meanwhile. */
static bool is_ended(const struct world_slot *slot, const struct world_record *record)
{
    const struct life_note *note = &slot->notes[record->index];
    return (note->failed || note->goes_on) && (note->moved || world_log_outdated(record, slot->position) ||
                            ((!note->copying || note->steering) && world_log_displaced(record, slot->position)));
}

static void pass_prefix(const struct world_slot *slot, struct world_lane *lane)
{
    while (lane->prefix < lane->count &&
           (lane->notes[lane->prefix].done || is_ended(slot, lane->notes[lane->prefix].record))) {
        lane->prefix++;
    }
}

bool world_check_waits(const struct world_slot *slot, const struct world_record *record)
{
    const struct life_note *note = record->index < slot->note_count ? &slot->notes[record->index] : &(const struct life_note){0};
    bool done = (note->claimed || note->moved) && !note->copying;
    return record->state == RECORD_VISIBLE && !record->cancel && !done && record->judged != JUDGED_DUPLICATE && note->known_wall_ms != 0 &&
           !world_oracle_outdated(slot, record) && ((note->copying && !note->steering) || !world_log_displaced(record, slot->position));
}

/* Pending: what was read and is not done, as the core can know it. */
static void count_pending(const struct world *world, struct world_slot *slot, uint64_t *counts)
{
    const struct world_partition *partition = &world->partitions[slot->partition];
    for (size_t i = 0; i < partition->count && partition->records[i]->offset < slot->position; i++) {
        const struct world_record *record = partition->records[i];
        bool sent = i < slot->note_count && slot->notes[i].sent;
        counts[record->lane] += sent || world_check_waits(slot, record);
    }
    for (int lane = 0; lane < world->traits.lanes; lane++) {
        pass_prefix(slot, &slot->lanes[lane]);
        pass_prefix(slot, &slot->behind[lane]);
        counts[lane] -= slot->lanes[lane].prefix + slot->behind[lane].prefix;
    }
}

static void
check_queue(struct world *world, const struct world_instance *instance, int index, lane_index lane, uint64_t pending)
{
    const struct world_slot *slot = &instance->slots[index];
    struct core_queue_stats stats;
    core_queue_stats(instance->core, (slot_index)index, lane, world_clock_now(world, instance), &stats);
    PROMISE(world, stats.pending >= pending, "lane %u: %llu are pending, it says %llu", lane,
            (unsigned long long)pending, (unsigned long long)stats.pending);
    const struct world_transaction *transaction = instance->transaction;
    bool copies = (transaction != NULL && (transaction->copy_count > 0 || transaction->failed)) || instance->input_count > 0; /* counted off at its end */
    PROMISE(world, copies || !slot->exact || slot->fenced || stats.pending == pending, "lane %u: %llu are pending, it says %llu", lane,
            (unsigned long long)pending, (unsigned long long)stats.pending);
    PROMISE(world, instance->input_count > 0 || stats.in_flight == slot->lanes[lane].in_flight + slot->behind[lane].in_flight,
            "lane %u: in flight differs", lane);
}

static void check_memory(struct world *world, const struct world_instance *instance)
{
    struct core_stats stats;
    core_stats(instance->core, &stats);
    uint64_t queues = (uint64_t)(world->traits.lanes * world->traits.partitions) * (world->options.catch_up_per_s > 0 ? 2 : 1);
    uint64_t least = 64 * queues; /* each may keep some, however small the limit */
    uint64_t most =
        (world->options.entries_max > least ? world->options.entries_max : least) + queues * world->options.late_max;
    PROMISE(world, stats.entries <= most, "%llu entries in memory", (unsigned long long)stats.entries);
}

void world_check_step(struct world *world, struct world_instance *instance)
{
    check_memory(world, instance);
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        if (instance->slots[i].held) {
            world_dedupe_step(world, &instance->slots[i]);
        }
    }
    if (world->unsure || world->result.steps % world->traits.validate_every != 0) {
        return;
    }
    core_validate(instance->core);
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        uint64_t pending[WORLD_LANES_MAX] = {0};
        if (instance->slots[i].held) {
            count_pending(world, &instance->slots[i], pending);
        }
        for (lane_index lane = 0; instance->slots[i].held && lane < world->traits.lanes; lane++) {
            check_queue(world, instance, i, lane, pending[lane]);
        }
        if (instance->slots[i].held) {
            world_look_step(world, instance, i);
        }
    }
}

/* Read = delivered + cancelled or replaced + moved + skipped + controls: each record is one of these, and all are done. */
static void check_record_end(struct world *world, int number, const struct world_record *record)
{
    bool event = record->state == RECORD_VISIBLE && !record->cancel && record->judged != JUDGED_DUPLICATE;
    bool outdated = event && world_log_outdated(record, INT64_MAX);
    PROMISE(world, record->state != RECORD_OPEN, "offset %lld is still in a transaction", (long long)record->offset);
    bool decided = record->schedule.undecided && record->moved; /* then that one counts */
    PROMISE(world, !event || outdated || decided || record->event->taken > 0 || record->event->let_fall,
            "offset %lld of partition %d never got out: lane %u due %lld", (long long)record->offset, number,
            record->lane, (long long)(record->due_ms - WORLD_WALL_0));
    PROMISE(world, !event || record->committed || world->traits.dedupe_ms > 0, "offset %lld of partition %d was never committed",
            (long long)record->offset, number);
    if (event && !outdated) {
        world_schedules_end(world, record);
    }
    if (event && record->event == record) {
        world_letters_end(world, record);
        world->result.cancelled += record->taken == 0;
        world->result.delivered += record->taken > 0;
    }
}

static void check_partition_end(struct world *world, int number)
{
    const struct world_partition *partition = &world->partitions[number];
    for (size_t i = 0; i < partition->count; i++) {
        check_record_end(world, number, partition->records[i]);
    }
    PROMISE(world, partition->holder >= 0, "partition %d has no holder", number);
    bool kept = world->traits.dedupe_ms > 0; /* ids are, and C with them, until somebody commits again */
    PROMISE(world, kept || partition->group.low_offset == partition->log_end, "C of partition %d is %lld, the end %lld", number,
            (long long)partition->group.low_offset, (long long)partition->log_end);
    PROMISE(world, partition->group.behind_count == 0, "a catch-up boundary is left");
    PROMISE(world, partition->group.committed_offset == partition->log_end, "the committed offset is behind");
    const struct store_part *store = &world->instances[partition->holder].disk.parts[number];
    PROMISE(world, store->count == 0, "%zu rows are left in the store", store->count);
    PROMISE(world, store->position == partition->log_end, "the checkpoint's position is behind");
    for (size_t i = 0; i < store->mark_count; i++) { /* C has passed them: nobody takes them up */
        PROMISE(world, store->marks[i].offset < partition->log_end, "a mark is left in the store");
    }
}

static void check_slot_end(struct world *world, const struct world_instance *instance, int index)
{
    struct core_slot_stats stats;
    core_slot_stats(instance->core, (slot_index)index, &stats);
    PROMISE(world, stats.unwritten_rows == 0 && stats.buckets == 0 && !stats.reading_paused && stats.caught_up,
            "slot %d is not at rest", index);
    PROMISE(world, stats.marks == 0, "%u marks are left", stats.marks);
    PROMISE(world, stats.lanes_behind == 0, "%u lanes still catch up", stats.lanes_behind);
    world_outcomes_end(world, instance, index);
    world->result.cancels += stats.cancelled + stats.replaced;
    world->result.skips += stats.skipped;
    for (lane_index lane = 0; lane < world->traits.lanes; lane++) {
        struct core_queue_stats queue;
        core_queue_stats(instance->core, (slot_index)index, lane, world_clock_now(world, instance), &queue);
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

void world_check_end(struct world *world)
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
    world_steer_end(world);
}
