/* The daemon and its service manager: when it is ready, alive, reloading, stopping, and one line of how it is. Owner thread, from inside its turns: an owner that
 * is stuck says nothing, and that is the point. */
#ifndef TARRY_OPS_DAEMON_MANAGER_H
#define TARRY_OPS_DAEMON_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "ops/notify.h"

struct daemon;

#define DAEMON_MANAGER_STATUS_SIZE 400

/* In struct daemon; zero-initialised. Times are monotonic. */
struct daemon_manager {
    struct notify *notify;
    int64_t watchdog_ms; /* how often; 0: none asked for */
    int64_t watchdog_at_ms;
    int64_t extend_at_ms; /* while it is not ready */
    int64_t status_at_ms;
    bool ready_told;
    bool reloading;
    char status[DAEMON_MANAGER_STATUS_SIZE]; /* what was told last */
};

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. Nothing fails: without a manager all of this does nothing. */
void daemon_manager_open(struct daemon *daemon);
void daemon_manager_close(struct daemon *daemon);

/* Once in each turn: READY=1 (and a line in the log) when all is loaded for the first time, WATCHDOG=1, STATUS=, and while it loads more time to start. */
void daemon_manager_tell(struct daemon *daemon);

/* A reload begins, is over. Before it was ready nothing is told: READY=1 would be taken for the end of the start. */
void daemon_manager_reloading(struct daemon *daemon);
void daemon_manager_reloaded(struct daemon *daemon);

/* The end has begun, and takes at most what config says. */
void daemon_manager_stopping(struct daemon *daemon);

/* All that this instance has. */
struct daemon_manager_numbers {
    unsigned partitions;
    uint64_t pending;
    uint64_t overdue;
    int64_t next_due_ms; /* TIME_NEVER: nothing is pending */
};

/* O(buckets of all queues): now and then. */
struct daemon_manager_numbers daemon_manager_count(const struct daemon *daemon);

/* When daemon_manager_tell has something to do, monotonic; TIME_NEVER. A new STATUS wakes nobody. */
int64_t daemon_manager_deadline(const struct daemon *daemon);

#endif
