/*
 * Kafka out: one idempotent producer for all targets, or with exactly_once transactions (sink_transaction.h); delivery reports as events.
 *
 * sink_send copies what it is given; sink_poll returns reports; a full local queue is back-pressure, never a failure. Order within
 * a target partition is kept (idempotence), except for what a timeout left unknown. A broker refuses a whole batch when one record of it is
 * too large or invalid: each record of such a batch is then sent again alone, by a second producer made for that, before any is called at fault,
 * and so are all later ones of that topic (slower; and in that moment order is not kept). All calls belong to the owner thread.
 */
#ifndef TARRY_BRIDGE_SINK_H
#define TARRY_BRIDGE_SINK_H

#include "bridge/outgoing.h"
#include "bridge/row.h"
#include "bridge/source.h"
#include "scheduler/core.h"

struct sink;

struct sink_options {
    const struct kafka_property *properties; /* common first, producer's own after */
    size_t property_count;
    const char *instance; /* part of client.id */
    uint64_t records_max; /* what may be in flight at most: the local queue is made to hold it, so that no target that stands still */
    uint64_t bytes_max;   /* keeps the others out. 0: librdkafka's defaults. A user's own queue.buffering.max.* wins */
    int wake_fd;
    bool exactly_once;            /* sink_send belongs to transactions (sink_transaction.h); needs transactional_id */
    const char *transactional_id; /* what the ids of this group and instance begin with; NULL: no transactions, no copies */
    int64_t transaction_timeout_ms;
};

/* ERROR_INVALID: a property librdkafka refuses (named). Does not wait for a broker. */
bool sink_open(const struct sink_options *options, struct sink **sink, struct error *error);

/* Purges what is queued and frees; reports that were not polled are lost (the frontier does not cover them). Bounded by about 5 s, and 3 s more for
 * a transaction that is open or ending: it is aborted if that is quick, else left to the brokers' timeout. NULL is allowed. */
void sink_close(struct sink *sink);

/* Has the producer learn where `topic` is before a record is due: the first one would else wait for that. Cheap when it is known. */
void sink_prepare(struct sink *sink, struct span topic);

enum sink_result {
    SINK_TAKEN,  /* a report with `token` will follow */
    SINK_FULL,   /* nothing was taken; try again after the next report */
    SINK_FAILED, /* refused at once: *report says how; no other will follow */
};

#define SINK_ERROR_MAX 256

struct sink_report {
    void *token;
    bool copy; /* it is on a sink_copy, else on a sink_send; those of copies are never `delivered` */
    bool delivered;
    enum delivery_failure failure;
    const char *reason; /* of a FAULT: "too_large", "not_authorised", "invalid" or "undeliverable"; of another failure it says nothing */
    uint64_t target_hash;
    int64_t offset; /* of the output record, -1 unknown */
    int32_t partition;
    char error[SINK_ERROR_MAX]; /* "" when delivered; librdkafka's name and text, no payload */
};

/* Sends an accepted row to its target with the output headers: the record's own without control headers, then tarry-id, tarry-due,
 * tarry-source, each once. */
enum sink_result sink_send(struct sink *sink, const struct row *row, const struct sink_origin *origin, enum output_headers style, void *token, struct sink_report *report);

/* Up to `most` reports; returns how many. Never blocks. What was thrown out with a failed transaction is
 * reported as undone, what was thrown out else as retriable. */
size_t sink_poll(struct sink *sink, struct sink_report *reports, size_t most);

/* Fatal trouble of the producer (idempotence cannot be kept): the process must end and start over. False: none. */
bool sink_fatal(struct sink *sink, char *text, size_t size);

/* Messages taken and not yet reported, and the bytes of their keys and values. */
void sink_queue(const struct sink *sink, size_t *messages, size_t *bytes);

/* Hash by which core and shell speak of a target topic. */
uint64_t sink_target_hash(struct span topic);

#endif
