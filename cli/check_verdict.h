/* The verdict of `tarry check`, as Nagios and its like read it: a level, words, and measures with their thresholds. Pure but for the printing. */
#ifndef TARRY_CLI_CHECK_VERDICT_H
#define TARRY_CLI_CHECK_VERDICT_H

#include <stdint.h>

#include "base/buffer.h"

enum check_verdict_level { CHECK_VERDICT_OK, CHECK_VERDICT_WARNING, CHECK_VERDICT_CRITICAL, CHECK_VERDICT_UNKNOWN }; /* their exit codes */

struct check_verdict {
    enum check_verdict_level level;
    struct buffer bad;      /* what is not OK, each with a comma before it but the first */
    struct buffer measures; /* " name=value;warn;crit;0" */
};

struct check_verdict check_verdict_new(void);
void check_verdict_free(struct check_verdict *verdict);

/* Something is not well: the level becomes no better than this. CRITICAL outweighs UNKNOWN. */
void check_verdict_bad(struct check_verdict *verdict, enum check_verdict_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

struct check_verdict_threshold {
    const char *name; /* of the measure: "late" */
    const char *unit; /* of Nagios: "s", "%", "c" or "" */
    double warn;      /* reached: WARNING; negative: none */
    double crit;      /* reached: CRITICAL; negative: none */
};

/* A measure. `words`: what it is when it is too much, "events are overdue". */
void check_verdict_measure(struct check_verdict *verdict, const struct check_verdict_threshold *threshold, double value, const char *words);

/* Prints the line, with `well` when all is, and returns the code to exit with. */
int check_verdict_print(const struct check_verdict *verdict, const char *well);

#endif
