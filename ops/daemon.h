/*
 * `tarry serve`: everything wired together, and the owner thread's loop.
 *
 * A turn: read both clocks, collect facts (records, reports, answers, signals), read the clocks again, one core_step, carry out its commands, answer HTTP, sleep until
 * the next deadline or the next fact. Nothing else decides anything. ARCHITECTURE.md draws it.
 */
#ifndef TARRY_OPS_DAEMON_H
#define TARRY_OPS_DAEMON_H

#include <stdbool.h>

#include "base/error.h"
#include "ops/config.h"
#include "ops/log_output.h"

struct daemon_options {
    struct config *config; /* taken over: freed by the daemon, also when a reload has replaced it */
    bool accept_change;    /* R8: the operator has been asked */
    /* SIGHUP: loads the configuration again. It returns NULL when that failed, and has logged why. The pointer may be NULL: there is nothing to
     * reload. */
    struct config *(*reload)(void *context);
    void *context;
    struct log_output *log; /* told once a second when it has something to say; NULL: there is none */
};

/* Runs until SIGTERM or SIGINT, or until it cannot go on. True: stopped by a signal, in order or because
 * shutdown_timeout was over (then a warning was logged). False: *error says why, and the process should end with
 * a failure, for its supervisor to start it again: what is in Kafka and in the store is consistent at any moment. Main thread, once
 * per process; log output is set up before. */
bool daemon_run(const struct daemon_options *options, struct error *error);

#endif
