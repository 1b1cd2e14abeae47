/*
 * What goes wrong, told in three kinds: fatal (the process must end), a partition's own (GONE, or TROUBLE with its topic), and the
 * connection's (TROUBLE without a topic).
 *
 * librdkafka says when connections are lost but not when they are back. So while there is trouble the owner asks for metadata now and then; the
 * answer is the sign of life that a partition without traffic would not give. (An admin question to the group's coordinator would not block,
 * but librdkafka 2.0.2 aborts on one that times out while the broker is away: librdkafka#3663, #4605.)
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bridge/source_state.h"

bool source_trouble_fatal(struct source *source, const char *words, struct source_event *out)
{
    if (source->fatal_said) {
        return false;
    }
    source->fatal_said = true;
    out->kind = SOURCE_FATAL;
    snprintf(out->text, sizeof out->text, "%s", words);
    return true;
}

static void name_partition(struct source *source, const rd_kafka_topic_partition_t *item, struct source_event *out)
{
    out->topic = source_topic_intern(source, item->topic)->name;
    out->partition = item->partition;
    out->offset = item->offset;
}

static bool take_end(struct source *source, const rd_kafka_topic_partition_t *item, struct source_event *out)
{
    struct source_partition *partition = source_topic_find(source, item->topic, item->partition);
    if (partition == NULL || partition->phase != SOURCE_PHASE_STARTED) {
        return false;
    }
    name_partition(source, item, out);
    out->kind = SOURCE_END;
    if (item->offset > partition->next) {
        partition->next = item->offset;
    }
    return true;
}

static bool take_partition(struct source *source, rd_kafka_event_t *event, const rd_kafka_topic_partition_t *item, struct source_event *out)
{
    rd_kafka_resp_err_t code = rd_kafka_event_error(event);
    if (code == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        return take_end(source, item, out);
    }
    name_partition(source, item, out);
    bool gone = code == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET || code == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE;
    out->kind = gone ? SOURCE_GONE : SOURCE_TROUBLE;
    snprintf(out->text, sizeof out->text, "%s", rd_kafka_event_error_string(event));
    return true;
}

static bool take_connection(struct source *source, rd_kafka_event_t *event, struct source_event *out)
{
    if (rd_kafka_event_error_is_fatal(event) || rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID) {
        return source_trouble_fatal(source, rd_kafka_event_error_string(event), out);
    }
    out->kind = SOURCE_TROUBLE;
    source->troubled = true;
    snprintf(out->text, sizeof out->text, "%s", rd_kafka_event_error_string(event));
    return true;
}

bool source_trouble_take(struct source *source, rd_kafka_event_t *event, struct source_event *out)
{
    rd_kafka_topic_partition_t *item = rd_kafka_event_topic_partition(event);
    if (item == NULL) {
        return take_connection(source, event, out);
    }
    bool tell = take_partition(source, event, item, out);
    rd_kafka_topic_partition_destroy(item);
    return tell;
}

/* Not by the group's own client: there the answer waits behind a fetch that has nothing to bring, for longer than the owner may. */
bool source_trouble_probe(struct source *source, int timeout_ms)
{
    const struct rd_kafka_metadata *metadata = NULL;
    struct error error;
    if (!source->troubled) {
        return true;
    }
    rd_kafka_t *asker = source_read_asker(source, &error);
    if (asker == NULL || rd_kafka_metadata(asker, 0, NULL, &metadata, timeout_ms) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return false;
    }
    rd_kafka_metadata_destroy(metadata);
    source->troubled = false;
    return true;
}
