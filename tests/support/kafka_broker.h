/*
 * A real Apache Kafka for integration tests: one KRaft node (broker and controller) on free loopback ports, with a data folder of its
 * own that is removed at the end.
 *
 * The jars are found through the environment variable KAFKA_LIBS, else build/deps/kafka/libs of the source tree
 * (scripts/lib/kafka.sh fetches them). Whatever fails here fails the running cmocka test with a message; nothing is skipped. The
 * broker dies with the test process, however that ends.
 */
#ifndef TARRY_TESTS_SUPPORT_KAFKA_BROKER_H
#define TARRY_TESTS_SUPPORT_KAFKA_BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct kafka_broker;

/* Formats, starts, and waits until the broker answers. `settings` are further lines of server.properties ("name=value"), which
 * win over ours. Takes about 5 s. Never NULL. */
struct kafka_broker *kafka_broker_start(const char *const *settings, size_t setting_count);

/* kill -9 if it runs, removes the data folder, frees. NULL is allowed. */
void kafka_broker_free(struct kafka_broker *broker);

/* "127.0.0.1:port"; the same after a restart. Borrowed. */
const char *kafka_broker_bootstrap(const struct kafka_broker *broker);

/* SIGTERM (a clean shutdown) and wait. */
void kafka_broker_stop(struct kafka_broker *broker);

/* kill -9 and wait. */
void kafka_broker_kill(struct kafka_broker *broker);

/* After stop or kill: starts again on the same ports and data and waits until it answers. */
void kafka_broker_restart(struct kafka_broker *broker);

/* The same without waiting: for tests that watch what clients do meanwhile. */
void kafka_broker_restart_soon(struct kafka_broker *broker);

/* Waits until it answers a metadata request and says it leads nothing less than itself. */
void kafka_broker_wait_ready(struct kafka_broker *broker);

/* SIGSTOP and SIGCONT: a broker that is there and says nothing. */
void kafka_broker_freeze(struct kafka_broker *broker);
void kafka_broker_thaw(struct kafka_broker *broker);

/* Process id, 0 when it does not run. */
pid_t kafka_broker_pid(const struct kafka_broker *broker);

/* Runs a Kafka class from the jars to its end ("org.apache.kafka.tools.ConsoleProducer", ...): arguments NULL-terminated, standard input from
 * `input_path` (NULL: empty), standard output to `output_path` (NULL: nowhere). Returns the exit code. */
int kafka_broker_run_tool(const char *class_name, const char *const *arguments, const char *input_path, const char *output_path);

#endif
