#include "support/kafka_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <librdkafka/rdkafka.h>

#include "base/memory.h"

#define CALL_TIMEOUT_MS 30000

static int64_t clock_ms(clockid_t clock)
{
    struct timespec time;
    assert_int_equal(clock_gettime(clock, &time), 0);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[256];
    if (rd_kafka_conf_set(conf, name, value, text, sizeof text) != RD_KAFKA_CONF_OK) {
        fail_msg("%s=%s: %s", name, value, text);
    }
}

static void check_code(rd_kafka_resp_err_t code, const char *what)
{
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        fail_msg("%s: %s", what, rd_kafka_err2str(code));
    }
}

static void check_error(rd_kafka_error_t *error, const char *what)
{
    if (error != NULL) {
        fail_msg("%s: %s", what, rd_kafka_error_string(error));
    }
}

static rd_kafka_t *client_new(rd_kafka_type_t type, rd_kafka_conf_t *conf)
{
    char text[256];
    set(conf, "log_level", "0");
    set(conf, "reconnect.backoff.max.ms", "500");
    rd_kafka_t *client = rd_kafka_new(type, conf, text, sizeof text);
    if (client == NULL) {
        fail_msg("Kafka client: %s", text);
    }
    return client;
}

/* ------------------------------------------------------------------------------------------------- producing */

struct kafka_client_producer {
    rd_kafka_t *client;
    bool transactional;
    uint64_t failed;
    rd_kafka_resp_err_t first_failure;
};

static void delivered(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque)
{
    (void)client;
    struct kafka_client_producer *producer = opaque;
    if (message->_private != NULL) {
        *(int64_t *)message->_private = message->offset;
    }
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR && producer->failed++ == 0) {
        producer->first_failure = message->err;
    }
}

static void set_list(struct kafka_client_producer *producer, rd_kafka_conf_t *conf, const char *const *properties)
{
    for (size_t i = 0; properties != NULL && properties[i] != NULL; i++) {
        const char *equals = strchr(properties[i], '=');
        assert_non_null(equals);
        char *name = memory_text(properties[i], (size_t)(equals - properties[i]));
        producer->transactional = producer->transactional || strcmp(name, "transactional.id") == 0;
        set(conf, name, equals + 1);
        free(name);
    }
}

struct kafka_client_producer *kafka_client_producer_open(const char *bootstrap, const char *const *properties)
{
    struct kafka_client_producer *producer = memory_new(1, sizeof *producer);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", bootstrap);
    set(conf, "enable.idempotence", "true");
    set(conf, "partitioner", "murmur2_random");
    set(conf, "message.max.bytes", "16000000");
    rd_kafka_conf_set_opaque(conf, producer);
    rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    set_list(producer, conf, properties);
    producer->client = client_new(RD_KAFKA_PRODUCER, conf);
    if (producer->transactional) {
        check_error(rd_kafka_init_transactions(producer->client, CALL_TIMEOUT_MS), "init_transactions");
    }
    return producer;
}

static rd_kafka_headers_t *headers_of(const struct kafka_client_output *output)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(output->header_count);
    for (size_t i = 0; i < output->header_count; i++) {
        const struct record_header *header = &output->headers[i];
        check_code(rd_kafka_header_add(headers, (const char *)header->name.data, (ssize_t)header->name.length, header->value.data,
                                       (ssize_t)header->value.length),
                   "header");
    }
    return headers;
}

void kafka_client_produce(struct kafka_client_producer *producer, const char *topic, const struct kafka_client_output *output)
{
    kafka_client_produce_noting(producer, topic, output, NULL);
}

void kafka_client_produce_noting(struct kafka_client_producer *producer, const char *topic, const struct kafka_client_output *output,
                                 int64_t *offset)
{
    if (offset != NULL) {
        *offset = -1;
    }
    rd_kafka_headers_t *headers = headers_of(output);
    rd_kafka_resp_err_t code;
    do {
        /* librdkafka copies both (RD_KAFKA_MSG_F_COPY); its interface only lacks the const */
        code = rd_kafka_producev(producer->client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(output->partition),
                                 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                 RD_KAFKA_V_KEY(output->key.data, output->key.length),
                                 RD_KAFKA_V_VALUE((void *)(uintptr_t)output->value.data, output->value.length),
                                 RD_KAFKA_V_TIMESTAMP(output->timestamp_ms), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(offset),
                                 RD_KAFKA_V_END);
        rd_kafka_poll(producer->client, code == RD_KAFKA_RESP_ERR__QUEUE_FULL ? 100 : 0);
    } while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_headers_destroy(headers);
        fail_msg("producing to %s: %s", topic, rd_kafka_err2str(code));
    }
}

