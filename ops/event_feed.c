/* See event_feed.h. */
#include "ops/event_feed.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/memory.h"
#include "bridge/decimal.h"
#include "ops/clock.h"

#define GRACE_MS 60000 /* recording goes on so long after the last reader has left */
#define BOOT_LENGTH 16

struct line {
    char *bytes; /* outcome, NUL, id, target, json */
    size_t id_length;
    size_t target_length;
    size_t json_length;
    bool has_id;
    bool has_target;
};

struct event_feed {
    int fd;
    atomic_llong until_ms; /* recording goes on until then, monotonic: TIME_NEVER while somebody reads; 0: nobody has */
    pthread_mutex_t lock;  /* guards all below */
    struct line *lines;    /* that of number n at n % EVENT_FEED_LINES */
    uint64_t first;        /* the oldest that is here; == next: none is */
    uint64_t next;
    size_t bytes;
    size_t readers;
    bool raised; /* the fd is readable */
    char boot[BOOT_LENGTH + 1]; /* of this recording: a new one each time that it begins anew, as it is not known what was missed in between */
};

struct event_feed_reader {
    struct event_feed *feed;
    uint64_t next;
    bool missed; /* something of which nobody knows how much it was */
    struct event_feed_filter filter;
    uint8_t *bytes; /* the filter's */
};

static void lock(struct event_feed *feed)
{
    int failure = pthread_mutex_lock(&feed->lock);
    assert(failure == 0);
    (void)failure;
}

static void unlock(struct event_feed *feed)
{
    int failure = pthread_mutex_unlock(&feed->lock);
    assert(failure == 0);
    (void)failure;
}

struct event_feed *event_feed_new(struct error *error)
{
    struct event_feed *feed = memory_new(1, sizeof(*feed));
    feed->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (feed->fd < 0) {
        (void)error_set(error, ERROR_SYSTEM, "no eventfd: %s; raise the limit of open files (ulimit -n)", strerror(errno));
        free(feed);
        return NULL;
    }
    feed->lines = memory_new(EVENT_FEED_LINES, sizeof(*feed->lines));
    atomic_init(&feed->until_ms, 0);
    (void)pthread_mutex_init(&feed->lock, NULL);
    return feed;
}

static size_t length_of(const struct line *line)
{
    return strlen(line->bytes) + 1 + line->id_length + line->target_length + line->json_length;
}

static void drop_oldest(struct event_feed *feed)
{
    struct line *line = &feed->lines[feed->first++ % EVENT_FEED_LINES];
    feed->bytes -= length_of(line);
    free(line->bytes);
    line->bytes = NULL;
}

static void drop_all(struct event_feed *feed)
{
    while (feed->first < feed->next) {
        drop_oldest(feed);
    }
}

void event_feed_free(struct event_feed *feed)
{
    if (feed == NULL) {
        return;
    }
    assert(feed->readers == 0);
    drop_all(feed);
    (void)pthread_mutex_destroy(&feed->lock);
    (void)close(feed->fd);
    free(feed->lines);
    free(feed);
}

/* ------------------------------------------------------------------------------------------------- owner thread */

bool event_feed_watched(const struct event_feed *feed)
{
    int64_t until_ms = atomic_load_explicit(&feed->until_ms, memory_order_acquire);
    return until_ms != 0 && (until_ms == TIME_NEVER || clock_mono().ms < until_ms);
}

static char *append(char *to, struct span bytes)
{
    if (bytes.data != NULL && bytes.length > 0) {
        memcpy(to, bytes.data, bytes.length);
    }
    return to + bytes.length;
}

static struct line new_line(const char *outcome, struct span id, struct span target, struct span json)
{
    size_t outcome_size = strlen(outcome) + 1;
    struct line line = {memory_new(outcome_size + id.length + target.length + json.length, 1), id.length, target.length, json.length, id.data != NULL, target.data != NULL};
    memcpy(line.bytes, outcome, outcome_size);
    (void)append(append(append(line.bytes + outcome_size, id), target), json);
    return line;
}

void event_feed_add(struct event_feed *feed, const char *outcome, struct span id, struct span target, struct span json)
{
    struct line line = new_line(outcome, id, target, json);
    size_t length = length_of(&line);
    assert(length <= EVENT_FEED_BYTES && (json.length == 0 || memchr(json.data, '\n', json.length) == NULL));
    lock(feed);
    while (feed->next - feed->first == EVENT_FEED_LINES || (feed->first < feed->next && feed->bytes + length > EVENT_FEED_BYTES)) {
        drop_oldest(feed);
    }
    feed->lines[feed->next++ % EVENT_FEED_LINES] = line;
    feed->bytes += length;
    if (!feed->raised) {
        uint64_t one = 1;
        feed->raised = true;
        (void)!write(feed->fd, &one, sizeof(one)); /* at its greatest value it is readable already */
    }
    unlock(feed);
}

/* ------------------------------------------------------------------------------------------------- the HTTP thread */

int event_feed_fd(const struct event_feed *feed)
{
    return feed->fd;
}

void event_feed_clear(struct event_feed *feed)
{
    uint64_t count;
    lock(feed);
    feed->raised = false;
    (void)!read(feed->fd, &count, sizeof(count));
    unlock(feed);
}

