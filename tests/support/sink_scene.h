/* For tests of the sink's transactions: librdkafka's mock cluster with topics "out" (3 partitions), "in" (2) and "other" (1), and a sink on it. */
#ifndef TARRY_TESTS_SUPPORT_SINK_SCENE_H
#define TARRY_TESTS_SUPPORT_SINK_SCENE_H

#include <librdkafka/rdkafka.h>

#include "bridge/mock_cluster.h"
#include "support/sink_watch.h"

struct sink_scene {
    struct mock_cluster *cluster;
    const char *bootstrap;
    struct sink_watch watch;
    rd_kafka_t *client; /* whoever frees librdkafka's memory */
    void *members;
    size_t members_size;
};

/* For cmocka_unit_test_setup_teardown: *state is the scene; its sink is not opened. */
int sink_scene_setup(void **state);
int sink_scene_teardown(void **state);

/* Opens the sink with exactly_once (properties as in sink_watch_open), and waits until it is ready. */
struct sink_watch *sink_scene_open(struct sink_scene *fixture, const char *const *properties);

/* As source_members gives them. Borrowed from the scene. */
struct span sink_scene_members(const struct sink_scene *fixture);

/* Ends the transaction with one offset: in/0 at 7. */
struct sink_transaction_result sink_scene_commit(struct sink_scene *fixture);

/* Sends so many to out/1. */
void sink_scene_send(struct sink_watch *watch, size_t count);

/* How many of the reports from `from` on say so. */
size_t sink_scene_count(const struct sink_watch *watch, size_t from, bool delivered, enum delivery_failure failure);

void sink_scene_expect_committed(const struct sink_transaction_result *result);

#endif