void kafka_client_flush(struct kafka_client_producer *producer)
{
    check_code(rd_kafka_flush(producer->client, 120000), "flush");
    if (producer->failed > 0) {
        fail_msg("%llu records were not delivered: %s", (unsigned long long)producer->failed,
                 rd_kafka_err2str(producer->first_failure));
    }
}

void kafka_client_begin(struct kafka_client_producer *producer)
{
    check_error(rd_kafka_begin_transaction(producer->client), "begin_transaction");
}

void kafka_client_commit_transaction(struct kafka_client_producer *producer)
{
    check_error(rd_kafka_commit_transaction(producer->client, CALL_TIMEOUT_MS), "commit_transaction");
}

/* Records of an aborted transaction count as failed (purged) when they had not been sent: that is what was asked for. */
void kafka_client_abort_transaction(struct kafka_client_producer *producer)
{
    uint64_t failed = producer->failed;
    check_error(rd_kafka_abort_transaction(producer->client, CALL_TIMEOUT_MS), "abort_transaction");
    producer->failed = failed;
}

void kafka_client_producer_close(struct kafka_client_producer *producer)
{
    if (producer == NULL) {
        return;
    }
    rd_kafka_destroy(producer->client);
    free(producer);
}

void kafka_client_produce_one(const char *bootstrap, const char *topic, const struct kafka_client_output *output)
{
    struct kafka_client_producer *producer = kafka_client_producer_open(bootstrap, NULL);
    kafka_client_produce(producer, topic, output);
    kafka_client_flush(producer);
    kafka_client_producer_close(producer);
}

/* ------------------------------------------------------------------------------------------------- consuming */

struct kafka_client_reader {
    rd_kafka_t *client;
    rd_kafka_topic_partition_list_t *partitions; /* each with the offset that comes next, as far as records and ends tell */
};

static rd_kafka_t *consumer_new(const char *bootstrap, const char *group)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", bootstrap);
    set(conf, "group.id", group);
    set(conf, "enable.auto.commit", "false");
    set(conf, "auto.offset.reset", "earliest");
    set(conf, "isolation.level", "read_committed");
    set(conf, "enable.partition.eof", "true");
    set(conf, "fetch.wait.max.ms", "100");
    return client_new(RD_KAFKA_CONSUMER, conf);
}

static int partition_count(rd_kafka_t *client, const char *topic)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client, topic, NULL);
    check_code(rd_kafka_metadata(client, 0, handle, &metadata, CALL_TIMEOUT_MS), "metadata");
    int count = metadata->topic_cnt == 1 ? metadata->topics[0].partition_cnt : 0;
    rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(handle);
    if (count == 0) {
        fail_msg("topic %s does not exist", topic);
    }
    return count;
}

struct kafka_client_reader *kafka_client_reader_open(const char *bootstrap, const char *const *topics)
{
    struct kafka_client_reader *reader = memory_new(1, sizeof *reader);
    reader->client = consumer_new(bootstrap, "tests-reader");
    reader->partitions = rd_kafka_topic_partition_list_new(8);
    for (size_t i = 0; topics[i] != NULL; i++) {
        int count = partition_count(reader->client, topics[i]);
        for (int partition = 0; partition < count; partition++) {
            rd_kafka_topic_partition_list_add(reader->partitions, topics[i], partition)->offset = RD_KAFKA_OFFSET_BEGINNING;
        }
    }
    check_code(rd_kafka_assign(reader->client, reader->partitions), "assign");
    for (int i = 0; i < reader->partitions->cnt; i++) {
        reader->partitions->elems[i].offset = 0;
    }
    return reader;
}

static struct span copied(const void *data, size_t length)
{
    if (data == NULL) {
        return SPAN_ABSENT;
    }
    return (struct span){(const uint8_t *)memory_text(data, length), length};
}

static void copy_headers(const rd_kafka_message_t *message, struct record *record)
{
    rd_kafka_headers_t *headers = NULL;
    if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return;
    }
    record->header_count = rd_kafka_header_cnt(headers);
    struct record_header *copy = memory_new(record->header_count, sizeof *copy);
    for (size_t i = 0; i < record->header_count; i++) {
        const char *name = NULL;
        const void *value = NULL;
        size_t length = 0;
        check_code(rd_kafka_header_get_all(headers, i, &name, &value, &length), "header");
        copy[i] = (struct record_header){copied(name, strlen(name)), copied(value, length)};
    }
    record->headers = copy;
}

