#include "support/kafka_topics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <librdkafka/rdkafka.h>

#include "base/memory.h"

#define CALL_TIMEOUT_MS 30000

struct session {
    rd_kafka_t *client;
    rd_kafka_queue_t *queue;
};

static struct session session_open(const char *bootstrap)
{
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, NULL, 0);
    rd_kafka_conf_set(conf, "log_level", "0", NULL, 0);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    assert_non_null(client);
    return (struct session){client, rd_kafka_queue_new(client)};
}

static void session_close(struct session session)
{
    rd_kafka_queue_destroy(session.queue);
    rd_kafka_destroy(session.client);
}

/* Waits for the one answer; the caller destroys it. */
static rd_kafka_event_t *answer(struct session session, const char *what)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(session.queue, CALL_TIMEOUT_MS);
    if (event == NULL || rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        fail_msg("%s: %s", what, event == NULL ? "no answer" : rd_kafka_event_error_string(event));
    }
    return event;
}

static void check_topics(const rd_kafka_topic_result_t *const *results, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++) {
        if (rd_kafka_topic_result_error(results[i]) != RD_KAFKA_RESP_ERR_NO_ERROR) {
            fail_msg("%s %s: %s", what, rd_kafka_topic_result_name(results[i]),
                     rd_kafka_topic_result_error_string(results[i]));
        }
    }
}

/* How many partitions of the topic have a leader; 0 when it is unknown. */
static int led_partitions(rd_kafka_t *client, const char *topic)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client, topic, NULL);
    int led = 0;
    if (rd_kafka_metadata(client, 0, handle, &metadata, 5000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        for (int i = 0; metadata->topic_cnt == 1 && i < metadata->topics[0].partition_cnt; i++) {
            led += metadata->topics[0].partitions[i].leader >= 0;
        }
        rd_kafka_metadata_destroy(metadata);
    }
    rd_kafka_topic_destroy(handle);
    return led;
}

static void wait_for_partitions(rd_kafka_t *client, const char *topic, int partitions)
{
    for (int tries = 0; tries < 600; tries++) {
        if (led_partitions(client, topic) == partitions) {
            return;
        }
        struct timespec pause = {0, 50 * 1000 * 1000};
        nanosleep(&pause, NULL);
    }
    fail_msg("topic %s does not come to %d partitions", topic, partitions);
}

static void set_configs(rd_kafka_NewTopic_t *topic, const char *const *configs)
{
    for (size_t i = 0; configs != NULL && configs[i] != NULL; i++) {
        const char *equals = strchr(configs[i], '=');
        assert_non_null(equals);
        char *name = memory_text(configs[i], (size_t)(equals - configs[i]));
        assert_int_equal(rd_kafka_NewTopic_set_config(topic, name, equals + 1), RD_KAFKA_RESP_ERR_NO_ERROR);
        free(name);
    }
}

void kafka_topics_create(const char *bootstrap, const char *topic, int partitions, const char *const *configs)
{
    struct session session = session_open(bootstrap);
    rd_kafka_NewTopic_t *request = rd_kafka_NewTopic_new(topic, partitions, 1, NULL, 0);
    assert_non_null(request);
    set_configs(request, configs);
    rd_kafka_CreateTopics(session.client, &request, 1, NULL, session.queue);
    rd_kafka_event_t *event = answer(session, "creating a topic");
    size_t count = 0;
    const rd_kafka_topic_result_t **results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
    check_topics(results, count, "creating topic");
    rd_kafka_event_destroy(event);
    rd_kafka_NewTopic_destroy(request);
    wait_for_partitions(session.client, topic, partitions);
    session_close(session);
}

void kafka_topics_delete(const char *bootstrap, const char *topic)
{
    struct session session = session_open(bootstrap);
    rd_kafka_DeleteTopic_t *request = rd_kafka_DeleteTopic_new(topic);
    rd_kafka_DeleteTopics(session.client, &request, 1, NULL, session.queue);
    rd_kafka_event_t *event = answer(session, "deleting a topic");
    size_t count = 0;
    const rd_kafka_topic_result_t **results = rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count);
    check_topics(results, count, "deleting topic");
    rd_kafka_event_destroy(event);
    rd_kafka_DeleteTopic_destroy(request);
    wait_for_partitions(session.client, topic, 0);
    session_close(session);
}

void kafka_topics_add_partitions(const char *bootstrap, const char *topic, int partitions)
{
    char text[256];
    struct session session = session_open(bootstrap);
    rd_kafka_NewPartitions_t *request = rd_kafka_NewPartitions_new(topic, (size_t)partitions, text, sizeof text);
    assert_non_null(request);
    rd_kafka_CreatePartitions(session.client, &request, 1, NULL, session.queue);
    rd_kafka_event_t *event = answer(session, "adding partitions");
    size_t count = 0;
    const rd_kafka_topic_result_t **results =
        rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(event), &count);
    check_topics(results, count, "adding partitions to");
    rd_kafka_event_destroy(event);
    rd_kafka_NewPartitions_destroy(request);
    wait_for_partitions(session.client, topic, partitions);
    session_close(session);
}

void kafka_topics_delete_records(const char *bootstrap, const char *topic, int partition, long long offset)
{
    struct session session = session_open(bootstrap);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = offset;
    rd_kafka_DeleteRecords_t *request = rd_kafka_DeleteRecords_new(list);
    rd_kafka_DeleteRecords(session.client, &request, 1, NULL, session.queue);
    rd_kafka_event_t *event = answer(session, "deleting records");
    const rd_kafka_topic_partition_list_t *offsets = rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event));
    assert_int_equal(offsets->cnt, 1);
    assert_int_equal(offsets->elems[0].err, RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_event_destroy(event);
    rd_kafka_DeleteRecords_destroy(request);
    rd_kafka_topic_partition_list_destroy(list);
    session_close(session);
}

void kafka_topics_delete_group(const char *bootstrap, const char *group)
{
    struct session session = session_open(bootstrap);
    rd_kafka_DeleteGroup_t *request = rd_kafka_DeleteGroup_new(group);
    rd_kafka_DeleteGroups(session.client, &request, 1, NULL, session.queue);
    rd_kafka_event_t *event = answer(session, "deleting a group");
    size_t count = 0;
    const rd_kafka_group_result_t **groups = rd_kafka_DeleteGroups_result_groups(rd_kafka_event_DeleteGroups_result(event), &count);
    for (size_t i = 0; i < count; i++) {
        const rd_kafka_error_t *error = rd_kafka_group_result_error(groups[i]);
        if (error != NULL) {
            fail_msg("deleting group %s: %s", group, rd_kafka_error_string(error));
        }
    }
    rd_kafka_event_destroy(event);
    rd_kafka_DeleteGroup_destroy(request);
    session_close(session);
}
