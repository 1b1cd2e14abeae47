#include "bridge/sink_failure.h"

#include <stdio.h>

enum delivery_failure sink_failure_of(rd_kafka_resp_err_t code)
{
    switch ((int)code) {
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION: /* the topic shrank to nothing: deleted. A partition asked for that is not there: sink_send */
        return DELIVERY_UNKNOWN_TOPIC;

    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:              /* beyond the topic's max.message.bytes, or our own message.max.bytes */
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:           /* beyond the topic's segment.bytes */
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:                  /* no key for a compacted topic, or a broker's own validation */
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:                /* the same, by a policy */
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:      /* no rights there: others need not wait for an administrator */
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:                 /* the name is illegal, or an internal topic's */
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT:  /* headers, on a topic with an ancient format */
    case RD_KAFKA_RESP_ERR__INVALID_ARG:                    /* librdkafka cannot even form it */
        return DELIVERY_FAULT;

    /* Known and retriable, so that nobody thinks they were forgotten:
     *  _MSG_TIMED_OUT, _TIMED_OUT, REQUEST_TIMED_OUT, _TRANSPORT, _ALL_BROKERS_DOWN: away;
     *  LEADER_NOT_AVAILABLE, NOT_LEADER_FOR_PARTITION, NOT_ENOUGH_REPLICAS(_AFTER_APPEND), KAFKA_STORAGE_ERROR: an election or a sick disk;
     *  _PURGE_QUEUE, _PURGE_INFLIGHT: our own shutdown;
     *  INVALID_MSG (corrupt on the way), THROTTLING_QUOTA_EXCEEDED, _QUEUE_FULL: again, later;
     *  INVALID_TIMESTAMP: our time of delivery is out of the topic's bounds: clocks differ, the next try carries another;
     *  CLUSTER_AUTHORIZATION_FAILED, _AUTHENTICATION, SASL_AUTHENTICATION_FAILED, INVALID_REQUIRED_ACKS, UNSUPPORTED_COMPRESSION_TYPE: a
     *  configuration that is wrong for every record: someone must mend it, and nothing is given up meanwhile;
     *  OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID, INVALID_PRODUCER_EPOCH, _FATAL: the producer is at an end (sink_fatal). */
    default:
        return DELIVERY_RETRIABLE;
    }
}

const char *sink_failure_reason(rd_kafka_resp_err_t code)
{
    switch ((int)code) {
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
        return "too_large";
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        return "not_authorised";
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
        return "invalid";
    default:
        return "undeliverable";
    }
}

bool sink_failure_of_batch(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || code == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE ||
           code == RD_KAFKA_RESP_ERR_INVALID_RECORD || code == RD_KAFKA_RESP_ERR_POLICY_VIOLATION;
}

bool sink_failure_is_purge(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR__PURGE_QUEUE || code == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT;
}

/* The coordinator says the same of a newer producer of this id and of a transaction that it ended itself: both raise the epoch. */
static bool is_fencing(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR__FENCED || code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
           code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH || code == RD_KAFKA_RESP_ERR_INVALID_TXN_STATE ||
           code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING;
}

void sink_failure_fatal(rd_kafka_resp_err_t code, const char *words, char *text, size_t size)
{
    if (is_fencing(code)) {
        snprintf(text, size,
                 "another process with this instance name took over, or the brokers ended a transaction that was open longer than "
                 "transaction_timeout (an outage); nothing is lost or doubled, and to start again is safe unless another process has "
                 "this name: %s",
                 words);
    } else {
        snprintf(text, size, "%s", words);
    }
}
