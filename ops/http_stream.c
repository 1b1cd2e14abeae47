/* See http_stream.h. */
#include "ops/http_stream.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "ops/api.h"
#include "ops/clock.h"
#include "ops/history.h"
#include "ops/http_reply.h"

#define BLOCK_BYTES ((size_t)16 << 10)
#define HELD_MOST (4 * HTTP_STREAM_BYTES) /* one line may be longer than HTTP_STREAM_BYTES (event_feed.h) */
#define RETRY_MS 2000                     /* when a reader that was cut comes back */

struct http_stream {
    struct http_streams *streams;
    struct http_stream *next;
    struct MHD_Connection *connection;
    int fd; /* the connection's; -1: not known */
    struct event_feed_reader *reader;
    struct buffer held; /* read from the feed */
    size_t sent;        /* of it */
    struct mono_ms last; /* when something was read */
    bool asleep;
    bool over;
};

/* ------------------------------------------------------------------------------------------------- libmicrohttpd's calls */

/* False: there is nothing to say now. */
static bool fill(struct http_stream *stream)
{
    struct mono_ms now = clock_mono();
    buffer_clear(&stream->held);
    stream->sent = 0;
    if (!event_feed_read(stream->reader, HTTP_STREAM_BYTES, &stream->held)) {
        if (now.ms - stream->last.ms < stream->streams->quiet_ms) {
            return false;
        }
        buffer_add_text(&stream->held, ": still here\n\n");
    }
    stream->last = now;
    return true;
}

/* An MHD_ContentReaderCallback. */
static ssize_t on_read(void *context, uint64_t position, char *to, size_t room)
{
    struct http_stream *stream = context;
    (void)position;
    if (stream->sent == stream->held.length) {
        if (stream->over || stream->streams->over) {
            return MHD_CONTENT_READER_END_OF_STREAM;
        }
        if (!fill(stream)) {
            stream->asleep = true;
            MHD_suspend_connection(stream->connection);
            return 0;
        }
    }
    size_t left = stream->held.length - stream->sent;
    size_t count = left < room ? left : room;
    memcpy(to, stream->held.data + stream->sent, count);
    stream->sent += count;
    return (ssize_t)count;
}

static void unlink_stream(struct http_stream *stream)
{
    struct http_stream **link = &stream->streams->first;
    while (*link != NULL && *link != stream) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = stream->next;
    }
}

/* An MHD_ContentReaderFreeCallback: the answer is over, one way or the other. */
static void on_free(void *context)
{
    struct http_stream *stream = context;
    unlink_stream(stream);
    event_feed_close(stream->reader);
    buffer_free(&stream->held);
    free(stream);
}

/* ------------------------------------------------------------------------------------------------- opening */

static struct http_stream *new_stream(struct http_streams *streams, struct MHD_Connection *connection, int fd, struct event_feed_reader *reader)
{
    struct http_stream *stream = memory_new(1, sizeof(*stream));
    *stream = (struct http_stream){.streams = streams,
                                   .next = streams->first,
                                   .connection = connection,
                                   .fd = fd,
                                   .reader = reader,
                                   .held = buffer_new(HELD_MOST),
                                   .last = clock_mono()};
    buffer_add_format(&stream->held, "retry: %d\n\n", RETRY_MS); /* and the reader learns at once that it is heard */
    streams->first = stream;
    return stream;
}

/* What the reader has not taken stays with us, where it is bounded, not in the system's buffers. */
static void bound_buffers(int fd)
{
    int bytes = (int)HTTP_STREAM_BYTES;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)); /* else they are larger */
}

/* Of an outcome that there is not nothing would ever come. */
static bool check_query(struct http_request *request)
{
    static const char *const known[] = {"id", "target", "outcome", NULL};
    const char *outcomes[HISTORY_OUTCOMES + 1] = {NULL};
    int index;
    for (int i = 0; i < HISTORY_OUTCOMES; i++) {
        outcomes[i] = history_outcome_name((enum history_outcome)i);
    }
    return api_parameter_known(request, known) && api_parameter_choice(request, "outcome", outcomes, &index);
}

bool http_stream_open(struct http_streams *streams,
                      struct MHD_Connection *connection,
                      int fd,
                      struct event_feed *feed,
                      struct http_request *request,
                      const char *last_id,
                      struct error *error)
{
    struct event_feed_reader *reader = NULL;
    if (!check_query(request)) {
        return error_set(error, ERROR_INVALID, "a parameter that is none, or a value");
    }
    const struct event_feed_filter filter = {http_request_query(request, "id"), http_request_query(request, "target"), http_request_query(request, "outcome")};
    if (!event_feed_open(feed, span_of_text(last_id), &filter, &reader, error)) {
        return false;
    }
    bound_buffers(fd);
    struct http_stream *stream = new_stream(streams, connection, fd, reader);
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, on_read, stream, on_free);
    if (response == NULL) {
        on_free(stream);
        return error_set(error, ERROR_SYSTEM, "no memory for a stream");
    }
    const struct http_reply reply = {.status = 200, .content_type = "text/event-stream"};
    return http_reply_response(connection, &reply, response) || error_set(error, ERROR_SYSTEM, "the answer was not taken");
}

/* ------------------------------------------------------------------------------------------------- going on */

/* The library does not look at a connection that sleeps, and two comments would be sent to nobody before it noticed. */
static bool has_left(const struct http_stream *stream)
{
    char byte;
    ssize_t count = stream->fd < 0 ? 1 : recv(stream->fd, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

void http_stream_wake(struct http_streams *streams, struct mono_ms now, bool all)
{
    for (struct http_stream *stream = streams->first; stream != NULL; stream = stream->next) {
        stream->over = stream->over || (stream->asleep && has_left(stream));
        bool due = all || stream->over || streams->over || now.ms - stream->last.ms >= streams->quiet_ms;
        if (stream->asleep && due) {
            stream->asleep = false;
            MHD_resume_connection(stream->connection);
        }
    }
}

void http_stream_end(struct http_streams *streams)
{
    for (struct http_stream *stream = streams->first; stream != NULL; stream = stream->next) {
        stream->over = true;
    }
}
