/*
 * cron_next FOLDER: answers oracle.py. Each line of standard input is ZONE, a tab, milliseconds since 1970, a tab, an expression; each line of standard output
 * is the next three occurrences in milliseconds ("never" where there is none), or "refused: " and why. FOLDER holds the zones' files.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/cron.h"
#include "tests/cron/zone_file.h"

#define LINE_MAX_BYTES 4096
#define OCCURRENCES 3

static void answer(const struct cron *cron, const struct zone *zone, int64_t at_ms)
{
    for (int i = 0; i < OCCURRENCES; i++) {
        if (!cron_next(cron, zone, at_ms, &at_ms)) {
            (void)printf("never\n");
            return;
        }
        (void)printf(i + 1 < OCCURRENCES ? "%" PRId64 " " : "%" PRId64 "\n", at_ms);
    }
}

/* Cuts the line at its first two tabs. */
static bool cut(char *line, char **ms, char **expression)
{
    *ms = strchr(line, '\t');
    *expression = *ms == NULL ? NULL : strchr(*ms + 1, '\t');
    if (*expression == NULL) {
        return false;
    }
    *(*ms)++ = '\0';
    *(*expression)++ = '\0';
    return true;
}

int main(int count, char **arguments)
{
    char line[LINE_MAX_BYTES];
    while (count == 2 && fgets(line, sizeof(line), stdin) != NULL) {
        char *ms;
        char *expression;
        char problem[CRON_PROBLEM_SIZE];
        struct cron cron;
        struct zone *zone;
        struct error error;
        line[strcspn(line, "\n")] = '\0';
        if (!cut(line, &ms, &expression)) {
            return EXIT_FAILURE;
        }
        if (!zone_file_load(arguments[1], line, &zone, &error)) {
            (void)printf("no zone: %s\n", error.text);
        } else if (!cron_parse(span_of_text(expression), &cron, problem, sizeof(problem))) {
            (void)printf("refused: %s\n", problem);
            zone_free(zone);
        } else {
            answer(&cron, zone, strtoll(ms, NULL, 10));
            zone_free(zone);
        }
    }
    return count == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
