/* What the files of this room share: the opened store, its tables of names, and LMDB's types. Never included from
 * outside. */
#ifndef TARRY_STORE_INTERNAL_H
#define TARRY_STORE_INTERNAL_H

#include <lmdb.h>
#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"
#include "store/store_layout.h"

/* A (topic, partition) bound in this run. Lives until store_close. */
struct store_name {
    struct store_name *next;
    uint32_t id;
    int32_t partition;
    char topic[STORE_LAYOUT_TOPIC_MAX + 1];
};

/* Slots and lanes as ids. Only the owner thread changes them, with the lock; it reads without, the writer thread with
 * it. */
struct store_names {
    pthread_mutex_t lock;
    struct store_name *all;
    struct store_name **slots;
    size_t slot_count;
    uint16_t lanes[LANES_MAX]; /* 0: not bound */
    char lane_names[LANES_MAX][METADATA_LANE_NAME_MAX + 1];
    uint32_t next_partition;
    uint32_t next_lane;
};

struct store {
    char *path;
    int lock_fd;
    uint64_t max_bytes;
    uint64_t reserve_bytes; /* of the map, that puts leave free (docs/internals/store.md) */
    MDB_env *env;
    MDB_dbi rows, buckets, ids, marks, partitions, lanes, meta;
    uint32_t indexed_from; /* partition ids below it are of a format that did not keep record ids */
    MDB_txn *read; /* begun by store_read_begin; else reset */
    MDB_cursor *read_cursor;
    bool reading;
    uint64_t secured_bytes;       /* writer thread only: blocks are allocated up to here */
    bool lane_written[LANES_MAX]; /* writer thread only: the name is on disk */
    atomic_uint browses;          /* any thread: how many are open (store_browse.h) */
    struct store_names names;
};

/* A lane's name as a snapshot has it. */
struct store_browse_name {
    uint16_t id;
    char name[METADATA_LANE_NAME_MAX + 1];
};

/* One reader beside owner and writer: its own transaction, and nothing of the tables of names. */
struct store_browse {
    struct store *store;
    MDB_txn *txn; /* reset while it rests */
    MDB_cursor *rows;
    MDB_cursor *buckets;
    MDB_cursor *ids;
    bool resting;
    bool lanes_read; /* those of this snapshot */
    struct store_browse_name *lanes;
    size_t lane_count;
    size_t lane_room;
};

/* ------------------------------------------------------------------------------------------------ store_error.c */

/* Fills `error` for an LMDB or errno code, with the store's path and a remedy, and returns false. */
bool store_error(const char *path, int code, const char *doing, struct error *error);

/* True for codes that say "no room": the map, the disk, a quota, a file size limit. */
bool store_error_is_full(int code);

/* ------------------------------------------------------------------------------------------------- store_lock.c */

/* Takes `path/lock` and writes our pid into it. ERROR_BUSY names the holder. */
bool store_lock_take(const char *path, int *fd, struct error *error);

/* ------------------------------------------------------------------------------------------------ store_check.c */

/* Reads data.mdb with plain reads, before LMDB maps it, as LMDB itself trusts what it finds (a truncated file is a
 * SIGBUS, a damaged page an abort). All inner pages are checked, and leaves until a budget is spent. ERROR_CORRUPT,
 * ERROR_TOO_NEW, ERROR_SYSTEM. */
bool store_check_file(const char *file, struct error *error);

/* ------------------------------------------------------------------------------------------------- store_open.c */

/* Opens the databases of an environment. `create` is MDB_CREATE or 0. */
int store_open_databases(struct store *store, MDB_txn *txn, unsigned create);

/* The greatest id among a database's values, if that is greater than what is there: u32 when `wide`, else u16. */
int store_open_greatest(MDB_txn *txn, MDB_dbi dbi, bool wide, uint32_t *greatest);

/* --------------------------------------------------------------------------------------------- store_upgrade.c */

/* Brings a store of the format before to this one, in one transaction, and opens its databases. */
int store_upgrade(struct store *store);

/* The number under `indexed` in `meta`, 0 if there is none. */
int store_upgrade_indexed_from(const struct store *store, MDB_txn *txn, uint32_t *indexed_from);

/* ----------------------------------------------------------------------------------------------- store_marks.c */

/* Marks and skips of a partition. On failure the caller frees what is there. */
int store_marks_read(const struct store *store, MDB_txn *txn, uint32_t partition, struct store_partition *result);
int store_marks_forget(const struct store *store, MDB_txn *txn, uint32_t partition);

/* ----------------------------------------------------------------------------------------------- store_create.c */

/* Makes a new data.mdb: complete under another name first, so that an empty or half one is always damage. */
bool store_create(const char *path, const char *file, struct error *error);

/* ------------------------------------------------------------------------------------------------ store_names.c */

/* Writer thread: the partition bound to a slot, or NULL. */
const struct store_name *store_names_of_slot(struct store *store, slot_index slot);

/* Writer thread: copies the name and returns the id of a lane, or 0. `name` may be NULL. */
uint16_t store_names_lane(struct store *store, lane_index lane, char *name);

/* Owner thread: id of a bucket as the store knows it; false if the slot or lane is not bound. */
bool store_names_bucket(const struct store *store, slot_index slot, struct bucket_id id, struct store_bucket *bucket);

/* Owner thread: the lane index bound to an id, or LANES_MAX. */
lane_index store_names_lane_index(const struct store *store, uint16_t id);

/* Owner thread: finds or adds a name; `known_id` 0 gives it a new id. */
struct store_name *store_names_add(struct store *store, const char *topic, int32_t partition, uint32_t known_id);
void store_names_bind(struct store *store, slot_index slot, struct store_name *name);
void store_names_new_id(struct store *store, struct store_name *name);
void store_names_free(struct store *store);

/* ------------------------------------------------------------------------------------------------- store_room.c */

/* Makes sure, before rows are written, that the file can grow by `growth_bytes` and by the disk's reserve after that:
 * blocks are allocated beyond the file's end, so that drops still find room on a full disk. Pages free within the file
 * count. 0 or a code of "no room". Writer thread. */
int store_room_secure(struct store *store, uint64_t used_bytes, uint64_t growth_bytes);

/* Bytes that map and disk could still take, pages free within the file included. A guess: others write to the disk. */
uint64_t store_room_left(const struct store *store, uint64_t used_bytes);

/* Makes an empty transaction, after which the pages that the last one freed can be used. False: no room even for that.
 */
bool store_room_make(struct store *store);

/* True when the disk, a quota or a file size limit would not take another STORE_ROOM_BYTES. */
bool store_room_lacks(const struct store *store);

#define STORE_ROOM_BYTES ((uint64_t)128 * 1024 * 1024) /* the longest row, twice */

/* ------------------------------------------------------------------------------------------------ store_usage.c */

/* Pages in use in all databases as the transaction sees them, in bytes. O(1). */
int store_usage_of(const struct store *store, MDB_txn *txn, uint64_t *bytes);

#endif
