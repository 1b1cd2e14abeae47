/*
 * Room-internal: what the owner thread and the sink's own thread keep of transactions.
 *
 * The thread does what blocks: init_transactions, send_offsets_to_transaction, commit, abort. Each producer stands in a begun transaction while
 * it is idle: beginning is librdkafka's own affair, and the brokers hear of a transaction by its first record or offset. So the owner need
 * not ask anybody before it sends, and nothing begins at the brokers before the end of the one before is known.
 */
#ifndef TARRY_BRIDGE_SINK_TRANSACTION_STATE_H
#define TARRY_BRIDGE_SINK_TRANSACTION_STATE_H

#include <librdkafka/rdkafka.h>
#include <pthread.h>

#include "bridge/sink_copy.h"
#include "bridge/sink_state.h"
#include "bridge/sink_transaction.h"

#define SINK_TRANSACTION_WAYS 3 /* SINK_WAY_FIRST, SINK_WAY_SECOND, SINK_WAY_SINGLE */
#define SINK_TRANSACTION_TEXT_MAX 640

/* What the thread is to do. */
struct sink_transaction_order {
    enum sink_way way;
    bool abort;
    rd_kafka_topic_partition_list_t *offsets;       /* NULL: none */
    rd_kafka_consumer_group_metadata_t *members;    /* NULL: none */
};

enum sink_transaction_stage {
    SINK_TRANSACTION_IDLE,
    SINK_TRANSACTION_ORDERED, /* the thread has it */
    SINK_TRANSACTION_ENDED,   /* the result is there */
};

/* What both threads see; under `lock`. Owned by the sink, or by the thread once it is `abandoned`. */
struct sink_transaction_shared {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* by the monotonic clock */
    rd_kafka_t *handles[SINK_TRANSACTION_WAYS];
    char *id; /* for words */
    int wake_fd;
    bool ready;
    bool fatal;
    char fatal_text[SINK_TRANSACTION_TEXT_MAX];
    char trouble[SINK_TRANSACTION_TEXT_MAX];
    enum sink_transaction_stage stage;
    struct sink_transaction_order order;
    bool committed;
    rd_kafka_resp_err_t code;   /* why it was aborted */
    char error[SINK_ERROR_MAX]; /* librdkafka's words on why it was aborted, "" when ordered so */
    bool stop;                  /* no further orders; what is under way is to be finished */
    bool give_up;               /* nor that */
    bool over;                  /* the thread touches nothing any more */
    bool abandoned;             /* the thread frees this */
};

struct sink_transaction_held;

/* The owner's. */
struct sink_transaction {
    struct sink_transaction_shared *shared;
    pthread_t thread;
    enum sink_way way;  /* where the current transaction, or the next one, is */
    enum sink_way turn; /* whose turn it is of the two */
    bool alone;         /* a broker refused a batch, or a topic: one record a batch until a transaction has committed so */
    uint64_t number;    /* of the current one */
    bool suspect;       /* a topic is in it that had one refused: its commit clears that */
    int64_t alone_ms;   /* since when `alone` */
    bool used;          /* something was sent, or was to be sent, since the last end */
    bool failed;        /* something of it failed or was not taken */
    bool purge_only;    /* `error` is only of one that had to go because of another */
    bool full;          /* the local queue had no room for something of it */
    bool ending;        /* sink_transaction_end was called, and the result is not handed over */
    bool told;          /* to abort */
    bool early;         /* a record was to go into the next one while this one was ending: that one is to fail */
    struct sink_ticket_pool tickets; /* of all its records */
    struct sink_copies copies;
    int64_t ended_ms;
    char error[SINK_ERROR_MAX];
    char trouble[SINK_TRANSACTION_TEXT_MAX];
    bool probing; /* alone, and topic by topic: sink_transaction_hold.c */
    bool delayed; /* `order` waits until nothing is held or on its way */
    struct sink_transaction_order order;
    struct sink_transaction_held *held;
    struct sink_transaction_held *held_last;
    size_t held_count;
    size_t held_bytes;
};

/* sink_transaction_open.c */

/* Makes the state and starts the thread; the three producers are there. ERROR_SYSTEM: no thread. */
bool sink_transaction_open(struct sink *sink, struct error *error);

/* sink_transaction_close.c */

/* Aborts what is open if that is quick, and ends the thread; about 3 s at most. If it does not end, the producer that it waits for is left behind
 * (its handle is NULL then). */
void sink_transaction_close(struct sink *sink);

/* sink_transaction_shared.c */

struct sink_transaction_shared *sink_transaction_shared_new(const struct sink *sink);

void sink_transaction_shared_free(struct sink_transaction_shared *shared);

void sink_transaction_shared_free_order(struct sink_transaction_order *order);

/* Waits for a change, at most that long. The lock is held. */
void sink_transaction_shared_wait(struct sink_transaction_shared *shared, int64_t timeout_ms);

/* Has the owner take another turn. The lock is held. */
void sink_transaction_shared_wake(const struct sink_transaction_shared *shared);

/* sink_transaction.c */

/* True when records may go into a transaction now: it is ready, and none is ending. */
bool sink_transaction_open_for_records(const struct sink *sink);

/* A record was to go in when none could: the next transaction to end is aborted. Nothing without transactions. */
void sink_transaction_not_now(struct sink *sink);

/* A record was sent, or was to be sent, in the current transaction; `report` says why it was not taken, NULL: it was, or the queue is full. */
void sink_transaction_sent(struct sink *sink, enum sink_result result, const struct sink_report *report);

/* A record of this topic goes into it. */
void sink_transaction_note_topic(struct sink *sink, struct sink_topic *topic);

/* A report of a transactional producer, its token still a ticket: redeems that and keeps what it means for the transaction. False: it is not to be
 * handed out. */
bool sink_transaction_report(struct sink *sink, enum sink_way way, rd_kafka_resp_err_t code, struct sink_report *report);

/* False: only copies would use it, and none was ever made. Then its end is not the sink's. */
bool sink_transaction_needed(const struct sink *sink);

bool sink_transaction_fatal(struct sink *sink, char *text, size_t size);

/* Hands the order to the thread. */
void sink_transaction_post(struct sink_transaction *transaction);

/* sink_transaction_hold.c */

/* Keeps a record until its topic's turn comes; takes the headers in any case. */
enum sink_result sink_transaction_hold(struct sink *sink,
                                       const struct sink_topic *topic,
                                       int32_t partition,
                                       struct span key,
                                       struct span value,
                                       rd_kafka_headers_t *headers,
                                       void *ticket);

/* Goes on with what is held, and with the order that waits for it; returns how many reports that made. */
size_t sink_transaction_hold_poll(struct sink *sink, struct sink_report *reports, size_t most);

/* What is held goes on in the owner's next sink_poll, and nothing else may call for one: has it come. */
void sink_transaction_hold_wake(const struct sink_transaction *transaction);

/* A record was thrown out while one topic alone was on its way: is that topic at fault? */
void sink_transaction_hold_judge(struct sink *sink, struct sink_report *report);

void sink_transaction_hold_free(struct sink *sink);

/* sink_transaction_thread.c */

/* Why librdkafka holds that a transaction can only be aborted: asked to begin one, it says so, and there is no other way to ask. False: it does not hold
 * that, or a call is under way on that producer. Does not wait for a broker. */
bool sink_transaction_thread_cause(rd_kafka_t *handle, rd_kafka_resp_err_t *code, char words[SINK_ERROR_MAX]);

/* The thread: takes a struct sink_transaction_shared. */
void *sink_transaction_thread(void *opaque);

#endif