static void keep(struct kafka_client_records *records, const rd_kafka_message_t *message)
{
    if (records->count == records->room) {
        records->room = records->room == 0 ? 64 : records->room * 2;
        records->items = memory_resize(records->items, records->room, sizeof *records->items);
    }
    const char *topic = rd_kafka_topic_name(message->rkt);
    rd_kafka_timestamp_type_t type;
    struct kafka_client_record *item = &records->items[records->count++];
    *item = (struct kafka_client_record){.topic = memory_text(topic, strlen(topic)), .partition = message->partition};
    item->read_at_ms = clock_ms(CLOCK_REALTIME);
    item->record.offset = message->offset;
    item->record.timestamp_ms = rd_kafka_message_timestamp(message, &type);
    item->record.timestamp = type == RD_KAFKA_TIMESTAMP_CREATE_TIME       ? RECORD_TIMESTAMP_CREATE
                             : type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME ? RECORD_TIMESTAMP_APPEND
                                                                          : RECORD_TIMESTAMP_NONE;
    item->record.key = copied(message->key, message->key_len);
    item->record.value = copied(message->payload, message->len);
    copy_headers(message, &item->record);
}

static void note_next(struct kafka_client_reader *reader, const rd_kafka_message_t *message, int64_t next)
{
    rd_kafka_topic_partition_t *partition =
        rd_kafka_topic_partition_list_find(reader->partitions, rd_kafka_topic_name(message->rkt), message->partition);
    assert_non_null(partition);
    partition->offset = next;
}

/* Takes what comes within wait_ms. Errors other than an end of partition are outages: the client itself goes on trying. */
static void read_one(struct kafka_client_reader *reader, struct kafka_client_records *records, int wait_ms)
{
    rd_kafka_message_t *message = rd_kafka_consumer_poll(reader->client, wait_ms);
    if (message == NULL) {
        return;
    }
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        keep(records, message);
        note_next(reader, message, message->offset + 1);
    } else if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        note_next(reader, message, message->offset); /* beyond control records and what was aborted */
    }
    rd_kafka_message_destroy(message);
}

size_t kafka_client_read(struct kafka_client_reader *reader, struct kafka_client_records *records, size_t count, int timeout_ms)
{
    int64_t give_up = clock_ms(CLOCK_MONOTONIC) + timeout_ms;
    while (records->count < count && clock_ms(CLOCK_MONOTONIC) < give_up) {
        read_one(reader, records, 100);
    }
    return records->count;
}

/* The consumer's isolation level counts: it is the last stable offset that it is told. False: no answer, a broker may be away. */
static bool look_up_ends(const struct kafka_client_reader *reader, rd_kafka_topic_partition_list_t *ends)
{
    for (int i = 0; i < ends->cnt; i++) {
        int64_t low = 0;
        rd_kafka_topic_partition_t *end = &ends->elems[i];
        if (rd_kafka_query_watermark_offsets(reader->client, end->topic, end->partition, &low, &end->offset, 5000) !=
            RD_KAFKA_RESP_ERR_NO_ERROR) {
            return false;
        }
    }
    return true;
}

static bool all_at_end(const struct kafka_client_reader *reader, const rd_kafka_topic_partition_list_t *ends)
{
    for (int i = 0; i < ends->cnt; i++) { /* a copy of the same list */
        if (reader->partitions->elems[i].offset < ends->elems[i].offset) {
            return false;
        }
    }
    return true;
}

bool kafka_client_read_to_end(struct kafka_client_reader *reader, struct kafka_client_records *records, int timeout_ms)
{
    int64_t give_up = clock_ms(CLOCK_MONOTONIC) + timeout_ms;
    rd_kafka_topic_partition_list_t *ends = rd_kafka_topic_partition_list_copy(reader->partitions);
    bool known = look_up_ends(reader, ends);
    while (clock_ms(CLOCK_MONOTONIC) < give_up && !(known && all_at_end(reader, ends))) {
        if (known) {
            read_one(reader, records, 100);
        } else {
            known = look_up_ends(reader, ends);
        }
    }
    bool done = known && all_at_end(reader, ends);
    rd_kafka_topic_partition_list_destroy(ends);
    return done;
}

void kafka_client_reader_close(struct kafka_client_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    rd_kafka_consumer_close(reader->client);
    rd_kafka_topic_partition_list_destroy(reader->partitions);
    rd_kafka_destroy(reader->client);
    free(reader);
}

struct kafka_client_records kafka_client_read_all(const char *bootstrap, const char *const *topics)
{
    struct kafka_client_records records = {0};
    struct kafka_client_reader *reader = kafka_client_reader_open(bootstrap, topics);
    bool done = kafka_client_read_to_end(reader, &records, 60000);
    kafka_client_reader_close(reader);
    assert_true(done);
    return records;
}

/* Gives a span's bytes back. They are ours; only the span calls them const. */
static void free_span(struct span span)
{
    free((void *)(uintptr_t)span.data);
}

