/* Death of the thread that does a transaction's waiting. */
#include <stdlib.h>

#include "base/log.h"
#include "bridge/kafka_handle.h"
#include "bridge/sink_transaction_state.h"

#define FINISH_MS 1500  /* for what is under way at the end */
#define GIVE_UP_MS 1500 /* for the thread to see that it is not wanted: longer than it waits at once */
#define TURN_MS 5

/* Lets the thread finish; what it waits for may be that somebody reads reports. False: the time is over. */
static bool wait_over(struct sink *sink, int64_t timeout_ms)
{
    struct sink_transaction_shared *shared = sink->transaction->shared;
    int64_t end_ms = kafka_handle_clock_ms() + timeout_ms;
    bool over = false;
    while (!over && kafka_handle_clock_ms() < end_ms) {
        for (size_t i = 0; i < SINK_TRANSACTION_WAYS; i++) {
            sink_drain(sink, (enum sink_way)(SINK_WAY_FIRST + i));
        }
        pthread_mutex_lock(&shared->lock);
        if (!shared->over) {
            sink_transaction_shared_wait(shared, TURN_MS);
        }
        over = shared->over;
        pthread_mutex_unlock(&shared->lock);
    }
    return over;
}

/* Tells it that nothing more will come; an open transaction is aborted first. */
static void tell_to_stop(struct sink_transaction *transaction)
{
    struct sink_transaction_shared *shared = transaction->shared;
    pthread_mutex_lock(&shared->lock);
    if (transaction->used && shared->stage == SINK_TRANSACTION_IDLE) {
        shared->order = (struct sink_transaction_order){.way = transaction->way, .abort = true};
        shared->stage = SINK_TRANSACTION_ORDERED;
    }
    shared->stop = true;
    shared->give_up = !shared->ready;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
}

/* True: it has ended after all. */
static bool abandon(struct sink *sink)
{
    struct sink_transaction_shared *shared = sink->transaction->shared;
    pthread_mutex_lock(&shared->lock);
    bool over = shared->over;
    if (!over) {
        struct sink_producer *stuck = &sink->producers[shared->order.way];
        if (stuck->event != NULL) {
            rd_kafka_event_destroy(stuck->event);
        }
        rd_kafka_queue_io_event_enable(stuck->queue, -1, NULL, 0);
        rd_kafka_queue_destroy(stuck->queue);
        stuck->handle = NULL; /* the thread uses it */
        shared->wake_fd = -1;
        shared->abandoned = true;
    }
    pthread_mutex_unlock(&shared->lock);
    return over;
}

void sink_transaction_close(struct sink *sink)
{
    struct sink_transaction *transaction = sink->transaction;
    if (transaction == NULL) {
        return;
    }
    struct sink_transaction_shared *shared = transaction->shared;
    tell_to_stop(transaction);
    if (!wait_over(sink, FINISH_MS)) {
        pthread_mutex_lock(&shared->lock);
        shared->give_up = true;
        pthread_cond_broadcast(&shared->changed);
        pthread_mutex_unlock(&shared->lock);
    }
    if (wait_over(sink, GIVE_UP_MS) || abandon(sink)) {
        pthread_join(transaction->thread, NULL);
        sink_transaction_shared_free(shared);
    } else {
        log_write(LOG_LEVEL_WARNING, "kafka_client", NULL, 0, "a transaction did not end in time; left behind, the brokers will abort it");
        pthread_detach(transaction->thread);
    }
    sink_transaction_hold_free(sink);
    sink_transaction_shared_free_order(&transaction->order);
    sink_copy_free(&transaction->copies);
    sink_ticket_free_all(&transaction->tickets);
    free(transaction);
    sink->transaction = NULL;
}
