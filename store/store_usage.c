/* Pages in use, from LMDB's own counts: no walk over the free list. */
#include "store/store_internal.h"

#define FREE_DBI 0 /* LMDB's list of free pages and its table of databases: not named in its header, but allowed */
#define MAIN_DBI 1
#define META_PAGES 2

int store_usage_of(const struct store *store, MDB_txn *txn, uint64_t *bytes)
{
    const MDB_dbi all[] = {FREE_DBI,     MAIN_DBI,          store->rows,  store->buckets, store->ids,
                           store->marks, store->partitions, store->lanes, store->meta};
    uint64_t pages = META_PAGES;
    unsigned page_bytes = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        MDB_stat stat;
        int code = mdb_stat(txn, all[i], &stat);
        if (code != 0) {
            return code;
        }
        pages += stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
        page_bytes = stat.ms_psize;
    }
    *bytes = pages * page_bytes;
    return 0;
}

void store_usage(struct store *store, uint64_t *used_bytes, uint64_t *max_bytes)
{
    MDB_txn *txn = NULL;
    *max_bytes = store->max_bytes;
    *used_bytes = 0;
    if (mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn) == 0) {
        (void)store_usage_of(store, txn, used_bytes);
        mdb_txn_abort(txn);
    }
}
