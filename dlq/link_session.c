/* Sessions: see link_state.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "dlq/link_inner.h"

#define FLUSH_MS 2000

/* Options of one session: those of the link, with callbacks that know the session. natsOptions has no copy; natsConnection_Connect makes one, and only
 * the link's thread connects, so the callbacks are set on the link's before each try. */
static natsStatus set_callbacks(struct link *link, struct link_session *session)
{
    natsStatus status = natsOptions_SetErrorHandler(link->options, link_session_complained, session);
    return status != NATS_OK ? status : natsOptions_SetClosedCB(link->options, link_session_closed, session);
}

static struct link_session *new_session(struct link *link)
{
    struct link_session *session = memory_new(1, sizeof *session);
    session->link = link;
    session->holds = 2; /* the link's, and the closed callback's */
    pthread_mutex_lock(&link->lock);
    link->living++;
    session->number = ++link->made;
    pthread_mutex_unlock(&link->lock);
    return session;
}

static void free_session(struct link_session *session)
{
    struct link *link = session->link;
    jsCtx_Destroy(session->jetstream);
    natsConnection_Destroy(session->connection);
    for (size_t i = 0; i < session->left_count; i++) {
        natsSubscription_Destroy(session->left[i]);
    }
    free(session->left);
    free(session);
    pthread_mutex_lock(&link->lock);
    link->living--;
    pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
}

bool link_session_open(struct link *link, struct link_session **session, char text[LINK_INNER_TEXT])
{
    struct link_session *made = new_session(link);
    natsStatus status = set_callbacks(link, made);
    if (status == NATS_OK) {
        status = natsConnection_Connect(&made->connection, link->options);
    }
    if (status != NATS_OK) {
        link_text_connect(link, status, text);
        free_session(made); /* a connection that never was has no closed callback */
        return false;
    }
    status = natsConnection_JetStream(&made->jetstream, made->connection, NULL);
    if (status != NATS_OK) {
        link_text_connect(link, status, text);
        link_session_end(made);
        return false;
    }
    *session = made;
    return true;
}

void link_session_end(struct link_session *session)
{
    natsConnection_Close(session->connection);
    link_session_drop(session);
}

void link_session_complained(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *session)
{
    (void)connection;
    (void)subscription;
    struct link_session *of = session;
    pthread_mutex_lock(&of->link->lock);
    snprintf(of->complaint, sizeof of->complaint, "%s", link_text_words(status));
    pthread_mutex_unlock(&of->link->lock);
}

void link_session_closed(natsConnection *connection, void *session)
{
    (void)connection;
    struct link_session *of = session;
    pthread_mutex_lock(&of->link->lock);
    of->ended = true;
    pthread_cond_broadcast(&of->link->changed);
    pthread_mutex_unlock(&of->link->lock);
    link_session_drop(of);
}

struct link_session *link_session_hold(struct link *link, struct error *error)
{
    pthread_mutex_lock(&link->lock);
    struct link_session *session = link->session;
    if (session != NULL) {
        session->holds++;
    } else {
        error_set(error, ERROR_UNAVAILABLE, "%s", link->trouble);
    }
    pthread_mutex_unlock(&link->lock);
    return session;
}

void link_session_drop(struct link_session *session)
{
    if (session == NULL) {
        return;
    }
    struct link *link = session->link;
    pthread_mutex_lock(&link->lock);
    bool last = --session->holds == 0;
    pthread_mutex_unlock(&link->lock);
    if (last) {
        free_session(session);
    }
}

void link_session_unsubscribe(struct link_session *session, natsSubscription *subscription)
{
    if (subscription == NULL) {
        return;
    }
    (void)natsSubscription_Unsubscribe(subscription);
    if (natsConnection_FlushTimeout(session->connection, FLUSH_MS) == NATS_OK) {
        natsSubscription_Destroy(subscription);
        return;
    }
    pthread_mutex_lock(&session->link->lock);
    session->left = memory_resize(session->left, session->left_count + 1, sizeof(*session->left));
    session->left[session->left_count++] = subscription;
    pthread_mutex_unlock(&session->link->lock);
}

int64_t link_session_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

natsConnection *link_session_connection(struct link_session *session)
{
    return session->connection;
}

jsCtx *link_session_jetstream(struct link_session *session)
{
    return session->jetstream;
}

uint64_t link_session_number(const struct link_session *session)
{
    return session->number;
}

/* nats.c's flusher notes that a write failed, and goes on with what comes after the gap. */
bool link_session_alive(struct link_session *session)
{
    const char *words = NULL;
    natsStatus status = natsConnection_GetLastError(session->connection, &words);
    bool torn = status == NATS_TIMEOUT || status == NATS_IO_ERROR || status == NATS_SSL_ERROR;
    return !torn && !natsConnection_IsClosed(session->connection);
}

void link_session_break(struct link_session *session)
{
    natsConnection_Close(session->connection);
}

/* JetStream's numbers of errors */
#define NO_MESSAGE 10037
#define NO_STREAM 10059

static enum error_code code_of(natsStatus status, jsErrCode js)
{
    static const jsErrCode later[] = {10004, 10005, 10006, 10007, 10008, 10009, 10039, 10076, 10118}; /* no leader, no quorum, not (yet) enabled */
    static const jsErrCode no_room[] = {10002, 10023, 10028, 10047};
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
        if (js == later[i]) {
            return ERROR_UNAVAILABLE;
        }
    }
    for (size_t i = 0; i < sizeof no_room / sizeof no_room[0]; i++) {
        if (js == no_room[i]) {
            return ERROR_FULL;
        }
    }
    if (status == NATS_NOT_FOUND || js == NO_STREAM || js == NO_MESSAGE) { /* nats.c calls some of them NATS_ERR */
        return ERROR_NOT_FOUND;
    }
    bool ours = js != 0 || status == NATS_INVALID_ARG || status == NATS_INVALID_SUBJECT || status == NATS_MAX_PAYLOAD;
    return ours ? ERROR_INVALID : ERROR_UNAVAILABLE;
}

bool link_session_failure(struct link_session *session, natsStatus status, jsErrCode js, struct error *error)
{
    natsStatus noted = NATS_OK;
    (void)nats_GetLastError(&noted);
    if (status == NATS_NO_RESPONDERS) {
        error_set(error, ERROR_UNAVAILABLE, "JetStream does not answer: enable it on the server (jetstream in its configuration), or wait for its leader");
    } else if (status == NATS_TIMEOUT) {
        error_set(error, ERROR_UNAVAILABLE, "no answer from NATS in time");
    } else {
        error_set(error, code_of(status, js), "%s", noted == status ? link_text_words(status) : natsStatus_GetText(status));
    }
    if (error == NULL) {
        return false;
    }
    pthread_mutex_lock(&session->link->lock);
    size_t length = strlen(error->text);
    if (session->complaint[0] != '\0') {
        snprintf(error->text + length, sizeof error->text - length, " (the server said: %s)", session->complaint);
    }
    pthread_mutex_unlock(&session->link->lock);
    link_text_hide(&session->link->secrets, error->text);
    return false;
}
