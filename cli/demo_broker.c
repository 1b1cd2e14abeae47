#include "cli/demo_broker.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "bridge/admin.h"

#define PARTITIONS 3
#define TIMEOUT_MS 5000
#define MOCK_PAUSE_MS 5
#define UNKNOWN_TOPIC 3 /* Kafka's UNKNOWN_TOPIC_OR_PARTITION */

static const char *const short_names[DEMO_BROKER_TOPICS + 1] = {"reminders", "delayed-event", "events", "payments",
                                                                "orders",    "invoices",      "-"};

const char *demo_broker_short(enum demo_broker_topic topic)
{
    return short_names[topic];
}

static bool choose_names(struct demo_broker *broker, struct error *error)
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
        return error_set(error, ERROR_SYSTEM, "no random number for the topics' names");
    }
    snprintf(broker->prefix, sizeof broker->prefix, "tarry-demo-%08llx", (unsigned long long)(random & 0xffffffff));
    for (size_t i = 0; i < DEMO_BROKER_TOPICS; i++) {
        snprintf(broker->names[i], sizeof broker->names[i], "%s.%s", broker->prefix, short_names[i]);
        broker->topics[i] = (struct playground_topic){broker->names[i], PARTITIONS};
    }
    return true;
}

static bool make_in_mock(struct demo_broker *broker, const struct playground_topic *topic, struct error *error)
{
    /* librdkafka's mock cluster may miss the second of two orders that come close together, and then looks again
     * after a second */
    (void)poll(NULL, 0, MOCK_PAUSE_MS);
    return mock_cluster_create_topic(broker->mock, topic->name, topic->partitions, error);
}

static bool make_in_kafka(const struct demo_broker *broker, const struct playground_topic *topic, bool *made, struct error *error)
{
    const struct kafka_property properties[] = {{"bootstrap.servers", broker->bootstrap}};
    return admin_ensure_topic(properties, 1, topic->name, topic->partitions, TIMEOUT_MS, made, error);
}

static bool make_topic(struct demo_broker *broker, const struct playground_topic *topic, struct error *error)
{
    bool made = false;
    if (broker->mock != NULL) {
        return make_in_mock(broker, topic, error);
    }
    return make_in_kafka(broker, topic, &made, error) &&
           (made || error_set(error, ERROR_INVALID, "topic %s is there already; try again", topic->name));
}

/* The mock cluster makes each topic that is asked for: one that is not there must be said to be so. */
static bool hide_invoices(struct demo_broker *broker, struct error *error)
{
    const struct playground_topic *topic = &broker->topics[DEMO_BROKER_INVOICES];
    if (broker->mock != NULL) {
        if (!make_in_mock(broker, topic, error)) {
            return false;
        }
        mock_cluster_topic_error(broker->mock, topic->name, UNKNOWN_TOPIC);
    }
    return true;
}

bool demo_broker_make_invoices(struct demo_broker *broker, bool *made, struct error *error)
{
    const struct playground_topic *topic = &broker->topics[DEMO_BROKER_INVOICES];
    *made = true;
    if (broker->mock != NULL) {
        mock_cluster_topic_error(broker->mock, topic->name, 0);
    } else if (!make_in_kafka(broker, topic, made, error)) {
        return false;
    }
    broker->made = DEMO_BROKER_INVOICES + 1;
    return true;
}

bool demo_broker_open(struct demo_broker *broker, const char *kafka, struct error *error)
{
    *broker = (struct demo_broker){.bootstrap = kafka};
    if (kafka == NULL) {
        if (!mock_cluster_open(1, &broker->mock, error)) {
            return false;
        }
        broker->bootstrap = mock_cluster_bootstrap(broker->mock);
    }
    if (!choose_names(broker, error)) {
        return false;
    }
    for (; broker->made < DEMO_BROKER_INVOICES; broker->made++) {
        if (!make_topic(broker, &broker->topics[broker->made], error)) {
            return false;
        }
    }
    return hide_invoices(broker, error);
}

bool demo_broker_close(struct demo_broker *broker, bool keep, struct error *error)
{
    bool done = true;
    if (broker->mock == NULL && !keep) {
        done = playground_drop_topics(broker->bootstrap, broker->topics, broker->made, TIMEOUT_MS, error);
    }
    mock_cluster_close(broker->mock);
    *broker = (struct demo_broker){0};
    return done;
}
