/*
 * Reading in order: an ephemeral pull consumer without acknowledgements, asked for one batch after the other.
 *
 * Asked by requests of our own rather than through nats.c's fetch, because every request must have an end that is known: all its messages, or a
 * status (408 when it expired, 404, 409, "no responders" when the consumer is no more). A request that has none is asked again, as nats-server 2.9 says
 * nothing of one that expires in the moment in which a message is there for it; when nothing at all is heard for SILENCE_MS the reader has failed. Nothing
 * is pushed, so nothing can overrun us; the consumer lives in the server's memory, and goes INACTIVE_MS after we did.
 *
 * That a request expired says little: a busy server lets one expire with all the messages still to be sent. The end is where the server counts none
 * behind the last one (with each message, or asked), so as long as it counts some we go on asking.
 */
#include "dlq/reader.h"

#include <inttypes.h>
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dlq/link_spent.h"
#include "dlq/link_state.h"
#include "dlq/reader_state.h"

#define BATCH 64              /* at most so many bodies of max_payload are on their way */
#define INACTIVE_MS 60000
#define EXPIRES_MIN_MS 20     /* "not at all": for what is on its way within the server */
#define EXPIRES_OWED_MS 250   /* the server has some: it sends them as soon as it can, or they were removed */
#define OWED_MAX 40           /* such requests without any message, one after the other */
#define EXPIRES_MAX_MS 2000
#define GRACE_MS 1000         /* how long after its expiry a request's end is waited for */
#define SILENCE_MS 10000      /* a reader that has lost its server finds out within this */
#define OPEN_TIMEOUT_MS 5000

struct reader {
    struct link_session *session;
    natsSubscription *subscription;
    char inbox[128];
    char request_subject[512];
    char stream[256];
    char consumer[128];
    uint64_t consumer_sequence; /* of the last message */
    uint64_t pending;           /* messages behind it, as the server last counted */
    bool counted;               /* the server was asked once more since the last message, and knew of none behind it */
    unsigned owed;              /* requests that expired in spite of them, since the last message */
    int64_t remaining;          /* of the request that is open; 0: none is */
    uint64_t request;           /* its number, the last token of where its answers go */
    int64_t expires_ms;
    int64_t deadline_ms;        /* by when it has an end */
    bool doubtful;              /* the one before had none: whose messages come is not known */
    int64_t heard_ms;           /* monotonic: the last answer of any kind */
    natsMsg *current;
    struct link_spent spent;
};

static enum reader_result fail(const struct reader *reader, struct error *error, const char *what)
{
    error_set(error, ERROR_UNAVAILABLE, "reading stream %s: %s", reader->stream, what);
    return READER_FAILED;
}

/* ------------------------------------------------------------------------------------------------- opening */

/* Delivery starts at `from`, or if since_ms >= 0 then. */
static natsStatus add_consumer(struct reader *reader, const char *filter, uint64_t from, int64_t since_ms, jsErrCode *code)
{
    jsConsumerConfig config;
    jsConsumerInfo *info = NULL;
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = OPEN_TIMEOUT_MS;
    jsConsumerConfig_Init(&config);
    config.AckPolicy = js_AckNone;
    config.DeliverPolicy = since_ms >= 0 ? js_DeliverByStartTime : from > 1 ? js_DeliverByStartSequence : js_DeliverAll;
    config.OptStartSeq = since_ms < 0 && from > 1 ? from : 0;
    config.OptStartTime = since_ms >= 0 ? since_ms * 1000000 : 0;
    config.FilterSubject = filter;
    config.InactiveThreshold = (int64_t)INACTIVE_MS * 1000000;
    config.MemoryStorage = true;
    config.Replicas = 1;
    natsStatus status = js_AddConsumer(&info, link_session_jetstream(reader->session), reader->stream, &config, &options, code);
    if (status == NATS_OK) {
        snprintf(reader->consumer, sizeof reader->consumer, "%s", info->Name);
        reader->pending = info->NumPending;
        jsConsumerInfo_Destroy(info);
    }
    return status;
}

