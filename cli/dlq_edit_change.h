/*
 * What `tarry dlq edit` changes of a letter.
 *
 *   --target T   --key K | --key-null   --value-file F|- | --value-null   --set-header K=V   --remove-header K
 */
#ifndef TARRY_CLI_DLQ_EDIT_CHANGE_H
#define TARRY_CLI_DLQ_EDIT_CHANGE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "cli/options.h"
#include "dlq/letter.h"

#define DLQ_EDIT_CHANGE_HEADERS_MAX 100

struct dlq_edit_header {
    struct span name;
    struct span value; /* absent: all of that name go, and none comes */
};

struct dlq_edit_change {
    const char *verb;
    const char *target; /* NULL, as the others: unchanged */
    const char *key;
    const char *value_file; /* "-": standard input */
    bool key_null;
    bool value_null;
    struct dlq_edit_header headers[DLQ_EDIT_CHANGE_HEADERS_MAX];
    size_t header_count;
    struct buffer value;   /* of the file; what a changed letter borrows from, as the next */
    struct buffer encoded; /* headers */
};

struct dlq_edit_change dlq_edit_change_new(const char *verb);
void dlq_edit_change_free(struct dlq_edit_change *change);

/* Takes a flag with its value; as options_take. argv outlives the change. */
enum options_result dlq_edit_change_take(struct dlq_edit_change *change, int argc, char **argv, int *index);

/* Changes the letter, which then borrows from the change too. Reads the file. ERROR_SYSTEM: it cannot be read; ERROR_INVALID: too large, or headers that
 * would be. */
bool dlq_edit_change_apply(struct dlq_edit_change *change, struct letter *letter, struct error *error);

#endif
