#include "bridge/topic_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <librdkafka/rdkafka.h>

#include "bridge/source_state.h"

/* True for what will be the same the next time. */
static bool is_refusal(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED || code == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED ||
           code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || code == RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION ||
           code == RD_KAFKA_RESP_ERR_INVALID_REQUEST || code == RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION ||
           code == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE || code == RD_KAFKA_RESP_ERR__INVALID_ARG;
}

static bool fail(rd_kafka_resp_err_t code, const char *words, const char *topic, struct error *error)
{
    return error_set(error, is_refusal(code) ? ERROR_INVALID : ERROR_UNAVAILABLE, "the configuration of topic %s: %s", topic,
                     words == NULL ? rd_kafka_err2str(code) : words);
}

static void take_number(const char *text, int64_t *number)
{
    char *end = NULL;
    errno = 0;
    long long read = strtoll(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0') {
        *number = read;
    }
}

/* "compact,delete", perhaps with blanks. */
static bool names_policy(const char *list, const char *policy)
{
    size_t length = strlen(policy);
    while (*list != '\0') {
        list += strspn(list, ", ");
        size_t word = strcspn(list, ", ");
        if (word == length && memcmp(list, policy, length) == 0) {
            return true;
        }
        list += word;
    }
    return false;
}

static void take_entry(const char *name, const char *value, struct topic_facts *facts)
{
    if (strcmp(name, "retention.ms") == 0) {
        take_number(value, &facts->retention_ms);
    } else if (strcmp(name, "retention.bytes") == 0) {
        take_number(value, &facts->retention_bytes);
    } else if (strcmp(name, "max.message.bytes") == 0) {
        take_number(value, &facts->max_message_bytes);
    } else if (strcmp(name, "cleanup.policy") == 0) {
        facts->deletes = names_policy(value, "delete");
        facts->compacts = names_policy(value, "compact");
    } else if (strcmp(name, "message.timestamp.type") == 0) {
        facts->log_append_time = strcmp(value, "LogAppendTime") == 0;
    }
}

static bool take_answer(rd_kafka_event_t *event, const char *topic, struct topic_facts *facts, struct error *error)
{
    if (event == NULL) {
        return fail(RD_KAFKA_RESP_ERR__TIMED_OUT, NULL, topic, error);
    }
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return fail(rd_kafka_event_error(event), rd_kafka_event_error_string(event), topic, error);
    }
    size_t count = 0;
    const rd_kafka_ConfigResource_t **resources =
        rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event), &count);
    if (count != 1) {
        return fail(RD_KAFKA_RESP_ERR__BAD_MSG, NULL, topic, error);
    }
    rd_kafka_resp_err_t code = rd_kafka_ConfigResource_error(resources[0]);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return fail(code, rd_kafka_ConfigResource_error_string(resources[0]), topic, error);
    }
    *facts = (struct topic_facts){.retention_ms = -1, .retention_bytes = -1, .max_message_bytes = -1, .deletes = true};
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resources[0], &count);
    for (size_t i = 0; i < count; i++) {
        const char *value = rd_kafka_ConfigEntry_value(entries[i]);
        if (value != NULL) {
            take_entry(rd_kafka_ConfigEntry_name(entries[i]), value, facts);
        }
    }
    return true;
}

static bool is_among(const struct rd_kafka_metadata *metadata, int32_t broker)
{
    for (int i = 0; i < metadata->broker_cnt; i++) {
        if (metadata->brokers[i].id == broker) {
            return true;
        }
    }
    return false;
}

/* librdkafka asks the controller. Where there is none (its own mock cluster names one that it does not have) it would wait until the time is up. */
static bool find_controller(rd_kafka_t *handle, const char *topic, int timeout_ms, struct error *error)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code = rd_kafka_metadata(handle, 0, NULL, &metadata, timeout_ms);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return fail(code, NULL, topic, error);
    }
    bool found = is_among(metadata, rd_kafka_controllerid(handle, 0));
    rd_kafka_metadata_destroy(metadata);
    return found || fail(RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE, "the brokers have no controller to be asked for it", topic, error);
}

static bool ask(rd_kafka_t *handle, const char *topic, int timeout_ms, struct topic_facts *facts, struct error *error)
{
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, NULL, 0);
    rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    rd_kafka_DescribeConfigs(handle, &resource, 1, options, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, timeout_ms);
    bool done = take_answer(event, topic, facts, error);
    if (event != NULL) {
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_ConfigResource_destroy(resource);
    rd_kafka_AdminOptions_destroy(options);
    return done;
}

bool topic_facts_read(struct source *source, const char *topic, int timeout_ms, struct topic_facts *facts, struct error *error)
{
    rd_kafka_t *asker = source_read_asker(source, error);
    return asker != NULL && find_controller(asker, topic, timeout_ms, error) && ask(asker, topic, timeout_ms, facts, error);
}
