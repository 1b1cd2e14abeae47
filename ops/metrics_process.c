/* process_*: what /proc says of ourselves. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ops/metrics.h"

#define FILE_MAX 8192
#define STAT_FIELDS 24

/* The whole of a small file, NUL-terminated. False: absent or unreadable. */
static bool read_small(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    size_t length = fread(text, 1, size - 1, file);
    text[length] = '\0';
    (void)fclose(file);
    return length > 0;
}

/* The number after "name" at the start of a line; NaN when it is not there. */
static double line_number(const char *text, const char *name)
{
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        if (strncmp(line, name, strlen(name)) == 0) {
            return strtod(line + strlen(name), NULL);
        }
    }
    return (double)NAN;
}

/* Fields 3 and on of /proc/self/stat into numbers[3...]; the name before may hold anything, also blanks and brackets.
 * */
static bool read_stat(double numbers[STAT_FIELDS + 1])
{
    char text[FILE_MAX];
    if (!read_small("/proc/self/stat", text, sizeof(text))) {
        return false;
    }
    char *at = strrchr(text, ')');
    if (at == NULL || at[1] == '\0') {
        return false;
    }
    at += 3; /* ") S": the state is no number */
    for (int field = 4; field <= STAT_FIELDS; field++) {
        numbers[field] = strtod(at, &at);
    }
    return true;
}

static double open_fds(void)
{
    DIR *directory = opendir("/proc/self/fd");
    if (directory == NULL) {
        return (double)NAN;
    }
    double count = 0;
    while (readdir(directory) != NULL) {
        count++;
    }
    (void)closedir(directory);
    return count - 3; /* not ".", "..", nor the one this has just opened */
}

static double most_fds(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return (double)NAN;
    }
    return (double)limit.rlim_cur;
}

static double boot_time(void)
{
    char text[65536]; /* btime stands after a line for each processor and the interrupts */
    return read_small("/proc/stat", text, sizeof(text)) ? line_number(text, "btime ") : (double)NAN;
}

static void update_stat(struct metrics *metrics)
{
    double numbers[STAT_FIELDS + 1];
    if (!read_stat(numbers)) {
        return;
    }
    double ticks = (double)sysconf(_SC_CLK_TCK);
    double page = (double)sysconf(_SC_PAGESIZE);
    metrics_set_total(metrics, METRIC_PROCESS_CPU_SECONDS, 0, 0, (numbers[14] + numbers[15]) / ticks);
    metrics_set(metrics, METRIC_PROCESS_THREADS, 0, 0, numbers[20]);
    metrics_set(metrics, METRIC_PROCESS_VIRTUAL, 0, 0, numbers[23]);
    metrics_set(metrics, METRIC_PROCESS_RESIDENT, 0, 0, numbers[24] * page);
    if (isnan(metrics_value(metrics, METRIC_PROCESS_START_TIME, 0, 0))) {
        metrics_set(metrics, METRIC_PROCESS_START_TIME, 0, 0, boot_time() + numbers[22] / ticks);
    }
}

void metrics_process_update(struct metrics *metrics)
{
    char text[FILE_MAX];
    update_stat(metrics);
    metrics_set(metrics, METRIC_PROCESS_OPEN_FDS, 0, 0, open_fds());
    metrics_set(metrics, METRIC_PROCESS_MAX_FDS, 0, 0, most_fds());
    if (read_small("/proc/self/status", text, sizeof(text))) {
        metrics_set(metrics, METRIC_PROCESS_RESIDENT_ANON, 0, 0, line_number(text, "RssAnon:") * 1024);
        metrics_set(metrics, METRIC_PROCESS_RESIDENT_FILE, 0, 0, line_number(text, "RssFile:") * 1024);
    }
}
