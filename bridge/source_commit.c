#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "bridge/source_state.h"

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
    rd_kafka_resp_err_t code = rd_kafka_commit_queue(source->handle, list, source->queue, NULL, (void *)(uintptr_t)tag);
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
