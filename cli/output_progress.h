/* Progress on stderr: one line drawn anew on a terminal, else a line every ten seconds; nothing at all for what is done within a second. */
#ifndef TARRY_CLI_OUTPUT_PROGRESS_H
#define TARRY_CLI_OUTPUT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct output_progress {
    const char *verb;  /* "dlq export" */
    uint64_t total;    /* 0: not known */
    bool terminal;     /* stderr is one, and not a dumb one */
    bool drawn;        /* there is a line to wipe */
    int64_t next_ms;   /* monotonic: when to say something */
};

/* total 0: not known. Looks at stderr and the clock. */
struct output_progress output_progress_new(const char *verb, uint64_t total);

/* `done` of total; `more`: words behind it, "12 failed", or NULL. Cheap when it is not time yet. */
void output_progress_at(struct output_progress *progress, uint64_t done, const char *more);

/* Wipes the line. Call it before other words go to stderr or stdout, and at the end; progress may go on after. */
void output_progress_clear(struct output_progress *progress);

#endif
