#include "ops/request_watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "ops/clock.h"

#define SLICE_MS 100

struct request_watch {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    unsigned holders;
    char word[DECODE_REQUEST_MAX];
    size_t word_length;
    struct span id; /* owned */
    struct refusal refusal;
    size_t count;
    struct request_watch_place places[];
};

struct request_watch *request_watch_new(struct span word, struct span id, const struct request_watch_place *places, size_t count)
{
    struct request_watch *watch = memory_new(1, sizeof(*watch) + count * sizeof(*places));
    pthread_mutex_init(&watch->lock, NULL);
    thread_condition(&watch->ended);
    watch->holders = 2;
    watch->word_length = word.length < sizeof(watch->word) ? word.length : sizeof(watch->word);
    memcpy(watch->word, word.data, watch->word_length);
    watch->id = id.data == NULL ? SPAN_ABSENT : (struct span){(const uint8_t *)memory_text(id.data, id.length), id.length};
    watch->count = count;
    for (size_t i = 0; i < count; i++) {
        watch->places[i] = places[i];
        watch->places[i].end = REQUEST_WATCH_OPEN;
        watch->places[i].offset = -1;
        watch->places[i].due_ms = -1;
        watch->places[i].at_ms = -1;
        watch->places[i].undecided = false;
        watch->places[i].recurs = -1;
    }
    return watch;
}

void request_watch_drop(struct request_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    pthread_mutex_lock(&watch->lock);
    bool last = --watch->holders == 0;
    pthread_mutex_unlock(&watch->lock);
    if (last) {
        pthread_cond_destroy(&watch->ended);
        pthread_mutex_destroy(&watch->lock);
        free((void *)(uintptr_t)watch->id.data);
        free(watch);
    }
}

/* ------------------------------------------------------------------------------------------------- who waits */

static bool is_over(const struct request_watch *watch)
{
    size_t i = 0;
    while (i < watch->count && watch->places[i].end != REQUEST_WATCH_OPEN) {
        i++;
    }
    return i == watch->count;
}

bool request_watch_wait(struct request_watch *watch, struct mono_ms deadline, bool (*stopping)(const void *context), const void *context)
{
    int64_t left_ms;
    pthread_mutex_lock(&watch->lock);
    bool over = is_over(watch);
    while (!over && (stopping == NULL || !stopping(context)) && (left_ms = deadline.ms - clock_mono().ms) > 0) {
        struct timespec moment = thread_moment(left_ms < SLICE_MS ? left_ms : SLICE_MS);
        pthread_cond_timedwait(&watch->ended, &watch->lock, &moment);
        over = is_over(watch);
    }
    pthread_mutex_unlock(&watch->lock);
    return over;
}

void request_watch_copy(struct request_watch *watch, struct request_watch_place *places, struct refusal *refusal)
{
    pthread_mutex_lock(&watch->lock);
    memcpy(places, watch->places, watch->count * sizeof(*places));
    if (refusal != NULL) {
        *refusal = watch->refusal;
    }
    pthread_mutex_unlock(&watch->lock);
}

/* ------------------------------------------------------------------------------------------------- the owner */

struct span request_watch_word(const struct request_watch *watch)
{
    return (struct span){(const uint8_t *)watch->word, watch->word_length};
}

struct span request_watch_id(const struct request_watch *watch)
{
    return watch->id;
}

struct request_watch_place *request_watch_places(struct request_watch *watch, size_t *count)
{
    *count = watch->count;
    return watch->places;
}

void request_watch_lock(struct request_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
}

void request_watch_unlock(struct request_watch *watch)
{
    if (is_over(watch)) {
        pthread_cond_broadcast(&watch->ended);
    }
    pthread_mutex_unlock(&watch->lock);
}

void request_watch_refuse(struct request_watch *watch, const struct refusal *refusal)
{
    watch->refusal = *refusal;
}

bool request_watch_left(struct request_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    bool left = watch->holders < 2;
    pthread_mutex_unlock(&watch->lock);
    return left;
}
