/*
 * Server-sent events, taken apart as their bytes come (WHATWG HTML, 9.2.6). Pure; one thread.
 *
 * An event that grows beyond SSE_EVENT_MAX is left out whole and counted; comments and unknown fields are passed over.
 */
#ifndef TARRY_CLI_SSE_H
#define TARRY_CLI_SSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

#define SSE_EVENT_MAX ((size_t)4 * 1024 * 1024)
#define SSE_ID_MAX ((size_t)256)

/* One event; texts are NUL-terminated and borrowed for the call. `event`: its name, "message" when it has none. False: take no more. */
typedef bool sse_on_event(void *context, const char *event, const char *data);

struct sse {
    sse_on_event *on_event;
    void *context;
    struct buffer line;
    struct buffer name;
    struct buffer data;
    struct buffer next_id; /* of the event that is not whole yet */
    struct buffer last_id; /* NUL-terminated, for Last-Event-ID; empty: none. Stays from one connection to the next */
    bool has_data;
    bool after_cr;
    bool stopped;
    size_t left_out; /* events that were too large */
};

struct sse sse_new(sse_on_event *on_event, void *context);
void sse_free(struct sse *sse);

/* Takes bytes. False: on_event has said so, and nothing more is taken. */
bool sse_take(struct sse *sse, const void *bytes, size_t count);

/* A new connection: what the last one left unfinished is forgotten, the id of the last whole event stays. */
void sse_restart(struct sse *sse);

/* The Last-Event-ID, or NULL. Borrowed. */
const char *sse_last_id(const struct sse *sse);

#endif
