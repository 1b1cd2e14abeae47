/* The window of messages under way. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlq/mailer_state.h"
#include "dlq/subject.h"

#define WINDOW_MESSAGES 1024
#define WINDOW_BYTES (4u << 20) /* one message is always let in */
#define ANSWER_MS 2000          /* unanswered as long, it is sent again */
#define LATER_MS 250            /* before asking again a stream that has no leader or is not there */
#define LOOK_MS 50              /* between looks at what to send again */
#define FRESH_MOST 8            /* times one letter is published afresh in one call */

struct dispatch {
    struct mailer *mailer;
    struct mailer_message *messages;
    size_t count;
    size_t next; /* the first not yet sent */
    size_t open; /* not done */
    size_t under_way;
    size_t under_way_bytes;
    int64_t end_ms;
    int64_t look_ms;
    uint64_t session; /* its number: what was sent on another is sent again */
};

static void settle(struct dispatch *dispatch, struct mailer_message *message, enum mailer_result result, const char *text)
{
    if (message->stage == MAILER_STAGE_SENT) {
        dispatch->under_way--;
        dispatch->under_way_bytes -= message->in_flight_bytes;
    }
    message->stage = MAILER_STAGE_DONE;
    message->item->result = result;
    message->item->error[0] = '\0';
    if (text[0] != '\0') {
        snprintf(message->item->error, sizeof message->item->error, "%s", text);
    }
    dispatch->open--;
}

static bool body_of(struct dispatch *dispatch, const struct mailer_message *message, struct span *body, struct error *error)
{
    if (message->part >= 0) {
        *body = message->bytes;
        return true;
    }
    struct buffer *buffer = &dispatch->mailer->body;
    buffer_clear(buffer);
    bool ok = letter_encode(buffer, message->letter, error);
    *body = buffer_span(buffer);
    return ok;
}

static natsStatus publish(struct dispatch *dispatch, const struct mailer_message *message, struct span body)
{
    struct mailer *mailer = dispatch->mailer;
    char subject[SUBJECT_SIZE];
    char reply[sizeof mailer->inbox + 64];
    char id[MAILER_ID_SIZE];
    if (message->part >= 0) {
        subject_large(subject, mailer->options->prefix, message->letter, (uint32_t)message->part);
    } else {
        subject_of(subject, mailer->options->prefix, message->state == LETTER_PARKED ? SUBJECT_PARKED : SUBJECT_DLQ, message->letter->target);
    }
    snprintf(reply, sizeof reply, "%s.%" PRIx64 "-%zx-%" PRIx32, mailer->inbox, mailer->call, (size_t)(message - dispatch->messages), message->nth);
    mailer_verify_id(message, id);
    natsMsg *made = NULL;
    natsStatus status = natsMsg_Create(&made, subject, reply, (const char *)body.data, (int)body.length);
    if (status == NATS_OK) {
        status = natsMsgHeader_Set(made, "Nats-Msg-Id", id);
    }
    if (status == NATS_OK) { /* another stream that takes this subject must not swallow it */
        status = natsMsgHeader_Set(made, "Nats-Expected-Stream", mailer_verify_stream(mailer, message));
    }
    if (status == NATS_OK) {
        status = natsConnection_PublishMsg(link_session_connection(mailer->session), made);
    }
    link_spent_add(&mailer->spent, made);
    return status;
}

/* False: the session can be used no more. */
static bool send_message(struct dispatch *dispatch, struct mailer_message *message)
{
    struct error error = {ERROR_NONE, ""};
    struct span body;
    if (!body_of(dispatch, message, &body, &error) || body.length > INT32_MAX) {
        settle(dispatch, message, MAILER_REFUSED, error.text);
        return true;
    }
    natsStatus status = publish(dispatch, message, body);
    if (status == NATS_MAX_PAYLOAD) { /* it was lowered since we looked: the next call divides it */
        bool divided = message->part < 0 && message->letter->parts > 0;
        settle(dispatch, message, divided ? MAILER_REFUSED : MAILER_UNAVAILABLE, "the server's max_payload is too small for it: raise it");
        return true;
    }
    if (status == NATS_INVALID_ARG || status == NATS_INVALID_SUBJECT) {
        settle(dispatch, message, MAILER_REFUSED, natsStatus_GetText(status));
        return true;
    }
    if (status != NATS_OK) {
        link_session_break(dispatch->mailer->session); /* a message may be cut off in its middle */
        return false;
    }
    if (message->stage == MAILER_STAGE_UNSENT) {
        message->stage = MAILER_STAGE_SENT;
        message->item->error[0] = '\0';
        message->in_flight_bytes = body.length;
        dispatch->under_way++;
        dispatch->under_way_bytes += body.length;
    }
    message->again_ms = link_session_clock_ms() + ANSWER_MS;
    return true;
}

