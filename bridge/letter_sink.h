/*
 * Kafka out for letters: redelivery's and replay's own producer, apart from the sink of what comes due.
 *
 * Idempotent; with a transactional id, what is sent stands in transactions whose end also commits a text as the metadata of one group offset, so that a
 * successor can read which letters were surely delivered (exactly_once; docs/semantics.md). One thread at a time; calls that say so block.
 */
#ifndef TARRY_BRIDGE_LETTER_SINK_H
#define TARRY_BRIDGE_LETTER_SINK_H

#include "bridge/record.h"
#include "bridge/source.h"
#include "scheduler/core.h"

struct letter_sink;

struct letter_sink_options {
    const struct kafka_property *properties; /* common first, producer's own after */
    size_t property_count;
    const char *client;            /* client.id */
    const char *transactional_id;  /* NULL: no transactions */
    int64_t transaction_timeout_ms;
    int64_t send_timeout_ms;       /* a record not acknowledged by then is reported as retriable */
    bool (*stopped)(void *context); /* NULL: never. Asked, by the thread that calls, about twice a second while a call waits for a coordinator: true ends the
                                     * wait, and what was waited for is not known */
    void *stopped_context;         /* outlives the sink */
    int64_t linger_ms;             /* unless the properties say otherwise; 0: 1 ms, for who waits for each batch */
};

/* ERROR_INVALID: a property librdkafka refuses (named). Does not wait for a broker. The options are copied. */
bool letter_sink_open(const struct letter_sink_options *options, struct letter_sink **sink, struct error *error);

/* Throws out what is queued; an open transaction is left to the brokers' timeout, or to the next letter_sink_settle of its id. Bounded by some 5 s.
 * NULL is allowed. */
void letter_sink_close(struct letter_sink *sink);

struct letter_sink_record {
    const char *topic;
    int32_t partition; /* -1: by key, as the sink does (murmur2_random unless configured) */
    struct span key;   /* absent: null */
    struct span value;
    const struct record_header *headers;
    size_t header_count;
};

enum letter_sink_result { LETTER_SINK_TAKEN, LETTER_SINK_FULL, LETTER_SINK_FAILED };

struct letter_sink_report {
    void *token;
    bool delivered;
    enum delivery_failure failure; /* not delivered: RETRIABLE, UNKNOWN_TOPIC, FAULT, UNDONE (its transaction was aborted for another's sake) */
    int32_t partition;             /* -1: unknown */
    int64_t offset;
    char error[256];
};

/* Copies and queues. FULL: poll, and try again. FAILED: *report says why; no other follows. Records to one partition keep their order, but for
 * those of a batch that the broker refused for one of them: without transactions each goes again alone, with transactions each goes alone from the start. */
enum letter_sink_result letter_sink_send(struct letter_sink *sink, const struct letter_sink_record *record, void *token, struct letter_sink_report *report);

/* Up to `most` reports, waiting at most timeout_ms for the first; at once with none when nothing is on its way. When a transaction has failed the rest
 * of it is thrown out and reported as UNDONE. */
size_t letter_sink_poll(struct letter_sink *sink, int64_t timeout_ms, struct letter_sink_report *reports, size_t most);

/* Taken, and not yet polled as reports. */
size_t letter_sink_pending(const struct letter_sink *sink);

/* Fatal trouble (fenced: another took over; idempotence lost): close, and open anew. */
bool letter_sink_fatal(struct letter_sink *sink, bool *fenced, char *text, size_t size);

/* ---- with a transactional id only; all block, at most about timeout_ms, and settle, commit and abort no longer than until `stopped` (but for the offset of a
 * commit, which librdkafka gives the transaction's time in one piece) */

/* Fences former producers of the id, and settles what they left open. Once, first. ERROR_UNAVAILABLE: again later. */
bool letter_sink_settle(struct letter_sink *sink, int64_t timeout_ms, struct error *error);

/* Where the text is kept: the metadata of this group's committed offset of this partition (the offset itself counts nothing: 0). */
struct letter_sink_place {
    const char *group;
    const char *topic;
    int32_t partition;
};

/* The text committed there: "" when none. `text` has room for METADATA_MAX + 1 bytes (size). Call it after letter_sink_settle: then no offset is left pending
 * by a former producer of this id (one that is, of another, is waited for). ERROR_UNAVAILABLE: again later; ERROR_INVALID: a property. */
bool letter_sink_committed(struct letter_sink *sink, const struct letter_sink_place *place, int64_t timeout_ms, char *text, size_t size, struct error *error);

bool letter_sink_begin(struct letter_sink *sink, struct error *error);

/* Commits what was sent since begin together with the text. All reports were polled before, all delivered. False: *aborted says whether it is surely not
 * there (then begin the next); if not sure, close and open anew, settle, and read the text. */
bool letter_sink_commit(struct letter_sink *sink, const struct letter_sink_place *place, const char *text, int64_t timeout_ms, bool *aborted, struct error *error);

/* Throws out what was sent since begin; reports that were not polled are dropped. False: its end is not known: close and open anew. */
bool letter_sink_abort(struct letter_sink *sink, int64_t timeout_ms, struct error *error);

#endif
