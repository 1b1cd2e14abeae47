/* Metrics under names that dashboards of other schedulers ask for: made of tarry's own, so that both always say the same. */
#include <math.h>
#include <string.h>

#include "ops/metrics.h"
#include "ops/metrics_table.h"

void metrics_aliases_show(struct metrics *metrics)
{
    metrics->aliases = true;
}

static size_t series_count(const struct metrics *metrics, enum metrics_id id)
{
    const struct metrics_table_row *row = &metrics_table_rows[id];
    return metrics_label_count(metrics, row->labels[0]) * metrics_label_count(metrics, row->labels[1]);
}

/* Of all series; those that are absent count as 0. */
static double sum(const struct metrics *metrics, enum metrics_id id)
{
    double total = 0;
    for (size_t i = 0; i < series_count(metrics, id); i++) {
        double value = metrics->series[id].numbers[i];
        total += isnan(value) ? 0 : value;
    }
    return total;
}

/* Both have the same buckets: the table says so, and a test holds it to that. */
static void merge(struct metrics *metrics, enum metrics_id alias, enum metrics_id id)
{
    size_t stride = metrics_table_rows[alias].buckets->count + 1;
    uint64_t *merged = metrics_table_counts(metrics, alias, 0);
    memset(merged, 0, stride * sizeof(*merged));
    for (size_t i = 0; i < series_count(metrics, id); i++) {
        const uint64_t *counts = metrics_table_counts(metrics, id, i);
        for (size_t bucket = 0; bucket < stride; bucket++) {
            merged[bucket] += counts[bucket];
        }
    }
    metrics->series[alias].numbers[0] = sum(metrics, id);
}

void metrics_aliases_update(struct metrics *metrics)
{
    if (!metrics->aliases) {
        return;
    }
    metrics_set(metrics, METRIC_ALIAS_PENDING, 0, 0, sum(metrics, METRIC_PENDING));
    metrics_set(metrics, METRIC_ALIAS_RUNNING, 0, 0, sum(metrics, METRIC_IN_FLIGHT));
    metrics_set_total(metrics, METRIC_ALIAS_EXECUTIONS, METRICS_EXECUTION_SUCCESS, 0, sum(metrics, METRIC_DELIVERED));
    metrics_set_total(metrics, METRIC_ALIAS_EXECUTIONS, METRICS_EXECUTION_FAILURE, 0, sum(metrics, METRIC_DELIVERY_FAILURES));
    merge(metrics, METRIC_ALIAS_LATENCY, METRIC_LATENESS_SECONDS);
    merge(metrics, METRIC_ALIAS_DURATION, METRIC_DELIVERY_SECONDS);
}
