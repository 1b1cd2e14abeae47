/*
 * Outcomes as they happen, for those who watch (/api/v1/events, `tarry watch`): a ring of the latest lines, one writer, some readers.
 *
 * Nobody waits for anybody: a reader that is too slow misses lines, and is told how many. While nobody watches, but for 60 s after the last one left (so that who comes back finds what it missed), a line costs one atomic load.
 */
#ifndef TARRY_OPS_EVENT_FEED_H
#define TARRY_OPS_EVENT_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/span.h"

#define EVENT_FEED_LINES 8192
#define EVENT_FEED_BYTES ((size_t)8 << 20)
#define EVENT_FEED_READERS_MAX 16

struct event_feed;
struct event_feed_reader;

/* NULL: ERROR_SYSTEM. */
struct event_feed *event_feed_new(struct error *error);

/* All readers have left. NULL is fine. */
void event_feed_free(struct event_feed *feed);

/* ---- owner thread ---- */

/* Whether anybody reads: only then is a line worth making. One atomic load. */
bool event_feed_watched(const struct event_feed *feed);

/* Adds a line (copied): its outcome's name, the event's id (may be absent), target topic (may be absent), and the JSON object without a line end. The oldest give way. */
void event_feed_add(struct event_feed *feed, const char *outcome, struct span id, struct span target, struct span json);

/* ---- the HTTP thread ---- */

/* Readable after lines were added since event_feed_clear (level). */
int event_feed_fd(const struct event_feed *feed);
void event_feed_clear(struct event_feed *feed);

struct event_feed_filter {
    struct span id;      /* absent: any. Copied, as the next two */
    struct span target;  /* absent: any */
    struct span outcome; /* absent: any */
};

/* A reader that begins after the line of this id ("BOOT-N", as it was sent: of another recording, or one that is gone: `missed` says so first, then comes what is here), or with what comes from now on
 * (absent). ERROR_FULL: EVENT_FEED_READERS_MAX are there. */
bool event_feed_open(struct event_feed *feed, struct span after, const struct event_feed_filter *filter, struct event_feed_reader **reader, struct error *error);

/* Appends the next lines that pass the filter as server-sent events ("id: BOOT-N\nevent: OUTCOME\ndata: JSON\n\n"), whole ones only: at most `most` bytes, or one line that is longer; where lines were missed, first
 * "event: missed\ndata: {\"missed\":N}\n\n", N counting those that the filter would have left out, too, and null when nobody knows. BOOT is new with each recording (and so with each start of the process). False: there is
 * nothing now. O(lines looked at). */
bool event_feed_read(struct event_feed_reader *reader, size_t most, struct buffer *out);

void event_feed_close(struct event_feed_reader *reader);

#endif
