/*
 * Server-sent events: an answer that goes on for as long as its reader takes it, from ops/event_feed.h.
 *
 * HTTP thread only. Used by http*.c only. A stream that has nothing to say sleeps (its connection is suspended) until http_stream_wake; one whose reader is slow waits for the reader, holds up to
 * HTTP_STREAM_BYTES for it, and lets the feed go on.
 */
#ifndef TARRY_OPS_HTTP_STREAM_H
#define TARRY_OPS_HTTP_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/time_types.h"
#include "ops/event_feed.h"
#include "ops/http_request.h"

#define HTTP_STREAM_BYTES ((size_t)64 << 10)

struct MHD_Connection;
struct http_stream;

struct http_streams {
    struct http_stream *first;
    int64_t quiet_ms; /* a comment is sent after so long without anything else */
    bool over;        /* all end once what they hold is sent */
};

/* Queues the answer. `last_id`: the header Last-Event-ID, or NULL. False: ERROR_INVALID (request->status and body say what of the query is wrong), ERROR_FULL (too many
 * readers), ERROR_SYSTEM (the connection is to be closed). */
bool http_stream_open(struct http_streams *streams,
                      struct MHD_Connection *connection,
                      int fd,
                      struct event_feed *feed,
                      struct http_request *request,
                      const char *last_id,
                      struct error *error);

/* Lets those go on that have been quiet for long enough, and ends those whose readers have closed their side; with `all`, every one goes on. Call it some times a second. */
void http_stream_wake(struct http_streams *streams, struct mono_ms now, bool all);

/* Those that are open end, once what they hold is sent. */
void http_stream_end(struct http_streams *streams);

#endif
