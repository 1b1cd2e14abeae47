#include "bridge/letter_sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "bridge/kafka_handle.h"
#include "bridge/letter_sink_state.h"
#include "bridge/sink_failure.h"

#define CLOSE_MS 5000
#define SLICE_MS 50 /* between two looks whether the transaction has failed, or at the other producer */

#define LINGER_MS 1

static const struct kafka_handle_setting fixed[] = {
    {"enable.idempotence", "true"},
    {"acks", "all"},
};

/* ------------------------------------------------------------------------------------------------- reports */

void letter_sink_judge(struct letter_sink_report *report, rd_kafka_resp_err_t code)
{
    report->delivered = code == RD_KAFKA_RESP_ERR_NO_ERROR;
    report->failure = report->delivered ? DELIVERY_RETRIABLE : sink_failure_of(code);
    report->error[0] = '\0';
    if (!report->delivered) {
        snprintf(report->error, sizeof report->error, "%s: %s", rd_kafka_err2name(code), rd_kafka_err2str(code));
    }
}

static void keep_report(struct letter_sink *sink, const struct letter_sink_report *report)
{
    if (sink->report_count == sink->report_room) {
        size_t room = sink->report_room == 0 ? 64 : sink->report_room * 2;
        struct letter_sink_report *grown = memory_new(room, sizeof *grown);
        for (size_t i = 0; i < sink->report_count; i++) {
            grown[i] = sink->reports[(sink->report_first + i) % sink->report_room];
        }
        free(sink->reports);
        sink->reports = grown;
        sink->report_room = room;
        sink->report_first = 0;
    }
    sink->reports[(sink->report_first + sink->report_count++) % sink->report_room] = *report;
}

void letter_sink_drop_reports(struct letter_sink *sink)
{
    sink->pending -= sink->report_count;
    sink->report_count = 0;
}

/* A batch was refused for one of its records: this one goes again alone. False: it cannot now. */
static bool send_alone(struct letter_sink *sink, const rd_kafka_message_t *message)
{
    if (sink->producers[1].handle == NULL && !letter_sink_open_way(sink, 1, NULL)) {
        return false;
    }
    rd_kafka_headers_t *headers = NULL;
    rd_kafka_headers_t *copy = rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR ? rd_kafka_headers_copy(headers)
                                                                                                         : rd_kafka_headers_new(0);
    rd_kafka_resp_err_t code =
        rd_kafka_producev(sink->producers[1].handle, RD_KAFKA_V_TOPIC(rd_kafka_topic_name(message->rkt)), RD_KAFKA_V_PARTITION(message->partition),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(message->key, message->key_len),
                          RD_KAFKA_V_VALUE(message->payload, message->len), RD_KAFKA_V_HEADERS(copy), RD_KAFKA_V_OPAQUE(message->_private), RD_KAFKA_V_END);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_headers_destroy(copy);
    }
    return code == RD_KAFKA_RESP_ERR_NO_ERROR;
}

static void take_report(rd_kafka_t *handle, const rd_kafka_message_t *message, void *opaque)
{
    (void)handle;
    struct letter_sink_producer *producer = opaque;
    struct letter_sink_report report = {.token = message->_private, .partition = message->partition, .offset = message->offset >= 0 ? message->offset : -1};
    letter_sink_judge(&report, message->err);
    if (producer->sink->transactional_id != NULL && sink_failure_is_purge(message->err)) {
        report.failure = DELIVERY_UNDONE;
    }
    if (!producer->alone && sink_failure_of_batch(message->err)) {
        if (send_alone(producer->sink, message)) {
            return;
        }
        report.failure = DELIVERY_RETRIABLE; /* it may be innocent */
    }
    keep_report(producer->sink, &report);
}

static void say_trouble(rd_kafka_t *handle, int code, const char *words, void *opaque)
{
    (void)handle;
    (void)opaque;
    log_write(LOG_LEVEL_WARNING, "kafka_producer", LOG_FIELDS(LOG_TEXT("code", rd_kafka_err2name((rd_kafka_resp_err_t)code))),
              "the Kafka producer of redelivery reports trouble, and goes on by itself: %s", words);
}

/* ------------------------------------------------------------------------------------------------- opening and closing */

static bool set_number(rd_kafka_conf_t *conf, const char *name, int64_t number, struct error *error)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    return kafka_handle_set(conf, name, text, error);
}

/* A message that is not acknowledged by the time the coordinator ends its transaction is lost with it. */
static bool make_transactional(const struct letter_sink *sink, rd_kafka_conf_t *conf, struct error *error)
{
    int64_t timeout_ms = sink->transaction_timeout_ms;
    return kafka_handle_set(conf, "transactional.id", sink->transactional_id, error) &&
           set_number(conf, "transaction.timeout.ms", timeout_ms, error) &&
           set_number(conf, "message.timeout.ms", sink->send_timeout_ms < timeout_ms ? sink->send_timeout_ms : timeout_ms, error) &&
           set_number(conf, "socket.timeout.ms", timeout_ms > 1000 ? timeout_ms - 100 : 900, error);
}

