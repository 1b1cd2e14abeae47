#include "support/store_fake_disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/store_fake.h"

static struct store_fake_disk *all_disks;

struct store_fake_disk *store_fake_disk_of(const char *path)
{
    for (struct store_fake_disk *disk = all_disks; disk != NULL; disk = disk->next) {
        if (strcmp(disk->path, path) == 0) {
            return disk;
        }
    }
    struct store_fake_disk *disk = memory_new(1, sizeof(*disk));
    disk->path = memory_text(path, strlen(path));
    disk->image = memory_new(1, sizeof(*disk->image));
    disk->bytes_most = UINT64_MAX;
    disk->next = all_disks;
    all_disks = disk;
    return disk;
}

uint64_t store_fake_image_bytes(const struct store_fake_image *image)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < image->count; i++) {
        for (size_t j = 0; j < image->partitions[i]->count; j++) {
            bytes += image->partitions[i]->buckets[j].stats.bytes;
        }
    }
    return bytes;
}

struct store_fake_partition *
store_fake_partition_of(struct store_fake_image *image, const char *topic, int32_t partition)
{
    for (size_t i = 0; i < image->count; i++) {
        if (image->partitions[i]->partition == partition && strcmp(image->partitions[i]->topic, topic) == 0) {
            return image->partitions[i];
        }
    }
    struct store_fake_partition *made = memory_new(1, sizeof(*made));
    made->topic = memory_text(topic, strlen(topic));
    made->partition = partition;
    image->partitions = memory_resize(image->partitions, image->count + 1, sizeof(struct store_fake_partition *));
    image->partitions[image->count++] = made;
    return made;
}

static void free_bucket(struct store_fake_bucket *bucket)
{
    for (size_t i = 0; i < bucket->count; i++) {
        free(bucket->rows[i].bytes);
    }
    free(bucket->rows);
}

void store_fake_partition_clear(struct store_fake_partition *partition)
{
    for (size_t i = 0; i < partition->count; i++) {
        free_bucket(&partition->buckets[i]);
    }
    free(partition->buckets);
    free(partition->ids);
    free(partition->marks);
    free(partition->skips);
    *partition = (struct store_fake_partition){.topic = partition->topic, .partition = partition->partition};
}

struct store_fake_bucket *
store_fake_bucket_of(struct store_fake_partition *partition, const char *lane, struct bucket_id id, bool make)
{
    for (size_t i = partition->count; i-- > 0;) {
        struct store_fake_bucket *bucket = &partition->buckets[i];
        if (bucket->stats.id.number == id.number && bucket->stats.id.level == id.level &&
            strcmp(bucket->lane, lane) == 0) {
            return bucket;
        }
    }
    if (!make) {
        return NULL;
    }
    if (partition->count == partition->room) {
        partition->room = partition->room * 2 + 16;
        partition->buckets = memory_resize(partition->buckets, partition->room, sizeof(*partition->buckets));
    }
    struct store_fake_bucket *bucket = &partition->buckets[partition->count++];
    *bucket = (struct store_fake_bucket){.stats = {.id = {0, id.level, id.number}}};
    memcpy(bucket->lane, lane, strlen(lane) + 1);
    return bucket;
}

void store_fake_bucket_remove(struct store_fake_partition *partition, struct store_fake_bucket *bucket)
{
    free_bucket(bucket);
    *bucket = partition->buckets[--partition->count];
}

