/* When the broker appended the records of a topic that it stamps: what stands there is measured afterwards, by its clock, without a consumer beside. */
#ifndef TARRY_BENCH_BENCH_APPENDS_H
#define TARRY_BENCH_BENCH_APPENDS_H

#include <stdint.h>

#include "bench/bench_run.h"

struct bench_appends {
    int64_t count;
    int64_t first_ms; /* wall clock; with count 0 neither is set */
    int64_t last_ms;
};

/* Reads the topic from its beginning to its end. Only records with this due time count. The topic is one of bench_kafka_topic_create_stamped. */
struct bench_appends bench_appends_read(const struct bench_run *run, const char *topic, int64_t due_ms);

#endif
