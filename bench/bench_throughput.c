/* Steady state: how many records leave per second while as many come in, passthrough and tarry in turn; in both modes of delivery. */
#include <inttypes.h>
#include <stdio.h>

#include "bench/bench_child.h"
#include "bench/bench_feed.h"
#include "bench/bench_kafka.h"
#include "bench/bench_passthrough.h"
#include "bench/bench_sections.h"
#include "bench/bench_tarry.h"

#define UNREAD_MOST 200000

/* What differs between the modes. */
struct mode {
    const char *section;
    bool exact;
    const char *passthrough;
    const char *tarry;
    const char *ratio;
    const char *id; /* what the ids of records begin with; NULL: they have none */
};

static const struct mode at_least_once = {"throughput", false, "passthrough", "tarry", "ratio", NULL};
static const struct mode exactly_once = {"throughput_eo", true, "passthrough_tx", "tarry_eo", "ratio_eo", NULL};
static const struct mode ids_off = {"schedules.ids", false, NULL, "ids_off", NULL, NULL};
static const struct mode ids_on = {"schedules.ids", false, NULL, "ids", "ids_ratio", "id-"};

struct window {
    int64_t began_us;
    int64_t acknowledged;
};

static void add(struct bench_run *run, const struct mode *mode, const char *who, const char *what, const char *unit, double value)
{
    char name[64];
    snprintf(name, sizeof(name), "%s%s", who, what);
    bench_figures_add(run->figures, mode->section, name, unit, value);
}

static struct bench_feed *feed_start(const struct bench_run *run, const struct mode *mode, const char *topic, int64_t (*read)(void *), void *context)
{
    struct bench_feed_options options = {.topic = topic,
                                         .least_ms = 1000,
                                         .most_ms = bench_run_size(run, 60000, 6000),
                                         .id = mode->id,
                                         .unread_most = UNREAD_MOST,
                                         .read = read,
                                         .context = context};
    return bench_feed_start(run, &options);
}

static struct window window_begin(struct bench_run *run, const char *output)
{
    return (struct window){bench_run_mono_us(), bench_kafka_end(run, output)};
}

static double window_rate(struct bench_run *run, const char *output, const struct window *window, double *took_s)
{
    int64_t acknowledged = bench_kafka_end(run, output) - window->acknowledged;
    *took_s = (double)(bench_run_mono_us() - window->began_us) / 1e6;
    return (double)acknowledged / *took_s;
}

static int64_t measure_ms(const struct bench_run *run)
{
    return bench_run_size(run, 60000, 6000);
}

static double run_passthrough(struct bench_run *run, const struct mode *mode, int64_t warm_ms)
{
    struct bench_passthrough passthrough;
    double took_s = 0;
    bench_passthrough_start(run, &passthrough, mode->exact);
    struct bench_feed *feed = feed_start(run, mode, passthrough.input, bench_passthrough_read, &passthrough);
    bench_run_sleep_ms(warm_ms);
    struct window window = window_begin(run, passthrough.output);
    int64_t cpu_ms = bench_child_cpu_ms(passthrough.pid);
    bench_run_sleep_ms(measure_ms(run));
    double rate = window_rate(run, passthrough.output, &window, &took_s);
    cpu_ms = bench_child_cpu_ms(passthrough.pid) - cpu_ms;
    bench_run_say("  %s: %.0f/s over %.1f s, CPU %.1f s", mode->passthrough, rate, took_s, (double)cpu_ms / 1000);
    add(run, mode, mode->passthrough, "_cpu_us_per_record", "us", (double)cpu_ms * 1000 / (rate * took_s));
    bench_feed_end(feed);
    bench_passthrough_stop(run, &passthrough);
    return rate;
}

static int64_t tarry_read(void *context)
{
    return (int64_t)bench_tarry_metric(context, "tarry_records_read_total");
}

struct transactions {
    double count;
    double seconds; /* of their ends, together */
};

static struct transactions transactions_of(const struct bench_tarry *tarry)
{
    return (struct transactions){bench_tarry_metric(tarry, "tarry_transaction_seconds_count"), bench_tarry_metric(tarry, "tarry_transaction_seconds_sum")};
}

/* That it is steady: what is on disk, and how far behind it is, at the end of the window. */
static void note_tarry(struct bench_run *run, const struct mode *mode, const struct bench_tarry *tarry, const struct bench_tarry_cost *before,
                       double records)
{
    struct bench_tarry_cost now = bench_tarry_cost(tarry);
    double rows = (double)bench_tarry_rows(tarry);
    double written_mb = (double)(now.written_bytes - before->written_bytes) / 1e6;
    double pending = bench_tarry_metric(tarry, "tarry_pending");
    double overdue = bench_tarry_metric(tarry, "tarry_overdue");
    bench_run_say("  %s: CPU %.1f s, %.0f MB written, at the end %.0f pending, %.0f rows and %.0f MB on disk, %.0f overdue",
                  mode->tarry, (double)(now.cpu_ms - before->cpu_ms) / 1000, written_mb, pending, rows,
                  (double)bench_tarry_disk_bytes(tarry) / 1e6, overdue);
    add(run, mode, mode->tarry, "_cpu_us_per_record", "us", (double)(now.cpu_ms - before->cpu_ms) * 1000 / records);
    add(run, mode, mode->tarry, "_disk_written", "MB", written_mb);
    add(run, mode, mode->tarry, "_pending_at_end", "records", pending);
    add(run, mode, mode->tarry, "_rows_on_disk_at_end", "rows", rows);
    add(run, mode, mode->tarry, "_store_at_end", "MB", (double)bench_tarry_disk_bytes(tarry) / 1e6);
    add(run, mode, mode->tarry, "_overdue_at_end", "records", overdue);
}

