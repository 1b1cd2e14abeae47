/* How the producers of a sink are made. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bridge/kafka_handle.h"
#include "bridge/sink_state.h"
#include "bridge/sink_transaction_state.h"

#define RECORDS_DEFAULT 100000u
#define RECORDS_MOST 10000000u
#define KBYTES_DEFAULT 131072u /* twice the largest record */
#define KBYTES_SPARE 131072u
#define KBYTES_MOST 2097151u

/* Our own defaults; each can be overridden by the user. */
static const struct kafka_handle_setting defaults[] = {
    {"partitioner", "murmur2_random"}, /* as Java's clients choose */
    {"linger.ms", "1"},
    /* None: an outage is waited out in librdkafka's queue, where the order stays. A message that times out there would be sent again behind
     * its successors. */
    {"message.timeout.ms", "0"},
    /* a topic that is not there is reported at once: waiting for it (unknown_topic_grace) is the core's affair */
    {"topic.metadata.propagation.max.ms", "1000"},
    /* and found soon after it was made */
    {"topic.metadata.refresh.interval.ms", "5000"},
    {"reconnect.backoff.max.ms", "2000"},
    /* The broker, not the client, says what is too large. Below its socket.request.max.bytes (100 MiB): a request beyond that is not
     * answered at all, and would be repeated for ever. */
    {"message.max.bytes", "67108864"},
};

#define DEFAULTS (sizeof defaults / sizeof defaults[0])

static const struct kafka_handle_setting fixed[] = {
    {"enable.idempotence", "true"},
    {"acks", "all"},
};

/* The local queue holds all that may be in flight, within librdkafka's own limits: what stands still must not keep the rest out. */
static void queue_size(const struct sink *sink, char *messages, char *kbytes, size_t size)
{
    uint64_t records = sink->records_max == 0 ? RECORDS_DEFAULT : sink->records_max;
    uint64_t kib = sink->bytes_max == 0 ? KBYTES_DEFAULT : sink->bytes_max / 1024 + KBYTES_SPARE;
    snprintf(messages, size, "%" PRIu64, records < RECORDS_MOST ? records : RECORDS_MOST);
    snprintf(kbytes, size, "%" PRIu64, kib < KBYTES_MOST ? kib : KBYTES_MOST);
}

static const char *const way_names[SINK_WAYS] = {"", "-alone", "-0", "-1", "-alone"};

/* What a user may have set and librdkafka takes only below some bound. 0 is no bound at all. */
static bool cap(rd_kafka_conf_t *conf, const char *name, int64_t most, struct error *error)
{
    char text[32] = "";
    size_t size = sizeof text;
    long long value = 0;
    if (rd_kafka_conf_get(conf, name, text, &size) == RD_KAFKA_CONF_OK) {
        value = strtoll(text, NULL, 10);
    }
    if (value > 0 && value <= most) {
        return true;
    }
    snprintf(text, sizeof text, "%" PRId64, most);
    return kafka_handle_set(conf, name, text, error);
}

/* A message that is not acknowledged by the time the coordinator ends its transaction is lost with it: no use in trying longer. */
static bool make_transactional(const struct sink *sink, rd_kafka_conf_t *conf, enum sink_way way, struct error *error)
{
    char id[512];
    char timeout[24];
    int64_t timeout_ms = sink->transaction_timeout_ms;
    int64_t socket_ms = timeout_ms > 1000 ? timeout_ms - 100 : 900; /* an answer is waited for within the transaction's life */
    snprintf(id, sizeof id, "%s%s", sink->transactional_id, way_names[way]);
    snprintf(timeout, sizeof timeout, "%" PRId64, timeout_ms);
    return kafka_handle_set(conf, "transactional.id", id, error) && kafka_handle_set(conf, "transaction.timeout.ms", timeout, error) &&
           cap(conf, "message.timeout.ms", timeout_ms, error) && cap(conf, "socket.timeout.ms", socket_ms, error);
}

