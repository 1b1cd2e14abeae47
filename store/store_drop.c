/* Deleting rows in key ranges, a bounded number in one transaction. */
#include "store/store_job.h"

#include <string.h>

/* What a range delete took away. */
struct deleted {
    uint64_t rows;
    uint64_t bytes;
    bool exhausted;
};

/* Deletes rows whose keys begin with the prefix until the budget is spent; one row is always allowed. */
static int delete_range(struct store_job *job, const uint8_t *prefix, size_t length, struct deleted *deleted)
{
    uint8_t from[STORE_LAYOUT_ROW_KEY] = {0};
    memcpy(from, prefix, length);
    MDB_val key = {sizeof(from), from};
    MDB_val value;
    *deleted = (struct deleted){0};
    int code = mdb_cursor_get(job->rows, &key, &value, MDB_SET_RANGE);
    while (code == 0) {
        if (memcmp(key.mv_data, prefix, length) != 0) {
            deleted->exhausted = true;
            return 0;
        }
        if (job->drop_rows_left == 0 || job->drop_bytes_left == 0) {
            return 0;
        }
        uint64_t bytes = value.mv_size - STORE_LAYOUT_ROW_HEAD;
        job->drop_rows_left--;
        job->drop_bytes_left -= bytes < job->drop_bytes_left ? bytes : job->drop_bytes_left;
        deleted->rows++;
        deleted->bytes += bytes;
        code = mdb_cursor_del(job->rows, 0);
        code = code != 0 ? code : mdb_cursor_get(job->rows, &key, &value, MDB_NEXT);
    }
    deleted->exhausted = code == MDB_NOTFOUND;
    return deleted->exhausted ? 0 : code;
}

int store_drop_bucket(struct store_job *job, const struct bucket_id *id)
{
    uint8_t bucket[STORE_LAYOUT_BUCKET_KEY];
    struct deleted deleted;
    struct bucket_stats *stats = NULL;
    int code = store_put_bucket_key(job, *id, bucket);
    code = code != 0 ? code : delete_range(job, bucket, sizeof(bucket), &deleted);
    code = code != 0 ? code : store_touch_get(job, bucket, id->lane, &stats);
    if (code != 0) {
        return code;
    }
    if (deleted.rows > stats->count || deleted.bytes > stats->bytes ||
        (deleted.exhausted && deleted.rows != stats->count)) {
        return MDB_CORRUPTED;
    }
    stats->count -= deleted.rows;
    stats->bytes -= deleted.bytes;
    job->rows_dropped += deleted.rows;
    return 0;
}

/* The least id of a partition whose rows are garbage, 0 for none. */
static int first_garbage(struct store_job *job, uint8_t *garbage, uint32_t *id)
{
    MDB_cursor *cursor = NULL;
    int code = mdb_cursor_open(job->txn, job->store->meta, &cursor);
    if (code != 0) {
        return code;
    }
    store_layout_garbage_key(garbage, 0);
    MDB_val key = {STORE_LAYOUT_GARBAGE_KEY, garbage};
    MDB_val value;
    *id = 0;
    code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    if (code == 0 && key.mv_size == STORE_LAYOUT_GARBAGE_KEY && memcmp(key.mv_data, "garbage", 7) == 0) {
        memcpy(garbage, key.mv_data, STORE_LAYOUT_GARBAGE_KEY);
        *id = store_layout_u32(garbage + 7);
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}

int store_drop_garbage(struct store_job *job)
{
    while (job->drop_rows_left > 0 && job->drop_bytes_left > 0) {
        uint8_t garbage[STORE_LAYOUT_GARBAGE_KEY];
        uint32_t id = 0;
        struct deleted deleted = {0};
        int code = first_garbage(job, garbage, &id);
        if (code != 0 || id == 0) {
            return code;
        }
        code = delete_range(job, garbage + 7, STORE_LAYOUT_PREFIX, &deleted);
        if (code == 0 && deleted.exhausted) {
            MDB_val key = {sizeof(garbage), garbage};
            code = mdb_del(job->txn, job->store->meta, &key, NULL);
        }
        if (code != 0) {
            return code;
        }
    }
    return 0;
}