static natsStatus subscribe(struct reader *reader)
{
    natsInbox *inbox = NULL;
    natsStatus status = natsInbox_Create(&inbox);
    if (status != NATS_OK) {
        return status;
    }
    char subject[sizeof reader->inbox + 2];
    snprintf(reader->inbox, sizeof reader->inbox, "%s", inbox);
    snprintf(subject, sizeof subject, "%s.*", reader->inbox);
    natsInbox_Destroy(inbox);
    status = natsConnection_SubscribeSync(&reader->subscription, link_session_connection(reader->session), subject);
    if (status == NATS_OK) {
        /* bounded by what is asked for */
        status = natsSubscription_SetPendingLimits(reader->subscription, -1, -1);
    }
    return status;
}

static bool start(struct reader *reader, const char *filter, uint64_t from, int64_t since_ms, struct error *error)
{
    jsErrCode code = (jsErrCode)0;
    natsStatus status = subscribe(reader);
    if (status == NATS_OK) {
        status = add_consumer(reader, filter, from, since_ms, &code);
    }
    snprintf(reader->request_subject, sizeof reader->request_subject, "$JS.API.CONSUMER.MSG.NEXT.%s.%s", reader->stream, reader->consumer);
    return status == NATS_OK || reader_state_error(reader->session, "reading stream", reader->stream, status, code, error);
}

static bool open_at(struct link *link, const char *stream, const char *filter, uint64_t from, int64_t since_ms, struct reader **reader, struct error *error)
{
    struct link_session *session = link_session_hold(link, error);
    if (session == NULL) {
        return false;
    }
    struct reader *made = memory_new(1, sizeof *made);
    made->session = session;
    made->heard_ms = reader_state_clock_ms();
    snprintf(made->stream, sizeof made->stream, "%s", stream);
    if (!start(made, filter, from, since_ms, error)) {
        reader_close(made);
        return false;
    }
    *reader = made;
    return true;
}

bool reader_open(struct link *link, const char *stream, const char *filter, uint64_t from, struct reader **reader, struct error *error)
{
    return open_at(link, stream, filter, from, -1, reader, error);
}

/* Whole seconds: nats.c 3.4.1 writes a fraction without the zeros that it begins with, and 12.016 s is 12.16 s to the server, which leaves out what is between. */
bool reader_open_since(struct link *link, const char *stream, const char *filter, int64_t since_ms, struct reader **reader, struct error *error)
{
    int64_t second_ms = since_ms - since_ms % 1000;
    return open_at(link, stream, filter, 0, second_ms > 0 ? second_ms : -1, reader, error);
}

/* Tells the server, without waiting for its answer: what does not arrive expires. */
static void delete_consumer(const struct reader *reader)
{
    char subject[512];
    char reply[160];
    if (reader->consumer[0] != '\0' && link_session_alive(reader->session)) {
        snprintf(subject, sizeof subject, "$JS.API.CONSUMER.DELETE.%s.%s", reader->stream, reader->consumer);
        snprintf(reply, sizeof reply, "%s.end", reader->inbox);
        (void)natsConnection_PublishRequest(link_session_connection(reader->session), subject, reply, NULL, 0);
    }
}

void reader_close(struct reader *reader)
{
    if (reader == NULL) {
        return;
    }
    natsMsg_Destroy(reader->current);
    link_spent_clear(&reader->spent);
    delete_consumer(reader);
    link_session_unsubscribe(reader->session, reader->subscription);
    link_session_drop(reader->session);
    free(reader);
}

/* ------------------------------------------------------------------------------------------------- asking */

/* What is known to be there is asked for exactly, so that its last message ends the request at once. */
static bool ask(struct reader *reader, int64_t expires_ms)
{
    char body[96];
    char reply[160];
    bool some = reader->pending > 0;
    int64_t batch = some && reader->pending < BATCH ? (int64_t)reader->pending : BATCH;
    expires_ms = some ? EXPIRES_OWED_MS : expires_ms;
    int length = snprintf(body, sizeof body, "{\"batch\":%" PRId64 ",\"expires\":%" PRId64 "}", batch, expires_ms * 1000000);
    int64_t now_ms = reader_state_clock_ms();
    snprintf(reply, sizeof reply, "%s.%" PRIu64, reader->inbox, ++reader->request);
    reader->doubtful = reader->remaining > 0;
    reader->heard_ms = reader->remaining > 0 ? reader->heard_ms : now_ms; /* silence counts from the first question that has no answer */
    reader->remaining = batch;
    reader->expires_ms = expires_ms;
    reader->deadline_ms = now_ms + expires_ms + GRACE_MS;
    return natsConnection_PublishRequest(link_session_connection(reader->session), reader->request_subject, reply, body, length) == NATS_OK;
}

