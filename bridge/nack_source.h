/*
 * Topics in which consumers leave what they failed on (`nack` of the configuration): read in batches, committed when the caller says so.
 *
 * A group of its own, by pattern, so that a topic made later is found (within 10 s). It begins at the oldest record of a topic that it never read; what is not
 * committed is read again. One thread; nack_source_read blocks.
 */
#ifndef TARRY_BRIDGE_NACK_SOURCE_H
#define TARRY_BRIDGE_NACK_SOURCE_H

#include "bridge/record.h"
#include "bridge/source.h"

struct nack_source;

struct nack_source_options {
    const struct kafka_property *properties; /* common first, consumer's own after */
    size_t property_count;
    const char *group;          /* of the nacks: not the one of the delay topics */
    const char *instance;       /* part of client.id */
    const char *const *matches; /* topic patterns with `*`; they outlive the source */
    size_t match_count;
};

/* ERROR_INVALID: a property that librdkafka refuses (named). Does not wait for a broker. */
bool nack_source_open(const struct nack_source_options *options, struct nack_source **source, struct error *error);

/* Leaves the group, so that another member has the partitions at once; bounded by some 8 s. NULL is allowed. */
void nack_source_close(struct nack_source *source);

struct nack_source_record {
    const char *topic;
    int32_t partition;
    size_t match; /* index of the first pattern that it matches */
    struct record record;
};

/* Reads up to `most` records, waiting up to timeout_ms for the first. They stay valid until the next call of nack_source_read or nack_source_wait that
 * returns false. Errors of the connection are logged and waited out. All that was read before is committed or given up. */
size_t nack_source_read(struct nack_source *source, int64_t timeout_ms, struct nack_source_record *records, size_t most);

/*
 * Waits timeout_ms while the records of the last read are not done with, and keeps membership meanwhile: without this the group would throw us out.
 * False: our partitions have changed hands; the records are gone, and what was not committed is read again, here or elsewhere. Call nack_source_read.
 */
bool nack_source_wait(struct nack_source *source, int64_t timeout_ms);

/* All that was read so far is done with: commits it. False: it could not be (rebalance, broker away, no answer within 10 s); what is uncommitted may be
 * read again. A later commit makes up for it. */
bool nack_source_commit(struct nack_source *source, struct error *error);

#endif