/* Its own settings, when all others are made. */
static bool finish(const struct sink *sink, rd_kafka_conf_t *conf, enum sink_way way, struct error *error)
{
    char client_id[300];
    snprintf(client_id, sizeof client_id, "tarry-%s%s", sink->instance, way_names[way]);
    bool single = way == SINK_WAY_ALONE || way == SINK_WAY_SINGLE;
    return kafka_handle_set(conf, "client.id", client_id, error) &&
           (!single || kafka_handle_set(conf, "batch.num.messages", "1", error)) &&
           (!sink_way_transactional(way) || make_transactional(sink, conf, way, error));
}

static rd_kafka_conf_t *configuration(const struct sink *sink, enum sink_way way, struct error *error)
{
    struct kafka_handle_setting all[DEFAULTS + 3];
    char messages[24];
    char kbytes[24];
    memcpy(all, defaults, sizeof defaults);
    queue_size(sink, messages, kbytes, sizeof messages);
    all[DEFAULTS] = (struct kafka_handle_setting){"queue.buffering.max.messages", messages};
    all[DEFAULTS + 1] = (struct kafka_handle_setting){"queue.buffering.max.kbytes", kbytes};
    /* the coordinator says "not yet" while it writes the markers of the last transaction: librdkafka's 100 ms would be most of what one costs */
    all[DEFAULTS + 2] = (struct kafka_handle_setting){"retry.backoff.ms", sink_way_transactional(way) ? "2" : NULL};
    rd_kafka_conf_t *conf = kafka_handle_conf(all, DEFAULTS + 3, sink->properties, sink->property_count, fixed,
                                              sizeof fixed / sizeof fixed[0], error);
    if (conf == NULL) {
        return NULL;
    }
    if (!finish(sink, conf, way, error)) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR);
    return conf;
}

bool sink_open_way(struct sink *sink, enum sink_way way, struct error *error)
{
    rd_kafka_conf_t *conf = configuration(sink, way, error);
    rd_kafka_t *handle = conf == NULL ? NULL : kafka_handle_new(RD_KAFKA_PRODUCER, conf, error);
    if (handle == NULL) {
        return false;
    }
    struct sink_producer *producer = &sink->producers[way];
    producer->handle = handle;
    producer->queue = rd_kafka_queue_get_main(handle);
    if (sink->wake_fd >= 0) {
        uint64_t one = 1;
        rd_kafka_queue_io_event_enable(producer->queue, sink->wake_fd, &one, sizeof one);
    }
    return true;
}

static void keep_options(struct sink *sink, const struct sink_options *options)
{
    sink->wake_fd = options->wake_fd;
    sink->records_max = options->records_max;
    sink->bytes_max = options->bytes_max;
    sink->exactly_once = options->exactly_once;
    sink->transaction_timeout_ms = options->transaction_timeout_ms;
    sink->instance = memory_text(options->instance, strlen(options->instance));
    if (options->transactional_id != NULL) {
        sink->transactional_id = memory_text(options->transactional_id, strlen(options->transactional_id));
    }
    sink->properties = kafka_handle_properties(options->properties, options->property_count);
    sink->property_count = options->property_count;
}

static bool open_ways(struct sink *sink, struct error *error)
{
    if (sink->exactly_once && sink->transactional_id == NULL) {
        return error_set(error, ERROR_INVALID, "exactly once needs a transactional id");
    }
    if (!sink->exactly_once && !sink_open_way(sink, SINK_WAY_BATCHED, error)) {
        return false;
    }
    return !sink->exactly_once || sink_transaction_start(sink, error);
}

bool sink_open(const struct sink_options *options, struct sink **sink, struct error *error)
{
    struct sink *made = memory_new(1, sizeof *made);
    keep_options(made, options);
    if (!open_ways(made, error)) {
        sink_close(made);
        return false;
    }
    *sink = made;
    return true;
}
