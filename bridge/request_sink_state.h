/* Room-internal: the insides of a request sink (request_sink.h), for the files request_sink*.c. */
#ifndef TARRY_BRIDGE_REQUEST_SINK_STATE_H
#define TARRY_BRIDGE_REQUEST_SINK_STATE_H

#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdatomic.h>

#include "bridge/request_sink.h"

#define REQUEST_SINK_SLICE_MS 100 /* how soon a wait sees that it is over */
#define REQUEST_SINK_ADDRESS_SIZE 280 /* a host name, a colon and a port */

struct request_sink_batch;

/* What librdkafka carries with each record. */
struct request_sink_ticket {
    struct request_sink_batch *batch;
    size_t bytes;
    bool answered;
};

/* The records of one call. Freed by the call, or, when that did not wait to the end, with the last word on them or the sink. */
struct request_sink_batch {
    struct request_sink_batch *next; /* of the sink's */
    size_t outstanding;
    size_t count;
    bool abandoned; /* its call has gone */
    struct request_sink_answer *answers;
    struct request_sink_ticket tickets[];
};

struct request_sink_topic {
    struct request_sink_topic *next;
    int32_t partitions;
    int64_t at_ms; /* when that was asked, monotonic */
    char name[];
};

struct request_sink_holding {
    char *topic;
    int32_t partition;
    bool own; /* by this very instance */
    char address[REQUEST_SINK_ADDRESS_SIZE];
};

/* Who holds which partition, as the coordinator said. */
struct request_sink_owners {
    struct request_sink_holding *items;
    size_t count;
    int64_t at_ms; /* monotonic; 0: never asked */
};

struct request_sink {
    struct kafka_property *properties;
    size_t property_count;
    char *instance;
    char *group;
    atomic_bool woken;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    rd_kafka_t *handle; /* NULL: none yet */
    rd_kafka_queue_t *queue;
    pthread_t thread; /* polls the queue, while there is a handle */
    size_t users;     /* calls that use the handle just now */
    bool fatal;       /* the handle is of no use any more: it is made anew when nobody uses it */
    bool ends;        /* the thread is to end */
    size_t bytes;     /* not answered yet */
    struct request_sink_batch *batches;
    struct request_sink_topic *topics;
    struct request_sink_owners owners;
    int64_t owners_failed_ms; /* when nobody could say, monotonic; 0: it was known since */
};

/* The handle, made if there is none; each use is ended with request_sink_release. NULL: ERROR_UNAVAILABLE (woken, or it is being made anew), ERROR_INVALID. Takes the lock. */
rd_kafka_t *request_sink_use(struct request_sink *sink, struct error *error);
void request_sink_release(struct request_sink *sink);

/* "host:port" from a member's client.id ("tarry-INSTANCE@host:port", bridge/source.h), "" if there is none or if it is no address: a member of the group may call itself what it likes. Pure. */
void request_sink_owner_address(const char *client_id, char *address, size_t size);

/* Adds what a member of that client.id holds, by the bytes of its assignment as the group's leader wrote them, whatever they are. Pure but for the allocation. */
void request_sink_owner_read(const struct request_sink *sink, const char *client_id, struct span assignment, struct request_sink_owners *owners);

void request_sink_owner_forget(struct request_sink_owners *owners);

#endif
