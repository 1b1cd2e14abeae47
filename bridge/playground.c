#include "bridge/playground.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "bridge/kafka_handle.h"
#include "bridge/source_state.h"

#define TROUBLE_MAX 256

struct playground {
    rd_kafka_t *producer;
    size_t failed; /* records of which the delivery report says no */
    rd_kafka_resp_err_t failure;

    rd_kafka_t *reader;
    rd_kafka_queue_t *queue;
    rd_kafka_topic_t **topics;
    int32_t *partitions;
    size_t topic_count;
    rd_kafka_message_t *borrowed;
    struct record_header *headers;
    size_t header_room;
    char trouble[TROUBLE_MAX];
};

static void on_report(rd_kafka_t *handle, const rd_kafka_message_t *message, void *opaque)
{
    struct playground *playground = opaque;
    (void)handle;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        playground->failed++;
        playground->failure = message->err;
    }
}

static const struct kafka_handle_setting producer_settings[] = {{"client.id", "tarry-demo"},
                                                                {"acks", "all"},
                                                                {"enable.idempotence", "true"},
                                                                {"linger.ms", "0"},
                                                                {"partitioner", "murmur2_random"}};

#define PRODUCER_SETTINGS (sizeof producer_settings / sizeof producer_settings[0])

static rd_kafka_conf_t *
conf_new(const char *bootstrap, const struct kafka_handle_setting *settings, size_t count, struct error *error)
{
    const struct kafka_property properties[] = {{"bootstrap.servers", bootstrap}};
    return kafka_handle_conf(NULL, 0, properties, 1, settings, count, error);
}

static rd_kafka_conf_t *reader_conf(const struct playground_options *options, struct error *error)
{
    char wait[16];
    snprintf(wait, sizeof wait, "%d", options->fetch_wait_ms);
    const struct kafka_handle_setting settings[] = {{"client.id", "tarry-demo"},
                                                    {"isolation.level", "read_committed"},
                                                    {"auto.offset.reset", "earliest"},
                                                    {"fetch.wait.max.ms", wait},
                                                    {"fetch.error.backoff.ms", "10"}};
    return conf_new(options->bootstrap, settings, sizeof settings / sizeof settings[0], error);
}

static bool open_producer(struct playground *playground, const char *bootstrap, struct error *error)
{
    rd_kafka_conf_t *conf = conf_new(bootstrap, producer_settings, PRODUCER_SETTINGS, error);
    if (conf == NULL) {
        return false;
    }
    rd_kafka_conf_set_opaque(conf, playground);
    rd_kafka_conf_set_dr_msg_cb(conf, on_report);
    playground->producer = kafka_handle_new(RD_KAFKA_PRODUCER, conf, error);
    return playground->producer != NULL;
}

static bool start(struct playground *playground, const struct playground_topic *subject, struct error *error)
{
    rd_kafka_topic_t *topic = rd_kafka_topic_new(playground->reader, subject->name, NULL);
    if (topic == NULL) {
        return error_set(error, ERROR_INVALID, "topic %s: %s", subject->name, rd_kafka_err2str(rd_kafka_last_error()));
    }
    playground->topics[playground->topic_count] = topic;
    playground->partitions[playground->topic_count] = subject->partitions;
    playground->topic_count++;
    for (int32_t i = 0; i < subject->partitions; i++) {
        if (rd_kafka_consume_start_queue(topic, i, RD_KAFKA_OFFSET_BEGINNING, playground->queue) != 0) {
            return error_set(error, ERROR_INVALID, "reading topic %s: %s", subject->name,
                             rd_kafka_err2str(rd_kafka_last_error()));
        }
    }
    return true;
}

static bool open_reader(struct playground *playground, const struct playground_options *options, struct error *error)
{
    rd_kafka_conf_t *conf = reader_conf(options, error);
    playground->reader = conf == NULL ? NULL : kafka_handle_new(RD_KAFKA_CONSUMER, conf, error);
    if (playground->reader == NULL) {
        return false;
    }
    playground->queue = rd_kafka_queue_new(playground->reader);
    if (options->wake_fd >= 0) {
        uint64_t one = 1;
        rd_kafka_queue_io_event_enable(playground->queue, options->wake_fd, &one, sizeof one);
    }
    playground->topics = memory_new(options->topic_count, sizeof(rd_kafka_topic_t *));
    playground->partitions = memory_new(options->topic_count, sizeof *playground->partitions);
    for (size_t i = 0; i < options->topic_count; i++) {
        if (!start(playground, &options->topics[i], error)) {
            return false;
        }
    }
    return true;
}

bool playground_open(const struct playground_options *options, struct playground **playground, struct error *error)
{
    struct playground *made = memory_new(1, sizeof *made);
    if (!open_producer(made, options->bootstrap, error) || !open_reader(made, options, error)) {
        playground_close(made);
        return false;
    }
    *playground = made;
    return true;
}

static void give_back(struct playground *playground)
{
    if (playground->borrowed != NULL) {
        rd_kafka_message_destroy(playground->borrowed);
        playground->borrowed = NULL;
    }
}

static void close_reader(struct playground *playground)
{
    if (playground->queue != NULL) {
        rd_kafka_queue_io_event_enable(playground->queue, -1, NULL, 0);
    }
    for (size_t i = 0; i < playground->topic_count; i++) {
        for (int32_t j = 0; j < playground->partitions[i]; j++) {
            (void)rd_kafka_consume_stop(playground->topics[i], j);
        }
        rd_kafka_topic_destroy(playground->topics[i]);
    }
    if (playground->queue != NULL) {
        rd_kafka_queue_destroy(playground->queue);
    }
    if (playground->reader != NULL) {
        rd_kafka_destroy(playground->reader);
    }
}

