/* See link.h and link_state.h. */
#include "dlq/link.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "dlq/link_inner.h"

#define RETRY_LEAST_MS 100
#define RETRY_MOST_MS 2000
#define CLOSE_MS 5000
#define LOOK_MS 1000 /* how often a connection is looked at whose writing failed behind our back */

/* Under the lock: until the link changes, or that time. False: the time came. */
static bool wait_until(struct link *link, const struct timespec *at)
{
    return pthread_cond_timedwait(&link->changed, &link->lock, at) == 0;
}

/* Under the lock: lets time pass before the next try, unless the end is asked for. */
static void wait_before_retry(struct link *link, int64_t ms)
{
    struct timespec at = thread_moment(ms);
    while (!link->stop && wait_until(link, &at)) {
    }
}

/* Under the lock, which is let go meanwhile: until the session ends, or the link is to. */
static void watch(struct link *link, struct link_session *session)
{
    while (!link->stop && !session->ended) {
        struct timespec at = thread_moment(LOOK_MS);
        if (!wait_until(link, &at)) {
            pthread_mutex_unlock(&link->lock);
            if (!link_session_alive(session)) {
                link_session_break(session);
            }
            pthread_mutex_lock(&link->lock);
        }
    }
}

/* Under the lock, which is let go meanwhile. */
static void serve_session(struct link *link, struct link_session *session)
{
    link->session = session;
    pthread_cond_broadcast(&link->changed);
    watch(link, session);
    link->session = NULL;
    snprintf(link->trouble, sizeof link->trouble, "the connection to NATS at %s was lost", link->hosts);
    pthread_mutex_unlock(&link->lock);
    link_session_end(session);
    pthread_mutex_lock(&link->lock);
}

static void *run(void *context)
{
    struct link *link = context;
    int64_t wait_ms = RETRY_LEAST_MS;
    pthread_mutex_lock(&link->lock);
    while (!link->stop) {
        struct link_session *session = NULL;
        char text[LINK_INNER_TEXT];
        pthread_mutex_unlock(&link->lock);
        bool up = link_session_open(link, &session, text);
        pthread_mutex_lock(&link->lock);
        if (up) {
            wait_ms = RETRY_LEAST_MS;
            serve_session(link, session);
        } else {
            snprintf(link->trouble, sizeof link->trouble, "%s", text);
        }
        wait_before_retry(link, wait_ms);
        wait_ms = wait_ms * 2 < RETRY_MOST_MS ? wait_ms * 2 : RETRY_MOST_MS;
    }
    pthread_mutex_unlock(&link->lock);
    return NULL;
}

static struct link *new_link(void)
{
    struct link *link = memory_new(1, sizeof *link);
    thread_condition(&link->changed);
    pthread_mutex_init(&link->lock, NULL);
    return link;
}

static void free_link(struct link *link)
{
    natsOptions_Destroy(link->options);
    link_text_forget(&link->secrets);
    free(link->hosts);
    pthread_cond_destroy(&link->changed);
    pthread_mutex_destroy(&link->lock);
    free(link);
}

static bool start(struct link *link, const struct link_options *options, struct error *error)
{
    if (!link_options_set(link, options, error)) {
        return false;
    }
    snprintf(link->trouble, sizeof link->trouble, "not yet connected to NATS at %s", link->hosts);
    if (pthread_create(&link->thread, NULL, run, link) != 0) {
        return error_set(error, ERROR_SYSTEM, "no thread for the connection to NATS: raise the limit of processes");
    }
    return true;
}

bool link_open(const struct link_options *options, struct link **link, struct error *error)
{
    /* nats.c starts threads of its own here: signals are the main thread's */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct link *made = new_link();
    bool ok = start(made, options, error);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!ok) {
        free_link(made);
        return false;
    }
    *link = made;
    return true;
}

/* Under the lock. */
static bool newer(const struct link *link, uint64_t number)
{
    return link->session != NULL && link->session->number > number;
}

bool link_wait_after(struct link *link, uint64_t number, int64_t timeout_ms, struct error *error)
{
    struct timespec at = thread_moment(timeout_ms < 0 ? 0 : timeout_ms);
    pthread_mutex_lock(&link->lock);
    while (!newer(link, number) && wait_until(link, &at)) {
    }
    bool up = newer(link, number) || error_set(error, ERROR_UNAVAILABLE, "%s", link->trouble);
    pthread_mutex_unlock(&link->lock);
    return up;
}

bool link_wait(struct link *link, int64_t timeout_ms, struct error *error)
{
    return link_wait_after(link, 0, timeout_ms, error);
}

bool link_up(struct link *link, char *text, size_t size)
{
    pthread_mutex_lock(&link->lock);
    bool up = link->session != NULL;
    if (text != NULL && size > 0) {
        snprintf(text, size, "%s", up ? "" : link->trouble);
    }
    pthread_mutex_unlock(&link->lock);
    return up;
}

int64_t link_max_payload(struct link *link)
{
    struct link_session *session = link_session_hold(link, NULL);
    int64_t most = session == NULL ? 0 : natsConnection_GetMaxPayload(session->connection);
    link_session_drop(session);
    return most < 0 ? 0 : most;
}

void link_close(struct link *link)
{
    if (link == NULL) {
        return;
    }
    pthread_mutex_lock(&link->lock);
    link->stop = true;
    pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
    pthread_join(link->thread, NULL);
    /* the last callback of a closed connection may be under way */
    struct timespec at = thread_moment(CLOSE_MS);
    pthread_mutex_lock(&link->lock);
    while (link->living > 0 && wait_until(link, &at)) {
    }
    int left = (int)link->living;
    pthread_mutex_unlock(&link->lock);
    if (left == 0) {
        free_link(link);
    } else {
        log_write(LOG_LEVEL_ERROR, "nats_left_behind", NULL, 0, "a connection to NATS was closed while something still used it: it is left behind");
    }
}
