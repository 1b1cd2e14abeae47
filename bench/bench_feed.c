#include "bench/bench_feed.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "bench/bench_kafka.h"

#define ASK_READ_EVERY_US 250000 /* each question costs tarry a look at all its metrics */
#define TICK_MS 1
#define BURST 64 /* records between two looks at the clock */

struct bench_feed {
    struct bench_feed_options options;
    rd_kafka_t *producer;
    rd_kafka_topic_t *topic;
    pthread_t thread;
    struct random random;
    uint8_t value[BENCH_RUN_VALUE_BYTES];
    atomic_int_least64_t sent;
    atomic_int_least64_t watched;
    atomic_int_least64_t watch_from_ms;
    atomic_int_least64_t watch_to_ms;
    atomic_bool stop;
    int64_t started_us;
    int64_t asked_us;
    int64_t read; /* as last told */
};

static const char *const settings[] = {"enable.idempotence=true", "linger.ms=5", "queue.buffering.max.messages=200000", NULL};

static rd_kafka_headers_t *headers_of(const struct bench_feed_options *options, int64_t number, int64_t due_ms)
{
    char text[64];
    rd_kafka_headers_t *headers = rd_kafka_headers_new(4);
    rd_kafka_header_add(headers, "tarry-at", -1, text, snprintf(text, sizeof(text), "%" PRId64, due_ms));
    if (options->id != NULL) {
        rd_kafka_header_add(headers, "tarry-id", -1, text, snprintf(text, sizeof(text), "%.40s%08" PRIx64, options->id, (uint64_t)number));
    }
    if (options->every != NULL) {
        rd_kafka_header_add(headers, "tarry-every", -1, options->every, -1);
    }
    if (options->target != NULL) {
        rd_kafka_header_add(headers, "tarry-topic", -1, options->target, -1);
    }
    return headers;
}

static rd_kafka_resp_err_t produce(rd_kafka_topic_t *topic, rd_kafka_t *producer, const struct bench_feed_options *options, int64_t number,
                                   int64_t due_ms, uint8_t *value)
{
    char key[24];
    int key_length = snprintf(key, sizeof(key), "key-%08" PRIx64, (uint64_t)number);
    memcpy(value, &due_ms, sizeof(due_ms));
    rd_kafka_headers_t *headers = headers_of(options, number, due_ms);
    rd_kafka_resp_err_t code = rd_kafka_producev(
        producer, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION((int32_t)(number % BENCH_RUN_PARTITIONS)),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, (size_t)key_length),
        RD_KAFKA_V_VALUE(value, BENCH_RUN_VALUE_BYTES), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_headers_destroy(headers);
    }
    return code;
}

/* False: the local queue is full; a while was given to it. */
static bool send_next(struct bench_feed *feed)
{
    int64_t from_ms = feed->options.at_ms > 0 ? feed->options.at_ms : bench_run_wall_ms();
    int64_t due_ms = from_ms + random_between(&feed->random, feed->options.least_ms, feed->options.most_ms);
    rd_kafka_resp_err_t code = produce(feed->topic, feed->producer, &feed->options, atomic_load(&feed->sent), due_ms, feed->value);
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        rd_kafka_poll(feed->producer, 5);
        return false;
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        bench_run_fail("producing: %s", rd_kafka_err2str(code));
    }
    atomic_fetch_add(&feed->sent, 1);
    if (due_ms >= atomic_load(&feed->watch_from_ms) && due_ms < atomic_load(&feed->watch_to_ms)) {
        atomic_fetch_add(&feed->watched, 1);
    }
    return true;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How many may be sent now. */
static int64_t allowance(struct bench_feed *feed)
{
    const struct bench_feed_options *options = &feed->options;
    int64_t sent = atomic_load(&feed->sent);
    int64_t now_us = bench_run_mono_us();
    int64_t most = options->count > 0 ? options->count - sent : INT64_MAX;
    if (options->per_s > 0) {
        most = least(most, (int64_t)((double)(now_us - feed->started_us) * options->per_s / 1e6) - sent);
    }
    if (options->read != NULL) {
        if (now_us - feed->asked_us >= ASK_READ_EVERY_US) {
            feed->asked_us = now_us;
            feed->read = options->read(options->context);
        }
        most = least(most, options->unread_most - (sent - feed->read));
    }
    return most;
}

