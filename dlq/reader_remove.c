/* Taking messages out of a stream: many requests on their way at once, whose answers come to one inbox. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dlq/reader.h"
#include "dlq/reader_state.h"

#define ON_THEIR_WAY_MAX 256

struct removal {
    struct link_session *session;
    const char *stream;
    natsSubscription *subscription;
    char inbox[128];
    const uint64_t *sequences;
    bool *gone;
    bool *answered;
    size_t count;
};

/* One that we could not remove because it was not there any more is gone, too. */
static bool look(const struct removal *removal, uint64_t sequence, int64_t timeout_ms, bool *gone, struct error *error)
{
    natsMsg *message = NULL;
    jsErrCode code = (jsErrCode)0;
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = timeout_ms > 0 ? timeout_ms : 1;
    natsStatus status = js_GetMsg(&message, link_session_jetstream(removal->session), removal->stream, sequence, &options, &code);
    natsMsg_Destroy(message);
    *gone = code == JSNoMessageFoundErr;
    return status == NATS_OK || *gone || reader_state_error(removal->session, "looking into stream", removal->stream, status, code, error);
}

static bool contains(natsMsg *message, const char *part)
{
    size_t length = (size_t)natsMsg_GetDataLength(message);
    const char *data = natsMsg_GetData(message);
    size_t size = strlen(part);
    for (size_t i = 0; i + size <= length; i++) {
        if (memcmp(data + i, part, size) == 0) {
            return true;
        }
    }
    return false;
}

/* The answers of this API are the server's own compact JSON: {"type":...,"success":true} or {"type":...,"error":{...,"err_code":10043,...}}. */
static bool take_answer(struct removal *removal, natsMsg *message, int64_t end_ms, struct error *error)
{
    const char *subject = natsMsg_GetSubject(message);
    size_t prefix = strlen(removal->inbox) + 1;
    uint64_t index = strlen(subject) > prefix ? strtoull(subject + prefix, NULL, 10) : UINT64_MAX;
    if (index >= removal->count || removal->answered[index]) {
        return true;
    }
    removal->answered[index] = true;
    removal->gone[index] = contains(message, "\"success\":true") || contains(message, "\"err_code\":10043,");
    if (removal->gone[index]) {
        return true;
    }
    bool known = look(removal, removal->sequences[index], end_ms - reader_state_clock_ms(), &removal->gone[index], error);
    return removal->gone[index] || !known ||
           error_set(error, ERROR_UNAVAILABLE, "stream %s did not remove message %" PRIu64 ": %.*s", removal->stream, removal->sequences[index],
                     natsMsg_GetDataLength(message), natsMsg_GetData(message));
}

static natsStatus ask(const struct removal *removal, size_t index)
{
    char subject[320];
    char reply[160];
    char body[64];
    snprintf(subject, sizeof subject, "$JS.API.STREAM.MSG.DELETE.%s", removal->stream);
    snprintf(reply, sizeof reply, "%s.%zu", removal->inbox, index);
    int length = snprintf(body, sizeof body, "{\"seq\":%" PRIu64 ",\"no_erase\":true}", removal->sequences[index]);
    return natsConnection_PublishRequest(link_session_connection(removal->session), subject, reply, body, length);
}

/* The first error counts. */
static bool keep_first(struct error *first, const struct error *error)
{
    if (first != NULL && first->code == ERROR_NONE) {
        *first = *error;
    }
    return false;
}

static bool run(struct removal *removal, int64_t end_ms, struct error *first)
{
    size_t asked = 0;
    size_t answers = 0;
    while (answers < removal->count) {
        natsStatus status = NATS_OK;
        while (status == NATS_OK && asked < removal->count && asked - answers < ON_THEIR_WAY_MAX) {
            status = ask(removal, asked++);
        }
        natsMsg *message = NULL;
        int64_t left_ms = end_ms - reader_state_clock_ms();
        if (status == NATS_OK) {
            status = left_ms > 0 ? natsSubscription_NextMsg(&message, removal->subscription, left_ms) : NATS_TIMEOUT;
        }
        struct error error = {0};
        if (status != NATS_OK) {
            (void)reader_state_error(removal->session, "removing from stream", removal->stream, status, (jsErrCode)0, &error);
            return keep_first(first, &error);
        }
        answers++;
        if (!take_answer(removal, message, end_ms, &error)) {
            (void)keep_first(first, &error);
        }
        natsMsg_Destroy(message);
    }
    bool all = true;
    for (size_t i = 0; i < removal->count; i++) {
        all = all && removal->gone[i];
    }
    return all;
}

static natsStatus subscribe(struct removal *removal)
{
    char subject[160];
    natsInbox *inbox = NULL;
    natsStatus status = natsInbox_Create(&inbox);
    if (status != NATS_OK) {
        return status;
    }
    snprintf(removal->inbox, sizeof removal->inbox, "%s", inbox);
    snprintf(subject, sizeof subject, "%s.*", inbox);
    natsInbox_Destroy(inbox);
    return natsConnection_SubscribeSync(&removal->subscription, link_session_connection(removal->session), subject);
}

bool reader_remove(struct link *link, const struct reader_stream *stream, const uint64_t *sequences, size_t count, int64_t timeout_ms, bool *gone, struct error *error)
{
    memset(gone, 0, count * sizeof *gone);
    if (count == 0) {
        return true;
    }
    if (!reader_purge_same(link, stream, timeout_ms, error)) {
        return false;
    }
    struct removal removal = {.stream = stream->name, .sequences = sequences, .gone = gone, .count = count};
    removal.session = link_session_hold(link, error);
    if (removal.session == NULL) {
        return false;
    }
    removal.answered = memory_new(count, sizeof *removal.answered);
    struct error first = {0};
    natsStatus status = subscribe(&removal);
    bool done = status == NATS_OK ? run(&removal, reader_state_clock_ms() + timeout_ms, &first)
                                  : reader_state_error(removal.session, "removing from stream", stream->name, status, (jsErrCode)0, &first);
    if (!done && error != NULL) {
        *error = first;
    }
    link_session_unsubscribe(removal.session, removal.subscription);
    link_session_drop(removal.session);
    free(removal.answered);
    return done;
}
