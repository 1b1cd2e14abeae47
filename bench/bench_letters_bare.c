#include "bench/bench_letters_bare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "bench/bench_kafka.h"
#include "dlq/letter.h"

#define BATCH 256
#define WAIT_MS 60000

/* ------------------------------------------------------------------------------------------------------- reading */

static natsSubscription *pull(const struct bench_nats *nats, const char *stream, const char *subject)
{
    natsSubscription *subscription = NULL;
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.Stream = stream;
    options.Config.MaxAckPending = 1000000; /* no limit that would be felt */
    bench_nats_check(js_PullSubscribe(&subscription, nats->jetstream, subject, NULL, NULL, &options, NULL), "a consumer of", stream);
    return subscription;
}

static natsMsgList fetch(natsSubscription *subscription, int64_t most, const char *stream)
{
    natsMsgList list = {NULL, 0};
    bench_nats_check(natsSubscription_Fetch(&list, subscription, (int)(most < BATCH ? most : BATCH), WAIT_MS, NULL), "fetching from", stream);
    return list;
}

struct bench_letters_bodies bench_letters_bare_read(const struct bench_nats *nats, const char *stream, const char *subject, int64_t count)
{
    struct bench_letters_bodies bodies = {stream, memory_new((size_t)count, sizeof(natsMsg *)), 0};
    natsSubscription *subscription = pull(nats, stream, subject);
    while ((int64_t)bodies.count < count) {
        natsMsgList list = fetch(subscription, count - (int64_t)bodies.count, stream);
        for (int i = 0; i < list.Count; i++) {
            bodies.items[bodies.count++] = list.Msgs[i];
            list.Msgs[i] = NULL; /* ours now */
        }
        natsMsgList_Destroy(&list);
    }
    natsSubscription_Destroy(subscription);
    return bodies;
}

void bench_letters_bare_free(struct bench_letters_bodies *bodies)
{
    for (size_t i = 0; i < bodies->count; i++) {
        natsMsg_Destroy(bodies->items[i]);
    }
    free(bodies->items);
}

/* ---------------------------------------------------------------------------------------------------- publishing */

static natsMsg *message_new(const natsMsg *body, const char *subject, int64_t number, bool ids)
{
    natsMsg *message = NULL;
    char id[LETTER_MESSAGE_ID_SIZE];
    bench_nats_check(natsMsg_Create(&message, subject, NULL, natsMsg_GetData(body), natsMsg_GetDataLength(body)), "a message to", subject);
    if (ids) {
        snprintf(id, sizeof(id), "%032" PRIx64 "-1-0-waiting", (uint64_t)number);
        bench_nats_check(natsMsgHeader_Set(message, "Nats-Msg-Id", id), "a message to", subject);
    }
    return message;
}

double bench_letters_bare_publish(const struct bench_nats *nats, const struct bench_letters_bodies *bodies, const char *subject, int64_t count, bool ids)
{
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MaxWait = WAIT_MS;
    int64_t began_us = bench_run_mono_us();
    for (int64_t i = 0; i < count; i++) {
        natsMsg *message = message_new(bodies->items[(size_t)i % bodies->count], subject, i, ids);
        bench_nats_check(js_PublishMsgAsync(nats->jetstream, &message, NULL), "publishing to", subject);
    }
    bench_nats_check(js_PublishAsyncComplete(nats->jetstream, &options), "waiting for the acknowledgements of", subject);
    return (double)(bench_run_mono_us() - began_us) / 1e6;
}

/* ----------------------------------------------------------------------------------------- from NATS to Kafka */

static void delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque)
{
    (void)producer;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        bench_run_fail("a record was not delivered: %s", rd_kafka_err2str(message->err));
    }
    bench_nats_check(natsMsg_Ack(message->_private, NULL), "acknowledging", "a letter");
    natsMsg_Destroy(message->_private);
    *(int64_t *)opaque += 1;
}

static rd_kafka_headers_t *headers_of(const struct letter_record *record)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(8);
    struct span rest = record->headers;
    struct span name;
    struct span value;
    while (letter_next_header(&rest, &name, &value)) {
        rd_kafka_header_add(headers, (const char *)name.data, (ssize_t)name.length, value.data, (ssize_t)value.length);
    }
    return headers;
}

/* The message outlives the record, which librdkafka need not copy. */
static void produce(rd_kafka_t *producer, rd_kafka_topic_t *topic, natsMsg *message)
{
    struct letter letter;
    struct error error = {0};
    struct span body = {(const uint8_t *)natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message)};
    if (!letter_decode(body, &letter, &error)) {
        bench_run_fail("a letter cannot be read: %s", error.text);
    }
    rd_kafka_headers_t *headers = headers_of(&letter.record);
    const struct letter_record *record = &letter.record;
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__QUEUE_FULL;
    while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        code = rd_kafka_producev(producer, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA), RD_KAFKA_V_MSGFLAGS(0),
                                 RD_KAFKA_V_KEY((uint8_t *)(uintptr_t)record->key.data, record->key.length),
                                 RD_KAFKA_V_VALUE((uint8_t *)(uintptr_t)record->value.data, record->value.length), RD_KAFKA_V_HEADERS(headers),
                                 RD_KAFKA_V_OPAQUE(message), RD_KAFKA_V_END);
        rd_kafka_poll(producer, code == RD_KAFKA_RESP_ERR__QUEUE_FULL ? 1 : 0);
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        bench_run_fail("producing: %s", rd_kafka_err2str(code));
    }
}

static rd_kafka_t *producer_new(const struct bench_run *run, int64_t *acknowledged)
{
    rd_kafka_conf_t *conf = bench_kafka_conf(run->bootstrap, bench_kafka_sink_settings);
    rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    rd_kafka_conf_set_opaque(conf, acknowledged);
    return bench_kafka_new(RD_KAFKA_PRODUCER, conf);
}

double bench_letters_bare_fetch_produce(const struct bench_run *run, const struct bench_nats *nats, const char *stream, const char *subject,
                                        const char *topic, int64_t count)
{
    int64_t acknowledged = 0;
    int64_t fetched = 0;
    int64_t began_us = bench_run_mono_us();
    natsSubscription *subscription = pull(nats, stream, subject);
    rd_kafka_t *producer = producer_new(run, &acknowledged);
    rd_kafka_topic_t *handle = rd_kafka_topic_new(producer, topic, NULL);
    while (fetched < count) {
        natsMsgList list = fetch(subscription, count - fetched, stream);
        for (int i = 0; i < list.Count; i++) {
            produce(producer, handle, list.Msgs[i]);
            list.Msgs[i] = NULL; /* the delivery report's */
        }
        fetched += list.Count;
        natsMsgList_Destroy(&list);
    }
    rd_kafka_resp_err_t code = rd_kafka_flush(producer, WAIT_MS);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR || acknowledged != count) {
        bench_run_fail("%" PRId64 " of %" PRId64 " records are acknowledged: %s", acknowledged, count, rd_kafka_err2str(code));
    }
    bench_nats_check(natsConnection_FlushTimeout(nats->connection, WAIT_MS), "acknowledging to", stream);
    double took_s = (double)(bench_run_mono_us() - began_us) / 1e6;
    rd_kafka_topic_destroy(handle);
    rd_kafka_destroy(producer);
    natsSubscription_Destroy(subscription);
    return took_s;
}
