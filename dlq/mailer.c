/* See mailer.h. */
#include "dlq/mailer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dlq/mailer_state.h"
#include "dlq/subject.h"

#define BODY_MOST (1u << 30)
#define FORGET_MS 5000

struct mailer *mailer_new(struct link *link, const struct streams_options *options)
{
    struct mailer *mailer = memory_new(1, sizeof *mailer);
    mailer->link = link;
    mailer->options = options;
    mailer->body = buffer_new(BODY_MOST);
    streams_large(options, mailer->large);
    return mailer;
}

void mailer_free(struct mailer *mailer)
{
    if (mailer != NULL) {
        mailer_session_drop(mailer);
        buffer_free(&mailer->body);
        free(mailer);
    }
}

void mailer_session_drop(struct mailer *mailer)
{
    if (mailer->session == NULL) {
        return;
    }
    link_session_unsubscribe(mailer->session, mailer->answers);
    mailer->answers = NULL;
    mailer->ended = link_session_number(mailer->session);
    link_session_drop(mailer->session);
    mailer->session = NULL;
}

/* One inbox a session: tokens behind it tell the answers apart. */
static natsStatus subscribe(struct mailer *mailer)
{
    natsInbox *inbox = NULL;
    natsStatus status = natsInbox_Create(&inbox);
    if (status == NATS_OK) {
        char subject[sizeof mailer->inbox + 2];
        snprintf(mailer->inbox, sizeof mailer->inbox, "%s", inbox);
        snprintf(subject, sizeof subject, "%s.*", mailer->inbox);
        status = natsConnection_SubscribeSync(&mailer->answers, link_session_connection(mailer->session), subject);
    }
    natsInbox_Destroy(inbox);
    if (status == NATS_OK) { /* no more come than were sent, which the window bounds */
        status = natsSubscription_SetPendingLimits(mailer->answers, -1, -1);
    }
    return status;
}

bool mailer_session_ready(struct mailer *mailer, int64_t end_ms, struct error *error)
{
    if (mailer->session != NULL && link_session_alive(mailer->session)) {
        return true;
    }
    mailer_session_drop(mailer);
    for (;;) {
        int64_t left_ms = end_ms - link_session_clock_ms();
        if (!link_wait_after(mailer->link, mailer->ended, left_ms < 0 ? 0 : left_ms, error)) {
            return false;
        }
        mailer->session = link_session_hold(mailer->link, error);
        natsStatus status = mailer->session == NULL ? NATS_CONNECTION_CLOSED : subscribe(mailer);
        if (status == NATS_OK) {
            return true;
        }
        if (status != NATS_CONNECTION_CLOSED) {
            link_session_failure(mailer->session, status, 0, error);
            mailer_session_drop(mailer);
            return false;
        }
        mailer_session_drop(mailer); /* it ended, and the link has not noticed: the next one */
    }
}

/* Messages of the letters; where a record must stand apart it is stored first. Returns how many there are to send. */
static size_t prepare(struct mailer *mailer, struct mailer_item *items, size_t count, int64_t end_ms, struct mailer_message *messages, struct letter *apart)
{
    int64_t most = link_max_payload(mailer->link);
    size_t ready = 0;
    for (size_t i = 0; i < count; i++) {
        const struct letter *letter = items[i].letter;
        if (mailer_large_is(letter, most)) {
            if (!mailer_large_store(mailer, &items[i], most, end_ms, &apart[i])) {
                continue;
            }
            letter = &apart[i];
        }
        messages[ready++] = (struct mailer_message){.letter = letter, .state = items[i].state, .part = -1, .item = &items[i]};
    }
    return ready;
}

static void nothing_known(struct mailer_item *items, size_t count, const char *text)
{
    size_t size = strnlen(text, sizeof items->error - 1);
    for (size_t i = 0; i < count; i++) {
        items[i].result = MAILER_UNAVAILABLE;
        items[i].duplicate = false;
        items[i].sequence = 0;
        memcpy(items[i].error, text, size);
        items[i].error[size] = '\0';
    }
}

void mailer_post(struct mailer *mailer, struct mailer_item *items, size_t count, int64_t timeout_ms)
{
    int64_t end_ms = link_session_clock_ms() + timeout_ms;
    char text[256];
    bool up = link_up(mailer->link, text, sizeof text);
    nothing_known(items, count, up ? "not sent within the time" : text);
    if (!up) {
        return;
    }
    struct mailer_message *messages = memory_new(count, sizeof *messages);
    struct letter *apart = memory_new(count, sizeof *apart);
    size_t ready = prepare(mailer, items, count, end_ms, messages, apart);
    mailer_dispatch(mailer, messages, ready, end_ms);
    free(apart);
    free(messages);
}

bool mailer_forget_large(struct mailer *mailer, const char *id, struct error *error)
{
    char subject[SUBJECT_SIZE];
    subject_large_all(subject, mailer->options->prefix, id);
    struct link_session *session = link_session_hold(mailer->link, error);
    if (session == NULL) {
        return false;
    }
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = FORGET_MS;
    options.Stream.Purge.Subject = subject;
    jsErrCode code = 0;
    natsStatus status = js_PurgeStream(link_session_jetstream(session), mailer->large, &options, &code);
    bool done = status == NATS_OK || status == NATS_NOT_FOUND || link_session_failure(session, status, code, error);
    link_session_drop(session);
    return done;
}
