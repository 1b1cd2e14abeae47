#include "bench/bench_transactions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/bench_kafka.h"

#define PRODUCERS 2
#define METADATA_BYTES 160
#define CALL_TIMEOUT_MS 30000

struct bench_transactions {
    rd_kafka_t *producers[PRODUCERS];
    rd_kafka_topic_t *topics[PRODUCERS];
    rd_kafka_consumer_group_metadata_t *group;
    rd_kafka_topic_partition_list_t *offsets;
    size_t turn;
};

static void delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque)
{
    (void)producer;
    (void)opaque;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR && message->err != RD_KAFKA_RESP_ERR__PURGE_QUEUE) {
        bench_run_fail("a record was not delivered: %s", rd_kafka_err2str(message->err));
    }
}

static void check(const char *what, rd_kafka_error_t *error)
{
    if (error != NULL) {
        bench_run_fail("%s: %s", what, rd_kafka_error_string(error));
    }
}

static void make_offsets(struct bench_transactions *made, const char *input)
{
    char metadata[METADATA_BYTES];
    memset(metadata, 'm', sizeof(metadata));
    made->offsets = rd_kafka_topic_partition_list_new(BENCH_RUN_PARTITIONS);
    for (int partition = 0; partition < BENCH_RUN_PARTITIONS; partition++) {
        rd_kafka_topic_partition_t *item = rd_kafka_topic_partition_list_add(made->offsets, input, partition);
        item->metadata = memory_text(metadata, sizeof(metadata)); /* the list frees it */
        item->metadata_size = sizeof(metadata);
    }
}

static void open_producer(struct bench_transactions *made, size_t index, const char *bootstrap, const char *output, const char *const *settings)
{
    char id[BENCH_RUN_NAME + 8];
    char words[256];
    snprintf(id, sizeof(id), "%.60s-%zu", output, index);
    rd_kafka_conf_t *conf = bench_kafka_conf(bootstrap, settings);
    if (rd_kafka_conf_set(conf, "transactional.id", id, words, sizeof(words)) != RD_KAFKA_CONF_OK ||
        rd_kafka_conf_set(conf, "transaction.timeout.ms", "10000", words, sizeof(words)) != RD_KAFKA_CONF_OK ||
        rd_kafka_conf_set(conf, "message.timeout.ms", "10000", words, sizeof(words)) != RD_KAFKA_CONF_OK ||
        rd_kafka_conf_set(conf, "retry.backoff.ms", "2", words, sizeof(words)) != RD_KAFKA_CONF_OK) {
        bench_run_fail("transactional producer: %s", words);
    }
    rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    made->producers[index] = bench_kafka_new(RD_KAFKA_PRODUCER, conf);
    made->topics[index] = rd_kafka_topic_new(made->producers[index], output, NULL);
    check("initialising transactions", rd_kafka_init_transactions(made->producers[index], CALL_TIMEOUT_MS));
    check("beginning a transaction", rd_kafka_begin_transaction(made->producers[index]));
}

struct bench_transactions *bench_transactions_new(const char *bootstrap, const char *input, const char *output, const char *const *settings)
{
    const int64_t nothing[BENCH_RUN_PARTITIONS] = {0};
    struct bench_transactions *made = memory_new(1, sizeof(*made));
    made->group = rd_kafka_consumer_group_metadata_new(output); /* a group without members takes offsets from anybody */
    make_offsets(made, input);
    for (size_t i = 0; i < PRODUCERS; i++) {
        open_producer(made, i, bootstrap, output, settings);
    }
    for (size_t i = 0; i < PRODUCERS; i++) {
        bench_transactions_end(made, nothing);
    }
    return made;
}

rd_kafka_t *bench_transactions_producer(const struct bench_transactions *transactions)
{
    return transactions->producers[transactions->turn];
}

rd_kafka_topic_t *bench_transactions_topic(const struct bench_transactions *transactions)
{
    return transactions->topics[transactions->turn];
}

void bench_transactions_end(struct bench_transactions *transactions, const int64_t offsets[BENCH_RUN_PARTITIONS])
{
    rd_kafka_t *producer = bench_transactions_producer(transactions);
    for (int partition = 0; partition < BENCH_RUN_PARTITIONS; partition++) {
        transactions->offsets->elems[partition].offset = offsets[partition];
    }
    check("sending offsets", rd_kafka_send_offsets_to_transaction(producer, transactions->offsets, transactions->group, CALL_TIMEOUT_MS));
    check("committing a transaction", rd_kafka_commit_transaction(producer, CALL_TIMEOUT_MS));
    check("beginning a transaction", rd_kafka_begin_transaction(producer));
    transactions->turn = (transactions->turn + 1) % PRODUCERS;
}

void bench_transactions_free(struct bench_transactions *transactions)
{
    for (size_t i = 0; i < PRODUCERS; i++) {
        rd_kafka_purge(transactions->producers[i], RD_KAFKA_PURGE_F_QUEUE);
        check("aborting a transaction", rd_kafka_abort_transaction(transactions->producers[i], CALL_TIMEOUT_MS));
        rd_kafka_topic_destroy(transactions->topics[i]);
        rd_kafka_destroy(transactions->producers[i]);
    }
    rd_kafka_consumer_group_metadata_destroy(transactions->group);
    rd_kafka_topic_partition_list_destroy(transactions->offsets);
    free(transactions);
}
