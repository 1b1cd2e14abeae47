#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bridge/kafka_handle.h"
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

static int left_ms(int64_t until_ms)
{
    int64_t left = until_ms - kafka_handle_clock_ms();
    return left > 0 ? (int)left : 1;
}

/* Asks for the offset of a time, which may be RD_KAFKA_OFFSET_BEGINNING or RD_KAFKA_OFFSET_END. Not by rd_kafka_query_watermark_offsets: in librdkafka 2.0 that
 * waits for a leader without a connection whatever its timeout. The end is the last stable offset by a handle that is read_committed, and the high
 * watermark by one that is read_uncommitted. */
static bool ask_offset(rd_kafka_t *handle,
                       const char *topic,
                       int32_t partition,
                       int64_t time,
                       int64_t until_ms,
                       int64_t *offset,
                       struct error *error)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *item = rd_kafka_topic_partition_list_add(list, topic, partition);
    item->offset = time;
    rd_kafka_resp_err_t code = rd_kafka_offsets_for_times(handle, list, left_ms(until_ms));
    code = code == RD_KAFKA_RESP_ERR_NO_ERROR ? item->err : code;
    *offset = item->offset;
    rd_kafka_topic_partition_list_destroy(list);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR || unavailable("an offset", topic, partition, code, error);
}

/* By the other consumer: a handle has one isolation level. After the end, so that it is never below it. */
static bool ask_high(struct source *source, const char *topic, int32_t partition, int64_t until_ms, int64_t *high, struct error *error)
{
    rd_kafka_t *handle = source_read_handle(source, error);
    return handle != NULL && ask_offset(handle, topic, partition, RD_KAFKA_OFFSET_END, until_ms, high, error);
}

bool source_high(struct source *source, const char *topic, int32_t partition, int timeout_ms, int64_t *high, struct error *error)
{
    bool known = ask_high(source, topic, partition, kafka_handle_clock_ms() + timeout_ms, high, error);
    source->reader_kept = !known; /* its connection may come to stand until the next attempt */
    return known;
}

bool source_look_up(struct source *source,
                    const char *topic,
                    int32_t partition,
                    int timeout_ms,
                    struct source_lookup *lookup,
                    struct error *error)
{
    struct source_lookup found = {.committed = -1};
    int64_t until_ms = kafka_handle_clock_ms() + timeout_ms;
    rd_kafka_t *asker = source_read_asker(source, error);
    if (asker == NULL || !ask_committed(source->handle, topic, partition, timeout_ms / 2, &found, error) ||
        !ask_offset(asker, topic, partition, RD_KAFKA_OFFSET_BEGINNING, until_ms, &found.low, error) ||
        !ask_offset(asker, topic, partition, RD_KAFKA_OFFSET_END, until_ms, &found.end, error) ||
        !ask_high(source, topic, partition, until_ms, &found.high, error)) {
        return false;
    }
    *lookup = found;
    return true;
}

bool source_offset_at(struct source *source,
                      const char *topic,
                      int32_t partition,
                      int64_t timestamp_ms,
                      int timeout_ms,
                      int64_t *offset,
                      struct error *error)
{
    int64_t end = -1;
    int64_t found = -1;
    int64_t until_ms = kafka_handle_clock_ms() + timeout_ms;
    int64_t time = timestamp_ms < 0 ? 0 : timestamp_ms; /* the negative ones have meanings of their own */
    rd_kafka_t *asker = source_read_asker(source, error);
    /* the end first: what is written between the two questions is not older, and must not be counted as such */
    if (asker == NULL || !ask_offset(asker, topic, partition, RD_KAFKA_OFFSET_END, until_ms, &end, error) ||
        !ask_offset(asker, topic, partition, time, until_ms, &found, error)) {
        return false;
    }
    *offset = found < 0 || found > end ? end : found; /* RD_KAFKA_OFFSET_END: none */
    return true;
}
