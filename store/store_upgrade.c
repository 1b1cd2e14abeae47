/* From format 1 to 2: record ids and marks came. Rows of format 1 are read as they are; what was not kept of them,
 * their ids, is missing, and store_bind_slot says so. */
#include "store/store_internal.h"

#include "base/log.h"

static MDB_val name_of(const char *name, size_t length)
{
    return (MDB_val){length, (void *)(uintptr_t)name};
}

static int put_number(MDB_txn *txn, MDB_dbi dbi, MDB_val key, uint32_t number)
{
    uint8_t bytes[4];
    store_layout_put_u32(bytes, number);
    MDB_val value = {sizeof(bytes), bytes};
    return mdb_put(txn, dbi, &key, &value, 0);
}

static int upgrade(struct store *store, MDB_txn *txn)
{
    uint32_t greatest = 0;
    int code = mdb_dbi_open(txn, "ids", MDB_CREATE, &store->ids);
    code = code != 0 ? code : mdb_dbi_open(txn, "marks", MDB_CREATE, &store->marks);
    code = code != 0 ? code : store_open_databases(store, txn, 0);
    code = code != 0 ? code : store_open_greatest(txn, store->partitions, true, &greatest);
    code = code != 0 ? code : put_number(txn, store->meta, name_of("indexed", 7), greatest + 1);
    return code != 0 ? code : put_number(txn, store->meta, name_of("format", 6), STORE_FORMAT);
}

int store_upgrade(struct store *store)
{
    MDB_txn *txn = NULL;
    int code = mdb_txn_begin(store->env, NULL, 0, &txn);
    if (code != 0) {
        return code;
    }
    code = upgrade(store, txn);
    if (code != 0) {
        mdb_txn_abort(txn);
        return code;
    }
    code = mdb_txn_commit(txn);
    if (code == 0) {
        log_write(LOG_LEVEL_INFO, "store_upgraded", LOG_FIELDS(LOG_TEXT("path", store->path)),
                  "the store %s has format %d now: an earlier version refuses it", store->path, STORE_FORMAT);
    }
    return code;
}

int store_upgrade_indexed_from(const struct store *store, MDB_txn *txn, uint32_t *indexed_from)
{
    MDB_val key = name_of("indexed", 7);
    MDB_val value;
    *indexed_from = 0;
    int code = mdb_get(txn, store->meta, &key, &value);
    if (code == 0 && value.mv_size != 4) {
        return MDB_CORRUPTED;
    }
    if (code == 0) {
        *indexed_from = store_layout_u32(value.mv_data);
    }
    return code == MDB_NOTFOUND ? 0 : code;
}
