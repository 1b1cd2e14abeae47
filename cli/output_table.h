/*
 * A table for people: columns as wide as what is in them, the last cut at the terminal's edge.
 *
 * Widths are taken from the first rows (up to OUTPUT_TABLE_MEASURED), which are held until then; later rows are printed as they come, so that memory is
 * bounded. Every byte that is not printable is escaped.
 */
#ifndef TARRY_CLI_OUTPUT_TABLE_H
#define TARRY_CLI_OUTPUT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"
#include "cli/output.h"

#define OUTPUT_TABLE_MEASURED 200
#define OUTPUT_TABLE_COLUMNS_MAX 12

struct output_column {
    const char *title;
    bool right;   /* numbers stand at the right */
    size_t most;  /* characters; longer cells are cut with "...". 0: no limit but the terminal's edge (last column) */
};

struct output_table;

/* `columns` and `output` outlive it. Never NULL. */
struct output_table *output_table_new(const struct output *output, const struct output_column *columns, size_t count);

/* One row: `count` cells of any bytes; an absent one is shown as "-". Copied. */
void output_table_row(struct output_table *table, const struct span *cells);

/* Prints what is held (the titles too, unless there was no row at all) and frees. */
void output_table_end(struct output_table *table);

#endif
