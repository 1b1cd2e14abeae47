/* The consumer that measures: when each record of a topic arrives, against the due time it carries. */
#ifndef TARRY_BENCH_BENCH_ARRIVALS_H
#define TARRY_BENCH_BENCH_ARRIVALS_H

#include <stddef.h>
#include <stdint.h>

#include "bench/bench_run.h"

struct bench_arrivals;

/* Reads the topic from its beginning on a thread of its own and notes the lateness of records due from from_ms on and
 * before to_ms. */
struct bench_arrivals *bench_arrivals_start(const struct bench_run *run, const char *topic, int64_t from_ms, int64_t to_ms);

/* The same, from the topic's end: for a long topic. Records that are written within the next second may be missed. */
struct bench_arrivals *bench_arrivals_start_at_end(const struct bench_run *run, const char *topic, int64_t from_ms, int64_t to_ms);

/* How many were noted so far. */
int64_t bench_arrivals_count(struct bench_arrivals *arrivals);

/* Wall clock in us at which the first of them arrived; 0: none yet. */
int64_t bench_arrivals_first_us(struct bench_arrivals *arrivals);

/* Waits until `count` were noted; false when they were not within timeout_ms. */
bool bench_arrivals_wait(struct bench_arrivals *arrivals, int64_t count, int64_t timeout_ms);

/* Ends the reading and sorts. */
void bench_arrivals_stop(struct bench_arrivals *arrivals);

/* After stop: the lateness in ms that `share` of them (0 to 1) do not exceed; negative: too early. There must be some. */
double bench_arrivals_percentile(const struct bench_arrivals *arrivals, double share);

void bench_arrivals_free(struct bench_arrivals *arrivals);

#endif
