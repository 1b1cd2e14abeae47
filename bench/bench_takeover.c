/* How soon records leave again after an owner's death: when it is started again (restart), and when another instance gets its partitions (takeover). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/bench_arrivals.h"
#include "bench/bench_child.h"
#include "bench/bench_feed.h"
#include "bench/bench_kafka.h"
#include "bench/bench_sections.h"
#include "bench/bench_tarry.h"

#define MONTH_MS (30 * (int64_t)86400000)
#define UNREAD_MOST 1000000 /* so that Kafka's log need not be read back from disk */
#define TIMEOUT_MS 1800000
#define STEADY_PER_S 1000   /* what goes through it while it dies */
#define KILL_AFTER_MS 4000  /* the steady records are under way by then */
#define CLEAR_MS 50         /* what is due so long after the kill was surely not sent before it */

static const char section[] = "takeover";

/* One death, seen by a consumer. */
struct death {
    struct bench_arrivals *arrivals;
    struct bench_feed *feed;
    int64_t killed_us;
};

/* Kills it while records come due all the time, in the midst of a transaction if it makes any. */
static struct death kill_under_load(const struct bench_run *run, struct bench_tarry *tarry)
{
    struct bench_feed_options options = {.topic = tarry->input, .least_ms = 1000, .most_ms = 2000, .per_s = STEADY_PER_S};
    struct death death;
    int64_t kill_ms = bench_run_wall_ms() + KILL_AFTER_MS;
    death.arrivals = bench_arrivals_start_at_end(run, tarry->output, kill_ms + CLEAR_MS, kill_ms + TIMEOUT_MS);
    death.feed = bench_feed_start(run, &options);
    bench_run_sleep_ms(kill_ms - bench_run_wall_ms());
    death.killed_us = bench_run_wall_us();
    bench_tarry_kill(tarry);
    if (bench_arrivals_count(death.arrivals) > 0) {
        bench_run_fail("records due after the kill arrived before it: this machine is too busy to measure takeovers");
    }
    return death;
}

/* Waits until a record that was due after the death arrives: when that was. */
static int64_t alive_again_us(struct death *death, struct bench_tarry *tarry)
{
    if (!bench_arrivals_wait(death->arrivals, 1, TIMEOUT_MS)) {
        bench_run_fail("nothing came out after the death of an instance; see %s", tarry->log);
    }
    int64_t first_us = bench_arrivals_first_us(death->arrivals);
    bench_feed_stop(death->feed);
    bench_feed_join(death->feed);
    bench_feed_free(death->feed);
    bench_arrivals_stop(death->arrivals);
    bench_arrivals_free(death->arrivals);
    bench_tarry_wait_ready(tarry, TIMEOUT_MS);
    return first_us;
}

/* ------------------------------------------------------------------------------------------------- restart */

static void restart_once(const struct bench_run *run, struct bench_tarry *tarry, const char *name)
{
    struct death death = kill_under_load(run, tarry);
    bench_tarry_start(run, tarry);
    double took_s = (double)(alive_again_us(&death, tarry) - death.killed_us) / 1e6;
    bench_run_say("  %s: %.3f s", name, took_s);
    bench_figures_add(run->figures, section, name, "s", took_s);
}

static void restarts(struct bench_run *run)
{
    const struct bench_tarry_options exact_options = {.exactly_once = true};
    struct bench_tarry plain;
    struct bench_tarry exact;
    int64_t runs = bench_run_size(run, run->runs, 1);
    bench_tarry_open(run, &plain, NULL);
    bench_tarry_open(run, &exact, &exact_options);
    bench_tarry_start(run, &plain);
    bench_tarry_start(run, &exact);
    bench_tarry_wait_ready(&plain, 60000);
    bench_tarry_wait_ready(&exact, 60000);
    for (int64_t i = 0; i < runs; i++) {
        bench_run_say("restart, run %" PRId64 " of %" PRId64, i + 1, runs);
        restart_once(run, &plain, "restart_s");
        restart_once(run, &exact, "restart_eo_s");
    }
    bench_tarry_close(run, &plain);
    bench_tarry_close(run, &exact);
}

/* ------------------------------------------------------------------------------------------------- takeover */

/* Two instances of which one is alive, and a disk of when half of the log had been read. */
struct pair {
    struct bench_tarry instances[2];
    int owner;
    char stale[BENCH_RUN_PATH + 32];
    int64_t delivered; /* so far */
    int64_t read;      /* by its metric, when the feed began */
};

static int64_t owner_read(void *context)
{
    const struct pair *pair = context;
    return (int64_t)bench_tarry_metric(&pair->instances[pair->owner], "tarry_records_read_total") - pair->read;
}

/* So many records go in; waits until those due soon have left. */
static void pass(struct bench_run *run, struct pair *pair, int64_t count, int64_t least_ms, int64_t most_ms)
{
    struct bench_tarry *owner = &pair->instances[pair->owner];
    struct bench_feed_options options = {.topic = owner->input,
                                         .least_ms = least_ms,
                                         .most_ms = most_ms,
                                         .count = count,
                                         .unread_most = UNREAD_MOST,
                                         .read = owner_read,
                                         .context = pair};
    pair->read = 0;
    pair->read = owner_read(pair);
    struct bench_feed *feed = bench_feed_start(run, &options);
    bench_feed_join(feed);
    bench_feed_free(feed);
    pair->delivered += least_ms < MONTH_MS ? count : 0;
    int64_t limit = bench_run_mono_us() + (int64_t)TIMEOUT_MS * 1000;
    while (owner_read(pair) < count || bench_kafka_end(run, owner->output) < pair->delivered) {
        bench_child_check(owner->pid, owner->log);
        if (bench_run_mono_us() > limit) {
            bench_run_fail("tarry did not pass on %" PRId64 " records; see %s", count, owner->log);
        }
        bench_run_sleep_ms(100);
    }
}