size_t store_fake_row_index(const struct store_fake_bucket *bucket, int64_t offset)
{
    size_t low = 0;
    size_t high = bucket->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bucket->rows[middle].offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void insert(struct store_fake_bucket *bucket, size_t at, struct store_fake_row row)
{
    if (bucket->count == bucket->room) {
        bucket->room = bucket->room * 2 + 16;
        bucket->rows = memory_resize(bucket->rows, bucket->room, sizeof(*bucket->rows));
    }
    memmove(bucket->rows + at + 1, bucket->rows + at, (bucket->count - at) * sizeof(*bucket->rows));
    bucket->rows[at] = row;
    bucket->count++;
}

void store_fake_row_put(struct store_fake_bucket *bucket, struct store_fake_row row)
{
    struct bucket_stats *stats = &bucket->stats;
    size_t at = store_fake_row_index(bucket, row.offset);
    if (at < bucket->count && bucket->rows[at].offset == row.offset) {
        stats->bytes -= bucket->rows[at].length;
        free(bucket->rows[at].bytes);
        bucket->rows[at] = row;
    } else {
        insert(bucket, at, row);
    }
    stats->least_offset = stats->count == 0 || row.offset < stats->least_offset ? row.offset : stats->least_offset;
    stats->last_offset = stats->count == 0 || row.offset > stats->last_offset ? row.offset : stats->last_offset;
    struct key key = {row.due_ms, row.offset};
    stats->greatest = stats->count == 0 || key_compare(key, stats->greatest) > 0 ? key : stats->greatest;
    stats->count = bucket->count;
    stats->bytes += row.length;
}

void store_fake_rows_cut(struct store_fake_bucket *bucket, size_t count, bool keep_bytes)
{
    for (size_t i = 0; i < count; i++) {
        bucket->stats.bytes -= bucket->rows[i].length;
        if (!keep_bytes) {
            free(bucket->rows[i].bytes);
        }
    }
    bucket->count -= count;
    if (bucket->count > 0) {
        memmove(bucket->rows, bucket->rows + count, bucket->count * sizeof(*bucket->rows));
    }
    bucket->stats.count = bucket->count;
}

void store_fake_row_remove(struct store_fake_bucket *bucket, size_t index)
{
    bucket->stats.bytes -= bucket->rows[index].length;
    free(bucket->rows[index].bytes);
    bucket->count--;
    memmove(bucket->rows + index, bucket->rows + index + 1, (bucket->count - index) * sizeof(*bucket->rows));
    bucket->stats.count = bucket->count;
}

/* --------------------------------------------------------------------------------------------------- images */

static void copy_bucket(struct store_fake_bucket *to, const struct store_fake_bucket *from)
{
    *to = *from;
    to->rows = memory_new(from->count, sizeof(*to->rows));
    to->room = from->count;
    for (size_t i = 0; i < from->count; i++) {
        to->rows[i] = from->rows[i];
        to->rows[i].bytes = memory_new(from->rows[i].length, 1);
        memcpy(to->rows[i].bytes, from->rows[i].bytes, from->rows[i].length);
    }
}

static struct store_fake_image *copy_image(const struct store_fake_image *from)
{
    struct store_fake_image *to = memory_new(1, sizeof(*to));
    to->partitions = memory_new(from->count, sizeof(struct store_fake_partition *));
    to->count = from->count;
    for (size_t i = 0; i < from->count; i++) {
        struct store_fake_partition *partition = memory_new(1, sizeof(*partition));
        *partition = *from->partitions[i];
        partition->topic = memory_text(partition->topic, strlen(partition->topic));
        partition->buckets = memory_new(partition->count, sizeof(*partition->buckets));
        partition->room = partition->count;
        partition->ids = store_fake_copy(partition->ids, partition->id_count, sizeof(*partition->ids));
        partition->id_room = partition->id_count;
        partition->marks = store_fake_copy(partition->marks, partition->mark_count, sizeof(*partition->marks));
        partition->skips = store_fake_copy(partition->skips, partition->skip_count, sizeof(*partition->skips));
        for (size_t j = 0; j < partition->count; j++) {
            copy_bucket(&partition->buckets[j], &from->partitions[i]->buckets[j]);
        }
        to->partitions[i] = partition;
    }
    return to;
}

struct store_fake_image *store_fake_save(const char *path)
{
    return copy_image(store_fake_disk_of(path)->image);
}

void store_fake_image_free(struct store_fake_image *image)
{
    if (image == NULL) {
        return;
    }
    for (size_t i = 0; i < image->count; i++) {
        store_fake_partition_clear(image->partitions[i]);
        free(image->partitions[i]->topic);
        free(image->partitions[i]);
    }
    free(image->partitions);
    free(image);
}

void store_fake_load(const char *path, const struct store_fake_image *image)
{
    struct store_fake_disk *disk = store_fake_disk_of(path);
    store_fake_image_free(disk->image);
    disk->image = image != NULL ? copy_image(image) : memory_new(1, sizeof(*disk->image));
}

void store_fake_limit(const char *path, uint64_t bytes_most)
{
    store_fake_disk_of(path)->bytes_most = bytes_most;
}

void store_fake_reset(void)
{
    while (all_disks != NULL) {
        struct store_fake_disk *next = all_disks->next;
        store_fake_image_free(all_disks->image);
        free(all_disks->path);
        free(all_disks);
        all_disks = next;
    }
}
