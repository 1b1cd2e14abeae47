#include "bridge/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "bridge/kafka_handle.h"
#include "bridge/sink_failure.h"
#include "bridge/sink_state.h"
#include "bridge/sink_transaction_state.h"

#define CLOSE_MS 5000

/* Begins its end; NULL: there is nothing to wait for. */
static struct kafka_handle_ending *close_producer(struct sink_producer *producer)
{
    if (producer->handle == NULL) {
        return NULL;
    }
    if (producer->event != NULL) {
        rd_kafka_event_destroy(producer->event);
    }
    rd_kafka_purge(producer->handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_queue_io_event_enable(producer->queue, -1, NULL, 0);
    rd_kafka_queue_destroy(producer->queue);
    return kafka_handle_destroy_begin(producer->handle);
}

/* All at the same time: they would wait for the same brokers one after the other. */
static void close_producers(struct sink *sink)
{
    struct kafka_handle_ending *endings[SINK_WAYS];
    for (size_t way = 0; way < SINK_WAYS; way++) {
        endings[way] = close_producer(&sink->producers[way]);
    }
    int64_t end_ms = kafka_handle_clock_ms() + CLOSE_MS;
    for (size_t way = 0; way < SINK_WAYS; way++) {
        int64_t left_ms = end_ms - kafka_handle_clock_ms();
        kafka_handle_destroy_end(endings[way], left_ms > 0 ? (int)left_ms : 0);
    }
}

void sink_close(struct sink *sink)
{
    if (sink == NULL) {
        return;
    }
    sink_topic_free_all(sink);
    sink_transaction_close(sink);
    close_producers(sink);
    kafka_handle_properties_free(sink->properties, sink->property_count);
    free(sink->transactional_id);
    free(sink->instance);
    free(sink);
}

/* ------------------------------------------------------------------------------------------------- reports */

static struct span span_of(const void *data, size_t length)
{
    return (struct span){data, length};
}

/* A batch was refused for one of its records: this one goes again, alone, and its topic's others from now on too. True: taken, its report
 * will come. */
static bool send_alone(struct sink *sink, const rd_kafka_message_t *message)
{
    if (sink->producers[SINK_WAY_ALONE].handle == NULL && !sink_open_way(sink, SINK_WAY_ALONE, NULL)) {
        return false;
    }
    struct sink_topic *topic = sink_topic_get(sink, span_of_text(rd_kafka_topic_name(message->rkt)));
    if (topic == NULL) {
        return false;
    }
    topic->alone = true;
    rd_kafka_headers_t *headers = NULL;
    rd_kafka_headers_t *copy = rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR ? rd_kafka_headers_copy(headers)
                                                                                                         : rd_kafka_headers_new(0);
    struct sink_report unused;
    return sink_send_on(sink, SINK_WAY_ALONE, topic, message->partition, span_of(message->key, message->key_len),
                        span_of(message->payload, message->len), copy, message->_private, &unused) == SINK_TAKEN;
}

static void fill(const rd_kafka_message_t *message, struct sink_report *report)
{
    report->token = message->_private;
    report->copy = false;
    report->delivered = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    report->failure = report->delivered ? DELIVERY_RETRIABLE : sink_failure_of(message->err);
    report->reason = report->failure == DELIVERY_FAULT ? sink_failure_reason(message->err) : NULL;
    report->target_hash = sink_target_hash(span_of_text(rd_kafka_topic_name(message->rkt)));
    report->offset = message->offset >= 0 ? message->offset : -1;
    report->partition = message->partition;
    report->error[0] = '\0';
    if (!report->delivered) {
        snprintf(report->error, sizeof report->error, "%s: %s", rd_kafka_err2name(message->err), rd_kafka_err2str(message->err));
    }
}

/* False: it goes again and is not to be reported yet, or is nobody's business. */
static bool report_on(struct sink *sink, enum sink_way way, const rd_kafka_message_t *message, struct sink_report *report)
{
    fill(message, report);
    sink->producers[way].queued--;
    sink->queued_messages--;
    sink->queued_bytes -= message->key_len + message->len;
    if (sink_way_transactional(way)) {
        return sink_transaction_report(sink, way, message->err, report);
    }
    if (way == SINK_WAY_BATCHED && sink_failure_of_batch(message->err)) {
        if (send_alone(sink, message)) {
            return false;
        }
        report->failure = DELIVERY_RETRIABLE; /* it may be innocent: the core sends it again */
    }
    return true;
}

/* The producer's next event with reports, or NULL. Others are said and dropped. */
static rd_kafka_event_t *next_event(struct sink_producer *producer)
{
    rd_kafka_event_t *event;
    while ((event = rd_kafka_queue_poll(producer->queue, 0)) != NULL) {
        if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR) {
            return event;
        }
        if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR) {
            log_write(LOG_LEVEL_WARNING, "kafka_producer", LOG_FIELDS(LOG_TEXT("code", rd_kafka_err2name(rd_kafka_event_error(event)))),
                      "the Kafka producer reports trouble, and goes on by itself: %s", rd_kafka_event_error_string(event));
        }
        rd_kafka_event_destroy(event);
    }
    return NULL;
}

/* An event's messages count against the local queue until it is destroyed: at once, or a full queue would have no report left to wait for. */
static void drop_if_read(struct sink_producer *producer)
{
    if (rd_kafka_event_message_count(producer->event) == 0) {
        rd_kafka_event_destroy(producer->event);
        producer->event = NULL;
    }
}

static size_t poll_way(struct sink *sink, enum sink_way way, struct sink_report *reports, size_t most)
{
    struct sink_producer *producer = &sink->producers[way];
    size_t count = 0;
    while (count < most) {
        if (producer->event == NULL && (producer->event = next_event(producer)) == NULL) {
            break;
        }
        const rd_kafka_message_t *message = rd_kafka_event_message_next(producer->event);
        if (message != NULL && report_on(sink, way, message, &reports[count])) {
            count++;
        }
        drop_if_read(producer);
    }
    return count;
}

size_t sink_poll(struct sink *sink, struct sink_report *reports, size_t most)
{
    size_t count = 0;
    for (size_t way = 0; way < SINK_WAYS; way++) {
        if (sink->producers[way].handle != NULL) {
            count += poll_way(sink, (enum sink_way)way, reports + count, most - count);
        }
    }
    if (sink->transaction != NULL) {
        count += sink_copy_poll(&sink->transaction->copies, reports + count, most - count);
    }
    return count + sink_transaction_hold_poll(sink, reports + count, most - count);
}

void sink_drain(struct sink *sink, enum sink_way way)
{
    struct sink_report dropped[16];
    while (sink->producers[way].handle != NULL && poll_way(sink, way, dropped, 16) > 0) {
    }
}

bool sink_fatal(struct sink *sink, char *text, size_t size)
{
    for (size_t way = 0; way < SINK_WAYS; way++) {
        rd_kafka_t *handle = sink->producers[way].handle;
        char words[512];
        rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
        if (sink_way_transactional((enum sink_way)way) && !sink_transaction_needed(sink)) {
            continue; /* says so itself: sink_transaction_trouble */
        }
        if (handle != NULL && (code = rd_kafka_fatal_error(handle, words, sizeof words)) != RD_KAFKA_RESP_ERR_NO_ERROR) {
            sink_failure_fatal(code, words, text, size);
            return true;
        }
    }
    return sink_transaction_fatal(sink, text, size);
}

void sink_queue(const struct sink *sink, size_t *messages, size_t *bytes)
{
    *messages = sink->queued_messages;
    *bytes = sink->queued_bytes;
}
