/* What blocks: a thread of the sink's own asks, and asks again on the same producer, until each result is known. */
#include <stdio.h>
#include <string.h>

#include "bridge/kafka_handle.h"
#include "bridge/sink_failure.h"
#include "bridge/sink_transaction_state.h"

#define INIT_SLICE_MS 50     /* of one producer: they are asked in turn, and librdkafka goes on with all of them meanwhile */
#define END_SLICE_MS 500     /* a call that ran out of time is resumed by the next; between two it is seen that we are to give up */
#define AGAIN_MS 5           /* between two tries of what failed at once */
#define TROUBLE_AFTER_MS 3000 /* that it takes this long is worth a word */

/* What a call said. */
enum answer {
    ANSWER_DONE,
    ANSWER_AGAIN, /* not known yet */
    ANSWER_ABORT, /* the transaction can only be aborted */
    ANSWER_NEVER, /* the producer is at its end */
};

/* Why. */
struct failure {
    rd_kafka_resp_err_t code;
    char words[SINK_ERROR_MAX];
};

static rd_kafka_t *handle_of(const struct sink_transaction_shared *shared, enum sink_way way)
{
    return shared->handles[way - SINK_WAY_FIRST];
}

static void set_fatal(struct sink_transaction_shared *shared, const struct failure *failure)
{
    pthread_mutex_lock(&shared->lock);
    shared->fatal = true;
    sink_failure_fatal(failure->code, failure->words, shared->fatal_text, sizeof shared->fatal_text);
    sink_transaction_shared_wake(shared);
    pthread_mutex_unlock(&shared->lock);
}

