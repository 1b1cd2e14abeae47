/* How fast records that are due in a month are taken in, until they stand on disk. */
#include <inttypes.h>

#include "bench/bench_feed.h"
#include "bench/bench_sections.h"
#include "bench/bench_tarry.h"

#define DAY_MS ((int64_t)86400000)
#define TIMEOUT_MS 900000

static const char section[] = "ingest";

static void load(const struct bench_run *run, const char *topic, int64_t count)
{
    struct bench_feed_options options = {.topic = topic, .least_ms = 29 * DAY_MS, .most_ms = 31 * DAY_MS, .count = count};
    struct bench_feed *feed = bench_feed_start(run, &options);
    bench_feed_join(feed);
    bench_feed_free(feed);
}

static void run_once(struct bench_run *run, int64_t count)
{
    struct bench_tarry tarry;
    bench_tarry_open(run, &tarry, NULL);
    load(run, tarry.input, count);
    bench_tarry_start(run, &tarry);
    bench_tarry_wait_read(&tarry, 1, 60000);
    int64_t first = (int64_t)bench_tarry_metric(&tarry, "tarry_records_read_total");
    int64_t began_us = bench_run_mono_us();
    bench_tarry_wait_read(&tarry, count, TIMEOUT_MS);
    bench_tarry_wait_rows(&tarry, count, TIMEOUT_MS);
    double took_s = (double)(bench_run_mono_us() - began_us) / 1e6;
    struct bench_tarry_cost cost = bench_tarry_cost(&tarry);
    double rate = (double)(count - first) / took_s;
    double disk = (double)bench_tarry_disk_bytes(&tarry) / (double)count;
    bench_run_say("  %.0f/s: %" PRId64 " in %.1f s, CPU %.1f s, %.0f B on disk each", rate, count, took_s,
                  (double)cost.cpu_ms / 1000, disk);
    bench_figures_add(run->figures, section, "ingest_per_s", "1/s", rate);
    bench_figures_add(run->figures, section, "ingest_cpu_us_per_record", "us", (double)cost.cpu_ms * 1000 / (double)count);
    bench_figures_add(run->figures, section, "ingest_disk_per_record", "B", disk);
    bench_figures_add(run->figures, section, "ingest_written_per_record", "B", (double)cost.written_bytes / (double)count);
    bench_tarry_close(run, &tarry);
}

void bench_ingest_section(struct bench_run *run)
{
    int64_t runs = bench_run_size(run, run->runs, 1);
    for (int64_t i = 0; i < runs; i++) {
        bench_run_say("ingest, run %" PRId64 " of %" PRId64, i + 1, runs);
        run_once(run, bench_run_size(run, 3000000, 100000));
    }
}
