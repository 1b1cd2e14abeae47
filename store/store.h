/*
 * The checkpoint: pending rows, their bucket statistics, and for each partition the position and frontier they go with.
 *
 * Behind this interface stands LMDB in production and plain arrays (tests/support/store_fake.c) in simulations; both
 * pass tests/unit/test_store_conformance.c. A checkpoint of any age is a valid one (R3): what is done, C and F in Kafka
 * say.
 *
 * Layout (docs/internals/store.md): database `rows`: key (partition id, lane id, level, bucket, offset) big-endian,
 * value (due_ms, record id if any, row bytes); `buckets`: statistics; `ids`: where the row of a record id is; `marks`:
 * marks and skips; `partitions`: position, frontier as metadata text, names; `lanes`: names; `meta`: format version.
 * Ids of partitions and lanes are the store's own; callers speak in slots and lane indexes, bound once by name.
 *
 * Threads: the owner thread calls everything except store_write, which the writer thread calls; one call of it at a
 * time. Nothing here logs a payload.
 */
#ifndef TARRY_STORE_STORE_H
#define TARRY_STORE_STORE_H

#include "base/error.h"
#include "base/span.h"
#include "scheduler/core.h"
#include "scheduler/metadata.h"

struct store;

struct store_options {
    const char *path;        /* a directory; made (0700) if absent */
    uint64_t max_size_bytes; /* set as LMDB's map size at once: address space, not disk. At least 1 MiB, a page multiple
                                is made of it */
};

#define STORE_FORMAT 2 /* 1 is made a 2 when it is opened; an earlier version refuses it from then on */
#define STORE_ROW_MAX (64u * 1024 * 1024)

/* One store_write does no more than this, whatever the plan asks for, so that none takes long. */
#define STORE_DROP_ROWS_MAX 200000u
#define STORE_DROP_BYTES_MAX ((uint64_t)256 * 1024 * 1024)
#define STORE_SPLIT_BYTES_MAX ((uint64_t)64 * 1024 * 1024) /* less in a small store; one row is always moved */

/* A row's due must be at or above the negative of this, and below it (in ms: 146 million years). */
#define STORE_DUE_BOUND ((int64_t)1 << 62)

/* Opens or creates; brings a store of an earlier format to STORE_FORMAT, in one transaction. ERROR_BUSY: another
 * process has it (the text names path and pid). ERROR_TOO_NEW: written by a later version. ERROR_CORRUPT: damaged,
 * truncated, or not a store at all; never repaired silently, never taken for empty. ERROR_FULL, ERROR_SYSTEM,
 * ERROR_INVALID (size). *store is untouched on failure. The lock is a flock on `path/lock`, held until close. */
bool store_open(const struct store_options *options, struct store **store, struct error *error);

/* Closes. No call may be under way. NULL is allowed. */
void store_close(struct store *store);

/* Binds a lane index to a name for this run; rows of that name from earlier runs are then known by this index. Binding
 * the same pair again does nothing. ERROR_INVALID: the index has another name, or the name another index, or either is
 * out of range. */
bool store_bind_lane(struct store *store, lane_index lane, const char *name, struct error *error);

/* Names of lanes that hold rows here and are not bound yet (retired ones): the caller adds lanes for them and binds
 * those. Calls `each` for every one. */
bool store_unbound_lanes(struct store *store,
                         void (*each)(const char *name, void *context),
                         void *context,
                         struct error *error);

/* What the checkpoint knows of a partition. */
struct store_partition {
    bool found;
    int64_t position;                /* rows are complete below it */
    char metadata[METADATA_MAX + 1]; /* the frontier it was written by, as given to store_write; "" if none */
    struct bucket_stats *buckets;    /* owned by the caller: free() */
    size_t bucket_count;
    struct mark *marks; /* by offset; owned by the caller: free() */
    size_t mark_count;
    struct skip *skips; /* by offset; owned by the caller: free() */
    size_t skip_count;
    bool ids_missing; /* an earlier format wrote it, which did not keep record ids: store_find_id may miss pending
                         events. Goes with store_forget_slot: then they are read again from the topic (R3) */
};

/* Binds a slot to (topic, partition) until the next binding of the same slot, and reads what is there. Not while a
 * store_write that names the slot is under way. Writes nothing, and never waits for the writer. ERROR_INVALID: not a
 * topic's name, or rows of a lane that is not bound (bind those of store_unbound_lanes first). Cost: linear in the
 * partition's buckets, marks and skips. */
bool store_bind_slot(struct store *store,
                     slot_index slot,
                     const char *topic,
                     int32_t partition,
                     struct store_partition *result,
                     struct error *error);

