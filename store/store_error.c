/* LMDB's codes as errors with a remedy. */
#include "store/store_internal.h"

#include <errno.h>

#define REMEDY_DAMAGED                                                                                                 \
    "stop, keep a copy of the directory for a report, and move it away: a start without it reads what is pending "     \
    "from Kafka again"
#define REMEDY_FULL "make room on the disk or raise store.max_size; what is due still leaves"

bool store_error_is_full(int code)
{
    return code == MDB_MAP_FULL || code == MDB_TXN_FULL || code == ENOSPC || code == EDQUOT || code == EFBIG;
}

static bool is_damage(int code)
{
    return code == MDB_CORRUPTED || code == MDB_PAGE_NOTFOUND || code == MDB_INVALID || code == MDB_CURSOR_FULL ||
           code == MDB_PAGE_FULL || code == MDB_INCOMPATIBLE || code == MDB_BAD_VALSIZE;
}

bool store_error(const char *path, int code, const char *doing, struct error *error)
{
    const char *words = mdb_strerror(code);
    if (store_error_is_full(code)) {
        return error_set(error, ERROR_FULL, "store %s: %s: %s; %s", path, doing, words, REMEDY_FULL);
    }
    if (is_damage(code)) {
        return error_set(error, ERROR_CORRUPT, "store %s: %s: %s; %s", path, doing, words, REMEDY_DAMAGED);
    }
    if (code == MDB_VERSION_MISMATCH) {
        return error_set(error, ERROR_TOO_NEW, "store %s: written by a later LMDB: install the version that wrote it",
                         path);
    }
    if (code == ENOMEM) {
        return error_set(error, ERROR_SYSTEM,
                         "store %s: %s: %s; store.max_size is address space: lower it, or raise ulimit -v", path, doing,
                         words);
    }
    return error_set(error, ERROR_SYSTEM, "store %s: %s: %s", path, doing, words);
}
