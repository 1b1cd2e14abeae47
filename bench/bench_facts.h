/* Where and with what it was measured. */
#ifndef TARRY_BENCH_BENCH_FACTS_H
#define TARRY_BENCH_BENCH_FACTS_H

#include <stddef.h>

#include "bench/bench_run.h"

struct bench_facts_one {
    char name[24];
    char value[200];
};

#define BENCH_FACTS_MOST 16

struct bench_facts {
    struct bench_facts_one items[BENCH_FACTS_MOST];
    size_t count;
};

/* Collects them, at the beginning. Fails when the folder lies in memory or has too little room. */
void bench_facts_collect(const struct bench_run *run, const char *commit, const char *kafka_version, const char *nats_version,
                         struct bench_facts *facts);

#endif
