/* Erases: one row each, looked for in all buckets of its time, as splits may have moved it. */
#include "store/store_job.h"

/* Deletes the row at the cursor and counts it out. */
static int
delete_row(struct store_job *job, const uint8_t *key, lane_index lane, struct record_id id, uint64_t bytes)
{
    struct bucket_stats *stats = NULL;
    int code = store_touch_get(job, key, lane, &stats);
    if (code != 0) {
        return code;
    }
    if (stats->count == 0 || stats->bytes < bytes) {
        return MDB_CORRUPTED;
    }
    stats->count--;
    stats->bytes -= bytes;
    job->rows_erased++;
    code = mdb_cursor_del(job->rows, 0);
    code = code != 0 ? code : store_ids_remove(job, id, store_layout_offset(key));
    return code != 0 ? code : store_touch_least(job, key, stats);
}

/* MDB_NOTFOUND if it does not stand in this bucket. */
static int erase_from(struct store_job *job, struct bucket_id bucket, struct key row)
{
    uint8_t key[STORE_LAYOUT_ROW_KEY];
    int code = store_put_bucket_key(job, bucket, key);
    if (code != 0) {
        return code;
    }
    store_layout_row_offset(key, row.offset);
    struct store_row found;
    MDB_val name = {sizeof(key), key};
    MDB_val value;
    code = mdb_cursor_get(job->rows, &name, &value, MDB_SET);
    if (code != 0) {
        return code;
    }
    if (!store_layout_row(value.mv_data, value.mv_size, &found)) {
        return MDB_CORRUPTED;
    }
    return found.due_ms != row.due_ms ? MDB_NOTFOUND
                                      : delete_row(job, key, bucket.lane, found.id, found.bytes.length);
}

int store_erase_row(struct store_job *job, const struct checkpoint_erase *erase)
{
    if (erase->key.offset < 0) {
        return 0;
    }
    int code = MDB_NOTFOUND;
    for (uint8_t level = 0; level < BUCKET_LEVELS && code == MDB_NOTFOUND; level++) {
        struct bucket_id bucket = {erase->lane, level, store_layout_number(erase->key.due_ms, level)};
        code = erase_from(job, bucket, erase->key);
    }
    return code == MDB_NOTFOUND ? 0 : code;
}
