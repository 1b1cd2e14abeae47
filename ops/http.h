/*
 * The HTTP server: its own thread, which never waits for anybody. What only the owner knows, and what a worker has to look for or wait for (ops/api.h), is asked for through their
 * mailboxes while the connection is suspended, so a stuck owner, a slow broker or a slow client holds up no other answer. Events are sent from their feed (ops/http_stream.h).
 *
 * Limits: HTTP_CLIENTS_MOST connections; when all are taken, the one that has been silent longest makes room; a request
 * has to be complete HTTP_REQUEST_MS after its connection or the answer before it, and an answer taken after
 * HTTP_ANSWER_MS, however busy the client seems.
 */
#ifndef TARRY_OPS_HTTP_H
#define TARRY_OPS_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define HTTP_CLIENTS_MOST 200
#define HTTP_REQUEST_MS 10000
#define HTTP_ANSWER_MS 30000
#define HTTP_TURN_FRESH_MS 10000 /* an owner that turned more lately than this is alive without being asked */

struct http_options {
    const char *listen;     /* "127.0.0.1:7411", "[::1]:7411", "localhost:7411", "0.0.0.0:7411"; port 0: any free one */
    const char *socket;     /* path of a Unix socket to listen at, too; NULL: none */
    const char *token_file; /* NULL: no token, which only a loopback address may do */
    int64_t request_ms;     /* 0: HTTP_REQUEST_MS */
    int64_t live_wait_ms;   /* how long /livez waits for a silent owner; 0: 1000 */
    int64_t quiet_ms;       /* streams of events say so often that they are there; 0: 15000 */
    int64_t answer_wait_ms; /* how long the others wait for the owner; 0: 5000 */
};

struct api;
struct http;

/* Listens, and starts the thread. `api`, its mailboxes and its feed outlive it. NULL: the text names the configuration key (ERROR_INVALID,
 * ERROR_BUSY: the address is taken, ERROR_SYSTEM). Options are copied. Call it with signals blocked in threads to come,
 * or not: the thread blocks them all. */
struct http *http_start(const struct http_options *options, const struct api *api, struct error *error);

/* Sends what is answered to those who take it within half a second, cuts all connections, ends the thread and frees. Requests that somebody still has are dropped. NULL is fine. Owner
 * thread. */
void http_stop(struct http *http);

/* Has the server read its token file again. When that fails the old token stays, and the log says so. Any thread. */
void http_reload(struct http *http);

/* The port in use. */
uint16_t http_port(const struct http *http);

#endif