static int64_t expires_for(int64_t wait_ms)
{
    return wait_ms < EXPIRES_MIN_MS ? EXPIRES_MIN_MS : wait_ms > EXPIRES_MAX_MS ? EXPIRES_MAX_MS : wait_ms;
}

/* A message without a body that says how the request ended; NULL: it is a message of the stream. */
static const char *status_of(natsMsg *message)
{
    const char *status = NULL;
    const char *reply = natsMsg_GetReply(message);
    bool of_stream = reply != NULL && strncmp(reply, "$JS.ACK.", 8) == 0;
    return !of_stream && natsMsgHeader_Get(message, "Status", &status) == NATS_OK ? status : NULL;
}

/* A request expired although messages were behind: they have been removed, or the server is slow, or it goes wrong. */
static enum reader_result count_again(struct reader *reader, struct error *error)
{
    jsConsumerInfo *info = NULL;
    jsErrCode code = (jsErrCode)0;
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = OPEN_TIMEOUT_MS;
    natsStatus status = js_GetConsumerInfo(&info, link_session_jetstream(reader->session), reader->stream, reader->consumer, &options, &code);
    if (status != NATS_OK) {
        (void)reader_state_error(reader->session, "reading stream", reader->stream, status, code, error);
        return READER_FAILED;
    }
    reader->pending = info->NumPending;
    reader->counted = true;
    jsConsumerInfo_Destroy(info);
    reader->owed += reader->pending > 0;
    return reader->owed <= OWED_MAX ? READER_NOTHING : fail(reader, error, "the server has messages and does not send them");
}

/* True: it is of the request that is open, and not of one that was given up. */
static bool is_of_now(const struct reader *reader, natsMsg *message)
{
    const char *token = strrchr(natsMsg_GetSubject(message), '.');
    return token != NULL && strtoull(token + 1, NULL, 10) == reader->request;
}

/* The request has expired. Its end names how many of its batch were not sent: with another number than ours some are lost on the way. */
static enum reader_result take_end(struct reader *reader, natsMsg *message, struct error *error)
{
    const char *pending = NULL;
    if (!is_of_now(reader, message)) {
        return READER_NOTHING;
    }
    bool told = natsMsgHeader_Get(message, "Nats-Pending-Messages", &pending) == NATS_OK;
    bool lost = told && !reader->doubtful && strtoll(pending, NULL, 10) != reader->remaining;
    reader->remaining = 0;
    if (lost) {
        return fail(reader, error, "messages were lost on the way");
    }
    /* the count that came with the consumer, or with the last message, may be of a moment before the next one: it is not taken for the end unasked */
    return reader->pending > 0 || !reader->counted ? count_again(reader, error) : READER_NOTHING;
}

static enum reader_result take_status(struct reader *reader, natsMsg *message, const char *status, struct error *error)
{
    const char *words = NULL;
    char text[200];
    if (strcmp(status, "408") == 0 || strcmp(status, "404") == 0) {
        return take_end(reader, message, error);
    }
    (void)natsMsgHeader_Get(message, "Description", &words);
    snprintf(text, sizeof text, "the server ended it: %s %s", status, words == NULL ? "" : words);
    return fail(reader, error, text);
}

