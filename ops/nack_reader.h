/*
 * The thread that takes what consumers failed on out of their dead-letter topics (`nack` of the configuration) into letters.
 *
 * It reads a batch (bridge/nack_source.h), makes a letter of each record (dlq/nack_family.h), posts them (dlq/mailer.h), and commits once JetStream has all of
 * them. While JetStream is away or full, or the streams are not ours, it holds its batch, posts again what was not kept, and stays in its group; so a letter is posted
 * once, not once a try. Any number of instances may run one: the group shares the partitions.
 */
#ifndef TARRY_OPS_NACK_READER_H
#define TARRY_OPS_NACK_READER_H

#include "dlq/link.h"
#include "ops/config.h"

struct nack_reader;

/* Starts the thread. The configuration, the owner ("<cluster id>/<group>", letter_options_owner) and the link outlive it. The streams are made when they are
 * absent; while they cannot be used, or hold letters of another owner (dlq/streams.h), letters wait and nothing is committed. With no `nack` in the configuration *reader is NULL, and that is fine. ERROR_INVALID: a property that librdkafka refuses; ERROR_SYSTEM: no thread. Owner thread. */
bool nack_reader_start(const struct config *config, const char *owner, struct link *link, struct nack_reader **reader, struct error *error);

/* Takes over the retry policies of this configuration's targets, and nothing else; it lives until the next reload or the end. Owner thread; does not block
 * for long. */
void nack_reader_reload(struct nack_reader *reader, const struct config *config);

/* Ends it: what was read and not committed is read again, here or elsewhere. Blocks some 10 s at most. NULL is allowed. */
void nack_reader_stop(struct nack_reader *reader);

/* Since the start. Any thread; O(1). NULL gives zeros. */
struct nack_reader_counts {
    uint64_t read;    /* letters of these records are kept: waiting + parked */
    uint64_t parked;  /* of these: no origin, target not allowed, no redelivery left */
    uint64_t failed;  /* posts that JetStream did not take (again later) */
    bool standing;    /* the last post was not taken whole: what was read waits */
};
struct nack_reader_counts nack_reader_counts(struct nack_reader *reader);

/*
 * When a nack's letter is due: by its own delay ("30s", "500": ms) from now, or its own moment (RFC 3339), whichever is given, else `otherwise_ms`. Absent,
 * or not of these forms: not given; both given: the delay counts. At most the year 9999. Pure; for nacks of NATS too (dlq/nack_stream.h).
 */
int64_t nack_reader_not_before(struct span delay, struct span at, int64_t now_ms, int64_t otherwise_ms);

#endif
