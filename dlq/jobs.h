/*
 * Replay jobs: what each is to do and how far it has come, one message a job in <stream>_JOBS (streams.h), of which the newest counts.
 *
 * What stands in it (JSON) is the caller's affair. Two may write one job at a time (it runs here, somebody cancels it there): each write names the revision
 * it was made from, and of two from the same one the second is refused. All calls block, bounded by about 10 s; any thread.
 */
#ifndef TARRY_DLQ_JOBS_H
#define TARRY_DLQ_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/span.h"
#include "dlq/link.h"
#include "dlq/streams.h"

#define JOBS_ID_MAX 64 /* characters of an id: letters, digits, '-' and '_' */

/* Writes the job. *revision: what the caller has read (0: there must be none of that id yet); set to the new one. ERROR_INVALID: the id is no id, or
 * JetStream refuses the message (its words); ERROR_BUSY: somebody else wrote it since: get it anew; ERROR_NOT_FOUND: no such stream (streams_ensure makes
 * it); ERROR_FULL; ERROR_UNAVAILABLE: it may be written all the same: get it. */
bool jobs_put(struct link *link, const struct streams_options *options, const char *id, struct span bytes, uint64_t *revision, struct error *error);

/* Reads it into `bytes` (cleared first) and its revision. ERROR_INVALID: no id; ERROR_NOT_FOUND: no such job, or no such stream; ERROR_UNAVAILABLE. */
bool jobs_get(struct link *link, const struct streams_options *options, const char *id, struct buffer *bytes, uint64_t *revision, struct error *error);

struct jobs_job {
    const char *id;     /* borrowed for the call, as bytes */
    struct span bytes;
    uint64_t revision;
    int64_t written_ms; /* wall clock of the server */
};

/* Calls `each` for every job, the one written longest ago first, until it returns false. ERROR_NOT_FOUND: no such stream; ERROR_UNAVAILABLE. */
bool jobs_list(struct link *link,
               const struct streams_options *options,
               bool (*each)(const struct jobs_job *job, void *context),
               void *context,
               struct error *error);

#endif
