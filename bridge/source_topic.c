#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bridge/source_state.h"

static struct source_topic *find(struct source *source, const char *name)
{
    if (source->last_topic != NULL && strcmp(source->last_topic->name, name) == 0) {
        return source->last_topic;
    }
    for (size_t i = 0; i < source->topic_count; i++) {
        if (strcmp(source->topics[i]->name, name) == 0) {
            source->last_topic = source->topics[i];
            return source->topics[i];
        }
    }
    return NULL;
}

struct source_topic *source_topic_intern(struct source *source, const char *name)
{
    struct source_topic *topic = find(source, name);
    if (topic == NULL) {
        source->topics = memory_resize(source->topics, source->topic_count + 1, sizeof(struct source_topic *));
        topic = memory_new(1, sizeof *topic);
        topic->name = memory_text(name, strlen(name));
        source->topics[source->topic_count++] = topic;
        source->last_topic = topic;
    }
    return topic;
}

struct source_partition *source_topic_partition(struct source_topic *topic, int32_t partition)
{
    if (partition >= topic->partition_count) {
        topic->partitions = memory_resize(topic->partitions, (size_t)partition + 1, sizeof *topic->partitions);
        while (topic->partition_count <= partition) {
            topic->partitions[topic->partition_count++] = (struct source_partition){.phase = SOURCE_PHASE_NONE};
        }
    }
    return &topic->partitions[partition];
}

struct source_partition *source_topic_find(struct source *source, const char *name, int32_t partition)
{
    struct source_topic *topic = find(source, name);
    return topic == NULL || partition < 0 || partition >= topic->partition_count ? NULL : &topic->partitions[partition];
}

void source_topic_free_all(struct source *source)
{
    for (size_t i = 0; i < source->topic_count; i++) {
        free(source->topics[i]->partitions);
        free(source->topics[i]->name);
        free(source->topics[i]);
    }
    free(source->topics);
}
