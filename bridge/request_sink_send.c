/* Records on their way: handed to librdkafka, waited for; how many partitions a topic has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "bridge/kafka_handle.h"
#include "bridge/request_sink_state.h"

#define RECORDS_MOST 4096u                 /* as queue.buffering.max.messages */
#define BYTES_MOST ((size_t)48 << 20)      /* some less than queue.buffering.max.kbytes: headers and what librdkafka adds count there */
#define PARTITIONS_FRESH_MS 5000
#define WOKEN_MS 500

int32_t request_sink_partition_of(struct span bytes, int32_t partitions)
{
    return rd_kafka_msg_partitioner_murmur2(NULL, bytes.data, bytes.length, partitions, NULL, NULL); /* it looks at no topic */
}

/* ------------------------------------------------------------------------------------------------- sending */

static size_t size_of(const struct request_sink_record *record)
{
    size_t size = record->key.length + record->value.length;
    for (size_t i = 0; i < record->header_count; i++) {
        size += record->headers[i].name.length + record->headers[i].value.length;
    }
    return size;
}

static rd_kafka_headers_t *headers_of(const struct request_sink_record *record)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(record->header_count);
    for (size_t i = 0; i < record->header_count; i++) {
        const struct record_header *header = &record->headers[i];
        bool null = header->value.data == NULL;
        rd_kafka_header_add(headers, (const char *)header->name.data, (ssize_t)header->name.length, null ? NULL : header->value.data,
                            null ? 0 : (ssize_t)header->value.length);
    }
    return headers;
}

static rd_kafka_resp_err_t produce(rd_kafka_t *handle, const struct request_sink_record *record, struct request_sink_ticket *ticket)
{
    rd_kafka_headers_t *headers = headers_of(record);
    rd_kafka_resp_err_t code =
        rd_kafka_producev(handle, RD_KAFKA_V_TOPIC(record->topic), RD_KAFKA_V_PARTITION(record->partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                          RD_KAFKA_V_KEY(record->key.data, record->key.length), RD_KAFKA_V_VALUE((void *)(uintptr_t)record->value.data, record->value.length),
                          RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(ticket), RD_KAFKA_V_END);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_headers_destroy(headers);
    }
    return code;
}

/* What librdkafka did not even take. */
static void refuse(struct request_sink_answer *answer, rd_kafka_resp_err_t code)
{
    bool later = code == RD_KAFKA_RESP_ERR__QUEUE_FULL || code == RD_KAFKA_RESP_ERR__FATAL;
    answer->result = later ? REQUEST_SINK_FAILED : REQUEST_SINK_NEVER;
    answer->offset = -1;
    snprintf(answer->text, sizeof answer->text, "%s", rd_kafka_err2str(code));
}

static bool has_room(const struct request_sink *sink, rd_kafka_t *handle, const struct request_sink_record *records, size_t count, struct error *error)
{
    size_t bytes = sink->bytes;
    for (size_t i = 0; i < count; i++) {
        bytes += size_of(&records[i]);
    }
    return ((size_t)rd_kafka_outq_len(handle) + count <= RECORDS_MOST && bytes <= BYTES_MOST) ||
           error_set(error, ERROR_FULL, "too much that the API was asked to write waits for Kafka: try again later");
}

/* The lock is held. */
static struct request_sink_batch *hand_over(struct request_sink *sink, rd_kafka_t *handle, const struct request_sink_record *records, size_t count)
{
    struct request_sink_batch *batch = memory_new(1, sizeof *batch + count * sizeof batch->tickets[0]);
    batch->answers = memory_new(count, sizeof *batch->answers);
    batch->count = count;
    batch->next = sink->batches;
    sink->batches = batch;
    for (size_t i = 0; i < count; i++) {
        struct request_sink_ticket *ticket = &batch->tickets[i];
        *ticket = (struct request_sink_ticket){batch, size_of(&records[i]), false};
        rd_kafka_resp_err_t code = produce(handle, &records[i], ticket);
        ticket->answered = code != RD_KAFKA_RESP_ERR_NO_ERROR;
        if (ticket->answered) {
            refuse(&batch->answers[i], code);
        } else {
            batch->outstanding++;
            sink->bytes += ticket->bytes;
        }
    }
    return batch;
}

/* The lock is held. Takes the batch from the sink, or leaves it there until the last word on it. */
static void take_answers(struct request_sink *sink, struct request_sink_batch *batch, struct request_sink_answer *answers)
{
    for (size_t i = 0; i < batch->count; i++) {
        answers[i] = batch->answers[i];
        if (!batch->tickets[i].answered) {
            answers[i] = (struct request_sink_answer){REQUEST_SINK_UNKNOWN, -1, "Kafka did not answer in time"};
        }
    }
    batch->abandoned = batch->outstanding > 0;
    if (batch->abandoned) {
        return;
    }
    struct request_sink_batch **place = &sink->batches;
    while (*place != batch) {
        place = &(*place)->next;
    }
    *place = batch->next;
    free(batch->answers);
    free(batch);
}

