/* One process per store: a flock, which the kernel drops with its holder, so that a lock is never stale. */
#include "store/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static long read_pid(int fd)
{
    char text[32] = "";
    ssize_t length = pread(fd, text, sizeof(text) - 1, 0);
    return length <= 0 ? 0 : strtol(text, NULL, 10);
}

/* The pid only serves the message of the next one; a disk too full for it does not matter. */
static void write_pid(int fd)
{
    char text[32];
    int length = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) == 0 && length > 0 && pwrite(fd, text, (size_t)length, 0) < 0) {
        return;
    }
}

bool store_lock_take(const char *path, int *fd, struct error *error)
{
    char file[4096];
    int length = snprintf(file, sizeof(file), "%s/lock", path);
    if (length < 0 || (size_t)length >= sizeof(file)) {
        return error_set(error, ERROR_INVALID, "store.path is longer than 4,090 bytes: choose a shorter one");
    }
    int opened = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (opened < 0) {
        return error_set(error, store_error_is_full(errno) ? ERROR_FULL : ERROR_SYSTEM, "store %s: cannot open %s: %s",
                         path, file, strerror(errno));
    }
    if (flock(opened, LOCK_EX | LOCK_NB) != 0) {
        bool busy = errno == EWOULDBLOCK;
        long pid = read_pid(opened);
        const char *words = strerror(errno);
        close(opened);
        return busy ? error_set(error, ERROR_BUSY,
                                "store %s is in use by process %ld: stop it, or give this one another store.path", path,
                                pid)
                    : error_set(error, ERROR_SYSTEM, "store %s: cannot lock %s: %s", path, file, words);
    }
    write_pid(opened);
    *fd = opened;
    return true;
}

bool store_in_place(const struct store *store)
{
    char file[4096];
    struct stat ours;
    struct stat there;
    int length = snprintf(file, sizeof(file), "%s/lock", store->path);
    return length > 0 && (size_t)length < sizeof(file) && fstat(store->lock_fd, &ours) == 0 && stat(file, &there) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}
