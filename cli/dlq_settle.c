#include "cli/dlq_settle.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/invariant.h"
#include "base/memory.h"
#include "base/thread.h"
#include "cli/dlq_settle_batch.h"
#include "ops/clock.h"
#include "ops/signals.h"

#define PAUSE_FIRST_MS 200
#define PAUSE_MOST_MS 10000
#define GATHER_MS 10
#define GATHER_LETTERS 500

struct dlq_settle {
    const struct dlq_context *context;
    const struct dlq_filter *filter;
    const struct dlq_scan_bounds *bounds;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    struct dlq_settle_item *items; /* a ring */
    size_t most;
    size_t first;
    size_t count;    /* the ones the thread is at included */
    size_t letters;  /* that they stand for */
    bool ending;
    bool in_trouble; /* until the thread gets on */
    bool left_one;   /* until told */
    bool single;
    char text[256];
    struct dlq_settle_counts counts;
    struct dlq_apart apart; /* the thread's until it has ended */
};

static void wait_until(struct dlq_settle *settle, int64_t deadline_ms)
{
    struct timespec until = {.tv_sec = deadline_ms / 1000, .tv_nsec = deadline_ms % 1000 * 1000000};
    (void)pthread_cond_timedwait(&settle->changed, &settle->lock, &until);
}

/* Sleeps unless it is to end; what is put meanwhile waits with the rest. */
static void pause_ms(struct dlq_settle *settle, int64_t ms)
{
    int64_t deadline_ms = clock_mono().ms + ms;
    while (!settle->ending && clock_mono().ms < deadline_ms) {
        wait_until(settle, deadline_ms);
    }
}

/* One request for many costs NATS hardly more than for one: once there is something to do, some more is waited for. */
static void gather(struct dlq_settle *settle)
{
    int64_t deadline_ms = clock_mono().ms + GATHER_MS;
    while (settle->letters < GATHER_LETTERS && settle->count < settle->most && !settle->ending && clock_mono().ms < deadline_ms) {
        wait_until(settle, deadline_ms);
    }
}

/* Copies the oldest items; they stay in the ring until they are settled. */
static size_t take(struct dlq_settle *settle, struct dlq_settle_item *items)
{
    while (settle->count == 0 && !settle->ending) {
        (void)pthread_cond_wait(&settle->changed, &settle->lock);
    }
    gather(settle);
    size_t count = settle->count < DLQ_SETTLE_BATCH_MAX ? settle->count : DLQ_SETTLE_BATCH_MAX;
    for (size_t i = 0; i < count; i++) {
        items[i] = settle->items[(settle->first + i) % settle->most];
    }
    return count;
}

static size_t letters_of(const struct dlq_settle_item *item)
{
    return item->letters == 0 ? 1 : item->letters;
}

/* The oldest ones are settled. */
static void drop(struct dlq_settle *settle, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        settle->letters -= letters_of(&settle->items[(settle->first + i) % settle->most]);
    }
    settle->first = (settle->first + count) % settle->most;
    settle->count -= count;
    (void)pthread_cond_broadcast(&settle->changed);
}

static void add_counts(struct dlq_settle_counts *counts, const struct dlq_settle_counts *more)
{
    counts->removed += more->removed;
    counts->parked += more->parked;
    counts->replaced += more->replaced;
    counts->gone += more->gone;
    counts->refused += more->refused;
}

/* One turn of a batch, with the lock taken again; true: all of it is settled. */
static bool turn(struct dlq_settle *settle, struct dlq_settle_batch *batch)
{
    struct dlq_settle_counts counts = {0};
    struct error error = {ERROR_NONE, ""};
    (void)pthread_mutex_unlock(&settle->lock);
    bool done = dlq_settle_batch_turn(batch, &counts, &settle->apart, &error);
    (void)pthread_mutex_lock(&settle->lock);
    add_counts(&settle->counts, &counts);
    settle->in_trouble = !done;
    settle->single = dlq_settle_batch_prefers_single(batch);
    settle->left_one = settle->left_one || counts.refused > 0;
    if (error.code != ERROR_NONE) {
        snprintf(settle->text, sizeof settle->text, "%.*s", (int)sizeof settle->text - 1, error.text);
    }
    return done;
}

