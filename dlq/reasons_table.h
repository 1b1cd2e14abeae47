/* Counting letters in groups: a hash table with a bound. Pure; one thread at a time. */
#ifndef TARRY_DLQ_REASONS_TABLE_H
#define TARRY_DLQ_REASONS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "dlq/letter.h"

#define REASONS_TABLE_MAX 10000 /* groups; what comes in others is counted in one of its own */
#define REASONS_TABLE_OTHERS "(others)"

struct reasons_table_group {
    struct span name; /* owned by the table, as `example` */
    uint64_t count;
    uint64_t of[2];    /* by enum letter_state */
    int64_t first_ms;  /* least first failure, -1: unknown */
    int64_t last_ms;   /* greatest last failure */
    char example[LETTER_ID_SIZE]; /* the letter that failed last */
};

struct reasons_table {
    struct reasons_table_group *groups;
    size_t count;
    size_t capacity;
    uint32_t *slots; /* index + 1 into groups; 0: free */
    size_t slot_count;
    uint64_t letters;
};

/* Zeroed = empty. */
void reasons_table_free(struct reasons_table *table);

/* Counts a letter in the group of that name (copied). */
void reasons_table_add(struct reasons_table *table, struct span name, const struct letter *letter, enum letter_state state);

/* Sorts the groups: by name, or the greatest count first. Nothing may be added after. */
void reasons_table_sort(struct reasons_table *table, bool by_name);

#endif
