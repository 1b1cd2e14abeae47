/* What must hold, computed by looking at every record. */
#include <stdlib.h>

#include "base/memory.h"
#include "tests/sim/world_state.h"

static bool pair_claims(struct frontier_pair pair, const struct world_record *record)
{
    bool below = record->due_ms < pair.point.due_ms ||
                 (record->due_ms == pair.point.due_ms && record->offset <= pair.point.offset);
    return record->offset < pair.cut && below;
}

bool world_oracle_claims(const struct partition_frontier *frontier, const struct world_record *record)
{
    if (record->offset < frontier->low_offset) {
        return true;
    }
    for (uint16_t i = 0; i < frontier->lane_count; i++) {
        if (frontier->lanes[i].lane == record->lane) {
            const struct frontier *lane = &frontier->lanes[i].frontier;
            bool claimed = pair_claims(lane->live, record);
            for (uint8_t j = 0; !claimed && j < lane->old_count; j++) {
                claimed = pair_claims(lane->old[j], record);
            }
            return claimed;
        }
    }
    return pair_claims(frontier->shared, record);
}

struct world_record *world_oracle_find(const struct world *world, int number, int64_t offset)
{
    const struct world_partition *partition = &world->partitions[number];
    size_t low = 0;
    size_t high = partition->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (partition->records[middle].offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    PROMISE(world, low < partition->count && partition->records[low].offset == offset,
            "there is no record at offset %lld", (long long)offset);
    return &partition->records[low];
}

static int64_t greatest_cut(const struct partition_frontier *frontier)
{
    int64_t cut = frontier->shared.cut;
    for (uint16_t i = 0; i < frontier->lane_count; i++) {
        int64_t mine = frontier->lanes[i].frontier.live.cut;
        cut = mine > cut ? mine : cut;
    }
    return cut;
}

static void check_row(struct world *world,
                      const struct world_instance *instance,
                      const struct world_slot *slot,
                      const struct command_deliver *order,
                      const struct world_record *record)
{
    if (order->ref != 0) {
        const struct world_ref *ref = &world->refs[order->ref];
        PROMISE(world, ref->state == REF_LIVE && ref->record == record,
                "the ref of offset %lld is not its own or was released", (long long)record->offset);
    } else {
        PROMISE(world, world_disk_has(&instance->disk.parts[slot->partition], order->bucket, record->offset),
                "offset %lld is not in the store", (long long)record->offset);
    }
}

/* By (due, offset) among those that were known before either came due. */
static void check_order(struct world *world, struct world_lane *lane, const struct world_record *record)
{
    struct key key = {record->due_ms, record->offset};
    if (lane->disturbed || record->known_wall_ms >= record->due_ms) {
        return;
    }
    PROMISE(world,
            lane->greatest.offset == 0 || key_compare(key, lane->greatest) > 0 ||
                record->known_wall_ms >= lane->greatest.due_ms,
            "offset %lld of lane %u is out of order", (long long)record->offset, record->lane);
    lane->greatest = lane->greatest.offset == 0 || key_compare(key, lane->greatest) > 0 ? key : lane->greatest;
}

static void note_sent(struct world *world,
                      struct world_lane *lane,
                      const struct command_deliver *order,
                      struct world_record *record)
{
    if (!order->again) {
        PROMISE(world, order->sequence == lane->count, "sequence %llu is not the next one",
                (unsigned long long)order->sequence);
        GROW_FOR_ONE(lane->notes, lane->count, lane->capacity);
        lane->notes[lane->count++] = (struct sequence_note){.record = record};
    }
    PROMISE(world,
            order->sequence < lane->count && lane->notes[order->sequence].record == record &&
                !lane->notes[order->sequence].open,
            "sequence %llu is under way or another record's", (unsigned long long)order->sequence);
    lane->notes[order->sequence].open = true;
    lane->in_flight++;
    PROMISE(world, lane->in_flight <= world->lane_options[order->lane].max_in_flight, "too many in flight in lane %u",
            order->lane);
}

void world_oracle_deliver(struct world *world,
                          struct world_instance *instance,
                          struct world_slot *slot,
                          const struct command_deliver *order)
{
    PROMISE(world, slot->held, "a slot that is not held delivers");
    struct world_record *record = world_oracle_find(world, slot->partition, order->key.offset);
    struct world_lane *lane = &slot->lanes[order->lane];
    int64_t wall = world_shell_now(world, instance).wall.ms;
    PROMISE(world, record->due_ms == order->key.due_ms && record->lane == order->lane,
            "offset %lld is taken for another record", (long long)record->offset);
    PROMISE(world, record->due_ms <= wall || order->again, "offset %lld is early by %lld ms", (long long)record->offset,
            (long long)(record->due_ms - wall));
    PROMISE(world, order->again ? record->failed_life == slot->life : record->sent_life != slot->life,
            "offset %lld is delivered twice in one life", (long long)record->offset);
    PROMISE(world, record->claimed_life != slot->life, "offset %lld is delivered although it is done",
            (long long)record->offset);
    PROMISE(world, !order->as_refused || record->target != TARGET_GOOD, "offset %lld is refused for nothing",
            (long long)record->offset);
    PROMISE(world,
            slot->reading_stopped ||
                (slot->position >= slot->catch_up_to && slot->position >= greatest_cut(&slot->acked)),
            "offset %lld is delivered before the slot caught up", (long long)record->offset);
    PROMISE(world, !slot->leaving && !instance->stopping && !instance->paused[order->lane],
            "offset %lld is delivered while it must wait", (long long)record->offset);
    check_row(world, instance, slot, order, record);
    note_sent(world, lane, order, record);
    if (!order->again) {
        check_order(world, lane, record);
    }
    record->failed_life = 0;
    record->sent_life = slot->life;
    world->result.deliveries++;
}

const struct frontier_pair *world_oracle_live(const struct partition_frontier *frontier, lane_index lane)
{
    for (uint16_t i = 0; i < frontier->lane_count; i++) {
        if (frontier->lanes[i].lane == lane) {
            return &frontier->lanes[i].frontier.live;
        }
    }
    return &frontier->shared;
}

void world_oracle_commit(struct world *world, struct world_slot *slot, const struct partition_frontier *frontier)
{
    struct world_partition *partition = &world->partitions[slot->partition];
    int64_t most = greatest_cut(frontier);
    for (size_t i = 0; i < partition->count; i++) {
        struct world_record *record = &partition->records[i];
        bool claimed = world_oracle_claims(frontier, record);
        PROMISE(world, claimed || record->claimed_life != slot->life,
                "a commit no longer says that offset %lld is done", (long long)record->offset);
        PROMISE(world, !claimed || record->claimed_life == slot->life || record->reported_life == slot->life,
                "a commit says that offset %lld is done, due %lld, lane %u", (long long)record->offset,
                (long long)(record->due_ms - WORLD_WALL_0), record->lane);
        record->claimed_life = claimed ? slot->life : record->claimed_life;
    }
    PROMISE(world, !slot->reading_stopped, "a slot whose reading was stopped commits");
    PROMISE(world, frontier->low_offset >= slot->last.low_offset, "C goes back");
    PROMISE(world, frontier->committed_offset >= slot->last.committed_offset, "the committed offset goes back");
    PROMISE(world, most <= slot->position || most <= greatest_cut(&slot->last), "a cut is beyond what was read");
    PROMISE(world, frontier->low_offset <= slot->position || frontier->low_offset == slot->last.low_offset,
            "C is beyond what was read");
    for (int i = 0; i < world->traits.lanes; i++) {
        PROMISE(world,
                world_oracle_live(frontier, (lane_index)i)->cut >= world_oracle_live(&slot->last, (lane_index)i)->cut,
                "the cut of lane %d goes back", i);
    }
    slot->last = *frontier;
}

static bool same_claims(const struct world_partition *partition,
                        const struct partition_frontier *a,
                        const struct partition_frontier *b)
{
    bool same = a->low_offset == b->low_offset;
    for (size_t i = 0; same && i < partition->count; i++) {
        same = world_oracle_claims(a, &partition->records[i]) == world_oracle_claims(b, &partition->records[i]);
    }
    return same;
}

/* Where reading was stopped nothing is committed: the checkpoint alone says what is done. */
static void check_own_claims(struct world *world, struct world_slot *slot, const struct partition_frontier *frontier)
{
    struct world_partition *partition = &world->partitions[slot->partition];
    for (size_t i = 0; i < partition->count; i++) {
        struct world_record *record = &partition->records[i];
        bool claimed = world_oracle_claims(frontier, record);
        bool known = record->claimed_life == slot->life || record->reported_life == slot->life;
        PROMISE(world, !claimed || known || record->offset >= slot->position,
                "a checkpoint says that offset %lld is done", (long long)record->offset);
        record->claimed_life = claimed ? slot->life : record->claimed_life;
    }
    slot->acked = *frontier;
}

void world_oracle_plan(struct world *world, struct world_instance *instance, const struct checkpoint_plan *plan)
{
    for (size_t i = 0; i < plan->slot_count; i++) {
        const struct checkpoint_slot *part = &plan->slots[i];
        struct world_slot *slot = &instance->slots[part->slot];
        if (slot->reading_stopped) {
            check_own_claims(world, slot, &part->frontier);
        }
        PROMISE(world, slot->held && slot->epoch == part->epoch, "a checkpoint names a slot that is not held");
        PROMISE(world, same_claims(&world->partitions[slot->partition], &part->frontier, &slot->acked),
                "a checkpoint's frontier is not the acknowledged one");
        PROMISE(world, part->position <= slot->position, "a checkpoint's position is beyond what was read");
        for (size_t j = 0; j < part->row_count; j++) {
            const struct world_record *record = world_oracle_find(world, slot->partition, part->rows[j].offset);
            PROMISE(world, !world_oracle_claims(&part->frontier, record), "offset %lld is written although it is done",
                    (long long)record->offset);
            PROMISE(world, j == 0 || part->rows[j - 1].offset < part->rows[j].offset, "a plan's rows are not in order");
        }
    }
}

void world_oracle_written(struct world *world,
                          const struct checkpoint_slot *part,
                          const struct store_part *store,
                          int number)
{
    const struct world_partition *partition = &world->partitions[number];
    size_t row = 0;
    for (size_t i = 0; i < partition->count && partition->records[i].offset < part->position; i++) {
        const struct world_record *record = &partition->records[i];
        while (row < store->count && store->rows[row].offset < record->offset) {
            row++;
        }
        bool stored = row < store->count && store->rows[row].offset == record->offset;
        PROMISE(world, stored || world_oracle_claims(&part->frontier, record), "the checkpoint misses offset %lld",
                (long long)record->offset);
    }
}
