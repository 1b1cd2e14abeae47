/* Birth, end, and the thread that hears what became of records; see request_sink.h. Sending: request_sink_send.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "bridge/kafka_handle.h"
#include "bridge/request_sink_state.h"

#define END_MS 1000 /* for what was sent, and once more for the client itself */

/* Our own defaults; each can be overridden by the user. */
static const struct kafka_handle_setting defaults[] = {
    {"linger.ms", "1"},
    {"topic.metadata.propagation.max.ms", "1000"}, /* a partition that is not there is reported soon */
    {"topic.metadata.refresh.interval.ms", "10000"}, /* a topic that it may not write to is asked about again then */
    {"reconnect.backoff.max.ms", "2000"},
    {"message.max.bytes", "67108864"}, /* the broker, not the client, says what is too large */
};

static const struct kafka_handle_setting fixed[] = {
    {"enable.idempotence", "true"},
    {"acks", "all"},
    {"message.timeout.ms", "8000"}, /* REQUEST_SINK_TIMEOUT_MS: whoever asked has an answer then */
    {"queue.buffering.max.messages", "4096"},
    {"queue.buffering.max.kbytes", "65536"},
};

static rd_kafka_conf_t *configuration(const struct request_sink *sink, struct error *error)
{
    char client_id[300];
    rd_kafka_conf_t *conf = kafka_handle_conf(defaults, sizeof defaults / sizeof defaults[0], sink->properties, sink->property_count, fixed,
                                              sizeof fixed / sizeof fixed[0], error);
    if (conf == NULL) {
        return NULL;
    }
    snprintf(client_id, sizeof client_id, "tarry-%s-requests", sink->instance);
    if (!kafka_handle_set(conf, "client.id", client_id, error)) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR);
    return conf;
}

bool request_sink_open(const struct request_sink_options *options, struct request_sink **sink, struct error *error)
{
    struct request_sink *made = memory_new(1, sizeof *made);
    made->instance = memory_text(options->instance, strlen(options->instance));
    made->group = memory_text(options->group, strlen(options->group));
    made->properties = kafka_handle_properties(options->properties, options->property_count);
    made->property_count = options->property_count;
    atomic_init(&made->woken, false);
    pthread_mutex_init(&made->lock, NULL);
    thread_condition(&made->changed);
    rd_kafka_conf_t *conf = configuration(made, error);
    if (conf == NULL) {
        request_sink_close(made);
        return false;
    }
    rd_kafka_conf_destroy(conf);
    *sink = made;
    return true;
}

/* ------------------------------------------------------------------------------------------------- the thread */

static void forget_batch(struct request_sink *sink, const struct request_sink_batch *batch)
{
    struct request_sink_batch **place = &sink->batches;
    while (*place != batch) {
        place = &(*place)->next;
    }
    *place = batch->next;
}

static bool is_never(rd_kafka_resp_err_t code)
{
    switch ((int)code) {
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        return true;
    default:
        return false;
    }
}

/* In this order: what may stand is not called failed, whatever it failed of. */
static enum request_sink_result result_of(const rd_kafka_message_t *message)
{
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        return REQUEST_SINK_WRITTEN;
    }
    if (is_never(message->err)) {
        return REQUEST_SINK_NEVER;
    }
    return rd_kafka_message_status(message) == RD_KAFKA_MSG_STATUS_NOT_PERSISTED ? REQUEST_SINK_FAILED : REQUEST_SINK_UNKNOWN;
}

static void take_report(struct request_sink *sink, const rd_kafka_message_t *message)
{
    struct request_sink_ticket *ticket = message->_private;
    struct request_sink_batch *batch = ticket->batch;
    struct request_sink_answer *answer = &batch->answers[ticket - batch->tickets];
    answer->result = result_of(message);
    answer->offset = answer->result == REQUEST_SINK_WRITTEN ? message->offset : -1;
    snprintf(answer->text, sizeof answer->text, "%s", answer->result == REQUEST_SINK_WRITTEN ? "" : rd_kafka_err2str(message->err));
    ticket->answered = true;
    sink->bytes -= ticket->bytes;
    batch->outstanding--;
    if (batch->outstanding == 0 && batch->abandoned) {
        forget_batch(sink, batch);
        free(batch->answers);
        free(batch);
    }
}

static void take_reports(struct request_sink *sink, rd_kafka_event_t *event)
{
    const rd_kafka_message_t *message;
    pthread_mutex_lock(&sink->lock);
    while ((message = rd_kafka_event_message_next(event)) != NULL) {
        take_report(sink, message);
    }
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
}

static void take_error(struct request_sink *sink, rd_kafka_event_t *event)
{
    char words[256];
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR__FATAL || rd_kafka_fatal_error(sink->handle, words, sizeof words) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        return; /* brokers come and go: each record says what became of it */
    }
    log_write(LOG_LEVEL_WARNING, "request_producer_failed", NULL, 0, "the producer of the API's records is made anew with the next one: %s", words);
    pthread_mutex_lock(&sink->lock);
    sink->fatal = true;
    pthread_mutex_unlock(&sink->lock);
}

