/*
 * Transactions of the sink: outputs, copies into the delay topic, and the group's offsets with their metadata, all or nothing (R9).
 *
 * Three producers with transactional ids of this group and instance. Two take turns, so that none waits for the markers of its own last
 * transaction; the third sends one record a batch, and takes over after a broker refused a whole batch for one record of it, until that
 * one is found; and after the coordinator refused a topic, which is found the same way, topic by topic. A transaction begins with the first sink_send (exactly_once) or sink_copy after the end of the one before, and ends by
 * sink_transaction_end. The waiting is done by a thread of the sink's own; the owner thread never blocks here.
 */
#ifndef TARRY_BRIDGE_SINK_TRANSACTION_H
#define TARRY_BRIDGE_SINK_TRANSACTION_H

#include "bridge/sink.h"

/* Makes the three producers and has their ids initialised, in the background. With exactly_once sink_open has done it; else call it before the first
 * copy: most instances never need one. Nothing when it was done. ERROR_INVALID, ERROR_SYSTEM: as sink_open; it may be tried again. */
bool sink_transaction_start(struct sink *sink, struct error *error);

/* True once all ids of this instance are initialised: what a former process of this name left open is aborted, and it is fenced. Only then may
 * the committed frontier be read. False before, and always without transactions (options.transactional_id NULL). Never blocks. */
bool sink_transaction_ready(const struct sink *sink);

/* Why it is not ready (yet), for a person: "" when nothing is wrong. Without exactly_once ids that may not be used at all (rights) end nothing but
 * copies: then this says so for ever. Borrowed until the next call. */
const char *sink_transaction_trouble(struct sink *sink);

/* True: this instance may not use its ids at all (rights), and delivers at least once: nothing is ever copied in this life. Never blocks. */
bool sink_transaction_refused(const struct sink *sink);

/* One partition's offset and metadata, as source_commit would commit them. Copied by the call. */
struct sink_offset {
    const char *topic;
    int32_t partition;
    int64_t offset;
    const char *metadata;
};

/* Ends the current transaction, or an empty one: commits it with these offsets, or aborts it when `abort` is set or something of it failed or was not
 * taken. `members` is source_members of when the batch was built (copied); count 0: it may be absent. One at a time. The result comes by
 * sink_transaction_poll; an unknown result is asked for again, on the same producer, until it is known. Meanwhile nothing may be sent in a transaction. */
void sink_transaction_end(struct sink *sink, bool abort, const struct sink_offset *offsets, size_t count, struct span members);

/* Where the copies of a transaction end in one partition. */
struct sink_copied {
    const char *topic;
    int32_t partition;
    int64_t end; /* the greatest offset that one of them got, and 1; -1: one of them was acknowledged without its offset (a broker that had it already):
                    below the partition's end it is */
};

struct sink_transaction_result {
    bool committed;
    const struct sink_copied *copied; /* committed: each partition that copies went into, in the order of their first ones; else none. Borrowed until the */
    size_t copied_count;              /* next result; never more than there are partitions that sink_copy was given rows of */
    int64_t took_ms;                  /* from sink_transaction_end */
    bool full;                        /* aborted, and the local queue had no room for all of it: with fewer records it may fit */
    char error[SINK_ERROR_MAX];       /* why it was aborted, "" when committed or when told to abort */
};

/* True: the transaction has ended, *result says how. Not before every report on its records was handed over by sink_poll. Never blocks. Fencing and
 * other ends of the producer come by sink_fatal, and no result then. */
bool sink_transaction_poll(struct sink *sink, struct sink_transaction_result *result);

/* Writes the row again to the end of the partition it came from, in the current transaction: the record whole, with its tarry-root and what `again` says
 * (R4, R6; NULL: nothing but that), as outgoing_copied does. What is not written has the transaction aborted.
 *
 * token, unless NULL: if this record can never be written, through a fault of its own (too large, invalid, no rights; refused at once, or by the
 * broker), sink_poll gives one report: `copy`, DELIVERY_FAULT, its reason and words; before the result of its transaction. In all other cases there is none, and the
 * token is forgotten with the result: it was written; it was thrown out with its transaction (then it goes again with the next, and the record that is at fault is found
 * alone, as deliveries are); its partition is not known to the producer (yet). So a token comes back at most once, and never after the result. More than
 * SINK_COPY_REFUSED_MAX refused at once in one transaction: the others are told of when they are tried again.
 *
 * SINK_FULL: the local queue has no room, and the transaction's result says so, too. SINK_FAILED: not written, for any other reason. O(headers + partitions with
 * copies in this transaction). */
enum sink_result sink_copy(struct sink *sink, const struct row *row, const struct sink_origin *origin, const struct outgoing_again *again, void *token);

#define SINK_COPY_REFUSED_MAX 1024

#endif