/* At the end a little longer, too: brokers that answer do so within that, and then it is known. */
static void await(struct request_sink *sink, const struct request_sink_batch *batch, struct mono_ms deadline)
{
    int64_t left_ms;
    bool woken = false;
    while (batch->outstanding > 0 && (left_ms = deadline.ms - kafka_handle_clock_ms()) > 0) {
        if (!woken && atomic_load(&sink->woken)) {
            woken = true;
            deadline.ms = left_ms < WOKEN_MS ? deadline.ms : deadline.ms - left_ms + WOKEN_MS;
            continue;
        }
        struct timespec moment = thread_moment(left_ms);
        pthread_cond_timedwait(&sink->changed, &sink->lock, &moment);
    }
}

bool request_sink_send(struct request_sink *sink,
                       const struct request_sink_record *records,
                       size_t count,
                       struct mono_ms deadline,
                       struct request_sink_answer *answers,
                       struct error *error)
{
    rd_kafka_t *handle = request_sink_use(sink, error);
    if (handle == NULL) {
        return false;
    }
    pthread_mutex_lock(&sink->lock);
    bool sent = has_room(sink, handle, records, count, error);
    if (sent) {
        struct request_sink_batch *batch = hand_over(sink, handle, records, count);
        await(sink, batch, deadline);
        take_answers(sink, batch, answers);
    }
    sink->users--;
    pthread_mutex_unlock(&sink->lock);
    return sent;
}

/* ------------------------------------------------------------------------------------------------- partitions */

/* The lock is held. */
static struct request_sink_topic *find_topic(const struct request_sink *sink, const char *name)
{
    struct request_sink_topic *topic = sink->topics;
    while (topic != NULL && strcmp(topic->name, name) != 0) {
        topic = topic->next;
    }
    return topic;
}

static int32_t known_partitions(struct request_sink *sink, const char *name)
{
    pthread_mutex_lock(&sink->lock);
    const struct request_sink_topic *topic = find_topic(sink, name);
    bool fresh = topic != NULL && kafka_handle_clock_ms() - topic->at_ms < PARTITIONS_FRESH_MS;
    int32_t partitions = fresh ? topic->partitions : 0;
    pthread_mutex_unlock(&sink->lock);
    return partitions;
}

static void know_partitions(struct request_sink *sink, const char *name, int32_t partitions)
{
    size_t length = strlen(name);
    pthread_mutex_lock(&sink->lock);
    struct request_sink_topic *topic = find_topic(sink, name);
    if (topic == NULL) {
        topic = memory_new(1, sizeof *topic + length + 1);
        memcpy(topic->name, name, length + 1);
        topic->next = sink->topics;
        sink->topics = topic;
    }
    topic->partitions = partitions;
    topic->at_ms = kafka_handle_clock_ms();
    pthread_mutex_unlock(&sink->lock);
}

static int32_t read_metadata(const struct rd_kafka_metadata *metadata, const char *name, struct error *error)
{
    rd_kafka_resp_err_t code = metadata->topic_cnt == 1 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN;
    if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
        error_set(error, ERROR_NOT_FOUND, "Kafka has no topic %s", name);
        return 0;
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR || metadata->topics[0].partition_cnt < 1) {
        error_set(error, ERROR_UNAVAILABLE, "the partitions of %s are not known: %s", name, rd_kafka_err2str(code));
        return 0;
    }
    return metadata->topics[0].partition_cnt;
}

static int32_t ask_partitions(struct request_sink *sink, rd_kafka_t *handle, const char *name, int timeout_ms, struct error *error)
{
    int64_t end_ms = kafka_handle_clock_ms() + timeout_ms;
    int64_t left_ms;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(handle, name, NULL);
    int32_t partitions = 0;
    error_set(error, ERROR_UNAVAILABLE, "no Kafka broker has said how many partitions %s has", name);
    while (topic != NULL && partitions == 0 && error->code != ERROR_NOT_FOUND && !atomic_load(&sink->woken) &&
           (left_ms = end_ms - kafka_handle_clock_ms()) > 0) {
        const struct rd_kafka_metadata *metadata;
        int slice_ms = left_ms < 5 * REQUEST_SINK_SLICE_MS ? (int)left_ms : 5 * REQUEST_SINK_SLICE_MS;
        if (rd_kafka_metadata(handle, 0, topic, &metadata, slice_ms) == RD_KAFKA_RESP_ERR_NO_ERROR) {
            partitions = read_metadata(metadata, name, error);
            rd_kafka_metadata_destroy(metadata);
        }
    }
    if (topic != NULL) {
        rd_kafka_topic_destroy(topic);
    }
    return partitions;
}

int32_t request_sink_partitions(struct request_sink *sink, const char *topic, int timeout_ms, struct error *error)
{
    struct error own;
    int32_t partitions = known_partitions(sink, topic);
    rd_kafka_t *handle = partitions > 0 ? NULL : request_sink_use(sink, error);
    if (handle == NULL) {
        return partitions;
    }
    partitions = ask_partitions(sink, handle, topic, timeout_ms, error == NULL ? &own : error);
    request_sink_release(sink);
    if (partitions > 0) {
        know_partitions(sink, topic, partitions);
    }
    return partitions;
}
