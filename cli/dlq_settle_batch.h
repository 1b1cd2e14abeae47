/* Some letters at once on their way out of their streams: what dlq_settle's thread does. May be tried again until all are settled. Its own thread only. */
#ifndef TARRY_CLI_DLQ_SETTLE_BATCH_H
#define TARRY_CLI_DLQ_SETTLE_BATCH_H

#include "cli/dlq_settle.h"

#define DLQ_SETTLE_BATCH_MAX ((size_t)1024)

struct dlq_settle_batch;

/* Never NULL. Context, filter (of the scan; may be NULL as at dlq_settle_new) and bounds outlive it. */
struct dlq_settle_batch *dlq_settle_batch_new(const struct dlq_context *context, const struct dlq_filter *filter, const struct dlq_scan_bounds *bounds);
void dlq_settle_batch_free(struct dlq_settle_batch *batch);

/* Room for DLQ_SETTLE_BATCH_MAX items, to be filled in before dlq_settle_batch_begin. */
struct dlq_settle_item *dlq_settle_batch_items(struct dlq_settle_batch *batch);
void dlq_settle_batch_begin(struct dlq_settle_batch *batch, size_t count);

/* Does what can be done now, and counts it (adds nothing twice). False: the rest again later; the error says why. True with an error: some letters stay
 * where they are, for good. */
bool dlq_settle_batch_turn(struct dlq_settle_batch *batch, struct dlq_settle_counts *counts, struct dlq_apart *apart, struct error *error);

/* True once taking out many at once has shown itself slower than one by one. */
bool dlq_settle_batch_prefers_single(const struct dlq_settle_batch *batch);

#endif
