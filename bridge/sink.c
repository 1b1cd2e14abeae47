#include "bridge/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "bridge/kafka_handle.h"
#include "bridge/sink_failure.h"
#include "bridge/sink_state.h"

#define RECORDS_DEFAULT 100000u
#define RECORDS_MOST 10000000u
#define KBYTES_DEFAULT 131072u /* twice the largest record */
#define KBYTES_SPARE 131072u
#define KBYTES_MOST 2097151u

/* Our own defaults; each can be overridden by the user. */
static const struct kafka_handle_setting defaults[] = {
    {"partitioner", "murmur2_random"}, /* as Java's clients choose */
    {"linger.ms", "1"},
    /* None: an outage is waited out in librdkafka's queue, where the order stays. A message that times out there would be sent again behind
     * its successors. */
    {"message.timeout.ms", "0"},
    /* a topic that is not there is reported at once: waiting for it (unknown_topic_grace) is the core's affair */
    {"topic.metadata.propagation.max.ms", "1000"},
    /* and found soon after it was made */
    {"topic.metadata.refresh.interval.ms", "5000"},
    {"reconnect.backoff.max.ms", "2000"},
    /* The broker, not the client, says what is too large. Below its socket.request.max.bytes (100 MiB): a request beyond that is not
     * answered at all, and would be repeated for ever. */
    {"message.max.bytes", "67108864"},
};

#define DEFAULTS (sizeof defaults / sizeof defaults[0])

static const struct kafka_handle_setting fixed[] = {
    {"enable.idempotence", "true"},
    {"acks", "all"},
};

/* The local queue holds all that may be in flight, within librdkafka's own limits: what stands still must not keep the rest out. */
static void queue_size(const struct sink *sink, char *messages, char *kbytes, size_t size)
{
    uint64_t records = sink->records_max == 0 ? RECORDS_DEFAULT : sink->records_max;
    uint64_t kib = sink->bytes_max == 0 ? KBYTES_DEFAULT : sink->bytes_max / 1024 + KBYTES_SPARE;
    snprintf(messages, size, "%" PRIu64, records < RECORDS_MOST ? records : RECORDS_MOST);
    snprintf(kbytes, size, "%" PRIu64, kib < KBYTES_MOST ? kib : KBYTES_MOST);
}

static rd_kafka_conf_t *configuration(const struct sink *sink, enum sink_way way, struct error *error)
{
    struct kafka_handle_setting all[DEFAULTS + 2];
    char messages[24];
    char kbytes[24];
    memcpy(all, defaults, sizeof defaults);
    queue_size(sink, messages, kbytes, sizeof messages);
    all[DEFAULTS] = (struct kafka_handle_setting){"queue.buffering.max.messages", messages};
    all[DEFAULTS + 1] = (struct kafka_handle_setting){"queue.buffering.max.kbytes", kbytes};
    rd_kafka_conf_t *conf = kafka_handle_conf(all, DEFAULTS + 2, sink->properties, sink->property_count, fixed,
                                              sizeof fixed / sizeof fixed[0], error);
    if (conf == NULL) {
        return NULL;
    }
    char client_id[300];
    snprintf(client_id, sizeof client_id, "tarry-%s%s", sink->instance, way == SINK_WAY_ALONE ? "-alone" : "");
    rd_kafka_conf_set(conf, "client.id", client_id, NULL, 0);
    if (way == SINK_WAY_ALONE) {
        rd_kafka_conf_set(conf, "batch.num.messages", "1", NULL, 0);
    }
    rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR);
    return conf;
}

bool sink_open_way(struct sink *sink, enum sink_way way, struct error *error)
{
    rd_kafka_conf_t *conf = configuration(sink, way, error);
    rd_kafka_t *handle = conf == NULL ? NULL : kafka_handle_new(RD_KAFKA_PRODUCER, conf, error);
    if (handle == NULL) {
        return false;
    }
    struct sink_producer *producer = &sink->producers[way];
    producer->handle = handle;
    producer->queue = rd_kafka_queue_get_main(handle);
    if (sink->wake_fd >= 0) {
        uint64_t one = 1;
        rd_kafka_queue_io_event_enable(producer->queue, sink->wake_fd, &one, sizeof one);
    }
    return true;
}

