/* Letters on their way into the streams, a batch at a time. Internal to `tarry dlq import`. */
#ifndef TARRY_CLI_DLQ_IMPORT_POST_H
#define TARRY_CLI_DLQ_IMPORT_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/dlq_context.h"
#include "dlq/letter.h"
#include "dlq/mailer.h"

#define DLQ_IMPORT_POST_BATCH 64
#define DLQ_IMPORT_POST_BYTES ((size_t)8 * 1024 * 1024)
#define DLQ_IMPORT_POST_ROOM ((size_t)2 * 1024 * 1024 * 1024 + 64) /* of one letter: no more than its line */

struct dlq_import_post_place {
    struct letter letter; /* borrows from room */
    enum letter_state state;
    struct buffer room;
    uint64_t line;
};

struct dlq_import_post {
    const struct dlq_context *context;
    struct mailer *mailer;
    struct dlq_import_post_place places[DLQ_IMPORT_POST_BATCH];
    struct mailer_item items[DLQ_IMPORT_POST_BATCH];
    size_t count;
    size_t bytes;
    /* Of the last batch: */
    uint64_t kept;
    uint64_t duplicates; /* JetStream had them already */
    uint64_t refused;    /* told */
};

/* Makes the streams if they are absent. ERROR_UNAVAILABLE; ERROR_INVALID: a stream is unusable (its words). */
bool dlq_import_post_new(const struct dlq_context *context, struct dlq_import_post **post, struct error *error);
void dlq_import_post_free(struct dlq_import_post *post);

/* Room for the next letter; there is some unless the batch is full. */
struct dlq_import_post_place *dlq_import_post_place(struct dlq_import_post *post);

/* The place was filled. */
void dlq_import_post_taken(struct dlq_import_post *post, struct dlq_import_post_place *place, uint64_t line);

/* The batch must be sent now. */
bool dlq_import_post_full(const struct dlq_import_post *post);

/* Sends it and waits for all answers; the batch is empty then. False: some were not taken, and others would not be either: ERROR_FULL, ERROR_UNAVAILABLE. */
bool dlq_import_post_send(struct dlq_import_post *post, struct error *error);

#endif
