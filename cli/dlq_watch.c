#include "cli/dlq_watch.h"

#include <stdlib.h>

#include "base/memory.h"
#include "dlq/nack_stream.h"
#include "dlq/reader.h"
#include "dlq/subject.h"

#define PLACES ((size_t)1 << 20)
#define NACK_BYTES_MAX ((size_t)64 * 1024 * 1024)
#define LOOKED_AT_MAX 10000 /* messages of a stream in one look: sending goes on in between */

struct view {
    struct reader *reader; /* NULL: not open */
    uint64_t next;         /* 0: its end is not known yet */
};

struct dlq_watch {
    const struct dlq_context *context;
    struct view views[2]; /* by enum letter_state */
    struct nack_stream_room room;
    uint64_t back;
    uint64_t places[PLACES]; /* hashes, each where it says; 0: none */
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash ^= value;
    hash ^= hash >> 30;
    hash *= UINT64_C(0xbf58476d1ce4e5b9);
    hash ^= hash >> 27;
    hash *= UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

uint64_t dlq_watch_topic(const char *topic, size_t length)
{
    uint64_t hash = length;
    for (size_t i = 0; i < length; i++) {
        hash = mix(hash, (uint8_t)topic[i] + UINT64_C(0x9e3779b97f4a7c15));
    }
    return hash;
}

static uint64_t place_of(uint64_t topic, int32_t partition, int64_t offset)
{
    uint64_t hash = mix(mix(topic, (uint64_t)partition + 1), (uint64_t)offset);
    return hash == 0 ? 1 : hash;
}

void dlq_watch_note(struct dlq_watch *watch, uint64_t topic, int32_t partition, int64_t offset)
{
    uint64_t place = place_of(topic, partition, offset);
    watch->places[place % PLACES] = place;
}

bool dlq_watch_take(struct dlq_watch *watch, uint64_t topic, int32_t partition, int64_t offset)
{
    uint64_t place = place_of(topic, partition, offset);
    bool noted = watch->places[place % PLACES] == place;
    if (noted) {
        watch->places[place % PLACES] = 0;
    }
    return noted;
}

/* A consumer that does not say where its record stood may still say that it had been replayed: better to stop too early. */
static bool is_back(struct dlq_watch *watch, const struct letter *letter)
{
    const struct letter_origin *origin = &letter->origin;
    if (origin->partition < 0 || origin->offset < 0) {
        return letter->reason == LETTER_REASON_CONSUMER_FAILED && letter->replays > 0;
    }
    return dlq_watch_take(watch, dlq_watch_topic((const char *)origin->topic.data, origin->topic.length), origin->partition, origin->offset);
}

static void take_message(struct dlq_watch *watch, const struct reader_message *message)
{
    enum subject_kind kind;
    char topic[SUBJECT_SIZE];
    struct letter letter;
    struct nack_stream nack;
    if (!subject_read(message->subject, watch->context->streams.prefix, &kind, topic)) {
        return;
    }
    if (kind != SUBJECT_NACK) {
        watch->back += letter_decode(message->bytes, &letter, NULL) && is_back(watch, &letter);
    } else if (nack_stream_read(message, watch->context->streams.prefix, &watch->room, &nack)) {
        watch->back += is_back(watch, &nack.letter);
    }
}

/* Makes the view ready to be read from; false: not now. */
static bool open_view(const struct dlq_watch *watch, enum letter_state state, struct view *view)
{
    struct streams_state now;
    const char *stream = dlq_context_stream(watch->context, state);
    if (view->reader != NULL) {
        return true;
    }
    if (view->next == 0) {
        if (!streams_state(watch->context->link, stream, DLQ_CONTEXT_TIMEOUT_MS, &now, NULL)) {
            return false;
        }
        view->next = now.last_sequence + 1;
    }
    return reader_open(watch->context->link, stream, NULL, view->next, &view->reader, NULL);
}

static void look_at(struct dlq_watch *watch, enum letter_state state)
{
    struct view *view = &watch->views[state];
    if (!open_view(watch, state, view)) {
        return;
    }
    struct reader_message message;
    enum reader_result result = READER_MESSAGE;
    for (int i = 0; i < LOOKED_AT_MAX && result == READER_MESSAGE; i++) {
        result = reader_next(view->reader, 0, &message, NULL);
        if (result == READER_MESSAGE) {
            take_message(watch, &message);
            view->next = message.sequence + 1;
        }
    }
    if (result == READER_FAILED) {
        reader_close(view->reader);
        view->reader = NULL;
    }
}

struct dlq_watch *dlq_watch_new(const struct dlq_context *context)
{
    struct dlq_watch *watch = memory_new(1, sizeof *watch);
    watch->context = context;
    watch->room = nack_stream_room_new(NACK_BYTES_MAX);
    (void)open_view(watch, LETTER_WAITING, &watch->views[LETTER_WAITING]);
    (void)open_view(watch, LETTER_PARKED, &watch->views[LETTER_PARKED]);
    return watch;
}

void dlq_watch_free(struct dlq_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    reader_close(watch->views[LETTER_WAITING].reader);
    reader_close(watch->views[LETTER_PARKED].reader);
    nack_stream_room_free(&watch->room);
    free(watch);
}

uint64_t dlq_watch_look(struct dlq_watch *watch)
{
    look_at(watch, LETTER_WAITING);
    look_at(watch, LETTER_PARKED);
    return watch->back;
}