/* Reads and frees the error. */
static enum answer read_error(rd_kafka_error_t *error, struct failure *failure)
{
    if (error == NULL) {
        return ANSWER_DONE;
    }
    enum answer answer = rd_kafka_error_is_fatal(error)              ? ANSWER_NEVER
                         : rd_kafka_error_txn_requires_abort(error) ? ANSWER_ABORT
                         : rd_kafka_error_is_retriable(error)       ? ANSWER_AGAIN
                                                                    : ANSWER_ABORT;
    failure->code = rd_kafka_error_code(error);
    snprintf(failure->words, sizeof failure->words, "%s: %s", rd_kafka_error_name(error), rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    return answer;
}

/* Waits a little before the next try. False: there is to be none. */
static bool again(struct sink_transaction_shared *shared)
{
    pthread_mutex_lock(&shared->lock);
    if (!shared->give_up) {
        sink_transaction_shared_wait(shared, AGAIN_MS);
    }
    bool go_on = !shared->give_up;
    pthread_mutex_unlock(&shared->lock);
    return go_on;
}

/* ------------------------------------------------------------------------------------------------- the calls */

typedef rd_kafka_error_t *call_fn(rd_kafka_t *handle, const struct sink_transaction_order *order);

/* Without a bound of ours: librdkafka takes the transaction's timeout, and a group's coordinator that is slow is no reason to abort sooner. */
static rd_kafka_error_t *send_offsets(rd_kafka_t *handle, const struct sink_transaction_order *order)
{
    return order->offsets == NULL ? NULL : rd_kafka_send_offsets_to_transaction(handle, order->offsets, order->members, -1);
}

static rd_kafka_error_t *commit(rd_kafka_t *handle, const struct sink_transaction_order *order)
{
    (void)order;
    return rd_kafka_commit_transaction(handle, END_SLICE_MS);
}

static rd_kafka_error_t *abort_it(rd_kafka_t *handle, const struct sink_transaction_order *order)
{
    (void)order;
    return rd_kafka_abort_transaction(handle, END_SLICE_MS);
}

static rd_kafka_error_t *begin(rd_kafka_t *handle, const struct sink_transaction_order *order)
{
    (void)order;
    return rd_kafka_begin_transaction(handle);
}

/* Calls until the result is known. ANSWER_AGAIN: we are to give up. */
static enum answer call(struct sink_transaction_shared *shared,
                        call_fn *function,
                        const struct sink_transaction_order *order,
                        struct failure *failure)
{
    enum answer answer;
    do {
        answer = read_error(function(handle_of(shared, order->way), order), failure);
    } while (answer == ANSWER_AGAIN && again(shared));
    if (answer == ANSWER_NEVER) {
        set_fatal(shared, failure);
    }
    return answer;
}

/* For what cannot be helped by an abort. */
static bool call_or_end(struct sink_transaction_shared *shared, call_fn *function, const struct sink_transaction_order *order)
{
    struct failure failure = {0};
    enum answer answer = call(shared, function, order, &failure);
    if (answer == ANSWER_ABORT) {
        set_fatal(shared, &failure);
    }
    return answer == ANSWER_DONE;
}

bool sink_transaction_thread_cause(rd_kafka_t *handle, rd_kafka_resp_err_t *code, char words[SINK_ERROR_MAX])
{
    rd_kafka_error_t *error = rd_kafka_begin_transaction(handle);
    bool failed = error != NULL && rd_kafka_error_txn_requires_abort(error);
    if (failed) {
        *code = rd_kafka_error_code(error);
        snprintf(words, SINK_ERROR_MAX, "%s: %s", rd_kafka_error_name(error), rd_kafka_error_string(error));
    }
    if (error != NULL) {
        rd_kafka_error_destroy(error);
    }
    return failed;
}

/* False: its end is not known and will not be. */
static bool end_transaction(struct sink_transaction_shared *shared, const struct sink_transaction_order *order, bool *committed,
                            struct failure *failure)
{
    enum answer answer = ANSWER_ABORT;
    if (!order->abort) {
        answer = call(shared, send_offsets, order, failure);
        if (answer == ANSWER_DONE) {
            answer = call(shared, commit, order, failure);
        }
    }
    if (!order->abort && answer == ANSWER_ABORT) {
        /* what the call said may only be that it came too late */
        (void)sink_transaction_thread_cause(handle_of(shared, order->way), &failure->code, failure->words);
    }
    *committed = answer == ANSWER_DONE;
    return answer == ANSWER_DONE || (answer == ANSWER_ABORT && call_or_end(shared, abort_it, order));
}

/* ------------------------------------------------------------------------------------------------- the start */

/* "" for a while: a first connection takes its time, and is no trouble. */
static void set_trouble(struct sink_transaction_shared *shared, const struct failure *failure, int64_t since_ms)
{
    if (failure->code == RD_KAFKA_RESP_ERR__TIMED_OUT && kafka_handle_clock_ms() - since_ms < TROUBLE_AFTER_MS) {
        return;
    }
    pthread_mutex_lock(&shared->lock);
    bool news = shared->trouble[0] == '\0';
    if (failure->code == RD_KAFKA_RESP_ERR__TIMED_OUT) {
        snprintf(shared->trouble, sizeof shared->trouble,
                 "no answer yet from the transaction coordinator of %s: brokers are away, or a transaction that a former process of this name "
                 "left open is being ended",
                 shared->id);
    } else {
        snprintf(shared->trouble, sizeof shared->trouble, "transactional id %s: %s", shared->id, failure->words);
    }
    if (news) {
        sink_transaction_shared_wake(shared); /* it tells */
    }
    pthread_mutex_unlock(&shared->lock);
}

/* One try of one producer. */
static enum answer init_one(struct sink_transaction_shared *shared, size_t index, int64_t since_ms)
{
    struct failure failure = {0};
    enum answer answer = read_error(rd_kafka_init_transactions(shared->handles[index], INIT_SLICE_MS), &failure);
    if (answer == ANSWER_AGAIN) {
        set_trouble(shared, &failure, since_ms);
    } else if (answer != ANSWER_DONE) {
        set_fatal(shared, &failure);
        return ANSWER_NEVER;
    }
    return answer;
}

static bool init_all(struct sink_transaction_shared *shared)
{
    bool done[SINK_TRANSACTION_WAYS] = {false};
    int64_t since_ms = kafka_handle_clock_ms();
    size_t left = SINK_TRANSACTION_WAYS;
    while (left > 0) {
        for (size_t i = 0; i < SINK_TRANSACTION_WAYS; i++) {
            enum answer answer = done[i] ? ANSWER_AGAIN : init_one(shared, i, since_ms);
            if (answer == ANSWER_NEVER) {
                return false;
            }
            done[i] = done[i] || answer == ANSWER_DONE;
            left -= answer == ANSWER_DONE;
        }
        if (left > 0 && !again(shared)) {
            return false;
        }
    }
    return true;
}

/* An empty transaction of each, so that the first real one finds everything in place; then all stand begun. */
static bool begin_all(struct sink_transaction_shared *shared)
{
    for (size_t i = 0; i < SINK_TRANSACTION_WAYS; i++) {
        const struct sink_transaction_order order = {.way = (enum sink_way)(SINK_WAY_FIRST + i)};
        if (!call_or_end(shared, begin, &order) || !call_or_end(shared, commit, &order) || !call_or_end(shared, begin, &order)) {
            return false;
        }
    }
    return true;
}

static void announce_ready(struct sink_transaction_shared *shared)
{
    pthread_mutex_lock(&shared->lock);
    shared->ready = true;
    shared->trouble[0] = '\0';
    sink_transaction_shared_wake(shared);
    pthread_mutex_unlock(&shared->lock);
}

/* ------------------------------------------------------------------------------------------------- the loop */

/* Waits for an order. False: there will be none. */
static bool next_order(struct sink_transaction_shared *shared, struct sink_transaction_order *order)
{
    pthread_mutex_lock(&shared->lock);
    while (shared->stage != SINK_TRANSACTION_ORDERED && !shared->stop) {
        pthread_cond_wait(&shared->changed, &shared->lock);
    }
    bool there = shared->stage == SINK_TRANSACTION_ORDERED && !shared->give_up;
    *order = shared->order;
    pthread_mutex_unlock(&shared->lock);
    return there;
}

static void announce_end(struct sink_transaction_shared *shared, bool committed, const struct failure *failure)
{
    pthread_mutex_lock(&shared->lock);
    sink_transaction_shared_free_order(&shared->order);
    shared->stage = SINK_TRANSACTION_ENDED;
    shared->committed = committed;
    shared->code = failure->code;
    memcpy(shared->error, failure->words, sizeof shared->error);
    sink_transaction_shared_wake(shared);
    pthread_mutex_unlock(&shared->lock);
}

/* False: the thread's work is over. */
static bool carry_out(struct sink_transaction_shared *shared, const struct sink_transaction_order *order)
{
    bool committed = false;
    struct failure failure = {0};
    if (!end_transaction(shared, order, &committed, &failure) || !call_or_end(shared, begin, order)) {
        return false;
    }
    announce_end(shared, committed, &failure);
    return true;
}

static void finish(struct sink_transaction_shared *shared)
{
    pthread_mutex_lock(&shared->lock);
    shared->over = true;
    bool ours = shared->abandoned;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
    if (ours) {
        sink_transaction_shared_free(shared);
    }
}

void *sink_transaction_thread(void *opaque)
{
    struct sink_transaction_shared *shared = opaque;
    struct sink_transaction_order order;
    if (init_all(shared) && begin_all(shared)) {
        announce_ready(shared);
        while (next_order(shared, &order) && carry_out(shared, &order)) {
        }
    }
    finish(shared);
    return NULL;
}
