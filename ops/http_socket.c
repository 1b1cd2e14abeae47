/* See http_socket.h. */
#include "ops/http_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"

#define BACKLOG 512
#define MASK 0117 /* leaves 0660 */
#define MAKING ".new"

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    return address;
}

static bool set_failure(struct error *error, const char *path, int code)
{
    bool ours = code == EACCES || code == ENOENT || code == ENOTDIR || code == EROFS || code == EPERM;
    return error_set(error, ours ? ERROR_INVALID : ERROR_SYSTEM, "http.socket: cannot listen at %s: %s", path, strerror(code));
}

/* True: nothing is at the path, or a socket that nobody listens at. */
static bool is_free(const char *path, struct error *error)
{
    struct stat status;
    struct sockaddr_un address = address_of(path);
    if (lstat(path, &status) != 0) {
        return errno == ENOENT || set_failure(error, path, errno);
    }
    if (!S_ISSOCK(status.st_mode)) {
        return error_set(error, ERROR_INVALID, "http.socket: %s is there, and is no socket; choose another path, or move it away", path);
    }
    int fd = new_socket();
    if (fd < 0) {
        return set_failure(error, path, errno);
    }
    int code = connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : errno;
    (void)close(fd);
    if (code == ECONNREFUSED || code == ENOENT) {
        return true;
    }
    if (code == EACCES) {
        return set_failure(error, path, code);
    }
    return error_set(error, ERROR_BUSY, "http.socket: another process listens at %s; stop it or choose another path", path);
}

/* Nobody else writes files just now: the mask is the process's. */
static bool bind_private(int fd, const char *path)
{
    struct sockaddr_un address = address_of(path);
    mode_t before = umask(MASK);
    bool bound = bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
    int code = errno;
    (void)umask(before);
    errno = code;
    return bound;
}

/* What a process left there that ended just then may go; nothing else. */
static bool clear(const char *making, struct error *error)
{
    struct stat status;
    if (lstat(making, &status) == 0 && !S_ISSOCK(status.st_mode)) {
        return error_set(error, ERROR_INVALID, "http.socket: it is made as %s first, and that is there, and is no socket; choose another path, or move it away", making);
    }
    (void)unlink(making);
    return true;
}

/* Under a name of its own first: at `path` it is ready for everybody. */
static bool make(struct http_socket *socket, const char *path, struct error *error)
{
    char making[HTTP_SOCKET_PATH_MOST + sizeof(MAKING)];
    struct stat status;
    (void)snprintf(making, sizeof(making), "%s" MAKING, path);
    if (!clear(making, error)) {
        return false;
    }
    socket->fd = new_socket();
    if (socket->fd >= 0 && bind_private(socket->fd, making)) {
        if (listen(socket->fd, BACKLOG) == 0 && lstat(making, &status) == 0 && rename(making, path) == 0) {
            socket->device = status.st_dev;
            socket->inode = status.st_ino;
            return true;
        }
        int code = errno;
        (void)unlink(making);
        errno = code;
    }
    return set_failure(error, path, errno);
}

bool http_socket_open(struct http_socket *socket, const char *path, struct error *error)
{
    *socket = (struct http_socket){.fd = -1};
    if (strlen(path) > HTTP_SOCKET_PATH_MOST) {
        return error_set(error, ERROR_INVALID, "http.socket: %s is longer than %d bytes", path, HTTP_SOCKET_PATH_MOST);
    }
    if (!is_free(path, error)) {
        return false;
    }
    if (!make(socket, path, error)) {
        if (socket->fd >= 0) {
            (void)close(socket->fd);
        }
        socket->fd = -1;
        return false;
    }
    socket->path = memory_text(path, strlen(path));
    return true;
}

void http_socket_close(struct http_socket *socket)
{
    struct stat status;
    if (socket->fd < 0) {
        return;
    }
    if (lstat(socket->path, &status) == 0 && status.st_dev == socket->device && status.st_ino == socket->inode) {
        (void)unlink(socket->path);
    }
    (void)close(socket->fd);
    free(socket->path);
    *socket = (struct http_socket){.fd = -1};
}
