#include "bench/bench_facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <lmdb.h>
#include <nats/nats.h>

#define LINE 512
#define FULL_DISK_BYTES ((int64_t)50 << 30)
#define QUICK_DISK_BYTES ((int64_t)5 << 30)

static void add(struct bench_facts *facts, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add(struct bench_facts *facts, const char *name, const char *format, ...)
{
    if (facts->count == BENCH_FACTS_MOST) {
        return;
    }
    struct bench_facts_one *fact = &facts->items[facts->count++];
    snprintf(fact->name, sizeof(fact->name), "%s", name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fact->value, sizeof(fact->value), format, arguments);
    va_end(arguments);
}

/* What the first line of a file of /proc says behind `field`; all of the line for "". */
static void proc_line(const char *path, const char *field, char text[LINE])
{
    char line[LINE];
    FILE *file = fopen(path, "r");
    snprintf(text, LINE, "unknown");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, field, strlen(field)) == 0) {
            const char *value = line + strlen(field);
            value += strspn(value, " \t:");
            snprintf(text, LINE, "%.*s", (int)strcspn(value, "\n"), value);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* The type of the file system mounted nearest above the path: the longest mount point that it begins with. */
static void file_system(const char *path, char type[64])
{
    char line[LINE];
    size_t best = 0;
    FILE *file = fopen("/proc/self/mounts", "r");
    snprintf(type, 64, "unknown");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        char *rest = line;
        (void)strsep(&rest, " ");
        const char *point = strsep(&rest, " ");
        const char *kind = strsep(&rest, " ");
        size_t length = point == NULL ? 0 : strlen(point);
        if (kind != NULL && length >= best && strncmp(path, point, length) == 0) {
            best = length;
            snprintf(type, 64, "%s", kind);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void add_disk(const struct bench_run *run, struct bench_facts *facts)
{
    char type[64];
    struct statfs info;
    if (statfs(run->folder, &info) != 0) {
        bench_run_fail("no folder %s: %s", run->folder, strerror(errno));
    }
    int64_t available = (int64_t)info.f_bavail * (int64_t)info.f_bsize;
    int64_t needed = bench_run_size(run, FULL_DISK_BYTES, QUICK_DISK_BYTES);
    file_system(run->folder, type);
    if (strcmp(type, "tmpfs") == 0 || strcmp(type, "ramfs") == 0) {
        bench_run_fail("%s lies in memory (%s): set BENCH_FOLDER to a folder on a disk", run->folder, type);
    }
    if (available < needed) {
        bench_run_fail("%s has %" PRId64 " GiB free and %" PRId64 " are needed: set BENCH_FOLDER to a folder with more",
                       run->folder, available >> 30, needed >> 30);
    }
    add(facts, "disk", "%s, %" PRId64 " GiB free", type, available >> 30);
}

static void add_machine(struct bench_facts *facts)
{
    char text[LINE];
    struct utsname name;
    proc_line("/proc/cpuinfo", "model name", text);
    add(facts, "cpu", "%ld x %s", sysconf(_SC_NPROCESSORS_ONLN), text);
    proc_line("/proc/meminfo", "MemTotal", text);
    add(facts, "memory", "%s", text);
    proc_line("/etc/os-release", "PRETTY_NAME=", text);
    uname(&name);
    add(facts, "system", "%s, %s %s", text, name.sysname, name.release);
    proc_line("/proc/loadavg", "", text);
    add(facts, "load_before", "%s", text);
}

void bench_facts_collect(const struct bench_run *run, const char *commit, const char *kafka_version, const char *nats_version,
                         struct bench_facts *facts)
{
    char text[64];
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
    add(facts, "started", "%s", text);
    add(facts, "tarry", "%s", TARRY_VERSION);
    add(facts, "commit", "%s", commit);
    add(facts, "kafka", "Apache Kafka %s, one broker on this machine", kafka_version);
    add(facts, "nats-server", "%s, one server on this machine", nats_version);
    add(facts, "librdkafka", "%s", rd_kafka_version_str());
    add(facts, "nats.c", "%s", nats_GetVersion());
    add(facts, "lmdb", "%d.%d.%d", MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH);
    add_machine(facts);
    add_disk(run, facts);
}
