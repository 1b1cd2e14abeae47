/* The registry and its exposition. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/metrics.h"
#include "ops/metrics_table.h"
#include "tests/support/exposition.h"

static char *render(const struct metrics *metrics)
{
    struct buffer buffer = buffer_new((size_t)16 * 1024 * 1024);
    metrics_render_text(metrics, &buffer);
    buffer_add(&buffer, "", 1);
    assert_false(buffer.full);
    return (char *)buffer.data;
}

static void assert_well_formed(const char *text)
{
    char problem[2048] = "";
    if (!exposition_check(text, problem, sizeof(problem))) {
        print_error("%s\n", problem);
        fail();
    }
}

static void assert_series(const char *text, const char *series, double expected)
{
    double value = exposition_value(text, series);
    if (!(fabs(value - expected) < 1e-9)) {
        print_error("%s is %g, not %g\n", series, value, expected);
        fail();
    }
}

static void test_table_is_complete(void **state)
{
    (void)state;
    for (size_t id = 0; id < METRIC_COUNT; id++) {
        const struct metrics_table_row *row = &metrics_table_rows[id];
        assert_non_null(row->name);
        assert_true(strlen(row->help) > 10);
        assert_true(row->labels[0] != METRICS_LABEL_NONE || row->labels[1] == METRICS_LABEL_NONE);
        assert_true((row->type == METRICS_TABLE_HISTOGRAM) == (row->buckets != NULL));
        assert_null(strpbrk(row->help, "\\\n|"));
        bool ours = strncmp(row->name, "tarry_", 6) == 0 || strncmp(row->name, "process_", 8) == 0;
        assert_true(ours || row->trait == METRICS_TABLE_ALIAS || strcmp(row->name, "http_requests_total") == 0);
        assert_true(row->trait != METRICS_TABLE_SIGNED || row->type == METRICS_TABLE_GAUGE);
    }
}

static void test_new_is_well_formed(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new();
    char *text = render(metrics);
    assert_well_formed(text);
    assert_series(text, "tarry_build_info{version=\"" TARRY_VERSION "\"}", 1);
    assert_series(text, "tarry_turns_total", 0);
    assert_series(text, "tarry_commits_total{result=\"ok\"}", 0);
    assert_series(text, "tarry_checkpoint_seconds_bucket{le=\"+Inf\"}", 0);
    assert_true(isnan(exposition_value(text, "tarry_next_due_timestamp_seconds")));
    assert_null(strstr(text, "nan"));
    free(text);
    metrics_free(metrics);
}

static void test_values(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new();
    size_t a = metrics_label_add(metrics, METRICS_LABEL_SOURCE, "a");
    size_t bad = metrics_label_add(metrics, METRICS_LABEL_REASON, "bad_time");
    size_t lane = metrics_label_add(metrics, METRICS_LABEL_TARGET, "default");
    metrics_add(metrics, METRIC_RECORDS_READ, a, 0, 9007199254740992U);
    metrics_add(metrics, METRIC_RECORDS_REFUSED, a, bad, 3);
    metrics_set(metrics, METRIC_PENDING, a, METRICS_TIER_DISK, 12);
    metrics_set(metrics, METRIC_NEXT_DUE, 0, 0, 1764425574.123);
    metrics_observe(metrics, METRIC_LATENESS_SECONDS, lane, 0, 0.001);
    metrics_observe(metrics, METRIC_LATENESS_SECONDS, lane, 0, 0.0011);
    metrics_observe(metrics, METRIC_LATENESS_SECONDS, lane, 0, 7200);
    metrics_observe(metrics, METRIC_LATENESS_SECONDS, lane, 0, -5);
    char *text = render(metrics);
    assert_well_formed(text);
    assert_non_null(strstr(text, "\ntarry_records_read_total{source=\"a\"} 9007199254740992\n"));
    assert_series(text, "tarry_records_refused_total{source=\"a\",reason=\"bad_time\"}", 3);
    assert_series(text, "tarry_pending{source=\"a\",tier=\"disk\"}", 12);
    assert_true(isnan(exposition_value(text, "tarry_pending{source=\"a\",tier=\"memory\"}")));
    assert_non_null(strstr(text, "\ntarry_next_due_timestamp_seconds 1764425574.123\n"));
    assert_series(text, "tarry_lateness_seconds_bucket{target=\"default\",le=\"0.001\"}", 2);
    assert_series(text, "tarry_lateness_seconds_bucket{target=\"default\",le=\"0.002\"}", 3);
    assert_series(text, "tarry_lateness_seconds_bucket{target=\"default\",le=\"3600\"}", 3);
    assert_series(text, "tarry_lateness_seconds_bucket{target=\"default\",le=\"+Inf\"}", 4);
    assert_series(text, "tarry_lateness_seconds_sum{target=\"default\"}", 7200.0021);
    assert_series(text, "tarry_lateness_seconds_count{target=\"default\"}", 4);
    free(text);
    metrics_unset(metrics, METRIC_NEXT_DUE, 0, 0);
    text = render(metrics);
    assert_true(isnan(exposition_value(text, "tarry_next_due_timestamp_seconds")));
    free(text);
    metrics_free(metrics);
}

static void test_totals_do_not_go_back(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new();
    metrics_set_total(metrics, METRIC_HTTP_REQUESTS, METRICS_METHOD_GET, METRICS_STATUS_200, 7);
    metrics_set_total(metrics, METRIC_HTTP_REQUESTS, METRICS_METHOD_GET, METRICS_STATUS_200, 5);
    char *text = render(metrics);
    assert_series(text, "http_requests_total{method=\"GET\",status=\"200\"}", 7);
    assert_true(isnan(exposition_value(text, "http_requests_total{method=\"PUT\",status=\"200\"}")));
    free(text);
    metrics_free(metrics);
}

/* Labels that come later keep what was counted, whichever of the two labels grows. */
static void test_labels_grow(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new();
    uint64_t expected[12][12] = {{0}};
    unsigned seed = 7;
    char name[16];
    for (size_t i = 0; i < 12; i++) {
        (void)snprintf(name, sizeof(name), "v%zu", i);
        assert_int_equal(metrics_label_add(metrics, METRICS_LABEL_TARGET, name), i);
        assert_int_equal(metrics_label_add(metrics, METRICS_LABEL_FAILURE, name), i);
        for (int step = 0; step < 20; step++) {
            seed = seed * 1103515245U + 12345U;
            size_t first = (seed >> 16) % (i + 1);
            size_t second = (seed >> 8) % (i + 1);
            expected[first][second] += seed % 100;
            metrics_add(metrics, METRIC_DELIVERY_FAILURES, first, second, seed % 100);
            metrics_observe(metrics, METRIC_LATENESS_SECONDS, first, 0, 0.5);
        }
    }
    assert_int_equal(metrics_label_add(metrics, METRICS_LABEL_TARGET, "v3"), 3);
    assert_int_equal(metrics_label_count(metrics, METRICS_LABEL_TARGET), 12);
    double observed = 0;
    for (size_t first = 0; first < 12; first++) {
        observed += metrics_value(metrics, METRIC_LATENESS_SECONDS, first, 0);
        for (size_t second = 0; second < 12; second++) {
            assert_int_equal((uint64_t)metrics_value(metrics, METRIC_DELIVERY_FAILURES, first, second),
                             expected[first][second]);
        }
    }
    assert_int_equal((int)observed, 240);
    char *text = render(metrics);
    assert_well_formed(text);
    free(text);
    metrics_free(metrics);
}

