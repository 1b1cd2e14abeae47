#include "ops/api_idempotency.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/memory.h"
#include "ops/clock.h"

enum entry_state { ENTRY_RUNNING, ENTRY_ANSWERED, ENTRY_UNKNOWN };

/* In two lists: of those with the same place in the table, and, while it is not under way, of these by age. */
struct entry {
    struct entry *next;
    struct entry *older;
    struct entry *newer;
    char nonce[API_IDEMPOTENCY_NONCE_SIZE];
    XXH128_hash_t request;
    enum entry_state state;
    struct mono_ms until; /* of UNKNOWN */
    unsigned status;
    uint8_t *body;
    size_t length;
};

struct api_idempotency {
    pthread_mutex_t lock;
    size_t most;
    size_t count;
    size_t bytes;
    struct entry *oldest; /* of those that are not under way */
    struct entry *newest;
    size_t places;
    struct entry **table;
};

struct api_idempotency *api_idempotency_new(size_t answers)
{
    struct api_idempotency *made = memory_new(1, sizeof(*made));
    pthread_mutex_init(&made->lock, NULL);
    made->most = answers;
    made->places = answers * 2;
    made->table = memory_new(made->places, sizeof(struct entry *));
    return made;
}

void api_idempotency_free(struct api_idempotency *idempotency)
{
    if (idempotency == NULL) {
        return;
    }
    for (size_t i = 0; i < idempotency->places; i++) {
        for (struct entry *entry = idempotency->table[i]; entry != NULL; entry = idempotency->table[i]) {
            idempotency->table[i] = entry->next;
            free(entry->body);
            free(entry);
        }
    }
    free(idempotency->table);
    pthread_mutex_destroy(&idempotency->lock);
    free(idempotency);
}

