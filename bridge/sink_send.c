#include <stdio.h>
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

/* producev said no: what does that mean? */
static enum sink_result judge(struct sink *sink,
                              enum sink_way way,
                              rd_kafka_resp_err_t code,
                              const struct sink_topic *topic,
                              int32_t partition,
                              void *token,
                              struct sink_report *report)
{
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        if (rd_kafka_outq_len(sink->producers[way].handle) > 0) {
            return SINK_FULL;
        }
        /* nothing is there to wait for: it will never fit */
        return refuse(report, token, DELIVERY_FAULT, "too_large", topic->hash, "the record is larger than queue.buffering.max.kbytes; raise that");
    }
    enum delivery_failure failure = sink_failure_of(code);
    if (code == RD_KAFKA_RESP_ERR__STATE && sink_way_transactional(way)) {
        failure = DELIVERY_UNDONE; /* the transaction has failed already, for another's sake */
    }
    if (code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION && partition >= 0) {
        failure = DELIVERY_FAULT; /* the topic is known and has not that many */
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
    return judge(sink, way, code, topic, partition, token, report);
}

enum sink_result sink_send_by(struct sink *sink,
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
    } else {
        enum sink_way way = sink->exactly_once ? sink_transaction_way(sink) : topic->alone ? SINK_WAY_ALONE : SINK_WAY_BATCHED;
        result = sink_send_by(sink, way, topic, partition, key, value, headers, token, report);
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
