/*
 * One request and its answer, as libmicrohttpd calls for it. HTTP thread only. Used by http*.c only.
 *
 * What needs the owner or a worker is posted, the connection suspended and kept in a list; http_exchange_settle resumes it when the
 * answer is there or the time is up.
 */
#ifndef TARRY_OPS_HTTP_EXCHANGE_H
#define TARRY_OPS_HTTP_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time_types.h"
#include "ops/http_clients.h"
#include "ops/http_request.h"
#include "ops/http_stream.h"
#include "ops/mailbox.h"

/* Bytes of answers that are held for clients that have not taken them, of all: beyond, large ones are given up, with 503. */
#define HTTP_EXCHANGE_HELD_MOST (2 * HTTP_REQUEST_BODY_MOST)
#define HTTP_EXCHANGE_SMALL_BYTES ((size_t)64 << 10) /* smaller ones are sent in any case: of HTTP_CLIENTS_MOST they are not many */

struct api;
struct http_exchange;

/* The HTTP thread's state. */
struct http_exchange_server {
    const struct api *api; /* its mailboxes */
    struct http_clients clients;
    struct http_request_counts counts;
    struct http_exchange *waiting; /* list of suspended ones */
    struct http_streams streams;
    size_t uploaded; /* bytes of bodies that are held, of all connections */
    size_t held;     /* bytes of answers, of all connections */
    bool stopping;   /* nobody is asked any more */
    char *token;                   /* NULL: none is needed */
    bool loopback;
    int64_t request_ms;
    int64_t live_wait_ms;
    int64_t answer_wait_ms;
};

struct MHD_Daemon;

/* A libmicrohttpd daemon without sockets or threads of its own, which calls back into `server`. NULL: none could be
 * made. */
struct MHD_Daemon *http_exchange_daemon(struct http_exchange_server *server);

/* Resumes what was answered or refused, or is due; all of it when `all`. */
void http_exchange_settle(struct http_exchange_server *server, struct mono_ms now, bool all);

#endif
