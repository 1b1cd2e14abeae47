#include "bench/bench_passthrough.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/bench_child.h"
#include "bench/bench_kafka.h"
#include "bench/bench_transactions.h"

#define BATCH 1000
#define TRANSACTION_US 200000 /* the longest of what is held against: the less its fixed costs weigh, the stronger it is */

static volatile sig_atomic_t told_to_end;

static void end_soon(int number)
{
    (void)number;
    told_to_end = 1;
}

static _Atomic int64_t *counter_map(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(int64_t)) != 0) {
        bench_run_fail("cannot make %s: %s", path, strerror(errno));
    }
    void *map = mmap(NULL, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED) {
        bench_run_fail("cannot map %s: %s", path, strerror(errno));
    }
    return map;
}

static void delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque)
{
    (void)producer;
    (void)opaque;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR && message->err != RD_KAFKA_RESP_ERR__PURGE_QUEUE) {
        bench_run_fail("a record was not delivered: %s", rd_kafka_err2str(message->err));
    }
}

static void pass_on(rd_kafka_t *producer, rd_kafka_topic_t *topic, const rd_kafka_message_t *message)
{
    rd_kafka_headers_t *headers = NULL;
    rd_kafka_headers_t *copy = NULL;
    if (rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        copy = rd_kafka_headers_copy(headers);
    }
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__QUEUE_FULL;
    while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL && told_to_end == 0) {
        code = rd_kafka_producev(producer, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA),
                                 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(message->key, message->key_len),
                                 RD_KAFKA_V_VALUE(message->payload, message->len), RD_KAFKA_V_HEADERS(copy), RD_KAFKA_V_END);
        if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            rd_kafka_poll(producer, 1);
        }
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR && told_to_end == 0) {
        bench_run_fail("producing: %s", rd_kafka_err2str(code));
    }
}

static void pass_on_batch(rd_kafka_t *producer, rd_kafka_topic_t *topic, rd_kafka_message_t **batch, size_t count,
                          _Atomic int64_t *read)
{
    for (size_t i = 0; i < count; i++) {
        if (batch[i]->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            pass_on(producer, topic, batch[i]);
            atomic_fetch_add(read, 1);
        }
        rd_kafka_message_destroy(batch[i]);
    }
    rd_kafka_poll(producer, 0);
}

static rd_kafka_queue_t *consume(char **arguments)
{
    struct sigaction action = {.sa_handler = end_soon};
    sigaction(SIGTERM, &action, NULL);
    rd_kafka_t *consumer =
        bench_kafka_new(RD_KAFKA_CONSUMER, bench_kafka_conf(arguments[0], bench_kafka_source_settings));
    bench_kafka_assign(consumer, arguments[1], RD_KAFKA_OFFSET_BEGINNING);
    return rd_kafka_queue_get_consumer(consumer);
}

int bench_passthrough_main(char **arguments)
{
    static rd_kafka_message_t *batch[BATCH];
    _Atomic int64_t *read = counter_map(arguments[3], O_RDWR | O_CREAT);
    rd_kafka_conf_t *conf = bench_kafka_conf(arguments[0], bench_kafka_sink_settings);
    rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    rd_kafka_t *producer = bench_kafka_new(RD_KAFKA_PRODUCER, conf);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(producer, arguments[2], NULL);
    rd_kafka_queue_t *queue = consume(arguments);
    while (told_to_end == 0) {
        ssize_t count = rd_kafka_consume_batch_queue(queue, 10, batch, BATCH);
        pass_on_batch(producer, topic, batch, count > 0 ? (size_t)count : 0, read);
    }
    rd_kafka_purge(producer, RD_KAFKA_PURGE_F_QUEUE);
    rd_kafka_flush(producer, 10000);
    return 0; /* the clients end with the process: nothing is to be kept */
}

static void note_offsets(rd_kafka_message_t *const *batch, size_t count, int64_t offsets[BENCH_RUN_PARTITIONS])
{
    for (size_t i = 0; i < count; i++) {
        if (batch[i]->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            offsets[batch[i]->partition] = batch[i]->offset + 1;
        }
    }
}

int bench_passthrough_exact_main(char **arguments)
{
    static rd_kafka_message_t *batch[BATCH];
    int64_t offsets[BENCH_RUN_PARTITIONS] = {0};
    int64_t began_us = 0; /* 0: nothing is in the transaction */
    _Atomic int64_t *read = counter_map(arguments[3], O_RDWR | O_CREAT);
    struct bench_transactions *transactions =
        bench_transactions_new(arguments[0], arguments[1], arguments[2], bench_kafka_sink_settings);
    rd_kafka_queue_t *queue = consume(arguments);
    while (told_to_end == 0) {
        ssize_t taken = rd_kafka_consume_batch_queue(queue, 10, batch, BATCH);
        size_t count = taken > 0 ? (size_t)taken : 0;
        began_us = began_us == 0 && count > 0 ? bench_run_mono_us() : began_us;
        note_offsets(batch, count, offsets);
        pass_on_batch(bench_transactions_producer(transactions), bench_transactions_topic(transactions), batch, count, read);
        if (began_us != 0 && bench_run_mono_us() - began_us >= TRANSACTION_US) {
            bench_transactions_end(transactions, offsets);
            began_us = 0;
        }
    }
    bench_transactions_free(transactions);
    return 0;
}

void bench_passthrough_start(struct bench_run *run, struct bench_passthrough *passthrough, bool exact)
{
    char name[BENCH_RUN_NAME];
    char counter[BENCH_RUN_PATH];
    bench_run_name(run, "passthrough", name);
    snprintf(passthrough->input, sizeof(passthrough->input), "%.50s-in", name);
    snprintf(passthrough->output, sizeof(passthrough->output), "%.50s-out", name);
    snprintf(passthrough->log, sizeof(passthrough->log), "%.300s/%s.log", run->folder, name);
    snprintf(counter, sizeof(counter), "%.300s/%s.count", run->folder, name);
    bench_kafka_topic_create(run, passthrough->input);
    bench_kafka_topic_create(run, passthrough->output);
    passthrough->read = counter_map(counter, O_RDWR | O_CREAT);
    const char *const arguments[] = {run->self,           exact ? "passthrough-exact" : "passthrough", run->bootstrap, passthrough->input,
                                     passthrough->output, counter,                                     NULL};
    passthrough->pid = bench_child_start(arguments, passthrough->log);
}

int64_t bench_passthrough_read(void *passthrough)
{
    const struct bench_passthrough *it = passthrough;
    return atomic_load(it->read);
}

void bench_passthrough_stop(struct bench_run *run, struct bench_passthrough *passthrough)
{
    bench_child_check(passthrough->pid, passthrough->log);
    bench_child_stop(passthrough->pid);
    bench_kafka_topic_delete(run, passthrough->input);
    bench_kafka_topic_delete(run, passthrough->output);
}
