/*
 * Kafka out for the record of outcomes: an idempotent producer of its own, beside the sink, that nobody ever waits for.
 *
 * What it has no room for is refused and the caller's to count; what the brokers do not take is counted. Records of one key keep their order as long as
 * the producer lives. It never ends the process: after a fatal error it throws out what it holds and is made anew, at first after 1 s, then more seldom. All calls
 * belong to one thread, and none blocks but history_sink_close.
 */
#ifndef TARRY_BRIDGE_HISTORY_SINK_H
#define TARRY_BRIDGE_HISTORY_SINK_H

#include "base/span.h"
#include "bridge/source.h"

#define HISTORY_SINK_RECORDS_MAX 20000 /* on their way at most */
#define HISTORY_SINK_KBYTES_MAX 16384  /* of their values */

struct history_sink;

struct history_sink_options {
    const struct kafka_property *properties; /* common first, producer's own after, as the sink's */
    size_t property_count;
    const char *instance; /* part of client.id */
    const char *topic;
    int wake_fd; /* written to when there is something to poll; -1: none */
};

struct history_sink_counts {
    uint64_t delivered;
    uint64_t failed; /* taken, and not delivered: refused by the brokers, too old, or thrown out */
};

/* ERROR_INVALID: a property librdkafka refuses (named), or the topic's name. Does not wait for a broker. The options are copied. */
bool history_sink_open(const struct history_sink_options *options, struct history_sink **sink, struct error *error);

/* Copies and queues; partitioned by the key as the sink does (murmur2_random unless configured). key absent: null. False: there is no room, it is too large, or
 * the producer is being made anew; nothing was taken. O(length). */
bool history_sink_send(struct history_sink *sink, struct span key, struct span value);

/* Adds to *counts what became of records since the last call; each taken one is counted once, unless the sink is closed before. Says in the log when
 * records fail, at most once a minute. Call it when wake_fd says so and at least once a second. */
void history_sink_poll(struct history_sink *sink, struct history_sink_counts *counts);

/* Waits up to 1 s for what is on its way, throws out the rest, and frees; bounded by 2 s. NULL is allowed. */
void history_sink_close(struct history_sink *sink);

#endif
