/* One outcome as JSON; the latest ones in memory: see history.h. */
#include "ops/history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "base/memory.h"
#include "dlq/letter_json.h"
#include "dlq/letter_text.h"
#include "dlq/letter_time.h"

/* ------------------------------------------------------------------------------------------------- JSON */

const char *history_outcome_name(enum history_outcome outcome)
{
    static const char *const names[HISTORY_OUTCOMES] = {
        [HISTORY_DELIVERED] = "delivered",
        [HISTORY_LETTER] = "letter",
        [HISTORY_CANCELLED] = "cancelled",
        [HISTORY_REPLACED] = "replaced",
        [HISTORY_REJECTED] = "rejected",
        [HISTORY_DUPLICATE] = "duplicate",
        [HISTORY_DROPPED_LATE] = "dropped_late",
        [HISTORY_EXPIRED] = "expired",
        [HISTORY_TOO_LATE] = "too_late",
        [HISTORY_NOT_FOUND] = "not_found",
        [HISTORY_SKIPPED] = "skipped",
        [HISTORY_NEXT] = "next",
        [HISTORY_MOVED] = "moved",
        [HISTORY_PAUSED] = "paused",
        [HISTORY_RESUMED] = "resumed",
        [HISTORY_FINISHED] = "finished",
    };
    return names[outcome];
}

static void add_number(struct buffer *out, const char *name, int64_t number)
{
    if (number == -1) {
        buffer_add_format(out, ",\"%s\":null", name);
    } else {
        buffer_add_format(out, ",\"%s\":%" PRId64, name, number);
    }
}

static void add_time(struct buffer *out, const char *name, int64_t time_ms)
{
    char text[LETTER_TIME_SIZE];
    if (time_ms != -1 && letter_time_write(time_ms, text)) {
        buffer_add_format(out, ",\"%s\":\"%s\"", name, text);
    } else {
        add_number(out, name, time_ms);
    }
}

/* As letters have their bytes, but for the form: few ids are no text. */
static void add_id(struct buffer *out, struct span id)
{
    buffer_add_text(out, "\"id\":");
    if (id.data == NULL) {
        buffer_add_text(out, "null");
    } else if (letter_text_clean(id)) {
        letter_json_add_text(out, id);
    } else {
        buffer_add_text(out, "\"");
        letter_text_add_base64(out, id);
        buffer_add_text(out, "\",\"id_encoding\":\"base64\"");
    }
}

static void add_place(struct buffer *out, const char *name, struct span topic, int32_t partition, int64_t offset)
{
    buffer_add_format(out, ",\"%s\":", name);
    if (topic.data == NULL) {
        buffer_add_text(out, "null");
        return;
    }
    buffer_add_text(out, "{\"topic\":");
    letter_json_add_text(out, topic);
    add_number(out, "partition", partition);
    add_number(out, "offset", offset);
    buffer_add_text(out, "}");
}