void playground_close(struct playground *playground)
{
    if (playground == NULL) {
        return;
    }
    give_back(playground);
    close_reader(playground);
    if (playground->producer != NULL) {
        (void)rd_kafka_purge(playground->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_destroy(playground->producer);
    }
    free(playground->topics);
    free(playground->partitions);
    free(playground->headers);
    free(playground);
}

static rd_kafka_headers_t *headers_of(const struct record *record)
{
    rd_kafka_headers_t *list = rd_kafka_headers_new(record->header_count);
    for (size_t i = 0; i < record->header_count; i++) {
        const struct record_header *header = &record->headers[i];
        (void)rd_kafka_header_add(list, (const char *)header->name.data, (ssize_t)header->name.length,
                                  header->value.data, (ssize_t)header->value.length);
    }
    return list;
}

bool playground_send(struct playground *playground, const char *topic, const struct record *record, struct error *error)
{
    rd_kafka_headers_t *headers = headers_of(record);
    /* librdkafka copies (F_COPY); its interface is without const */
    rd_kafka_resp_err_t code = rd_kafka_producev(
        playground->producer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(record->key.data, record->key.length),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)record->value.data, record->value.length),
        RD_KAFKA_V_TIMESTAMP(record->timestamp == RECORD_TIMESTAMP_NONE ? 0 : record->timestamp_ms),
        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        return true;
    }
    rd_kafka_headers_destroy(headers);
    return error_set(error, code == RD_KAFKA_RESP_ERR__QUEUE_FULL ? ERROR_FULL : ERROR_INVALID, "producing to %s: %s",
                     topic, rd_kafka_err2str(code));
}

bool playground_flush(struct playground *playground, int timeout_ms, struct error *error)
{
    if (rd_kafka_flush(playground->producer, timeout_ms) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return error_set(error, ERROR_UNAVAILABLE, "%d records were not acknowledged within %d ms",
                         rd_kafka_outq_len(playground->producer), timeout_ms);
    }
    if (playground->failed > 0) {
        return error_set(error, ERROR_UNAVAILABLE, "%zu records were not taken: %s", playground->failed,
                         rd_kafka_err2str(playground->failure));
    }
    return true;
}

bool playground_poll(struct playground *playground, struct playground_arrival *arrival)
{
    give_back(playground);
    (void)rd_kafka_poll(playground->reader, 0);
    (void)rd_kafka_poll(playground->producer, 0);
    while ((playground->borrowed = rd_kafka_consume_queue(playground->queue, 0)) != NULL) {
        if (playground->borrowed->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            arrival->topic = rd_kafka_topic_name(playground->borrowed->rkt);
            arrival->partition = playground->borrowed->partition;
            source_record_fill(playground->borrowed, &arrival->record, &playground->headers, &playground->header_room);
            return true;
        }
        snprintf(playground->trouble, sizeof playground->trouble, "%s", rd_kafka_message_errstr(playground->borrowed));
        give_back(playground);
    }
    return false;
}

const char *playground_trouble(const struct playground *playground)
{
    return playground->trouble;
}

static bool read_answer(rd_kafka_event_t *event, struct error *error)
{
    if (event == NULL) {
        return error_set(error, ERROR_UNAVAILABLE, "deleting topics: no answer in time");
    }
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return error_set(error, ERROR_UNAVAILABLE, "deleting topics: %s", rd_kafka_event_error_string(event));
    }
    size_t count = 0;
    const rd_kafka_topic_result_t **results =
        rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count);
    for (size_t i = 0; i < count; i++) {
        rd_kafka_resp_err_t code = rd_kafka_topic_result_error(results[i]);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR && code != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
            return error_set(error, ERROR_UNAVAILABLE, "deleting topic %s: %s", rd_kafka_topic_result_name(results[i]),
                             rd_kafka_err2str(code));
        }
    }
    return true;
}

static bool
drop(rd_kafka_t *handle, const struct playground_topic *topics, size_t topic_count, int timeout_ms, struct error *error)
{
    rd_kafka_DeleteTopic_t **requests = memory_new(topic_count, sizeof(rd_kafka_DeleteTopic_t *));
    for (size_t i = 0; i < topic_count; i++) {
        requests[i] = rd_kafka_DeleteTopic_new(topics[i].name);
    }
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_DELETETOPICS);
    (void)rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, NULL, 0);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    rd_kafka_DeleteTopics(handle, requests, topic_count, options, queue);
    /* the request ends by its own timeout; the second is for its way back */
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, timeout_ms + 1000);
    bool done = read_answer(event, error);
    if (event != NULL) {
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_DeleteTopic_destroy_array(requests, topic_count);
    free(requests);
    return done;
}

bool playground_drop_topics(const char *bootstrap,
                            const struct playground_topic *topics,
                            size_t topic_count,
                            int timeout_ms,
                            struct error *error)
{
    if (topic_count == 0) {
        return true;
    }
    rd_kafka_conf_t *conf = conf_new(bootstrap, producer_settings, PRODUCER_SETTINGS, error);
    rd_kafka_t *handle = conf == NULL ? NULL : kafka_handle_new(RD_KAFKA_PRODUCER, conf, error);
    if (handle == NULL) {
        return false;
    }
    bool done = drop(handle, topics, topic_count, timeout_ms, error);
    rd_kafka_destroy(handle);
    return done;
}
