/*
 * Taking letters out of their stream once it is safe to: a thread of its own, so that sending goes on meanwhile.
 *
 * Removes what Kafka acknowledged; posts what takes a letter's place (parked, or failed again) and removes the old one when JetStream has the new one. What
 * NATS does not answer for is tried again, with growing pauses, until dlq_settle_free. All calls but the thread's own: one thread.
 */
#ifndef TARRY_CLI_DLQ_SETTLE_H
#define TARRY_CLI_DLQ_SETTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/dlq_apart.h"
#include "cli/dlq_context.h"
#include "cli/dlq_filter.h"
#include "cli/dlq_scan.h"

enum dlq_settle_way {
    DLQ_SETTLE_REMOVE,  /* done with: take it out */
    DLQ_SETTLE_REMOVE_BEFORE, /* `letters` of them, all that the scan's subject has below `sequence`: take them out at once */
    DLQ_SETTLE_PARK,    /* the same letter, parked, takes its place */
    DLQ_SETTLE_REPLACE, /* it was replayed and failed: a parked one with one replay more, attempt 1 and this error takes its place, at the stream's end */
};

struct dlq_settle_item {
    enum dlq_settle_way way;
    enum letter_state state;
    uint64_t sequence;
    uint32_t letters; /* DLQ_SETTLE_REMOVE_BEFORE; else 0 counts as 1 */
    char id[LETTER_ID_SIZE];
    bool apart; /* its record stands apart */
    char error[256]; /* DLQ_SETTLE_REPLACE */
};

struct dlq_settle_counts {
    uint64_t removed;  /* by way, and out of their stream */
    uint64_t parked;
    uint64_t replaced;
    uint64_t gone;     /* were to be parked or replaced, and were there no more */
    uint64_t refused;  /* JetStream or this program cannot take what should take their place: they stay. dlq_settle_trouble says why */
};

struct dlq_settle;

/* `most`: items put and not settled yet. `filter`: of the scan, for DLQ_SETTLE_REMOVE_BEFORE; NULL: that is not put. `bounds`: of the streams that the
 * sequences speak of. Context, filter and bounds outlive it, and the link is up. Never NULL. */
struct dlq_settle *dlq_settle_new(const struct dlq_context *context, const struct dlq_filter *filter, const struct dlq_scan_bounds *bounds, size_t most);

/* Copies the item. False: there is no room: dlq_settle_wait. */
bool dlq_settle_put(struct dlq_settle *settle, const struct dlq_settle_item *item);

/* Waits until at most `left` letters are unsettled, at most timeout_ms; returns how many are. */
size_t dlq_settle_wait(struct dlq_settle *settle, size_t left, int64_t timeout_ms);

struct dlq_settle_counts dlq_settle_counts(struct dlq_settle *settle);

/* True: DLQ_SETTLE_REMOVE for each is faster with this server than DLQ_SETTLE_REMOVE_BEFORE. */
bool dlq_settle_prefers_single(struct dlq_settle *settle);

/* True: it is trying again, or had to leave a letter where it is; `text` says why. A text of a letter left behind is told once. */
bool dlq_settle_trouble(struct dlq_settle *settle, char *text, size_t size);

/* Ends the thread, within a request's timeout; what is not settled stays where it is. Adds the ids of removed letters whose record stands apart to `apart`
 * (may be NULL). NULL is allowed. */
void dlq_settle_free(struct dlq_settle *settle, struct dlq_apart *apart);

#endif