static enum reader_result take_message(struct reader *reader, natsMsg *message, struct reader_message *out, struct error *error)
{
    struct reader_state_place place;
    if (!reader_state_place(natsMsg_GetReply(message), &place)) {
        natsMsg_Destroy(message);
        return fail(reader, error, "a message without its place in the stream");
    }
    if (place.consumer_sequence != reader->consumer_sequence + 1) {
        natsMsg_Destroy(message);
        return fail(reader, error, "a gap in what the server sent");
    }
    reader->consumer_sequence = place.consumer_sequence;
    reader->pending = place.pending;
    reader->owed = 0;
    reader->counted = false;
    reader->remaining -= reader->remaining > 0;
    reader->current = message;
    *out = (struct reader_message){
        .sequence = place.sequence,
        .stored_ms = place.stored_ns / 1000000,
        .subject = natsMsg_GetSubject(message),
        .bytes = reader_state_body(message),
        .handle = message,
    };
    return READER_MESSAGE;
}

/* The open request has no answer yet, and its time may be over. */
static enum reader_result take_silence(struct reader *reader, struct error *error)
{
    int64_t now_ms = reader_state_clock_ms();
    if (now_ms < reader->deadline_ms) {
        return READER_NOTHING;
    }
    if (now_ms - reader->heard_ms >= SILENCE_MS) {
        return fail(reader, error, "no answer");
    }
    return ask(reader, reader->expires_ms) ? READER_NOTHING : fail(reader, error, "the connection to NATS is down");
}

/* Waits until then at most; READER_NOTHING with reader->remaining > 0: nothing came, a request is still open. */
static enum reader_result receive(struct reader *reader, int64_t until_ms, struct reader_message *out, struct error *error)
{
    natsMsg *message = NULL;
    int64_t now_ms = reader_state_clock_ms();
    int64_t end_ms = until_ms < reader->deadline_ms ? until_ms : reader->deadline_ms;
    natsStatus status = natsSubscription_NextMsg(&message, reader->subscription, end_ms > now_ms ? end_ms - now_ms : 0);
    if (status == NATS_NO_RESPONDERS) {
        return fail(reader, error, "the server knows this reader no more (the stream was deleted, or the server started anew)");
    }
    if (status == NATS_TIMEOUT) {
        return take_silence(reader, error);
    }
    if (status != NATS_OK) {
        return fail(reader, error, natsStatus_GetText(status));
    }
    reader->heard_ms = reader_state_clock_ms();
    const char *words = status_of(message);
    if (words == NULL) {
        return take_message(reader, message, out, error);
    }
    enum reader_result result = take_status(reader, message, words, error);
    natsMsg_Destroy(message);
    return result;
}

/* One turn: a message, the end of a request, or until_ms. */
static enum reader_result turn(struct reader *reader, int64_t expires_ms, int64_t until_ms, struct reader_message *message, struct error *error)
{
    link_spent_add(&reader->spent, reader->current);
    reader->current = NULL;
    if (reader->remaining == 0 && !ask(reader, expires_ms)) {
        return fail(reader, error, "the connection to NATS is down");
    }
    return receive(reader, until_ms, message, error);
}

enum reader_result reader_next(struct reader *reader, int64_t timeout_ms, struct reader_message *message, struct error *error)
{
    int64_t end_ms = reader_state_clock_ms() + (timeout_ms > 0 ? timeout_ms : 0);
    enum reader_result result;
    bool ended;
    do {
        int64_t left_ms = end_ms - reader_state_clock_ms();
        result = turn(reader, expires_for(left_ms), INT64_MAX, message, error);
        ended = reader->remaining == 0 && reader->pending == 0 && reader_state_clock_ms() >= end_ms;
    } while (result == READER_NOTHING && !ended);
    return result;
}

enum reader_result reader_step(struct reader *reader, int64_t wait_ms, struct reader_message *message, bool *ended, struct error *error)
{
    enum reader_result result = turn(reader, EXPIRES_MIN_MS, reader_state_clock_ms() + wait_ms, message, error);
    *ended = result == READER_NOTHING && reader->remaining == 0 && reader->pending == 0;
    return result;
}

enum reader_result reader_poll(struct reader *reader, int64_t timeout_ms, struct reader_message *message, struct error *error)
{
    int64_t until_ms = reader_state_clock_ms() + (timeout_ms > 0 ? timeout_ms : 0);
    return turn(reader, EXPIRES_MAX_MS, until_ms, message, error);
}
