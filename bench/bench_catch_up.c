/* A million overdue records at start, held to a rate of their own (catch_up.rate): how late new records are meanwhile, beside the same without old ones. */
#include <inttypes.h>
#include <stdio.h>

#include "bench/bench_arrivals.h"
#include "bench/bench_feed.h"
#include "bench/bench_kafka.h"
#include "bench/bench_sections.h"
#include "bench/bench_tarry.h"

#define OLD_PER_S 5000
#define NEW_PER_S 1000
#define DELAY_MS 1000
#define TIMEOUT_MS 600000
#define DUE_BEFORE_MS 11000 /* what is overdue by less than a bucket (8.2 s) is not kept apart */

static const char section[] = "schedules.catch_up";
static const char more[] = "catch_up: {rate: 5000/s}\n";

struct scene {
    struct bench_tarry tarry;
    int64_t old; /* overdue when it starts */
};

static void note(struct bench_run *run, const struct scene *scene, const char *what, const char *unit, double value)
{
    char name[64];
    snprintf(name, sizeof(name), "catch_up_%s_%s", scene->old > 0 ? "beside" : "without", what);
    bench_figures_add(run->figures, section, name, unit, value);
}

/* They stand in the topic, due, before it starts. */
static void scene_open(struct bench_run *run, struct scene *scene)
{
    struct bench_tarry_options options = {.more = more};
    bench_tarry_open(run, &scene->tarry, &options);
    if (scene->old > 0) {
        struct bench_feed_options feed = {.topic = scene->tarry.input, .least_ms = 0, .most_ms = 1000, .count = scene->old};
        bench_feed_all(run, &feed);
        bench_run_sleep_ms(DUE_BEFORE_MS);
    }
    bench_tarry_start(run, &scene->tarry);
    bench_tarry_wait_read(&scene->tarry, scene->old, TIMEOUT_MS);
    bench_tarry_wait_ready(&scene->tarry, 60000);
}

static void note_lateness(struct bench_run *run, const struct scene *scene, struct bench_arrivals *arrivals)
{
    bench_arrivals_stop(arrivals);
    double p50 = bench_arrivals_percentile(arrivals, 0.5);
    double p99 = bench_arrivals_percentile(arrivals, 0.99);
    if (bench_arrivals_percentile(arrivals, 0) < 0) {
        bench_run_fail("a record came before it was due; see %s", scene->tarry.log);
    }
    bench_run_say("  %s: P50 %.2f P99 %.2f ms", scene->old > 0 ? "beside old ones" : "without", p50, p99);
    note(run, scene, "p50", "ms", p50);
    note(run, scene, "p99", "ms", p99);
    bench_arrivals_free(arrivals);
}

static void run_scene(struct bench_run *run, int64_t old)
{
    struct scene scene = {.old = old};
    scene_open(run, &scene);
    int64_t from_ms = bench_run_wall_ms() + 4000;
    int64_t to_ms = from_ms + bench_run_size(run, 60000, 4000);
    struct bench_feed_options options = {.topic = scene.tarry.input, .least_ms = DELAY_MS, .most_ms = DELAY_MS, .per_s = NEW_PER_S};
    struct bench_arrivals *arrivals = bench_arrivals_start(run, scene.tarry.output, from_ms, to_ms);
    struct bench_feed *feed = bench_feed_start(run, &options);
    bench_feed_watch(feed, from_ms, to_ms);
    bench_run_sleep_ms(from_ms - bench_run_wall_ms());
    int64_t left = bench_kafka_end(run, scene.tarry.output);
    int64_t began_us = bench_run_mono_us();
    bench_run_sleep_ms(to_ms - bench_run_wall_ms());
    left = bench_kafka_end(run, scene.tarry.output) - left;
    double took_s = (double)(bench_run_mono_us() - began_us) / 1e6;
    bench_feed_stop(feed);
    bench_feed_join(feed);
    if (!bench_arrivals_wait(arrivals, bench_feed_watched(feed), 60000)) {
        bench_run_fail("%" PRId64 " of %" PRId64 " arrived; see %s", bench_arrivals_count(arrivals), bench_feed_watched(feed), scene.tarry.log);
    }
    if (old > 0) {
        /* what left beside the new ones */
        double old_per_s = ((double)left - (double)bench_arrivals_count(arrivals)) / took_s;
        bench_run_say("  %.0f/s of the old, where %d/s is their rate", old_per_s, OLD_PER_S);
        note(run, &scene, "old_per_s", "1/s", old_per_s);
    }
    note_lateness(run, &scene, arrivals);
    bench_feed_free(feed);
    bench_tarry_close(run, &scene.tarry);
}

void bench_catch_up_section(struct bench_run *run)
{
    int64_t runs = bench_run_size(run, run->runs, 1);
    int64_t old = bench_run_size(run, 1000000, 100000);
    for (int64_t i = 0; i < runs; i++) {
        bench_run_say("%s, run %" PRId64 " of %" PRId64, section, i + 1, runs);
        run_scene(run, i % 2 == 0 ? 0 : old);
        run_scene(run, i % 2 == 0 ? old : 0);
    }
}
