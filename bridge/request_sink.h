/*
 * Records that people have written through the API: into source topics, by an idempotent producer of its own, without a transaction.
 *
 * Any thread; each call waits for its own record.
 */
#ifndef TARRY_BRIDGE_REQUEST_SINK_H
#define TARRY_BRIDGE_REQUEST_SINK_H

#include "base/error.h"
#include "base/span.h"
#include "base/time_types.h"
#include "bridge/record.h"
#include "bridge/source.h"

struct request_sink;

struct request_sink_options {
    const struct kafka_property *properties; /* librdkafka's, common first, producer's own after */
    size_t property_count;
    const char *instance; /* part of client.id */
    const char *group;    /* whose members request_sink_owner looks up */
};

/* librdkafka gives a record up after that: what nobody has heard of by then, and a little later, does not come to stand any more. */
#define REQUEST_SINK_TIMEOUT_MS 8000

/* ERROR_INVALID: a property librdkafka refuses (named). No client is made, and no broker asked, before the first call that needs one. */
bool request_sink_open(const struct request_sink_options *options, struct request_sink **sink, struct error *error);

/* No call may be under way. What was not acknowledged may still arrive. NULL is fine. Bounded by 2 s. */
void request_sink_close(struct request_sink *sink);

/* Any call but request_sink_close and request_sink_partition_of fails with ERROR_UNAVAILABLE once request_sink_wake was called, too. */

/* How many partitions the topic has; cached for a few seconds. 0: ERROR_UNAVAILABLE (no answer within timeout_ms), ERROR_NOT_FOUND (no such topic). Cost: a round trip when it is not cached. */
int32_t request_sink_partitions(struct request_sink *sink, const char *topic, int timeout_ms, struct error *error);

/* The partition that Java's default partitioner gives to these bytes (murmur2): what request_sink_send and every client with its defaults choose for a key. Pure. partitions 1 or more. */
int32_t request_sink_partition_of(struct span bytes, int32_t partitions);

struct request_sink_record {
    const char *topic;
    int32_t partition;
    struct span key;   /* absent: null */
    struct span value; /* absent: null */
    const struct record_header *headers;
    size_t header_count;
};

enum request_sink_result {
    REQUEST_SINK_WRITTEN, /* it stands at `offset` */
    REQUEST_SINK_NEVER,   /* it can never be written (too large, no such partition, not allowed): text */
    REQUEST_SINK_FAILED,  /* it was not written and will not be; it may be sent again: text */
    REQUEST_SINK_UNKNOWN, /* no word within the time: it may stand, or come to stand */
};

struct request_sink_answer {
    enum request_sink_result result;
    int64_t offset;
    char text[256];
};

/* Writes all of them and waits, until the deadline at most, for the brokers' word on each; answers in the same order. False: nothing was sent (ERROR_FULL: the producer's queue; ERROR_UNAVAILABLE: closing). */
bool request_sink_send(struct request_sink *sink,
                       const struct request_sink_record *records,
                       size_t count,
                       struct mono_ms deadline,
                       struct request_sink_answer *answers,
                       struct error *error);

/* For the end: every call that waits returns soon, with what is known, and later ones at once. Any thread. */
void request_sink_wake(struct request_sink *sink);

/* Who has this partition: the address that its owner advertises ("host:port"), into `address`; "" when it advertises none. Asks the brokers (1.5 s at most, whoever
 * calls request_sink_wake), cached for a few seconds. ERROR_NOT_FOUND: nobody has it just now; ERROR_BUSY: this instance has, as far as the coordinator knows; ERROR_UNAVAILABLE. */
bool request_sink_owner(struct request_sink *sink, const char *topic, int32_t partition, int timeout_ms, char *address, size_t size, struct error *error);

#endif
