#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "bridge/sink_state.h"

uint64_t sink_target_hash(struct span topic)
{
    return XXH3_64bits(topic.data, topic.length);
}

static void free_topic(struct sink_topic *topic)
{
    for (size_t way = 0; topic != NULL && way < SINK_WAYS; way++) {
        if (topic->handles[way] != NULL) {
            rd_kafka_topic_destroy(topic->handles[way]);
        }
    }
    free(topic);
}

struct sink_topic *sink_topic_get(struct sink *sink, struct span name)
{
    uint64_t hash = sink_target_hash(name);
    struct sink_topic **place = &sink->topics[hash % SINK_TOPICS];
    struct sink_topic *topic = *place;
    if (topic != NULL && topic->hash == hash && span_equals_text(name, topic->name)) {
        return topic;
    }
    if (name.data == NULL || name.length == 0 || name.length >= sizeof topic->name || memchr(name.data, '\0', name.length) != NULL) {
        return NULL;
    }
    free_topic(topic);
    topic = memory_new(1, sizeof *topic);
    topic->hash = hash;
    memcpy(topic->name, name.data, name.length);
    *place = topic;
    return topic;
}

rd_kafka_topic_t *sink_topic_handle(struct sink *sink, struct sink_topic *topic, enum sink_way way)
{
    if (topic->handles[way] == NULL) {
        topic->handles[way] = rd_kafka_topic_new(sink->producers[way].handle, topic->name, NULL);
    }
    return topic->handles[way];
}

void sink_topic_free_all(struct sink *sink)
{
    for (size_t i = 0; i < SINK_TOPICS; i++) {
        free_topic(sink->topics[i]);
    }
}

static void prepare(struct sink *sink, struct sink_topic *topic, enum sink_way way)
{
    if (topic->handles[way] == NULL) {
        (void)sink_topic_handle(sink, topic, way); /* NULL: sink_send will say what is wrong with it */
    }
}

void sink_prepare(struct sink *sink, struct span topic)
{
    struct sink_topic *known = sink_topic_get(sink, topic);
    if (known == NULL) {
        return;
    }
    if (sink->exactly_once) {
        prepare(sink, known, SINK_WAY_FIRST);
        prepare(sink, known, SINK_WAY_SECOND);
    } else {
        prepare(sink, known, SINK_WAY_BATCHED);
    }
}
