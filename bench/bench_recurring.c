/*
 * A million recurring schedules pending, so spread that a steady number comes due each second: what one firing costs, beside a plain delivery with as many plain
 * records pending and as many new ones read. Then many that are due at one instant: how many fire in a second at most. In both modes of delivery.
 */
#include <inttypes.h>
#include <stdio.h>

#include "bench/bench_arrivals.h"
#include "bench/bench_child.h"
#include "bench/bench_feed.h"
#include "bench/bench_kafka.h"
#include "bench/bench_sections.h"
#include "bench/bench_tarry.h"

#define TIMEOUT_MS 600000
#define UNREAD_MOST 500000
#define QUIET_MS 3000
#define LOOK_MS 100

static const char section[] = "schedules.recurring";

/* What differs between the modes. */
struct mode {
    bool exact;
    const char *suffix; /* of the figures' names */
};

static const struct mode modes[] = {{false, ""}, {true, "_eo"}};
#define MODES (sizeof(modes) / sizeof(modes[0]))

/* How many, and how often. All of them fire once in a period. */
struct size {
    int64_t count;
    int64_t per_s;
    int64_t load_ms; /* until the first is due */
    int64_t warm_ms;
    int64_t measure_ms;
};

struct scene {
    const struct mode *mode;
    struct size size;
    bool recurring; /* else plain ones */
    struct bench_tarry tarry;
    int64_t base_ms; /* the first is due */
    double empty_anon_bytes;
    struct bench_feed *feed; /* of plain ones: for each that leaves one comes in, as the next occurrence does */
};

/* What it did so far. */
struct work {
    double delivered;
    double reappended;
    int64_t cpu_ms;
    int64_t written_bytes;
    int64_t at_us;
};

static struct size size_of(const struct bench_run *run)
{
    return (struct size){.count = bench_run_size(run, 1000000, 20000),
                         .per_s = bench_run_size(run, 2000, 1000),
                         .load_ms = bench_run_size(run, 90000, 10000),
                         .warm_ms = bench_run_size(run, 10000, 3000),
                         .measure_ms = bench_run_size(run, 40000, 6000)};
}

static int64_t period_s(const struct size *size)
{
    return size->count / size->per_s;
}

static void note(struct bench_run *run, const struct scene *scene, const char *what, const char *unit, double value)
{
    char name[64];
    snprintf(name, sizeof(name), "%s_%s%s", scene->recurring ? "recurring" : "plain", what, scene->mode->suffix);
    bench_figures_add(run->figures, section, name, unit, value);
}

static struct work work_of(const struct scene *scene)
{
    struct bench_tarry_cost cost = bench_tarry_cost(&scene->tarry);
    return (struct work){.delivered = bench_tarry_metric(&scene->tarry, "tarry_delivered_total"),
                         .reappended = bench_tarry_metric(&scene->tarry, "tarry_reappended_total"),
                         .cpu_ms = cost.cpu_ms,
                         .written_bytes = cost.written_bytes,
                         .at_us = bench_run_mono_us()};
}

static int64_t records_read(void *tarry)
{
    return (int64_t)bench_tarry_metric(tarry, "tarry_records_read_total");
}

static double anon_bytes(const struct scene *scene)
{
    return (double)bench_child_status(scene->tarry.pid, "RssAnon:") * 1024;
}

static void scene_open(struct bench_run *run, struct scene *scene)
{
    struct bench_tarry_options options = {.exactly_once = scene->mode->exact};
    bench_tarry_open(run, &scene->tarry, &options);
    bench_tarry_start(run, &scene->tarry);
    bench_tarry_wait_ready(&scene->tarry, 60000);
    bench_run_sleep_ms(500);
    scene->empty_anon_bytes = anon_bytes(scene);
}