static bool goes_on(struct request_sink *sink, int64_t *end_ms)
{
    pthread_mutex_lock(&sink->lock);
    bool ends = sink->ends;
    pthread_mutex_unlock(&sink->lock);
    if (ends && *end_ms == 0) {
        *end_ms = kafka_handle_clock_ms() + END_MS;
    }
    return !ends || (rd_kafka_outq_len(sink->handle) > 0 && kafka_handle_clock_ms() < *end_ms);
}

static void *run(void *context)
{
    struct request_sink *sink = context;
    int64_t end_ms = 0;
    (void)pthread_setname_np(pthread_self(), "tarry-requests");
    while (goes_on(sink, &end_ms)) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(sink->queue, end_ms == 0 ? -1 : REQUEST_SINK_SLICE_MS);
        if (event == NULL) {
            continue; /* told to look up: request_sink_close */
        }
        if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR) {
            take_reports(sink, event);
        } else if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR) {
            take_error(sink, event);
        }
        rd_kafka_event_destroy(event);
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- the handle */

/* Nobody uses it. The lock is held, and given up meanwhile. */
static void take_down(struct request_sink *sink)
{
    sink->ends = true;
    sink->users++; /* who comes now waits for the new one */
    pthread_mutex_unlock(&sink->lock);
    rd_kafka_purge(sink->handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_NON_BLOCKING);
    rd_kafka_queue_yield(sink->queue);
    pthread_join(sink->thread, NULL);
    rd_kafka_queue_destroy(sink->queue);
    kafka_handle_destroy_end(kafka_handle_destroy_begin(sink->handle), END_MS);
    pthread_mutex_lock(&sink->lock);
    sink->users--;
    sink->handle = NULL;
    sink->queue = NULL;
    sink->ends = false;
    sink->fatal = false;
}

static bool bring_up(struct request_sink *sink, struct error *error)
{
    rd_kafka_conf_t *conf = configuration(sink, error);
    rd_kafka_t *handle = conf == NULL ? NULL : kafka_handle_new(RD_KAFKA_PRODUCER, conf, error);
    if (handle == NULL) {
        return false;
    }
    sink->handle = handle;
    sink->queue = rd_kafka_queue_get_main(handle);
    if (!thread_start(&sink->thread, run, sink)) {
        rd_kafka_queue_destroy(sink->queue);
        kafka_handle_destroy(handle);
        sink->handle = NULL;
        sink->queue = NULL;
        return error_set(error, ERROR_UNAVAILABLE, "the system has no thread for the producer of the API's records; raise the limit of processes (ulimit -u)");
    }
    return true;
}

static bool is_woken(struct request_sink *sink, struct error *error)
{
    return atomic_load(&sink->woken) && !error_set(error, ERROR_UNAVAILABLE, "tarry is stopping");
}

rd_kafka_t *request_sink_use(struct request_sink *sink, struct error *error)
{
    rd_kafka_t *handle = NULL;
    pthread_mutex_lock(&sink->lock);
    if (sink->fatal && sink->users == 0) {
        take_down(sink);
    }
    if (sink->fatal) {
        error_set(error, ERROR_UNAVAILABLE, "the producer of the API's records is being made anew: try again");
    } else if (!is_woken(sink, error) && (sink->handle != NULL || bring_up(sink, error))) {
        handle = sink->handle;
        sink->users++;
    }
    pthread_mutex_unlock(&sink->lock);
    return handle;
}

void request_sink_release(struct request_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    sink->users--;
    pthread_mutex_unlock(&sink->lock);
}

void request_sink_wake(struct request_sink *sink)
{
    atomic_store(&sink->woken, true);
    pthread_mutex_lock(&sink->lock);
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
}

static void free_lists(struct request_sink *sink)
{
    for (struct request_sink_batch *batch = sink->batches; batch != NULL; batch = sink->batches) {
        sink->batches = batch->next;
        free(batch->answers);
        free(batch);
    }
    for (struct request_sink_topic *topic = sink->topics; topic != NULL; topic = sink->topics) {
        sink->topics = topic->next;
        free(topic);
    }
    request_sink_owner_forget(&sink->owners);
}

void request_sink_close(struct request_sink *sink)
{
    if (sink == NULL) {
        return;
    }
    request_sink_wake(sink);
    pthread_mutex_lock(&sink->lock);
    if (sink->handle != NULL) {
        take_down(sink);
    }
    pthread_mutex_unlock(&sink->lock);
    free_lists(sink);
    kafka_handle_properties_free(sink->properties, sink->property_count);
    free(sink->instance);
    free(sink->group);
    pthread_cond_destroy(&sink->changed);
    pthread_mutex_destroy(&sink->lock);
    free(sink);
}
