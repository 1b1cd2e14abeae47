#include "ops/config_check_kafka.h"

#include <stdio.h>
#include <string.h>

#include "ops/config_kafka.h"
#include "ops/config_node.h"

#define SESSION_DEFAULT_MS INT64_C(45000) /* librdkafka's */
#define SESSION_LONG_MS INT64_C(60000)
#define BACKOFF_LONG_MS INT64_C(20) /* about what a whole transaction takes */

enum group { GROUP_COMMON, GROUP_PRODUCER, GROUP_CONSUMER };

/* One of librdkafka's times as somebody wrote it. */
struct given {
    char path[128]; /* "kafka.producer.message.timeout.ms" */
    struct config_place_text place;
    int64_t value_ms;
};

static const char *value_in(const struct config_map *map, const char *name)
{
    for (size_t i = 0; i < map->count; i++) {
        if (strcmp(map->items[i].name, name) == 0) {
            return map->items[i].value;
        }
    }
    return NULL;
}

/* False: not given, or no plain number, which librdkafka judges by itself. The client's own group wins over the common
 * one. */
static bool find(const struct config *config, enum group own, const char *name, struct given *given)
{
    const char *value = value_in(&config->kafka_given[own], name);
    enum group group = value != NULL ? own : GROUP_COMMON;
    value = value != NULL ? value : value_in(&config->kafka_given[GROUP_COMMON], name);
    if (value == NULL || !config_value_count(value, &given->value_ms, NULL)) {
        return false;
    }
    const char *section = config_kafka_group(group);
    const struct config_entry *map = config_node_at(config->tree, NULL, 0, section);
    const struct config_entry *entry = map == NULL ? NULL : config_node_find(map->node, name);
    snprintf(given->path, sizeof given->path, "%s.%s", section, name);
    given->place = config_node_place_text(entry == NULL ? config->tree->place : entry->place);
    return true;
}

/* A record must fail before its transaction does, else nobody could say which record it was. (The sink shortens what
 * nobody set, and socket.timeout.ms, whose usual 60 s people write down without meaning anything by it.) */
static void check_message_timeout(const struct config *config, const char *name, struct config_problems *problems)
{
    struct given given;
    if (!find(config, GROUP_PRODUCER, name, &given)) {
        return;
    }
    bool never = given.value_ms == 0;
    if (never || given.value_ms > config->transaction_timeout_ms) {
        config_problems_error(problems, given.place.text,
                              "%s: %lld%s is longer than transaction_timeout (%lld ms), and with delivery: "
                              "exactly_once a record must fail before its transaction does: remove it, lower it, or raise "
                              "transaction_timeout",
                              given.path, (long long)given.value_ms, never ? " (never)" : "",
                              (long long)config->transaction_timeout_ms);
    }
}

static void check_backoff(const struct config *config, struct config_problems *problems)
{
    struct given given;
    if (find(config, GROUP_PRODUCER, "retry.backoff.ms", &given) && given.value_ms > BACKOFF_LONG_MS) {
        config_problems_warning(problems, given.place.text,
                                "%s: with delivery: exactly_once each transaction may wait %lld ms for the end of an "
                                "earlier one, and records leave as much later: remove it, or lower it",
                                given.path, (long long)given.value_ms);
    }
}

/* How long a death goes unnoticed, and whether the dead one's transaction outlasts that. */
static void check_session(const struct config *config, struct config_problems *problems)
{
    struct given session = {.value_ms = SESSION_DEFAULT_MS};
    bool session_given = find(config, GROUP_CONSUMER, "session.timeout.ms", &session);
    if (session_given && session.value_ms > SESSION_LONG_MS) {
        config_problems_warning(problems, session.place.text,
                                "%s: %lld: the partitions of an instance that died stand still that long before "
                                "another takes them over: lower it to %lld or less, unless you mean that",
                                session.path, (long long)session.value_ms, (long long)SESSION_LONG_MS);
    }
    if (config->delivery == CONFIG_DELIVERY_EXACTLY_ONCE && config->transaction_timeout_ms > session.value_ms) {
        const struct config_entry *entry = config_node_at(config->tree, NULL, 0, "transaction_timeout");
        struct config_place place = entry == NULL ? config->tree->place : entry->place;
        bool of_session = entry == NULL && session_given;
        config_problems_warning(problems, of_session ? session.place.text : config_node_place_text(place).text,
                                "transaction_timeout: %lld ms is longer than session.timeout.ms (%lld ms): after a "
                                "death the open transaction holds up the takeover when the session is already over: "
                                "make it the shorter of the two",
                                (long long)config->transaction_timeout_ms, (long long)session.value_ms);
    }
}

void config_check_kafka(const struct config *config, struct config_problems *problems)
{
    if (config->delivery == CONFIG_DELIVERY_EXACTLY_ONCE) {
        check_message_timeout(config, "message.timeout.ms", problems);
        check_message_timeout(config, "delivery.timeout.ms", problems); /* librdkafka's other name for it */
        check_backoff(config, problems);
    }
    check_session(config, problems);
}
