/* The real tarry as a child process, with a configuration, a store and a port of its own. */
#ifndef TARRY_BENCH_BENCH_TARRY_H
#define TARRY_BENCH_BENCH_TARRY_H

#include <sys/types.h>

#include "bench/bench_run.h"

struct bench_tarry {
    pid_t pid; /* 0: does not run */
    int port;
    char name[BENCH_RUN_NAME];  /* its instance */
    char group[BENCH_RUN_NAME]; /* the name of the first of its group */
    bool beside;                /* the topics are the first one's */
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

struct bench_tarry_options {
    bool exactly_once;
    bool no_output;                   /* its output topic is not there: to be made by the caller, before bench_tarry_close */
    const char *more;                 /* further lines of its configuration; NULL: none */
    const struct bench_tarry *beside; /* another instance, whose group and topics it shares; NULL: it gets topics of its own */
};

/* Writes its configuration, for two topics made with it. Does not start it. `options` NULL: none of them. */
void bench_tarry_open(struct bench_run *run, struct bench_tarry *tarry, const struct bench_tarry_options *options);

/* Writes its configuration anew: for its next start. `beside` is as it was. */
void bench_tarry_configure(const struct bench_run *run, const struct bench_tarry *tarry, const struct bench_tarry_options *options);

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

/* Where its log ends now; and the wait for a line behind that place with this text in it. */
int64_t bench_tarry_log_end(const struct bench_tarry *tarry);
void bench_tarry_wait_log(struct bench_tarry *tarry, int64_t from, const char *text, int64_t timeout_ms);

/* SIGTERM and wait; kill -9 and wait. */
void bench_tarry_stop(struct bench_tarry *tarry);
void bench_tarry_kill(struct bench_tarry *tarry);

/* Removes the store of one that does not run. */
void bench_tarry_wipe(const struct bench_tarry *tarry);

/* Stops it if it runs and removes its topics and its folder. */
void bench_tarry_close(struct bench_run *run, struct bench_tarry *tarry);

#endif
