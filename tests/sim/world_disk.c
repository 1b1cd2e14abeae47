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
    free(disk->parts[partition].marks);
    free(disk->parts[partition].skips);
    disk->parts[partition] = (struct store_part){0};
}

void world_disk_free(struct world_disk *disk)
{
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        world_disk_forget(disk, i);
    }
}

static void *copy_of(const void *items, size_t count, size_t size)
{
    void *copy = memory_new(count + 1, size);
    if (count > 0) {
        memcpy(copy, items, count * size);
    }
    return copy;
}

void world_disk_copy(struct world_disk *to, const struct world_disk *from)
{
    world_disk_free(to);
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        const struct store_part *part = &from->parts[i];
        to->parts[i] = *part;
        to->parts[i].rows = copy_of(part->rows, part->count, sizeof(*part->rows));
        to->parts[i].buckets = copy_of(part->buckets, part->bucket_count, sizeof(*part->buckets));
        to->parts[i].marks = copy_of(part->marks, part->mark_count, sizeof(*part->marks));
        to->parts[i].skips = copy_of(part->skips, part->skip_count, sizeof(*part->skips));
    }
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
        if (bucket_compare(row->bucket, scan->bucket) != 0 || row->offset < scan->from_offset || row->offset >= scan->below_offset) {
            continue;
        }
        if (*count == scan->rows_max) {
            *end = false;
            return;
        }
        rows[(*count)++] = (struct scanned_row){row->offset, row->due_ms, row->bytes};
    }
}

/* The row of that id which was written last. */
struct stored_event world_disk_by_id(const struct store_part *part, uint32_t id)
{
    struct stored_event found = {.offset = -1, .root = -1};
    for (size_t i = part->count; i > 0 && found.offset < 0; i--) {
        const struct store_row *row = &part->rows[i - 1];
        if (row->record->id == id && !row->record->schedule.conditional) {
            found = (struct stored_event){row->offset, row->due_ms, row->record->root, row->bytes, row->bucket.lane};
        }
    }
    return found;
}
