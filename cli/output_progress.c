#include "cli/output_progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "ops/clock.h"

#define FIRST_MS 1000
#define DRAWN_MS 200
#define LINE_MS 10000

struct output_progress output_progress_new(const char *verb, uint64_t total)
{
    const char *kind = getenv("TERM");
    bool terminal = isatty(STDERR_FILENO) == 1 && kind != NULL && strcmp(kind, "dumb") != 0;
    int64_t first_ms = terminal ? FIRST_MS : LINE_MS;
    return (struct output_progress){.verb = verb, .total = total, .terminal = terminal, .next_ms = clock_mono().ms + first_ms};
}

void output_progress_at(struct output_progress *progress, uint64_t done, const char *more)
{
    char count[OUTPUT_COUNT_SIZE];
    char total[OUTPUT_COUNT_SIZE];
    int64_t now_ms = clock_mono().ms;
    if (now_ms < progress->next_ms) {
        return;
    }
    progress->next_ms = now_ms + (progress->terminal ? DRAWN_MS : LINE_MS);
    output_count(done, count);
    output_count(progress->total, total);
    fprintf(stderr, "%starry %s: %s%s%s%s%s%s", progress->terminal ? "\r\033[2K" : "", progress->verb, count, progress->total > 0 ? " of " : "",
            progress->total > 0 ? total : "", more == NULL ? "" : ", ", more == NULL ? "" : more, progress->terminal ? "" : "\n");
    progress->drawn = progress->terminal;
    fflush(stderr);
}

void output_progress_clear(struct output_progress *progress)
{
    if (progress->drawn) {
        fputs("\r\033[2K", stderr);
        fflush(stderr);
        progress->drawn = false;
    }
}