static bool finish(const struct letter_sink *sink, rd_kafka_conf_t *conf, bool alone, struct error *error)
{
    char client[300];
    snprintf(client, sizeof client, "%s%s", sink->client, alone && sink->transactional_id == NULL ? "-alone" : "");
    return kafka_handle_set(conf, "client.id", client, error) && set_number(conf, "message.timeout.ms", sink->send_timeout_ms, error) &&
           (!alone || kafka_handle_set(conf, "batch.num.messages", "1", error)) &&
           (sink->transactional_id == NULL || make_transactional(sink, conf, error));
}

static rd_kafka_conf_t *new_conf(const struct letter_sink *sink, struct error *error)
{
    char linger[24];
    snprintf(linger, sizeof linger, "%" PRId64, sink->linger_ms);
    /* Why: bridge/sink_open.c. */
    const struct kafka_handle_setting defaults[] = {
        {"partitioner", "murmur2_random"},
        {"linger.ms", linger},
        {"topic.metadata.propagation.max.ms", "1000"},
        {"topic.metadata.refresh.interval.ms", "5000"},
        {"reconnect.backoff.max.ms", "2000"},
        {"message.max.bytes", "67108864"},
    };
    return kafka_handle_conf(defaults, sizeof defaults / sizeof defaults[0], sink->properties, sink->property_count, fixed, sizeof fixed / sizeof fixed[0],
                             error);
}

bool letter_sink_open_way(struct letter_sink *sink, size_t way, struct error *error)
{
    struct letter_sink_producer *producer = &sink->producers[way];
    *producer = (struct letter_sink_producer){.sink = sink, .alone = way > 0 || sink->transactional_id != NULL};
    rd_kafka_conf_t *conf = new_conf(sink, error);
    if (conf == NULL) {
        return false;
    }
    if (!finish(sink, conf, producer->alone, error)) {
        rd_kafka_conf_destroy(conf);
        return false;
    }
    rd_kafka_conf_set_opaque(conf, producer);
    rd_kafka_conf_set_dr_msg_cb(conf, take_report);
    rd_kafka_conf_set_error_cb(conf, say_trouble);
    producer->handle = kafka_handle_new(RD_KAFKA_PRODUCER, conf, error);
    return producer->handle != NULL;
}

static void keep_options(struct letter_sink *sink, const struct letter_sink_options *options)
{
    sink->client = memory_text(options->client, strlen(options->client));
    if (options->transactional_id != NULL) {
        sink->transactional_id = memory_text(options->transactional_id, strlen(options->transactional_id));
    }
    sink->transaction_timeout_ms = options->transaction_timeout_ms;
    sink->send_timeout_ms = options->send_timeout_ms;
    sink->linger_ms = options->linger_ms > 0 ? options->linger_ms : LINGER_MS;
    sink->stopped = options->stopped;
    sink->stopped_context = options->stopped_context;
    sink->properties = kafka_handle_properties(options->properties, options->property_count);
    sink->property_count = options->property_count;
}

bool letter_sink_open(const struct letter_sink_options *options, struct letter_sink **sink, struct error *error)
{
    struct letter_sink *made = memory_new(1, sizeof *made);
    keep_options(made, options);
    if (!letter_sink_open_way(made, 0, error)) {
        letter_sink_close(made);
        return false;
    }
    *sink = made;
    return true;
}

void letter_sink_close(struct letter_sink *sink)
{
    if (sink == NULL) {
        return;
    }
    struct kafka_handle_ending *endings[LETTER_SINK_WAYS] = {NULL};
    for (size_t way = 0; way < LETTER_SINK_WAYS; way++) {
        rd_kafka_t *handle = sink->producers[way].handle;
        if (handle != NULL) {
            rd_kafka_purge(handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
            rd_kafka_poll(handle, 0);
        }
        endings[way] = handle == NULL ? NULL : kafka_handle_destroy_begin(handle);
    }
    int64_t end_ms = kafka_handle_clock_ms() + CLOSE_MS;
    for (size_t way = 0; way < LETTER_SINK_WAYS; way++) {
        int64_t left_ms = end_ms - kafka_handle_clock_ms();
        kafka_handle_destroy_end(endings[way], left_ms > 0 ? (int)left_ms : 0);
    }
    kafka_handle_properties_free(sink->properties, sink->property_count);
    free(sink->reports);
    free(sink->transactional_id);
    free(sink->client);
    free(sink);
}

/* ------------------------------------------------------------------------------------------------- sending */

static rd_kafka_headers_t *headers_of(const struct letter_sink_record *record)
{
    rd_kafka_headers_t *list = rd_kafka_headers_new(record->header_count);
    for (size_t i = 0; i < record->header_count; i++) {
        const struct record_header *header = &record->headers[i];
        rd_kafka_header_add(list, (const char *)header->name.data, (ssize_t)header->name.length, header->value.data, (ssize_t)header->value.length);
    }
    return list;
}

/* producev said no. */
static enum letter_sink_result refuse(struct letter_sink *sink, rd_kafka_resp_err_t code, int32_t partition, void *token, struct letter_sink_report *report)
{
    bool full = code == RD_KAFKA_RESP_ERR__QUEUE_FULL;
    if (full && sink->pending > 0) {
        return LETTER_SINK_FULL;
    }
    *report = (struct letter_sink_report){.token = token, .partition = -1, .offset = -1};
    letter_sink_judge(report, full ? RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE : code); /* full of nothing: it will never fit */
    if (code == RD_KAFKA_RESP_ERR__STATE && sink->transactional_id != NULL) {
        report->failure = DELIVERY_UNDONE; /* the transaction has failed already, for another's sake */
    }
    if (code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION && partition >= 0) {
        report->failure = DELIVERY_FAULT; /* the topic is known and has not that many */
    }
    return LETTER_SINK_FAILED;
}

enum letter_sink_result letter_sink_send(struct letter_sink *sink, const struct letter_sink_record *record, void *token, struct letter_sink_report *report)
{
    rd_kafka_headers_t *headers = headers_of(record);
    /* copied at once (MSG_F_COPY); the interface only lacks the const */
    rd_kafka_resp_err_t code =
        rd_kafka_producev(sink->producers[0].handle, RD_KAFKA_V_TOPIC(record->topic), RD_KAFKA_V_PARTITION(record->partition),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(record->key.data, record->key.length),
                          RD_KAFKA_V_VALUE((void *)(uintptr_t)record->value.data, record->value.length), RD_KAFKA_V_HEADERS(headers),
                          RD_KAFKA_V_OPAQUE(token), RD_KAFKA_V_END);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_headers_destroy(headers);
        return refuse(sink, code, record->partition, token, report);
    }
    sink->pending++;
    sink->sent++;
    return LETTER_SINK_TAKEN;
}

