/* The real `tarry serve` as a child of the demo. */
#ifndef TARRY_CLI_DEMO_CHILD_H
#define TARRY_CLI_DEMO_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct demo_child {
    pid_t pid;     /* 0: none, or ended and waited for */
    int status;    /* waitpid's, once it has ended */
    bool answered; /* set by its owner: it has come so far that it handles SIGTERM */
};

/* Runs this very program as `tarry serve -c config`, without the TARRY_ variables of the environment, its output in the
 * file `log`; in a process group of its own, so that Ctrl-C reaches the demo alone, which then ends it in order. It
 * dies with the demo. ERROR_SYSTEM. */
bool demo_child_start(struct demo_child *child, const char *config, const char *log, struct error *error);

/* True while it runs; takes note of its end. */
bool demo_child_running(struct demo_child *child);

/* SIGTERM, and SIGKILL after 10 s; waits for the end. True: it ended by itself with 0. Nothing to do (true) when none
 * was started. */
bool demo_child_stop(struct demo_child *child, struct error *error);

/* How it ended, in words: "ended with exit code 1". */
void demo_child_say_end(const struct demo_child *child, char *text, size_t size);

#endif
