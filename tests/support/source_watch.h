/* Drives a source in tests: polls it, keeps what it said, and does with assignments what the test wants. */
#ifndef TARRY_TESTS_SUPPORT_SOURCE_WATCH_H
#define TARRY_TESTS_SUPPORT_SOURCE_WATCH_H

#include "bridge/source.h"

struct source_watch_event {
    enum source_event_kind kind;
    char topic[64];
    int32_t partition;
    int64_t offset;
    bool lost;
    bool acknowledged;
    uint32_t tag;
    char text[256];
    char value[64]; /* RECORD: the value's first bytes */
};

struct source_watch {
    struct source *source;
    int64_t start_at;  /* ASSIGNED: started there at once; -1: left to the test */
    bool keep_revoked; /* REVOKED: not released at once; left to the test */
    struct source_watch_event *events;
    size_t count;
    size_t room;
};

/* Opens a source with properties "name=value" (NULL-terminated list, after bootstrap.servers) and short timeouts. Fails the test on error. */
void source_watch_open(struct source_watch *watch, const char *bootstrap, const char *group, const char *instance,
                       const char *const *topics, const char *const *properties);
void source_watch_close(struct source_watch *watch);

/* Polls for what is there. */
void source_watch_turn(struct source_watch *watch);

/* Polls for duration_ms. */
void source_watch_for(struct source_watch *watch, int duration_ms);

/* Polls until `count` events of this kind were seen in all; fails the test after timeout_ms. Returns the last of them. */
const struct source_watch_event *source_watch_until(struct source_watch *watch, enum source_event_kind kind, size_t count, int timeout_ms);

size_t source_watch_count(const struct source_watch *watch, enum source_event_kind kind);

/* The nth (from 0) event of a kind; fails the test if there are not so many. */
const struct source_watch_event *source_watch_nth(const struct source_watch *watch, enum source_event_kind kind, size_t nth);

/* Forgets what was seen. */
void source_watch_clear(struct source_watch *watch);

/* Monotonic milliseconds. */
int64_t source_watch_clock(void);

#endif
