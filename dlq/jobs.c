/* See jobs.h. */
#include "dlq/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dlq/link_state.h"
#include "dlq/reader.h"
#include "dlq/subject.h"

#define WAIT_MS 5000
#define LINK_MS 5000
/* JetStream's numbers of errors: "wrong last sequence", in two forms, and "stream not found" */
#define WRONG_REVISION 10071
#define WRONG_REVISION_NEW 10164
#define NO_STREAM 10059

static bool is_id(const char *id)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t length = strlen(id);
    return length > 0 && length <= JOBS_ID_MAX && strspn(id, good) == length;
}

static bool subject_of_id(const struct streams_options *options, const char *id, char subject[SUBJECT_SIZE], struct error *error)
{
    if (!is_id(id)) {
        return error_set(error, ERROR_INVALID, "\"%.80s\" is no job: an id has letters, digits, '-' and '_', %d at most", id, JOBS_ID_MAX);
    }
    snprintf(subject, SUBJECT_SIZE, "%sjob.%s", options->prefix, id);
    return true;
}

static struct link_session *session_of(struct link *link, struct error *error)
{
    return link_wait(link, LINK_MS, error) ? link_session_hold(link, error) : NULL;
}

static bool failed(struct link_session *session, const char *stream, const char *id, natsStatus status, jsErrCode code, struct error *error)
{
    if (code == WRONG_REVISION || code == WRONG_REVISION_NEW) {
        return error_set(error, ERROR_BUSY, "job %s was written by somebody else meanwhile: look at it again", id);
    }
    if (code == NO_STREAM) {
        return error_set(error, ERROR_NOT_FOUND, "there is no stream %s: no job was ever begun here, or dlq.stream names another one", stream);
    }
    if (status == NATS_NOT_FOUND) {
        return error_set(error, ERROR_NOT_FOUND, "there is no job %s", id);
    }
    link_session_failure(session, status, code, error);
    return error_prefix(error, "job %s", id);
}

bool jobs_put(struct link *link, const struct streams_options *options, const char *id, struct span bytes, uint64_t *revision, struct error *error)
{
    char subject[SUBJECT_SIZE];
    char stream[STREAMS_NAME_SIZE];
    streams_jobs(options, stream);
    if (!subject_of_id(options, id, subject, error)) {
        return false;
    }
    if (bytes.length > INT32_MAX) {
        return error_set(error, ERROR_INVALID, "job %s: %zu bytes are too many", id, bytes.length);
    }
    struct link_session *session = session_of(link, error);
    if (session == NULL) {
        return false;
    }
    jsPubOptions publish;
    jsPubOptions_Init(&publish);
    publish.MaxWait = WAIT_MS;
    publish.ExpectStream = stream;
    publish.ExpectLastSubjectSeq = *revision;
    publish.ExpectNoMessage = *revision == 0;
    jsPubAck *ack = NULL;
    jsErrCode code = 0;
    natsStatus status = js_Publish(&ack, link_session_jetstream(session), subject, bytes.data, (int)bytes.length, &publish, &code);
    if (status == NATS_OK) {
        *revision = ack->Sequence;
        jsPubAck_Destroy(ack);
    } else {
        failed(session, stream, id, status, code, error);
    }
    link_session_drop(session);
    return status == NATS_OK;
}

bool jobs_get(struct link *link, const struct streams_options *options, const char *id, struct buffer *bytes, uint64_t *revision, struct error *error)
{
    char subject[SUBJECT_SIZE];
    char stream[STREAMS_NAME_SIZE];
    streams_jobs(options, stream);
    if (!subject_of_id(options, id, subject, error)) {
        return false;
    }
    struct link_session *session = session_of(link, error);
    if (session == NULL) {
        return false;
    }
    jsOptions wait;
    jsOptions_Init(&wait);
    wait.Wait = WAIT_MS;
    natsMsg *message = NULL;
    jsErrCode code = 0;
    natsStatus status = js_GetLastMsg(&message, link_session_jetstream(session), stream, subject, &wait, &code);
    if (status == NATS_OK) {
        buffer_clear(bytes);
        buffer_add(bytes, natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message));
        *revision = natsMsg_GetSequence(message);
        natsMsg_Destroy(message);
    } else {
        failed(session, stream, id, status, code, error);
    }
    link_session_drop(session);
    return status == NATS_OK && (!bytes->full || error_set(error, ERROR_FULL, "job %s is larger than %zu bytes", id, bytes->most));
}

/* Up to the stream's end as it was at the start: jobs that run write on. */
static bool list_to(struct reader *reader, size_t prefix, uint64_t last, bool (*each)(const struct jobs_job *job, void *context), void *context, struct error *error)
{
    struct reader_message message = {0};
    while (message.sequence < last) {
        enum reader_result result = reader_next(reader, WAIT_MS, &message, error);
        if (result != READER_MESSAGE) { /* nothing more: those behind were written anew, and stand later */
            return result == READER_NOTHING;
        }
        struct jobs_job job = {message.subject + prefix, message.bytes, message.sequence, message.stored_ms};
        if (!each(&job, context)) {
            return true;
        }
    }
    return true;
}

bool jobs_list(struct link *link,
               const struct streams_options *options,
               bool (*each)(const struct jobs_job *job, void *context),
               void *context,
               struct error *error)
{
    char stream[STREAMS_NAME_SIZE];
    char filter[SUBJECT_SIZE];
    struct streams_state state;
    struct reader *reader = NULL;
    streams_jobs(options, stream);
    snprintf(filter, sizeof filter, "%sjob.*", options->prefix);
    if (!link_wait(link, LINK_MS, error) || !streams_state(link, stream, WAIT_MS, &state, error)) {
        return false;
    }
    if (state.messages == 0) {
        return true;
    }
    if (!reader_open(link, stream, filter, 1, &reader, error)) {
        return false;
    }
    bool ok = list_to(reader, strlen(options->prefix) + strlen("job."), state.last_sequence, each, context, error);
    reader_close(reader);
    return ok;
}
