/* What tarry's throughput is held against: bare librdkafka, consume and produce with headers copied. */
#ifndef TARRY_BENCH_BENCH_PASSTHROUGH_H
#define TARRY_BENCH_BENCH_PASSTHROUGH_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/bench_run.h"

/* The program itself, in a process of its own: "passthrough BOOTSTRAP INPUT OUTPUT COUNTER_FILE". Ends on SIGTERM. */
int bench_passthrough_main(char **arguments);

/* "passthrough-exact", the same in transactions of a fifth of a second that carry the offsets. */
int bench_passthrough_exact_main(char **arguments);

struct bench_passthrough {
    pid_t pid;
    _Atomic int64_t *read; /* in the counter file, which it maps too */
    char log[BENCH_RUN_PATH];
    char input[BENCH_RUN_NAME];
    char output[BENCH_RUN_NAME];
};

/* Makes two topics and starts the program between them; `exact`: the one with transactions. */
void bench_passthrough_start(struct bench_run *run, struct bench_passthrough *passthrough, bool exact);

/* How many records it has read. For bench_feed_options. */
int64_t bench_passthrough_read(void *passthrough);

/* Ends it and removes the topics. */
void bench_passthrough_stop(struct bench_run *run, struct bench_passthrough *passthrough);

#endif
