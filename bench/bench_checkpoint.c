/* The store by itself: runs bench_store and takes the figures from its lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_child.h"
#include "bench/bench_sections.h"

static const char section[] = "store";

/* The number behind `word` in the line; negative: there is none. */
static double behind(const char *line, const char *word)
{
    const char *place = strstr(line, word);
    return place == NULL ? -1 : strtod(place + strlen(word), NULL);
}

static void note_line(struct bench_run *run, const char *line)
{
    static const struct {
        const char *word;
        const char *figure;
        const char *unit;
    } parts[] = {{" put ", "put_per_s", "1/s"},   {" longest ", "put_longest", "ms"}, {"used, ", "file_per_row", "B"},
                 {" split ", "split_per_s", "1/s"}, {" scan ", "scan_per_s", "1/s"},    {" read ", "read_per_s", "1/s"},
                 {" drop ", "drop_per_s", "1/s"}};
    char name[64];
    int length = (int)strcspn(line, " ");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        double value = behind(line, parts[i].word);
        if (value >= 0) {
            snprintf(name, sizeof(name), "store_%.*s_%s", length, line, parts[i].figure);
            bench_figures_add(run->figures, section, name, parts[i].unit, value);
        }
    }
}

void bench_checkpoint_section(struct bench_run *run)
{
    char folder[BENCH_RUN_PATH];
    char log[BENCH_RUN_PATH];
    char rows[24];
    char line[512];
    bench_run_say("store");
    snprintf(folder, sizeof(folder), "%.300s/store", run->folder);
    snprintf(log, sizeof(log), "%.300s/store.log", run->folder);
    snprintf(rows, sizeof(rows), "%d", (int)bench_run_size(run, 2000000, 100000));
    const char *const arguments[] = {run->store_program, folder, rows, NULL};
    bench_child_wait(bench_child_start(arguments, log));
    FILE *file = fopen(log, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        fprintf(stderr, "  %s", line);
        note_line(run, line);
    }
    if (file == NULL || fclose(file) != 0) {
        bench_run_fail("cannot read %s", log);
    }
}