/* The file of one store as another's. */
static void copy_store(const char *from, const char *to)
{
    static char buffer[1 << 20];
    char path[BENCH_RUN_PATH + 64];
    snprintf(path, sizeof(path), "%s/data.mdb", from);
    FILE *in = fopen(path, "rb");
    if (in == NULL || mkdir(to, 0700) != 0) {
        bench_run_fail("cannot copy %s to %s: %s", path, to, strerror(errno));
    }
    snprintf(path, sizeof(path), "%s/data.mdb", to);
    FILE *out = fopen(path, "wb");
    bool done = out != NULL;
    for (size_t length = 1; done && length > 0;) {
        length = fread(buffer, 1, sizeof(buffer), in);
        done = fwrite(buffer, 1, length, out) == length;
    }
    if (!done || ferror(in) != 0 || fclose(out) != 0) {
        bench_run_fail("cannot write %s: %s", path, strerror(errno));
    }
    fclose(in);
}

/* A log of so many records that are done, behind one for each partition that is due in 30 days: whoever has no disk reads all of it. */
static void pair_open(struct bench_run *run, struct pair *pair, int64_t records)
{
    struct bench_tarry_options options = {.more = "copy_forward: {enabled: false}\n"};
    struct bench_tarry *first = &pair->instances[0];
    *pair = (struct pair){.owner = 0};
    bench_tarry_open(run, first, &options);
    snprintf(pair->stale, sizeof(pair->stale), "%.500s/stale", first->folder);
    bench_tarry_start(run, first);
    bench_tarry_wait_ready(first, 60000);
    bench_run_say("  %" PRId64 " records go through, behind some that are due in 30 days", records);
    pass(run, pair, BENCH_RUN_PARTITIONS, MONTH_MS, MONTH_MS);
    pass(run, pair, records / 2, 0, 1000);
    bench_tarry_stop(first);
    copy_store(first->store, pair->stale);
    bench_tarry_start(run, first);
    bench_tarry_wait_ready(first, 60000);
    pass(run, pair, records - records / 2, 0, 1000);
    bench_tarry_stop(first);
    options.exactly_once = true; /* from here on: it is the mode in which a death leaves more behind */
    bench_tarry_configure(run, first, &options);
    options.beside = first;
    bench_tarry_open(run, &pair->instances[1], &options);
    bench_tarry_start(run, first);
    bench_tarry_wait_ready(first, 60000);
}

enum disk {
    DISK_OWN,   /* as the dead one left it */
    DISK_STALE, /* of when half of the log had been read */
    DISK_NONE,
};

static void place_disk(const struct pair *pair, enum disk disk, const struct bench_tarry *dead, const struct bench_tarry *heir)
{
    bench_tarry_wipe(heir);
    if (disk == DISK_STALE) {
        copy_store(pair->stale, heir->store);
    } else if (disk == DISK_OWN && rename(dead->store, heir->store) != 0) {
        bench_run_fail("cannot move %s: %s", dead->store, strerror(errno));
    }
}

static void note(struct bench_run *run, const char *disk_name, const char *what, double took_s)
{
    char name[64];
    snprintf(name, sizeof(name), "takeover_%s%s_s", disk_name, what);
    bench_figures_add(run->figures, section, name, "s", took_s);
}

static void takeover_once(struct bench_run *run, struct pair *pair, enum disk disk)
{
    static const char *const names[] = {"own_disk", "stale_disk", "no_disk"};
    struct bench_tarry *dead = &pair->instances[pair->owner];
    struct bench_tarry *heir = &pair->instances[1 - pair->owner];
    int64_t log_end = bench_tarry_log_end(heir);
    struct death death = kill_under_load(run, dead);
    place_disk(pair, disk, dead, heir);
    bench_tarry_start(run, heir);
    bench_tarry_wait_log(heir, log_end, "partition_gained", TIMEOUT_MS);
    int64_t gained_us = bench_run_wall_us();
    int64_t first_us = alive_again_us(&death, heir);
    pair->owner = 1 - pair->owner;
    double took_s = (double)(first_us - death.killed_us) / 1e6;
    double owned_s = (double)(first_us - gained_us) / 1e6;
    bench_run_say("  takeover, %s: %.3f s, of which %.3f s owning the partitions", names[disk], took_s, owned_s);
    note(run, names[disk], "", took_s);
    note(run, names[disk], "_owned", owned_s);
}

static void takeovers(struct bench_run *run)
{
    struct pair pair;
    int64_t runs = bench_run_size(run, run->runs, 1);
    int64_t records = run->records > 0 ? run->records : bench_run_size(run, 20000000, 200000);
    pair_open(run, &pair, records);
    bench_figures_add(run->figures, section, "takeover_log", "records", (double)records);
    for (int64_t i = 0; i < runs; i++) {
        bench_run_say("takeover, run %" PRId64 " of %" PRId64, i + 1, runs);
        for (enum disk disk = DISK_OWN; disk <= DISK_NONE; disk++) {
            takeover_once(run, &pair, disk);
        }
    }
    bench_tarry_close(run, &pair.instances[1]);
    bench_tarry_close(run, &pair.instances[0]);
}

void bench_takeover_section(struct bench_run *run)
{
    bench_run_say("takeover");
    restarts(run);
    takeovers(run);
}