void kafka_client_records_free(struct kafka_client_records *records)
{
    for (size_t i = 0; i < records->count; i++) {
        struct kafka_client_record *item = &records->items[i];
        for (size_t j = 0; j < item->record.header_count; j++) {
            free_span(item->record.headers[j].name);
            free_span(item->record.headers[j].value);
        }
        free((void *)(uintptr_t)item->record.headers);
        free_span(item->record.key);
        free_span(item->record.value);
        free(item->topic);
    }
    free(records->items);
    *records = (struct kafka_client_records){0};
}

long kafka_client_value_number(const struct kafka_client_record *record)
{
    char text[32] = "";
    struct span value = record->record.value;
    assert_true(value.length < sizeof(text));
    memcpy(text, value.data, value.length);
    return strtol(text, NULL, 10);
}

const char *kafka_client_header_text(const struct kafka_client_record *record, const char *name)
{
    static char text[8192];
    for (size_t i = record->record.header_count; i > 0; i--) {
        const struct record_header *header = &record->record.headers[i - 1];
        if (span_equals_text(header->name, name)) {
            snprintf(text, sizeof text, "%.*s", (int)header->value.length,
                     header->value.data == NULL ? "" : (const char *)header->value.data);
            return text;
        }
    }
    return NULL;
}

size_t kafka_client_header_count(const struct kafka_client_record *record, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < record->record.header_count; i++) {
        count += span_equals_text(record->record.headers[i].name, name);
    }
    return count;
}

/* --------------------------------------------------------------------------------------------------- groups */

static rd_kafka_resp_err_t fetch_committed(rd_kafka_t *client, rd_kafka_topic_partition_list_t *list)
{
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__TIMED_OUT;
    int64_t give_up = clock_ms(CLOCK_MONOTONIC) + CALL_TIMEOUT_MS;
    /* retried: a group's coordinator takes a moment to load after a broker's start, and answers NOT_COORDINATOR until then */
    while (code != RD_KAFKA_RESP_ERR_NO_ERROR && clock_ms(CLOCK_MONOTONIC) < give_up) {
        list->elems[0].offset = RD_KAFKA_OFFSET_INVALID;
        code = rd_kafka_committed(client, list, 2000);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
            code = list->elems[0].err;
        }
    }
    return code;
}

int64_t kafka_client_committed(const char *bootstrap, const char *group, const char *topic, int32_t partition,
                               char metadata[KAFKA_CLIENT_METADATA_MAX])
{
    rd_kafka_t *client = consumer_new(bootstrap, group);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition);
    check_code(fetch_committed(client, list), "committed offset");
    int64_t offset = list->elems[0].offset < 0 ? -1 : list->elems[0].offset;
    if (metadata != NULL) {
        snprintf(metadata, KAFKA_CLIENT_METADATA_MAX, "%.*s", (int)list->elems[0].metadata_size,
                 list->elems[0].metadata == NULL ? "" : (const char *)list->elems[0].metadata);
    }
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(client);
    return offset;
}

void kafka_client_commit(const char *bootstrap, const char *group, const char *topic, int32_t partition, int64_t offset,
                         const char *metadata)
{
    rd_kafka_t *client = consumer_new(bootstrap, group);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *item = rd_kafka_topic_partition_list_add(list, topic, partition);
    item->offset = offset;
    if (metadata != NULL) {
        item->metadata = strdup(metadata); /* librdkafka frees it with free() */
        item->metadata_size = strlen(metadata);
    }
    check_code(rd_kafka_commit(client, list, 0), "commit");
    check_code(list->elems[0].err, "commit");
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(client);
}

void kafka_client_watermarks(const char *bootstrap, const char *topic, int32_t partition, int64_t *low, int64_t *high)
{
    /* read_uncommitted: the high watermark; otherwise it would be the last stable offset */
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", bootstrap);
    set(conf, "isolation.level", "read_uncommitted");
    rd_kafka_t *client = client_new(RD_KAFKA_CONSUMER, conf);
    check_code(rd_kafka_query_watermark_offsets(client, topic, partition, low, high, CALL_TIMEOUT_MS), "watermarks");
    rd_kafka_destroy(client);
}

bool kafka_client_group_is_empty(const char *bootstrap, const char *group)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", bootstrap);
    rd_kafka_t *client = client_new(RD_KAFKA_PRODUCER, conf);
    const struct rd_kafka_group_list *groups = NULL;
    bool empty = false;
    if (rd_kafka_list_groups(client, group, &groups, CALL_TIMEOUT_MS) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        empty = groups->group_cnt == 1 && groups->groups[0].member_cnt == 0;
        rd_kafka_group_list_destroy(groups);
    }
    rd_kafka_destroy(client);
    return empty;
}
