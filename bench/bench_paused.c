/* A lane that stands still with a million overdue records: the throughput and the lateness of what goes to other targets, beside the same without that lane's records. */
#include <inttypes.h>
#include <stdio.h>

#include "bench/bench_arrivals.h"
#include "bench/bench_child.h"
#include "bench/bench_feed.h"
#include "bench/bench_kafka.h"
#include "bench/bench_sections.h"
#include "bench/bench_tarry.h"

#define TIMEOUT_MS 600000
#define UNREAD_MOST 200000
#define LATENESS_PER_S 5000
#define DELAY_LEAST_MS 2000
#define DELAY_MOST_MS 5000
#define LEFT_MOST 2000 /* of the lane that stands still, which lets one record go each second */

static const char section[] = "schedules.paused";

/* One a second is the least that a lane may be given: it stands still for all that the others could notice. */
static const char more[] = "targets:\n"
                           "  - {name: still, match: \"%s\", rate: 1/s}\n";

struct scene {
    struct bench_tarry tarry;
    char still[BENCH_RUN_NAME]; /* the topic of the lane that stands still */
    int64_t standing;           /* records in it; 0: none */
    int64_t read;               /* before what is measured */
};

/* What one scene gave. */
struct outcome {
    double per_s;
    double p50_ms;
    double p99_ms;
};

static int64_t records_read(void *context)
{
    const struct scene *scene = context;
    return (int64_t)bench_tarry_metric(&scene->tarry, "tarry_records_read_total") - scene->read;
}

static void scene_open(struct bench_run *run, struct scene *scene, int64_t standing)
{
    char text[256];
    *scene = (struct scene){.standing = standing};
    bench_run_name(run, "still", scene->still);
    bench_kafka_topic_create(run, scene->still);
    snprintf(text, sizeof(text), more, scene->still);
    struct bench_tarry_options options = {.more = text};
    bench_tarry_open(run, &scene->tarry, &options);
    bench_tarry_start(run, &scene->tarry);
    bench_tarry_wait_ready(&scene->tarry, 60000);
}

/* That the lane stands still, and holds all of its records. */
static void expect_still(struct bench_run *run, const struct scene *scene)
{
    int64_t left = bench_kafka_end(run, scene->still);
    double overdue = bench_tarry_metric(&scene->tarry, "tarry_overdue");
    if (left > LEFT_MOST || overdue < (double)(scene->standing - LEFT_MOST)) {
        bench_run_fail("the lane does not stand still: %" PRId64 " of %" PRId64 " records left, %.0f are overdue", left, scene->standing, overdue);
    }
}

/* All of it is overdue and on disk when this returns. */
static void stand_still(struct bench_run *run, struct scene *scene)
{
    struct bench_feed_options options = {.topic = scene->tarry.input,
                                         .least_ms = 0,
                                         .most_ms = 1000,
                                         .count = scene->standing,
                                         .target = scene->still,
                                         .unread_most = UNREAD_MOST,
                                         .read = records_read,
                                         .context = scene};
    if (scene->standing == 0) {
        return;
    }
    bench_run_say("  %" PRId64 " records for the lane that stands still", scene->standing);
    bench_feed_all(run, &options);
    bench_tarry_wait_read(&scene->tarry, scene->standing, TIMEOUT_MS);
    bench_run_sleep_ms(2000); /* they are due by then */
    expect_still(run, scene);
    bench_tarry_wait_rows(&scene->tarry, scene->standing - LEFT_MOST, TIMEOUT_MS);
}

