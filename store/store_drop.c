/* Deleting rows in key ranges, a bounded number in one transaction. */
#include "store/store_job.h"

#include <string.h>

/* Which rows are to be deleted. */
struct range {
    const uint8_t *prefix; /* of their keys */
    size_t length;
    int64_t below_offset; /* within a bucket */
    uint64_t rows_most;
    bool indexed; /* their ids are to be forgotten one by one */
};

/* What a range delete took away. */
struct deleted {
    uint64_t rows;
    uint64_t bytes;
    bool exhausted; /* no row of the prefix is left */
};

static void spend(uint64_t *left, uint64_t amount)
{
    *left -= amount < *left ? amount : *left;
}

/* Deletes the row at the cursor, and its id unless that is none. */
static int delete_row(
    struct store_job *job, size_t bytes, struct record_id id, int64_t offset, struct deleted *deleted)
{
    job->drop_rows_left--;
    spend(&job->drop_bytes_left, bytes);
    deleted->rows++;
    deleted->bytes += bytes;
    int code = mdb_cursor_del(job->rows, 0);
    if (code != 0 || record_id_is_none(id)) {
        return code;
    }
    job->id_drops_left--;
    return store_ids_remove(job, id, offset);
}

static bool is_spent(const struct store_job *job, struct record_id id)
{
    return job->drop_rows_left == 0 || job->drop_bytes_left == 0 ||
           (job->id_drops_left == 0 && !record_id_is_none(id));
}

/* Deletes rows, least keys first, until the range ends or the budget is spent; one row is always allowed. */
static int delete_range(struct store_job *job, const struct range *range, struct deleted *deleted)
{
    MDB_val key = {range->length, (void *)(uintptr_t)range->prefix};
    MDB_val value;
    *deleted = (struct deleted){0};
    int code = mdb_cursor_get(job->rows, &key, &value, MDB_SET_RANGE);
    while (code == 0) {
        if (memcmp(key.mv_data, range->prefix, range->length) != 0) {
            deleted->exhausted = true;
            return 0;
        }
        struct store_row row;
        if (!store_layout_row(value.mv_data, value.mv_size, &row)) {
            return MDB_CORRUPTED;
        }
        struct record_id id = range->indexed ? row.id : RECORD_ID_NONE;
        int64_t offset = store_layout_offset(key.mv_data);
        if (offset >= range->below_offset || deleted->rows == range->rows_most || is_spent(job, id)) {
            return 0;
        }
        code = delete_row(job, row.bytes.length, id, offset, deleted);
        code = code != 0 ? code : mdb_cursor_get(job->rows, &key, &value, MDB_NEXT);
    }
    deleted->exhausted = code == MDB_NOTFOUND;
    return deleted->exhausted ? 0 : code;
}

/* Deletes rows of a bucket and counts them out. */
static int delete_of_bucket(struct store_job *job,
                            struct bucket_id id,
                            int64_t below_offset,
                            uint64_t rows_most,
                            struct deleted *deleted,
                            bool least_wanted)
{
    uint8_t bucket[STORE_LAYOUT_BUCKET_KEY];
    struct range range = {bucket, sizeof(bucket), below_offset, rows_most, true};
    struct bucket_stats *stats = NULL;
    int code = store_put_bucket_key(job, id, bucket);
    code = code != 0 ? code : delete_range(job, &range, deleted);
    code = code != 0 ? code : store_touch_get(job, bucket, id.lane, &stats);
    if (code != 0) {
        return code;
    }
    if (deleted->rows > stats->count || deleted->bytes > stats->bytes ||
        (deleted->exhausted && deleted->rows != stats->count)) {
        return MDB_CORRUPTED;
    }
    stats->count -= deleted->rows;
    stats->bytes -= deleted->bytes;
    return least_wanted ? store_touch_least(job, bucket, stats) : 0;
}

int store_drop_bucket(struct store_job *job, const struct bucket_id *id)
{
    struct deleted deleted = {0};
    int code = delete_of_bucket(job, *id, INT64_MAX, UINT64_MAX, &deleted, false);
    job->rows_dropped += deleted.rows;
    return code;
}

int store_drop_below(struct store_job *job, const struct checkpoint_trim *trim)
{
    struct deleted deleted = {0};
    int code = delete_of_bucket(job, trim->bucket, trim->below_offset, trim->rows_max, &deleted, true);
    job->rows_trimmed += deleted.rows;
    return code;
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

/* First the index, which is one range, then the rows, and last the note that says so. */
static int drop_partition(struct store_job *job, uint8_t *garbage, uint32_t id)
{
    struct deleted deleted = {0};
    struct range range = {garbage + 7, STORE_LAYOUT_PREFIX, INT64_MAX, UINT64_MAX, false};
    bool exhausted = false;
    int code = store_ids_drop(job, id, &exhausted);
    if (code != 0 || !exhausted) {
        return code;
    }
    code = delete_range(job, &range, &deleted);
    if (code == 0 && deleted.exhausted) {
        MDB_val key = {STORE_LAYOUT_GARBAGE_KEY, garbage};
        code = mdb_del(job->txn, job->store->meta, &key, NULL);
    }
    return code;
}

int store_drop_garbage(struct store_job *job)
{
    while (job->drop_rows_left > 0 && job->drop_bytes_left > 0) {
        uint8_t garbage[STORE_LAYOUT_GARBAGE_KEY];
        uint32_t id = 0;
        int code = first_garbage(job, garbage, &id);
        if (code != 0 || id == 0) {
            return code;
        }
        code = drop_partition(job, garbage, id);
        if (code != 0) {
            return code;
        }
    }
    return 0;
}
