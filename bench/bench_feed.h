/* A producer of delayed records on a thread of its own: what runs beside the program that is measured. */
#ifndef TARRY_BENCH_BENCH_FEED_H
#define TARRY_BENCH_BENCH_FEED_H

#include <stdint.h>

#include "bench/bench_run.h"

struct bench_feed;

struct bench_feed_options {
    const char *topic;
    int64_t least_ms; /* due = time of producing + an even random between these */
    int64_t most_ms;
    int64_t at_ms; /* > 0: due = this + that random; they were all sent before */
    int64_t count; /* ends after so many; 0: runs until stopped */
    double per_s;  /* steady rate; 0: as fast as may be */
    /* Further headers; each may be NULL: none. */
    const char *id;     /* tarry-id: this and the record's number, so each has its own */
    const char *every;  /* tarry-every */
    const char *target; /* tarry-topic */
    /* At most unread_most records are sent and not yet read, by what `read` says, asked four times a second on the feed's
     * thread. NULL: no such bound. */
    int64_t unread_most;
    int64_t (*read)(void *context);
    void *context;
};

/* Copies the options; texts and context stay the caller's and must outlive it. */
struct bench_feed *bench_feed_start(const struct bench_run *run, const struct bench_feed_options *options);

/* Sends options->count records; returns when all are acknowledged. */
void bench_feed_all(const struct bench_run *run, const struct bench_feed_options *options);

/* How many were sent with a due time from from_ms on and before to_ms: ask after the end. Set before it starts to send those. */
void bench_feed_watch(struct bench_feed *feed, int64_t from_ms, int64_t to_ms);
int64_t bench_feed_watched(struct bench_feed *feed);

/* Sent so far. */
int64_t bench_feed_sent(struct bench_feed *feed);

/* Tells it to end. */
void bench_feed_stop(struct bench_feed *feed);

/* Waits for its end, until all it sent is acknowledged. */
void bench_feed_join(struct bench_feed *feed);

/* After join. */
void bench_feed_free(struct bench_feed *feed);

/* All three. */
void bench_feed_end(struct bench_feed *feed);

/* Sends one record without a feed: due at due_ms, acknowledged when this returns. */
void bench_feed_one(const struct bench_run *run, const char *topic, int64_t due_ms);

#endif
