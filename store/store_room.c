/* Room on the disk: secured before rows are written, made when it is scarce, looked for when a write has failed. */
#include "store/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define DISK_RESERVE_MOST ((uint64_t)16 * 1024 * 1024)
#define STEP_LEAST ((uint64_t)1024 * 1024)
#define STEP_MOST ((uint64_t)64 * 1024 * 1024)

static bool beyond_limit(uint64_t file_bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           file_bytes > (uint64_t)limit.rlim_cur;
}

/* Allocates to `end`, some way further if that is possible, to be asked less often. */
static int allocate(struct store *store, int fd, uint64_t from, uint64_t end)
{
    uint64_t step = from / 8 < STEP_LEAST ? STEP_LEAST : from / 8 > STEP_MOST ? STEP_MOST : from / 8;
    if (beyond_limit(end)) {
        return EFBIG;
    }
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(end + step - from)) == 0) {
        store->secured_bytes = end + step;
        return 0;
    }
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(end - from)) == 0) {
        store->secured_bytes = end;
        return 0;
    }
    return store_error_is_full(errno) ? errno : 0; /* a file system that cannot: the write itself will tell */
}

/* What is kept allocated beyond the file's end. */
static uint64_t disk_reserve(const struct store *store)
{
    return store->reserve_bytes / 2 < DISK_RESERVE_MOST ? store->reserve_bytes / 2 : DISK_RESERVE_MOST;
}

int store_room_secure(struct store *store, uint64_t used_bytes, uint64_t growth_bytes)
{
    struct stat found;
    int fd = -1;
    if (mdb_env_get_fd(store->env, &fd) != 0 || fstat(fd, &found) != 0) {
        return 0;
    }
    uint64_t file_bytes = (uint64_t)found.st_size;
    uint64_t within = file_bytes > used_bytes ? file_bytes - used_bytes : 0;
    uint64_t wanted = growth_bytes + disk_reserve(store);
    uint64_t end = wanted > within ? file_bytes + (wanted - within) : file_bytes;
    return end <= store->secured_bytes || end == file_bytes ? 0 : allocate(store, fd, file_bytes, end);
}

uint64_t store_room_left(const struct store *store, uint64_t used_bytes)
{
    MDB_envinfo info = {0};
    struct statvfs disk;
    struct stat found;
    int fd = -1;
    if (mdb_env_info(store->env, &info) != 0 || info.me_mapsize < used_bytes) {
        return 0;
    }
    uint64_t room = info.me_mapsize - used_bytes;
    if (mdb_env_get_fd(store->env, &fd) != 0 || fstat(fd, &found) != 0 || statvfs(store->path, &disk) != 0) {
        return room;
    }
    uint64_t file_bytes = (uint64_t)found.st_size;
    uint64_t on_disk = file_bytes > used_bytes ? file_bytes - used_bytes : 0;
    on_disk += disk_reserve(store) + (uint64_t)disk.f_bavail * disk.f_frsize;
    return room < on_disk ? room : on_disk;
}

bool store_room_make(struct store *store)
{
    MDB_txn *txn = NULL;
    MDB_val key = {5, (void *)(uintptr_t) "turns"};
    uint8_t bytes[8] = {0};
    MDB_val value;
    if (mdb_txn_begin(store->env, NULL, 0, &txn) != 0) {
        return false;
    }
    int code = mdb_get(txn, store->meta, &key, &value);
    if (code == 0 && value.mv_size == sizeof(bytes)) {
        store_layout_put_u64(bytes, store_layout_u64(value.mv_data) + 1);
    }
    value = (MDB_val){sizeof(bytes), bytes};
    code = mdb_put(txn, store->meta, &key, &value, 0);
    if (code != 0) {
        mdb_txn_abort(txn);
        return false;
    }
    return mdb_txn_commit(txn) == 0;
}

static bool limit_lacks(const struct store *store)
{
    struct stat found;
    int fd = -1;
    return mdb_env_get_fd(store->env, &fd) == 0 && fstat(fd, &found) == 0 &&
           beyond_limit((uint64_t)found.st_size + STORE_ROOM_BYTES);
}

/* Quotas show only when space is really taken. */
static bool probe_lacks(const struct store *store)
{
    char file[4160];
    (void)snprintf(file, sizeof(file), "%s/room", store->path);
    int fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return store_error_is_full(errno);
    }
    bool lacks = fallocate(fd, 0, 0, (off_t)STORE_ROOM_BYTES) != 0 && store_error_is_full(errno);
    close(fd);
    unlink(file);
    return lacks;
}

bool store_room_lacks(const struct store *store)
{
    struct statvfs disk;
    if (statvfs(store->path, &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize < STORE_ROOM_BYTES) {
        return true;
    }
    return limit_lacks(store) || probe_lacks(store);
}
