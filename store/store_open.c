/* Opening and closing: size, directory, lock, check, LMDB, format, upgrade, in this order. */
#include "store/store_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "store/store_browse.h"

#define SIZE_LEAST ((uint64_t)1024 * 1024)
#define RESERVE_LEAST ((uint64_t)256 * 1024)
#define RESERVE_MOST ((uint64_t)256 * 1024 * 1024)
#define RESERVE_SHARE 8
#define DATABASES 8
#define FORMAT_LEAST 1 /* that is brought to STORE_FORMAT */
#define READERS (16 + STORE_BROWSES_MAX) /* the owner's turn, a scan, usage, tools that look in; and those that browse */

int store_open_databases(struct store *store, MDB_txn *txn, unsigned create)
{
    int code = mdb_dbi_open(txn, "rows", create, &store->rows);
    code = code != 0 ? code : mdb_dbi_open(txn, "buckets", create, &store->buckets);
    code = code != 0 ? code : mdb_dbi_open(txn, "ids", create, &store->ids);
    code = code != 0 ? code : mdb_dbi_open(txn, "marks", create, &store->marks);
    code = code != 0 ? code : mdb_dbi_open(txn, "partitions", create, &store->partitions);
    code = code != 0 ? code : mdb_dbi_open(txn, "lanes", create, &store->lanes);
    return code != 0 ? code : mdb_dbi_open(txn, "meta", create, &store->meta);
}

static bool round_size(uint64_t asked, uint64_t *size, struct error *error)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (asked < SIZE_LEAST) {
        return error_set(error, ERROR_INVALID, "store.max_size is %" PRIu64 " bytes: at least 1 MiB is needed", asked);
    }
    if (__builtin_add_overflow(asked, page - 1, size) || *size > (uint64_t)PTRDIFF_MAX) {
        return error_set(error, ERROR_INVALID,
                         "store.max_size is %" PRIu64 " bytes: more than this machine can address", asked);
    }
    *size -= *size % page;
    return true;
}

static bool make_directory(const char *path, struct error *error)
{
    struct stat found;
    if (mkdir(path, 0700) == 0) {
        return true;
    }
    if (errno != EEXIST) {
        return error_set(error, store_error_is_full(errno) ? ERROR_FULL : ERROR_SYSTEM,
                         "store %s: cannot make the directory: %s; store.path's parent must exist and be writable",
                         path, strerror(errno));
    }
    if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode)) {
        return error_set(error, ERROR_CORRUPT, "store %s: not a directory: give store.path a directory of its own",
                         path);
    }
    return true;
}

static bool not_ours(const struct store *store, struct error *error)
{
    return error_set(error, ERROR_CORRUPT,
                     "store %s: data.mdb is not a store of tarry: give store.path a directory of its own", store->path);
}

static bool opening_failed(const struct store *store, int code, struct error *error)
{
    return code == MDB_NOTFOUND ? not_ours(store, error)
                                : store_error(store->path, code, "opening its databases", error);
}

/* The format, read before anything else: what databases there are depends on it. */
static bool read_format(struct store *store, uint32_t *format, struct error *error)
{
    MDB_txn *txn = NULL;
    MDB_val key = {6, (void *)(uintptr_t) "format"};
    MDB_val value = {0, NULL};
    int code = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
    code = code != 0 ? code : mdb_dbi_open(txn, "meta", 0, &store->meta);
    code = code != 0 ? code : mdb_get(txn, store->meta, &key, &value);
    *format = value.mv_size == 4 ? store_layout_u32(value.mv_data) : 0;
    if (txn != NULL) {
        mdb_txn_abort(txn);
    }
    if (code != 0) {
        return opening_failed(store, code, error);
    }
    return value.mv_size == 4 || not_ours(store, error);
}

static bool check_format(const struct store *store, uint32_t format, struct error *error)
{
    if (format > STORE_FORMAT) {
        return error_set(error, ERROR_TOO_NEW,
                         "store %s: format %" PRIu32
                         " was written by a later version, this one knows %d: install the later one",
                         store->path, format, STORE_FORMAT);
    }
    return format >= FORMAT_LEAST ||
           error_set(error, ERROR_CORRUPT, "store %s: unknown format %" PRIu32, store->path, format);
}