static void test_hostile_labels(void **state)
{
    (void)state;
    static const char *const hostile[] = {"a\"b",         "a\\b",
                                          "a\nb",         "\"} 1\ntarry_turns_total 99\n#",
                                          "caf\xC3\xA9",  "bad\xFF\xC0\xAFutf",
                                          "\xED\xA0\x80", "",
                                          "\\",           "{}=,",
                                          "\x01\x7F\t\r"};
    struct metrics *metrics = metrics_new();
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        size_t index = metrics_label_add(metrics, METRICS_LABEL_SOURCE, hostile[i]);
        metrics_add(metrics, METRIC_RECORDS_READ, index, 0, i + 1);
    }
    char *text = render(metrics);
    assert_well_formed(text);
    assert_series(text, "tarry_records_read_total{source=\"a\\\"b\"}", 1);
    assert_series(text, "tarry_records_read_total{source=\"a\\\\b\"}", 2);
    assert_series(text, "tarry_records_read_total{source=\"a\\nb\"}", 3);
    assert_series(text, "tarry_records_read_total{source=\"caf\xC3\xA9\"}", 5);
    assert_series(text, "tarry_turns_total", 0);
    free(text);
    metrics_free(metrics);
}

/* A topic of 249 bytes, each of which has to be escaped, and the most lanes there may be. */
static void test_longest_names(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new();
    char name[250];
    for (size_t i = 0; i < 300; i++) {
        memset(name, "\\\"\n"[i % 3], sizeof(name));
        (void)snprintf(name + 240, 10, "%zu", i);
        size_t source = metrics_label_add(metrics, METRICS_LABEL_SOURCE, name);
        size_t target = metrics_label_add(metrics, METRICS_LABEL_TARGET, name);
        metrics_add(metrics, METRIC_RECORDS_READ, source, 0, 1);
        metrics_observe(metrics, METRIC_LATENESS_SECONDS, target, 0, 1);
    }
    char *text = render(metrics);
    assert_well_formed(text);
    free(text);
    metrics_free(metrics);
}

