/* Values of metrics: see metrics.h. */
#include "ops/metrics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ops/metrics_table.h"

static const struct metrics_table_row *row_of(enum metrics_id id)
{
    assert((int)id >= 0 && id < METRIC_COUNT);
    return &metrics_table_rows[id];
}

size_t metrics_label_count(const struct metrics *metrics, enum metrics_label label)
{
    return label == METRICS_LABEL_NONE ? 1 : metrics->labels[label].count;
}

/* Numbers that one series has in `counts`. */
static size_t stride_of(const struct metrics_table_row *row)
{
    return row->buckets == NULL ? 0 : row->buckets->count + 1;
}

static size_t index_of(const struct metrics *metrics, const struct metrics_table_row *row, size_t first, size_t second)
{
    size_t second_count = metrics_label_count(metrics, row->labels[1]);
    assert(first < metrics_label_count(metrics, row->labels[0]));
    assert(second < second_count);
    return first * second_count + second;
}

static double start_value(const struct metrics_table_row *row)
{
    return row->type == METRICS_TABLE_GAUGE ? (double)NAN : 0.0;
}

/* Room for `first` x `second` series with what `old` held in its `old_second` columns. */
static struct metrics_table_series relaid(const struct metrics_table_row *row,
                                          struct metrics_table_series old,
                                          const size_t before[2],
                                          const size_t after[2])
{
    size_t stride = stride_of(row);
    struct metrics_table_series series = {memory_new(after[0] * after[1], sizeof(double)), NULL};
    if (stride > 0) {
        series.counts = memory_new(after[0] * after[1] * stride, sizeof(uint64_t));
    }
    for (size_t i = 0; i < after[0] * after[1]; i++) {
        size_t first = i / after[1];
        size_t second = i % after[1];
        if (first >= before[0] || second >= before[1]) {
            series.numbers[i] = start_value(row);
            continue;
        }
        size_t from = first * before[1] + second;
        series.numbers[i] = old.numbers[from];
        if (stride > 0) {
            memcpy(&series.counts[i * stride], &old.counts[from * stride], stride * sizeof(uint64_t));
        }
    }
    free(old.numbers);
    free(old.counts);
    return series;
}

/* The label has one value more than the series have room for. */
static void grow_series(struct metrics *metrics, enum metrics_label label)
{
    for (size_t id = 0; id < METRIC_COUNT; id++) {
        const struct metrics_table_row *row = &metrics_table_rows[id];
        if (row->labels[0] != label && row->labels[1] != label) {
            continue;
        }
        size_t after[2];
        size_t before[2];
        for (int i = 0; i < 2; i++) {
            after[i] = metrics_label_count(metrics, row->labels[i]);
            before[i] = after[i] - (row->labels[i] == label ? 1 : 0);
        }
        metrics->series[id] = relaid(row, metrics->series[id], before, after);
    }
}

size_t metrics_label_add(struct metrics *metrics, enum metrics_label label, const char *value)
{
    assert(label > METRICS_LABEL_NONE && label < METRICS_LABELS);
    struct metrics_table_values *list = &metrics->labels[label];
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->values[i], value) == 0) {
            return i;
        }
    }
    if (list->count == METRICS_LABEL_VALUES_MAX) {
        return list->count - 1;
    }
    list->values = memory_resize(list->values, list->count + 1, sizeof(char *));
    list->values[list->count++] = memory_text(value, strlen(value));
    grow_series(metrics, label);
    return list->count - 1;
}

struct metrics *metrics_new(void)
{
    struct metrics *metrics = memory_new(1, sizeof(*metrics));
    const size_t nothing[2] = {0, 0};
    for (size_t id = 0; id < METRIC_COUNT; id++) {
        const struct metrics_table_row *row = &metrics_table_rows[id];
        size_t one = row->labels[0] == METRICS_LABEL_NONE ? 1 : 0;
        const size_t after[2] = {one, row->labels[1] == METRICS_LABEL_NONE ? 1 : 0};
        metrics->series[id] = relaid(row, metrics->series[id], nothing, after);
    }
    for (int label = METRICS_LABEL_NONE + 1; label < METRICS_LABELS; label++) {
        size_t count;
        const char *const *values = metrics_table_label_values((enum metrics_label)label, &count);
        for (size_t i = 0; i < count; i++) {
            (void)metrics_label_add(metrics, (enum metrics_label)label, values[i]);
        }
    }
    metrics_set(metrics, METRIC_BUILD_INFO, 0, 0, 1);
    return metrics;
}

