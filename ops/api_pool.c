/* See api.h: a mailbox and some threads for each kind of work. */
#include "ops/api_pool.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/thread.h"
#include "ops/clock.h"
#include "ops/http_owner.h"
#include "ops/http_route.h"

#define WORKERS_MOST 2

static const size_t workers_of[API_KINDS] = {[API_READERS] = 2, [API_WRITERS] = 2, [API_LETTERS] = 1};

struct worker {
    pthread_t thread;
    struct api *api;
    struct mailbox *mailbox;
    bool running;
};

struct api_pool {
    atomic_bool stopping;
    int stop_fd; /* readable from api_pool_stop on, for all */
    struct worker workers[API_KINDS][WORKERS_MOST];
};

bool api_stopping(const struct api *api)
{
    return api->pool != NULL && atomic_load_explicit(&api->pool->stopping, memory_order_acquire);
}

/* ------------------------------------------------------------------------------------------------- workers */

static void answer(struct api *api, struct http_request *request)
{
    if (api_stopping(api)) {
        api_answer_problem(request, 503, "stopping", "Service Unavailable", "The scheduler is stopping.");
    } else if (clock_mono().ms >= request->deadline.ms) {
        api_answer_problem(request, 503, "too_many_requests_waiting", "Service Unavailable", "Other requests took all the time that this one had; try again later.");
        request->allow_retry_s = "1";
    } else {
        request->route->worker(request, api);
        http_owner_check(request);
    }
}

/* Takes until nothing waits. */
static void serve(const struct worker *worker)
{
    for (struct mailbox_ticket *ticket = NULL; (ticket = mailbox_take(worker->mailbox)) != NULL;) {
        answer(worker->api, mailbox_payload(ticket));
        mailbox_answer(ticket);
    }
}

static void *work(void *context)
{
    const struct worker *worker = context;
    struct pollfd fds[] = {{mailbox_fd(worker->mailbox), POLLIN, 0}, {worker->api->pool->stop_fd, POLLIN, 0}};
    while (fds[1].revents == 0) {
        serve(worker);
        if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0) {
            fds[1].revents = 0;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- owner thread */

static bool start_kind(struct api *api, enum api_kind kind, struct error *error)
{
    api->work[kind] = mailbox_new(API_WAITING_MAX, error);
    for (size_t i = 0; api->work[kind] != NULL && i < workers_of[kind]; i++) {
        struct worker *worker = &api->pool->workers[kind][i];
        worker->api = api;
        worker->mailbox = api->work[kind];
        worker->running = thread_start(&worker->thread, work, worker);
        if (!worker->running) {
            return error_set(error, ERROR_SYSTEM, "cannot start a thread for the API; raise the limit of threads (ulimit -u)");
        }
    }
    return api->work[kind] != NULL;
}

bool api_pool_start(struct api *api, struct error *error)
{
    api->pool = memory_new(1, sizeof(*api->pool));
    atomic_init(&api->pool->stopping, false);
    api->pool->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (api->pool->stop_fd < 0) {
        return error_set(error, ERROR_SYSTEM, "no eventfd: %s; raise the limit of open files (ulimit -n)", strerror(errno));
    }
    for (int kind = 0; kind < API_KINDS; kind++) {
        if (!start_kind(api, (enum api_kind)kind, error)) {
            return false;
        }
    }
    return true;
}

void api_pool_hurry(struct api *api)
{
    if (api->pool != NULL) {
        atomic_store_explicit(&api->pool->stopping, true, memory_order_release);
    }
}

static void raise_fd(int fd)
{
    uint64_t one = 1;
    (void)!write(fd, &one, sizeof(one));
}

void api_pool_stop(struct api *api)
{
    if (api->pool == NULL) {
        return;
    }
    api_pool_hurry(api);
    for (int kind = 0; kind < API_KINDS; kind++) {
        if (api->work[kind] != NULL) {
            mailbox_close(api->work[kind]);
        }
    }
    if (api->pool->stop_fd >= 0) {
        raise_fd(api->pool->stop_fd);
    }
    for (size_t i = 0; i < (size_t)API_KINDS * WORKERS_MOST; i++) {
        struct worker *worker = &api->pool->workers[i / WORKERS_MOST][i % WORKERS_MOST];
        if (worker->running) {
            (void)pthread_join(worker->thread, NULL);
            worker->running = false;
        }
    }
}

void api_pool_free(struct api *api)
{
    if (api->pool == NULL) {
        return;
    }
    for (int kind = 0; kind < API_KINDS; kind++) {
        mailbox_free(api->work[kind]);
        api->work[kind] = NULL;
    }
    if (api->pool->stop_fd >= 0) {
        (void)close(api->pool->stop_fd);
    }
    free(api->pool);
    api->pool = NULL;
}

/* ------------------------------------------------------------------------------------------------- workers ask the owner */

static int64_t wait_ms(struct mono_ms deadline)
{
    int64_t left_ms = deadline.ms == TIME_NEVER ? API_OWNER_WAIT_MS : deadline.ms - clock_mono().ms;
    if (left_ms < 0) {
        return 0;
    }
    return left_ms < API_OWNER_WAIT_MS ? left_ms : API_OWNER_WAIT_MS;
}

bool api_ask(struct api *api, void *question, mailbox_free_fn *question_free, struct mono_ms deadline, struct error *error)
{
    struct mailbox_ticket *ticket = mailbox_post(api->owner, question, question_free, false, error);
    if (ticket == NULL) {
        question_free(question);
        return error_set(error, ERROR_UNAVAILABLE, "the scheduler is stopping, or too many requests wait for it; try again");
    }
    enum mailbox_state state = mailbox_wait(ticket, wait_ms(deadline));
    if (state == MAILBOX_ANSWERED) {
        (void)mailbox_keep(ticket);
        return true;
    }
    mailbox_drop(ticket);
    return error_set(error, ERROR_UNAVAILABLE,
                     state == MAILBOX_REFUSED ? "the scheduler is stopping" : "the scheduler did not answer in time: /health says how it is");
}
