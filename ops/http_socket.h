/* The Unix socket at which the HTTP server answers, too: its mode is the access. Owner thread. Used by http*.c only. */
#ifndef TARRY_OPS_HTTP_SOCKET_H
#define TARRY_OPS_HTTP_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

#define HTTP_SOCKET_PATH_MOST 103 /* bytes: what the system takes, less the four of the name that it is made under */

struct http_socket {
    int fd; /* -1: none */
    char *path;
    dev_t device; /* of the file, to know it again */
    ino_t inode;
};

/* Binds with mode 0660, and listens, non-blocking. The file stands at `path` when it listens already. One that nobody listens at is replaced. False: ERROR_BUSY (somebody does), ERROR_INVALID (the
 * path is too long, or is something else, or may not be made), ERROR_SYSTEM; socket->fd is -1. */
bool http_socket_open(struct http_socket *socket, const char *path, struct error *error);

/* Closes, and takes the file away unless it is another one by now. */
void http_socket_close(struct http_socket *socket);

#endif