static bool send_new(struct dispatch *dispatch)
{
    while (dispatch->next < dispatch->count && dispatch->under_way < WINDOW_MESSAGES &&
           (dispatch->under_way == 0 || dispatch->under_way_bytes < WINDOW_BYTES)) {
        if (!send_message(dispatch, &dispatch->messages[dispatch->next])) {
            return false;
        }
        dispatch->next++;
    }
    return true;
}

static bool send_again(struct dispatch *dispatch)
{
    int64_t now_ms = link_session_clock_ms();
    if (now_ms < dispatch->look_ms) {
        return true;
    }
    dispatch->look_ms = now_ms + LOOK_MS;
    for (size_t i = 0; i < dispatch->next; i++) {
        struct mailer_message *message = &dispatch->messages[i];
        if (message->stage == MAILER_STAGE_SENT && message->again_ms <= now_ms && !send_message(dispatch, message)) {
            return false;
        }
    }
    return true;
}

/* nats.c tells that nobody takes some message, not which: all that wait are asked for again, in a moment. */
static void all_again_at(struct dispatch *dispatch, int64_t at_ms, const char *text)
{
    for (size_t i = 0; i < dispatch->next; i++) {
        struct mailer_message *message = &dispatch->messages[i];
        if (message->stage == MAILER_STAGE_SENT && message->again_ms > at_ms) {
            message->again_ms = at_ms;
            snprintf(message->item->error, sizeof message->item->error, "%s", text);
        }
    }
}

static void take_duplicate(struct dispatch *dispatch, struct mailer_message *message, uint64_t sequence)
{
    enum mailer_standing standing = mailer_verify(dispatch->mailer, message, sequence, dispatch->end_ms);
    if (standing == MAILER_STANDS) {
        message->item->duplicate = true;
        message->item->sequence = sequence;
        settle(dispatch, message, MAILER_KEPT, "");
    } else if (standing == MAILER_GONE && message->nth < FRESH_MOST) {
        message->nth++;
        message->again_ms = 0;
        dispatch->look_ms = 0;
    } else { /* asked again */
        message->again_ms = link_session_clock_ms() + LATER_MS;
    }
}

static void take_answer(struct dispatch *dispatch, struct mailer_message *message, const struct mailer_answer *answer)
{
    switch (answer->kind) {
        case MAILER_ANSWER_KEPT:
            message->item->sequence = answer->sequence;
            settle(dispatch, message, MAILER_KEPT, "");
            break;
        case MAILER_ANSWER_DUPLICATE:
            take_duplicate(dispatch, message, answer->sequence);
            break;
        case MAILER_ANSWER_LATER:
            message->again_ms = link_session_clock_ms() + LATER_MS;
            snprintf(message->item->error, sizeof message->item->error, "%s", answer->text);
            break;
        case MAILER_ANSWER_FAILED:
            settle(dispatch, message, answer->result, answer->text);
            break;
    }
}

/* A number in hexadecimal up to `end`, which is stepped over. */
static bool take_number(const char **text, char end, uint64_t most, uint64_t *number)
{
    char *rest = NULL;
    errno = 0;
    *number = strtoull(*text, &rest, 16);
    bool ok = errno == 0 && rest != *text && *rest == end && *number <= most;
    *text = rest + 1;
    return ok;
}

