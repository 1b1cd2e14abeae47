/* A checkpoint, carried out on an instance's disk: drops, trims, erases, splits, puts. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scheduler/bucket.h"
#include "tests/sim/world_state.h"

static bool same(struct bucket_id a, struct bucket_id b)
{
    return bucket_compare(a, b) == 0;
}

static struct bucket_stats *find_stats(struct store_part *part, struct bucket_id id)
{
    for (size_t i = 0; i < part->bucket_count; i++) {
        if (same(part->buckets[i].id, id)) {
            return &part->buckets[i];
        }
    }
    return NULL;
}

static void count_row(struct store_part *part, const struct store_row *row)
{
    struct bucket_stats *stats = find_stats(part, row->bucket);
    struct key key = {row->due_ms, row->offset};
    if (stats == NULL) {
        part->buckets = memory_resize(part->buckets, part->bucket_count + 1, sizeof(*part->buckets));
        stats = &part->buckets[part->bucket_count++];
        *stats = (struct bucket_stats){
            .id = row->bucket, .least_offset = row->offset, .last_offset = row->offset, .greatest = key};
    }
    stats->count++;
    stats->bytes += row->bytes;
    stats->least_offset = row->offset < stats->least_offset ? row->offset : stats->least_offset;
    stats->last_offset = row->offset > stats->last_offset ? row->offset : stats->last_offset;
    stats->greatest = key_compare(key, stats->greatest) > 0 ? key : stats->greatest;
}

static void forget_stats(struct store_part *part, struct bucket_id id)
{
    struct bucket_stats *stats = find_stats(part, id);
    if (stats != NULL) {
        *stats = part->buckets[--part->bucket_count];
    }
}

static void touch(struct world_write *write, const struct checkpoint_slot *part, struct bucket_id id)
{
    for (size_t i = 0; i < write->touched_count; i++) {
        if (write->touched[i].slot == part->slot && same(write->touched[i].stats.id, id)) {
            return;
        }
    }
    write->touched = memory_resize(write->touched, write->touched_count + 1, sizeof(*write->touched));
    write->touched[write->touched_count++] =
        (struct checkpoint_touched){.slot = part->slot, .epoch = part->epoch, .stats = {.id = id}};
}

static void check_gone(struct world *world, const struct checkpoint_slot *part, const struct world_record *record)
{
    PROMISE(world,
            world_oracle_claims(&part->frontier, record) || world_log_outdated(record, INT64_MAX) || record->moved || record->event->taken > 0,
            "offset %lld is removed from the store, and it is not done", (long long)record->offset);
}

static void
drop(struct world *world, struct store_part *store, const struct checkpoint_slot *part, struct bucket_id id)
{
    size_t kept = 0;
    for (size_t i = 0; i < store->count; i++) {
        if (!same(store->rows[i].bucket, id)) {
            store->rows[kept++] = store->rows[i];
            continue;
        }
        check_gone(world, part, store->rows[i].record);
    }
    store->count = kept;
    forget_stats(store, id);
}

/* A bucket that lost rows: `least` is the least offset that is left. */
static void settle_stats(struct store_part *store, struct bucket_id id, int64_t least, bool tight)
{
    struct bucket_stats *stats = find_stats(store, id);
    if (stats != NULL && stats->count == 0) {
        forget_stats(store, id);
    } else if (stats != NULL && tight) {
        stats->least_offset = least;
    }
}

static void remove_row(struct store_part *store, size_t index)
{
    struct bucket_stats *stats = find_stats(store, store->rows[index].bucket);
    stats->count--;
    stats->bytes -= store->rows[index].bytes;
    memmove(&store->rows[index], &store->rows[index + 1], (store->count - index - 1) * sizeof(*store->rows));
    store->count--;
}

static int64_t least_of(const struct store_part *store, struct bucket_id id)
{
    size_t i = 0;
    while (i < store->count && !same(store->rows[i].bucket, id)) {
        i++;
    }
    return i < store->count ? store->rows[i].offset : INT64_MAX;
}

static void trim(struct world *world,
                 struct store_part *store,
                 const struct checkpoint_slot *part,
                 const struct checkpoint_trim *trim)
{
    uint32_t removed = 0;
    for (size_t i = 0; i < store->count && removed < trim->rows_max;) {
        const struct store_row *row = &store->rows[i];
        if (same(row->bucket, trim->bucket) && row->offset < trim->below_offset) {
            check_gone(world, part, row->record);
            remove_row(store, i);
            removed++;
        } else {
            i++;
        }
    }
    settle_stats(store, trim->bucket, least_of(store, trim->bucket), true); /* else it would be trimmed for ever */
}

/* Wherever it stands: in a bucket of its lane and time of any level, or nowhere. */
static void erase(struct world *world,
                  struct store_part *store,
                  struct world_write *write,
                  const struct checkpoint_slot *part,
                  const struct checkpoint_erase *erase)
{
    for (size_t i = 0; i < store->count; i++) {
        const struct store_row *row = &store->rows[i];
        if (row->offset == erase->key.offset) {
            struct bucket_id bucket = row->bucket;
            PROMISE(world, row->due_ms == erase->key.due_ms && bucket.lane == erase->lane, "another row is erased");
            check_gone(world, part, row->record);
            touch(write, part, bucket);
            remove_row(store, i);
            settle_stats(store, bucket, least_of(store, bucket), world->traits.tight_stats);
            return;
        }
    }
}

