#include "bridge/mock_cluster.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdlib.h>

#include "base/memory.h"
#include "bridge/kafka_handle.h"

struct mock_cluster {
    rd_kafka_t *handle;
    rd_kafka_mock_cluster_t *brokers;
};

bool mock_cluster_open(int brokers, struct mock_cluster **cluster, struct error *error)
{
    rd_kafka_conf_t *conf = kafka_handle_conf(NULL, 0, NULL, 0, NULL, 0, error);
    if (conf == NULL) {
        return false;
    }
    rd_kafka_t *handle = kafka_handle_new(RD_KAFKA_PRODUCER, conf, error);
    if (handle == NULL) {
        return false;
    }
    rd_kafka_mock_cluster_t *mock = rd_kafka_mock_cluster_new(handle, brokers);
    if (mock == NULL) {
        rd_kafka_destroy(handle);
        return error_set(error, ERROR_SYSTEM, "the mock cluster of %d brokers did not start (no free loopback port?)", brokers);
    }
    *cluster = memory_new(1, sizeof **cluster);
    **cluster = (struct mock_cluster){handle, mock};
    return true;
}

void mock_cluster_close(struct mock_cluster *cluster)
{
    if (cluster == NULL) {
        return;
    }
    rd_kafka_mock_cluster_destroy(cluster->brokers);
    rd_kafka_destroy(cluster->handle);
    free(cluster);
}

const char *mock_cluster_bootstrap(const struct mock_cluster *cluster)
{
    return rd_kafka_mock_cluster_bootstraps(cluster->brokers);
}

bool mock_cluster_create_topic(struct mock_cluster *cluster, const char *topic, int partitions, struct error *error)
{
    rd_kafka_resp_err_t code = rd_kafka_mock_topic_create(cluster->brokers, topic, partitions, 1);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return error_set(error, ERROR_INVALID, "topic %s with %d partitions: %s", topic, partitions, rd_kafka_err2str(code));
    }
    return true;
}

void mock_cluster_fail(struct mock_cluster *cluster, enum mock_cluster_request request, int code, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        rd_kafka_resp_err_t error = (rd_kafka_resp_err_t)code;
        rd_kafka_mock_push_request_errors_array(cluster->brokers, (int16_t)request, 1, &error);
    }
}

void mock_cluster_fail_at(struct mock_cluster *cluster, int32_t broker, enum mock_cluster_request request, int code, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        rd_kafka_mock_broker_push_request_error_rtts(cluster->brokers, broker, (int16_t)request, 1, (rd_kafka_resp_err_t)code, 0);
    }
}

size_t mock_cluster_failures_left(struct mock_cluster *cluster, int32_t broker, enum mock_cluster_request request)
{
    size_t count = 0;
    rd_kafka_mock_broker_error_stack_cnt(cluster->brokers, broker, (int16_t)request, &count);
    return count;
}

void mock_cluster_heal(struct mock_cluster *cluster, enum mock_cluster_request request)
{
    rd_kafka_mock_clear_request_errors(cluster->brokers, (int16_t)request);
}

void mock_cluster_topic_error(struct mock_cluster *cluster, const char *topic, int code)
{
    rd_kafka_mock_topic_set_error(cluster->brokers, topic, (rd_kafka_resp_err_t)code);
}

void mock_cluster_broker_down(struct mock_cluster *cluster, int32_t broker, bool down)
{
    if (down) {
        rd_kafka_mock_broker_set_down(cluster->brokers, broker);
    } else {
        rd_kafka_mock_broker_set_up(cluster->brokers, broker);
    }
}

void mock_cluster_delay(struct mock_cluster *cluster, int32_t broker, int delay_ms)
{
    rd_kafka_mock_broker_set_rtt(cluster->brokers, broker, delay_ms);
}
