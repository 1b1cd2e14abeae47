/*
 * Records too large for one message, whose letters were taken out: what stands apart of them goes when no letter of that id is left.
 *
 * A letter of the same id may stand elsewhere (a redelivery that failed meanwhile has published the next one), so all streams are looked through before.
 */
#ifndef TARRY_CLI_DLQ_APART_H
#define TARRY_CLI_DLQ_APART_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/dlq_context.h"

#define DLQ_APART_MAX 65536 /* ids remembered; each stands for a megabyte or more */

/* Zeroed: empty. One thread at a time. */
struct dlq_apart {
    char (*ids)[LETTER_ID_SIZE];
    size_t count;
};

/* Remembers an id; beyond DLQ_APART_MAX it is forgotten, and its parts stay until the stream is purged. */
void dlq_apart_add(struct dlq_apart *apart, const char *id);

/* Removes the parts of those ids of which there is no letter any more, and empties the set. Reads all letters (not their records) if there is any id.
 * ERROR_UNAVAILABLE: some parts are left; no letter is harmed. */
bool dlq_apart_sweep(struct dlq_apart *apart, const struct dlq_context *context, struct error *error);

void dlq_apart_free(struct dlq_apart *apart);

#endif
