#include "bench/bench_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct bench_figures *bench_figures_new(void)
{
    return memory_new(1, sizeof(struct bench_figures));
}

void bench_figures_free(struct bench_figures *figures)
{
    for (size_t i = 0; i < figures->count; i++) {
        free(figures->items[i].values);
    }
    free(figures->items);
    free(figures);
}

static struct bench_figures_one *find(const struct bench_figures *figures, const char *name)
{
    for (size_t i = 0; i < figures->count; i++) {
        if (strcmp(figures->items[i].name, name) == 0) {
            return &figures->items[i];
        }
    }
    return NULL;
}

const struct bench_figures_one *bench_figures_find(const struct bench_figures *figures, const char *name)
{
    return find(figures, name);
}

static struct bench_figures_one *make(struct bench_figures *figures, const char *section, const char *name, const char *unit)
{
    if (figures->count == figures->room) {
        figures->room = figures->room == 0 ? 64 : figures->room * 2;
        figures->items = memory_resize(figures->items, figures->room, sizeof(*figures->items));
    }
    struct bench_figures_one *figure = &figures->items[figures->count++];
    *figure = (struct bench_figures_one){.values = NULL};
    snprintf(figure->section, sizeof(figure->section), "%s", section);
    snprintf(figure->name, sizeof(figure->name), "%s", name);
    snprintf(figure->unit, sizeof(figure->unit), "%s", unit);
    return figure;
}

void bench_figures_add(struct bench_figures *figures, const char *section, const char *name, const char *unit, double value)
{
    struct bench_figures_one *figure = find(figures, name);
    if (figure == NULL) {
        figure = make(figures, section, name, unit);
    }
    if (figure->count == figure->room) {
        figure->room = figure->room == 0 ? 8 : figure->room * 2;
        figure->values = memory_resize(figure->values, figure->room, sizeof(*figure->values));
    }
    figure->values[figure->count++] = value;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

double bench_figures_median(const struct bench_figures_one *figure)
{
    double *sorted = memory_new(figure->count, sizeof(*sorted));
    memcpy(sorted, figure->values, figure->count * sizeof(*sorted));
    qsort(sorted, figure->count, sizeof(*sorted), compare);
    size_t middle = figure->count / 2;
    double median = figure->count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    free(sorted);
    return median;
}

double bench_figures_min(const struct bench_figures_one *figure)
{
    double least = figure->values[0];
    for (size_t i = 1; i < figure->count; i++) {
        least = fmin(least, figure->values[i]);
    }
    return least;
}

double bench_figures_max(const struct bench_figures_one *figure)
{
    double most = figure->values[0];
    for (size_t i = 1; i < figure->count; i++) {
        most = fmax(most, figure->values[i]);
    }
    return most;
}