static void test_gauges_are_not_negative(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new();
    metrics_set(metrics, METRIC_LANES_APART, 0, 0, -1);
    metrics_set(metrics, METRIC_CLOCK_OFFSET, 0, 0, -0.25);
    char *text = render(metrics);
    assert_well_formed(text);
    assert_series(text, "tarry_lanes_apart", 0);
    assert_series(text, "tarry_clock_offset_seconds", -0.25);
    free(text);
    metrics_free(metrics);
}

static void test_aliases(void **state)
{
    (void)state;
    assert_ptr_equal(metrics_table_rows[METRIC_ALIAS_LATENCY].buckets, metrics_table_rows[METRIC_LATENESS_SECONDS].buckets);
    assert_ptr_equal(metrics_table_rows[METRIC_ALIAS_DURATION].buckets, metrics_table_rows[METRIC_DELIVERY_SECONDS].buckets);
    struct metrics *metrics = metrics_new();
    size_t source = metrics_label_add(metrics, METRICS_LABEL_SOURCE, "in");
    size_t failure = metrics_label_add(metrics, METRICS_LABEL_FAILURE, "retriable");
    metrics_set(metrics, METRIC_PENDING, source, METRICS_TIER_DISK, 5);
    metrics_set(metrics, METRIC_PENDING, source, METRICS_TIER_MEMORY, 2);
    for (int i = 0; i < 2; i++) {
        size_t lane = metrics_label_add(metrics, METRICS_LABEL_TARGET, i == 0 ? "a" : "b");
        metrics_add(metrics, METRIC_DELIVERED, lane, 0, 3);
        metrics_add(metrics, METRIC_DELIVERY_FAILURES, lane, failure, 1);
        metrics_observe(metrics, METRIC_LATENESS_SECONDS, lane, 0, i == 0 ? 0.5 : 7200);
        metrics_set(metrics, METRIC_IN_FLIGHT, lane, 0, 4);
    }
    metrics_observe(metrics, METRIC_DELIVERY_SECONDS, 0, 0, 0.25);
    metrics_aliases_update(metrics);
    char *text = render(metrics);
    assert_well_formed(text);
    assert_null(strstr(text, "notification")); /* not unless asked for */
    assert_null(strstr(text, "scheduler_"));
    free(text);
    metrics_aliases_show(metrics);
    for (int i = 0; i < 2; i++) { /* the second time nothing has changed */
        metrics_aliases_update(metrics);
        text = render(metrics);
        assert_well_formed(text);
        assert_series(text, "pending_notifications_total", 7);
        assert_series(text, "notification_send_latency_seconds_count", 2);
        assert_series(text, "notification_send_latency_seconds_bucket{le=\"0.5\"}", 1);
        assert_series(text, "notification_send_latency_seconds_sum", 7200.5);
        assert_series(text, "scheduler_task_executions_total{status=\"success\"}", 6);
        assert_series(text, "scheduler_task_executions_total{status=\"failure\"}", 2);
        assert_series(text, "scheduler_task_duration_seconds_count", 1);
        assert_series(text, "scheduler_running_tasks", 8);
        free(text);
    }
    metrics_free(metrics);
}

