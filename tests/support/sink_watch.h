/* Drives a sink in tests: makes rows, sends them, keeps the reports. */
#ifndef TARRY_TESTS_SUPPORT_SINK_WATCH_H
#define TARRY_TESTS_SUPPORT_SINK_WATCH_H

#include "bridge/sink.h"
#include "support/source_watch.h"

struct sink_watch {
    struct sink *sink;
    struct sink_report *reports; /* in the order they came */
    size_t count;
    size_t room;
    uintptr_t next_token; /* tokens count from 1 */
};

/* A row as the store would give it; origin is in/1/offset, group g. */
struct sink_watch_row {
    const char *target;
    int32_t partition;
    struct span key;
    struct span value;
    struct span id;
    const struct record_header *headers;
    size_t header_count;
    int64_t offset;
    int64_t due_ms;
    int64_t timestamp_ms;
};

/* properties: NULL, or a NULL-terminated list "name=value". Fails the test on error. */
void sink_watch_open(struct sink_watch *watch, const char *bootstrap, const char *const *properties);

/* An open one, or one never opened. */
void sink_watch_close(struct sink_watch *watch);

/* Sends one; a SINK_FAILED's report is kept like the others. */
enum sink_result sink_watch_try(struct sink_watch *watch, const struct sink_watch_row *row, enum output_headers style);

/* The same; a full queue fails the test. */
void sink_watch_send(struct sink_watch *watch, const struct sink_watch_row *row, enum output_headers style);

void sink_watch_send_refused(struct sink_watch *watch, const char *refused_topic, const struct sink_watch_row *row,
                             const struct refusal *refusal);

/* Polls until there are `count` reports in all; fails the test after timeout_ms. Returns the last. Never more than `count` are there then. */
const struct sink_report *sink_watch_until(struct sink_watch *watch, size_t count, int timeout_ms);

#endif
