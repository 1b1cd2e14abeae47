/*
 * The streams: made when absent, compared key by key when there, never changed or emptied.
 *
 * <stream> (subjects dlq.>, nack.>), <parked_stream> (parked.>), <stream>_LARGE (large.>) for records too large for one message, <stream>_JOBS (job.>, the
 * last message of each subject) for replay jobs. All: limits retention, file storage, no age limit, discard new (JOBS: old), and max_bytes for each.
 *
 * A stream made here numbers its messages from its time of making in ms (the server's clock), so that a sequence of a former stream of that name, noted
 * somewhere, names nothing in this one. Its description says whose letters it holds.
 */
#ifndef TARRY_DLQ_STREAMS_H
#define TARRY_DLQ_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "dlq/link.h"

#define STREAMS_NAME_SIZE 300

struct streams_options {
    const char *stream;
    const char *parked_stream;
    const char *prefix; /* of subjects; "" or ends in what the user gave */
    int64_t replicas;
    int64_t max_bytes;
    /* Whose letters they hold: "<cluster id>/<group>" (of Kafka). NULL, for those that only look or do not know it: it is not compared, and what is absent is
     * not made. A '"', a '\\' and control characters count as '_'. */
    const char *owner;
};

/* Names of the two that follow from `stream`. */
void streams_large(const struct streams_options *options, char name[STREAMS_NAME_SIZE]);
void streams_jobs(const struct streams_options *options, char name[STREAMS_NAME_SIZE]);

#define STREAMS_FINDINGS_MAX 32

struct streams_finding {
    bool unusable;  /* letters cannot be entrusted to it as it is (another owner, subjects, retention, storage in memory, discard old, age limit) */
    char text[512]; /* "TARRY_DLQ: max_age is 20s, not 0 (letters would age out): nats stream edit ..." */
};

struct streams_findings {
    struct streams_finding items[STREAMS_FINDINGS_MAX];
    size_t count;
    bool made;    /* one at least was made now */
    bool foreign; /* one at least holds letters of another owner */
};

/* Makes what is absent, compares what is there; any number may do so at the same time. True: all four are there and usable; findings may still list
 * differences. False: ERROR_UNAVAILABLE (no answer, no JetStream, no quorum), ERROR_INVALID (a finding is unusable, or the server refuses the
 * configuration; its words), ERROR_NOT_FOUND (one is absent, and without an owner it is not made). Blocks, bounded by about timeout_ms. Not the owner
 * thread. */
bool streams_ensure(struct link *link, const struct streams_options *options, int64_t timeout_ms, struct streams_findings *findings, struct error *error);

struct streams_state {
    uint64_t messages;
    uint64_t bytes;
    uint64_t first_sequence;
    uint64_t last_sequence;
    int64_t created_ms;      /* of the stream: another value is another stream of that name */
    int64_t oldest_ms;       /* when the oldest message was stored, -1: none */
};

/* ERROR_NOT_FOUND: there is no such stream; ERROR_UNAVAILABLE. Blocks up to timeout_ms. */
bool streams_state(struct link *link, const char *stream, int64_t timeout_ms, struct streams_state *state, struct error *error);

#endif