void metrics_free(struct metrics *metrics)
{
    if (metrics == NULL) {
        return;
    }
    for (size_t id = 0; id < METRIC_COUNT; id++) {
        free(metrics->series[id].numbers);
        free(metrics->series[id].counts);
    }
    for (size_t label = 0; label < METRICS_LABELS; label++) {
        for (size_t i = 0; i < metrics->labels[label].count; i++) {
            free(metrics->labels[label].values[i]);
        }
        free(metrics->labels[label].values);
    }
    free(metrics);
}

void metrics_add(struct metrics *metrics, enum metrics_id id, size_t first, size_t second, uint64_t amount)
{
    const struct metrics_table_row *row = row_of(id);
    assert(row->type == METRICS_TABLE_COUNTER);
    metrics->series[id].numbers[index_of(metrics, row, first, second)] += (double)amount;
}

void metrics_set(struct metrics *metrics, enum metrics_id id, size_t first, size_t second, double value)
{
    const struct metrics_table_row *row = row_of(id);
    assert(row->type == METRICS_TABLE_GAUGE);
    bool below = value < 0 && row->trait != METRICS_TABLE_SIGNED;
    metrics->series[id].numbers[index_of(metrics, row, first, second)] = below ? 0 : value;
}

void metrics_unset(struct metrics *metrics, enum metrics_id id, size_t first, size_t second)
{
    metrics_set(metrics, id, first, second, (double)NAN);
}

void metrics_set_total(struct metrics *metrics, enum metrics_id id, size_t first, size_t second, double total)
{
    const struct metrics_table_row *row = row_of(id);
    assert(row->type == METRICS_TABLE_COUNTER);
    double *value = &metrics->series[id].numbers[index_of(metrics, row, first, second)];
    if (total > *value) {
        *value = total;
    }
}

void metrics_observe(struct metrics *metrics, enum metrics_id id, size_t first, size_t second, double seconds)
{
    const struct metrics_table_row *row = row_of(id);
    assert(row->type == METRICS_TABLE_HISTOGRAM);
    size_t index = index_of(metrics, row, first, second);
    double value = seconds > 0 ? seconds : 0;
    size_t bucket = 0;
    while (bucket < row->buckets->count && value > row->buckets->bounds[bucket]) {
        bucket++;
    }
    metrics->series[id].counts[index * stride_of(row) + bucket]++;
    metrics->series[id].numbers[index] += value;
}

uint64_t *metrics_table_counts(struct metrics *metrics, enum metrics_id id, size_t series)
{
    return &metrics->series[id].counts[series * stride_of(row_of(id))];
}

double metrics_value(const struct metrics *metrics, enum metrics_id id, size_t first, size_t second)
{
    const struct metrics_table_row *row = row_of(id);
    size_t index = index_of(metrics, row, first, second);
    if (row->type != METRICS_TABLE_HISTOGRAM) {
        return metrics->series[id].numbers[index];
    }
    uint64_t total = 0;
    for (size_t i = 0; i < stride_of(row); i++) {
        total += metrics->series[id].counts[index * stride_of(row) + i];
    }
    return (double)total;
}

double metrics_quantile(const struct metrics *metrics, enum metrics_id id, double part)
{
    const struct metrics_table_row *row = row_of(id);
    assert(row->type == METRICS_TABLE_HISTOGRAM);
    size_t series = metrics_label_count(metrics, row->labels[0]) * metrics_label_count(metrics, row->labels[1]);
    double total = 0;
    for (size_t i = 0; i < series * stride_of(row); i++) {
        total += (double)metrics->series[id].counts[i];
    }
    double passed = 0;
    for (size_t bucket = 0; total > 0 && bucket < row->buckets->count; bucket++) {
        for (size_t i = 0; i < series; i++) {
            passed += (double)metrics->series[id].counts[i * stride_of(row) + bucket];
        }
        if (passed > 0 && passed >= part * total) {
            return row->buckets->bounds[bucket];
        }
    }
    return total > 0 ? (double)INFINITY : (double)NAN;
}