static int greatest_prefix(MDB_txn *txn, MDB_dbi dbi, uint32_t *greatest)
{
    MDB_cursor *cursor = NULL;
    int code = mdb_cursor_open(txn, dbi, &cursor);
    if (code != 0) {
        return code;
    }
    MDB_val key;
    MDB_val value;
    code = mdb_cursor_get(cursor, &key, &value, MDB_LAST);
    if (code == 0 && key.mv_size >= STORE_LAYOUT_PREFIX) {
        uint32_t id = store_layout_u32(key.mv_data);
        *greatest = id > *greatest ? id : *greatest;
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}

int store_open_greatest(MDB_txn *txn, MDB_dbi dbi, bool wide, uint32_t *greatest)
{
    MDB_cursor *cursor = NULL;
    int code = mdb_cursor_open(txn, dbi, &cursor);
    if (code != 0) {
        return code;
    }
    MDB_val key;
    MDB_val value;
    while ((code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
        if (value.mv_size < (wide ? sizeof(uint32_t) : sizeof(uint16_t))) {
            code = MDB_CORRUPTED;
            break;
        }
        uint32_t id = wide ? store_layout_u32(value.mv_data) : store_layout_u16(value.mv_data);
        *greatest = id > *greatest ? id : *greatest;
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}

/* Of partitions whose rows are garbage: what is noted there will be removed, whoever has that id by then. */
static int greatest_garbage(MDB_txn *txn, MDB_dbi meta, uint32_t *greatest)
{
    MDB_cursor *cursor = NULL;
    int code = mdb_cursor_open(txn, meta, &cursor);
    if (code != 0) {
        return code;
    }
    uint8_t from[STORE_LAYOUT_GARBAGE_KEY];
    store_layout_garbage_key(from, 0);
    MDB_val key = {sizeof(from), from};
    MDB_val value;
    code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (code == 0 && key.mv_size == sizeof(from) && memcmp(key.mv_data, from, sizeof(from) - 4) == 0) {
        uint32_t id = store_layout_u32((const uint8_t *)key.mv_data + sizeof(from) - 4);
        *greatest = id > *greatest ? id : *greatest;
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}

/* Ids of rows count too: those of forgotten partitions may still wait for their removal. */
static int read_next_ids(struct store *store, MDB_txn *txn)
{
    uint32_t partition = 0;
    uint32_t lane = 0;
    int code = store_open_greatest(txn, store->partitions, true, &partition);
    code = code != 0 ? code : greatest_prefix(txn, store->rows, &partition);
    code = code != 0 ? code : greatest_prefix(txn, store->buckets, &partition);
    code = code != 0 ? code : greatest_prefix(txn, store->ids, &partition);
    code = code != 0 ? code : greatest_garbage(txn, store->meta, &partition);
    code = code != 0 ? code : store_open_greatest(txn, store->lanes, false, &lane);
    code = code != 0 ? code : store_upgrade_indexed_from(store, txn, &store->indexed_from);
    partition = partition + 1 < store->indexed_from ? store->indexed_from - 1 : partition;
    store->names.next_partition = partition + 1;
    store->names.next_lane = lane + 1;
    return code;
}

/* LMDB found a page that cannot be. It would abort in any case; say first what to do. */
static void on_damage(MDB_env *env, const char *words)
{
    const char *path = NULL;
    (void)mdb_env_get_path(env, &path);
    log_write(
        LOG_LEVEL_ERROR, "store_damaged", LOG_FIELDS(LOG_TEXT("path", path)),
        "the store %s is damaged (%s): stop, keep a copy, and move it away; pending records are read from Kafka again",
        path, words);
    abort();
}

static int open_environment(struct store *store, const char *file)
{
    struct stat found;
    if (stat(file, &found) != 0) {
        return errno;
    }
    /* A size lowered below what the file has: drops must still find pages. */
    uint64_t map_bytes = (uint64_t)found.st_size + store->reserve_bytes;
    map_bytes = map_bytes > store->max_bytes ? map_bytes : store->max_bytes;
    int code = mdb_env_create(&store->env);
    code = code != 0 ? code : mdb_env_set_mapsize(store->env, map_bytes);
    code = code != 0 ? code : mdb_env_set_maxdbs(store->env, DATABASES);
    code = code != 0 ? code : mdb_env_set_maxreaders(store->env, READERS);
    code = code != 0 ? code : mdb_env_set_assert(store->env, on_damage);
    return code != 0 ? code : mdb_env_open(store->env, store->path, MDB_NOTLS, 0600);
}

static int open_databases(struct store *store)
{
    MDB_txn *txn = NULL;
    int code = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
    if (code != 0) {
        return code;
    }
    code = store_open_databases(store, txn, 0);
    code = code != 0 ? code : read_next_ids(store, txn);
    if (code != 0) {
        mdb_txn_abort(txn);
        return code;
    }
    return mdb_txn_commit(txn); /* keeps the database handles */
}

static bool prepare(struct store *store, struct error *error)
{
    uint32_t format = 0;
    if (!read_format(store, &format, error) || !check_format(store, format, error)) {
        return false;
    }
    int code = format < STORE_FORMAT ? store_upgrade(store) : 0;
    code = code != 0 ? code : open_databases(store);
    if (code != 0) {
        return opening_failed(store, code, error);
    }
    code = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &store->read);
    code = code != 0 ? code : mdb_cursor_open(store->read, store->rows, &store->read_cursor);
    if (code != 0) {
        return store_error(store->path, code, "opening", error);
    }
    mdb_txn_reset(store->read);
    return true;
}

static bool open_file(struct store *store, struct error *error)
{
    char file[4096];
    int length = snprintf(file, sizeof(file), "%s/data.mdb", store->path);
    if (length < 0 || (size_t)length >= sizeof(file)) {
        return error_set(error, ERROR_INVALID, "store.path is longer than 4,080 bytes: choose a shorter one");
    }
    if (access(file, F_OK) != 0 && errno == ENOENT && !store_create(store->path, file, error)) {
        return false;
    }
    if (!store_check_file(file, error)) {
        return false;
    }
    int code = open_environment(store, file);
    return code == 0 ? prepare(store, error) : store_error(store->path, code, "opening", error);
}

static uint64_t reserve_of(uint64_t max_bytes)
{
    uint64_t share = max_bytes / RESERVE_SHARE;
    share = share < RESERVE_LEAST ? RESERVE_LEAST : share;
    return share > RESERVE_MOST ? RESERVE_MOST : share;
}

bool store_open(const struct store_options *options, struct store **store, struct error *error)
{
    uint64_t size = 0;
    if (options->path == NULL || options->path[0] == '\0') {
        return error_set(error, ERROR_INVALID, "store.path is empty: name a directory");
    }
    if (!round_size(options->max_size_bytes, &size, error) || !make_directory(options->path, error)) {
        return false;
    }
    int lock_fd = -1;
    if (!store_lock_take(options->path, &lock_fd, error)) {
        return false;
    }
    struct store *opened = memory_new(1, sizeof(*opened));
    opened->path = memory_text(options->path, strlen(options->path));
    opened->lock_fd = lock_fd;
    opened->max_bytes = size;
    opened->reserve_bytes = reserve_of(size);
    pthread_mutex_init(&opened->names.lock, NULL);
    if (!open_file(opened, error)) {
        store_close(opened);
        return false;
    }
    *store = opened;
    return true;
}

void store_close(struct store *store)
{
    if (store == NULL) {
        return;
    }
    if (store->read_cursor != NULL) {
        mdb_cursor_close(store->read_cursor);
    }
    if (store->read != NULL) {
        mdb_txn_abort(store->read);
    }
    if (store->env != NULL) {
        mdb_env_close(store->env);
    }
    close(store->lock_fd);
    store_names_free(store);
    free(store->path);
    free(store);
}
