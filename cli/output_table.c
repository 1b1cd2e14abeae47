#include "cli/output_table.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#define CELL_BYTES_MAX 8192 /* of one cell as it is shown */
#define CELL_INPUT_MAX 2048 /* bytes looked at: each becomes four at most */
#define BOLD "\033[1m"
#define PLAIN "\033[0m"
#define GAP 2
#define LAST_LEAST 24 /* of the last column: on a narrow terminal a line goes on in the next rather than to say nothing */

struct output_table {
    const struct output *output;
    const struct output_column *columns;
    size_t count;
    size_t widths[OUTPUT_TABLE_COLUMNS_MAX]; /* in characters */
    char **cells;                                /* of the rows held, one after the other */
    size_t rows;
    bool measured; /* the titles are printed, widths stay */
};

struct output_table *
output_table_new(const struct output *output, const struct output_column *columns, size_t count)
{
    assert(count <= OUTPUT_TABLE_COLUMNS_MAX);
    struct output_table *table = memory_new(1, sizeof *table);
    table->output = output;
    table->columns = columns;
    table->count = count;
    table->cells = memory_new(OUTPUT_TABLE_MEASURED * count, sizeof *table->cells);
    for (size_t i = 0; i < count; i++) {
        table->widths[i] = strlen(columns[i].title);
    }
    return table;
}

/* Characters of printable UTF-8, each taken as one column wide. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((uint8_t)*text & 0xc0) != 0x80;
    }
    return width;
}

/* Cuts to `most` characters, the last three of them "...". */
static void cut(char *text, size_t most)
{
    if (width_of(text) <= most) {
        return;
    }
    size_t kept = most > 3 ? most - 3 : 0;
    size_t seen = 0;
    char *at = text;
    for (; *at != '\0'; at++) {
        bool first = ((uint8_t)*at & 0xc0) != 0x80;
        if (first && seen == kept) {
            break;
        }
        seen += first;
    }
    size_t dots = most < 3 ? most : 3;
    memcpy(at, "...", dots);
    at[dots] = '\0';
}

static char *show(struct span cell, size_t most)
{
    char text[CELL_BYTES_MAX + 4];
    struct span looked = {cell.data, cell.length < CELL_INPUT_MAX ? cell.length : CELL_INPUT_MAX};
    if (cell.data == NULL) {
        return memory_text("-", 1);
    }
    size_t length = text_printable(looked, text, CELL_BYTES_MAX + 1);
    if (looked.length < cell.length) {
        memcpy(text + length, "...", sizeof "...");
    }
    if (most > 0) {
        cut(text, most);
    }
    return memory_text(text, strlen(text));
}

/* What the last column may take: to the terminal's edge. 0: as much as it wants. */
static size_t room_of_last(const struct output_table *table)
{
    size_t before = 0;
    for (size_t i = 0; i + 1 < table->count; i++) {
        before += table->widths[i] + GAP;
    }
    if (table->output->columns == 0) {
        return 0;
    }
    return table->output->columns > before + LAST_LEAST ? table->output->columns - before : LAST_LEAST;
}

static void pad(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        putchar(' ');
    }
}

static void print_row(const struct output_table *table, char **cells)
{
    for (size_t i = 0; i < table->count; i++) {
        bool last = i + 1 == table->count;
        size_t room = last ? room_of_last(table) : 0;
        if (room > 0) {
            cut(cells[i], room);
        }
        size_t width = width_of(cells[i]);
        size_t missing = width < table->widths[i] ? table->widths[i] - width : 0;
        pad(table->columns[i].right ? missing : 0);
        fputs(cells[i], stdout);
        pad(last ? 0 : (table->columns[i].right ? 0 : missing) + GAP);
    }
    putchar('\n');
}

static void print_titles(const struct output_table *table)
{
    char *titles[OUTPUT_TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < table->count; i++) {
        titles[i] = memory_text(table->columns[i].title, strlen(table->columns[i].title));
    }
    fputs(table->output->coloured ? BOLD : "", stdout);
    print_row(table, titles);
    fputs(table->output->coloured ? PLAIN : "", stdout);
    for (size_t i = 0; i < table->count; i++) {
        free(titles[i]);
    }
}

static void print_held(struct output_table *table)
{
    if (!table->measured && table->rows > 0) {
        print_titles(table);
        table->measured = true;
    }
    for (size_t row = 0; row < table->rows; row++) {
        char **cells = table->cells + row * table->count;
        print_row(table, cells);
        for (size_t i = 0; i < table->count; i++) {
            free(cells[i]);
        }
    }
    table->rows = 0;
}

void output_table_row(struct output_table *table, const struct span *cells)
{
    char **held = table->cells + table->rows * table->count;
    for (size_t i = 0; i < table->count; i++) {
        held[i] = show(cells[i], table->columns[i].most);
        size_t width = width_of(held[i]);
        table->widths[i] = !table->measured && width > table->widths[i] ? width : table->widths[i];
    }
    table->rows += 1;
    if (table->measured || table->rows == OUTPUT_TABLE_MEASURED) {
        print_held(table);
    }
}

void output_table_end(struct output_table *table)
{
    print_held(table);
    free(table->cells);
    free(table);
}
