/* The figures, for people and for programs. */
#ifndef TARRY_BENCH_BENCH_REPORT_H
#define TARRY_BENCH_BENCH_REPORT_H

#include <stdio.h>

#include "bench/bench_facts.h"
#include "bench/bench_run.h"

void bench_report_table(const struct bench_run *run, const struct bench_facts *facts, FILE *file);
void bench_report_json(const struct bench_run *run, const struct bench_facts *facts, FILE *file);

#endif
