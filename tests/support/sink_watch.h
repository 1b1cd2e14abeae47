/* Drives a sink in tests: makes rows, sends them, keeps the reports. */
#ifndef TARRY_TESTS_SUPPORT_SINK_WATCH_H
#define TARRY_TESTS_SUPPORT_SINK_WATCH_H

#include "bridge/sink.h"
#include "bridge/sink_transaction.h"
#include "support/source_watch.h"

struct sink_watch {
    struct sink *sink;
    struct sink_report *reports; /* in the order they came */
    size_t count;
    size_t room;
    uintptr_t next_token; /* tokens count from 1 */
    int wake_fd;
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

/* The same with transactions: ids "<id>-0", ...; does not wait until it is ready. Without exactly_once sink_watch_start is needed, too. */
void sink_watch_open_transactions(struct sink_watch *watch, const char *bootstrap, const char *const *properties, const char *id,
                                  bool exactly_once, int64_t timeout_ms);

/* sink_transaction_start; fails the test on error. */
void sink_watch_start(struct sink_watch *watch);

/* Polls (reports too) until the sink says of its transactions what has `word` in it; fails the test after timeout_ms. */
void sink_watch_trouble(struct sink_watch *watch, const char *word, int timeout_ms);

/* An eventfd, readable when the sink wants another turn. Of the watch: closed with it. */
int sink_watch_wake_fd(const struct sink_watch *watch);

/* Keeps all reports there are. */
void sink_watch_take(struct sink_watch *watch);

/* Polls (reports too) until the sink is ready for transactions; fails the test after timeout_ms. */
void sink_watch_ready(struct sink_watch *watch, int timeout_ms);

/* Ends the transaction and polls (reports too) for how it ended; fails the test after 60 s, or when the sink is at its end. */
struct sink_transaction_result sink_watch_end(struct sink_watch *watch, bool abort, const struct sink_offset *offsets, size_t count,
                                              struct span members);

/* Polls until the sink is at its end; fails the test after timeout_ms. The text is static. */
const char *sink_watch_fatal(struct sink_watch *watch, int timeout_ms);

/* Copies a row: `topic`/`partition` is where it came from; root -1: it is no copy yet. */
void sink_watch_copy(struct sink_watch *watch, const struct sink_watch_row *row, const char *topic, int32_t partition, int64_t root,
                     int64_t root_timestamp_ms);

/* The same of one that is no copy yet, with a token: returns it. A report on it is kept like the others. */
uintptr_t sink_watch_copy_told(struct sink_watch *watch, const struct sink_watch_row *row, const char *topic, int32_t partition);

/* The same of a row that was refused; whether it is a copy stands in its headers. */
void sink_watch_copy_refused(struct sink_watch *watch, const struct sink_watch_row *row, const struct refusal *refusal, const char *topic,
                             int32_t partition);

/* The report on that token; fails the test if there is none. */
const struct sink_report *sink_watch_report(const struct sink_watch *watch, uintptr_t token);

/* An open one, or one never opened. */
void sink_watch_close(struct sink_watch *watch);

/* Sends one; a SINK_FAILED's report is kept like the others. */
enum sink_result sink_watch_try(struct sink_watch *watch, const struct sink_watch_row *row, enum output_headers style);

/* The same; a full queue fails the test. */
void sink_watch_send(struct sink_watch *watch, const struct sink_watch_row *row, enum output_headers style);

/* Polls until there are `count` reports in all; fails the test after timeout_ms. Returns the last. Never more than `count` are there then. */
const struct sink_report *sink_watch_until(struct sink_watch *watch, size_t count, int timeout_ms);

#endif
