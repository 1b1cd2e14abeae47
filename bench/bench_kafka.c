#include "bench/bench_kafka.h"

#include <string.h>

#include "base/memory.h"

#define CALL_TIMEOUT_MS 30000

const char *const bench_kafka_sink_settings[] = {"enable.idempotence=true",
                                                 "acks=all",
                                                 "partitioner=murmur2_random",
                                                 "linger.ms=1",
                                                 "message.max.bytes=67108864",
                                                 "queue.buffering.max.kbytes=131072",
                                                 NULL};

const char *const bench_kafka_source_settings[] = {"enable.auto.commit=false",        "enable.auto.offset.store=false",
                                                   "isolation.level=read_committed",  "enable.partition.eof=true",
                                                   "queued.max.messages.kbytes=16384", "fetch.error.backoff.ms=50",
                                                   "group.id=bench",                  NULL};

rd_kafka_conf_t *bench_kafka_conf(const char *bootstrap, const char *const *settings)
{
    char words[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, NULL, 0);
    rd_kafka_conf_set(conf, "log_level", "3", NULL, 0); /* errors: a broker that has just started makes many warnings */
    for (size_t i = 0; settings[i] != NULL; i++) {
        const char *equals = strchr(settings[i], '=');
        char name[128] = "";
        memcpy(name, settings[i], (size_t)(equals - settings[i]));
        if (rd_kafka_conf_set(conf, name, equals + 1, words, sizeof(words)) != RD_KAFKA_CONF_OK) {
            bench_run_fail("%s: %s", settings[i], words);
        }
    }
    return conf;
}

rd_kafka_t *bench_kafka_new(rd_kafka_type_t type, rd_kafka_conf_t *conf)
{
    char words[256];
    rd_kafka_t *client = rd_kafka_new(type, conf, words, sizeof(words));
    if (client == NULL) {
        bench_run_fail("Kafka client: %s", words);
    }
    return client;
}

void bench_kafka_assign(rd_kafka_t *consumer, const char *topic, int64_t offset)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(BENCH_RUN_PARTITIONS);
    for (int partition = 0; partition < BENCH_RUN_PARTITIONS; partition++) {
        rd_kafka_topic_partition_list_add(list, topic, partition)->offset = offset;
    }
    rd_kafka_poll_set_consumer(consumer);
    rd_kafka_resp_err_t code = rd_kafka_assign(consumer, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        bench_run_fail("assigning %s: %s", topic, rd_kafka_err2str(code));
    }
}

/* Waits for the answer to an administrative request. */
static void finish(rd_kafka_queue_t *queue, const char *what, const char *topic)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, CALL_TIMEOUT_MS);
    if (event == NULL || rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        bench_run_fail("%s topic %s: %s", what, topic, event == NULL ? "no answer" : rd_kafka_event_error_string(event));
    }
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
}

static int partitions_led(struct bench_run *run, const char *topic)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(run->client, topic, NULL);
    int count = 0;
    if (rd_kafka_metadata(run->client, 0, handle, &metadata, CALL_TIMEOUT_MS) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        for (int i = 0; metadata->topic_cnt == 1 && i < metadata->topics[0].partition_cnt; i++) {
            count += metadata->topics[0].partitions[i].leader >= 0;
        }
        rd_kafka_metadata_destroy(metadata);
    }
    rd_kafka_topic_destroy(handle);
    return count;
}

static void create(struct bench_run *run, const char *topic, bool stamped)
{
    char words[256];
    rd_kafka_NewTopic_t *made = rd_kafka_NewTopic_new(topic, BENCH_RUN_PARTITIONS, 1, words, sizeof(words));
    rd_kafka_NewTopic_set_config(made, "file.delete.delay.ms", "1000");
    rd_kafka_NewTopic_set_config(made, "message.timestamp.type", stamped ? "LogAppendTime" : "CreateTime");
    rd_kafka_queue_t *queue = rd_kafka_queue_new(run->client);
    rd_kafka_CreateTopics(run->client, &made, 1, NULL, queue);
    finish(queue, "creating", topic);
    rd_kafka_NewTopic_destroy(made);
    int64_t limit = bench_run_mono_us() + (int64_t)CALL_TIMEOUT_MS * 1000;
    while (partitions_led(run, topic) != BENCH_RUN_PARTITIONS) {
        if (bench_run_mono_us() > limit) {
            bench_run_fail("topic %s was made and has no leaders", topic);
        }
        bench_run_sleep_ms(20);
    }
}

void bench_kafka_topic_create(struct bench_run *run, const char *topic)
{
    create(run, topic, false);
}

void bench_kafka_topic_create_stamped(struct bench_run *run, const char *topic)
{
    create(run, topic, true);
}

void bench_kafka_topic_delete(struct bench_run *run, const char *topic)
{
    rd_kafka_DeleteTopic_t *gone = rd_kafka_DeleteTopic_new(topic);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(run->client);
    rd_kafka_DeleteTopics(run->client, &gone, 1, NULL, queue);
    finish(queue, "deleting", topic);
    rd_kafka_DeleteTopic_destroy(gone);
}

int64_t bench_kafka_end(struct bench_run *run, const char *topic)
{
    int64_t sum = 0;
    for (int partition = 0; partition < BENCH_RUN_PARTITIONS; partition++) {
        int64_t low = 0;
        int64_t high = 0;
        rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(run->client, topic, partition, &low, &high, CALL_TIMEOUT_MS);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            bench_run_fail("the end of %s: %s", topic, rd_kafka_err2str(code));
        }
        sum += high;
    }
    return sum;
}

int64_t bench_kafka_due_ms(const rd_kafka_message_t *message)
{
    int64_t due_ms = 0;
    if (message->len >= sizeof(due_ms)) {
        memcpy(&due_ms, message->payload, sizeof(due_ms));
    }
    return due_ms;
}
