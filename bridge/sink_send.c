#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/sink_failure.h"
#include "bridge/sink_headers.h"
#include "bridge/sink_state.h"
#include "bridge/sink_transaction_state.h"

static enum sink_result refuse(struct sink_report *report,
                               void *token,
                               enum delivery_failure failure,
                               const char *reason,
                               uint64_t target_hash,
                               const char *words)
{
    report->token = token;
    report->copy = false;
    report->delivered = false;
    report->failure = failure;
    report->reason = failure == DELIVERY_FAULT ? reason : NULL;
    report->target_hash = target_hash;
    report->offset = -1;
    report->partition = -1;
    snprintf(report->error, sizeof report->error, "%s", words);
    return SINK_FAILED;
}

static rd_kafka_resp_err_t produce(rd_kafka_t *handle,
                                   rd_kafka_topic_t *topic,
                                   int32_t partition,
                                   struct span key,
                                   struct span value,
                                   rd_kafka_headers_t *headers,
                                   void *token)
{
    /* copied at once (MSG_F_COPY); the interface only lacks the const */
    return rd_kafka_producev(handle, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                             RD_KAFKA_V_KEY(key.data, key.length), RD_KAFKA_V_VALUE((void *)(uintptr_t)value.data, value.length),
                             RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(token), RD_KAFKA_V_END);
}

/* The queue has no room: will it ever have, for a value of that length? (It counts values only.) */
static bool may_fit(rd_kafka_t *handle, size_t value_length)
{
    char text[32] = "";
    size_t size = sizeof text;
    if (rd_kafka_outq_len(handle) == 0) {
        return false; /* nothing is there to wait for */
    }
    return rd_kafka_conf_get(rd_kafka_conf(handle), "queue.buffering.max.kbytes", text, &size) != RD_KAFKA_CONF_OK ||
           value_length / 1024 < strtoull(text, NULL, 10);
}

/* The topic is known and has not that many partitions. A copy goes where its record came from: then it is only not known here yet. */
static bool is_of_no_partition(enum sink_way way, rd_kafka_resp_err_t code, int32_t partition, const void *token)
{
    bool copy = sink_way_transactional(way) && ((const struct sink_ticket *)token)->copy;
    return code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION && partition >= 0 && !copy;
}

/* producev said no: what does that mean? */
static enum sink_result judge(struct sink *sink,
                              enum sink_way way,
                              rd_kafka_resp_err_t code,
                              const struct sink_topic *topic,
                              int32_t partition,
                              size_t value_length,
                              void *token,
                              struct sink_report *report)
{
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        if (may_fit(sink->producers[way].handle, value_length)) {
            return SINK_FULL;
        }
        return refuse(report, token, DELIVERY_FAULT, "too_large", topic->hash, "the record is larger than queue.buffering.max.kbytes; raise that");
    }
    enum delivery_failure failure = sink_failure_of(code);
    if (code == RD_KAFKA_RESP_ERR__STATE && sink_way_transactional(way)) {
        failure = DELIVERY_UNDONE; /* the transaction has failed already, for another's sake */
    }
    if (is_of_no_partition(way, code, partition, token)) {
        failure = DELIVERY_FAULT;
    }
    return refuse(report, token, failure, sink_failure_reason(code), topic->hash, rd_kafka_err2str(code));
}

enum sink_result sink_send_on(struct sink *sink,
                              enum sink_way way,
                              struct sink_topic *topic,
                              int32_t partition,
                              struct span key,
                              struct span value,
                              rd_kafka_headers_t *headers,
                              void *token,
                              struct sink_report *report)
{
    rd_kafka_topic_t *handle = sink_topic_handle(sink, topic, way);
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__INVALID_ARG;
    if (handle != NULL) {
        code = produce(sink->producers[way].handle, handle, partition, key, value, headers, token);
    }
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        sink->producers[way].queued++;
        sink->queued_messages++;
        sink->queued_bytes += key.length + value.length;
        return SINK_TAKEN;
    }
    rd_kafka_headers_destroy(headers);
    return judge(sink, way, code, topic, partition, value.length, token, report);
}

/* By whichever way it goes now: in a transaction that looks for a topic it is held first. Takes the headers in any case. */
static enum sink_result send_by(struct sink *sink,
                                enum sink_way way,
                                struct sink_topic *topic,
                                int32_t partition,
                                struct span key,
                                struct span value,
                                rd_kafka_headers_t *headers,
                                void *token,
                                struct sink_report *report)
{
    if (headers == NULL) {
        /* never seen; but if a row is damaged, its lane must wait for a person, not lose the headers */
        return refuse(report, token, DELIVERY_RETRIABLE, NULL, topic->hash, "the stored record's headers are damaged");
    }
    if (sink_way_transactional(way)) {
        sink_transaction_note_topic(sink, topic);
    }
    if (sink_way_transactional(way) && sink->transaction->probing) {
        return sink_transaction_hold(sink, topic, partition, key, value, headers, token);
    }
    return sink_send_on(sink, way, topic, partition, key, value, headers, token, report);
}

enum sink_result sink_send_transactional(struct sink *sink,
                                         struct sink_topic *topic,
                                         int32_t partition,
                                         struct span key,
                                         struct span value,
                                         rd_kafka_headers_t *headers,
                                         struct sink_ticket *ticket,
                                         struct sink_report *report)
{
    struct sink_transaction *transaction = sink->transaction;
    enum sink_result result = send_by(sink, transaction->way, topic, partition, key, value, headers, ticket, report);
    if (result == SINK_FAILED) {
        (void)sink_ticket_redeem(&transaction->tickets, report);
    } else if (result == SINK_FULL) {
        sink_ticket_give(&transaction->tickets, ticket);
    }
    return result;
}

static enum sink_result send_to(struct sink *sink,
                                struct span name,
                                int32_t partition,
                                struct span key,
                                struct span value,
                                rd_kafka_headers_t *headers,
                                void *token,
                                struct sink_report *report)
{
    if (sink->exactly_once && !sink_transaction_open_for_records(sink)) {
        if (headers != NULL) {
            rd_kafka_headers_destroy(headers);
        }
        sink_transaction_not_now(sink);
        return SINK_FULL;
    }
    struct sink_topic *topic = sink_topic_get(sink, name);
    enum sink_result result;
    if (topic == NULL) {
        if (headers != NULL) {
            rd_kafka_headers_destroy(headers);
        }
        result = refuse(report, token, DELIVERY_FAULT, "undeliverable", sink_target_hash(name), "the target is no legal topic name");
    } else if (sink->exactly_once) {
        result = sink_send_transactional(sink, topic, partition, key, value, headers,
                                         sink_ticket_take(&sink->transaction->tickets, token, false, 0), report);
    } else {
        result = send_by(sink, topic->alone ? SINK_WAY_ALONE : SINK_WAY_BATCHED, topic, partition, key, value, headers, token, report);
    }
    if (sink->exactly_once) {
        sink_transaction_sent(sink, result, result == SINK_FAILED ? report : NULL);
    }
    return result;
}

enum sink_result sink_send(struct sink *sink,
                           const struct row *row,
                           const struct sink_origin *origin,
                           enum output_headers style,
                           void *token,
                           struct sink_report *report)
{
    return send_to(sink, row->decoded.target, row->decoded.partition, row->decoded.key, row->decoded.value,
                   sink_headers_accepted(row, origin, style), token, report);
}
