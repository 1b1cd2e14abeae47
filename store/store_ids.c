/* Where the row of a record id is: an index that store_write keeps with the rows (R5). */
#include "store/store_job.h"

#include <inttypes.h>

/* The event that is known by an id; MDB_NOTFOUND if there is none. */
static int get(MDB_cursor *cursor, uint8_t *key, uint16_t *lane_id, struct stored_event *event)
{
    MDB_val name = {STORE_LAYOUT_ID_KEY, key};
    MDB_val value;
    int code = mdb_cursor_get(cursor, &name, &value, MDB_SET);
    if (code != 0) {
        return code;
    }
    if (value.mv_size != STORE_LAYOUT_EVENT) {
        return MDB_CORRUPTED;
    }
    store_layout_event(value.mv_data, lane_id, event);
    return 0;
}

int store_ids_put(struct store_job *job, const struct checkpoint_row *row, size_t bytes)
{
    uint8_t key[STORE_LAYOUT_ID_KEY];
    uint8_t event_bytes[STORE_LAYOUT_EVENT];
    uint16_t lane_id = 0;
    struct stored_event known = {.offset = -1};
    store_layout_id_key(key, job->partition, row->id);
    int code = get(job->ids, key, &lane_id, &known);
    if ((code != 0 && code != MDB_NOTFOUND) || known.offset > row->offset) {
        return code;
    }
    struct stored_event event = {row->offset, row->due_ms, row->root, (uint32_t)bytes, row->bucket.lane};
    store_layout_put_event(event_bytes, store_names_lane(job->store, row->bucket.lane, NULL), &event);
    MDB_val name = {sizeof(key), key};
    MDB_val value = {sizeof(event_bytes), event_bytes};
    return mdb_cursor_put(job->ids, &name, &value, 0);
}

int store_ids_remove(struct store_job *job, struct record_id id, int64_t offset)
{
    if (record_id_is_none(id)) {
        return 0;
    }
    uint8_t key[STORE_LAYOUT_ID_KEY];
    uint16_t lane_id = 0;
    struct stored_event known = {.offset = -1};
    store_layout_id_key(key, job->partition, id);
    int code = get(job->ids, key, &lane_id, &known);
    if (code == 0 && known.offset == offset) {
        return mdb_cursor_del(job->ids, 0);
    }
    return code == MDB_NOTFOUND ? 0 : code;
}

int store_ids_drop(struct store_job *job, uint32_t partition, bool *exhausted)
{
    uint8_t from[STORE_LAYOUT_PREFIX];
    store_layout_put_u32(from, partition);
    MDB_val key = {sizeof(from), from};
    MDB_val value;
    *exhausted = false;
    int code = mdb_cursor_get(job->ids, &key, &value, MDB_SET_RANGE);
    while (code == 0 && store_layout_u32(key.mv_data) == partition) {
        if (job->drop_rows_left == 0) {
            return 0;
        }
        job->drop_rows_left--;
        code = mdb_cursor_del(job->ids, 0);
        code = code != 0 ? code : mdb_cursor_get(job->ids, &key, &value, MDB_NEXT);
    }
    *exhausted = code == 0 || code == MDB_NOTFOUND;
    return *exhausted ? 0 : code;
}

static int find(const struct store *store, uint8_t *key, uint16_t *lane_id, struct stored_event *event)
{
    MDB_txn *txn = NULL;
    MDB_cursor *cursor = NULL;
    int code = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
    if (code != 0) {
        return code;
    }
    code = mdb_cursor_open(txn, store->ids, &cursor);
    if (code == 0) {
        code = get(cursor, key, lane_id, event);
        mdb_cursor_close(cursor);
    }
    mdb_txn_abort(txn);
    return code;
}

bool store_find_id(
    struct store *store, slot_index slot, struct record_id id, struct stored_event *event, struct error *error)
{
    const struct store_names *names = &store->names;
    uint8_t key[STORE_LAYOUT_ID_KEY];
    uint16_t lane_id = 0;
    *event = (struct stored_event){.offset = -1};
    if (slot >= names->slot_count || names->slots[slot] == NULL) {
        return error_set(error, ERROR_INVALID, "store %s: slot %" PRIu32 " is not bound", store->path, slot);
    }
    store_layout_id_key(key, names->slots[slot]->id, id);
    int code = record_id_is_none(id) ? MDB_NOTFOUND : find(store, key, &lane_id, event);
    if (code == 0) {
        event->lane = store_names_lane_index(store, lane_id);
        return event->lane < LANES_MAX ||
               error_set(error, ERROR_INVALID, "store %s: the row of an id is of a lane that is not bound",
                         store->path);
    }
    return code == MDB_NOTFOUND || store_error(store->path, code, "looking for an id", error);
}
