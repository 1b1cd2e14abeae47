#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "bridge/source_state.h"

static struct span span_of(const void *data, size_t length)
{
    return (struct span){data, length};
}

static size_t fill_headers(const rd_kafka_message_t *message, struct record_header **headers, size_t *room)
{
    rd_kafka_headers_t *list = NULL;
    if (rd_kafka_message_headers(message, &list) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return 0;
    }
    size_t count = rd_kafka_header_cnt(list);
    if (count > *room) {
        *headers = memory_resize(*headers, count, sizeof **headers);
        *room = count;
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = NULL;
        const void *value = NULL;
        size_t length = 0;
        rd_kafka_header_get_all(list, i, &name, &value, &length);
        /* librdkafka gives a name without its length: one with a NUL inside (legal nowhere, possible everywhere) ends there */
        (*headers)[i] = (struct record_header){span_of_text(name), span_of(value, length)};
    }
    return count;
}

void source_record_fill(const rd_kafka_message_t *message, struct record *record, struct record_header **headers, size_t *room)
{
    rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
    int64_t timestamp_ms = rd_kafka_message_timestamp(message, &type);
    record->key = span_of(message->key, message->key_len);
    record->value = span_of(message->payload, message->len);
    record->offset = message->offset;
    record->partition = message->partition;
    record->header_count = fill_headers(message, headers, room);
    record->headers = *headers;
    /* producers may send -1 with either type: that is no timestamp */
    bool known = type != RD_KAFKA_TIMESTAMP_NOT_AVAILABLE && timestamp_ms >= 0;
    record->timestamp_ms = known ? timestamp_ms : -1;
    record->timestamp = !known                                       ? RECORD_TIMESTAMP_NONE
                        : type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME ? RECORD_TIMESTAMP_APPEND
                                                                     : RECORD_TIMESTAMP_CREATE;
}

bool source_record_take(struct source *source, rd_kafka_event_t *event, struct source_event *out)
{
    const rd_kafka_message_t *message = rd_kafka_event_message_next(event);
    if (message == NULL || message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return false;
    }
    struct source_topic *topic = source_topic_intern(source, rd_kafka_topic_name(message->rkt));
    struct source_partition *partition = source_topic_partition(topic, message->partition);
    if (partition->phase != SOURCE_PHASE_STARTED || message->offset < partition->next) {
        return false;
    }
    partition->next = message->offset + 1;
    out->kind = SOURCE_RECORD;
    out->topic = topic->name;
    out->partition = message->partition;
    source_record_fill(message, &out->record, &source->headers, &source->header_room);
    source->borrowed = event;
    return true;
}

static uint32_t crc_of_span(uint32_t crc, struct span span)
{
    /* length first, one more than it is, so that absent and empty differ and bytes do not move between key and value */
    uint64_t length = span.data == NULL ? 0 : (uint64_t)span.length + 1;
    uint8_t bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(length >> (8 * i));
    }
    uLong sum = crc32_z(crc, bytes, sizeof bytes);
    return (uint32_t)(span.length == 0 ? sum : crc32_z(sum, span.data, span.length));
}

uint32_t source_record_crc(const struct record *record)
{
    return crc_of_span(crc_of_span(0, record->key), record->value);
}
