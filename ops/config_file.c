#include "ops/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(struct error *error, const char *what)
{
    enum error_code code = errno == ENOENT ? ERROR_NOT_FOUND : ERROR_SYSTEM;
    return error_set(error, code, "%s: %s", what, strerror(errno));
}

static bool read_all(int file, struct buffer *bytes, struct error *error)
{
    for (;;) {
        uint8_t part[16384];
        ssize_t count = read(file, part, sizeof part);
        if (count < 0 && errno == EINTR) {
            continue; /* a signal came between: nothing was read, ask again */
        }
        if (count < 0) {
            return fail(error, "cannot be read");
        }
        if (count == 0) {
            return true;
        }
        buffer_add(bytes, part, (size_t)count);
        if (bytes->full) {
            return error_set(error, ERROR_FULL, "is larger than %zu bytes", bytes->most);
        }
    }
}

bool config_file_read(const char *path, struct buffer *bytes, bool *open_to_all, struct error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return fail(error, "cannot be opened");
    }
    struct stat status;
    bool done = fstat(file, &status) == 0 || fail(error, "cannot be looked at");
    if (done && S_ISDIR(status.st_mode)) {
        done = error_set(error, ERROR_SYSTEM, "is a directory");
    }
    if (done && S_ISREG(status.st_mode) && (uint64_t)status.st_size > bytes->most) {
        done = error_set(error, ERROR_FULL, "is larger than %zu bytes", bytes->most);
    }
    done = done && read_all(file, bytes, error);
    if (done) {
        *open_to_all = (status.st_mode & S_IROTH) != 0;
    }
    close(file);
    return done;
}

bool config_file_open_to_all(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & S_IROTH) != 0;
}

bool config_file_secret(
    const char *path, struct config_arena *arena, const char **secret, bool *open_to_all, struct error *error)
{
    struct buffer bytes = buffer_new(CONFIG_FILE_SECRET_MAX);
    bool done = config_file_read(path, &bytes, open_to_all, error);
    size_t length = bytes.length;
    while (length > 0 && (bytes.data[length - 1] == '\n' || bytes.data[length - 1] == '\r')) {
        length--;
    }
    if (done && length == 0) {
        done = error_set(error, ERROR_INVALID, "is empty");
    }
    if (done && memchr(bytes.data, 0, length) != NULL) {
        done = error_set(error, ERROR_INVALID, "holds a NUL byte");
    }
    if (done) {
        *secret = config_arena_text(arena, bytes.data, length);
    }
    if (bytes.length > 0) {
        explicit_bzero(bytes.data, bytes.length);
    }
    buffer_free(&bytes);
    return done;
}
