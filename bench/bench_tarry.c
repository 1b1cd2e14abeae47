#include "bench/bench_tarry.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "bench/bench_child.h"
#include "bench/bench_kafka.h"
#include "tests/support/http_get.h"

#define BODY_MAX (512u * 1024)
#define HTTP_TIMEOUT_MS 30000
#define STORE_BYTES ((size_t)64 << 30)

static const char config_text[] = "instance: %s\n"
                                  "group: %s\n"
                                  "kafka: {bootstrap.servers: \"%s\"}\n"
                                  "store: {path: \"%s\", max_size: 64GiB}\n"
                                  "sources:\n"
                                  "  - topic: %s\n"
                                  "    default_target: %s\n"
                                  "http: {listen: \"127.0.0.1:%d\"}\n"
                                  "log: {level: info, format: json}\n"
                                  "shutdown_timeout: 30s\n"
                                  "delivery: %s\n"
                                  "%s";

void bench_tarry_configure(const struct bench_run *run, const struct bench_tarry *tarry, const struct bench_tarry_options *options)
{
    const char *delivery = options->exactly_once ? "exactly_once" : "at_least_once";
    const char *more = options->more == NULL ? "" : options->more;
    FILE *file = fopen(tarry->config, "w");
    if (file == NULL || fprintf(file, config_text, tarry->name, tarry->group, run->bootstrap, tarry->store, tarry->input,
                                tarry->output, tarry->port, delivery, more) < 0 || fclose(file) != 0) {
        bench_run_fail("cannot write %s: %s", tarry->config, strerror(errno));
    }
}

static void name_shared(struct bench_tarry *tarry, const struct bench_tarry *first)
{
    tarry->beside = first != NULL;
    memcpy(tarry->group, first == NULL ? tarry->name : first->group, sizeof(tarry->group));
    snprintf(tarry->input, sizeof(tarry->input), "%.50s-in", tarry->group);
    snprintf(tarry->output, sizeof(tarry->output), "%.50s-out", tarry->group);
}

void bench_tarry_open(struct bench_run *run, struct bench_tarry *tarry, const struct bench_tarry_options *options)
{
    static const struct bench_tarry_options none = {.more = NULL};
    options = options == NULL ? &none : options;
    *tarry = (struct bench_tarry){.port = http_free_port()};
    bench_run_name(run, "tarry", tarry->name);
    name_shared(tarry, options->beside);
    snprintf(tarry->folder, sizeof(tarry->folder), "%.300s/%s", run->folder, tarry->name);
    snprintf(tarry->config, sizeof(tarry->config), "%s/tarry.yaml", tarry->folder);
    snprintf(tarry->store, sizeof(tarry->store), "%s/store", tarry->folder);
    snprintf(tarry->log, sizeof(tarry->log), "%s/tarry.log", tarry->folder);
    if (tarry->port < 0 || mkdir(tarry->folder, 0700) != 0) {
        bench_run_fail("cannot make %s, or no port is free", tarry->folder);
    }
    bench_tarry_configure(run, tarry, options);
    if (!tarry->beside) {
        bench_kafka_topic_create(run, tarry->input);
    }
    if (!tarry->beside && !options->no_output) {
        bench_kafka_topic_create(run, tarry->output);
    }
}

void bench_tarry_start(const struct bench_run *run, struct bench_tarry *tarry)
{
    const char *const arguments[] = {run->tarry, "serve", "-c", tarry->config, NULL};
    tarry->pid = bench_child_start(arguments, tarry->log);
}

void bench_tarry_wait_ready(struct bench_tarry *tarry, int64_t timeout_ms)
{
    int64_t limit = bench_run_mono_us() + timeout_ms * 1000;
    while (http_get(tarry->port, "/readyz", HTTP_TIMEOUT_MS, NULL, 0) != 200) {
        bench_child_check(tarry->pid, tarry->log);
        if (bench_run_mono_us() > limit) {
            bench_run_fail("tarry is not ready after %" PRId64 " ms; see %s", timeout_ms, tarry->log);
        }
        bench_run_sleep_ms(20);
    }
}

/* The value of a sample line "name{labels} value", 0 when it is of another metric. */
static double sample(const char *line, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(line, name, length) != 0 || (line[length] != ' ' && line[length] != '{')) {
        return 0;
    }
    const char *number = line[length] == '{' ? strchr(line, '}') : line + length;
    return number == NULL ? 0 : strtod(number + (*number == '}'), NULL);
}

double bench_tarry_metric(const struct bench_tarry *tarry, const char *name)
{
    char *body = memory_new(BODY_MAX, 1);
    double sum = 0;
    if (http_get(tarry->port, "/metrics", HTTP_TIMEOUT_MS, body, BODY_MAX) == 200) {
        for (const char *line = body; line != NULL; line = strchr(line, '\n')) {
            line += *line == '\n';
            sum += sample(line, name);
        }
    }
    free(body);
    return sum;
}

