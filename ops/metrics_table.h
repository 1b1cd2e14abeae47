/* What the metrics are: the table, and the struct that holds their values. For metrics*.c only. */
#ifndef TARRY_OPS_METRICS_TABLE_H
#define TARRY_OPS_METRICS_TABLE_H

#include "ops/metrics.h"

enum metrics_table_type { METRICS_TABLE_COUNTER, METRICS_TABLE_GAUGE, METRICS_TABLE_HISTOGRAM };

enum metrics_table_trait {
    METRICS_TABLE_PLAIN,
    METRICS_TABLE_SIGNED, /* a gauge that may be negative */
    METRICS_TABLE_ALIAS,  /* exposed with metrics.aliases alone */
};

struct metrics_table_buckets {
    const double *bounds; /* upper bounds in seconds, ascending, without +Inf */
    size_t count;
};

struct metrics_table_row {
    const char *name;
    enum metrics_table_type type;
    enum metrics_label labels[2];
    const struct metrics_table_buckets *buckets; /* histograms only */
    bool sparse; /* series that are still 0 are not exposed: the list is long and most never happen */
    const char *help;
    enum metrics_table_trait trait;
};

/* METRIC_COUNT rows. */
extern const struct metrics_table_row metrics_table_rows[];

/* The label's name in the exposition. */
const char *metrics_table_label_name(enum metrics_label label);

/* Values that the label has from the start; *count may become 0. */
const char *const *metrics_table_label_values(enum metrics_label label, size_t *count);

/* What a label's values are, for the docs. */
const char *metrics_table_label_help(enum metrics_label label);

struct metrics_table_values {
    char **values;
    size_t count;
};

/* One metric's series, row-major: [first * count of second + second]. */
struct metrics_table_series {
    double *numbers;  /* counters and gauges; sums of histograms */
    uint64_t *counts; /* histograms: bucket counts, not cumulative, the last is +Inf; stride = bucket count + 1 */
};

struct metrics {
    struct metrics_table_values labels[METRICS_LABELS];
    struct metrics_table_series series[METRIC_COUNT];
    bool aliases; /* they are exposed */
};

/* Of a histogram's series: how often each bucket was hit, not cumulative, the last is +Inf. Borrowed. */
uint64_t *metrics_table_counts(struct metrics *metrics, enum metrics_id id, size_t series);

#endif