/* Sends them and waits until they are on disk, before the first is due. */
static void load(const struct bench_run *run, struct scene *scene, int64_t count, int64_t spread_ms, const char *every)
{
    struct bench_feed_options options = {.topic = scene->tarry.input,
                                         .least_ms = 0,
                                         .most_ms = spread_ms,
                                         .at_ms = scene->base_ms,
                                         .count = count,
                                         .id = scene->recurring ? "schedule-" : NULL,
                                         .every = scene->recurring ? every : NULL,
                                         .unread_most = UNREAD_MOST,
                                         .read = records_read,
                                         .context = &scene->tarry};
    bench_feed_all(run, &options);
    bench_tarry_wait_read(&scene->tarry, count, TIMEOUT_MS);
    bench_tarry_wait_rows(&scene->tarry, count, TIMEOUT_MS);
    bench_run_say("  %" PRId64 " on disk %.1f s before the first is due", count, (double)(scene->base_ms - bench_run_wall_ms()) / 1000);
    if (bench_run_wall_ms() + QUIET_MS > scene->base_ms) {
        bench_run_fail("this machine is too busy: they were not on disk when the first came due");
    }
}

static void note_memory(struct bench_run *run, const struct scene *scene)
{
    double count = (double)scene->size.count;
    double anon = (anon_bytes(scene) - scene->empty_anon_bytes) / count;
    double disk = (double)bench_tarry_disk_bytes(&scene->tarry) / count;
    bench_run_say("  for each: RssAnon %.1f bytes, disk %.1f bytes", anon, disk);
    note(run, scene, "rss_anon_each", "bytes", anon);
    note(run, scene, "disk_each", "bytes", disk);
}

static double note_work(struct bench_run *run, const struct scene *scene, const struct work *before)
{
    struct work now = work_of(scene);
    double fired = now.delivered - before->delivered;
    double written = now.reappended - before->reappended;
    double took_s = (double)(now.at_us - before->at_us) / 1e6;
    double overdue = bench_tarry_metric(&scene->tarry, "tarry_overdue");
    if (fired <= 0 || (scene->recurring && written < 0.9 * fired)) {
        bench_run_fail("%.0f fired and %.0f next occurrences were written: this is no steady state; see %s", fired, written, scene->tarry.log);
    }
    double cpu_us = (double)(now.cpu_ms - before->cpu_ms) * 1000 / fired;
    bench_run_say("  %.0f/s over %.1f s, %.1f us of CPU each, %.0f written again, %.0f overdue at the end", fired / took_s, took_s, cpu_us, written, overdue);
    note(run, scene, "per_s", "1/s", fired / took_s);
    note(run, scene, "cpu_us_each", "us", cpu_us);
    note(run, scene, "disk_written_each", "bytes", (double)(now.written_bytes - before->written_bytes) / fired);
    note(run, scene, "overdue_at_end", "records", overdue);
    return cpu_us;
}

static struct bench_feed *feed_start(const struct bench_run *run, const struct scene *scene)
{
    int64_t period_ms = period_s(&scene->size) * 1000;
    struct bench_feed_options options = {
        .topic = scene->tarry.input, .least_ms = period_ms, .most_ms = period_ms, .per_s = (double)scene->size.per_s};
    return bench_feed_start(run, &options);
}

static void note_lateness(struct bench_run *run, const struct scene *scene, struct bench_arrivals *arrivals)
{
    bench_run_sleep_ms(1000); /* the last may be on their way */
    bench_arrivals_stop(arrivals);
    if (bench_arrivals_count(arrivals) == 0 || bench_arrivals_percentile(arrivals, 0) < 0) {
        bench_run_fail("nothing came, or a record came before it was due; see %s", scene->tarry.log);
    }
    note(run, scene, "lateness_p50", "ms", bench_arrivals_percentile(arrivals, 0.5));
    note(run, scene, "lateness_p99", "ms", bench_arrivals_percentile(arrivals, 0.99));
    bench_run_say("  P50 %.2f P99 %.2f ms", bench_arrivals_percentile(arrivals, 0.5), bench_arrivals_percentile(arrivals, 0.99));
    bench_arrivals_free(arrivals);
}