bool history_json(struct buffer *out, const struct history_event *event, struct error *error)
{
    size_t start = out->length;
    buffer_add_text(out, "{");
    add_id(out, event->id);
    add_place(out, "source", event->source_topic, event->source_partition, event->source_offset);
    add_time(out, "due", event->due_ms);
    buffer_add_format(out, ",\"outcome\":\"%s\"", history_outcome_name(event->outcome));
    add_time(out, "at", event->at_ms);
    add_place(out, "target", event->target, event->target_partition, event->target_offset);
    add_number(out, "lateness_ms", event->lateness_ms);
    if (event->reason != NULL) {
        buffer_add_format(out, ",\"reason\":\"%s\"", event->reason);
    }
    buffer_add_text(out, "}");
    if (out->full) {
        out->length = start;
        return error_set(error, ERROR_FULL, "an outcome does not fit as JSON: at most %zu bytes", out->most);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------- the latest ones */

/* Events are numbered from 1 on as they come, and event n stands at n % events_max: all that are kept are between `first` and `last`, so a number from before is
 * known by being less, and nothing is ever unlinked. */
struct entry {
    struct history_event event; /* its spans point into bytes */
    uint8_t *bytes;
    uint64_t cost;
    uint64_t hash;
    uint64_t older; /* the event before in the same bucket */
};

struct history {
    struct entry *entries; /* events_max */
    size_t events_max;
    uint64_t *buckets; /* the latest event of each */
    size_t bucket_mask;
    uint64_t first; /* > last: none */
    uint64_t last;
    uint64_t bytes;
    uint64_t bytes_max;
    uint64_t seed; /* so that nobody can choose ids that share a bucket */
};

struct history *history_new(size_t events_max, uint64_t bytes_max)
{
    struct history *history = memory_new(1, sizeof *history);
    size_t buckets = 16;
    while (buckets < events_max * 2) {
        buckets *= 2;
    }
    history->entries = memory_new(events_max, sizeof *history->entries);
    history->events_max = events_max;
    history->buckets = memory_new(buckets, sizeof *history->buckets);
    history->bucket_mask = buckets - 1;
    history->first = 1;
    history->bytes_max = bytes_max;
    bool drawn = getrandom(&history->seed, sizeof history->seed, 0) == (ssize_t)sizeof history->seed;
    history->seed = drawn ? history->seed : 0; /* without it look-ups are as right, and may be made slow */
    return history;
}

static struct entry *entry_at(const struct history *history, uint64_t number)
{
    return &history->entries[number % history->events_max];
}

static void drop_oldest(struct history *history)
{
    struct entry *oldest = entry_at(history, history->first++);
    history->bytes -= oldest->cost;
    free(oldest->bytes);
    oldest->bytes = NULL;
}

void history_free(struct history *history)
{
    if (history == NULL) {
        return;
    }
    while (history->first <= history->last) {
        drop_oldest(history);
    }
    free(history->entries);
    free(history->buckets);
    free(history);
}

static uint64_t hash_of(const struct history *history, struct span id)
{
    return XXH3_64bits_withSeed(id.data, id.length, history->seed);
}

static struct span keep(struct span from, uint8_t **to)
{
    if (from.data == NULL) {
        return SPAN_ABSENT;
    }
    struct span kept = {*to, from.length};
    if (from.length > 0) {
        memcpy(*to, from.data, from.length);
    }
    *to += from.length;
    return kept;
}

static void fill(struct entry *entry, const struct history_event *event, size_t length, uint64_t cost)
{
    uint8_t *to = memory_new(length + 1, 1); /* so that what is empty has bytes to point to */
    *entry = (struct entry){.event = *event, .bytes = to, .cost = cost};
    entry->event.id = keep(event->id, &to);
    entry->event.source_topic = keep(event->source_topic, &to);
    entry->event.target = keep(event->target, &to);
}

void history_add(struct history *history, const struct history_event *event)
{
    size_t length = event->id.length + event->source_topic.length + event->target.length;
    uint64_t cost = sizeof(struct entry) + length;
    if (event->id.data == NULL || event->refused || cost > history->bytes_max) {
        return;
    }
    while (history->last - history->first + 1 >= history->events_max || history->bytes + cost > history->bytes_max) {
        drop_oldest(history);
    }
    uint64_t number = ++history->last;
    struct entry *entry = entry_at(history, number);
    fill(entry, event, length, cost);
    history->bytes += cost;
    entry->hash = hash_of(history, event->id);
    uint64_t *bucket = &history->buckets[entry->hash & history->bucket_mask];
    entry->older = *bucket;
    *bucket = number;
}

size_t history_state(const struct history *history, struct span id, struct history_event *events, size_t most)
{
    if (id.data == NULL) {
        return 0;
    }
    uint64_t hash = hash_of(history, id);
    uint64_t number = history->buckets[hash & history->bucket_mask];
    size_t count = 0;
    while (count < most && number >= history->first) {
        const struct entry *entry = entry_at(history, number);
        if (entry->hash == hash && span_equal(entry->event.id, id)) {
            events[count++] = entry->event;
        }
        number = entry->older;
    }
    return count;
}

void history_size(const struct history *history, size_t *events, uint64_t *bytes)
{
    *events = (size_t)(history->last + 1 - history->first);
    *bytes = history->bytes;
}
