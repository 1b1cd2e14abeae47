/*
 * SIGTERM, SIGINT, SIGHUP and SIGPIPE for a daemon, also one that runs as process 1.
 *
 * One set per process. The first SIGTERM or SIGINT asks for a stop, the second ends the process at once from within its
 * handler (status 128 + signal), even when the owner thread is stuck: the store is written for being cut off like that.
 * SIGHUP asks for a reload. SIGPIPE is ignored, and as process 1 SIGCHLD too, so that no child that others left to it stays a zombie.
 */
#ifndef TARRY_OPS_SIGNALS_H
#define TARRY_OPS_SIGNALS_H

#include <stdbool.h>

#include "base/error.h"

/* Installs the handlers and unblocks the signals. Call it once, in the main thread, before other threads exist; these
 * should call signals_block_in_thread. False: ERROR_SYSTEM, end with the text. */
bool signals_start(struct error *error);

/* Default handlers again, and closes the fd. */
void signals_stop(void);

/* Readable when a signal has come; poll it. Owned by this file. -1 before signals_start. */
int signals_fd(void);

enum signals_event { SIGNALS_NONE, SIGNALS_STOP, SIGNALS_RELOAD };

/* What was asked for since the last call, a stop before a reload, or SIGNALS_NONE. Never blocks. A stop is reported
 * once; several SIGHUPs since the last call are one. Main thread. */
enum signals_event signals_next(void);

/* Leaves all signals to the main thread. First thing in each thread of ours. */
void signals_block_in_thread(void);

#endif