static void *work(void *context)
{
    struct bench_feed *feed = context;
    const struct bench_feed_options *options = &feed->options;
    feed->started_us = bench_run_mono_us();
    while (!atomic_load(&feed->stop) && (options->count == 0 || atomic_load(&feed->sent) < options->count)) {
        int64_t count = least(allowance(feed), BURST);
        if (count <= 0) {
            bench_run_sleep_ms(TICK_MS);
        }
        while (count > 0 && send_next(feed)) {
            count--;
        }
        rd_kafka_poll(feed->producer, 0);
    }
    rd_kafka_resp_err_t code = rd_kafka_flush(feed->producer, 120000);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        bench_run_fail("the feed's records are not acknowledged: %s", rd_kafka_err2str(code));
    }
    return NULL;
}

static void delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque)
{
    (void)producer;
    (void)opaque;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        bench_run_fail("a record was not delivered: %s", rd_kafka_err2str(message->err));
    }
}

static rd_kafka_t *producer_new(const struct bench_run *run)
{
    rd_kafka_conf_t *conf = bench_kafka_conf(run->bootstrap, settings);
    rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    return bench_kafka_new(RD_KAFKA_PRODUCER, conf);
}

struct bench_feed *bench_feed_start(const struct bench_run *run, const struct bench_feed_options *options)
{
    struct bench_feed *feed = memory_new(1, sizeof(*feed));
    feed->options = *options;
    feed->random = random_new((uint64_t)bench_run_mono_us());
    random_fill(&feed->random, feed->value, sizeof(feed->value));
    feed->producer = producer_new(run);
    feed->topic = rd_kafka_topic_new(feed->producer, options->topic, NULL);
    if (pthread_create(&feed->thread, NULL, work, feed) != 0) {
        bench_run_fail("no thread for the feed");
    }
    return feed;
}

void bench_feed_watch(struct bench_feed *feed, int64_t from_ms, int64_t to_ms)
{
    atomic_store(&feed->watch_from_ms, from_ms);
    atomic_store(&feed->watch_to_ms, to_ms);
}

int64_t bench_feed_watched(struct bench_feed *feed)
{
    return atomic_load(&feed->watched);
}

int64_t bench_feed_sent(struct bench_feed *feed)
{
    return atomic_load(&feed->sent);
}

void bench_feed_all(const struct bench_run *run, const struct bench_feed_options *options)
{
    struct bench_feed *feed = bench_feed_start(run, options);
    bench_feed_join(feed);
    bench_feed_free(feed);
}

void bench_feed_stop(struct bench_feed *feed)
{
    atomic_store(&feed->stop, true);
}

void bench_feed_join(struct bench_feed *feed)
{
    pthread_join(feed->thread, NULL);
}

void bench_feed_free(struct bench_feed *feed)
{
    rd_kafka_topic_destroy(feed->topic);
    rd_kafka_destroy(feed->producer);
    free(feed);
}

void bench_feed_end(struct bench_feed *feed)
{
    bench_feed_stop(feed);
    bench_feed_join(feed);
    bench_feed_free(feed);
}

void bench_feed_one(const struct bench_run *run, const char *topic, int64_t due_ms)
{
    static const struct bench_feed_options plain = {.topic = NULL};
    uint8_t value[BENCH_RUN_VALUE_BYTES] = {0};
    rd_kafka_t *producer = producer_new(run);
    rd_kafka_topic_t *handle = rd_kafka_topic_new(producer, topic, NULL);
    rd_kafka_resp_err_t code = produce(handle, producer, &plain, 0, due_ms, value);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR || rd_kafka_flush(producer, 30000) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        bench_run_fail("producing one record to %s: %s", topic, rd_kafka_err2str(code));
    }
    rd_kafka_topic_destroy(handle);
    rd_kafka_destroy(producer);
}
