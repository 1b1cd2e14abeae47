/* What the owner and the thread share. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "bridge/sink_transaction_state.h"

void sink_transaction_shared_wait(struct sink_transaction_shared *shared, int64_t timeout_ms)
{
    struct timespec until = thread_moment(timeout_ms);
    pthread_cond_timedwait(&shared->changed, &shared->lock, &until);
}

void sink_transaction_shared_wake(const struct sink_transaction_shared *shared)
{
    uint64_t one = 1;
    /* an eventfd takes it; a full one is readable anyway */
    if (shared->wake_fd >= 0 && write(shared->wake_fd, &one, sizeof one) != (ssize_t)sizeof one) {
        log_write(LOG_LEVEL_DEBUG, "kafka_transaction", NULL, 0, "the owner could not be woken");
    }
}

void sink_transaction_shared_free_order(struct sink_transaction_order *order)
{
    if (order->offsets != NULL) {
        rd_kafka_topic_partition_list_destroy(order->offsets);
    }
    if (order->members != NULL) {
        rd_kafka_consumer_group_metadata_destroy(order->members);
    }
    *order = (struct sink_transaction_order){0};
}

void sink_transaction_shared_free(struct sink_transaction_shared *shared)
{
    sink_transaction_shared_free_order(&shared->order);
    pthread_cond_destroy(&shared->changed);
    pthread_mutex_destroy(&shared->lock);
    free(shared->id);
    free(shared);
}

struct sink_transaction_shared *sink_transaction_shared_new(const struct sink *sink)
{
    struct sink_transaction_shared *shared = memory_new(1, sizeof *shared);
    thread_condition(&shared->changed);
    pthread_mutex_init(&shared->lock, NULL);
    shared->id = memory_text(sink->transactional_id, strlen(sink->transactional_id));
    shared->wake_fd = sink->wake_fd;
    for (size_t i = 0; i < SINK_TRANSACTION_WAYS; i++) {
        shared->handles[i] = sink->producers[SINK_WAY_FIRST + i].handle;
    }
    return shared;
}