/* Under the lock. What stands here is of an earlier recording: since then something may have been missed. */
static void begin_recording(struct event_feed *feed)
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        random = (uint64_t)clock_mono().ms; /* it has to be another one, no more */
    }
    drop_all(feed);
    (void)snprintf(feed->boot, sizeof(feed->boot), "%016" PRIx64, random);
    feed->first = 1;
    feed->next = 1;
}

/* Where the reader goes on, under the lock. */
static void place(struct event_feed_reader *reader, struct span after)
{
    const struct event_feed *feed = reader->feed;
    int64_t number = 0;
    if (after.data == NULL) {
        reader->next = feed->next;
        return;
    }
    bool ours = after.length > BOOT_LENGTH + 1 && memcmp(after.data, feed->boot, BOOT_LENGTH) == 0 && after.data[BOOT_LENGTH] == '-' &&
                decimal_parse((struct span){after.data + BOOT_LENGTH + 1, after.length - BOOT_LENGTH - 1}, &number) == DECIMAL_READ &&
                (uint64_t)number < feed->next;
    reader->missed = !ours;
    reader->next = ours ? (uint64_t)number + 1 : feed->first;
}

static struct span keep(uint8_t **at, struct span text)
{
    if (text.data == NULL) {
        return SPAN_ABSENT;
    }
    struct span kept = {*at, text.length};
    *at = (uint8_t *)append((char *)*at, text);
    return kept;
}

static void keep_filter(struct event_feed_reader *reader, const struct event_feed_filter *filter)
{
    uint8_t *at = memory_new(filter->id.length + filter->target.length + filter->outcome.length + 1, 1);
    reader->bytes = at;
    reader->filter.id = keep(&at, filter->id);
    reader->filter.target = keep(&at, filter->target);
    reader->filter.outcome = keep(&at, filter->outcome);
}

bool event_feed_open(struct event_feed *feed, struct span after, const struct event_feed_filter *filter, struct event_feed_reader **reader, struct error *error)
{
    lock(feed);
    bool room = feed->readers < EVENT_FEED_READERS_MAX;
    if (room) {
        if (!event_feed_watched(feed)) {
            begin_recording(feed);
        }
        feed->readers++;
        atomic_store_explicit(&feed->until_ms, TIME_NEVER, memory_order_release);
        *reader = memory_new(1, sizeof(**reader));
        (*reader)->feed = feed;
        place(*reader, after);
        keep_filter(*reader, filter);
    }
    unlock(feed);
    return room || error_set(error, ERROR_FULL, "%d readers follow events already", EVENT_FEED_READERS_MAX);
}

static bool passes(const struct event_feed_filter *filter, const struct line *line)
{
    size_t outcome_length = strlen(line->bytes);
    const uint8_t *id = (const uint8_t *)line->bytes + outcome_length + 1;
    struct span spans[] = {{line->has_id ? id : NULL, line->id_length}, {line->has_target ? id + line->id_length : NULL, line->target_length}};
    return (filter->id.data == NULL || span_equal(filter->id, spans[0])) && (filter->target.data == NULL || span_equal(filter->target, spans[1])) &&
           (filter->outcome.data == NULL || span_equals_text(filter->outcome, line->bytes));
}

/* Whole, or not at all. */
static bool write_line(const struct event_feed *feed, uint64_t number, size_t room, bool anyhow, struct buffer *out)
{
    const struct line *line = &feed->lines[number % EVENT_FEED_LINES];
    size_t outcome_length = strlen(line->bytes);
    char head[64];
    int head_length = snprintf(head, sizeof(head), "id: %s-%" PRIu64 "\nevent: ", feed->boot, number);
    size_t length = (size_t)head_length + outcome_length + line->json_length + 9; /* "\ndata: " and "\n\n" */
    if (length > room && !anyhow) {
        return false;
    }
    buffer_add(out, head, (size_t)head_length);
    buffer_add(out, line->bytes, outcome_length);
    buffer_add_text(out, "\ndata: ");
    buffer_add(out, line->bytes + outcome_length + 1 + line->id_length + line->target_length, line->json_length);
    buffer_add_text(out, "\n\n");
    return true;
}

static void write_missed(struct event_feed_reader *reader, struct buffer *out)
{
    const struct event_feed *feed = reader->feed;
    if (reader->missed) {
        buffer_add_text(out, "event: missed\ndata: {\"missed\":null}\n\n");
        reader->missed = false;
    } else if (reader->next < feed->first) {
        buffer_add_format(out, "event: missed\ndata: {\"missed\":%" PRIu64 "}\n\n", feed->first - reader->next);
    }
    reader->next = reader->next < feed->first ? feed->first : reader->next;
}

bool event_feed_read(struct event_feed_reader *reader, size_t most, struct buffer *out)
{
    struct event_feed *feed = reader->feed;
    size_t start = out->length;
    lock(feed);
    write_missed(reader, out);
    for (; reader->next < feed->next; reader->next++) {
        size_t used = out->length - start;
        if (passes(&reader->filter, &feed->lines[reader->next % EVENT_FEED_LINES]) &&
            !write_line(feed, reader->next, used < most ? most - used : 0, used == 0, out)) {
            break;
        }
    }
    unlock(feed);
    return out->length > start;
}

void event_feed_close(struct event_feed_reader *reader)
{
    struct event_feed *feed = reader->feed;
    lock(feed);
    feed->readers--;
    if (feed->readers == 0) {
        atomic_store_explicit(&feed->until_ms, clock_mono().ms + GRACE_MS, memory_order_release);
    }
    unlock(feed);
    free(reader->bytes);
    free(reader);
}
