#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bridge/source_state.h"

static bool unavailable(const char *what, const char *topic, int32_t partition, rd_kafka_resp_err_t code, struct error *error)
{
    return error_set(error, ERROR_UNAVAILABLE, "%s of %s [%" PRId32 "]: %s", what, topic, partition, rd_kafka_err2str(code));
}

static bool ask_committed(rd_kafka_t *handle,
                          const char *topic,
                          int32_t partition,
                          int timeout_ms,
                          struct source_lookup *lookup,
                          struct error *error)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    const rd_kafka_topic_partition_t *item = rd_kafka_topic_partition_list_add(list, topic, partition);
    rd_kafka_resp_err_t code = rd_kafka_committed(handle, list, timeout_ms);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        code = item->err;
    }
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        lookup->committed = item->offset < 0 ? -1 : item->offset;
        /* somebody else's longer metadata is cut; it will not read as ours either way */
        size_t length = item->metadata == NULL ? 0 : item->metadata_size;
        length = length < sizeof lookup->metadata ? length : sizeof lookup->metadata - 1;
        if (length > 0) {
            memcpy(lookup->metadata, item->metadata, length);
        }
        lookup->metadata[length] = '\0';
    }
    rd_kafka_topic_partition_list_destroy(list);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR || unavailable("the committed offset", topic, partition, code, error);
}

bool source_look_up(struct source *source,
                    const char *topic,
                    int32_t partition,
                    int timeout_ms,
                    struct source_lookup *lookup,
                    struct error *error)
{
    struct source_lookup found = {.committed = -1};
    if (!ask_committed(source->handle, topic, partition, timeout_ms / 2, &found, error)) {
        return false;
    }
    /* asked with the consumer's isolation level, read_committed: the end is the last stable offset, not the high watermark */
    rd_kafka_resp_err_t code =
        rd_kafka_query_watermark_offsets(source->handle, topic, partition, &found.low, &found.end, timeout_ms - timeout_ms / 2);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return unavailable("the log's start and end", topic, partition, code, error);
    }
    *lookup = found;
    return true;
}
