/* What the brokers say of a topic's configuration, as far as promises depend on it. Blocking, bounded; owner thread. */
#ifndef TARRY_BRIDGE_TOPIC_FACTS_H
#define TARRY_BRIDGE_TOPIC_FACTS_H

#include "bridge/source.h"

struct topic_facts {
    int64_t retention_ms;      /* -1: kept for ever. What a broker does not say counts as what does no harm, here and below */
    int64_t retention_bytes;   /* of a partition, -1: no limit */
    int64_t max_message_bytes; /* -1: not said */
    bool deletes;              /* cleanup.policy has delete */
    bool compacts;             /* cleanup.policy has compact: records with equal keys overwrite each other */
    bool log_append_time;      /* message.timestamp.type: the broker's clock, not the producer's */
};

/* Asks for the topic's configuration (DescribeConfigs), by the source's client for questions: one or two round trips, at most twice timeout_ms.
 * ERROR_UNAVAILABLE: no broker answered in time. ERROR_INVALID: not allowed, or no such topic (text says which), or no client can be made of the
 * properties: the caller goes on without. */
bool topic_facts_read(struct source *source, const char *topic, int timeout_ms, struct topic_facts *facts, struct error *error);

#define TOPIC_FACTS_WARNINGS_MAX 8

/* What in them may lose or delay events, each as a sentence for an operator that names topic (cut when it is very long), key, value and remedy.
 * `max_delay_ms`: the source's; copies_forward: R6 is on. Returns how many (<= WARNINGS_MAX). Pure, any thread. */
size_t topic_facts_warnings(const struct topic_facts *facts,
                            const char *topic,
                            int64_t max_delay_ms,
                            bool copies_forward,
                            char warnings[TOPIC_FACTS_WARNINGS_MAX][320]);

#endif
