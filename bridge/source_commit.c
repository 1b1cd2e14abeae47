#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "bridge/source_state.h"

/* A commit that stands behind a JoinGroup on the coordinator's connection carries the generation of before, and is looked at in the one after. librdkafka 2.0
 * takes the refusal for the loss of all partitions: they would be given up and taken over again. So it waits for the end of the join. */
struct source_deferred {
    rd_kafka_topic_partition_list_t *list;
    uint32_t tag;
};

static rd_kafka_resp_err_t send_now(struct source *source, const rd_kafka_topic_partition_list_t *list, uint32_t tag)
{
    return rd_kafka_commit_queue(source->handle, list, source->queue, NULL, (void *)(uintptr_t)tag);
}

static void defer(struct source *source, rd_kafka_topic_partition_list_t *list, uint32_t tag)
{
    if (source->deferred_count == source->deferred_room) {
        source->deferred_room = source->deferred_room == 0 ? 16 : source->deferred_room * 2;
        source->deferred = memory_resize(source->deferred, source->deferred_room, sizeof *source->deferred);
    }
    source->deferred[source->deferred_count++] = (struct source_deferred){list, tag};
}

void source_commit_send_deferred(struct source *source)
{
    for (size_t i = 0; i < source->deferred_count; i++) {
        struct source_deferred *deferred = &source->deferred[i];
        rd_kafka_resp_err_t code = send_now(source, deferred->list, deferred->tag);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) { /* only without a group: the handle is going down, and nobody waits for the answer */
            log_write(LOG_LEVEL_WARNING, "kafka_commit", NULL, 0, "the last progress was not committed: what it covers may be delivered again: %s", rd_kafka_err2str(code));
        }
        rd_kafka_topic_partition_list_destroy(deferred->list);
    }
    source->deferred_count = 0;
}

void source_commit_free_deferred(struct source *source)
{
    for (size_t i = 0; i < source->deferred_count; i++) {
        rd_kafka_topic_partition_list_destroy(source->deferred[i].list);
    }
    free(source->deferred);
}

bool source_commit(struct source *source,
                   const char *topic,
                   int32_t partition,
                   int64_t offset,
                   const char *metadata,
                   uint32_t tag,
                   struct error *error)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *item = rd_kafka_topic_partition_list_add(list, topic, partition);
    item->offset = offset;
    item->metadata_size = strlen(metadata);
    item->metadata = memory_text(metadata, item->metadata_size); /* the list frees it */
    if (source->rejoining) {
        defer(source, list, tag);
        return true;
    }
    rd_kafka_resp_err_t code = send_now(source, list, tag);
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return error_set(error, ERROR_UNAVAILABLE, "committing offset %" PRId64 " of %s [%" PRId32 "]: %s", offset, topic, partition,
                         rd_kafka_err2str(code));
    }
    return true;
}

bool source_commit_take(struct source *source, rd_kafka_event_t *event, struct source_event *out)
{
    const rd_kafka_topic_partition_list_t *list = rd_kafka_event_topic_partition_list(event);
    if (list == NULL || list->cnt != 1) {
        return false; /* we never ask for more than one */
    }
    const rd_kafka_topic_partition_t *item = &list->elems[0];
    rd_kafka_resp_err_t code = rd_kafka_event_error(event);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        code = item->err;
    }
    out->kind = SOURCE_COMMITTED;
    out->topic = source_topic_intern(source, item->topic)->name;
    out->partition = item->partition;
    out->offset = item->offset;
    out->tag = (uint32_t)(uintptr_t)rd_kafka_event_opaque(event);
    out->acknowledged = code == RD_KAFKA_RESP_ERR_NO_ERROR;
    snprintf(out->text, sizeof out->text, "%s", out->acknowledged ? "" : rd_kafka_err2str(code));
    return true;
}