/* How long the transactions of the window were, and how much went into each. */
static void note_transactions(struct bench_run *run, const struct mode *mode, const struct transactions *before, const struct bench_tarry *tarry,
                              double records)
{
    struct transactions now = transactions_of(tarry);
    double count = now.count - before->count;
    if (count > 0) {
        double took_ms = (now.seconds - before->seconds) * 1000 / count;
        bench_run_say("  %s: %.0f transactions of %.0f records, %.1f ms from the last record to the commit", mode->tarry, count, records / count,
                      took_ms);
        add(run, mode, mode->tarry, "_records_per_transaction", "records", records / count);
        add(run, mode, mode->tarry, "_transaction_end", "ms", took_ms);
    }
}

static double run_tarry(struct bench_run *run, const struct mode *mode, int64_t warm_ms)
{
    struct bench_tarry tarry;
    struct bench_tarry_options options = {.exactly_once = mode->exact};
    double took_s = 0;
    bench_tarry_open(run, &tarry, &options);
    bench_tarry_start(run, &tarry);
    bench_tarry_wait_ready(&tarry, 60000);
    struct bench_feed *feed = feed_start(run, mode, tarry.input, tarry_read, &tarry);
    bench_run_sleep_ms(warm_ms);
    struct window window = window_begin(run, tarry.output);
    struct bench_tarry_cost cost = bench_tarry_cost(&tarry);
    struct transactions transactions = transactions_of(&tarry);
    int64_t read = tarry_read(&tarry);
    bench_run_sleep_ms(measure_ms(run));
    double rate = window_rate(run, tarry.output, &window, &took_s);
    read = tarry_read(&tarry) - read;
    bench_run_say("  %s: %.0f/s out, %.0f/s in, over %.1f s", mode->tarry, rate, (double)read / took_s, took_s);
    add(run, mode, mode->tarry, "_read_per_s", "1/s", (double)read / took_s);
    note_tarry(run, mode, &tarry, &cost, rate * took_s);
    note_transactions(run, mode, &transactions, &tarry, rate * took_s);
    bench_feed_end(feed);
    bench_tarry_close(run, &tarry);
    return rate;
}

void bench_throughput_warm_up(struct bench_run *run)
{
    struct bench_passthrough passthrough;
    bench_run_say("warming the broker up");
    bench_passthrough_start(run, &passthrough, false);
    struct bench_feed *feed = feed_start(run, &at_least_once, passthrough.input, bench_passthrough_read, &passthrough);
    bench_run_sleep_ms(bench_run_size(run, 30000, 3000));
    bench_feed_end(feed);
    bench_passthrough_stop(run, &passthrough);
}

/* Each goes first in every other run: what one leaves behind (a disk that still writes) is then shared. */
static void run_pair(struct bench_run *run, const struct mode *mode, int64_t number)
{
    int64_t warm_ms = bench_run_size(run, 60000, 8000);
    double passthrough = number % 2 == 0 ? run_passthrough(run, mode, warm_ms) : 0;
    double tarry = run_tarry(run, mode, warm_ms);
    passthrough = number % 2 == 0 ? passthrough : run_passthrough(run, mode, warm_ms);
    add(run, mode, mode->passthrough, "_per_s", "1/s", passthrough);
    add(run, mode, mode->tarry, "_per_s", "1/s", tarry);
    add(run, mode, mode->ratio, "", "", tarry / passthrough);
}

static void run_pairs(struct bench_run *run, const struct mode *mode)
{
    int64_t runs = bench_run_size(run, run->runs, 1);
    for (int64_t i = 0; i < runs; i++) {
        bench_run_say("%s, run %" PRId64 " of %" PRId64, mode->section, i + 1, runs);
        run_pair(run, mode, i);
    }
}

void bench_throughput_section(struct bench_run *run)
{
    run_pairs(run, &at_least_once);
}

void bench_throughput_exact_section(struct bench_run *run)
{
    run_pairs(run, &exactly_once);
}

void bench_throughput_ids_section(struct bench_run *run)
{
    int64_t runs = bench_run_size(run, run->runs, 1);
    int64_t warm_ms = bench_run_size(run, 60000, 8000);
    for (int64_t i = 0; i < runs; i++) {
        bench_run_say("schedules.ids, run %" PRId64 " of %" PRId64, i + 1, runs);
        double off = i % 2 == 0 ? run_tarry(run, &ids_off, warm_ms) : 0;
        double on = run_tarry(run, &ids_on, warm_ms);
        off = i % 2 == 0 ? off : run_tarry(run, &ids_off, warm_ms);
        add(run, &ids_off, ids_off.tarry, "_per_s", "1/s", off);
        add(run, &ids_on, ids_on.tarry, "_per_s", "1/s", on);
        add(run, &ids_on, ids_on.ratio, "", "", on / off);
    }
}
