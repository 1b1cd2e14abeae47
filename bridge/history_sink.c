/* Kafka out for the record of outcomes: see history_sink.h. */
#include "bridge/history_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "bridge/kafka_handle.h"
#include "bridge/target.h"

#define FLUSH_MS 1000
#define CLOSE_MS 2000
#define WAIT_SLICE_MS 20
#define REST_FIRST_MS 1000 /* before a producer that has failed is made anew; doubled each time until something is delivered */
#define REST_MOST_MS 60000
#define TELL_MS 60000

#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number

struct history_sink {
    rd_kafka_t *handle; /* NULL: has failed, and is not made anew yet */
    rd_kafka_queue_t *queue;
    struct kafka_handle_ending *ending; /* of the one before */
    struct kafka_property *properties;
    size_t property_count;
    char *client;
    char *topic;
    int wake_fd;
    uint64_t queued;  /* taken by this producer and not reported */
    int64_t again_ms; /* without one: when to make it */
    int64_t rest_ms;
    uint64_t untold; /* failed since it was last told of */
    int64_t tell_ms; /* not told of before */
    struct history_sink_counts counts; /* since the last poll of the owner */
};

/* Why the first ones: bridge/sink_open.c. A batch is small: a broker refuses one that is larger than the topic's limit, and all in it with it. */
static const struct kafka_handle_setting defaults[] = {
    {"partitioner", "murmur2_random"},
    {"topic.metadata.refresh.interval.ms", "5000"},
    {"reconnect.backoff.max.ms", "2000"},
    {"linger.ms", "20"},
    {"batch.size", "65536"},
};

/* Its memory is bounded whatever the user's producers may use. */
static const struct kafka_handle_setting fixed[] = {
    {"enable.idempotence", "true"},
    {"acks", "all"},
    {"queue.buffering.max.messages", TEXT_OF(HISTORY_SINK_RECORDS_MAX)},
    {"queue.buffering.max.kbytes", TEXT_OF(HISTORY_SINK_KBYTES_MAX)},
};

/* ------------------------------------------------------------------------------------------------- the producer */

static bool make(struct history_sink *sink, struct error *error)
{
    rd_kafka_conf_t *conf = kafka_handle_conf(defaults, sizeof defaults / sizeof defaults[0], sink->properties, sink->property_count, fixed,
                                              sizeof fixed / sizeof fixed[0], error);
    if (conf == NULL) {
        return false;
    }
    if (!kafka_handle_set(conf, "client.id", sink->client, error)) {
        rd_kafka_conf_destroy(conf);
        return false;
    }
    rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR);
    sink->handle = kafka_handle_new(RD_KAFKA_PRODUCER, conf, error);
    if (sink->handle == NULL) {
        return false;
    }
    sink->queue = rd_kafka_queue_get_main(sink->handle);
    if (sink->wake_fd >= 0) {
        uint64_t one = 1;
        rd_kafka_queue_io_event_enable(sink->queue, sink->wake_fd, &one, sizeof one);
    }
    return true;
}

