/* The lines of a file that is read twice: once to check it, once to use it. Standard input and pipes are copied to a nameless file first. */
#ifndef TARRY_CLI_DLQ_IMPORT_LINES_H
#define TARRY_CLI_DLQ_IMPORT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/span.h"

#define DLQ_IMPORT_LINES_BLOCK 65536

struct dlq_import_lines {
    int fd;
    uint64_t number;    /* of the line that was read last, from 1 */
    struct buffer line; /* one that stands in several blocks */
    uint8_t block[DLQ_IMPORT_LINES_BLOCK];
    size_t length;
    size_t at;
};

/* path NULL or "-": standard input. Zeroed before. ERROR_SYSTEM with the path and the system's words. */
bool dlq_import_lines_open(struct dlq_import_lines *lines, const char *path, struct error *error);

/* The next line that has more than white space, without its end; false at the end of the file, or with an error set (ERROR_SYSTEM, ERROR_FULL: a line beyond
 * all measure). Borrowed until the next call. */
bool dlq_import_lines_next(struct dlq_import_lines *lines, struct span *line, struct error *error);

/* From the first line again. */
bool dlq_import_lines_rewind(struct dlq_import_lines *lines, struct error *error);

void dlq_import_lines_close(struct dlq_import_lines *lines);

#endif
