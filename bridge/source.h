/*
 * Kafka in: one consumer group member over all source topics (R9: static membership always).
 *
 * A source is polled by the owner thread and hands over events, one at a time. It never fires callbacks of ours. Partitions are
 * given with all that is known of them, and start only when told where (source_start); they are given up only when told to
 * (source_release), so that what is in flight can be finished first. Back-pressure is source_pause: it keeps polling.
 */
#ifndef TARRY_BRIDGE_SOURCE_H
#define TARRY_BRIDGE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/span.h"
#include "bridge/record.h"

struct source;

struct kafka_property {
    const char *name;
    const char *value;
};

struct source_options {
    const struct kafka_property *properties; /* librdkafka's, common first, consumer's own after; promises' properties are set by us */
    size_t property_count;
    const char *group;
    const char *instance;       /* group.instance.id, and part of client.id */
    const char *advertise;      /* address of our HTTP server, travels in client.id; NULL: none */
    const char *const *topics;
    size_t topic_count;
    int wake_fd;                /* an eventfd: 1 is written to it when there is something to poll */
};

/* Creates the consumer and subscribes. Does not wait for a broker. ERROR_INVALID: a property librdkafka refuses (named). */
bool source_open(const struct source_options *options, struct source **source, struct error *error);

/* Gives up all partitions and takes the consumer down without leaving the group (a static member stays in it until its session ends, on
 * purpose). Commits that were not answered may be lost. Bounded by about 6 s even without brokers. NULL is allowed. */
void source_close(struct source *source);

enum source_event_kind {
    SOURCE_NONE,
    SOURCE_RECORD,
    SOURCE_END,       /* end of partition at `offset`: everything below has been handed over */
    SOURCE_ASSIGNED,  /* look it up with source_look_up, then source_start or source_hold */
    SOURCE_REVOKED,   /* finish, then source_release. Also for lost ones (then commits will fail: `lost`) */
    SOURCE_COMMITTED, /* answer to source_commit */
    SOURCE_GONE,      /* the position is outside the log (truncated, expired, recreated): nothing more will come (R8) */
    SOURCE_FATAL,     /* fenced or worse: the process must end; text says why */
    SOURCE_TROUBLE,   /* worth a log line and readiness: brokers down, authentication, undecodable batch; text */
    SOURCE_CONNECTED, /* the first sign of life after trouble */
};

struct source_event {
    enum source_event_kind kind;
    const char *topic; /* interned: same pointer for same topic while the source lives; NULL when it concerns none */
    int32_t partition;
    int64_t offset;        /* END: end; COMMITTED: what was committed */
    struct record record;  /* RECORD: borrowed until the next source_poll */
    bool lost;             /* REVOKED */
    bool acknowledged;     /* COMMITTED */
    uint32_t tag;          /* COMMITTED: as given to source_commit */
    char text[256];
};

/* The next event; kind SOURCE_NONE when there is none now. Never blocks. */
void source_poll(struct source *source, struct source_event *event);

/* While there is trouble with the connection: asks whether it is over (blocking, at most timeout_ms). True: it is, or there is none. For about
 * once a second: nothing else can be told from a partition without traffic. */
bool source_probe(struct source *source, int timeout_ms);

/* What the brokers know of a partition. */
struct source_lookup {
    int64_t low;          /* log start */
    int64_t end;          /* last stable offset */
    int64_t high;         /* high watermark: what others' open transactions hold back is below it */
    int64_t committed;    /* -1: none */
    char metadata[4097];  /* of the committed offset, "" if none */
    bool anchor_found;    /* a record stands exactly at anchor_offset */
    int64_t anchor_timestamp_ms;
    uint32_t anchor_crc;
};

/* Asks low, end, high, committed offset with metadata (blocking, at most timeout_ms; retries inside). All are fresh, high is asked for last.
 * ERROR_UNAVAILABLE: try again; also while a transaction with offsets of this partition is not at its end (a former owner's). */
bool source_look_up(struct source *source, const char *topic, int32_t partition, int timeout_ms, struct source_lookup *lookup, struct error *error);

/* Asks the high watermark alone (blocking, at most timeout_ms), as above. ERROR_UNAVAILABLE: try again. */
bool source_high(struct source *source, const char *topic, int32_t partition, int timeout_ms, int64_t *high, struct error *error);

/* Reads the one record at anchor_offset (blocking, bounded) into the lookup's anchor fields. It uses a simple consumer of its own so that
 * the group's is undisturbed. Not found: anchor_found is false (compacted away, or beyond the end). ERROR_UNAVAILABLE: no answer, try again.
 * Cost: one round trip to the partition's leader, and a connection the first time; it is let go, without a wait, when all have started. */
bool source_read_anchor(struct source *source, const char *topic, int32_t partition, int64_t anchor_offset, int timeout_ms, struct source_lookup *lookup, struct error *error);

/* Nothing is read so for a while: lets that consumer's connection and threads go, without a wait. They come again when they are needed. */
void source_read_rest(struct source *source);

/* Begins handing over records from `offset`. */
bool source_start(struct source *source, const char *topic, int32_t partition, int64_t offset, struct error *error);

/* Keeps the partition assigned without reading it (R8: another topic). */
bool source_hold(struct source *source, const char *topic, int32_t partition, struct error *error);

/* Gives a revoked partition up. When the last one of a revocation is released the rebalance goes on. */
void source_release(struct source *source, const char *topic, int32_t partition);

/* Back-pressure of one partition. Already fetched records of it are set aside by librdkafka and come again after the resume. */
bool source_pause(struct source *source, const char *topic, int32_t partition, struct error *error);
bool source_resume(struct source *source, const char *topic, int32_t partition, struct error *error);

/* Commits offset and metadata of one partition, asynchronously; the answer is a SOURCE_COMMITTED with this tag. The caller keeps to one at a time (R9).
 * False: it could not even be sent (no answer will come). */
bool source_commit(struct source *source,
                   const char *topic,
                   int32_t partition,
                   int64_t offset,
                   const char *metadata,
                   uint32_t tag,
                   struct error *error);

/* The group's metadata (generation, member), for a transaction's offsets: take it before the batch is built (R9). It is that of the last rebalance that
 * was handed over and, when it gave partitions, answered; never of one that has taken partitions away unsaid. An older one the broker refuses. Absent while
 * nothing is assigned, or when the group has thrown us out. Borrowed until the next source_poll. */
struct span source_members(struct source *source);

/* The first offset of a partition whose record is not older than timestamp_ms; the end when there is none (blocking, at most timeout_ms).
 * ERROR_UNAVAILABLE: no answer, try again. */
bool source_offset_at(struct source *source, const char *topic, int32_t partition, int64_t timestamp_ms, int timeout_ms, int64_t *offset, struct error *error);

/* The cluster's id (blocking up to timeout_ms the first time). False: not known (yet). */
bool source_cluster_id(struct source *source, int timeout_ms, char *id, size_t size);

/* CRC-32 of key and value with their lengths and absences: what an anchor keeps. */
uint32_t source_record_crc(const struct record *record);

/* The wall clock was set back: librdkafka's main thread waits for a moment of it, and would not beat its heart until that comes round again. Wakes it, after which it
 * waits by the new clock. Blocks until that thread has answered. */
void source_clock_stepped(struct source *source);

/* Unread records of a partition by the client's own knowledge (-1: unknown). Does not ask a broker. */
int64_t source_lag(struct source *source, const char *topic, int32_t partition, int64_t position);

#endif
