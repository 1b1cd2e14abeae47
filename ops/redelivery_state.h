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
#define REDELIVERY_FLIGHT_BYTES (64 << 20) /* of all of them, and one more is always let in */
#define REDELIVERY_OWED 1024
#define REDELIVERY_HOLD_MS 5000            /* what JetStream did not take is tried again then */
#define REDELIVERY_NATS_TIMEOUT_MS 5000
#define REDELIVERY_TOPIC_SIZE 250

enum redelivery_step {
    REDELIVERY_STEP_FREE,
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

/* Fences, removes what is known to be done with, reads the stream. False: later again; redelivery_let_go was not called. */
bool redelivery_begin(struct redelivery *redelivery, struct error *error);

/* Ends what is under way, and forgets all but what is owed. */
void redelivery_let_go(struct redelivery *redelivery);

/* ---- redelivery_read.c */

/* Reads what has come, waiting at most timeout_ms for the first. False: the stream must be read anew. */
bool redelivery_read(struct redelivery *redelivery, int64_t timeout_ms, struct error *error);

/* Reads to the end as it is now, or until memory is full. */
bool redelivery_read_all(struct redelivery *redelivery, struct error *error);

/* Puts an entry (back) into `waiting`; what that makes superfluous is owed. False: no room. */
bool redelivery_put(struct redelivery *redelivery, const struct waiting_entry *entry);

/* ---- redelivery_take.c */

/* Takes what is due into flights and sends it, `most` under way at most. False: JetStream or Kafka is not to be spoken to; begin anew. */
bool redelivery_take(struct redelivery *redelivery, size_t most, struct error *error);

/* ---- redelivery_settle.c */

size_t redelivery_count_flights(const struct redelivery *redelivery, enum redelivery_step step);

/* True: it is to be posted, and waits because JetStream did not take it. */
static inline bool redelivery_stands(const struct redelivery_flight *flight)
{
    return flight->step == REDELIVERY_STEP_POST && flight->post_at_ms > 0;
}

/* True when nothing is under way but what stands. */
bool redelivery_is_idle(const struct redelivery *redelivery);

/* Takes reports, waiting at most timeout_ms for the first. */
void redelivery_collect(struct redelivery *redelivery, int64_t timeout_ms);

/* What one report says. */
void redelivery_judge(struct redelivery *redelivery, struct redelivery_flight *flight, const struct letter_sink_report *report);

/* The letter in the flight becomes what is to be posted now that it failed. */
void redelivery_next_letter(struct redelivery *redelivery, struct redelivery_flight *flight, const char *error);

/* Posts next letters, removes what is done with, puts back what is not. False: JetStream could not be asked to remove. */
bool redelivery_settle(struct redelivery *redelivery, struct error *error);

void redelivery_free_flight(struct redelivery_flight *flight);

/* Notes a message to be removed. */
void redelivery_owe(struct redelivery *redelivery, uint64_t sequence);

/* Removes what is owed. False: some could not be. */
bool redelivery_pay(struct redelivery *redelivery, struct error *error);

/* ---- redelivery_transaction.c */

/* One batch, from taking to settling. False: begin anew. */
bool redelivery_transaction(struct redelivery *redelivery, struct error *error);

/* Reads from the committed text what was surely delivered, into `owed`. */
bool redelivery_recall(struct redelivery *redelivery, struct error *error);

#endif
