/* The bodies of requests as they come in: what is held of them, for one and for all. HTTP thread. Used by http*.c only. */
#ifndef TARRY_OPS_HTTP_UPLOAD_H
#define TARRY_OPS_HTTP_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "ops/http_admit.h"

#define HTTP_UPLOAD_HELD_MOST (32 * HTTP_REQUEST_UPLOAD_MOST)     /* of all: beyond, there is no room for more now */
#define HTTP_UPLOAD_DISCARDED_MOST (4 * HTTP_REQUEST_UPLOAD_MOST) /* of one that nobody wants */

struct http_upload {
    size_t held;
    size_t discarded;
};

/* Takes the next piece: into the request, if it is admitted and writes; else it is thrown away. What becomes too large is no longer admitted. *held_of_all counts what all hold. False: the client sends too much of what nobody
 * wants, and is to be cut. */
bool http_upload_add(size_t *held_of_all, struct http_upload *upload, struct http_admit *admit, const char *bytes, size_t length);

/* The connection is done with it. */
void http_upload_end(size_t *held_of_all, struct http_upload *upload);

#endif
