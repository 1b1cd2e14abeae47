#include "bench/bench_timer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/random.h"
#include "bench/bench_kafka.h"
#include "bench/bench_transactions.h"

#define HEADER_COUNT 3

/* Idempotent and acknowledged by all as tarry's, but without linger: the best that a timer can do. */
static const char *const settings[] = {"enable.idempotence=true", "acks=all", "linger.ms=0", "partitioner=murmur2_random", NULL};

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int64_t *draw(size_t count, int64_t from_ms, int64_t to_ms)
{
    struct random random = random_new((uint64_t)from_ms);
    int64_t *due_ms = memory_new(count, sizeof(*due_ms));
    for (size_t i = 0; i < count; i++) {
        due_ms[i] = random_between(&random, from_ms, to_ms - 1);
    }
    qsort(due_ms, count, sizeof(*due_ms), compare);
    return due_ms;
}

static void sleep_until(rd_kafka_t *producer, int64_t wall_ms)
{
    while (bench_run_wall_us() < wall_ms * 1000) {
        struct timespec until = {wall_ms / 1000, wall_ms % 1000 * 1000000};
        rd_kafka_poll(producer, 0);
        clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
    }
}

static void delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque)
{
    (void)producer;
    (void)opaque;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        bench_run_fail("a record was not delivered: %s", rd_kafka_err2str(message->err));
    }
}

/* Three headers, about as many bytes as tarry adds. */
static void produce(rd_kafka_t *producer, rd_kafka_topic_t *topic, size_t number, int64_t due_ms)
{
    static const char *const names[HEADER_COUNT] = {"tarry-id", "tarry-due", "tarry-source"};
    uint8_t value[BENCH_RUN_VALUE_BYTES] = {0};
    char text[40];
    int length = snprintf(text, sizeof(text), "key-%08zx", number);
    memcpy(value, &due_ms, sizeof(due_ms));
    rd_kafka_headers_t *headers = rd_kafka_headers_new(HEADER_COUNT);
    for (size_t i = 0; i < HEADER_COUNT; i++) {
        rd_kafka_header_add(headers, names[i], -1, text, length);
    }
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__QUEUE_FULL;
    while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        code = rd_kafka_producev(producer, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA),
                                 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(text, (size_t)length),
                                 RD_KAFKA_V_VALUE(value, sizeof(value)), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
        rd_kafka_poll(producer, code == RD_KAFKA_RESP_ERR__QUEUE_FULL ? 1 : 0);
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        bench_run_fail("producing: %s", rd_kafka_err2str(code));
    }
}

int bench_timer_main(char **arguments)
{
    int64_t per_s = strtoll(arguments[2], NULL, 10);
    int64_t from_ms = strtoll(arguments[3], NULL, 10);
    int64_t to_ms = strtoll(arguments[4], NULL, 10);
    size_t count = (size_t)(per_s * (to_ms - from_ms) / 1000);
    int64_t *due_ms = draw(count, from_ms, to_ms);
    rd_kafka_conf_t *conf = bench_kafka_conf(arguments[0], settings);
    rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    rd_kafka_t *producer = bench_kafka_new(RD_KAFKA_PRODUCER, conf);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(producer, arguments[1], NULL);
    for (size_t i = 0; i < count; i++) {
        sleep_until(producer, due_ms[i]);
        produce(producer, topic, i, due_ms[i]);
    }
    rd_kafka_resp_err_t code = rd_kafka_flush(producer, 60000);
    free(due_ms);
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(producer);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? 0 : 1;
}

int bench_timer_exact_main(char **arguments)
{
    int64_t per_s = strtoll(arguments[3], NULL, 10);
    int64_t from_ms = strtoll(arguments[4], NULL, 10);
    int64_t to_ms = strtoll(arguments[5], NULL, 10);
    size_t count = (size_t)(per_s * (to_ms - from_ms) / 1000);
    int64_t *due_ms = draw(count, from_ms, to_ms);
    int64_t offsets[BENCH_RUN_PARTITIONS] = {0};
    struct bench_transactions *transactions = bench_transactions_new(arguments[0], arguments[2], arguments[1], settings);
    for (size_t i = 0; i < count;) {
        rd_kafka_t *producer = bench_transactions_producer(transactions);
        sleep_until(producer, due_ms[i]);
        while (i < count && due_ms[i] <= bench_run_wall_ms()) {
            produce(producer, bench_transactions_topic(transactions), i, due_ms[i]);
            offsets[i % BENCH_RUN_PARTITIONS]++;
            i++;
        }
        bench_transactions_end(transactions, offsets);
    }
    bench_transactions_free(transactions);
    free(due_ms);
    return 0;
}
