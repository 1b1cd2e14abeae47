/* What all sections share: where things are, the clock, words on the way, and the end when something fails. */
#ifndef TARRY_BENCH_BENCH_RUN_H
#define TARRY_BENCH_BENCH_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <librdkafka/rdkafka.h>

#include "bench/bench_figures.h"

#define BENCH_RUN_PARTITIONS 4
#define BENCH_RUN_VALUE_BYTES 200 /* the first eight are the due time in ms, so that whoever reads it can tell its lateness */
#define BENCH_RUN_PATH 512
#define BENCH_RUN_NAME 64

struct bench_pending;

struct bench_run {
    const char *self;          /* this program, to be run as passthrough or timer */
    const char *bootstrap;     /* of the broker */
    const char *tarry;         /* the program under test */
    const char *store_program; /* bench_store */
    const char *nats_server;   /* the program; of dead letters */
    const char *folder;        /* on the disk to be measured; whoever started us removes it */
    int64_t runs;              /* of each program, when it is not quick */
    int64_t records;           /* of the log that a takeover without a disk reads; 0: as many as the section thinks fit */
    bool quick;                /* short windows and few runs: shows that it works, not how fast it is */
    rd_kafka_t *client;        /* for topics and their ends */
    unsigned names;            /* given so far */
    struct bench_figures *figures;
    struct bench_pending *pending; /* a tarry with many records pending, left by the section memory for recovery; or NULL */
};

/* How often and how long: the full figure, or the one for --quick. */
int64_t bench_run_size(const struct bench_run *run, int64_t full, int64_t quick);

/* A name that this run has not used, for a topic, group or folder: "stem-7". */
void bench_run_name(struct bench_run *run, const char *stem, char name[BENCH_RUN_NAME]);

int64_t bench_run_wall_us(void);
int64_t bench_run_wall_ms(void);
int64_t bench_run_mono_us(void);
void bench_run_sleep_ms(int64_t ms);

/* Says on standard error what goes on. */
void bench_run_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says why, and ends this program; its children die with it. */
_Noreturn void bench_run_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
