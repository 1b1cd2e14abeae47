/* How late records arrive, at steady rates: a bare timer and tarry in turn, seen by the same consumer; in both modes of delivery. */
#include <inttypes.h>
#include <stdio.h>

#include "bench/bench_arrivals.h"
#include "bench/bench_child.h"
#include "bench/bench_feed.h"
#include "bench/bench_kafka.h"
#include "bench/bench_sections.h"
#include "bench/bench_tarry.h"

#define DELAY_LEAST_MS 2000
#define DELAY_MOST_MS 5000
#define ALL_ARRIVED_MS 60000
#define TIMER_LEAD_MS 3000 /* it starts so long before the window: connected and warm by then */

#define RATES_MOST 3

/* What differs between the modes. */
struct mode {
    const char *section;
    bool exact;
    const char *timer;
    const char *tarry;
    int64_t rates[RATES_MOST]; /* 0: no more */
};

static const struct mode at_least_once = {"lateness", false, "timer", "tarry", {1000, 5000, 20000}};
static const struct mode exactly_once = {"lateness_eo", true, "timer_tx", "tarry_eo", {1000, 20000, 0}};

/* Due times that count. */
struct window {
    int64_t from_ms;
    int64_t to_ms;
};

static struct window window_from_now(const struct bench_run *run)
{
    int64_t from_ms = bench_run_wall_ms() + DELAY_MOST_MS + 1000;
    return (struct window){from_ms, from_ms + bench_run_size(run, 30000, 4000)};
}

/* The same input comes in beside either program, so that the broker and the processors are as busy. */
static struct bench_feed *feed_start(const struct bench_run *run, const char *topic, int64_t per_s, const struct window *window)
{
    struct bench_feed_options options = {
        .topic = topic, .least_ms = DELAY_LEAST_MS, .most_ms = DELAY_MOST_MS, .per_s = (double)per_s};
    struct bench_feed *feed = bench_feed_start(run, &options);
    bench_feed_watch(feed, window->from_ms, window->to_ms);
    return feed;
}

static void note(struct bench_run *run, const struct mode *mode, const char *who, int64_t per_s, struct bench_arrivals *arrivals)
{
    static const struct {
        const char *name;
        double share;
    } points[] = {{"p50", 0.5}, {"p99", 0.99}, {"p999", 0.999}};
    char name[64];
    bench_arrivals_stop(arrivals);
    if (bench_arrivals_count(arrivals) == 0 || bench_arrivals_percentile(arrivals, 0) < 0) {
        bench_run_fail("%s at %" PRId64 "/s: nothing came, or a record came before it was due", who, per_s);
    }
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        snprintf(name, sizeof(name), "lateness_%s_%s_at_%" PRId64, who, points[i].name, per_s);
        bench_figures_add(run->figures, mode->section, name, "ms", bench_arrivals_percentile(arrivals, points[i].share));
    }
    bench_run_say("  %s: P50 %.2f P99 %.2f P99.9 %.2f ms of %" PRId64, who, bench_arrivals_percentile(arrivals, 0.5),
                  bench_arrivals_percentile(arrivals, 0.99), bench_arrivals_percentile(arrivals, 0.999),
                  bench_arrivals_count(arrivals));
    bench_arrivals_free(arrivals);
}

static pid_t timer_start(const struct bench_run *run, const struct mode *mode, const char *input, const char *output, int64_t per_s,
                         const struct window *window)
{
    char rate[24];
    char from[24];
    char to[24];
    char log[BENCH_RUN_PATH];
    snprintf(rate, sizeof(rate), "%" PRId64, per_s);
    snprintf(from, sizeof(from), "%" PRId64, window->from_ms - TIMER_LEAD_MS);
    snprintf(to, sizeof(to), "%" PRId64, window->to_ms);
    snprintf(log, sizeof(log), "%.300s/timer.log", run->folder);
    const char *const plain[] = {run->self, "timer", run->bootstrap, output, rate, from, to, NULL};
    const char *const exact[] = {run->self, "timer-exact", run->bootstrap, output, input, rate, from, to, NULL};
    return bench_child_start(mode->exact ? exact : plain, log);
}

static void run_timer(struct bench_run *run, const struct mode *mode, int64_t per_s)
{
    char input[BENCH_RUN_NAME];
    char output[BENCH_RUN_NAME];
    bench_run_name(run, "timer-in", input);
    bench_run_name(run, "timer-out", output);
    bench_kafka_topic_create(run, input);
    bench_kafka_topic_create(run, output);
    struct window window = window_from_now(run);
    struct bench_arrivals *arrivals = bench_arrivals_start(run, output, window.from_ms, window.to_ms);
    struct bench_feed *feed = feed_start(run, input, per_s, &window);
    bench_child_wait(timer_start(run, mode, input, output, per_s, &window));
    bench_feed_stop(feed);
    bench_feed_join(feed);
    bench_run_sleep_ms(1000); /* all are acknowledged; the last of them may be on their way to the consumer */
    note(run, mode, mode->timer, per_s, arrivals);
    bench_feed_free(feed);
    bench_kafka_topic_delete(run, input);
    bench_kafka_topic_delete(run, output);
}

static void run_tarry(struct bench_run *run, const struct mode *mode, int64_t per_s)
{
    struct bench_tarry tarry;
    struct bench_tarry_options options = {.exactly_once = mode->exact};
    bench_tarry_open(run, &tarry, &options);
    bench_tarry_start(run, &tarry);
    bench_tarry_wait_ready(&tarry, 60000);
    struct window window = window_from_now(run);
    struct bench_arrivals *arrivals = bench_arrivals_start(run, tarry.output, window.from_ms, window.to_ms);
    struct bench_feed *feed = feed_start(run, tarry.input, per_s, &window);
    bench_run_sleep_ms(window.to_ms - bench_run_wall_ms());
    bench_feed_stop(feed);
    bench_feed_join(feed);
    if (!bench_arrivals_wait(arrivals, bench_feed_watched(feed), ALL_ARRIVED_MS)) {
        bench_run_fail("%s at %" PRId64 "/s: %" PRId64 " of %" PRId64 " arrived", mode->tarry, per_s, bench_arrivals_count(arrivals),
                       bench_feed_watched(feed));
    }
    note(run, mode, mode->tarry, per_s, arrivals);
    bench_feed_free(feed);
    bench_tarry_close(run, &tarry);
}

static void run_rates(struct bench_run *run, const struct mode *mode)
{
    int64_t runs = bench_run_size(run, run->runs, 1);
    for (int64_t i = 0; i < runs; i++) {
        for (size_t rate = 0; rate < RATES_MOST && mode->rates[rate] != 0; rate++) {
            bench_run_say("%s at %" PRId64 "/s, run %" PRId64 " of %" PRId64, mode->section, mode->rates[rate], i + 1, runs);
            run_timer(run, mode, mode->rates[rate]);
            run_tarry(run, mode, mode->rates[rate]);
        }
    }
}

void bench_lateness_section(struct bench_run *run)
{
    run_rates(run, &at_least_once);
}

void bench_lateness_exact_section(struct bench_run *run)
{
    run_rates(run, &exactly_once);
}
