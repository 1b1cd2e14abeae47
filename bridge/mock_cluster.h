/*
 * A Kafka of librdkafka's own inside this process, on loopback: for `tarry demo` and for unit tests. It keeps some 100,000 records of
 * each partition in memory and forgets the older ones.
 */
#ifndef TARRY_BRIDGE_MOCK_CLUSTER_H
#define TARRY_BRIDGE_MOCK_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct mock_cluster;

/* Starts `brokers` (1 to 100) brokers on free loopback ports. ERROR_SYSTEM: it did not start. */
bool mock_cluster_open(int brokers, struct mock_cluster **cluster, struct error *error);

/* Ends it; everything in it is gone. NULL is allowed. */
void mock_cluster_close(struct mock_cluster *cluster);

/* For bootstrap.servers. Borrowed. */
const char *mock_cluster_bootstrap(const struct mock_cluster *cluster);

/* Makes a topic. ERROR_INVALID: it is there already, or the name or number is wrong. */
bool mock_cluster_create_topic(struct mock_cluster *cluster, const char *topic, int partitions, struct error *error);

/* ------------------------------------------------------------------------------------------------ faults, for tests */

enum mock_cluster_request {
    MOCK_CLUSTER_PRODUCE = 0,
    MOCK_CLUSTER_FETCH = 1,
    MOCK_CLUSTER_LIST_OFFSETS = 2,
    MOCK_CLUSTER_OFFSET_COMMIT = 8,
    MOCK_CLUSTER_OFFSET_FETCH = 9,
    MOCK_CLUSTER_FIND_COORDINATOR = 10,
    MOCK_CLUSTER_JOIN_GROUP = 11,
    MOCK_CLUSTER_HEARTBEAT = 12,
    MOCK_CLUSTER_SYNC_GROUP = 14,
    MOCK_CLUSTER_INIT_PRODUCER_ID = 22,
    MOCK_CLUSTER_ADD_PARTITIONS_TO_TXN = 24,
    MOCK_CLUSTER_ADD_OFFSETS_TO_TXN = 25,
    MOCK_CLUSTER_END_TXN = 26,
    MOCK_CLUSTER_TXN_OFFSET_COMMIT = 28,
};

/* As a code: there is no answer, and the connection is closed. */
#define MOCK_CLUSTER_LOST (-195)

/* The next `count` requests of this kind are answered with Kafka's error `code` (positive). */
void mock_cluster_fail(struct mock_cluster *cluster, enum mock_cluster_request request, int code, unsigned count);

/* The same at one broker (1 ...). These come first, and can be counted, and not taken back. */
void mock_cluster_fail_at(struct mock_cluster *cluster, int32_t broker, enum mock_cluster_request request, int code, unsigned count);

/* How many of those have not been used yet. */
size_t mock_cluster_failures_left(struct mock_cluster *cluster, int32_t broker, enum mock_cluster_request request);

/* Takes back what mock_cluster_fail ordered and was not used. */
void mock_cluster_heal(struct mock_cluster *cluster, enum mock_cluster_request request);

/* All metadata requests say `code` of this topic; 0: back to normal. */
void mock_cluster_topic_error(struct mock_cluster *cluster, const char *topic, int code);

/* A broker (1 ...) refuses connections, or takes them again. */
void mock_cluster_broker_down(struct mock_cluster *cluster, int32_t broker, bool down);

/* A broker answers this much later. */
void mock_cluster_delay(struct mock_cluster *cluster, int32_t broker, int delay_ms);

#endif
