#include "bridge/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bridge/kafka_handle.h"
#include "bridge/source_state.h"

/* Our own defaults; each can be overridden by the user. Measured on two cores against a local broker (docs/internals/kafka.md). */
static const struct kafka_handle_setting defaults[] = {
    /* partitions added to a topic are found within 10 s, not 5 minutes */
    {"topic.metadata.refresh.interval.ms", "10000"},
    /* what is fetched ahead is memory beside the core's bounds: 16 MiB all together, not 64 */
    {"queued.max.messages.kbytes", "16384"},
    /* librdkafka rests this long when its local queue is full, too; the default of 500 ms would bring the throughput down to bursts */
    {"fetch.error.backoff.ms", "50"},
    {"reconnect.backoff.max.ms", "2000"},
};

#define DEFAULT_COUNT (sizeof defaults / sizeof defaults[0])

#define READER_END_MS 1000 /* on top of the time that the end of the group's consumer takes meanwhile */

/* What promises rest on (kafka_conf_refused says why). */
static rd_kafka_conf_t *configuration(const struct source_options *options, const char *client_id, struct error *error)
{
    const struct kafka_handle_setting fixed[] = {
        {"group.id", options->group},
        {"group.instance.id", options->instance},
        {"client.id", client_id},
        {"isolation.level", "read_committed"},
        {"enable.auto.commit", "false"},
        {"enable.auto.offset.store", "false"},
        {"enable.partition.eof", "true"},
        {"auto.offset.reset", "error"},
    };
    rd_kafka_conf_t *conf = kafka_handle_conf(defaults, DEFAULT_COUNT, options->properties, options->property_count, fixed,
                                              sizeof fixed / sizeof fixed[0], error);
    if (conf != NULL) {
        rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_FETCH | RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_OFFSET_COMMIT |
                                           RD_KAFKA_EVENT_ERROR);
    }
    return conf;
}

static bool check_topics(const struct source_options *options, struct error *error)
{
    for (size_t i = 0; i < options->topic_count; i++) {
        /* librdkafka would read it as a regular expression */
        if (options->topics[i][0] == '^') {
            return error_set(error, ERROR_INVALID, "the source topic %s is no topic name; list the topics one by one", options->topics[i]);
        }
    }
    return true;
}

static bool subscribe(rd_kafka_t *handle, const struct source_options *options, struct error *error)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)options->topic_count);
    for (size_t i = 0; i < options->topic_count; i++) {
        rd_kafka_topic_partition_list_add(list, options->topics[i], RD_KAFKA_PARTITION_UA);
    }
    rd_kafka_resp_err_t code = rd_kafka_subscribe(handle, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return error_set(error, ERROR_INVALID, "subscribing to the source topics: %s", rd_kafka_err2str(code));
    }
    return true;
}

static void keep_options(struct source *source, const struct source_options *options)
{
    source->group = memory_text(options->group, strlen(options->group));
    source->instance = memory_text(options->instance, strlen(options->instance));
    source->properties = kafka_handle_properties(options->properties, options->property_count);
    source->property_count = options->property_count;
    for (size_t i = 0; i < options->topic_count; i++) {
        source_topic_intern(source, options->topics[i]);
    }
}

static struct source *wrap(rd_kafka_t *handle, const struct source_options *options)
{
    struct source *source = memory_new(1, sizeof *source);
    source->handle = handle;
    keep_options(source, options);
    rd_kafka_poll_set_consumer(handle);
    source->queue = rd_kafka_queue_get_consumer(handle);
    if (options->wake_fd >= 0) {
        uint64_t one = 1;
        rd_kafka_queue_io_event_enable(source->queue, options->wake_fd, &one, sizeof one);
    }
    return source;
}

bool source_open(const struct source_options *options, struct source **source, struct error *error)
{
    char client_id[512];
    snprintf(client_id, sizeof client_id, "tarry-%s%s%s", options->instance, options->advertise == NULL ? "" : "@",
             options->advertise == NULL ? "" : options->advertise);
    if (!check_topics(options, error)) {
        return false;
    }
    rd_kafka_conf_t *conf = configuration(options, client_id, error);
    rd_kafka_t *handle = conf == NULL ? NULL : kafka_handle_new(RD_KAFKA_CONSUMER, conf, error);
    if (handle == NULL) {
        return false;
    }
    struct source *made = wrap(handle, options);
    if (!subscribe(handle, options, error)) {
        source_close(made);
        return false;
    }
    *source = made;
    return true;
}

static void give_back(struct source *source)
{
    if (source->borrowed != NULL) {
        rd_kafka_event_destroy(source->borrowed);
        source->borrowed = NULL;
    }
}