void api_idempotency_nonce(const char *method, const char *path, struct span key, char nonce[API_IDEMPOTENCY_NONCE_SIZE])
{
    XXH3_state_t *state = XXH3_createState();
    if (state == NULL) {
        abort(); /* out of memory, as base/memory.h has it */
    }
    (void)XXH3_128bits_reset(state);
    (void)XXH3_128bits_update(state, method, strlen(method) + 1);
    (void)XXH3_128bits_update(state, path, strlen(path) + 1);
    (void)XXH3_128bits_update(state, key.data, key.length);
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    (void)XXH3_freeState(state);
    (void)snprintf(nonce, API_IDEMPOTENCY_NONCE_SIZE, "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64, (uint64_t)hash.low64);
}

/* ------------------------------------------------------------------------------------------------- the table; the lock is held */

static struct entry **place_of(const struct api_idempotency *idempotency, const char *nonce)
{
    struct entry **place = &idempotency->table[XXH3_64bits(nonce, strlen(nonce)) % idempotency->places];
    while (*place != NULL && strcmp((*place)->nonce, nonce) != 0) {
        place = &(*place)->next;
    }
    return place;
}

static void put_in(struct api_idempotency *idempotency, struct entry *entry)
{
    entry->older = idempotency->newest;
    entry->newer = NULL;
    *(entry->older == NULL ? &idempotency->oldest : &entry->older->newer) = entry;
    idempotency->newest = entry;
    idempotency->bytes += entry->length;
}

/* Out of the list by age. */
static void take_out(struct api_idempotency *idempotency, const struct entry *entry)
{
    idempotency->bytes -= entry->length;
    *(entry->older == NULL ? &idempotency->oldest : &entry->older->newer) = entry->newer;
    *(entry->newer == NULL ? &idempotency->newest : &entry->newer->older) = entry->older;
}

static void drop(struct api_idempotency *idempotency, struct entry **place)
{
    struct entry *entry = *place;
    if (entry->state != ENTRY_RUNNING) {
        take_out(idempotency, entry);
    }
    *place = entry->next;
    idempotency->count--;
    free(entry->body);
    free(entry);
}

/* What may still come to stand is not forgotten; what nobody can find out is, in its turn. */
static bool may_go(const struct entry *entry)
{
    return entry->state == ENTRY_ANSWERED || entry->until.ms == TIME_NEVER || entry->until.ms < clock_mono().ms;
}

/* Until there is room for `room` more entries within the bounds; `spared` stays. False: there is none. */
static bool make_room(struct api_idempotency *idempotency, size_t room, const struct entry *spared)
{
    struct entry *entry = idempotency->oldest;
    while (entry != NULL && (idempotency->count + room > idempotency->most || idempotency->bytes > API_IDEMPOTENCY_BYTES)) {
        struct entry *newer = entry->newer;
        if (entry != spared && may_go(entry)) {
            drop(idempotency, place_of(idempotency, entry->nonce));
        }
        entry = newer;
    }
    return idempotency->count + room <= idempotency->most;
}

static enum api_idempotency_state begin_new(struct api_idempotency *idempotency, const char *nonce, XXH128_hash_t request)
{
    if (!make_room(idempotency, 1, NULL)) {
        return API_IDEMPOTENCY_FULL;
    }
    struct entry *entry = memory_new(1, sizeof(*entry));
    struct entry **place = place_of(idempotency, nonce);
    (void)snprintf(entry->nonce, sizeof(entry->nonce), "%s", nonce);
    entry->request = request;
    entry->state = ENTRY_RUNNING;
    *place = entry;
    idempotency->count++;
    return API_IDEMPOTENCY_NEW;
}

static enum api_idempotency_state begin_again(struct api_idempotency *idempotency, struct entry *entry, unsigned *status, struct buffer *body, struct mono_ms *until)
{
    switch (entry->state) {
    case ENTRY_RUNNING:
        return API_IDEMPOTENCY_RUNNING;
    case ENTRY_ANSWERED:
        *status = entry->status;
        buffer_clear(body);
        buffer_add(body, entry->body, entry->length);
        return API_IDEMPOTENCY_ANSWERED;
    case ENTRY_UNKNOWN:
        break;
    }
    *until = entry->until;
    take_out(idempotency, entry);
    entry->state = ENTRY_RUNNING;
    return API_IDEMPOTENCY_UNKNOWN;
}

/* ------------------------------------------------------------------------------------------------- any thread */

enum api_idempotency_state
api_idempotency_begin(struct api_idempotency *idempotency, const char *nonce, struct span request, unsigned *status, struct buffer *body, struct mono_ms *until)
{
    XXH128_hash_t hash = XXH3_128bits(request.data, request.length);
    enum api_idempotency_state state;
    pthread_mutex_lock(&idempotency->lock);
    struct entry *entry = *place_of(idempotency, nonce);
    if (entry == NULL) {
        state = begin_new(idempotency, nonce, hash);
    } else if (!XXH128_isEqual(entry->request, hash)) {
        state = API_IDEMPOTENCY_REUSED;
    } else {
        state = begin_again(idempotency, entry, status, body, until);
    }
    pthread_mutex_unlock(&idempotency->lock);
    return state;
}

void api_idempotency_keep(struct api_idempotency *idempotency, const char *nonce, unsigned status, struct span body)
{
    pthread_mutex_lock(&idempotency->lock);
    struct entry *entry = *place_of(idempotency, nonce);
    if (entry != NULL && entry->state == ENTRY_RUNNING) {
        entry->state = ENTRY_ANSWERED;
        entry->status = status;
        entry->body = (uint8_t *)memory_text(body.data, body.length);
        entry->length = body.length;
        put_in(idempotency, entry);
        (void)make_room(idempotency, 0, entry);
    }
    pthread_mutex_unlock(&idempotency->lock);
}

void api_idempotency_forget(struct api_idempotency *idempotency, const char *nonce)
{
    pthread_mutex_lock(&idempotency->lock);
    struct entry **place = place_of(idempotency, nonce);
    if (*place != NULL && (*place)->state == ENTRY_RUNNING) {
        drop(idempotency, place);
    }
    pthread_mutex_unlock(&idempotency->lock);
}

void api_idempotency_unknown(struct api_idempotency *idempotency, const char *nonce, struct mono_ms until)
{
    pthread_mutex_lock(&idempotency->lock);
    struct entry *entry = *place_of(idempotency, nonce);
    if (entry != NULL && entry->state == ENTRY_RUNNING) {
        entry->state = ENTRY_UNKNOWN;
        entry->until = until;
        put_in(idempotency, entry);
    }
    pthread_mutex_unlock(&idempotency->lock);
}