size_t letter_sink_pending(const struct letter_sink *sink)
{
    return sink->pending;
}

void letter_sink_serve(struct letter_sink *sink, int64_t timeout_ms)
{
    rd_kafka_t *alone = sink->producers[1].handle;
    bool both = alone != NULL && rd_kafka_outq_len(alone) > 0;
    int64_t wait_ms = both && timeout_ms > 1 ? timeout_ms / 2 : timeout_ms;
    rd_kafka_poll(sink->producers[0].handle, (int)wait_ms);
    if (both) {
        rd_kafka_poll(alone, sink->report_count > 0 ? 0 : (int)wait_ms);
    }
}

/* The rest of a transaction that has failed is not sent any more, and not all of it would be reported before the abort. What is on its way is
 * left alone: thrown out as well it would leave a hole in the producer's sequence. */
static void purge_if_failed(struct letter_sink *sink)
{
    rd_kafka_resp_err_t code;
    if (sink->transactional_id != NULL && !sink->purged && letter_sink_transaction_cause(sink, &code, NULL, 0)) {
        sink->purged = true;
        rd_kafka_purge(sink->producers[0].handle, RD_KAFKA_PURGE_F_QUEUE);
    }
}

/* A coordinator that refuses a transaction for a topic without rights names nobody. In a transaction of one record that one is meant. */
static void judge_only_one(const struct letter_sink *sink, struct letter_sink_report *report)
{
    rd_kafka_resp_err_t code;
    char words[256];
    bool undone = !report->delivered && report->failure == DELIVERY_UNDONE;
    if (undone && sink->sent == 1 && letter_sink_transaction_cause(sink, &code, words, sizeof words) && sink_failure_of(code) != DELIVERY_RETRIABLE) {
        letter_sink_judge(report, code);
        memcpy(report->error, words, sizeof report->error);
    }
}

size_t letter_sink_poll(struct letter_sink *sink, int64_t timeout_ms, struct letter_sink_report *reports, size_t most)
{
    int64_t end_ms = kafka_handle_clock_ms() + timeout_ms;
    int64_t left_ms = timeout_ms;
    letter_sink_serve(sink, 0);
    while (sink->report_count == 0 && sink->pending > 0 && left_ms > 0) {
        purge_if_failed(sink);
        letter_sink_serve(sink, left_ms < SLICE_MS ? left_ms : SLICE_MS);
        left_ms = end_ms - kafka_handle_clock_ms();
    }
    size_t count = 0;
    while (count < most && sink->report_count > 0) {
        reports[count] = sink->reports[sink->report_first];
        judge_only_one(sink, &reports[count++]);
        sink->report_first = (sink->report_first + 1) % sink->report_room;
        sink->report_count--;
        sink->pending--;
    }
    return count;
}

bool letter_sink_fatal(struct letter_sink *sink, bool *fenced, char *text, size_t size)
{
    for (size_t way = 0; way < LETTER_SINK_WAYS; way++) {
        char words[512];
        rd_kafka_t *handle = sink->producers[way].handle;
        rd_kafka_resp_err_t code = handle == NULL ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_fatal_error(handle, words, sizeof words);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            *fenced = code == RD_KAFKA_RESP_ERR__FENCED || code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED || code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH;
            snprintf(text, size, "%s: %s", rd_kafka_err2name(code), words);
            return true;
        }
    }
    return false;
}
