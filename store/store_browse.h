/*
 * Looking through the checkpoint from any thread, beside the owner and the writer: read-only, of one commit.
 *
 * What is seen is what the last checkpoint wrote, some 100 ms ago (store.checkpoint): rows, and for each partition the frontier of the same commit, which says
 * which of them are done. What is due sooner than that is never here. A long reader keeps freed pages from being used, so a browse reads in slices: between
 * two of them the snapshot is a newer one.
 *
 * One thread at a time for each browse. Nothing of the store's own tables of names is looked at: partitions and lanes are as the snapshot names them. Costs are
 * of pages that are in memory; each that is not is a read of the disk.
 */
#ifndef TARRY_STORE_STORE_BROWSE_H
#define TARRY_STORE_STORE_BROWSE_H

#include "base/error.h"
#include "base/span.h"
#include "scheduler/metadata.h"
#include "scheduler/types.h"

#define STORE_BROWSES_MAX 16 /* at the same time: more are refused, so that the owner always finds a place among LMDB's readers */

struct store;
struct store_browse;

/* Reads beside `store`, which is this process's and open; any thread; end it before store_close. NULL: ERROR_FULL (STORE_BROWSES_MAX are there: try later),
 * ERROR_SYSTEM. */
struct store_browse *store_browse_open(struct store *store, struct error *error);

/* Ends the snapshot. NULL is fine. */
void store_browse_close(struct store_browse *browse);

/* Lets go of the snapshot, before waiting for anything but the disk. Only store_browse_renew and store_browse_close may follow. */
void store_browse_rest(struct store_browse *browse);

/* Takes a newer snapshot, so that no page is held for long. ERROR_SYSTEM: the browse rests. */
bool store_browse_renew(struct store_browse *browse, struct error *error);

/* Which commit the snapshot is of: a greater number is a later one, the same number the very same rows. */
uint64_t store_browse_commit(const struct store_browse *browse);

/* A partition that the checkpoint has. Borrowed for the call. */
struct store_browse_partition {
    const char *topic;
    int32_t partition;
    uint32_t id;          /* the store's own; stays while rows of it are there */
    int64_t position;     /* rows are complete below it */
    const char *metadata; /* the frontier, as text (scheduler/metadata.h); "": none */
};

/* Calls `each` for every partition, by name. `each` may read on in the browse. ERROR_CORRUPT, ERROR_SYSTEM. O(partitions). */
bool store_browse_partitions(struct store_browse *browse,
                             void (*each)(const struct store_browse_partition *partition, void *context),
                             void *context,
                             struct error *error);

/* A lane's name by the store's own id, or NULL: no such lane. Borrowed until the snapshot ends. O(lanes). */
const char *store_browse_lane(struct store_browse *browse, uint16_t lane_id);

struct store_browse_row {
    uint16_t lane_id;
    struct bucket_id bucket; /* slot and lane are unset */
    int64_t offset;
    int64_t due_ms;
    struct record_id id; /* RECORD_ID_NONE: it has none */
    struct span bytes;   /* row.h; borrowed for the call */
};

/* False ends the walk after this row. */
typedef bool store_browse_each_fn(const struct store_browse_row *row, void *context);

/* A bucket's statistics, of one partition: lane by lane, level by level, in order of time. stats->id.lane is unset. Buckets that are empty are left out. */
typedef void store_browse_bucket_fn(uint16_t lane_id, const struct bucket_stats *stats, void *context);

/* Calls `each` for every bucket of a partition. ERROR_CORRUPT, ERROR_SYSTEM. O(buckets), some 100 ns each. */
bool store_browse_buckets(struct store_browse *browse, uint32_t partition_id, store_browse_bucket_fn *each, void *context, struct error *error);

/* Calls `each` for the rows of one bucket in order of offset, from from_offset on, at most `most` of them (1 or more); *next_offset is where to go on, -1: the
 * bucket is at its end. ERROR_CORRUPT: a row that cannot be one, of which nothing was told; those before it were. ERROR_SYSTEM. O(log n + rows), a row's bytes
 * are not touched. */
bool store_browse_rows(struct store_browse *browse,
                       uint32_t partition_id,
                       uint16_t lane_id,
                       uint8_t level,
                       int64_t number,
                       int64_t from_offset,
                       uint32_t most,
                       store_browse_each_fn *each,
                       void *context,
                       int64_t *next_offset,
                       struct error *error);

/* One row, wherever splits have put it: of this lane, offset and due. `each` is not called when it is not there; what it returns does not matter. ERROR_CORRUPT,
 * ERROR_SYSTEM. BUCKET_LEVELS look-ups at most, of 1 to 2 us. */
bool store_browse_find(struct store_browse *browse,
                       uint32_t partition_id,
                       uint16_t lane_id,
                       int64_t due_ms,
                       int64_t offset,
                       store_browse_each_fn *each,
                       void *context,
                       struct error *error);

/* The place of a record id in the checkpoint, or offset -1. event->lane is unset. ERROR_CORRUPT, ERROR_SYSTEM. 1 to 2 us. */
bool store_browse_id(struct store_browse *browse, uint32_t partition_id, struct record_id id, struct stored_event *event, uint16_t *lane_id, struct error *error);

#endif
