/* What a snapshot has of one partition: its buckets, their rows, single rows, ids. */
#include <string.h>

#include "scheduler/bucket.h"
#include "store/store_browse.h"
#include "store/store_internal.h"

#define DOING "looking through it"

static bool ended(const struct store_browse *browse, int code, struct error *error)
{
    return code == 0 || code == MDB_NOTFOUND || store_error(browse->store->path, code, DOING, error);
}

/* False: this cannot be a bucket's entry. */
static bool read_bucket(const MDB_val *value, const struct store_bucket *bucket, struct bucket_stats *stats)
{
    *stats = (struct bucket_stats){.id = {.level = bucket->level, .number = bucket->number}};
    if (value->mv_size != STORE_LAYOUT_STATS || !bucket_is_valid(stats->id)) {
        return false;
    }
    store_layout_stats(value->mv_data, stats);
    return true;
}

static int each_bucket(MDB_cursor *cursor, uint32_t partition_id, store_browse_bucket_fn *each, void *context)
{
    uint8_t from[STORE_LAYOUT_PREFIX];
    store_layout_put_u32(from, partition_id);
    MDB_val key = {sizeof(from), from};
    MDB_val value;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (code == 0) {
        struct bucket_stats stats;
        if (key.mv_size != STORE_LAYOUT_BUCKET_KEY) {
            return MDB_CORRUPTED;
        }
        struct store_bucket bucket = store_layout_bucket(key.mv_data);
        if (bucket.partition != partition_id) {
            return 0;
        }
        if (!read_bucket(&value, &bucket, &stats)) {
            return MDB_CORRUPTED;
        }
        if (stats.count > 0) {
            each(bucket.lane, &stats, context);
        }
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    return code;
}

bool store_browse_buckets(struct store_browse *browse, uint32_t partition_id, store_browse_bucket_fn *each, void *context, struct error *error)
{
    return ended(browse, each_bucket(browse->buckets, partition_id, each, context), error);
}

/* False: this cannot be a row. The greatest number is no offset, as one goes on behind it. */
static bool read_row(const MDB_val *key, const MDB_val *value, struct store_browse_row *row)
{
    struct store_row found;
    struct store_bucket bucket = store_layout_bucket(key->mv_data);
    if (!store_layout_row(value->mv_data, value->mv_size, &found)) {
        return false;
    }
    *row = (struct store_browse_row){.lane_id = bucket.lane,
                                     .bucket = {.level = bucket.level, .number = bucket.number},
                                     .offset = store_layout_offset(key->mv_data),
                                     .due_ms = found.due_ms,
                                     .id = found.id,
                                     .bytes = found.bytes};
    return row->offset >= 0 && row->offset < INT64_MAX;
}

static int each_row(MDB_cursor *cursor, uint8_t *from, uint32_t most, store_browse_each_fn *each, void *context, int64_t *next_offset)
{
    uint8_t bucket[STORE_LAYOUT_BUCKET_KEY];
    MDB_val key = {STORE_LAYOUT_ROW_KEY, from};
    MDB_val value;
    memcpy(bucket, from, sizeof(bucket));
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (code == 0) {
        struct store_browse_row row;
        if (key.mv_size != STORE_LAYOUT_ROW_KEY) {
            return MDB_CORRUPTED;
        }
        if (memcmp(key.mv_data, bucket, sizeof(bucket)) != 0) {
            break;
        }
        if (!read_row(&key, &value, &row)) {
            return MDB_CORRUPTED;
        }
        if (!each(&row, context) || --most == 0) {
            *next_offset = row.offset + 1;
            return 0;
        }
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    *next_offset = code == 0 || code == MDB_NOTFOUND ? -1 : *next_offset;
    return code;
}

bool store_browse_rows(struct store_browse *browse,
                       uint32_t partition_id,
                       uint16_t lane_id,
                       uint8_t level,
                       int64_t number,
                       int64_t from_offset,
                       uint32_t most,
                       store_browse_each_fn *each,
                       void *context,
                       int64_t *next_offset,
                       struct error *error)
{
    uint8_t from[STORE_LAYOUT_ROW_KEY];
    struct store_bucket bucket = {partition_id, lane_id, level, number};
    store_layout_bucket_key(from, &bucket);
    store_layout_row_offset(from, from_offset);
    return ended(browse, each_row(browse->rows, from, most, each, context, next_offset), error);
}

/* MDB_NOTFOUND: it does not stand in this bucket. */
static int find_in(MDB_cursor *cursor, const struct store_bucket *bucket, int64_t due_ms, int64_t offset, struct store_browse_row *row)
{
    uint8_t bytes[STORE_LAYOUT_ROW_KEY];
    store_layout_bucket_key(bytes, bucket);
    store_layout_row_offset(bytes, offset);
    MDB_val key = {sizeof(bytes), bytes};
    MDB_val value;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET_KEY);
    if (code != 0) {
        return code;
    }
    if (!read_row(&key, &value, row)) {
        return MDB_CORRUPTED;
    }
    return row->due_ms == due_ms ? 0 : MDB_NOTFOUND;
}

bool store_browse_find(struct store_browse *browse,
                       uint32_t partition_id,
                       uint16_t lane_id,
                       int64_t due_ms,
                       int64_t offset,
                       store_browse_each_fn *each,
                       void *context,
                       struct error *error)
{
    struct store_browse_row row;
    int code = MDB_NOTFOUND;
    for (uint8_t level = 0; offset >= 0 && level < BUCKET_LEVELS && code == MDB_NOTFOUND; level++) {
        struct store_bucket bucket = {partition_id, lane_id, level, store_layout_number(due_ms, level)};
        code = find_in(browse->rows, &bucket, due_ms, offset, &row);
    }
    if (code == 0) {
        (void)each(&row, context);
    }
    return ended(browse, code, error);
}

static int find_id(MDB_cursor *cursor, uint8_t *bytes, struct stored_event *event, uint16_t *lane_id)
{
    MDB_val key = {STORE_LAYOUT_ID_KEY, bytes};
    MDB_val value;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET);
    if (code == 0 && value.mv_size != STORE_LAYOUT_EVENT) {
        return MDB_CORRUPTED;
    }
    if (code == 0) {
        store_layout_event(value.mv_data, lane_id, event);
    }
    return code;
}

bool store_browse_id(struct store_browse *browse, uint32_t partition_id, struct record_id id, struct stored_event *event, uint16_t *lane_id, struct error *error)
{
    uint8_t bytes[STORE_LAYOUT_ID_KEY];
    *event = (struct stored_event){.offset = -1};
    *lane_id = 0;
    store_layout_id_key(bytes, partition_id, id);
    return ended(browse, record_id_is_none(id) ? MDB_NOTFOUND : find_id(browse->ids, bytes, event, lane_id), error);
}
