/*
 * What the checkpoint costs: rows/s in, bytes on disk, and how fast rows are split, scanned, read and dropped, by how
 * far ahead they are due.
 *
 * bench_store DIRECTORY [ROWS [ROWS_PER_PLAN [ROW_BYTES]]]. The directory is made; one store for each horizon is left
 * in it. The clock stands still while rows go in and then runs through the horizon, as in a day that is looked at in a
 * minute.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/memory.h"
#include "base/random.h"
#include "store/store.h"

#define AHEAD_BUCKETS 64 /* a row goes to the finest level at which it is fewer buckets ahead */
#define SPLIT_ROWS 20000
#define SCAN_ROWS 4096
#define BUCKETS_MOST 65536

struct bench {
    struct store *store;
    uint8_t *payload;
    size_t row_bytes;
    struct bucket_stats *buckets;
    size_t bucket_count;
    double longest_s;
    uint64_t used_bytes;
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check(bool ok, const struct error *error)
{
    if (!ok) {
        fprintf(stderr, "bench_store: %s\n", error->text);
        exit(EXIT_FAILURE);
    }
}

static struct span row_of(row_ref ref, void *context)
{
    const struct bench *bench = context;
    (void)ref;
    return (struct span){bench->payload, bench->row_bytes};
}

static const char *metadata_of(const struct checkpoint_slot *slot, void *context)
{
    (void)slot;
    (void)context;
    return "bench";
}

static int shift_of(uint8_t level)
{
    return BUCKET_SHIFT_0 + BUCKET_SHIFT_STEP * level;
}

static struct bucket_id bucket_of(int64_t due_ms, int64_t now_ms)
{
    uint8_t level = 0;
    while (level < BUCKET_LEVELS - 1 && (due_ms >> shift_of(level)) - (now_ms >> shift_of(level)) >= AHEAD_BUCKETS) {
        level++;
    }
    return (struct bucket_id){0, level, due_ms >> shift_of(level)};
}

static void merge(struct bench *bench, const struct store_result *result)
{
    for (size_t i = 0; i < result->touched_count; i++) {
        const struct bucket_stats *stats = &result->touched[i].stats;
        size_t at = 0;
        while (at < bench->bucket_count && memcmp(&bench->buckets[at].id, &stats->id, sizeof(stats->id)) != 0) {
            at++;
        }
        if (at == bench->bucket_count && at < BUCKETS_MOST) {
            bench->bucket_count++;
        }
        bench->buckets[at] = *stats;
        if (stats->count == 0) {
            bench->buckets[at] = bench->buckets[--bench->bucket_count];
        }
    }
}

static void write_plan(struct bench *bench, struct checkpoint_slot *slot)
{
    struct error error = {0};
    struct store_result result = {0};
    struct checkpoint_plan plan = {slot, 1};
    struct store_source source = {row_of, metadata_of, bench};
    double start = seconds();
    check(store_write(bench->store, &plan, &source, &result, &error), &error);
    double took = seconds() - start;
    bench->longest_s = took > bench->longest_s ? took : bench->longest_s;
    bench->used_bytes = result.used_bytes;
    merge(bench, &result);
    store_result_free(&result);
}

static double fill(struct bench *bench, uint64_t rows, size_t per_plan, int64_t now_ms, int64_t horizon_ms)
{
    struct random random = random_new(1);
    struct checkpoint_row *batch = memory_new(per_plan, sizeof(*batch));
    double start = seconds();
    for (uint64_t done = 0; done < rows; done += per_plan) {
        for (size_t i = 0; i < per_plan; i++) {
            int64_t due = now_ms + random_between(&random, 0, horizon_ms - 1);
            batch[i] = (struct checkpoint_row){bucket_of(due, now_ms), (int64_t)(done + i), due, 1, RECORD_ID_NONE, -1};
        }
        struct checkpoint_slot slot = {.position = (int64_t)(done + per_plan), .rows = batch, .row_count = per_plan};
        write_plan(bench, &slot);
    }
    free(batch);
    return seconds() - start;
}

struct drain {
    double split_s;
    double scan_s;
    double read_s;
    double drop_s;
    uint64_t splits;
    uint64_t rows;
};

static void split_near(struct bench *bench, int64_t now_ms, struct drain *drain)
{
    for (size_t i = 0; i < bench->bucket_count; i++) {
        struct bucket_stats stats = bench->buckets[i];
        int64_t start_ms = stats.id.number << shift_of(stats.id.level);
        if (stats.id.level == 0 || start_ms - now_ms >= ((int64_t)1 << shift_of(stats.id.level)) / 4) {
            continue;
        }
        struct checkpoint_split split = {stats.id, SPLIT_ROWS};
        struct checkpoint_slot slot = {.splits = &split, .split_count = 1};
        double begin = seconds();
        write_plan(bench, &slot);
        drain->split_s += seconds() - begin;
        drain->splits += stats.count < SPLIT_ROWS ? stats.count : SPLIT_ROWS;
        i = (size_t)-1; /* the list has changed: from the start */
    }
}

static void scan_and_read(struct bench *bench, struct bucket_id id, struct drain *drain)
{
    static struct scanned_row rows[SCAN_ROWS];
    struct error error = {0};
    struct command_scan scan = {id, SCAN_WINDOW, 0, INT64_MAX, SCAN_ROWS};
    bool end = false;
    while (!end) {
        size_t count = 0;
        double begin = seconds();
        check(store_scan(bench->store, 0, &scan, rows, &count, &end, &error), &error);
        double scanned = seconds();
        check(store_read_begin(bench->store, &error), &error);
        for (size_t i = 0; i < count; i++) {
            struct span row;
            check(store_read(bench->store, 0, id, rows[i * 7919 % count].offset, &row, &error), &error);
        }
        store_read_end(bench->store);
        drain->scan_s += scanned - begin;
        drain->read_s += seconds() - scanned;
        drain->rows += count;
        scan.from_offset = count > 0 ? rows[count - 1].offset + 1 : scan.from_offset;
    }
}

static void drop_done(struct bench *bench, int64_t now_ms, struct drain *drain)
{
    static struct bucket_id drops[BUCKETS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < bench->bucket_count; i++) {
        const struct bucket_stats *stats = &bench->buckets[i];
        if (stats->id.level == 0 && (stats->id.number + 1) << shift_of(0) <= now_ms) {
            scan_and_read(bench, stats->id, drain);
            drops[count++] = stats->id;
        }
    }
    if (count > 0) {
        struct checkpoint_slot slot = {.drops = drops, .drop_count = count};
        double begin = seconds();
        write_plan(bench, &slot);
        drain->drop_s += seconds() - begin;
    }
}

static double rate(uint64_t rows, double took)
{
    return took > 0 ? (double)rows / took : 0;
}

static void
run(const char *directory, const char *name, int64_t horizon_ms, uint64_t rows, size_t per_plan, size_t row_bytes)
{
    char path[1024];
    char file[1100];
    struct error error = {0};
    struct stat found = {0};
    struct store_partition partition = {0};
    struct bench bench = {.row_bytes = row_bytes};
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    (void)snprintf(file, sizeof(file), "%s/data.mdb", path);
    bench.payload = memory_new(1, row_bytes);
    bench.buckets = memory_new(BUCKETS_MOST, sizeof(*bench.buckets));
    struct store_options options = {path, (uint64_t)1 << 36};
    check(store_open(&options, &bench.store, &error), &error);
    check(store_bind_lane(bench.store, 0, "default", &error), &error);
    check(store_bind_slot(bench.store, 0, "bench", 0, &partition, &error), &error);

    int64_t now_ms = 1800000000000;
    double filled_s = fill(&bench, rows, per_plan, now_ms, horizon_ms);
    double longest_put_s = bench.longest_s;
    double per_row = (double)bench.used_bytes / (double)rows;
    (void)stat(file, &found);
    double file_per_row = (double)found.st_size / (double)rows;
    bench.longest_s = 0;
    struct drain drain = {0};
    for (int64_t at = now_ms; at <= now_ms + horizon_ms + 60000; at += 32000) {
        split_near(&bench, at, &drain);
        drop_done(&bench, at, &drain);
    }
    (void)stat(file, &found);
    printf("%-4s put %8.0f/s longest %5.1f ms  %5.1f B/row used, %5.1f file | split %8.0f/s (%.2f per row)  scan "
           "%9.0f/s  read %8.0f/s  "
           "drop %8.0f/s  longest %5.1f ms  file %5.1f B/row\n",
           name, rate(rows, filled_s), longest_put_s * 1e3, per_row, file_per_row, rate(drain.splits, drain.split_s),
           (double)drain.splits / (double)rows, rate(drain.rows, drain.scan_s), rate(drain.rows, drain.read_s),
           rate(drain.rows, drain.drop_s), bench.longest_s * 1e3, (double)found.st_size / (double)rows);
    store_close(bench.store);
    free(bench.payload);
    free(bench.buckets);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_store DIRECTORY [ROWS [ROWS_PER_PLAN [ROW_BYTES]]]\n");
        return 2;
    }
    uint64_t rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000000;
    size_t per_plan = argc > 3 ? (size_t)strtoull(argv[3], NULL, 10) : 5000;
    size_t row_bytes = argc > 4 ? (size_t)strtoull(argv[4], NULL, 10) : 276;
    (void)mkdir(argv[1], 0700);
    run(argv[1], "1min", 60000, rows, per_plan, row_bytes);
    run(argv[1], "1h", 3600000, rows, per_plan, row_bytes);
    run(argv[1], "24h", 86400000, rows, per_plan, row_bytes);
    run(argv[1], "30d", 30 * (int64_t)86400000, rows, per_plan, row_bytes);
    return 0;
}
