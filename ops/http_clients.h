/* The connections there are, and which of them has to go. Pure bookkeeping: the HTTP thread's alone,
 * O(HTTP_CLIENTS_ROOM). */
#ifndef TARRY_OPS_HTTP_CLIENTS_H
#define TARRY_OPS_HTTP_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time_types.h"
#include "ops/http.h"

/* Some more than HTTP_CLIENTS_MOST: one that was told to go needs a turn of the server to be gone. */
#define HTTP_CLIENTS_ROOM (HTTP_CLIENTS_MOST + 56)

#define HTTP_CLIENTS_ASKING_MOST (HTTP_CLIENTS_MOST - 40)      /* for what is under /api/ */
#define HTTP_CLIENTS_ASKING_MOST_OPEN (HTTP_CLIENTS_MOST - 20) /* for health and metrics: there is room for them when the API is full */

enum http_clients_phase {
    HTTP_CLIENTS_FREE,    /* no connection */
    HTTP_CLIENTS_READING, /* a request is awaited or not yet complete */
    HTTP_CLIENTS_ASKING,  /* the owner is asked; the client waits for us */
    HTTP_CLIENTS_WRITING, /* the answer is on its way */
    HTTP_CLIENTS_STREAMING, /* takes events as they come: for as long as it likes */
    HTTP_CLIENTS_CLOSING, /* told to go */
};

struct http_clients_client {
    int fd;
    enum http_clients_phase phase;
    struct mono_ms since; /* when the phase began */
    bool local_socket;    /* it came by the Unix socket, from a process of this user: */
    unsigned long uid;
};

struct http_clients {
    struct http_clients_client clients[HTTP_CLIENTS_ROOM];
    size_t count;      /* not free */
    size_t open_count; /* neither free nor closing */
};

/* A free place for a new connection, reading; NULL when there is none. */
struct http_clients_client *http_clients_add(struct http_clients *clients, int fd, struct mono_ms now);

void http_clients_remove(struct http_clients *clients, struct http_clients_client *client);

/* Begins a phase. A closing client stays so. */
void http_clients_enter(struct http_clients_client *client, enum http_clients_phase phase, struct mono_ms now);

/* Cuts a client's connection; the server library then notices and calls for http_clients_remove. */
void http_clients_cut(struct http_clients *clients, struct http_clients_client *client);

/* Cuts all: the end. */
void http_clients_cut_all(struct http_clients *clients);

/* Cuts those that have been reading for request_ms or writing for HTTP_ANSWER_MS. */
void http_clients_cut_late(struct http_clients *clients, struct mono_ms now, int64_t request_ms);

/* How many a request is under way of: asked, or being answered. */
size_t http_clients_busy(const struct http_clients *clients);

/* Whether fewer than `most` wait for an answer or follow events: those are not cut to make room, so they may not become all. */
bool http_clients_may_ask(const struct http_clients *clients, size_t most);

/* Makes room for one more when HTTP_CLIENTS_MOST are open, by cutting the one that has been reading longest, else
 * writing longest. False: all wait for the owner, so the new one cannot be taken. */
bool http_clients_make_room(struct http_clients *clients);

#endif
