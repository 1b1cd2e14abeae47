/* Statistics of the buckets that one store_write touches: each is read once and written once. */
#include "store/store_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define TABLE_LEAST 256

/* FNV-1a. Keys are our own numbers: nobody chooses them to collide. */
static size_t hash_of(const uint8_t *key)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < STORE_LAYOUT_BUCKET_KEY; i++) {
        hash = (hash ^ key[i]) * 1099511628211u;
    }
    return (size_t)(hash ^ (hash >> 32));
}

/* Where a key stands in the table, or the free place where it belongs. */
static size_t place_of(const struct store_touch *touch, const uint8_t *key)
{
    size_t place = hash_of(key) & (touch->table_size - 1);
    while (touch->table[place] != 0 &&
           memcmp(touch->items[touch->table[place] - 1].key, key, STORE_LAYOUT_BUCKET_KEY) != 0) {
        place = (place + 1) & (touch->table_size - 1);
    }
    return place;
}

static void grow(struct store_touch *touch)
{
    if (touch->count == touch->room) {
        touch->room = touch->room == 0 ? TABLE_LEAST / 2 : touch->room * 2;
        touch->items = memory_resize(touch->items, touch->room, sizeof(*touch->items));
    }
    if (touch->count * 2 < touch->table_size) {
        return;
    }
    free(touch->table);
    touch->table_size = touch->table_size == 0 ? TABLE_LEAST : touch->table_size * 2;
    touch->table = memory_new(touch->table_size, sizeof(*touch->table));
    for (size_t i = 0; i < touch->count; i++) {
        touch->table[place_of(touch, touch->items[i].key)] = (uint32_t)(i + 1);
    }
}

void store_touch_free(struct store_touch *touch)
{
    free(touch->items);
    free(touch->table);
    *touch = (struct store_touch){0};
}

int store_touch_get(struct store_job *job, const uint8_t *key, lane_index lane, struct bucket_stats **stats)
{
    struct store_touch *touch = &job->touch;
    grow(touch);
    size_t place = place_of(touch, key);
    if (touch->table[place] == 0) {
        struct store_bucket bucket = store_layout_bucket(key);
        struct store_touched *item = &touch->items[touch->count];
        *item = (struct store_touched){.slot = job->slot->slot, .epoch = job->slot->epoch};
        item->stats.id = (struct bucket_id){lane, bucket.level, bucket.number};
        memcpy(item->key, key, STORE_LAYOUT_BUCKET_KEY);
        MDB_val name = {STORE_LAYOUT_BUCKET_KEY, item->key};
        MDB_val value;
        int code = mdb_get(job->txn, job->store->buckets, &name, &value);
        if (code != 0 && code != MDB_NOTFOUND) {
            return code;
        }
        if (code == 0) {
            store_layout_stats(value.mv_data, &item->stats);
        }
        touch->table[place] = (uint32_t)++touch->count;
    }
    *stats = &touch->items[touch->table[place] - 1].stats;
    return 0;
}

int store_touch_least(struct store_job *job, const uint8_t *key, struct bucket_stats *stats)
{
    MDB_val row = {STORE_LAYOUT_BUCKET_KEY, (void *)(uintptr_t)key};
    MDB_val value;
    int code = mdb_cursor_get(job->rows, &row, &value, MDB_SET_RANGE);
    if (code != 0 && code != MDB_NOTFOUND) {
        return code;
    }
    bool there = code == 0 && memcmp(row.mv_data, key, STORE_LAYOUT_BUCKET_KEY) == 0;
    if (there != (stats->count > 0)) {
        return MDB_CORRUPTED;
    }
    stats->least_offset = there ? store_layout_offset(row.mv_data) : stats->least_offset;
    return 0;
}

static int by_key(const void *a, const void *b)
{
    return memcmp(((const struct store_touched *)a)->key, ((const struct store_touched *)b)->key,
                  STORE_LAYOUT_BUCKET_KEY);
}

static int write_one(struct store_job *job, struct store_touched *item)
{
    uint8_t bytes[STORE_LAYOUT_STATS];
    MDB_val key = {STORE_LAYOUT_BUCKET_KEY, item->key};
    MDB_val value = {sizeof(bytes), bytes};
    if (item->stats.count == 0) {
        int code = mdb_del(job->txn, job->store->buckets, &key, NULL);
        return code == MDB_NOTFOUND ? 0 : code;
    }
    store_layout_put_stats(bytes, &item->stats);
    return mdb_put(job->txn, job->store->buckets, &key, &value, 0);
}

int store_touch_flush(struct store_job *job)
{
    struct store_touch *touch = &job->touch;
    if (touch->count > 0) {
        qsort(touch->items, touch->count, sizeof(*touch->items), by_key);
    }
    int code = 0;
    for (size_t i = 0; i < touch->count && code == 0; i++) {
        code = write_one(job, &touch->items[i]);
    }
    return code;
}
