/* What a disk of the fake store holds: partitions, their buckets, their rows in offset order. */
#ifndef TARRY_TESTS_STORE_FAKE_DISK_H
#define TARRY_TESTS_STORE_FAKE_DISK_H

#include "store/store.h"

struct store_fake_row {
    int64_t offset;
    int64_t due_ms;
    struct record_id id;
    uint8_t *bytes;
    uint32_t length;
};

struct store_fake_bucket {
    char lane[METADATA_LANE_NAME_MAX + 1];
    struct bucket_stats stats; /* id.lane is not used: indexes belong to a run */
    struct store_fake_row *rows;
    size_t count;
    size_t room;
};

/* What the index knows of a record id. */
struct store_fake_id {
    struct record_id id;
    char lane[METADATA_LANE_NAME_MAX + 1];
    struct stored_event event; /* lane is not used */
};

struct store_fake_partition {
    char *topic;
    int32_t partition;
    bool found;
    int64_t position;
    char metadata[METADATA_MAX + 1];
    struct store_fake_bucket *buckets;
    size_t count;
    size_t room;
    struct store_fake_id *ids; /* sorted */
    size_t id_count;
    size_t id_room;
    struct mark *marks; /* by offset */
    size_t mark_count;
    struct skip *skips; /* by offset */
    size_t skip_count;
};

struct store_fake_image {
    struct store_fake_partition **partitions;
    size_t count;
};

struct store_fake_disk {
    struct store_fake_disk *next;
    char *path;
    struct store_fake_image *image;
    uint64_t bytes_most;
    bool in_use;
};

/* The disk of a path, made if absent. */
struct store_fake_disk *store_fake_disk_of(const char *path);

uint64_t store_fake_image_bytes(const struct store_fake_image *image);

/* Finds or makes. */
struct store_fake_partition *
store_fake_partition_of(struct store_fake_image *image, const char *topic, int32_t partition);

/* Removes all of a partition but its name. */
void store_fake_partition_clear(struct store_fake_partition *partition);

/* Finds, and makes when `make`; else NULL. Valid until the next one is made or removed. */
struct store_fake_bucket *
store_fake_bucket_of(struct store_fake_partition *partition, const char *lane, struct bucket_id id, bool make);
void store_fake_bucket_remove(struct store_fake_partition *partition, struct store_fake_bucket *bucket);

/* Index of the first row at or beyond an offset. */
size_t store_fake_row_index(const struct store_fake_bucket *bucket, int64_t offset);

/* Puts a row, replacing one of the same offset; takes `row.bytes` over. */
void store_fake_row_put(struct store_fake_bucket *bucket, struct store_fake_row row);

/* Removes the first `count` rows; `keep_bytes`: their bytes have a new owner. */
void store_fake_rows_cut(struct store_fake_bucket *bucket, size_t count, bool keep_bytes);

/* Removes one row. */
void store_fake_row_remove(struct store_fake_bucket *bucket, size_t index);

/* ------------------------------------------------------------------------------------------- store_fake_ids.c */

/* The entry of an id, or NULL. Valid until the next put or remove. */
const struct store_fake_id *store_fake_ids_find(const struct store_fake_partition *partition, struct record_id id);

/* Writes an entry unless one of a greater offset is there. RECORD_ID_NONE: does nothing, here and below. */
void store_fake_ids_put(struct store_fake_partition *partition, struct store_fake_id entry);

/* Removes the entry of an id if it is that of the row at `offset`. */
void store_fake_ids_remove(struct store_fake_partition *partition, struct record_id id, int64_t offset);

/* A copy of `count` items of memory; NULL if there are none. */
void *store_fake_copy(const void *items, size_t count, size_t item_bytes);

/* Replaces marks and skips, sorted. */
void store_fake_marks_set(struct store_fake_partition *partition, const struct checkpoint_slot *slot);

#endif
