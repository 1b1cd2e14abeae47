/* What must hold of checkpoints. */
#include "tests/sim/world_state.h"

static bool same_claims(const struct world_partition *partition,
                        const struct partition_frontier *a,
                        const struct partition_frontier *b)
{
    bool same = a->low_offset == b->low_offset;
    for (size_t i = 0; same && i < partition->count; i++) {
        same = world_oracle_claims(a, partition->records[i]) == world_oracle_claims(b, partition->records[i]);
    }
    return same;
}

/* Where reading was stopped nothing is committed: the checkpoint alone says what is done. */
static void check_own_claims(struct world *world, struct world_slot *slot, const struct partition_frontier *frontier)
{
    struct world_partition *partition = &world->partitions[slot->partition];
    for (size_t i = 0; i < partition->count; i++) {
        struct world_record *record = partition->records[i];
        struct life_note *note = world_oracle_note(world, slot, record);
        bool claimed = world_oracle_claims(frontier, record);
        bool known = record->judged == JUDGED_DUPLICATE || note->claimed || note->done || record->cancel || record->state != RECORD_VISIBLE ||
                     world_log_outdated(record, slot->position);
        PROMISE(world, !claimed || known || record->offset >= slot->position,
                "a checkpoint says that offset %lld is done", (long long)record->offset);
        note->claimed = note->claimed || claimed;
    }
    slot->acked = *frontier;
}

static void check_rows(struct world *world, struct world_slot *slot, const struct checkpoint_slot *part)
{
    for (size_t i = 0; i < part->row_count; i++) {
        const struct world_record *record = world_log_find(world, slot->partition, part->rows[i].offset);
        PROMISE(world, !record->cancel && !world_oracle_claims(&part->frontier, record),
                "offset %lld is written although it is done", (long long)record->offset);
        PROMISE(world, i == 0 || part->rows[i - 1].offset < part->rows[i].offset, "a plan's rows are not in order");
        uint32_t id = record->schedule.conditional ? 0 : record->id; /* nobody finds one that is not decided */
        PROMISE(world, part->rows[i].id.low == id && part->rows[i].id.high == id,
                "offset %lld is written with another id", (long long)record->offset);
    }
}

/* C has passed what is trimmed; what is erased was cancelled or replaced. */
static void check_removed(struct world *world, struct world_slot *slot, const struct checkpoint_slot *part)
{
    for (size_t i = 0; i < part->trim_count; i++) {
        PROMISE(world, part->trims[i].below_offset <= part->frontier.low_offset, "a trim goes beyond C");
    }
    for (size_t i = 0; i < part->erase_count; i++) {
        const struct world_record *record = world_log_find(world, slot->partition, part->erases[i].key.offset);
        PROMISE(world,
                record->due_ms == part->erases[i].key.due_ms && record->lane == part->erases[i].lane &&
                    (world_log_outdated(record, slot->position) || record->moved || world_oracle_note(world, slot, record)->done),
                "offset %lld is erased, and nothing has cancelled or replaced it", (long long)record->offset);
    }
    for (size_t i = 0; i < part->mark_count; i++) {
        const struct world_record *record = world_log_find(world, slot->partition, part->marks[i].offset);
        PROMISE(world, record->origin == record && record->id == part->marks[i].id.low, "a mark of no control");
    }
    for (size_t i = 0; i < part->skip_count; i++) {
        const struct world_record *record = world_log_find(world, slot->partition, part->skips[i].skipped);
        if (part->skips[i].offset == part->skips[i].skipped) {
            PROMISE(world, record->judged == JUDGED_DUPLICATE, "offset %lld is kept as a duplicate, and is none", (long long)record->offset);
            continue;
        }
        PROMISE(world, record->root >= 0 && record->root < part->skips[i].offset, "a skip of what no mark ends");
    }
}

void world_plan_check(struct world *world, struct world_instance *instance, const struct checkpoint_plan *plan)
{
    for (size_t i = 0; i < plan->slot_count; i++) {
        const struct checkpoint_slot *part = &plan->slots[i];
        struct world_slot *slot = &instance->slots[part->slot];
        PROMISE(world, slot->held && slot->epoch == part->epoch, "a checkpoint names a slot that is not held");
        if (slot->reading_stopped) {
            check_own_claims(world, slot, &part->frontier);
        }
        PROMISE(world, same_claims(&world->partitions[slot->partition], &part->frontier, &slot->acked),
                "a checkpoint's frontier is not the acknowledged one");
        PROMISE(world, part->position <= slot->position, "a checkpoint's position is beyond what was read");
        check_rows(world, slot, part);
        check_removed(world, slot, part);
    }
}

/* Everything below the position is there, or done, or was cancelled or replaced: by what stands below it too, or is read again. */
void world_plan_written(struct world *world,
                        const struct checkpoint_slot *part,
                        const struct store_part *store,
                        int number)
{
    const struct world_partition *partition = &world->partitions[number];
    size_t row = 0;
    for (size_t i = 0; i < partition->count && partition->records[i]->offset < part->position; i++) {
        const struct world_record *record = partition->records[i];
        while (row < store->count && store->rows[row].offset < record->offset) {
            row++;
        }
        bool stored = row < store->count && store->rows[row].offset == record->offset;
        bool out = record->event->taken > 0 && record->id != 0; /* erased: a newer one of its id came while F did not say so yet */
        bool needless = record->cancel || record->judged == JUDGED_DUPLICATE || record->state != RECORD_VISIBLE || record->moved || out ||
                        world_log_outdated(record, INT64_MAX);
        PROMISE(world, stored || needless || world_oracle_claims(&part->frontier, record),
                "the checkpoint misses offset %lld", (long long)record->offset);
    }
}
