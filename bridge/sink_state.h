/* Room-internal: what a sink keeps. Owner thread only. */
#ifndef TARRY_BRIDGE_SINK_STATE_H
#define TARRY_BRIDGE_SINK_STATE_H

#include <librdkafka/rdkafka.h>

#include "bridge/sink.h"
#include "bridge/sink_ticket.h"

/* Without transactions: the one that batches; and one that sends each record alone, made when a broker first refuses a batch for one of its
 * records. With transactions (sink_transaction.h): two that take turns, and one that sends each record alone. */
enum sink_way { SINK_WAY_BATCHED, SINK_WAY_ALONE, SINK_WAY_FIRST, SINK_WAY_SECOND, SINK_WAY_SINGLE, SINK_WAYS };

static inline bool sink_way_transactional(enum sink_way way)
{
    return way >= SINK_WAY_FIRST;
}

struct sink_producer {
    rd_kafka_t *handle; /* NULL: not made (yet) */
    rd_kafka_queue_t *queue;
    rd_kafka_event_t *event; /* reports of it that are not read yet */
    size_t queued;           /* messages of it that were taken and are not reported */
};

/* A target topic lately used. The table is a cache: what is not in it costs a look-up. */
struct sink_topic {
    uint64_t hash;
    char name[250];
    bool alone; /* this topic refused a batch: its records go alone from then on, so that their order is kept */
    bool suspect;         /* with transactions: something of it had one refused, and was not found yet */
    uint64_t transaction; /* the last one that it was in */
    rd_kafka_topic_t *handles[SINK_WAYS];
};

#define SINK_TOPICS 256 /* power of two */

struct sink {
    struct sink_producer producers[SINK_WAYS];
    struct sink_topic *topics[SINK_TOPICS];
    struct kafka_property *properties; /* copies, for the producer made later */
    size_t property_count;
    char *instance;
    char *transactional_id; /* NULL: no transactions */
    int64_t transaction_timeout_ms;
    bool exactly_once;
    struct sink_transaction *transaction; /* NULL: no transactions */
    uint64_t records_max;
    uint64_t bytes_max;
    int wake_fd;
    size_t queued_messages; /* taken and not reported */
    size_t queued_bytes;    /* their keys and values */
};

/* sink_open.c */

/* Makes a producer of the sink. */
bool sink_open_way(struct sink *sink, enum sink_way way, struct error *error);

/* sink.c */

/* Reads and drops all reports there are of one producer: nobody will ask for them. */
void sink_drain(struct sink *sink, enum sink_way way);

/* sink_topic.c */

/* The cached topic, or NULL when the name is too long for any topic. */
struct sink_topic *sink_topic_get(struct sink *sink, struct span name);

/* librdkafka's handle of it for one way. NULL: the name is illegal. */
rd_kafka_topic_t *sink_topic_handle(struct sink *sink, struct sink_topic *topic, enum sink_way way);

void sink_topic_free_all(struct sink *sink);

/* sink_send.c */

/* Produces; takes the headers when it is SINK_TAKEN and destroys them otherwise. The token of a transactional way is a ticket, which stays the caller's
 * unless it is SINK_TAKEN: a SINK_FAILED's report has it, not redeemed. */
enum sink_result sink_send_on(struct sink *sink,
                              enum sink_way way,
                              struct sink_topic *topic,
                              int32_t partition,
                              struct span key,
                              struct span value,
                              rd_kafka_headers_t *headers,
                              void *token,
                              struct sink_report *report);

/* Into the current transaction, on its way or held first. Takes the headers in any case (NULL: the row is damaged), and the ticket: *report has the
 * caller's token. */
enum sink_result sink_send_transactional(struct sink *sink,
                                         struct sink_topic *topic,
                                         int32_t partition,
                                         struct span key,
                                         struct span value,
                                         rd_kafka_headers_t *headers,
                                         struct sink_ticket *ticket,
                                         struct sink_report *report);

#endif
