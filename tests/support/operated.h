/*
 * One tarry in a test of its operation: on a mock cluster of Kafka's in this process, with topics `in` (two partitions) and `out`, a configuration, a log, and
 * whatever environment the test wants. Starts in a second or two; proves nothing about brokers.
 *
 * One at a time. What fails here fails the running cmocka test; operated_teardown then shows the log and cleans up.
 */
#ifndef TARRY_TESTS_SUPPORT_OPERATED_H
#define TARRY_TESTS_SUPPORT_OPERATED_H

#include <stddef.h>
#include <stdint.h>

#include "bridge/mock_cluster.h"
#include "tests/support/kafka_client.h"
#include "tests/support/tarry_process.h"

struct operated {
    struct mock_cluster *cluster;
    char *folder;
    char *config_path;
    char *log_path;
    int http_port;
    struct tarry_process *process; /* NULL: not started */
    struct kafka_client_producer *producer;
    int sent;
};

/* All optional (zero-initialised): pieces of YAML. */
struct operated_options {
    const char *bootstrap; /* NULL: the mock cluster's */
    const char *kafka;     /* further keys of `kafka:`, flow style */
    const char *http;      /* of `http:` */
    const char *nats;      /* all of `nats:`; NULL: a server that is not there */
    const char *log_level; /* NULL: info */
    const char *more;      /* further top-level lines */
};

struct operated *operated_open(void);
void operated_close(struct operated *operated);

/* For cmocka_unit_test_teardown: closes one that a failed test left open, and shows its log. */
int operated_teardown(void **state);

/* Writes the configuration (mode 0600). */
void operated_configure(const struct operated *operated, const struct operated_options *options);

/* Starts it, after what ran before is gone; does not wait. The log goes on in the same file. options NULL: none. */
void operated_launch(struct operated *operated, const struct tarry_process_options *options);

/* The same, and waits until it is ready. */
void operated_start(struct operated *operated, const struct tarry_process_options *options);

/* Our environment, and `more` ("NAME=value", NULL at the end), in which a name counts once. free() it: the texts are borrowed. */
char **operated_environment(const char *const *more);

/* Sends `count` records with this delay; flushed. Their values are numbers from the last one on. */
void operated_send(struct operated *operated, int count, int64_t delay_ms);

/* Fails unless all that was sent has come out within timeout_ms. Returns how many came more than once. */
size_t operated_expect_all(struct operated *operated, int64_t timeout_ms);

/* The whole log. free() it. */
char *operated_log(const struct operated *operated);

/* A file in its folder with this mode; returns its path: free(). */
char *operated_file(const struct operated *operated, const char *name, const char *text, unsigned mode);

#endif
