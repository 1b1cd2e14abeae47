/* What is in the store, partition by partition. */
#include "store/store_internal.h"

#include <string.h>

static int sum_buckets(MDB_cursor *cursor, uint32_t id, uint64_t *rows, uint64_t *bytes)
{
    uint8_t from[STORE_LAYOUT_PREFIX];
    store_layout_put_u32(from, id);
    MDB_val key = {sizeof(from), from};
    MDB_val value;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (code == 0 && store_layout_u32(key.mv_data) == id) {
        struct bucket_stats stats;
        store_layout_stats(value.mv_data, &stats);
        *rows += stats.count;
        *bytes += stats.bytes;
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    return code == MDB_NOTFOUND ? 0 : code;
}

static int list(MDB_cursor *partitions,
                MDB_cursor *buckets,
                void (*each)(const char *topic, int32_t partition, uint64_t rows, uint64_t bytes, void *context),
                void *context)
{
    MDB_val key;
    MDB_val value;
    int code;
    while ((code = mdb_cursor_get(partitions, &key, &value, MDB_NEXT)) == 0) {
        char topic[STORE_LAYOUT_TOPIC_MAX + 1] = "";
        if (key.mv_size < 6 || key.mv_size > STORE_LAYOUT_NAME_KEY_MAX || value.mv_size < STORE_LAYOUT_PARTITION_HEAD) {
            return MDB_CORRUPTED;
        }
        uint64_t rows = 0;
        uint64_t bytes = 0;
        code = sum_buckets(buckets, store_layout_u32(value.mv_data), &rows, &bytes);
        if (code != 0) {
            return code;
        }
        const uint8_t *name = key.mv_data;
        memcpy(topic, name, key.mv_size - 5);
        if (rows > 0) {
            each(topic, (int32_t)store_layout_u32(name + key.mv_size - 4), rows, bytes, context);
        }
    }
    return code == MDB_NOTFOUND ? 0 : code;
}

bool store_partitions(struct store *store,
                      void (*each)(const char *topic, int32_t partition, uint64_t rows, uint64_t bytes, void *context),
                      void *context,
                      struct error *error)
{
    MDB_txn *txn = NULL;
    MDB_cursor *partitions = NULL;
    MDB_cursor *buckets = NULL;
    int code = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
    code = code != 0 ? code : mdb_cursor_open(txn, store->partitions, &partitions);
    code = code != 0 ? code : mdb_cursor_open(txn, store->buckets, &buckets);
    code = code != 0 ? code : list(partitions, buckets, each, context);
    if (buckets != NULL) {
        mdb_cursor_close(buckets);
    }
    if (partitions != NULL) {
        mdb_cursor_close(partitions);
    }
    if (txn != NULL) {
        mdb_txn_abort(txn);
    }
    return code == 0 || store_error(store->path, code, "listing partitions", error);
}
