/* A new store. It gets its name only when it is complete and on disk: what bears the name and is empty or half was
 * damaged later. */
#include "store/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CREATE_MAP_BYTES ((size_t)1024 * 1024)
#define DATABASES 8

static int write_format(MDB_env *env)
{
    struct store fresh = {0};
    MDB_txn *txn = NULL;
    int code = mdb_txn_begin(env, NULL, 0, &txn);
    if (code != 0) {
        return code;
    }
    uint8_t format[4];
    store_layout_put_u32(format, STORE_FORMAT);
    MDB_val key = {6, (void *)(uintptr_t) "format"};
    MDB_val value = {sizeof(format), format};
    code = store_open_databases(&fresh, txn, MDB_CREATE);
    code = code != 0 ? code : mdb_put(txn, fresh.meta, &key, &value, 0);
    if (code != 0) {
        mdb_txn_abort(txn);
        return code;
    }
    return mdb_txn_commit(txn);
}

static int make_file(const char *file)
{
    MDB_env *env = NULL;
    int code = mdb_env_create(&env);
    if (code != 0) {
        return code;
    }
    code = mdb_env_set_mapsize(env, CREATE_MAP_BYTES);
    code = code != 0 ? code : mdb_env_set_maxdbs(env, DATABASES);
    code = code != 0 ? code : mdb_env_open(env, file, MDB_NOSUBDIR, 0600);
    code = code != 0 ? code : write_format(env);
    code = code != 0 ? code : mdb_env_sync(env, 1);
    mdb_env_close(env);
    return code;
}

/* The rename is on disk when its directory is. */
static int sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    int code = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    return code;
}

bool store_create(const char *path, const char *file, struct error *error)
{
    char fresh[4128];
    char fresh_lock[4160];
    (void)snprintf(fresh, sizeof(fresh), "%s.new", file);
    (void)snprintf(fresh_lock, sizeof(fresh_lock), "%s-lock", fresh);
    unlink(fresh); /* of a start that was cut off */
    int code = make_file(fresh);
    if (code == 0) {
        code = rename(fresh, file) == 0 ? sync_directory(path) : errno;
    }
    if (code != 0) {
        unlink(fresh);
    }
    unlink(fresh_lock);
    return code == 0 || store_error(path, code, "making it", error);
}
