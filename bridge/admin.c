#include "bridge/admin.h"

#include <stdio.h>
#include <librdkafka/rdkafka.h>

#include "bridge/kafka_handle.h"

static bool judge(rd_kafka_resp_err_t code, const char *words, const char *topic, bool *created, struct error *error)
{
    switch ((int)code) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        *created = true;
        return true;
    case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
        *created = false;
        return true;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
        return error_set(error, ERROR_INVALID, "making topic %s: %s; make it yourself", topic, words);
    default:
        return error_set(error, ERROR_UNAVAILABLE, "making topic %s: %s", topic, words);
    }
}

static bool read_answer(rd_kafka_event_t *event, const char *topic, bool *created, struct error *error)
{
    if (event == NULL) {
        return error_set(error, ERROR_UNAVAILABLE, "making topic %s: no broker answered", topic);
    }
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        bool nobody = rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__TIMED_OUT || rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__TRANSPORT;
        const char *words = nobody ? "no broker answered" : rd_kafka_event_error_string(event);
        return judge(rd_kafka_event_error(event), words, topic, created, error);
    }
    size_t count = 0;
    const rd_kafka_topic_result_t **results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
    if (count != 1) {
        return error_set(error, ERROR_UNAVAILABLE, "making topic %s: an answer without a result", topic);
    }
    const char *words = rd_kafka_topic_result_error_string(results[0]);
    return judge(rd_kafka_topic_result_error(results[0]), words == NULL ? "" : words, topic, created, error);
}

static bool create(rd_kafka_t *handle, const char *topic, int32_t partitions, int timeout_ms, bool *created, struct error *error)
{
    char words[256];
    rd_kafka_NewTopic_t *request = rd_kafka_NewTopic_new(topic, partitions, -1, words, sizeof words);
    if (request == NULL) {
        return error_set(error, ERROR_INVALID, "topic %s with %d partitions: %s", topic, (int)partitions, words);
    }
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_CREATETOPICS);
    rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, NULL, 0);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    rd_kafka_CreateTopics(handle, &request, 1, options, queue);
    /* the request ends by its own timeout; the second is for its way back */
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, timeout_ms + 1000);
    bool done = read_answer(event, topic, created, error);
    if (event != NULL) {
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_NewTopic_destroy(request);
    return done;
}

bool admin_ensure_topic(const struct kafka_property *properties,
                        size_t property_count,
                        const char *topic,
                        int32_t partitions,
                        int timeout_ms,
                        bool *created,
                        struct error *error)
{
    rd_kafka_conf_t *conf = kafka_handle_conf(NULL, 0, properties, property_count, NULL, 0, error);
    rd_kafka_t *handle = conf == NULL ? NULL : kafka_handle_new(RD_KAFKA_PRODUCER, conf, error);
    if (handle == NULL) {
        return false;
    }
    /* Not looked for before: to ask for a topic's metadata makes it, where the broker makes topics by itself. */
    bool done = create(handle, topic, partitions, timeout_ms, created, error);
    kafka_handle_destroy(handle);
    return done;
}

bool admin_cluster_id(const struct kafka_property *properties, size_t property_count, int timeout_ms, char *id, size_t size, struct error *error)
{
    rd_kafka_conf_t *conf = kafka_handle_conf(NULL, 0, properties, property_count, NULL, 0, error);
    rd_kafka_t *handle = conf == NULL ? NULL : kafka_handle_new(RD_KAFKA_PRODUCER, conf, error);
    if (handle == NULL) {
        return false;
    }
    char *found = rd_kafka_clusterid(handle, timeout_ms);
    if (found != NULL) {
        snprintf(id, size, "%s", found);
        rd_kafka_mem_free(handle, found);
    }
    kafka_handle_destroy(handle);
    return found != NULL || error_set(error, ERROR_UNAVAILABLE, "no Kafka broker answered (kafka.bootstrap.servers)");
}