static void keep_options(struct sink *sink, const struct sink_options *options)
{
    sink->wake_fd = options->wake_fd;
    sink->records_max = options->records_max;
    sink->bytes_max = options->bytes_max;
    sink->instance = memory_text(options->instance, strlen(options->instance));
    sink->properties = memory_new(options->property_count, sizeof *sink->properties);
    sink->property_count = options->property_count;
    for (size_t i = 0; i < options->property_count; i++) {
        const struct kafka_property *property = &options->properties[i];
        sink->properties[i].name = memory_text(property->name, strlen(property->name));
        sink->properties[i].value = memory_text(property->value, strlen(property->value));
    }
}

bool sink_open(const struct sink_options *options, struct sink **sink, struct error *error)
{
    struct sink *made = memory_new(1, sizeof *made);
    keep_options(made, options);
    if (!sink_open_way(made, SINK_WAY_BATCHED, error)) {
        sink_close(made);
        return false;
    }
    *sink = made;
    return true;
}

static void close_producer(struct sink_producer *producer)
{
    if (producer->handle == NULL) {
        return;
    }
    if (producer->event != NULL) {
        rd_kafka_event_destroy(producer->event);
    }
    rd_kafka_purge(producer->handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_queue_io_event_enable(producer->queue, -1, NULL, 0);
    rd_kafka_queue_destroy(producer->queue);
    kafka_handle_destroy(producer->handle);
}

void sink_close(struct sink *sink)
{
    if (sink == NULL) {
        return;
    }
    sink_topic_free_all(sink);
    for (size_t way = 0; way < SINK_WAYS; way++) {
        close_producer(&sink->producers[way]);
    }
    for (size_t i = 0; i < sink->property_count; i++) {
        free((void *)(uintptr_t)sink->properties[i].name); /* ours: only the struct calls them const */
        free((void *)(uintptr_t)sink->properties[i].value);
    }
    free(sink->properties);
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
    report->delivered = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    report->failure = report->delivered ? DELIVERY_RETRIABLE : sink_failure_of(message->err);
    report->target_hash = sink_target_hash(span_of_text(rd_kafka_topic_name(message->rkt)));
    report->offset = message->offset >= 0 ? message->offset : -1;
    report->partition = message->partition;
    report->error[0] = '\0';
    if (!report->delivered) {
        snprintf(report->error, sizeof report->error, "%s: %s", rd_kafka_err2name(message->err), rd_kafka_err2str(message->err));
    }
}

/* False: it goes again and is not to be reported yet. */
static bool report_on(struct sink *sink, enum sink_way way, const rd_kafka_message_t *message, struct sink_report *report)
{
    fill(message, report);
    sink->queued_messages--;
    sink->queued_bytes -= message->key_len + message->len;
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
                      "%s", rd_kafka_event_error_string(event));
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
    size_t count = poll_way(sink, SINK_WAY_BATCHED, reports, most);
    if (sink->producers[SINK_WAY_ALONE].handle != NULL) {
        count += poll_way(sink, SINK_WAY_ALONE, reports + count, most - count);
    }
    return count;
}

bool sink_fatal(struct sink *sink, char *text, size_t size)
{
    for (size_t way = 0; way < SINK_WAYS; way++) {
        rd_kafka_t *handle = sink->producers[way].handle;
        if (handle != NULL && rd_kafka_fatal_error(handle, text, size) != RD_KAFKA_RESP_ERR_NO_ERROR) {
            return true;
        }
    }
    return false;
}

void sink_queue(const struct sink *sink, size_t *messages, size_t *bytes)
{
    *messages = sink->queued_messages;
    *bytes = sink->queued_bytes;
}
