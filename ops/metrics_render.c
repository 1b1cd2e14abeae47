/* Metrics as text for Prometheus (exposition format 0.0.4) and as a page of the docs. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ops/escape.h"
#include "ops/metrics.h"
#include "ops/metrics_table.h"

#define NUMBER_MAX 40

static const char *type_name(enum metrics_table_type type)
{
    if (type == METRICS_TABLE_COUNTER) {
        return "counter";
    }
    return type == METRICS_TABLE_GAUGE ? "gauge" : "histogram";
}

/* The shortest decimal that reads back as the same number. */
static void add_number(struct buffer *buffer, double value)
{
    if (isinf(value)) {
        buffer_add_text(buffer, value > 0 ? "+Inf" : "-Inf");
        return;
    }
    char text[NUMBER_MAX];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (back >= value && back <= value) {
            break;
        }
    }
    buffer_add_text(buffer, text);
}

/* One series: where it stands in its metric. */
struct place {
    const struct metrics *metrics;
    const struct metrics_table_row *row;
    size_t indexes[2];
};

/* name and {labels}; with le when bound is not NULL. */
static void add_head(struct buffer *buffer, const struct place *place, const char *suffix, const double *bound)
{
    buffer_add_format(buffer, "%s%s", place->row->name, suffix);
    const char *separator = "{";
    for (int i = 0; i < 2; i++) {
        enum metrics_label label = place->row->labels[i];
        if (label == METRICS_LABEL_NONE) {
            continue;
        }
        buffer_add_format(buffer, "%s%s=\"", separator, metrics_table_label_name(label));
        escape_label(buffer, span_of_text(place->metrics->labels[label].values[place->indexes[i]]));
        buffer_add_text(buffer, "\"");
        separator = ",";
    }
    if (bound != NULL) {
        buffer_add_format(buffer, "%sle=\"", separator);
        add_number(buffer, *bound);
        buffer_add_text(buffer, "\"");
        separator = ",";
    }
    buffer_add_text(buffer, separator[0] == ',' ? "} " : " ");
}

static void add_histogram(struct buffer *buffer, const struct place *place, const uint64_t *counts, double sum)
{
    const struct metrics_table_buckets *buckets = place->row->buckets;
    uint64_t total = 0;
    for (size_t i = 0; i <= buckets->count; i++) {
        double bound = i < buckets->count ? buckets->bounds[i] : (double)INFINITY;
        total += counts[i];
        add_head(buffer, place, "_bucket", &bound);
        buffer_add_format(buffer, "%" PRIu64 "\n", total);
    }
    add_head(buffer, place, "_sum", NULL);
    add_number(buffer, sum);
    buffer_add_text(buffer, "\n");
    add_head(buffer, place, "_count", NULL);
    buffer_add_format(buffer, "%" PRIu64 "\n", total);
}

static void add_plain(struct buffer *buffer, const struct place *place, double value)
{
    if (isnan(value) || (place->row->sparse && !(value > 0))) {
        return;
    }
    add_head(buffer, place, "", NULL);
    add_number(buffer, value);
    buffer_add_text(buffer, "\n");
}

static void add_metric(struct buffer *buffer, const struct metrics *metrics, size_t id)
{
    const struct metrics_table_row *row = &metrics_table_rows[id];
    const struct metrics_table_series *series = &metrics->series[id];
    size_t first_count = metrics_label_count(metrics, row->labels[0]);
    size_t second_count = metrics_label_count(metrics, row->labels[1]);
    buffer_add_format(buffer, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name, type_name(row->type));
    for (size_t i = 0; i < first_count * second_count; i++) {
        struct place place = {metrics, row, {i / second_count, i % second_count}};
        if (row->type == METRICS_TABLE_HISTOGRAM) {
            add_histogram(buffer, &place, series->counts + i * (row->buckets->count + 1), series->numbers[i]);
        } else {
            add_plain(buffer, &place, series->numbers[i]);
        }
    }
}

void metrics_render_text(const struct metrics *metrics, struct buffer *buffer)
{
    for (size_t id = 0; id < METRIC_COUNT; id++) {
        if (metrics->aliases || metrics_table_rows[id].trait != METRICS_TABLE_ALIAS) {
            add_metric(buffer, metrics, id);
        }
    }
}

