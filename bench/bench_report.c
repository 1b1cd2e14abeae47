#include "bench/bench_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "bench/bench_targets.h"

static const char quick_words[] = "a quick run: it shows that the bench works, and nothing about how fast tarry is";

static int decimals(double value)
{
    return value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
}

static void print_number(FILE *file, double value)
{
    fprintf(file, " %14.*f", decimals(value), value);
}

static void print_figure(const struct bench_figures_one *figure, FILE *file)
{
    fprintf(file, "  %-40s", figure->name);
    print_number(file, bench_figures_median(figure));
    print_number(file, bench_figures_min(figure));
    print_number(file, bench_figures_max(figure));
    fprintf(file, " %5zu  %s\n", figure->count, figure->unit);
}

static void print_figures(const struct bench_figures *figures, FILE *file)
{
    const char *section = "";
    for (size_t i = 0; i < figures->count; i++) {
        const struct bench_figures_one *figure = &figures->items[i];
        if (strcmp(section, figure->section) != 0) {
            section = figure->section;
            fprintf(file, "\n%-42s %14s %14s %14s %5s  unit\n", section, "median", "min", "max", "runs");
        }
        print_figure(figure, file);
    }
}

static void print_targets(const struct bench_figures *figures, FILE *file)
{
    struct bench_targets_one targets[BENCH_TARGETS];
    bench_targets_judge(figures, targets);
    fprintf(file, "\nmust reach\n");
    for (size_t i = 0; i < BENCH_TARGETS; i++) {
        const struct bench_targets_one *target = &targets[i];
        if (target->measured) {
            fprintf(file, "  %-8s %s: %.*f (limit %.*f)\n", target->met ? "met" : "NOT MET", target->rule, decimals(target->value),
                    target->value, decimals(target->limit), target->limit);
        }
    }
}

void bench_report_table(const struct bench_run *run, const struct bench_facts *facts, FILE *file)
{
    if (run->quick) {
        fprintf(file, "%s\n", quick_words);
    }
    for (size_t i = 0; i < facts->count; i++) {
        fprintf(file, "%-12s %s\n", facts->items[i].name, facts->items[i].value);
    }
    print_figures(run->figures, file);
    if (!run->quick) {
        print_targets(run->figures, file);
    }
}

static cJSON *json_figure(const struct bench_figures_one *figure)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "section", figure->section);
    cJSON_AddStringToObject(object, "name", figure->name);
    cJSON_AddStringToObject(object, "unit", figure->unit);
    cJSON_AddNumberToObject(object, "median", bench_figures_median(figure));
    cJSON_AddNumberToObject(object, "min", bench_figures_min(figure));
    cJSON_AddNumberToObject(object, "max", bench_figures_max(figure));
    cJSON_AddItemToObject(object, "values", cJSON_CreateDoubleArray(figure->values, (int)figure->count));
    return object;
}

static cJSON *json_target(const struct bench_targets_one *target)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "figure", target->name);
    cJSON_AddStringToObject(object, "rule", target->rule);
    cJSON_AddNumberToObject(object, "value", target->value);
    cJSON_AddNumberToObject(object, "limit", target->limit);
    cJSON_AddBoolToObject(object, "met", target->met);
    return object;
}

static void add_targets(const struct bench_run *run, cJSON *root)
{
    struct bench_targets_one targets[BENCH_TARGETS];
    bench_targets_judge(run->figures, targets);
    cJSON *array = cJSON_AddArrayToObject(root, "targets");
    for (size_t i = 0; i < BENCH_TARGETS && !run->quick; i++) {
        if (targets[i].measured) {
            cJSON_AddItemToArray(array, json_target(&targets[i]));
        }
    }
}

void bench_report_json(const struct bench_run *run, const struct bench_facts *facts, FILE *file)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddBoolToObject(root, "quick", run->quick);
    cJSON *machine = cJSON_AddObjectToObject(root, "facts");
    for (size_t i = 0; i < facts->count; i++) {
        cJSON_AddStringToObject(machine, facts->items[i].name, facts->items[i].value);
    }
    cJSON *figures = cJSON_AddArrayToObject(root, "figures");
    for (size_t i = 0; i < run->figures->count; i++) {
        cJSON_AddItemToArray(figures, json_figure(&run->figures->items[i]));
    }
    add_targets(run, root);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (text == NULL || fprintf(file, "%s\n", text) < 0) {
        bench_run_fail("cannot write the JSON");
    }
    cJSON_free(text);
}
