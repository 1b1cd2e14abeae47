/* Taking out a whole run of messages at once: one request where reader_remove makes one for each. */
#include "dlq/reader.h"
#include "dlq/reader_state.h"

bool reader_purge_same(struct link *link, const struct reader_stream *stream, int64_t timeout_ms, struct error *error)
{
    struct streams_state now;
    return streams_state(link, stream->name, timeout_ms, &now, error) &&
           (now.created_ms == stream->created_ms ||
            error_set(error, ERROR_UNAVAILABLE, "stream %s was deleted and made again: its letters are others now; nothing was removed", stream->name));
}

bool reader_remove_before(struct link *link, const struct reader_stream *stream, const char *filter, uint64_t before, int64_t timeout_ms, struct error *error)
{
    struct link_session *session = reader_purge_same(link, stream, timeout_ms, error) ? link_session_hold(link, error) : NULL;
    if (session == NULL) {
        return false;
    }
    jsErrCode code = (jsErrCode)0;
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = timeout_ms;
    options.Stream.Purge.Subject = filter;
    options.Stream.Purge.Sequence = before;
    /* Sequence 0 and 1 would mean: all of them. */
    natsStatus status = before <= 1 ? NATS_OK : js_PurgeStream(link_session_jetstream(session), stream->name, &options, &code);
    bool done = status == NATS_OK || reader_state_error(session, "removing from stream", stream->name, status, code, error);
    link_session_drop(session);
    return done;
}