/* CPU time of tarry for each that leaves, while as many are pending as ever. */
static double run_steady(struct bench_run *run, const struct mode *mode, bool recurring)
{
    char every[24];
    struct scene scene = {.mode = mode, .size = size_of(run), .recurring = recurring};
    const struct size *size = &scene.size;
    bench_run_say("  %s%s:", recurring ? "recurring" : "plain", mode->suffix);
    snprintf(every, sizeof(every), "%" PRId64 "s", period_s(size));
    scene_open(run, &scene);
    scene.base_ms = bench_run_wall_ms() + size->load_ms;
    load(run, &scene, size->count, period_s(size) * 1000 - 1, every);
    bench_run_sleep_ms(QUIET_MS);
    note_memory(run, &scene);
    bench_run_sleep_ms(scene.base_ms - bench_run_wall_ms());
    scene.feed = recurring ? NULL : feed_start(run, &scene);
    /* each fires for the first time within the first period, so its value has its due time */
    int64_t from_ms = scene.base_ms + size->warm_ms;
    struct bench_arrivals *arrivals = bench_arrivals_start(run, scene.tarry.output, from_ms, from_ms + size->measure_ms);
    bench_run_sleep_ms(from_ms - bench_run_wall_ms());
    struct work before = work_of(&scene);
    bench_run_sleep_ms(from_ms + size->measure_ms - bench_run_wall_ms());
    double cpu_us = note_work(run, &scene, &before);
    note_lateness(run, &scene, arrivals);
    if (scene.feed != NULL) {
        bench_feed_end(scene.feed);
    }
    bench_tarry_close(run, &scene.tarry);
    return cpu_us;
}

/* That none fired twice. In transactions markers stand between the records, and only the counter tells. */
static void expect_once(struct bench_run *run, const struct scene *scene, int64_t count)
{
    int64_t fired = scene->mode->exact ? (int64_t)bench_tarry_metric(&scene->tarry, "tarry_delivered_total") : bench_kafka_end(run, scene->tarry.output);
    if (fired != count) {
        bench_run_fail("%" PRId64 " of %" PRId64 " schedules fired; see %s", fired, count, scene->tarry.log);
    }
}

/* Until each has fired once, and its next occurrence is written. */
static void run_burst(struct bench_run *run, const struct mode *mode)
{
    struct scene scene = {.mode = mode, .size = size_of(run), .recurring = true};
    int64_t count = bench_run_size(run, 200000, 5000);
    bench_run_say("  %" PRId64 " at one instant%s:", count, mode->suffix);
    scene_open(run, &scene);
    scene.base_ms = bench_run_wall_ms() + bench_run_size(run, 30000, 10000);
    load(run, &scene, count, 0, "24h");
    bench_run_sleep_ms(scene.base_ms - bench_run_wall_ms());
    struct work before = work_of(&scene);
    struct work now = before;
    int64_t limit = before.at_us + (int64_t)TIMEOUT_MS * 1000;
    while (now.delivered < (double)count || now.reappended < (double)count) {
        bench_child_check(scene.tarry.pid, scene.tarry.log);
        if (now.at_us > limit) {
            bench_run_fail("%.0f of %" PRId64 " fired within %d ms, %.0f were written again; see %s", now.delivered, count, TIMEOUT_MS, now.reappended,
                           scene.tarry.log);
        }
        bench_run_sleep_ms(LOOK_MS);
        now = work_of(&scene);
    }
    expect_once(run, &scene, count);
    double took_s = (double)(now.at_us - before.at_us) / 1e6;
    double cpu_us = (double)(now.cpu_ms - before.cpu_ms) * 1000 / (double)count;
    bench_run_say("  %.0f/s: all fired within %.1f s, %.1f us of CPU each", (double)count / took_s, took_s, cpu_us);
    note(run, &scene, "burst_per_s", "1/s", (double)count / took_s);
    note(run, &scene, "burst_cpu_us_each", "us", cpu_us);
    bench_tarry_close(run, &scene.tarry);
}

static void run_mode(struct bench_run *run, const struct mode *mode, bool plain_first)
{
    char name[64];
    double plain = plain_first ? run_steady(run, mode, false) : 0;
    double recurring = run_steady(run, mode, true);
    plain = plain_first ? plain : run_steady(run, mode, false);
    snprintf(name, sizeof(name), "recurring_cpu_ratio%s", mode->suffix);
    bench_figures_add(run->figures, section, name, "", recurring / plain);
    run_burst(run, mode);
}

void bench_recurring_section(struct bench_run *run)
{
    int64_t runs = bench_run_size(run, run->runs, 1);
    for (int64_t i = 0; i < runs; i++) {
        for (size_t mode = 0; mode < MODES; mode++) {
            bench_run_say("%s%s, run %" PRId64 " of %" PRId64, section, modes[mode].suffix, i + 1, runs);
            run_mode(run, &modes[mode], i % 2 == 0);
        }
    }
}
