/* What was measured: for each name the values of all runs, in the order they came. */
#ifndef TARRY_BENCH_BENCH_FIGURES_H
#define TARRY_BENCH_BENCH_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

struct bench_figures_one {
    char section[24];
    char name[64];
    char unit[16];
    double *values; /* one for each run */
    size_t count;
    size_t room;
};

struct bench_figures {
    struct bench_figures_one *items;
    size_t count;
    size_t room;
};

struct bench_figures *bench_figures_new(void);
void bench_figures_free(struct bench_figures *figures);

/* One more value of the figure, which is made when it is the first. */
void bench_figures_add(struct bench_figures *figures, const char *section, const char *name, const char *unit, double value);

/* NULL: nothing of that name was measured. Valid until the next is added. */
const struct bench_figures_one *bench_figures_find(const struct bench_figures *figures, const char *name);

/* Of at least one value. The median of an even number is the mean of the two in the middle. */
double bench_figures_median(const struct bench_figures_one *figure);
double bench_figures_min(const struct bench_figures_one *figure);
double bench_figures_max(const struct bench_figures_one *figure);

#endif
