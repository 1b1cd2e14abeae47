/* The Kafka client, as all parts of the bench use it. */
#ifndef TARRY_BENCH_BENCH_KAFKA_H
#define TARRY_BENCH_BENCH_KAFKA_H

#include <stddef.h>
#include <stdint.h>

#include <librdkafka/rdkafka.h>

#include "bench/bench_run.h"

/* A configuration from "name=value" texts (NULL-terminated) and the broker's address; a wrong one ends the bench. */
rd_kafka_conf_t *bench_kafka_conf(const char *bootstrap, const char *const *settings);

/* Takes the configuration. */
rd_kafka_t *bench_kafka_new(rd_kafka_type_t type, rd_kafka_conf_t *conf);

/* What tarry's own producer and consumer set (bridge/sink.c, bridge/source.c), so that a comparison is one. */
extern const char *const bench_kafka_sink_settings[];
extern const char *const bench_kafka_source_settings[];

/* Assigns all BENCH_RUN_PARTITIONS of the topic from `offset` (RD_KAFKA_OFFSET_BEGINNING or _END), without a group. */
void bench_kafka_assign(rd_kafka_t *consumer, const char *topic, int64_t offset);

/* Waits until the topic can be written. */
void bench_kafka_topic_create(struct bench_run *run, const char *topic);

/* The same, and the broker stamps each record with the time at which it appended it. */
void bench_kafka_topic_create_stamped(struct bench_run *run, const char *topic);

/* The broker frees its disk about a second later. */
void bench_kafka_topic_delete(struct bench_run *run, const char *topic);

/* Sum of the partitions' ends: how many records were acknowledged to whoever wrote them. */
int64_t bench_kafka_end(struct bench_run *run, const char *topic);

/* The due time that a value of the bench begins with. */
int64_t bench_kafka_due_ms(const rd_kafka_message_t *message);

#endif
