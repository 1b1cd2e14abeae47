#include "support/source_watch.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/memory.h"

int64_t source_watch_clock(void)
{
    struct timespec time;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &time), 0);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

void source_watch_open(struct source_watch *watch, const char *bootstrap, const char *group, const char *instance,
                       const char *const *topics, const char *const *properties)
{
    struct kafka_property list[32] = {{"bootstrap.servers", bootstrap}, {"fetch.wait.max.ms", "50"}, {"reconnect.backoff.max.ms", "500"}};
    char names[32][64];
    size_t count = 3;
    for (size_t i = 0; properties != NULL && properties[i] != NULL; i++) {
        const char *equals = strchr(properties[i], '=');
        assert_non_null(equals);
        assert_true(count < 32);
        snprintf(names[count], sizeof names[count], "%.*s", (int)(equals - properties[i]), properties[i]);
        list[count] = (struct kafka_property){names[count], equals + 1};
        count++;
    }
    size_t topic_count = 0;
    while (topics[topic_count] != NULL) {
        topic_count++;
    }
    struct source_options options = {.properties = list, .property_count = count, .group = group, .instance = instance,
                                     .topics = topics, .topic_count = topic_count, .wake_fd = -1};
    struct error error;
    *watch = (struct source_watch){0};
    if (!source_open(&options, &watch->source, &error)) {
        fail_msg("source_open: %s", error.text);
    }
}

void source_watch_close(struct source_watch *watch)
{
    source_close(watch->source);
    free(watch->events);
    *watch = (struct source_watch){0};
}

void source_watch_clear(struct source_watch *watch)
{
    watch->count = 0;
}

static void keep(struct source_watch *watch, const struct source_event *event)
{
    if (watch->count == watch->room) {
        watch->room = watch->room == 0 ? 256 : watch->room * 2;
        watch->events = memory_resize(watch->events, watch->room, sizeof *watch->events);
    }
    struct source_watch_event *kept = &watch->events[watch->count++];
    *kept = (struct source_watch_event){.kind = event->kind, .partition = event->partition, .offset = event->offset, .lost = event->lost,
                                        .acknowledged = event->acknowledged,
                                        .tag = event->tag};
    snprintf(kept->topic, sizeof kept->topic, "%s", event->topic == NULL ? "" : event->topic);
    snprintf(kept->text, sizeof kept->text, "%s", event->text);
    if (event->kind == SOURCE_RECORD) {
        kept->offset = event->record.offset;
        snprintf(kept->value, sizeof kept->value, "%.*s", (int)event->record.value.length,
                 event->record.value.data == NULL ? "" : (const char *)event->record.value.data);
    }
}

static void answer(struct source_watch *watch, const struct source_event *event)
{
    if (event->kind == SOURCE_ASSIGNED && watch->start_at >= 0) {
        source_start(watch->source, event->topic, event->partition, watch->start_at, NULL);
    } else if (event->kind == SOURCE_REVOKED && !watch->keep_revoked) {
        source_release(watch->source, event->topic, event->partition);
    }
}

/* Polls once; false: there was nothing. */
static bool poll_one(struct source_watch *watch)
{
    struct source_event event;
    source_poll(watch->source, &event);
    if (event.kind == SOURCE_NONE) {
        return false;
    }
    keep(watch, &event);
    answer(watch, &event);
    return true;
}

void source_watch_turn(struct source_watch *watch)
{
    while (poll_one(watch)) {
    }
}

static void rest(void)
{
    poll(NULL, 0, 5); /* the wake_fd has a test of its own */
}

void source_watch_for(struct source_watch *watch, int duration_ms)
{
    int64_t end = source_watch_clock() + duration_ms;
    while (source_watch_clock() < end) {
        source_watch_turn(watch);
        rest();
    }
}

size_t source_watch_count(const struct source_watch *watch, enum source_event_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < watch->count; i++) {
        count += watch->events[i].kind == kind;
    }
    return count;
}

const struct source_watch_event *source_watch_nth(const struct source_watch *watch, enum source_event_kind kind, size_t nth)
{
    for (size_t i = 0; i < watch->count; i++) {
        if (watch->events[i].kind == kind && nth-- == 0) {
            return &watch->events[i];
        }
    }
    fail_msg("there are not so many events of kind %d", (int)kind);
    return NULL;
}

static void explain(const struct source_watch *watch)
{
    size_t first = watch->count > 20 ? watch->count - 20 : 0;
    for (size_t i = first; i < watch->count; i++) {
        const struct source_watch_event *event = &watch->events[i];
        print_message("event %zu: kind %d %s [%d] %lld %s\n", i, (int)event->kind, event->topic, (int)event->partition,
                      (long long)event->offset, event->text);
    }
}

const struct source_watch_event *source_watch_until(struct source_watch *watch, enum source_event_kind kind, size_t count, int timeout_ms)
{
    int64_t end = source_watch_clock() + timeout_ms;
    size_t seen = source_watch_count(watch, kind);
    while (seen < count) {
        if (source_watch_clock() > end) {
            explain(watch);
            fail_msg("waited %d ms for %zu events of kind %d and saw %zu", timeout_ms, count, (int)kind, seen);
        }
        if (poll_one(watch)) {
            seen += watch->events[watch->count - 1].kind == kind;
        } else {
            rest();
        }
    }
    return source_watch_nth(watch, kind, count - 1);
}