/* A static member has nothing to say when it goes: the group waits for its return until the session ends. So the handle is
 * taken down without the close protocol, which could wait for brokers that are away. */
void source_close(struct source *source)
{
    if (source == NULL) {
        return;
    }
    give_back(source);
    source_read_close(source);
    struct kafka_handle_ending *asker = source->asker == NULL ? NULL : kafka_handle_destroy_begin(source->asker);
    rd_kafka_queue_io_event_enable(source->queue, -1, NULL, 0);
    source_group_abandon(source);
    rd_kafka_queue_destroy(source->queue);
    kafka_handle_destroy(source->handle);
    source_read_wait(source, READER_END_MS);
    kafka_handle_destroy_end(asker, READER_END_MS);
    kafka_handle_properties_free(source->properties, source->property_count);
    free(source->group);
    free(source->instance);
    source_commit_free_deferred(source);
    free(source->headers);
    free(source->notices);
    source_topic_free_all(source);
    free(source);
}

/* ------------------------------------------------------------------------------------------------- polling */

/* True: *out is to be handed over. */
static bool take(struct source *source, rd_kafka_event_t *event, struct source_event *out)
{
    switch (rd_kafka_event_type(event)) {
    case RD_KAFKA_EVENT_FETCH:
        return source_record_take(source, event, out);
    case RD_KAFKA_EVENT_REBALANCE:
        source_group_take(source, event);
        return source_group_notice(source, out);
    case RD_KAFKA_EVENT_OFFSET_COMMIT:
        return source_commit_take(source, event, out);
    case RD_KAFKA_EVENT_ERROR:
        return source_trouble_take(source, event, out);
    default:
        return false;
    }
}

static void clear(struct source_event *event)
{
    event->kind = SOURCE_NONE;
    event->topic = NULL;
    event->partition = -1;
    event->offset = -1;
    event->lost = false;
    event->acknowledged = false;
    event->text[0] = '\0';
}

void source_poll(struct source *source, struct source_event *event)
{
    clear(event);
    give_back(source);
    if (source_group_notice(source, event)) {
        return;
    }
    source_group_apply(source);
    rd_kafka_event_t *next;
    while ((next = rd_kafka_queue_poll(source->queue, 0)) != NULL) {
        bool tell = take(source, next, event);
        if (source->borrowed != next) {
            rd_kafka_event_destroy(next);
        }
        if (tell) {
            return;
        }
        source_group_apply(source);
    }
    if (source->reader != NULL && !source->reader_kept && !source_group_waiting(source)) {
        source_read_close(source); /* all have started: its connections and threads are needed no more */
    }
}

/* -------------------------------------------------------------------------------------------- partitions */

bool source_start(struct source *source, const char *topic, int32_t partition, int64_t offset, struct error *error)
{
    return source_group_start(source, topic, partition, offset, error);
}

bool source_hold(struct source *source, const char *topic, int32_t partition, struct error *error)
{
    return source_group_hold(source, topic, partition, error);
}

void source_release(struct source *source, const char *topic, int32_t partition)
{
    source_group_release(source, topic, partition);
}

bool source_pause(struct source *source, const char *topic, int32_t partition, struct error *error)
{
    return source_group_pause(source, topic, partition, true, error);
}

bool source_resume(struct source *source, const char *topic, int32_t partition, struct error *error)
{
    return source_group_pause(source, topic, partition, false, error);
}

/* ------------------------------------------------------------------------------------------- what it knows */

bool source_cluster_id(struct source *source, int timeout_ms, char *id, size_t size)
{
    char *found = rd_kafka_clusterid(source->handle, timeout_ms);
    if (found == NULL) {
        return false;
    }
    snprintf(id, size, "%s", found);
    rd_kafka_mem_free(source->handle, found);
    return true;
}

void source_clock_stepped(struct source *source)
{
    char *member = rd_kafka_memberid(source->handle); /* a question that its main thread answers: that is all we want */
    if (member != NULL) {
        rd_kafka_mem_free(source->handle, member);
    }
}

int64_t source_lag(struct source *source, const char *topic, int32_t partition, int64_t position)
{
    int64_t low = -1;
    int64_t high = -1;
    rd_kafka_resp_err_t code = rd_kafka_get_watermark_offsets(source->handle, topic, partition, &low, &high);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR || high < 0) {
        return -1;
    }
    return high > position ? high - position : 0;
}

bool source_probe(struct source *source, int timeout_ms)
{
    return source_trouble_probe(source, timeout_ms);
}
