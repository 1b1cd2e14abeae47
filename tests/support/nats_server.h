/*
 * Real nats-servers for integration tests: JetStream on a free loopback port, with a store of their own that is removed at the end.
 *
 * The binary is named by the environment variable NATS_SERVER (tests registered with tarry_nats_test have it). Whatever fails here fails the running
 * cmocka test with a message; nothing is skipped. A server dies with the thread that started it,
 * and so with the test process, however that ends.
 */
#ifndef TARRY_TESTS_SUPPORT_NATS_SERVER_H
#define TARRY_TESTS_SUPPORT_NATS_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct nats_server;

/* Starts one and waits until JetStream is healthy. `configuration`: further text of its configuration file ("max_payload: 1MB\n", users, ...), NULL: none.
 * Waiting asks the server's monitoring, so that no user is needed. Never NULL. */
struct nats_server *nats_server_start(const char *configuration);

/* Has a port and a store and does not run yet: for clients that are there first. nats_server_restart starts it. */
struct nats_server *nats_server_prepare(const char *configuration);

/* kill -9 if it runs, removes the store, frees. NULL is allowed. */
void nats_server_free(struct nats_server *server);

/* "nats://127.0.0.1:port"; the same after a restart. Borrowed. */
const char *nats_server_url(const struct nats_server *server);

/* "127.0.0.1:port". Borrowed. */
const char *nats_server_address(const struct nats_server *server);

/* SIGTERM (a clean shutdown) and wait; kill -9 and wait. */
void nats_server_stop(struct nats_server *server);
void nats_server_kill(struct nats_server *server);

/* After stop, kill or prepare: starts on the same port and store, and waits until it answers; _soon: without waiting. */
void nats_server_restart(struct nats_server *server);
void nats_server_restart_soon(struct nats_server *server);

/* Waits until it takes connections and its own monitoring says that JetStream is healthy (/healthz). */
void nats_server_wait_ready(struct nats_server *server);

/* SIGSTOP and SIGCONT: a server that is there and says nothing. */
void nats_server_freeze(struct nats_server *server);
void nats_server_thaw(struct nats_server *server);

/* Writes another configuration text for the next restart; with the server running it is read at once (SIGHUP): users, max_payload. */
void nats_server_configure(struct nats_server *server, const char *configuration);

/* Process id, 0 when it does not run. */
pid_t nats_server_pid(const struct nats_server *server);

/* True for 2.15 and later: what 2.9 cannot do is asserted there alone. */
bool nats_server_is_new(void);

/* Three servers with JetStream that form a cluster. */
#define NATS_CLUSTER_SIZE 3
struct nats_cluster {
    struct nats_server *servers[NATS_CLUSTER_SIZE];
    char urls[256]; /* of all, separated by commas */
};

/* Starts them and waits until a leader of JetStream's meta group is there. */
void nats_cluster_start(struct nats_cluster *cluster);
void nats_cluster_free(struct nats_cluster *cluster);

#endif
