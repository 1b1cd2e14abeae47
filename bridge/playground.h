/*
 * A plain producer and reader for `tarry demo`: what a user's own programs would be, so that the demo shows tarry from
 * outside.
 *
 * One thread uses a playground. Nothing of the daemon needs it.
 */
#ifndef TARRY_BRIDGE_PLAYGROUND_H
#define TARRY_BRIDGE_PLAYGROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bridge/record.h"

struct playground;

struct playground_topic {
    const char *name;
    int32_t partitions; /* 0 to partitions - 1 are read */
};

struct playground_options {
    const char *bootstrap;                 /* host:port, ... */
    const struct playground_topic *topics; /* to read, all partitions from their beginning, without a group */
    size_t topic_count;
    int fetch_wait_ms; /* how long a broker may keep the reader waiting, 0 to 300,000 (the mock cluster always does) */
    int wake_fd;       /* an eventfd: 1 is written to it when there is something to poll; -1: none */
};

/* Opens both clients; options are copied. Does not wait for a broker. ERROR_INVALID: librdkafka refuses something
 * (named). */
bool playground_open(const struct playground_options *options, struct playground **playground, struct error *error);

/* Ends both clients; what is not yet acknowledged is lost. NULL is allowed. */
void playground_close(struct playground *playground);

/* Queues one record (its bytes are copied; its offset is not looked at) with its own timestamp and the partition by its
 * key as Java does it. ERROR_FULL, ERROR_INVALID: not taken. Does not block. */
bool playground_send(struct playground *playground,
                     const char *topic,
                     const struct record *record,
                     struct error *error);

/* Waits until all that was sent is acknowledged. ERROR_UNAVAILABLE: some of it was not, within timeout_ms. */
bool playground_flush(struct playground *playground, int timeout_ms, struct error *error);

struct playground_arrival {
    const char *topic;
    int32_t partition;
    struct record record;
};

/* The next record, borrowed until the next call. False: none now. Never blocks. Order within a partition is kept. */
bool playground_poll(struct playground *playground, struct playground_arrival *arrival);

/* What reading complained of last, "" if it never did: for the message when nothing came. Borrowed. */
const char *playground_trouble(const struct playground *playground);

/* Deletes topics. Waits up to timeout_ms. ERROR_UNAVAILABLE: at least one is still there as far as we know (text says
 * why). */
bool playground_drop_topics(const char *bootstrap,
                            const struct playground_topic *topics,
                            size_t topic_count,
                            int timeout_ms,
                            struct error *error);

#endif
