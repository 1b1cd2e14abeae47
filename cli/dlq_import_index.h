/* The ids in a file that is imported: which stand there already, and which lines say the same twice. Pure. */
#ifndef TARRY_CLI_DLQ_IMPORT_INDEX_H
#define TARRY_CLI_DLQ_IMPORT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlq/letter.h"

#define DLQ_IMPORT_INDEX_MAX 50000000 /* letters in one file */

enum dlq_import_index_fate {
    DLQ_IMPORT_INDEX_NEW,
    DLQ_IMPORT_INDEX_STANDS, /* a letter of this id is in the streams */
    DLQ_IMPORT_INDEX_AGAIN,  /* an earlier line is the same letter: id, state, attempt and replays */
};

struct dlq_import_index_entry;

/* Zeroed = empty. */
struct dlq_import_index {
    struct dlq_import_index_entry *entries;
    size_t count;
    size_t capacity;
};

void dlq_import_index_free(struct dlq_import_index *index);

/* Takes in the letter of a line. False: there are too many. */
bool dlq_import_index_add(struct dlq_import_index *index, const struct letter *letter, enum letter_state state, uint64_t line);

/* After all were added, once. */
void dlq_import_index_sort(struct dlq_import_index *index);

/* A letter of this id is in the streams. O(log lines). */
void dlq_import_index_stands(struct dlq_import_index *index, const char *id);

/* What becomes of the line. O(log lines). */
enum dlq_import_index_fate dlq_import_index_fate(const struct dlq_import_index *index, const struct letter *letter, enum letter_state state, uint64_t line);

#endif