static void split(struct world *world,
                  struct store_part *store,
                  struct world_write *write,
                  const struct checkpoint_slot *part,
                  const struct checkpoint_split *split)
{
    uint32_t moved = 0;
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < store->count; i++) {
        struct store_row *row = &store->rows[i];
        if (!same(row->bucket, split->from)) {
            continue;
        }
        if (moved == split->rows_max) {
            next = row->offset;
            break;
        }
        struct bucket_stats *stats = find_stats(store, split->from);
        stats->count--;
        stats->bytes -= row->bytes;
        row->bucket = bucket_of(split->from.lane, split->from.level - 1U, row->due_ms);
        count_row(store, row);
        touch(write, part, row->bucket);
        moved++;
    }
    settle_stats(store, split->from, next, world->traits.tight_stats);
}

static void put(struct world *world, struct store_part *store, int partition, const struct checkpoint_row *row)
{
    struct world_record *record = world_log_find(world, partition, row->offset);
    struct store_row new = {record, row->offset, row->due_ms, record->bytes, row->bucket};
    size_t at = store->count;
    store->rows = memory_resize(store->rows, store->count + 1, sizeof(*store->rows));
    while (at > 0 && store->rows[at - 1].offset > row->offset) {
        store->rows[at] = store->rows[at - 1];
        at--;
    }
    PROMISE(world, at == 0 || store->rows[at - 1].offset != row->offset, "offset %lld is put twice",
            (long long)row->offset);
    PROMISE(world, world->refs[row->ref].state == REF_LIVE && world->refs[row->ref].record == record,
            "the plan's ref of offset %lld is not its own", (long long)row->offset);
    PROMISE(world,
            bucket_covers(row->bucket, row->due_ms) && row->due_ms == record->due_ms &&
                row->bucket.lane == record->lane,
            "offset %lld is put into a wrong bucket", (long long)row->offset);
    store->rows[at] = new;
    store->count++;
    count_row(store, &new);
}

/* The marks and skips replace those that were there (R3). */
static void keep_notes(struct store_part *store, const struct checkpoint_slot *part)
{
    store->mark_count = part->mark_count;
    store->skip_count = part->skip_count;
    store->marks = memory_resize(store->marks, part->mark_count + 1, sizeof(*store->marks));
    store->skips = memory_resize(store->skips, part->skip_count + 1, sizeof(*store->skips));
    for (size_t i = 0; i < part->mark_count; i++) {
        store->marks[i] = part->marks[i];
    }
    for (size_t i = 0; i < part->skip_count; i++) {
        store->skips[i] = part->skips[i];
    }
}

static void
write_part(struct world *world, struct world_instance *instance, const struct checkpoint_slot *part, int partition)
{
    struct store_part *store = &instance->disk.parts[partition];
    struct world_write *write = &instance->write;
    for (size_t i = 0; i < part->drop_count; i++) {
        touch(write, part, part->drops[i]);
        drop(world, store, part, part->drops[i]);
    }
    for (size_t i = 0; i < part->trim_count; i++) {
        touch(write, part, part->trims[i].bucket);
        trim(world, store, part, &part->trims[i]);
    }
    for (size_t i = 0; i < part->erase_count; i++) {
        erase(world, store, write, part, &part->erases[i]);
    }
    for (size_t i = 0; i < part->split_count; i++) {
        touch(write, part, part->splits[i].from);
        split(world, store, write, part, &part->splits[i]);
    }
    for (size_t i = 0; i < part->row_count; i++) {
        touch(write, part, part->rows[i].bucket);
        put(world, store, partition, &part->rows[i]);
    }
    PROMISE(world, !store->found || part->position >= store->position, "the checkpoint's position goes back");
    store->found = true;
    store->position = part->position;
    keep_notes(store, part);
    world_plan_written(world, part, store, partition);
}

void world_write(struct world *world, struct world_instance *instance)
{
    struct world_write *write = &instance->write;
    const struct checkpoint_plan *plan = write->plan;
    write->applied = true;
    for (size_t i = 0; write->result == CHECKPOINT_WRITTEN && i < plan->slot_count; i++) {
        write_part(world, instance, &plan->slots[i], write->partitions[i]);
    }
    for (size_t i = 0; i < write->touched_count; i++) {
        struct checkpoint_touched *touched = &write->touched[i];
        for (size_t j = 0; j < plan->slot_count; j++) {
            if (plan->slots[j].slot == touched->slot) {
                const struct bucket_stats *stats =
                    find_stats(&instance->disk.parts[write->partitions[j]], touched->stats.id);
                touched->stats = stats != NULL ? *stats : touched->stats;
            }
        }
    }
    world->result.checkpoints++;
}
