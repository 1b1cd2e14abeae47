#include <inttypes.h>
#include <stdlib.h>

#include "bridge/kafka_handle.h"
#include "bridge/source_state.h"

/* What a message says about the anchor. */
enum finding { FINDING_FOUND, FINDING_ABSENT, FINDING_NONE_YET };

static enum finding judge(const rd_kafka_message_t *message, int64_t anchor_offset, struct source_lookup *lookup)
{
    if (message == NULL) {
        return FINDING_NONE_YET;
    }
    /* the log ends before it, or starts behind it */
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF || message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
        message->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
        return FINDING_ABSENT;
    }
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return FINDING_NONE_YET; /* an outage: the client goes on trying */
    }
    if (message->offset != anchor_offset) {
        return FINDING_ABSENT; /* compacted away */
    }
    struct record record;
    struct record_header *headers = NULL;
    size_t room = 0;
    source_record_fill(message, &record, &headers, &room);
    lookup->anchor_found = true;
    lookup->anchor_timestamp_ms = record.timestamp_ms;
    lookup->anchor_crc = source_record_crc(&record);
    free(headers);
    return FINDING_FOUND;
}

/* A consumer that never joins. NULL: ERROR_INVALID. */
static rd_kafka_t *open_handle(const struct source *source, const char *isolation, struct error *error)
{
    static const struct kafka_handle_setting defaults[] = {{"fetch.error.backoff.ms", "50"}, {"reconnect.backoff.max.ms", "500"}};
    const struct kafka_handle_setting fixed[] = {
        {"group.id", source->group}, /* never joined: it only assigns and reads */
        {"isolation.level", isolation},
        {"enable.auto.commit", "false"},
        {"enable.auto.offset.store", "false"},
        {"enable.partition.eof", "true"},
        {"auto.offset.reset", "error"},
        /* The owner waits for the answer, so these are ours, too (docs/internals/kafka.md, "Anchors"). One batch holds the record; */
        {"fetch.message.max.bytes", "1024"},
        {"fetch.min.bytes", "1"},
        /* a fetch of the partition before that still waits at the broker holds up the next one; */
        {"fetch.wait.max.ms", "1"},
        /* and a queue that counts as full, be it of librdkafka's own marks, stops fetching for up to a second. */
        {"queued.min.messages", "100000"},
        /* Being sent on to a nearer replica takes longer than the record. */
        {"client.rack", ""},
    };
    rd_kafka_conf_t *conf = kafka_handle_conf(defaults, sizeof defaults / sizeof defaults[0], source->properties, source->property_count,
                                              fixed, sizeof fixed / sizeof fixed[0], error);
    rd_kafka_t *handle = conf == NULL ? NULL : kafka_handle_new(RD_KAFKA_CONSUMER, conf, error);
    if (handle != NULL) {
        rd_kafka_poll_set_consumer(handle);
    }
    return handle;
}

rd_kafka_t *source_read_handle(struct source *source, struct error *error)
{
    if (source->reader == NULL) {
        source->reader = open_handle(source, "read_uncommitted", error); /* else the high watermark would be the last stable offset */
    }
    return source->reader;
}

/* Nothing is assigned, but what was fetched beyond an anchor still fills the queue: it must not keep the next fetch from being sent. */
static void drain(rd_kafka_t *reader)
{
    rd_kafka_message_t *message;
    while ((message = rd_kafka_consumer_poll(reader, 0)) != NULL) {
        rd_kafka_message_destroy(message);
    }
}

rd_kafka_t *source_read_asker(struct source *source, struct error *error)
{
    if (source->asker == NULL) {
        source->asker = open_handle(source, "read_committed", error);
    }
    if (source->asker != NULL) {
        drain(source->asker); /* what it has to say of lost connections the group's client says, too */
    }
    return source->asker;
}

static enum finding wait_for(rd_kafka_t *reader, int64_t anchor_offset, int timeout_ms, struct source_lookup *lookup)
{
    /* what is no answer (a lost connection) uses up one of the turns: bounded without a clock */
    enum { TURNS = 8 };
    enum finding finding = FINDING_NONE_YET;
    for (int turn = 0; turn < TURNS && finding == FINDING_NONE_YET; turn++) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(reader, timeout_ms / TURNS + 1);
        finding = judge(message, anchor_offset, lookup);
        if (message != NULL) {
            rd_kafka_message_destroy(message);
        }
    }
    return finding;
}

bool source_read_anchor(struct source *source,
                        const char *topic,
                        int32_t partition,
                        int64_t anchor_offset,
                        int timeout_ms,
                        struct source_lookup *lookup,
                        struct error *error)
{
    rd_kafka_t *reader = source_read_handle(source, error);
    if (reader == NULL) {
        return false;
    }
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = anchor_offset;
    rd_kafka_assign(reader, list);
    rd_kafka_topic_partition_list_destroy(list);
    struct source_lookup found = *lookup;
    found.anchor_found = false;
    enum finding finding = wait_for(reader, anchor_offset, timeout_ms, &found);
    rd_kafka_assign(reader, NULL);
    drain(reader);
    if (finding == FINDING_NONE_YET) {
        return error_set(error, ERROR_UNAVAILABLE, "reading %s [%" PRId32 "] at offset %" PRId64 ": no answer in %d ms", topic, partition,
                         anchor_offset, timeout_ms);
    }
    *lookup = found;
    return true;
}

void source_read_close(struct source *source)
{
    if (source->reader != NULL) {
        source_read_wait(source, 0); /* of an earlier one; it has had a rebalance's time */
        source->reader_ending = kafka_handle_destroy_begin(source->reader);
        source->reader = NULL;
    }
}

void source_read_rest(struct source *source)
{
    source_read_close(source);
}

void source_read_wait(struct source *source, int timeout_ms)
{
    kafka_handle_destroy_end(source->reader_ending, timeout_ms);
    source->reader_ending = NULL;
}
