/* Lists over HTTP with ten million records pending: how long a page takes, and what somebody who pages all the time costs those that come due. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "bench/bench_arrivals.h"
#include "bench/bench_feed.h"
#include "bench/bench_sections.h"
#include "bench/bench_tarry.h"
#include "tests/support/http_get.h"

#define BODY_BYTES ((size_t)4 << 20)
#define ANSWER_MS 30000
#define PER_S 1000
#define DELAY_LEAST_MS 2000
#define DELAY_MOST_MS 5000
#define ALL_ARRIVED_MS 60000
#define PATH_BYTES 1024

static const char section[] = "list";

static void get(const struct bench_tarry *tarry, const char *path, char *body)
{
    int status = http_get(tarry->port, path, ANSWER_MS, body, BODY_BYTES);
    if (status != 200) {
        bench_run_fail("GET %s: %d %.200s; see %s", path, status, body, tarry->log);
    }
}

/* One figure for each run; the first one, which may have to read from the disk, apart. */
static void measure_page(struct bench_run *run, const struct bench_tarry *tarry, const char *what, const char *path)
{
    char name[64];
    char *body = memory_new(BODY_BYTES, 1);
    int64_t runs = bench_run_size(run, 20, 3);
    for (int64_t i = 0; i <= runs; i++) {
        int64_t start_us = bench_run_mono_us();
        get(tarry, path, body);
        snprintf(name, sizeof(name), "%s%s_ms", what, i == 0 ? "_at_first" : "");
        bench_figures_add(run->figures, section, name, "ms", (double)(bench_run_mono_us() - start_us) / 1000);
    }
    const struct bench_figures_one *figure = bench_figures_find(run->figures, name);
    bench_run_say("  %s: %.1f ms (%.1f to %.1f)", path, bench_figures_median(figure), bench_figures_min(figure), bench_figures_max(figure));
    free(body);
}

/* Somebody who asks for page after page, and begins anew at the end. */
struct pager {
    const struct bench_tarry *tarry;
    pthread_t thread;
    atomic_bool stop;
    int64_t pages;
};

/* False: the answer names no further page. */
static bool next_path(const char *body, char path[PATH_BYTES])
{
    static const char mark[] = "\"next_cursor\":\"";
    const char *cursor = strstr(body, mark);
    if (cursor == NULL) {
        return false;
    }
    cursor += sizeof(mark) - 1;
    int length = (int)strcspn(cursor, "\"");
    snprintf(path, PATH_BYTES, "/api/v1/messages?limit=1000&cursor=%.*s", length, cursor);
    return true;
}

static void *page_on(void *context)
{
    struct pager *pager = context;
    char *body = memory_new(BODY_BYTES, 1);
    char path[PATH_BYTES] = "/api/v1/messages?limit=1000";
    while (!atomic_load(&pager->stop)) {
        get(pager->tarry, path, body);
        pager->pages++;
        if (!next_path(body, path)) {
            snprintf(path, sizeof(path), "/api/v1/messages?limit=1000");
        }
    }
    free(body);
    return NULL;
}

static void note_lateness(struct bench_run *run, const char *who, const struct bench_arrivals *arrivals)
{
    char name[64];
    snprintf(name, sizeof(name), "lateness_%s_p50", who);
    bench_figures_add(run->figures, section, name, "ms", bench_arrivals_percentile(arrivals, 0.5));
    snprintf(name, sizeof(name), "lateness_%s_p99", who);
    bench_figures_add(run->figures, section, name, "ms", bench_arrivals_percentile(arrivals, 0.99));
    bench_run_say("  %s: P50 %.2f P99 %.2f ms", who, bench_arrivals_percentile(arrivals, 0.5), bench_arrivals_percentile(arrivals, 0.99));
}

/* As in the section lateness, beside the pager or alone. */
static void measure_lateness(struct bench_run *run, const struct bench_tarry *tarry, bool pages)
{
    struct pager pager = {.tarry = tarry};
    struct bench_feed_options options = {.topic = tarry->input, .least_ms = DELAY_LEAST_MS, .most_ms = DELAY_MOST_MS, .per_s = PER_S};
    int64_t from_ms = bench_run_wall_ms() + DELAY_MOST_MS + 1000;
    int64_t to_ms = from_ms + bench_run_size(run, 30000, 4000);
    struct bench_arrivals *arrivals = bench_arrivals_start(run, tarry->output, from_ms, to_ms);
    struct bench_feed *feed = bench_feed_start(run, &options);
    bench_feed_watch(feed, from_ms, to_ms);
    if (pages && !thread_start(&pager.thread, page_on, &pager)) {
        bench_run_fail("no thread for who pages");
    }
    bench_run_sleep_ms(to_ms - bench_run_wall_ms());
    bench_feed_stop(feed);
    bench_feed_join(feed);
    if (!bench_arrivals_wait(arrivals, bench_feed_watched(feed), ALL_ARRIVED_MS)) {
        bench_run_fail("%" PRId64 " of %" PRId64 " arrived; see %s", bench_arrivals_count(arrivals), bench_feed_watched(feed), tarry->log);
    }
    atomic_store(&pager.stop, true);
    if (pages) {
        (void)pthread_join(pager.thread, NULL);
        bench_figures_add(run->figures, section, "pages_meanwhile", "pages", (double)pager.pages);
    }
    bench_arrivals_stop(arrivals);
    note_lateness(run, pages ? "listing" : "alone", arrivals);
    bench_arrivals_free(arrivals);
    bench_feed_free(feed);
}

void bench_list_section(struct bench_run *run)
{
    bench_run_say("list");
    const struct bench_tarry *tarry = bench_pending_full(run);
    measure_page(run, tarry, "first_50", "/api/v1/messages?limit=50");
    measure_page(run, tarry, "first_1000", "/api/v1/messages?limit=1000");
    measure_page(run, tarry, "day_15", "/api/v1/messages?limit=50&due_from=360h");
    measure_page(run, tarry, "day_15_of_a_partition", "/api/v1/messages?limit=50&due_from=360h&partition=1");
    measure_page(run, tarry, "nothing_for_2_s", "/api/v1/schedules?limit=50");
    for (int64_t i = 0; i < bench_run_size(run, run->runs, 1); i++) {
        measure_lateness(run, tarry, i % 2 == 0);
        measure_lateness(run, tarry, i % 2 != 0);
    }
}
