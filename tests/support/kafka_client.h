/*
 * A plain Kafka client for tests: records with exact bytes in, records with exact bytes out, committed offsets. Works on a real broker
 * and on the mock cluster. What fails fails the running cmocka test.
 */
#ifndef TARRY_TESTS_SUPPORT_KAFKA_CLIENT_H
#define TARRY_TESTS_SUPPORT_KAFKA_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/record.h"

/* ------------------------------------------------------------------------------------------------- producing */

struct kafka_client_producer;

/* What to produce. Zero-initialised but for partition: key and value null, no headers, timestamp now. */
struct kafka_client_output {
    int32_t partition;    /* -1: by key as Java does (murmur2) */
    int64_t timestamp_ms; /* 0: now */
    struct span key;
    struct span value;
    const struct record_header *headers;
    size_t header_count;
};

/* `properties`: NULL, or a NULL-terminated list of "name=value" ("transactional.id=x", "compression.type=zstd"). With a transactional.id
 * the transactions are initialised. Idempotent, acks=all. Never NULL. */
struct kafka_client_producer *kafka_client_producer_open(const char *bootstrap, const char *const *properties);

/* Queues one record (waits while the local queue is full). */
void kafka_client_produce(struct kafka_client_producer *producer, const char *topic, const struct kafka_client_output *output);

/* The same; *offset is what the record got, once it is acknowledged (-1 until then). */
void kafka_client_produce_noting(struct kafka_client_producer *producer, const char *topic, const struct kafka_client_output *output,
                                 int64_t *offset);

/* Waits until all are acknowledged; a failed one fails the test. */
void kafka_client_flush(struct kafka_client_producer *producer);

void kafka_client_begin(struct kafka_client_producer *producer);
void kafka_client_commit_transaction(struct kafka_client_producer *producer);
void kafka_client_abort_transaction(struct kafka_client_producer *producer);

/* Flushes nothing: an open transaction stays open until the broker's timeout. NULL is allowed. */
void kafka_client_producer_close(struct kafka_client_producer *producer);

/* One record, acknowledged: opens, produces, flushes, closes. For the odd one only. */
void kafka_client_produce_one(const char *bootstrap, const char *topic, const struct kafka_client_output *output);

/* ------------------------------------------------------------------------------------------------- consuming */

struct kafka_client_record {
    char *topic;
    int32_t partition;
    int64_t read_at_ms;   /* wall clock when we got it */
    struct record record; /* all its spans are owned by this record */
};

struct kafka_client_records {
    struct kafka_client_record *items;
    size_t count;
    size_t room;
};

struct kafka_client_reader;

/* Reads all partitions, as they are now, of the topics (NULL-terminated list) from their beginnings, read_committed, without a group. */
struct kafka_client_reader *kafka_client_reader_open(const char *bootstrap, const char *const *topics);

/* Reads on until `records` holds at least `count` or `timeout_ms` have passed; returns how many it holds. Order within a partition is kept. */
size_t kafka_client_read(struct kafka_client_reader *reader, struct kafka_client_records *records, size_t count, int timeout_ms);

/* Reads on to the last stable offset that each partition has at the call. False: not within timeout_ms. */
bool kafka_client_read_to_end(struct kafka_client_reader *reader, struct kafka_client_records *records, int timeout_ms);

void kafka_client_reader_close(struct kafka_client_reader *reader);

/* All of some topics from the beginning to the end: open, read to end (60 s at most, else the test fails), close. */
struct kafka_client_records kafka_client_read_all(const char *bootstrap, const char *const *topics);

void kafka_client_records_free(struct kafka_client_records *records);

/* The record's value, as a decimal number; one of 32 bytes or more fails the test. */
long kafka_client_value_number(const struct kafka_client_record *record);

/* The header's value as a NUL-terminated text in a static buffer (the last of that name), or NULL when there is none. */
const char *kafka_client_header_text(const struct kafka_client_record *record, const char *name);

/* How many headers have this name. */
size_t kafka_client_header_count(const struct kafka_client_record *record, const char *name);

/* --------------------------------------------------------------------------------------------------- groups */

#define KAFKA_CLIENT_METADATA_MAX 4097

/* The group's committed offset, -1: none; its metadata ("" if none) unless metadata is NULL. Retries for 30 s while the coordinator is away. */
int64_t kafka_client_committed(const char *bootstrap, const char *group, const char *topic, int32_t partition,
                               char metadata[KAFKA_CLIENT_METADATA_MAX]);

/* Commits as an operator's tool does, from outside the group (only when it has no members): metadata NULL: none. */
void kafka_client_commit(const char *bootstrap, const char *group, const char *topic, int32_t partition, int64_t offset,
                         const char *metadata);

/* Log start and high watermark of a partition. */
void kafka_client_watermarks(const char *bootstrap, const char *topic, int32_t partition, int64_t *low, int64_t *high);

/* Whether the group is known and has no members: only then do operators' tools work. A static member stays in until its session is over. */
bool kafka_client_group_is_empty(const char *bootstrap, const char *group);

#endif
