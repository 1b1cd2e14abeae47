/* What the files of redelivery share. All but what stands under `lock` is the thread's own. */
#ifndef TARRY_OPS_REDELIVERY_STATE_H
#define TARRY_OPS_REDELIVERY_STATE_H

#include <pthread.h>

#include "bridge/letter_sink.h"
#include "dlq/link.h"
#include "dlq/mailer.h"
#include "dlq/nack_stream.h"
#include "dlq/reader.h"
#include "dlq/waiting.h"
#include "ops/redelivery.h"
#include "ops/redelivery_lately.h"
#include "ops/redelivery_targets.h"

#define REDELIVERY_FLIGHTS 256             /* letters under way at once; a transaction's at most */
#define REDELIVERY_FLIGHT_BYTES (64u << 20) /* of all of them but those that stand, and one more is always let in; of those that stand half as much */
#define REDELIVERY_OWED 1024
#define REDELIVERY_HOLD_MS 5000            /* what JetStream did not take is tried again then */
#define REDELIVERY_NATS_TIMEOUT_MS 5000
#define REDELIVERY_TOPIC_SIZE 250

enum redelivery_step {
    REDELIVERY_STEP_FREE,
    REDELIVERY_STEP_READY,     /* fetched, and to be sent */
    REDELIVERY_STEP_SENT,      /* on its way to Kafka */
    REDELIVERY_STEP_DELIVERED, /* Kafka has it: its message is to be removed */
    REDELIVERY_STEP_POST,      /* `letter` is to be posted as `post_as`, then the old message removed */
    REDELIVERY_STEP_AGAIN,     /* nothing was done with it: waits again until again_ms */
};

struct redelivery_flight {
    enum redelivery_step step;
    struct waiting_entry entry;
    bool nack;                    /* the message is one of nack.> */
    struct reader_one *message;   /* of a nack */
    struct nack_stream_room room; /* of a nack */
    struct buffer bytes;          /* the message's; the letter borrows from it */
    struct buffer large;          /* the record that stands apart */
    struct buffer headers;
    struct letter letter;
    char topic[REDELIVERY_TOPIC_SIZE];
    enum letter_state post_as;
    bool sent;                    /* Kafka's client took it */
    int32_t partition;            /* delivered there, -1: not said */
    int64_t offset;
    int64_t post_at_ms;           /* STEP_POST: JetStream did not take it; not before, wall clock. 0: at once */
    int64_t sent_ms;              /* wall clock */
    bool failed;                  /* a redelivery failed, to be counted when its next letter is kept */
    char error[LETTER_ERROR_MAX];
    int64_t again_ms;
};

struct redelivery {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* ---- under lock */
    bool active;
    bool stop;
    int64_t stop_by_ms; /* monotonic */
    struct redelivery_status status;
    struct config view; /* of the owner's configuration, with targets of our own */
    /* ---- constant */
    int wake_fd;
    int64_t send_timeout_ms;
    bool exactly_once;
    char *client;
    char *transactional_id; /* the place's group, too */
    struct streams_options streams; /* strings of the owner's configuration */
    struct letter_sink_place place;
    /* ---- the thread's */
    struct link *link;
    struct mailer *mailer;
    struct letter_sink *sink;  /* NULL: not open */
    struct reader *reader;     /* NULL: not open */
    uint64_t read_from;        /* sequence behind the last message read */
    int64_t created_ms;        /* of the stream that `waiting` and `owed` speak of; -1: none yet */
    struct waiting *waiting;
    struct redelivery_targets targets;
    struct redelivery_lately *lately;
    struct redelivery_flight flights[REDELIVERY_FLIGHTS];
    size_t batch_most;         /* letters in the next transaction */
    size_t taken;              /* out of `waiting`, by the last redelivery_take */
    uint64_t owed[REDELIVERY_OWED]; /* messages that are done with, to be removed */
    size_t owed_count;
    struct redelivery_counts counts;
    uint64_t unreadable_told;  /* sequence of the last message that was said to be unreadable */
};

/* ---- redelivery.c */

/* True while active and not to stop. */
bool redelivery_wanted(struct redelivery *redelivery);

/* True when a stop was asked for and its time is over. */
bool redelivery_out_of_time(struct redelivery *redelivery);

/* Waits so long, or until something is asked for. */
void redelivery_pause(struct redelivery *redelivery, int64_t timeout_ms);

/* Copies the policy of this topic, and says whether it may be a target at all. */
bool redelivery_policy(struct redelivery *redelivery, struct span topic, struct retry_policy *policy);

/* Hands the counts and what is in memory to the owner. */
void redelivery_publish(struct redelivery *redelivery, enum redelivery_phase phase, const char *text);

/* ---- redelivery_start.c */

/* ---- redelivery_read.c */

/* ---- redelivery_take.c */

/* Fetches what is due into flights, `most` under way at most, for about a second: what is to be sent is READY then. False: JetStream is not to be spoken to;
 * begin anew. */
bool redelivery_take(struct redelivery *redelivery, size_t most, struct error *error);

/* Hands what is READY to Kafka's client. Does not block. */
void redelivery_take_send(struct redelivery *redelivery);

/* ---- redelivery_settle.c */

/* True: it is to be posted, and waits because JetStream did not take it. */
static inline bool redelivery_stands(const struct redelivery_flight *flight)
{
    return flight->step == REDELIVERY_STEP_POST && flight->post_at_ms > 0;
}

/* ---- redelivery_transaction.c */

#include "ops/redelivery_read.h" /* last: it speaks of what stands above */

#include "ops/redelivery_settle.h" /* last: it speaks of what stands above */

#include "ops/redelivery_start.h" /* last: it speaks of what stands above */

#include "ops/redelivery_transaction.h" /* last: it speaks of what stands above */

#endif