static void test_label_values_are_bounded(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new();
    char name[16];
    for (size_t i = 0; i <= METRICS_LABEL_VALUES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "%zu", i);
        size_t index = metrics_label_add(metrics, METRICS_LABEL_FAILURE, name);
        assert_int_equal(index, i < METRICS_LABEL_VALUES_MAX ? i : METRICS_LABEL_VALUES_MAX - 1);
    }
    metrics_free(metrics);
}

static void test_process(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new();
    metrics_process_update(metrics);
    assert_true(metrics_value(metrics, METRIC_PROCESS_OPEN_FDS, 0, 0) >= 3);
    assert_true(metrics_value(metrics, METRIC_PROCESS_RESIDENT, 0, 0) > 100000);
    assert_true(metrics_value(metrics, METRIC_PROCESS_RESIDENT_ANON, 0, 0) > 1000);
    assert_true(metrics_value(metrics, METRIC_PROCESS_VIRTUAL, 0, 0) >
                metrics_value(metrics, METRIC_PROCESS_RESIDENT, 0, 0));
    assert_true(metrics_value(metrics, METRIC_PROCESS_THREADS, 0, 0) >= 1);
    assert_true(metrics_value(metrics, METRIC_PROCESS_START_TIME, 0, 0) > 1.5e9);
    char *text = render(metrics);
    assert_well_formed(text);
    free(text);
    metrics_free(metrics);
}

#define HISTOGRAM "# HELP a b\n# TYPE a histogram\n"

