/* Many records pending for up to a month: what memory and disk they take, and how soon all goes on after kill -9. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "bench/bench_arrivals.h"
#include "bench/bench_child.h"
#include "bench/bench_feed.h"
#include "bench/bench_sections.h"
#include "bench/bench_tarry.h"

#define HOUR_MS ((int64_t)3600000)
#define MONTH_MS (30 * 24 * HOUR_MS)
#define TIMEOUT_MS 1800000
#define QUIET_MS 3000        /* after the last row is written, before memory is looked at */
#define UNREAD_MOST 1000000  /* so that Kafka's log need not be read back from disk */
#define PROBE_DELAY_MS 1500
#define KILL_BEFORE_DUE_MS 20

struct bench_pending {
    struct bench_tarry tarry;
    int64_t count;
};

static int64_t most_pending(const struct bench_run *run)
{
    return bench_run_size(run, 10000000, 100000);
}

static struct bench_pending *open_empty(struct bench_run *run)
{
    struct bench_pending *pending = memory_new(1, sizeof(*pending));
    bench_tarry_open(run, &pending->tarry, NULL);
    bench_tarry_start(run, &pending->tarry);
    bench_tarry_wait_ready(&pending->tarry, 60000);
    return pending;
}

static int64_t tarry_read(void *context)
{
    return (int64_t)bench_tarry_metric(context, "tarry_records_read_total");
}

static int64_t tarry_read_since(void *context)
{
    const struct bench_pending *pending = context;
    return tarry_read((void *)(uintptr_t)&pending->tarry) - pending->count;
}

/* Adds records until `count` are pending and on disk. Nothing of it comes due while the bench runs. */
static void fill(const struct bench_run *run, struct bench_pending *pending, int64_t count)
{
    struct bench_feed_options options = {.topic = pending->tarry.input,
                                         .least_ms = 6 * HOUR_MS,
                                         .most_ms = MONTH_MS,
                                         .count = count - pending->count,
                                         .unread_most = UNREAD_MOST,
                                         .read = tarry_read_since,
                                         .context = pending};
    if (options.count <= 0) {
        return;
    }
    bench_run_say("  adding %" PRId64 " records due within a month", options.count);
    struct bench_feed *feed = bench_feed_start(run, &options);
    bench_feed_join(feed);
    bench_feed_free(feed);
    pending->count = count;
    bench_tarry_wait_read(&pending->tarry, count, TIMEOUT_MS);
    bench_tarry_wait_rows(&pending->tarry, count, TIMEOUT_MS);
}

static void note_memory(struct bench_run *run, const struct bench_pending *pending, const char *when)
{
    static const char section[] = "memory";
    char name[64];
    double anon = (double)bench_child_status(pending->tarry.pid, "RssAnon:") * 1024 / 1e6;
    double file = (double)bench_child_status(pending->tarry.pid, "RssFile:") * 1024 / 1e6;
    double disk = (double)bench_tarry_disk_bytes(&pending->tarry) / 1e6;
    snprintf(name, sizeof(name), "rss_anon_at_%" PRId64 "%s", pending->count, when);
    bench_figures_add(run->figures, section, name, "MB", anon);
    snprintf(name, sizeof(name), "rss_file_at_%" PRId64 "%s", pending->count, when);
    bench_figures_add(run->figures, section, name, "MB", file);
    snprintf(name, sizeof(name), "disk_at_%" PRId64 "%s", pending->count, when);
    bench_figures_add(run->figures, section, name, "MB", disk);
    bench_run_say("  %" PRId64 " pending%s: RssAnon %.1f MB, RssFile %.1f MB, disk %.1f MB", pending->count, when, anon, file, disk);
}

static void restart(const struct bench_run *run, struct bench_pending *pending)
{
    bench_tarry_stop(&pending->tarry);
    bench_tarry_start(run, &pending->tarry);
    bench_tarry_wait_ready(&pending->tarry, 120000);
}

void bench_pending_memory_section(struct bench_run *run)
{
    bench_run_say("memory");
    struct bench_pending *pending = open_empty(run);
    const int64_t counts[] = {0, most_pending(run) / 10, most_pending(run)};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        fill(run, pending, counts[i]);
        bench_run_sleep_ms(QUIET_MS);
        note_memory(run, pending, "");
    }
    restart(run, pending);
    bench_run_sleep_ms(QUIET_MS);
    note_memory(run, pending, "_restarted");
    run->pending = pending;
}

/* A record that is due soon; killed just before it is; started again at once. What counts is the time from the kill to
 * its arrival at a consumer. */
static double recover_once(const struct bench_run *run, struct bench_pending *pending)
{
    int64_t read = tarry_read(&pending->tarry);
    int64_t due_ms = bench_run_wall_ms() + PROBE_DELAY_MS;
    struct bench_arrivals *arrivals = bench_arrivals_start(run, pending->tarry.output, due_ms, due_ms + 1);
    bench_feed_one(run, pending->tarry.input, due_ms);
    bench_tarry_wait_read(&pending->tarry, read + 1, 10000);
    bench_run_sleep_ms(due_ms - KILL_BEFORE_DUE_MS - bench_run_wall_ms());
    int64_t killed_us = bench_run_wall_us();
    bench_tarry_kill(&pending->tarry);
    if (bench_arrivals_count(arrivals) > 0) {
        bench_run_fail("the record arrived before the kill: this machine is too busy to measure recovery");
    }
    bench_tarry_start(run, &pending->tarry);
    if (!bench_arrivals_wait(arrivals, 1, 300000)) {
        bench_run_fail("nothing came out within 300 s of the restart; see %s", pending->tarry.log);
    }
    double took_s = (double)(bench_arrivals_first_us(arrivals) - killed_us) / 1e6;
    bench_arrivals_stop(arrivals);
    bench_arrivals_free(arrivals);
    bench_tarry_wait_ready(&pending->tarry, 300000);
    return took_s;
}

struct bench_tarry *bench_pending_full(struct bench_run *run)
{
    if (run->pending == NULL) {
        run->pending = open_empty(run);
    }
    fill(run, run->pending, most_pending(run));
    return &run->pending->tarry;
}

void bench_pending_recovery_section(struct bench_run *run)
{
    bench_run_say("recovery");
    (void)bench_pending_full(run);
    int64_t runs = bench_run_size(run, run->runs, 2);
    for (int64_t i = 0; i < runs; i++) {
        double took_s = recover_once(run, run->pending);
        bench_run_say("  recovery, run %" PRId64 " of %" PRId64 ": %.3f s", i + 1, runs, took_s);
        bench_figures_add(run->figures, "recovery", "recovery_s", "s", took_s);
    }
}

void bench_pending_close(struct bench_run *run)
{
    if (run->pending != NULL) {
        bench_tarry_close(run, &run->pending->tarry);
        free(run->pending);
        run->pending = NULL;
    }
}
