/* The programs that the demo runs beside itself: the real `tarry serve`, verbs of `tarry dlq`, a nats-server. */
#ifndef TARRY_CLI_DEMO_CHILD_H
#define TARRY_CLI_DEMO_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct demo_child_options {
    const char *name;             /* for messages: "`tarry serve`". Outlives the child */
    const char *program;          /* path; NULL: this very program */
    const char *const *arguments; /* NULL-terminated, what it is called first */
    const char *log;              /* file that its output is appended to */
    int end_signal;               /* tells it to end, and it ends with 0: SIGTERM or SIGINT */
};

struct demo_child {
    pid_t pid;     /* 0: none, or ended and waited for */
    int status;    /* waitpid's, once it has ended */
    bool answered; /* set by its owner: it has come so far that it handles its signal */
    int end_signal;
    const char *name;
};

/* Runs the program without the TARRY_ variables of the environment; in a process group of its own, so that Ctrl-C reaches the demo alone, which then
 * ends it in order. It dies with the demo. ERROR_SYSTEM. A program that cannot be run ends with exit code 127. */
bool demo_child_start(struct demo_child *child, const struct demo_child_options *options, struct error *error);

/* True while it runs; takes note of its end. */
bool demo_child_running(struct demo_child *child);

/* True: it has ended by itself with 0. False, and *error says how it ended: a name and words. */
bool demo_child_done(const struct demo_child *child, struct error *error);

/* Its signal, and SIGKILL after 10 s; waits for the end. True: it ended by itself with 0. Nothing to do (true) when none was started, or it ended
 * before. */
bool demo_child_stop(struct demo_child *child, struct error *error);

#endif
