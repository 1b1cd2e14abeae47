/* Transactions as a bare program makes them at its fastest: two transactional producers that take turns, so that neither waits for the markers of
 * its own last transaction, a short retry backoff, and each warmed up by an empty one. */
#ifndef TARRY_BENCH_BENCH_TRANSACTIONS_H
#define TARRY_BENCH_BENCH_TRANSACTIONS_H

#include <stdint.h>

#include <librdkafka/rdkafka.h>

#include "bench/bench_run.h"

struct bench_transactions;

/* For records that go to `output`, with offsets of `input`; `settings` are those of the producers. One thread uses it. Blocks for about a second. */
struct bench_transactions *bench_transactions_new(const char *bootstrap, const char *input, const char *output, const char *const *settings);

/* Whose turn it is: it stands in a begun transaction. */
rd_kafka_t *bench_transactions_producer(const struct bench_transactions *transactions);
rd_kafka_topic_t *bench_transactions_topic(const struct bench_transactions *transactions);

/* Commits it with these offsets, one for each partition, each with as much metadata as tarry's frontier takes; returns when the commit is known, and
 * then it is the other one's turn. */
void bench_transactions_end(struct bench_transactions *transactions, const int64_t offsets[BENCH_RUN_PARTITIONS]);

/* Ends both producers. What is open is aborted. */
void bench_transactions_free(struct bench_transactions *transactions);

#endif
