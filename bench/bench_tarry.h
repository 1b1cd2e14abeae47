/* The real tarry as a child process, with a configuration, a store and a port of its own. */
#ifndef TARRY_BENCH_BENCH_TARRY_H
#define TARRY_BENCH_BENCH_TARRY_H

#include <sys/types.h>

#include "bench/bench_run.h"

struct bench_tarry {
    pid_t pid; /* 0: does not run */
    int port;
    char name[BENCH_RUN_NAME]; /* its instance and its group */
    char folder[BENCH_RUN_PATH];
    char config[BENCH_RUN_PATH + 32];
    char store[BENCH_RUN_PATH + 32];
    char log[BENCH_RUN_PATH + 32];
    char input[BENCH_RUN_NAME];
    char output[BENCH_RUN_NAME];
};

/* What it did since it started. */
struct bench_tarry_cost {
    int64_t cpu_ms;
    /* Given to write calls: the store's file, and a little log; no sockets. The kernel's own write_bytes counts a whole
     * large folio of the page cache for each page that changes in it: many times too much. */
    int64_t written_bytes;
};

/* Writes its configuration, for two topics made with it. Does not start it. */
void bench_tarry_open(struct bench_run *run, struct bench_tarry *tarry);

/* Starts it and does not wait. */
void bench_tarry_start(const struct bench_run *run, struct bench_tarry *tarry);

/* Waits until it says it is ready: it has read its input up to the end. */
void bench_tarry_wait_ready(struct bench_tarry *tarry, int64_t timeout_ms);

/* Sum of a metric's samples; 0 when there are none. */
double bench_tarry_metric(const struct bench_tarry *tarry, const char *name);

/* Waits until it has read `count` records since it started. */
void bench_tarry_wait_read(struct bench_tarry *tarry, int64_t count, int64_t timeout_ms);

/* Waits until at least `count` rows stand in its store on disk. */
void bench_tarry_wait_rows(struct bench_tarry *tarry, int64_t count, int64_t timeout_ms);

/* Rows in its store and what the store's file takes on disk, looked at from outside while it runs. */
int64_t bench_tarry_rows(const struct bench_tarry *tarry);
int64_t bench_tarry_disk_bytes(const struct bench_tarry *tarry);

struct bench_tarry_cost bench_tarry_cost(const struct bench_tarry *tarry);

/* SIGTERM and wait; kill -9 and wait. */
void bench_tarry_stop(struct bench_tarry *tarry);
void bench_tarry_kill(struct bench_tarry *tarry);

/* Stops it if it runs and removes its topics and its folder. */
void bench_tarry_close(struct bench_run *run, struct bench_tarry *tarry);

#endif