/* Removes all that is kept of the slot's partition (another topic of the same name), which stays bound and is as if
 * never seen. Writer's rules apply: no store_write under way. Quick: its rows only become garbage here; later
 * store_writes remove them in slices. */
bool store_forget_slot(struct store *store, slot_index slot, struct error *error);

/* Partitions with rows, bound or not: for tools; nothing in the daemon uses it yet. */
bool store_partitions(struct store *store,
                      void (*each)(const char *topic, int32_t partition, uint64_t rows, uint64_t bytes, void *context),
                      void *context,
                      struct error *error);

/* Reads rows of one bucket in offset order, from_offset <= offset < below_offset, at most rows_max, payloads untouched.
 * rows must have room for rows_max. *end: no further one below below_offset. Sees every store_write that has returned.
 */
bool store_scan(struct store *store,
                slot_index slot,
                const struct command_scan *scan,
                struct scanned_row *rows,
                size_t *count,
                bool *end,
                struct error *error);

/* Finds the row of a record id: the one of the greatest offset that was put with it, if that is still there (R5).
 * event->offset is -1 when there is none. It may be done already: F says. Sees every store_write that has returned.
 * ERROR_INVALID: the slot is not bound. Cost: a look-up in a tree, 1 to 2 us. */
bool store_find_id(struct store *store,
                   slot_index slot,
                   struct record_id id,
                   struct stored_event *event,
                   struct error *error);

/* Begins reading payloads: a snapshot that includes every store_write that returned. Keep it for one turn only (a long
 * reader keeps freed pages from being reused). */
bool store_read_begin(struct store *store, struct error *error);

/* The row's bytes: borrowed from the map, valid until store_read_end. ERROR_NOT_FOUND: no such row. */
bool store_read(struct store *store,
                slot_index slot,
                struct bucket_id bucket,
                int64_t offset,
                struct span *row,
                struct error *error);
void store_read_end(struct store *store);

/* How the shell hands rows and frontiers to the writer without the store knowing either. */
struct store_source {
    /* The bytes of a row by its ref: called in the writer thread, more than once for a ref; valid until the plan was
     * answered. */
    struct span (*row)(row_ref ref, void *context);
    /* The metadata text of a slot of the plan. Not longer than METADATA_MAX. */
    const char *(*metadata)(const struct checkpoint_slot *slot, void *context);
    void *context;
};

/* What store_write did. Owned by the caller: store_result_free. */
struct store_result {
    struct checkpoint_touched *touched;
    size_t touched_count;
    uint64_t rows_put;
    uint64_t rows_split;
    uint64_t rows_dropped;
    uint64_t rows_trimmed;
    uint64_t rows_erased;
    uint64_t used_bytes; /* pages in use, not file size */
};
void store_result_free(struct store_result *result);

/* Writes a plan in one transaction and syncs it: drops, trims, erases, splits, puts (in this order, slot by slot),
 * marks and skips, statistics, positions, frontiers; all or nothing. `touched` names once every bucket that was put
 * into, split from or into, dropped, trimmed, or erased from. A drop, trim or split that reached the bounds above is
 * done in part: the bucket's remaining statistics stand in `touched` (count > 0), and the caller plans it again. After
 * a trim or an erase a bucket's least_offset is that of its least row. An erase whose row is nowhere touches nothing;
 * all erases of a plan are done.
 *
 * A row whose bucket and offset are there already replaces that one. A row whose bytes are absent, longer than
 * STORE_ROW_MAX, whose due is out of bounds, or whose lane or slot is not bound: ERROR_INVALID, nothing was written.
 * ERROR_FULL: no room on disk or in the map; nothing was written, the store stays usable, and plans without rows go on:
 * a reserve of map and disk is kept for them. Other errors: the store must not be used on; the process ends (R3 makes
 * that safe). Cost: 1 to 3 us a row, twice that for one with an id, whose place in the index costs up to a page of disk
 * (docs/internals/store.md); marks and skips are all compared, and written where they changed; two syncs. */
bool store_write(struct store *store,
                 const struct checkpoint_plan *plan,
                 const struct store_source *source,
                 struct store_result *result,
                 struct error *error);

/* False when the directory at `path` is no longer the one that was opened (removed or replaced while in use): what is written now is lost
 * with the process. Two system calls. */
bool store_in_place(const struct store *store);

/* Pages in use and the map's size, for metrics. */
void store_usage(struct store *store, uint64_t *used_bytes, uint64_t *max_bytes);

#endif
