/* The mailbox: see mailbox.h. */
#include "ops/mailbox.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/thread.h"
#include "ops/clock.h"

struct mailbox_ticket {
    struct mailbox *mailbox;
    void *payload;
    mailbox_free_fn *payload_free;
    bool ring;
    /* Under the mailbox's lock: */
    enum mailbox_state state;
    bool dropped; /* the asker has gone; whoever finishes frees */
};

struct mailbox {
    int fd;
    int answers_fd;
    atomic_llong last_beat_ms;
    pthread_mutex_t lock; /* guards all below, and the tickets' states */
    pthread_cond_t answered;
    struct mailbox_ticket **ring;
    size_t capacity;
    size_t first;
    size_t count;
    bool closed;
};

static void lock(struct mailbox *mailbox)
{
    int failure = pthread_mutex_lock(&mailbox->lock);
    assert(failure == 0);
    (void)failure;
}

static void unlock(struct mailbox *mailbox)
{
    int failure = pthread_mutex_unlock(&mailbox->lock);
    assert(failure == 0);
    (void)failure;
}

/* An eventfd at its greatest value is readable already, so a refused write loses nothing. */
static void raise_fd(int fd)
{
    uint64_t one = 1;
    (void)!write(fd, &one, sizeof(one));
}

static void clear_fd(int fd)
{
    uint64_t count;
    (void)!read(fd, &count, sizeof(count));
}

struct mailbox *mailbox_new(size_t capacity, struct error *error)
{
    assert(capacity > 0);
    struct mailbox *mailbox = memory_new(1, sizeof(*mailbox));
    mailbox->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    mailbox->answers_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    mailbox->ring = memory_new(capacity, sizeof(struct mailbox_ticket *));
    mailbox->capacity = capacity;
    atomic_init(&mailbox->last_beat_ms, 0);
    (void)pthread_mutex_init(&mailbox->lock, NULL);
    thread_condition(&mailbox->answered);
    if (mailbox->fd < 0 || mailbox->answers_fd < 0) {
        (void)error_set(error, ERROR_SYSTEM, "cannot make an eventfd: %s", strerror(errno));
        mailbox_free(mailbox);
        return NULL;
    }
    return mailbox;
}

int mailbox_fd(const struct mailbox *mailbox)
{
    return mailbox->fd;
}

int mailbox_answers_fd(const struct mailbox *mailbox)
{
    return mailbox->answers_fd;
}

void mailbox_answers_clear(struct mailbox *mailbox)
{
    clear_fd(mailbox->answers_fd);
}

void mailbox_beat(struct mailbox *mailbox, struct mono_ms now)
{
    atomic_store_explicit(&mailbox->last_beat_ms, now.ms, memory_order_relaxed);
}

struct mono_ms mailbox_last_beat(const struct mailbox *mailbox)
{
    return (struct mono_ms){atomic_load_explicit(&mailbox->last_beat_ms, memory_order_relaxed)};
}

static void free_ticket(struct mailbox_ticket *ticket)
{
    ticket->payload_free(ticket->payload);
    free(ticket);
}

/* Under the lock. NULL when empty. */
static struct mailbox_ticket *pop(struct mailbox *mailbox)
{
    if (mailbox->count == 0) {
        return NULL;
    }
    struct mailbox_ticket *ticket = mailbox->ring[mailbox->first];
    mailbox->first = (mailbox->first + 1) % mailbox->capacity;
    mailbox->count--;
    return ticket;
}

static bool enqueue(struct mailbox *mailbox, struct mailbox_ticket *ticket, struct error *error)
{
    if (mailbox->closed) {
        return error_set(error, ERROR_UNAVAILABLE, "the scheduler is stopping");
    }
    if (mailbox->count == mailbox->capacity) {
        return error_set(error, ERROR_FULL, "%zu requests wait for the scheduler already", mailbox->count);
    }
    mailbox->ring[(mailbox->first + mailbox->count) % mailbox->capacity] = ticket;
    mailbox->count++;
    raise_fd(mailbox->fd);
    return true;
}

