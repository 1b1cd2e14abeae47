/* One message, and what stands apart from it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/memory.h"
#include "dlq/reader.h"
#include "dlq/reader_state.h"
#include "dlq/subject.h"

#define LOAD_TIMEOUT_MS 10000

/* Appends the body to `bytes`, and frees the message. */
static bool take_body(natsMsg *message, struct buffer *bytes, const char *stream, struct error *error)
{
    int length = natsMsg_GetDataLength(message);
    buffer_add(bytes, natsMsg_GetData(message), length > 0 ? (size_t)length : 0);
    natsMsg_Destroy(message);
    return !bytes->full || error_set(error, ERROR_FULL, "a message of stream %s is larger than the %zu bytes there are for it", stream, bytes->most);
}

static bool get(struct link *link, const char *stream, uint64_t sequence, int64_t timeout_ms, natsMsg **message, struct error *error)
{
    struct link_session *session = link_session_hold(link, error);
    if (session == NULL) {
        return false;
    }
    jsErrCode code = (jsErrCode)0;
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = timeout_ms;
    natsStatus status = js_GetMsg(message, link_session_jetstream(session), stream, sequence, &options, &code);
    bool done = status == NATS_OK || reader_state_error(session, "reading a message of stream", stream, status, code, error);
    link_session_drop(session);
    return done;
}

bool reader_get(struct link *link, const char *stream, uint64_t sequence, int64_t timeout_ms, struct buffer *bytes, struct error *error)
{
    natsMsg *message = NULL;
    buffer_clear(bytes);
    return get(link, stream, sequence, timeout_ms, &message, error) && take_body(message, bytes, stream, error);
}

struct reader_one {
    struct reader_message message;
    natsMsg *handle;
};

bool reader_take(struct link *link, const char *stream, uint64_t sequence, int64_t timeout_ms, struct reader_one **one, struct error *error)
{
    natsMsg *message = NULL;
    if (!get(link, stream, sequence, timeout_ms, &message, error)) {
        return false;
    }
    *one = memory_new(1, sizeof **one);
    (*one)->handle = message;
    (*one)->message = (struct reader_message){
        .sequence = natsMsg_GetSequence(message),
        .stored_ms = natsMsg_GetTime(message) / 1000000,
        .subject = natsMsg_GetSubject(message),
        .bytes = reader_state_body(message),
        .handle = message,
    };
    return true;
}

const struct reader_message *reader_one_message(const struct reader_one *one)
{
    return &one->message;
}

void reader_one_free(struct reader_one *one)
{
    if (one != NULL) {
        natsMsg_Destroy(one->handle);
        free(one);
    }
}

/* ------------------------------------------------------------------------------------------------- apart */

static bool get_part(struct link_session *session, const char *stream, const char *subject, struct buffer *room, struct error *error)
{
    natsMsg *message = NULL;
    jsErrCode code = (jsErrCode)0;
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = LOAD_TIMEOUT_MS;
    natsStatus status = js_GetLastMsg(&message, link_session_jetstream(session), stream, subject, &options, &code);
    if (status != NATS_OK) {
        (void)reader_state_error(session, "reading from stream", stream, status, code, error);
        return error_prefix(error, "%s", subject);
    }
    return take_body(message, room, stream, error);
}

static bool get_parts(struct link *link, const struct streams_options *options, const struct letter *letter, struct buffer *room, struct error *error)
{
    char stream[STREAMS_NAME_SIZE];
    char subject[SUBJECT_SIZE];
    struct link_session *session = link_session_hold(link, error);
    bool done = session != NULL;
    streams_large(options, stream);
    for (uint32_t part = 0; done && part < letter->parts; part++) {
        subject_large(subject, options->prefix, letter, part);
        done = get_part(session, stream, subject, room, error);
    }
    link_session_drop(session);
    return done;
}

bool reader_load(struct link *link, const struct streams_options *options, struct letter *letter, struct buffer *room, struct error *error)
{
    if (letter->parts == 0) {
        return true;
    }
    buffer_clear(room);
    if (!get_parts(link, options, letter, room, error)) {
        return false;
    }
    struct span record = buffer_span(room);
    if (record.length != letter->parts_bytes || XXH3_64bits(record.data, record.length) != letter->parts_hash) {
        return error_set(error, ERROR_CORRUPT, "the parts of letter %s are not what it was made of: %zu bytes, not %" PRIu64, letter->id, record.length,
                         letter->parts_bytes);
    }
    return letter_decode_record(record, &letter->record, error);
}
