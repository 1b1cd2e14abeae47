/* The store of an instance: arrays keyed as store/store.h says. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scheduler/bucket.h"
#include "tests/sim/world_state.h"

void world_disk_forget(struct world_disk *disk, int partition)
{
    free(disk->parts[partition].rows);
    free(disk->parts[partition].buckets);
    disk->parts[partition] = (struct store_part){0};
}

void world_disk_free(struct world_disk *disk)
{
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        world_disk_forget(disk, i);
    }
}

void world_disk_copy(struct world_disk *to, const struct world_disk *from)
{
    world_disk_free(to);
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        const struct store_part *part = &from->parts[i];
        to->parts[i] = *part;
        to->parts[i].rows = memory_new(part->count + 1, sizeof(*part->rows));
        to->parts[i].buckets = memory_new(part->bucket_count + 1, sizeof(*part->buckets));
        if (part->count > 0) {
            memcpy(to->parts[i].rows, part->rows, part->count * sizeof(*part->rows));
        }
        if (part->bucket_count > 0) {
            memcpy(to->parts[i].buckets, part->buckets, part->bucket_count * sizeof(*part->buckets));
        }
    }
}

static bool same(struct bucket_id a, struct bucket_id b)
{
    return bucket_compare(a, b) == 0;
}

/* In this bucket, or in a coarser one of its time. */
bool world_disk_has(const struct store_part *part, struct bucket_id bucket, int64_t offset)
{
    for (size_t i = 0; i < part->count; i++) {
        const struct store_row *row = &part->rows[i];
        if (row->offset == offset) {
            return row->bucket.lane == bucket.lane && row->bucket.level >= bucket.level &&
                   bucket_covers(row->bucket, bucket_start_ms(bucket));
        }
    }
    return false;
}

void world_disk_scan(
    const struct store_part *part, const struct command_scan *scan, struct scanned_row *rows, size_t *count, bool *end)
{
    *count = 0;
    *end = true;
    for (size_t i = 0; i < part->count; i++) {
        const struct store_row *row = &part->rows[i];
        if (!same(row->bucket, scan->bucket) || row->offset < scan->from_offset || row->offset >= scan->below_offset) {
            continue;
        }
        if (*count == scan->rows_max) {
            *end = false;
            return;
        }
        rows[(*count)++] = (struct scanned_row){row->offset, row->due_ms, row->bytes};
    }
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

static void drop(struct world *world,
                 struct store_part *store,
                 const struct checkpoint_slot *part,
                 int partition,
                 struct bucket_id id)
{
    size_t kept = 0;
    for (size_t i = 0; i < store->count; i++) {
        if (!same(store->rows[i].bucket, id)) {
            store->rows[kept++] = store->rows[i];
            continue;
        }
        const struct world_record *record = world_oracle_find(world, partition, store->rows[i].offset);
        PROMISE(world, world_oracle_claims(&part->frontier, record), "a drop takes offset %lld, which is not done",
                (long long)record->offset);
    }
    store->count = kept;
    forget_stats(store, id);
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
    struct bucket_stats *stats = find_stats(store, split->from);
    if (stats != NULL && stats->count == 0) {
        forget_stats(store, split->from);
    } else if (stats != NULL && world->traits.tight_stats) {
        stats->least_offset = next;
    }
}

static void put(struct world *world, struct store_part *store, int partition, const struct checkpoint_row *row)
{
    const struct world_record *record = world_oracle_find(world, partition, row->offset);
    struct store_row new = {row->offset, row->due_ms, record->bytes, row->bucket};
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

static void
write_part(struct world *world, struct world_instance *instance, const struct checkpoint_slot *part, int partition)
{
    struct store_part *store = &instance->disk.parts[partition];
    struct world_write *write = &instance->write;
    for (size_t i = 0; i < part->drop_count; i++) {
        touch(write, part, part->drops[i]);
        drop(world, store, part, partition, part->drops[i]);
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
    world_oracle_written(world, part, store, partition);
}

void world_disk_write(struct world *world, struct world_instance *instance)
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
