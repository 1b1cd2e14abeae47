/* Forgetting a partition: its record, statistics and marks go at once, its rows and their record ids become garbage
 * under an id that nobody uses again, and are removed in slices by the plans that follow (store_drop.c). */
#include "store/store_internal.h"

static int delete_statistics(struct store *store, MDB_txn *txn, uint32_t id)
{
    MDB_cursor *cursor = NULL;
    int code = mdb_cursor_open(txn, store->buckets, &cursor);
    if (code != 0) {
        return code;
    }
    uint8_t from[STORE_LAYOUT_PREFIX];
    store_layout_put_u32(from, id);
    MDB_val key = {sizeof(from), from};
    MDB_val value;
    code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (code == 0 && store_layout_u32(key.mv_data) == id) {
        code = mdb_cursor_del(cursor, 0);
        code = code != 0 ? code : mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}

static int forget(struct store *store, MDB_txn *txn, const struct store_name *name)
{
    uint8_t garbage[STORE_LAYOUT_GARBAGE_KEY];
    uint8_t bytes[STORE_LAYOUT_NAME_KEY_MAX];
    MDB_val key = {store_layout_name_key(bytes, name->topic, name->partition), bytes};
    int code = mdb_del(txn, store->partitions, &key, NULL);
    if (code != 0) {
        return code == MDB_NOTFOUND ? 0 : code; /* never written: no rows either */
    }
    code = delete_statistics(store, txn, name->id);
    code = code != 0 ? code : store_marks_forget(store, txn, name->id);
    store_layout_garbage_key(garbage, name->id);
    MDB_val garbage_key = {sizeof(garbage), garbage};
    MDB_val nothing = {0, NULL};
    return code != 0 ? code : mdb_put(txn, store->meta, &garbage_key, &nothing, 0);
}

bool store_forget_slot(struct store *store, slot_index slot, struct error *error)
{
    if (slot >= store->names.slot_count || store->names.slots[slot] == NULL) {
        return error_set(error, ERROR_INVALID, "store %s: slot %u is not bound", store->path, (unsigned)slot);
    }
    struct store_name *name = store->names.slots[slot];
    MDB_txn *txn = NULL;
    int code = mdb_txn_begin(store->env, NULL, 0, &txn);
    if (code == 0) {
        code = forget(store, txn, name);
        if (code == 0) {
            code = mdb_txn_commit(txn);
        } else {
            mdb_txn_abort(txn);
        }
    }
    if (code != 0) {
        return store_error(store->path, code, "forgetting a partition", error);
    }
    store_names_new_id(store, name);
    return true;
}