/* The message an answer is to, by the token behind the inbox; NULL: an earlier call's, or of one that was published afresh since. */
static struct mailer_message *message_of(struct dispatch *dispatch, const char *subject)
{
    const char *token = strrchr(subject, '.');
    uint64_t call = 0;
    uint64_t index = 0;
    uint64_t nth = 0;
    const char *rest = token == NULL ? "" : token + 1;
    if (!take_number(&rest, '-', UINT64_MAX, &call) || call != dispatch->mailer->call || !take_number(&rest, '-', UINT64_MAX, &index) ||
        index >= dispatch->next || !take_number(&rest, '\0', UINT32_MAX, &nth)) {
        return NULL;
    }
    struct mailer_message *message = &dispatch->messages[index];
    return message->stage == MAILER_STAGE_SENT && message->nth == nth ? message : NULL;
}

/* Waits for one answer, then takes what is there. */
static void receive(struct dispatch *dispatch)
{
    int64_t wait_ms = LOOK_MS;
    for (;;) {
        natsMsg *got = NULL;
        natsStatus status = natsSubscription_NextMsg(&got, dispatch->mailer->answers, wait_ms);
        if (status == NATS_TIMEOUT) {
            return;
        }
        if (status == NATS_NO_RESPONDERS) {
            all_again_at(dispatch, link_session_clock_ms() + LATER_MS, "no stream takes it: the stream is gone, or JetStream has no leader");
        } else if (status != NATS_OK) {
            link_session_break(dispatch->mailer->session);
            return;
        } else {
            struct mailer_message *message = message_of(dispatch, natsMsg_GetSubject(got));
            if (message != NULL) {
                struct mailer_answer answer;
                mailer_answer_read(natsMsg_GetData(got), (size_t)natsMsg_GetDataLength(got), &answer);
                take_answer(dispatch, message, &answer);
            }
            link_spent_add(&dispatch->mailer->spent, got);
        }
        wait_ms = 0;
        if (dispatch->under_way < WINDOW_MESSAGES / 2) { /* send on before the rest is taken */
            return;
        }
    }
}

/* A session to go on with; after another one ended, all that was under way goes again. */
static bool go_on(struct dispatch *dispatch, struct error *error)
{
    if (!mailer_session_ready(dispatch->mailer, dispatch->end_ms, error)) {
        return false;
    }
    uint64_t number = link_session_number(dispatch->mailer->session);
    if (number != dispatch->session) {
        dispatch->session = number;
        dispatch->look_ms = 0;
        all_again_at(dispatch, 0, "the connection to NATS was lost before the answer");
    }
    return true;
}

/* What has no answer when the time is over: why, as far as it is known. */
static void give_up(struct dispatch *dispatch, const struct error *error)
{
    struct error silent;
    error_set(&silent, ERROR_UNAVAILABLE, "not answered in time");
    if (dispatch->mailer->session != NULL) {
        link_session_failure(dispatch->mailer->session, NATS_TIMEOUT, 0, &silent);
    }
    for (size_t i = 0; i < dispatch->count; i++) {
        struct mailer_message *message = &dispatch->messages[i];
        if (message->stage != MAILER_STAGE_DONE) {
            const char *known = message->item->error[0] == '\0' ? silent.text : message->item->error;
            char text[sizeof message->item->error];
            snprintf(text, sizeof text, "%.255s", error->code == ERROR_NONE ? known : error->text);
            settle(dispatch, message, MAILER_UNAVAILABLE, text);
        }
    }
}

void mailer_dispatch(struct mailer *mailer, struct mailer_message *messages, size_t count, int64_t end_ms)
{
    struct dispatch dispatch = {.mailer = mailer, .messages = messages, .count = count, .open = count, .end_ms = end_ms};
    struct error error = {ERROR_NONE, ""};
    mailer->call++;
    while (dispatch.open > 0 && error.code == ERROR_NONE && link_session_clock_ms() < end_ms) {
        if (go_on(&dispatch, &error) && send_again(&dispatch) && send_new(&dispatch) && dispatch.under_way > 0) {
            receive(&dispatch);
        }
    }
    give_up(&dispatch, &error);
    link_spent_clear(&mailer->spent);
}