static const char *const wrong[] = {
    "",
    "\n",
    "a 1\n",
    "# HELP a b\n",
    "# HELP a b\na 1\n",
    "# TYPE a gauge\na 1\n",
    "# TYPE a gauge\n# HELP a b\na 1\n",
    "# HELP a b\n# HELP c d\n# TYPE c gauge\nc 1\n",
    "# HELP a b\n# TYPE b gauge\nb 1\n",
    "# HELP a\n# TYPE a gauge\na 1\n",
    "# HELP a b\\q\n# TYPE a gauge\na 1\n",
    "# HELP a b\n# TYPE a gauge\na 1",
    "# HELP a b\n# TYPE a gauge\na 1\r\n",
    "# HELP a b\n# TYPE a gauge\n\na 1\n",
    "# HELP a b\n# TYPE a gauge\n a 1\n",
    "# HELP a b\n# TYPE a gauge\na  1\n",
    "# HELP a b\n# TYPE a gauge\na 1 1700000000000\n",
    "# HELP a b\n# TYPE a summary\na 1\n",
    "# HELP a b\n# TYPE a gauge\n# HELP a b\n# TYPE a gauge\na 1\n",
    "# HELP a b\n# TYPE a gauge\na 1\n# HELP c d\n# TYPE c gauge\nc 1\na 2\n",
    "# a comment\n# HELP a b\n# TYPE a gauge\na 1\n",
    "# HELP a b\n# TYPE a gauge\nab 1\n",
    "# HELP a b\n# TYPE a gauge\na{} 1\n",
    "# HELP a b\n# TYPE a gauge\na{x=\"1} 1\n",
    "# HELP a b\n# TYPE a gauge\na{x=1} 1\n",
    "# HELP a b\n# TYPE a gauge\na{x=\"1\",} 1\n",
    "# HELP a b\n# TYPE a gauge\na{x=\"1\" y=\"2\"} 1\n",
    "# HELP a b\n# TYPE a gauge\na{x=\"1\",x=\"2\"} 1\n",
    "# HELP a b\n# TYPE a gauge\na{__x=\"1\"} 1\n",
    "# HELP a b\n# TYPE a gauge\na{x-y=\"1\"} 1\n",
    "# HELP a b\n# TYPE a gauge\na{x=\"\\q\"} 1\n",
    "# HELP a b\n# TYPE a gauge\na{x=\"\"\"} 1\n",
    "# HELP a b\n# TYPE a gauge\na{x=\"a\nb\"} 1\n",
    "# HELP a b\n# TYPE a gauge\na{x=\"1\"} 1\na{x=\"1\"} 2\n",
    "# HELP a b\n# TYPE a gauge\na{x=\"1\"} 1\na{y=\"1\"} 2\n",
    "# HELP a b\n# TYPE a gauge\na{le=\"1\"} 1\n",
    "# HELP a b\n# TYPE a gauge\na 1\na 1\n",
    "# HELP a b\n# TYPE a gauge\na 1x\n",
    "# HELP a b\n# TYPE a gauge\na 0x10\n",
    "# HELP a b\n# TYPE a gauge\na NaN\n",
    "# HELP a b\n# TYPE a gauge\na nan\n",
    "# HELP a b\n# TYPE a gauge\na inf\n",
    "# HELP a b\n# TYPE a gauge\na -1\n",
    "# HELP a b\n# TYPE a gauge\na\n",
    "# HELP a_total b\n# TYPE a_total gauge\na_total 1\n",
    "# HELP a_count b\n# TYPE a_count gauge\na_count 1\n",
    "# HELP a b\n# TYPE a counter\na 1\n",
    "# HELP a_total b\n# TYPE a_total counter\na_total -1\n",
    HISTOGRAM "a 1\n",
    HISTOGRAM "a_bucket 1\na_sum 1\na_count 1\n",
    HISTOGRAM "a_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
    HISTOGRAM "a_bucket{le=\"2\"} 1\na_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
    HISTOGRAM "a_bucket{le=\"-2\"} 1\na_bucket{le=\"-3\"} 1\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
    HISTOGRAM "a_bucket{le=\"1\"} 2\na_count 2\n",
    HISTOGRAM "a_bucket{le=\"1\"} 2\na_sum 1\na_count 2\n",
    HISTOGRAM "a_bucket{le=\"+Inf\"} 2\n",
    HISTOGRAM "a_bucket{le=\"+Inf\"} 2\na_sum 1\n",
    HISTOGRAM "a_bucket{le=\"+Inf\"} 2\na_count 2\n",
    HISTOGRAM "a_bucket{le=\"+Inf\"} 2\na_count 2\na_sum 1\n",
    HISTOGRAM "a_bucket{le=\"+Inf\"} 2\na_sum 1\na_count 3\n",
    HISTOGRAM "a_bucket{le=\"+Inf\"} 2\na_sum 1\na_count{le=\"1\"} 2\n",
    HISTOGRAM "a_bucket{le=\"+Inf\"} 2\na_sum 1\na_count 2\na_max 2\n",
    HISTOGRAM "a_bucket{x=\"1\",le=\"+Inf\"} 2\na_bucket{x=\"2\",le=\"+Inf\"} 2\na_sum{x=\"2\"} 1\na_count{x=\"2\"} 2\n",
    HISTOGRAM "a_bucket{x=\"1\",le=\"+Inf\"} 2\na_sum{x=\"2\"} 1\na_count{x=\"2\"} 2\n",
    HISTOGRAM "a_bucket{x=\"1\",le=\"1\"} 2\na_bucket{x=\"2\",le=\"+Inf\"} 2\na_sum{x=\"2\"} 1\na_count{x=\"2\"} 2\n",
    HISTOGRAM "a_bucket{le=\"1\"} 2\n",
    HISTOGRAM "a_bucket{le=\"+Inf\"} 2\n# HELP c d\n# TYPE c gauge\nc 1\n",
    "# HELP a b\n# TYPE a gauge\na{x=\"\xFF\"} 1\n",
};