static void measure_lateness(const struct bench_run *run, struct scene *scene, struct outcome *outcome)
{
    int64_t from_ms = bench_run_wall_ms() + DELAY_MOST_MS + 1000;
    int64_t to_ms = from_ms + bench_run_size(run, 30000, 4000);
    struct bench_feed_options options = {
        .topic = scene->tarry.input, .least_ms = DELAY_LEAST_MS, .most_ms = DELAY_MOST_MS, .per_s = LATENESS_PER_S};
    struct bench_arrivals *arrivals = bench_arrivals_start(run, scene->tarry.output, from_ms, to_ms);
    struct bench_feed *feed = bench_feed_start(run, &options);
    bench_feed_watch(feed, from_ms, to_ms);
    bench_run_sleep_ms(to_ms - bench_run_wall_ms());
    bench_feed_stop(feed);
    bench_feed_join(feed);
    if (!bench_arrivals_wait(arrivals, bench_feed_watched(feed), 60000)) {
        bench_run_fail("%" PRId64 " of %" PRId64 " arrived; see %s", bench_arrivals_count(arrivals), bench_feed_watched(feed), scene->tarry.log);
    }
    bench_arrivals_stop(arrivals);
    outcome->p50_ms = bench_arrivals_percentile(arrivals, 0.5);
    outcome->p99_ms = bench_arrivals_percentile(arrivals, 0.99);
    bench_arrivals_free(arrivals);
    bench_feed_free(feed);
}

/* As in the section throughput, with a shorter warm-up. */
static void measure_throughput(struct bench_run *run, struct scene *scene, struct outcome *outcome)
{
    scene->read += records_read(scene);
    struct bench_feed_options options = {.topic = scene->tarry.input,
                                         .least_ms = 1000,
                                         .most_ms = bench_run_size(run, 30000, 4000),
                                         .unread_most = UNREAD_MOST,
                                         .read = records_read,
                                         .context = scene};
    struct bench_feed *feed = bench_feed_start(run, &options);
    bench_run_sleep_ms(bench_run_size(run, 40000, 6000));
    int64_t acknowledged = bench_kafka_end(run, scene->tarry.output);
    int64_t began_us = bench_run_mono_us();
    bench_run_sleep_ms(bench_run_size(run, 40000, 6000));
    acknowledged = bench_kafka_end(run, scene->tarry.output) - acknowledged;
    outcome->per_s = (double)acknowledged * 1e6 / (double)(bench_run_mono_us() - began_us);
    bench_feed_end(feed);
}

static struct outcome run_scene(struct bench_run *run, int64_t standing)
{
    struct scene scene;
    struct outcome outcome = {.per_s = 0};
    scene_open(run, &scene, standing);
    stand_still(run, &scene);
    measure_lateness(run, &scene, &outcome);
    measure_throughput(run, &scene, &outcome);
    expect_still(run, &scene);
    bench_run_say("  %s: P50 %.2f P99 %.2f ms at %d/s, %.0f/s at most", standing > 0 ? "beside it" : "without", outcome.p50_ms, outcome.p99_ms,
                  LATENESS_PER_S, outcome.per_s);
    bench_tarry_close(run, &scene.tarry);
    bench_kafka_topic_delete(run, scene.still);
    return outcome;
}

static void note(struct bench_run *run, const char *name, const char *unit, double value)
{
    bench_figures_add(run->figures, section, name, unit, value);
}

/* Ratios above 1: better beside the lane than without it. */
static void note_pair(struct bench_run *run, const struct outcome *without, const struct outcome *beside)
{
    note(run, "paused_without_per_s", "1/s", without->per_s);
    note(run, "paused_beside_per_s", "1/s", beside->per_s);
    note(run, "paused_ratio", "", beside->per_s / without->per_s);
    note(run, "paused_without_p50", "ms", without->p50_ms);
    note(run, "paused_beside_p50", "ms", beside->p50_ms);
    note(run, "paused_p50_ratio", "", without->p50_ms / beside->p50_ms);
    note(run, "paused_without_p99", "ms", without->p99_ms);
    note(run, "paused_beside_p99", "ms", beside->p99_ms);
    note(run, "paused_p99_ratio", "", without->p99_ms / beside->p99_ms);
}

void bench_paused_section(struct bench_run *run)
{
    int64_t runs = bench_run_size(run, run->runs, 1);
    int64_t standing = bench_run_size(run, 1000000, 20000);
    for (int64_t i = 0; i < runs; i++) {
        struct outcome without = {.per_s = 0};
        bench_run_say("%s, run %" PRId64 " of %" PRId64, section, i + 1, runs);
        if (i % 2 == 0) {
            without = run_scene(run, 0);
        }
        struct outcome beside = run_scene(run, standing);
        if (i % 2 != 0) {
            without = run_scene(run, 0);
        }
        note_pair(run, &without, &beside);
    }
}