void bench_tarry_wait_read(struct bench_tarry *tarry, int64_t count, int64_t timeout_ms)
{
    int64_t limit = bench_run_mono_us() + timeout_ms * 1000;
    while (bench_tarry_metric(tarry, "tarry_records_read_total") < (double)count) {
        bench_child_check(tarry->pid, tarry->log);
        if (bench_run_mono_us() > limit) {
            bench_run_fail("tarry did not read %" PRId64 " records in %" PRId64 " ms", count, timeout_ms);
        }
        bench_run_sleep_ms(20);
    }
}

void bench_tarry_wait_rows(struct bench_tarry *tarry, int64_t count, int64_t timeout_ms)
{
    int64_t limit = bench_run_mono_us() + timeout_ms * 1000;
    while (bench_tarry_rows(tarry) < count) {
        bench_child_check(tarry->pid, tarry->log);
        if (bench_run_mono_us() > limit) {
            bench_run_fail("tarry did not write %" PRId64 " rows in %" PRId64 " ms", count, timeout_ms);
        }
        bench_run_sleep_ms(20);
    }
}

static int64_t rows_of(MDB_env *env)
{
    MDB_txn *txn = NULL;
    MDB_dbi rows;
    MDB_stat stat = {.ms_entries = 0};
    if (mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) != 0) {
        return 0;
    }
    if (mdb_dbi_open(txn, "rows", 0, &rows) == 0) {
        (void)mdb_stat(txn, rows, &stat);
    }
    mdb_txn_abort(txn);
    return (int64_t)stat.ms_entries;
}

int64_t bench_tarry_rows(const struct bench_tarry *tarry)
{
    MDB_env *env = NULL;
    if (mdb_env_create(&env) != 0) {
        bench_run_fail("LMDB has no memory");
    }
    mdb_env_set_mapsize(env, STORE_BYTES);
    mdb_env_set_maxdbs(env, 8);
    /* it may not be there yet */
    int64_t rows = mdb_env_open(env, tarry->store, MDB_RDONLY, 0600) == 0 ? rows_of(env) : 0;
    mdb_env_close(env);
    return rows;
}

int64_t bench_tarry_disk_bytes(const struct bench_tarry *tarry)
{
    char path[BENCH_RUN_PATH + 64];
    struct stat info = {.st_blocks = 0};
    snprintf(path, sizeof(path), "%s/data.mdb", tarry->store);
    if (stat(path, &info) != 0) {
        bench_run_fail("no store at %s", path);
    }
    return (int64_t)info.st_blocks * 512;
}

struct bench_tarry_cost bench_tarry_cost(const struct bench_tarry *tarry)
{
    return (struct bench_tarry_cost){bench_child_cpu_ms(tarry->pid), bench_child_io(tarry->pid, "wchar:")};
}

int64_t bench_tarry_log_end(const struct bench_tarry *tarry)
{
    struct stat info = {.st_size = 0};
    return stat(tarry->log, &info) == 0 ? (int64_t)info.st_size : 0;
}

static bool log_has(const struct bench_tarry *tarry, int64_t from, const char *text)
{
    char line[4096];
    bool found = false;
    FILE *file = fopen(tarry->log, "r");
    if (file == NULL || fseek(file, (long)from, SEEK_SET) != 0) {
        bench_run_fail("cannot read %s: %s", tarry->log, strerror(errno));
    }
    while (!found && fgets(line, sizeof(line), file) != NULL) {
        found = strstr(line, text) != NULL;
    }
    fclose(file);
    return found;
}

void bench_tarry_wait_log(struct bench_tarry *tarry, int64_t from, const char *text, int64_t timeout_ms)
{
    int64_t limit = bench_run_mono_us() + timeout_ms * 1000;
    while (!log_has(tarry, from, text)) {
        bench_child_check(tarry->pid, tarry->log);
        if (bench_run_mono_us() > limit) {
            bench_run_fail("tarry did not log %s within %" PRId64 " ms; see %s", text, timeout_ms, tarry->log);
        }
        bench_run_sleep_ms(5);
    }
}

void bench_tarry_stop(struct bench_tarry *tarry)
{
    bench_child_check(tarry->pid, tarry->log);
    bench_child_stop(tarry->pid);
    tarry->pid = 0;
}

void bench_tarry_kill(struct bench_tarry *tarry)
{
    bench_child_check(tarry->pid, tarry->log);
    bench_child_kill(tarry->pid);
    tarry->pid = 0;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

void bench_tarry_wipe(const struct bench_tarry *tarry)
{
    nftw(tarry->store, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void bench_tarry_close(struct bench_run *run, struct bench_tarry *tarry)
{
    if (tarry->pid != 0) {
        bench_tarry_stop(tarry);
    }
    if (!tarry->beside) {
        bench_kafka_topic_delete(run, tarry->input);
        bench_kafka_topic_delete(run, tarry->output);
    }
    nftw(tarry->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
