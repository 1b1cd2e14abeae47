/*
 * The refused topics are made at start, before a record could need them; until they are there tarry is not ready.
 *
 * The call blocks the owner for up to ENSURE_MS. It is made while the broker is away only every RETRY_MS, when nothing could be delivered
 * anyway, and once it has succeeded not again.
 */
#include <string.h>

#include "bridge/admin.h"
#include "ops/daemon_state.h"

#define ENSURE_MS 2000
#define RETRY_MS 10000
#define PARTITIONS 1 /* refused records are rare, and their order is worth something */

static bool ensure(struct daemon *daemon, size_t index)
{
    const struct config_source *source = &daemon->config->sources[index];
    bool created = false;
    struct error error;
    if (!admin_ensure_topic(daemon->config->kafka_common.items, daemon->config->kafka_common.count, source->refused_topic,
                            PARTITIONS, ENSURE_MS, &created, &error)) {
        log_write(LOG_LEVEL_WARNING, "refused_topic_missing", LOG_FIELDS(LOG_TEXT("topic", source->refused_topic)),
                  "%s; tarry is not ready until it is there", error.text);
        return false;
    }
    if (created) {
        log_write(LOG_LEVEL_INFO, "refused_topic_created", LOG_FIELDS(LOG_TEXT("topic", source->refused_topic)),
                  "made the topic for refused records");
    }
    daemon->sources[index].refused_topic_ready = true;
    return true;
}

void daemon_refused_topics(struct daemon *daemon)
{
    if (daemon->now.mono.ms < daemon->refused_topics_at_ms || daemon->stopping) {
        return;
    }
    bool all = true;
    for (size_t i = 0; i < daemon->config->source_count && all; i++) {
        all = daemon->sources[i].refused_topic_ready || ensure(daemon, i);
    }
    daemon->refused_topics_at_ms = all ? TIME_NEVER : clock_mono().ms + RETRY_MS;
}

void daemon_refused_missing(struct daemon *daemon, size_t source_index)
{
    if (daemon->sources[source_index].refused_topic_ready) {
        daemon->sources[source_index].refused_topic_ready = false;
        daemon->refused_topics_at_ms = daemon->now.mono.ms;
    }
}