/* The checker itself must refuse what is wrong. */
static void test_checker_refuses(void **state)
{
    (void)state;
    char problem[4096];
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (exposition_check(wrong[i], problem, sizeof(problem))) {
            fail_msg("accepted: %s", wrong[i]);
        }
    }
}

/* And accept what is right, else every test of it would be about something else. */
static void test_checker_accepts(void **state)
{
    (void)state;
    static const char *const right[] = {
        "# HELP a b\n# TYPE a gauge\n",
        "# HELP a b\\\\ c\\n\n# TYPE a gauge\na{x=\"1\"} 1\na{x=\"\\\\\\\"\\n\"} 1.5e-07\n",
        "# HELP a b\n# TYPE a gauge\na +Inf\n# HELP a_total b\n# TYPE a_total counter\na_total 0\n",
        "# HELP tarry_clock_offset_seconds b\n# TYPE tarry_clock_offset_seconds gauge\ntarry_clock_offset_seconds -0.1\n",
        HISTOGRAM "a_bucket{x=\"1\",le=\"1\"} 1\na_bucket{x=\"1\",le=\"+Inf\"} 2\na_sum{x=\"1\"} 1\na_count{x=\"1\"} 2\n"
                  "a_bucket{x=\"2\",le=\"1\"} 0\na_bucket{x=\"2\",le=\"+Inf\"} 0\na_sum{x=\"2\"} 0\na_count{x=\"2\"} 0\n",
    };
    char problem[4096];
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        if (!exposition_check(right[i], problem, sizeof(problem))) {
            fail_msg("%s: %s", problem, right[i]);
        }
    }
}

static void write_docs(struct span docs)
{
    FILE *file = fopen(METRICS_DOCS, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(docs.data, 1, docs.length, file), docs.length);
    assert_int_equal(fclose(file), 0);
}

/* docs/metrics.md is what the table says. TARRY_UPDATE_DOCS=1 writes it. */
static void test_docs(void **state)
{
    (void)state;
    struct buffer docs = buffer_new((size_t)1024 * 1024);
    metrics_render_docs(&docs);
    if (getenv("TARRY_UPDATE_DOCS") != NULL) {
        write_docs(buffer_span(&docs));
    }
    FILE *file = fopen(METRICS_DOCS, "r");
    assert_non_null(file);
    char *found = calloc(1, docs.length + 2);
    size_t length = fread(found, 1, docs.length + 1, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(length, docs.length);
    assert_memory_equal(found, docs.data, docs.length);
    free(found);
    buffer_free(&docs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_is_complete),
        cmocka_unit_test(test_new_is_well_formed),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_totals_do_not_go_back),
        cmocka_unit_test(test_labels_grow),
        cmocka_unit_test(test_hostile_labels),
        cmocka_unit_test(test_label_values_are_bounded),
        cmocka_unit_test(test_process),
        cmocka_unit_test(test_checker_refuses),
        cmocka_unit_test(test_checker_accepts),
        cmocka_unit_test(test_gauges_are_not_negative),
        cmocka_unit_test(test_longest_names),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_docs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