static void add_docs_labels(struct buffer *buffer, const struct metrics_table_row *row)
{
    const char *separator = "";
    for (int i = 0; i < 2; i++) {
        if (row->labels[i] != METRICS_LABEL_NONE) {
            buffer_add_format(buffer, "%s`%s`", separator, metrics_table_label_name(row->labels[i]));
            separator = ", ";
        }
    }
}

static void add_docs_label(struct buffer *buffer, enum metrics_label label)
{
    size_t count;
    const char *const *values = metrics_table_label_values(label, &count);
    const char *help = metrics_table_label_help(label);
    buffer_add_format(buffer, "| `%s` | %s", metrics_table_label_name(label), help);
    /* A label that says what it is needs no list: the version would differ with every release. */
    for (size_t i = 0; help[0] == '\0' && i < count; i++) {
        buffer_add_format(buffer, "%s`%s`", i == 0 ? "" : ", ", values[i]);
    }
    buffer_add_text(buffer, " |\n");
}

static void add_docs_buckets(struct buffer *buffer, const struct metrics_table_row *row)
{
    buffer_add_format(buffer, "- `%s`:", row->name);
    for (size_t i = 0; i < row->buckets->count; i++) {
        buffer_add_text(buffer, " ");
        add_number(buffer, row->buckets->bounds[i]);
    }
    buffer_add_text(buffer, "\n");
}

void metrics_render_docs(struct buffer *buffer)
{
    buffer_add_text(
        buffer,
        "<!-- Made from ops/metrics_table.c. Change it there, then run the tests with TARRY_UPDATE_DOCS=1. -->\n"
        "# Metrics\n\n`GET /metrics` answers in the Prometheus text format 0.0.4. A gauge that has no value now is absent; none but "
        "`tarry_clock_offset_seconds` is ever negative. Labels take configured names and the fixed values below, never an id, a key or a text of a "
        "record. `http_requests_total`, `tarry_letters_total` show a series when it is first counted.\n\n"
        "| name | type | labels | meaning |\n|---|---|---|---|\n");
    for (size_t id = 0; id < METRIC_COUNT; id++) {
        const struct metrics_table_row *row = &metrics_table_rows[id];
        buffer_add_format(buffer, "| `%s` | %s | ", row->name, type_name(row->type));
        add_docs_labels(buffer, row);
        buffer_add_format(buffer, " | %s |\n", row->help);
    }
    buffer_add_text(buffer, "\n## Labels\n\n| label | values |\n|---|---|\n");
    for (int label = METRICS_LABEL_NONE + 1; label < METRICS_LABELS; label++) {
        add_docs_label(buffer, (enum metrics_label)label);
    }
    buffer_add_text(buffer, "\n## Buckets (seconds)\n\n");
    for (size_t id = 0; id < METRIC_COUNT; id++) {
        if (metrics_table_rows[id].buckets != NULL) {
            add_docs_buckets(buffer, &metrics_table_rows[id]);
        }
    }
    buffer_add_text(
        buffer,
        "\n## After a restart\n\n"
        "Counters and histograms live in memory and begin at 0 with each process. Prometheus expects that: `rate()` and `increase()` take a value that went down for a "
        "restart and count on from 0, so both are right over a restart but for what was counted after the last scrape before it; subtracting a former value from a "
        "later one is not. `process_start_time_seconds` says since when they count.\n\n"
        "Gauges say how it is now, and are whole again when `/readyz` is 200: what is pending comes from the checkpoint and the topics, dead letters from JetStream "
        "(`tarry_dead_letters` is of all instances: take the `max` of it, not the `sum`). What a counter has told of an event may be told again after a crash with "
        "`at_least_once`, as the event itself may leave again.\n\n"
        "## Not counted here\n\n"
        "Replays: `tarry dlq replay` works straight on JetStream and Kafka, also while no instance runs, and none of them sees it. What a replay delivered stands in its "
        "job (`tarry dlq jobs`); in the metrics `tarry_dead_letters` falls by it, and a refused record that was replayed to its delay topic is read and counted like any other.\n\n"
        "## Aliases\n\n"
        "With `metrics.aliases: true` the five names at the end of the table are exposed, too, for dashboards that were written for them. They are made of tarry's own metrics at "
        "each scrape, so both always say the same.\n");
}
