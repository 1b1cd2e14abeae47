/*
 * Which rows of a checkpoint are done already, by the frontier that stands in it (docs/frontier.md): a list leaves them out before anybody is asked.
 *
 * What is not done by this may still be done, cancelled, replaced or moved by now: the owner knows (core_look_row). What is done by it is done for good, as a
 * frontier never goes back. Pure, any thread, O(pairs).
 */
#ifndef TARRY_OPS_API_LIST_DONE_H
#define TARRY_OPS_API_LIST_DONE_H

#include "scheduler/metadata.h"

/* What the frontier of one partition says of one lane. */
struct api_list_done {
    int64_t low_offset;  /* C: all below is done */
    int64_t boundary_ms; /* with has_behind: of what is due up to here `behind` says it, of all else `own` */
    bool has_behind;
    struct frontier own;
    struct frontier behind;
};

/* `metadata` NULL: there is none, and nothing is done. A lane without an entry stands at the shared pair. O(lanes). */
struct api_list_done api_list_done_of(const struct metadata *metadata, const char *lane);

/* True: the row at this offset that is due then is done. */
bool api_list_done_row(const struct api_list_done *done, int64_t offset, int64_t due_ms);

/* True: every row of the bucket is. */
bool api_list_done_bucket(const struct api_list_done *done, const struct bucket_stats *stats);

#endif
