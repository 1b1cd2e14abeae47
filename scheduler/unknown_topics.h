/*
 * Since when target topics have been missing: a topic that was just created looks unknown for a while, so its records are refused
 * only after a grace (core_options.unknown_topic_grace_ms). A small fixed table by hash; when it is full the one not seen for longest goes.
 */
#ifndef TARRY_SCHEDULER_UNKNOWN_TOPICS_H
#define TARRY_SCHEDULER_UNKNOWN_TOPICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time_types.h"

#define UNKNOWN_TOPICS_MAX 64

struct unknown_topic {
    uint64_t hash;
    int64_t since_ms; /* on the monotonic clock */
    int64_t seen_ms;
    bool used;
};

struct unknown_topics {
    struct unknown_topic items[UNKNOWN_TOPICS_MAX];
};

/* Notes that the topic was missing at `now`; true: it has been for grace_ms or longer. One that nobody missed for grace_ms + 60 s starts
 * again. O(UNKNOWN_TOPICS_MAX). */
bool unknown_topics_expired(struct unknown_topics *table, uint64_t hash, struct mono_ms now, int64_t grace_ms);

#endif
