#include "cli/demo_broker.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "bridge/admin.h"

#define PARTITIONS 3
#define TIMEOUT_MS 5000
#define MOCK_PAUSE_MS 5

static const char *const short_names[DEMO_BROKER_TOPICS] = {"reminders", "delayed-event", "events",
                                                            "payments",  "orders",        "refused"};

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
        broker->topics[i] = (struct playground_topic){broker->names[i], i == DEMO_BROKER_REFUSED ? 1 : PARTITIONS};
    }
    return true;
}

static bool make_topic(struct demo_broker *broker, const struct playground_topic *topic, struct error *error)
{
    if (broker->mock != NULL) {
        /* librdkafka's mock cluster may miss the second of two orders that come close together, and then looks again
         * after a second */
        (void)poll(NULL, 0, MOCK_PAUSE_MS);
        return mock_cluster_create_topic(broker->mock, topic->name, topic->partitions, error);
    }
    const struct kafka_property properties[] = {{"bootstrap.servers", broker->bootstrap}};
    bool created = false;
    if (!admin_ensure_topic(properties, 1, topic->name, topic->partitions, TIMEOUT_MS, &created, error)) {
        return false;
    }
    return created || error_set(error, ERROR_INVALID, "topic %s is there already; try again", topic->name);
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
    for (; broker->made < DEMO_BROKER_TOPICS; broker->made++) {
        if (!make_topic(broker, &broker->topics[broker->made], error)) {
            return false;
        }
    }
    return true;
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
