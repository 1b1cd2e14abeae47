/* Reading rows: whole buckets in slices without payloads, and single payloads within a snapshot of one turn. */
#include "store/store_internal.h"

#include <inttypes.h>
#include <string.h>

static bool unbound(struct store *store, slot_index slot, struct bucket_id id, struct error *error)
{
    return error_set(error, ERROR_INVALID, "store %s: slot %" PRIu32 " or lane %u is not bound", store->path, slot,
                     (unsigned)id.lane);
}

/* False if the cursor has left the bucket or reached the limit. */
static bool is_in(const MDB_val *key, const uint8_t *bucket, int64_t below)
{
    return memcmp(key->mv_data, bucket, STORE_LAYOUT_BUCKET_KEY) == 0 && store_layout_offset(key->mv_data) < below;
}

static int take_row(const MDB_val *key, const MDB_val *value, struct scanned_row *row)
{
    struct store_row found;
    if (!store_layout_row(value->mv_data, value->mv_size, &found)) {
        return MDB_CORRUPTED;
    }
    *row = (struct scanned_row){store_layout_offset(key->mv_data), found.due_ms, (uint32_t)found.bytes.length};
    return 0;
}

static int scan_rows(MDB_cursor *cursor,
                     uint8_t *from,
                     const struct command_scan *scan,
                     struct scanned_row *rows,
                     size_t *count,
                     bool *end)
{
    MDB_val key = {STORE_LAYOUT_ROW_KEY, from};
    MDB_val value;
    uint8_t bucket[STORE_LAYOUT_BUCKET_KEY];
    memcpy(bucket, from, sizeof(bucket));
    *count = 0;
    *end = false;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (code == 0 && is_in(&key, bucket, scan->below_offset)) {
        if (*count == scan->rows_max) {
            return 0;
        }
        code = take_row(&key, &value, &rows[*count]);
        *count += code == 0 ? 1 : 0;
        code = code != 0 ? code : mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    *end = code == 0 || code == MDB_NOTFOUND;
    return *end ? 0 : code;
}

bool store_scan(struct store *store,
                slot_index slot,
                const struct command_scan *scan,
                struct scanned_row *rows,
                size_t *count,
                bool *end,
                struct error *error)
{
    struct store_bucket bucket;
    if (!store_names_bucket(store, slot, scan->bucket, &bucket)) {
        return unbound(store, slot, scan->bucket, error);
    }
    uint8_t from[STORE_LAYOUT_ROW_KEY];
    store_layout_bucket_key(from, &bucket);
    store_layout_row_offset(from, scan->from_offset);
    MDB_txn *txn = NULL;
    MDB_cursor *cursor = NULL;
    int code = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
    code = code != 0 ? code : mdb_cursor_open(txn, store->rows, &cursor);
    code = code != 0 ? code : scan_rows(cursor, from, scan, rows, count, end);
    if (cursor != NULL) {
        mdb_cursor_close(cursor);
    }
    if (txn != NULL) {
        mdb_txn_abort(txn);
    }
    return code == 0 || store_error(store->path, code, "scanning a bucket", error);
}

bool store_read_begin(struct store *store, struct error *error)
{
    if (store->reading) {
        return error_set(error, ERROR_INVALID, "store %s: reading has begun already", store->path);
    }
    int code = mdb_txn_renew(store->read);
    if (code == 0) {
        code = mdb_cursor_renew(store->read, store->read_cursor);
        if (code != 0) {
            mdb_txn_reset(store->read);
        }
    }
    store->reading = code == 0;
    return code == 0 || store_error(store->path, code, "beginning to read", error);
}

bool store_read(
    struct store *store, slot_index slot, struct bucket_id id, int64_t offset, struct span *row, struct error *error)
{
    struct store_bucket bucket;
    uint8_t bytes[STORE_LAYOUT_ROW_KEY];
    if (!store->reading || offset < 0 || !store_names_bucket(store, slot, id, &bucket)) {
        return store->reading ? unbound(store, slot, id, error)
                              : error_set(error, ERROR_INVALID, "store %s: store_read_begin comes first", store->path);
    }
    store_layout_bucket_key(bytes, &bucket);
    store_layout_row_offset(bytes, offset);
    MDB_val key = {sizeof(bytes), bytes};
    MDB_val value;
    int code = mdb_cursor_get(store->read_cursor, &key, &value, MDB_SET);
    if (code == MDB_NOTFOUND) {
        return error_set(error, ERROR_NOT_FOUND, "store %s: no row at offset %" PRId64 " of bucket %u/%" PRId64,
                         store->path, offset, (unsigned)id.level, id.number);
    }
    struct store_row found;
    if (code != 0 || !store_layout_row(value.mv_data, value.mv_size, &found)) {
        return store_error(store->path, code != 0 ? code : MDB_CORRUPTED, "reading a row", error);
    }
    *row = found.bytes;
    return true;
}

void store_read_end(struct store *store)
{
    if (store->reading) {
        mdb_txn_reset(store->read);
        store->reading = false;
    }
}