static void work(struct dlq_settle *settle, struct dlq_settle_batch *batch)
{
    int64_t wait_ms = PAUSE_FIRST_MS;
    while (!turn(settle, batch) && !settle->ending) {
        pause_ms(settle, wait_ms);
        wait_ms = wait_ms > PAUSE_MOST_MS / 2 ? PAUSE_MOST_MS : 2 * wait_ms;
    }
}

static void *run(void *argument)
{
    struct dlq_settle *settle = argument;
    signals_block_in_thread();
    (void)pthread_setname_np(pthread_self(), "tarry-settle");
    struct dlq_settle_batch *batch = dlq_settle_batch_new(settle->context, settle->filter, settle->bounds);
    (void)pthread_mutex_lock(&settle->lock);
    while (!settle->ending) {
        size_t count = take(settle, dlq_settle_batch_items(batch));
        if (count > 0 && !settle->ending) {
            dlq_settle_batch_begin(batch, count);
            work(settle, batch);
            drop(settle, count);
        }
    }
    (void)pthread_mutex_unlock(&settle->lock);
    dlq_settle_batch_free(batch);
    return NULL;
}

struct dlq_settle *dlq_settle_new(const struct dlq_context *context, const struct dlq_filter *filter, const struct dlq_scan_bounds *bounds, size_t most)
{
    struct dlq_settle *settle = memory_new(1, sizeof *settle);
    settle->filter = filter;
    settle->bounds = bounds;
    settle->context = context;
    settle->most = most;
    settle->items = memory_new(most, sizeof *settle->items);
    thread_condition(&settle->changed);
    (void)pthread_mutex_init(&settle->lock, NULL);
    /* Without a second thread there is no use in going on. */
    INVARIANT(pthread_create(&settle->thread, NULL, run, settle) == 0);
    return settle;
}

bool dlq_settle_put(struct dlq_settle *settle, const struct dlq_settle_item *item)
{
    (void)pthread_mutex_lock(&settle->lock);
    bool room = settle->count < settle->most;
    if (room) {
        settle->items[(settle->first + settle->count) % settle->most] = *item;
        settle->count += 1;
        settle->letters += letters_of(item);
        (void)pthread_cond_broadcast(&settle->changed);
    }
    (void)pthread_mutex_unlock(&settle->lock);
    return room;
}

size_t dlq_settle_wait(struct dlq_settle *settle, size_t left, int64_t timeout_ms)
{
    (void)pthread_mutex_lock(&settle->lock);
    int64_t deadline_ms = clock_mono().ms + timeout_ms;
    while (settle->letters > left && timeout_ms > 0 && clock_mono().ms < deadline_ms) {
        wait_until(settle, deadline_ms);
    }
    size_t letters = settle->letters;
    (void)pthread_mutex_unlock(&settle->lock);
    return letters;
}

struct dlq_settle_counts dlq_settle_counts(struct dlq_settle *settle)
{
    (void)pthread_mutex_lock(&settle->lock);
    struct dlq_settle_counts counts = settle->counts;
    (void)pthread_mutex_unlock(&settle->lock);
    return counts;
}

bool dlq_settle_prefers_single(struct dlq_settle *settle)
{
    (void)pthread_mutex_lock(&settle->lock);
    bool single = settle->single;
    (void)pthread_mutex_unlock(&settle->lock);
    return single;
}

bool dlq_settle_trouble(struct dlq_settle *settle, char *text, size_t size)
{
    (void)pthread_mutex_lock(&settle->lock);
    bool trouble = settle->in_trouble || settle->left_one;
    settle->left_one = false;
    snprintf(text, size, "%s", trouble ? settle->text : "");
    (void)pthread_mutex_unlock(&settle->lock);
    return trouble;
}

void dlq_settle_free(struct dlq_settle *settle, struct dlq_apart *apart)
{
    if (settle == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&settle->lock);
    settle->ending = true;
    (void)pthread_cond_broadcast(&settle->changed);
    (void)pthread_mutex_unlock(&settle->lock);
    (void)pthread_join(settle->thread, NULL);
    for (size_t i = 0; apart != NULL && i < settle->apart.count; i++) {
        dlq_apart_add(apart, settle->apart.ids[i]);
    }
    dlq_apart_free(&settle->apart);
    (void)pthread_cond_destroy(&settle->changed);
    (void)pthread_mutex_destroy(&settle->lock);
    free(settle->items);
    free(settle);
}