/* Begins the producer's end: what it has and did not report has failed. */
static void unmake(struct history_sink *sink)
{
    rd_kafka_purge(sink->handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_queue_io_event_enable(sink->queue, -1, NULL, 0);
    rd_kafka_queue_destroy(sink->queue);
    kafka_handle_destroy_end(sink->ending, 0);
    sink->ending = kafka_handle_destroy_begin(sink->handle);
    sink->handle = NULL;
    sink->counts.failed += sink->queued;
    sink->untold += sink->queued;
    sink->queued = 0;
}

static void rest(struct history_sink *sink, const char *why)
{
    log_write(LOG_LEVEL_WARNING, "history_producer", LOG_FIELDS(LOG_TEXT("topic", sink->topic), LOG_NUMBER("again_ms", sink->rest_ms)),
              "outcomes are not written to the history topic for a while; nothing else is touched by that: %s", why);
    sink->again_ms = kafka_handle_clock_ms() + sink->rest_ms;
    sink->rest_ms = sink->rest_ms * 2 < REST_MOST_MS ? sink->rest_ms * 2 : REST_MOST_MS;
}

/* A producer that is at its end goes, and another one comes when it is time. */
static void look_after(struct history_sink *sink)
{
    char words[512];
    struct error error;
    if (sink->handle != NULL && rd_kafka_fatal_error(sink->handle, words, sizeof words) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        unmake(sink);
        rest(sink, words);
    }
    if (sink->handle == NULL && kafka_handle_clock_ms() >= sink->again_ms && !make(sink, &error)) {
        rest(sink, error.text);
    }
}

/* ------------------------------------------------------------------------------------------------- opening and closing */

static void free_sink(struct history_sink *sink)
{
    kafka_handle_properties_free(sink->properties, sink->property_count);
    free(sink->client);
    free(sink->topic);
    free(sink);
}

bool history_sink_open(const struct history_sink_options *options, struct history_sink **sink, struct error *error)
{
    char client[300];
    if (!target_name_valid(span_of_text(options->topic))) {
        return error_set(error, ERROR_INVALID, "\"%s\" is no legal topic name", options->topic);
    }
    snprintf(client, sizeof client, "tarry-%s-history", options->instance);
    struct history_sink *made = memory_new(1, sizeof *made);
    made->properties = kafka_handle_properties(options->properties, options->property_count);
    made->property_count = options->property_count;
    made->client = memory_text(client, strlen(client));
    made->topic = memory_text(options->topic, strlen(options->topic));
    made->wake_fd = options->wake_fd;
    made->rest_ms = REST_FIRST_MS;
    if (!make(made, error)) {
        free_sink(made);
        return false;
    }
    *sink = made;
    return true;
}

static void take_reports(struct history_sink *sink, int timeout_ms);

static void flush(struct history_sink *sink, int64_t end_ms)
{
    while (sink->handle != NULL && sink->queued > 0 && kafka_handle_clock_ms() < end_ms) {
        take_reports(sink, WAIT_SLICE_MS);
    }
}

void history_sink_close(struct history_sink *sink)
{
    if (sink == NULL) {
        return;
    }
    int64_t begin_ms = kafka_handle_clock_ms();
    flush(sink, begin_ms + FLUSH_MS);
    if (sink->handle != NULL) {
        unmake(sink);
    }
    int64_t left_ms = begin_ms + CLOSE_MS - kafka_handle_clock_ms();
    kafka_handle_destroy_end(sink->ending, left_ms > 0 ? (int)left_ms : 0);
    free_sink(sink);
}

/* ------------------------------------------------------------------------------------------------- records */

bool history_sink_send(struct history_sink *sink, struct span key, struct span value)
{
    if (sink->handle == NULL) {
        return false;
    }
    /* copied at once (MSG_F_COPY); the interface only lacks the const */
    rd_kafka_resp_err_t code = rd_kafka_producev(sink->handle, RD_KAFKA_V_TOPIC(sink->topic), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                                 RD_KAFKA_V_KEY(key.data, key.length),
                                                 RD_KAFKA_V_VALUE((void *)(uintptr_t)value.data, value.length), RD_KAFKA_V_END);
    sink->queued += code == RD_KAFKA_RESP_ERR_NO_ERROR;
    return code == RD_KAFKA_RESP_ERR_NO_ERROR;
}

static void tell(struct history_sink *sink, rd_kafka_resp_err_t code)
{
    int64_t now_ms = kafka_handle_clock_ms();
    if (now_ms < sink->tell_ms) {
        return;
    }
    log_write(LOG_LEVEL_WARNING, "history_failed",
              LOG_FIELDS(LOG_TEXT("topic", sink->topic), LOG_NUMBER("records", sink->untold), LOG_TEXT("error", rd_kafka_err2name(code))),
              "outcomes did not get into the history topic (nothing else is touched by that): %s", rd_kafka_err2str(code));
    sink->tell_ms = now_ms + TELL_MS;
    sink->untold = 0;
}

static void take_report(struct history_sink *sink, const rd_kafka_message_t *message)
{
    sink->queued--;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        sink->counts.delivered++;
        sink->rest_ms = REST_FIRST_MS;
        return;
    }
    sink->counts.failed++;
    sink->untold++;
    tell(sink, message->err);
}

/* All there are now, waiting so long for the first. */
static void take_reports(struct history_sink *sink, int timeout_ms)
{
    rd_kafka_event_t *event;
    while ((event = rd_kafka_queue_poll(sink->queue, timeout_ms)) != NULL) {
        const rd_kafka_message_t *message;
        while (rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR && (message = rd_kafka_event_message_next(event)) != NULL) {
            take_report(sink, message);
        }
        if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR) {
            log_write(LOG_LEVEL_DEBUG, "history_producer", LOG_FIELDS(LOG_TEXT("code", rd_kafka_err2name(rd_kafka_event_error(event)))), "%s",
                      rd_kafka_event_error_string(event));
        }
        rd_kafka_event_destroy(event);
        timeout_ms = 0;
    }
}

void history_sink_poll(struct history_sink *sink, struct history_sink_counts *counts)
{
    if (sink->handle != NULL) {
        take_reports(sink, 0);
    }
    look_after(sink);
    counts->delivered += sink->counts.delivered;
    counts->failed += sink->counts.failed;
    sink->counts = (struct history_sink_counts){0};
}