struct mailbox_ticket *
mailbox_post(struct mailbox *mailbox, void *payload, mailbox_free_fn *payload_free, bool ring, struct error *error)
{
    struct mailbox_ticket *ticket = memory_new(1, sizeof(*ticket));
    *ticket = (struct mailbox_ticket){
        .mailbox = mailbox, .payload = payload, .payload_free = payload_free, .ring = ring, .state = MAILBOX_WAITING};
    lock(mailbox);
    bool queued = enqueue(mailbox, ticket, error);
    unlock(mailbox);
    if (!queued) {
        free(ticket);
        return NULL;
    }
    return ticket;
}

struct mailbox_ticket *mailbox_take(struct mailbox *mailbox)
{
    for (;;) {
        lock(mailbox);
        struct mailbox_ticket *ticket = pop(mailbox);
        bool dropped = ticket != NULL && ticket->dropped;
        if (mailbox->count == 0) {
            clear_fd(mailbox->fd);
        }
        unlock(mailbox);
        if (!dropped) {
            return ticket;
        }
        free_ticket(ticket);
    }
}

/* The owner's side is over: the ticket is the asker's, or freed when there is none any more. */
static void finish(struct mailbox_ticket *ticket, enum mailbox_state state)
{
    struct mailbox *mailbox = ticket->mailbox;
    lock(mailbox);
    bool dropped = ticket->dropped;
    ticket->state = state;
    if (!dropped) {
        /* Within the lock: after it, the asker may free ticket and mailbox. */
        (void)pthread_cond_broadcast(&mailbox->answered);
        if (ticket->ring) {
            raise_fd(mailbox->answers_fd);
        }
    }
    unlock(mailbox);
    if (dropped) {
        free_ticket(ticket);
    }
}

void mailbox_answer(struct mailbox_ticket *ticket)
{
    finish(ticket, MAILBOX_ANSWERED);
}

void mailbox_close(struct mailbox *mailbox)
{
    lock(mailbox);
    mailbox->closed = true;
    unlock(mailbox);
    for (;;) {
        struct mailbox_ticket *ticket = mailbox_take(mailbox);
        if (ticket == NULL) {
            return;
        }
        finish(ticket, MAILBOX_REFUSED);
    }
}

enum mailbox_state mailbox_state(struct mailbox_ticket *ticket)
{
    lock(ticket->mailbox);
    enum mailbox_state state = ticket->state;
    unlock(ticket->mailbox);
    return state;
}

enum mailbox_state mailbox_wait(struct mailbox_ticket *ticket, int64_t timeout_ms)
{
    struct mailbox *mailbox = ticket->mailbox;
    struct timespec end = thread_moment(timeout_ms);
    lock(mailbox);
    int failure = 0;
    while (ticket->state == MAILBOX_WAITING && failure == 0) {
        failure = pthread_cond_timedwait(&mailbox->answered, &mailbox->lock, &end);
    }
    enum mailbox_state state = ticket->state;
    unlock(mailbox);
    return state;
}

void *mailbox_payload(struct mailbox_ticket *ticket)
{
    return ticket->payload;
}

void *mailbox_keep(struct mailbox_ticket *ticket)
{
    assert(mailbox_state(ticket) == MAILBOX_ANSWERED);
    void *payload = ticket->payload;
    free(ticket);
    return payload;
}

void mailbox_drop(struct mailbox_ticket *ticket)
{
    if (ticket == NULL) {
        return;
    }
    struct mailbox *mailbox = ticket->mailbox;
    lock(mailbox);
    bool waiting = ticket->state == MAILBOX_WAITING;
    ticket->dropped = true;
    unlock(mailbox);
    if (!waiting) {
        free_ticket(ticket);
    }
}

void mailbox_free(struct mailbox *mailbox)
{
    if (mailbox == NULL) {
        return;
    }
    mailbox_close(mailbox);
    (void)pthread_cond_destroy(&mailbox->answered);
    (void)pthread_mutex_destroy(&mailbox->lock);
    if (mailbox->fd >= 0) {
        (void)close(mailbox->fd);
    }
    if (mailbox->answers_fd >= 0) {
        (void)close(mailbox->answers_fd);
    }
    free(mailbox->ring);
    free(mailbox);
}
