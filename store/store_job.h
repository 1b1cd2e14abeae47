/*
 * One store_write under way: its transaction, budgets, and the statistics it touches. Writer thread only.
 *
 * Functions here return LMDB's and errno's codes (0 = done); store_write.c alone turns them into errors. After any
 * other code the transaction is aborted as a whole.
 */
#ifndef TARRY_STORE_JOB_H
#define TARRY_STORE_JOB_H

#include "store/store_internal.h"

/* Statistics of a bucket within the transaction. */
struct store_touched {
    uint8_t key[STORE_LAYOUT_BUCKET_KEY];
    slot_index slot;
    uint32_t epoch;
    struct bucket_stats stats;
};

/* All of them; found by a hash of the key. */
struct store_touch {
    struct store_touched *items;
    size_t count;
    size_t room;
    uint32_t *table;   /* index + 1, 0: free */
    size_t table_size; /* a power of two */
};

struct store_job {
    struct store *store;
    MDB_txn *txn;
    MDB_cursor *rows;
    MDB_cursor *ids;
    const struct checkpoint_plan *plan;
    const struct store_source *source;
    const struct checkpoint_slot *slot; /* the one under way */
    uint32_t partition;                 /* its id */
    size_t page_bytes;
    struct store_touch touch;
    uint64_t rows_put;
    uint64_t rows_split;
    uint64_t rows_dropped;
    uint64_t rows_trimmed;
    uint64_t rows_erased;
    uint64_t drop_rows_left;
    uint64_t drop_bytes_left;
    uint64_t split_bytes_left;
    uint64_t id_pages;       /* leaves of the index */
    uint64_t id_drops_left;  /* ids that drops and trims may still remove */
    bool lane_written[LANES_MAX];
};

/* A row to be placed: its key, and what its value is made of. */
struct store_placed {
    uint8_t key[STORE_LAYOUT_ROW_KEY];
    lane_index lane;
    int64_t due_ms;
    struct record_id id;
    struct span row;
};

/* ------------------------------------------------------------------------------------------------ store_touch.c */

void store_touch_free(struct store_touch *touch);

/* The statistics of a bucket (key of STORE_LAYOUT_BUCKET_KEY bytes), read at the first touch, count 0 if there are
 * none. Borrowed until the next call. */
int store_touch_get(struct store_job *job, const uint8_t *key, lane_index lane, struct bucket_stats **stats);

/* Sets least_offset to that of the least row there is. */
int store_touch_least(struct store_job *job, const uint8_t *key, struct bucket_stats *stats);

/* Writes them all, in key order. */
int store_touch_flush(struct store_job *job);

/* ------------------------------------------------------------------------------------------------ store_aside.c */

#define STORE_ASIDE_BYTES 4096
#define STORE_ASIDE_ROWS 64

/* Rows of later buckets that share the page at which a bucket ends, taken out while the bucket grows. Without that LMDB
 * would split such a page in its middle and leave half of it empty, time after time. */
struct store_aside {
    size_t count;
    size_t lengths[STORE_ASIDE_ROWS]; /* of the values; each lies in `bytes` behind its key */
    uint8_t bytes[STORE_ASIDE_BYTES];
};

/* Takes aside what stands in the way of `count` sorted rows of one bucket; nothing if they fit the page as it is. */
int store_aside_take(struct store_job *job, const struct store_placed *rows, size_t count, struct store_aside *aside);
int store_aside_put_back(struct store_job *job, struct store_aside *aside);

/* ------------------------------------------------------------------------------------------------ store_place.c */

/* Puts rows, bucket by bucket, and counts them in. Sorts `rows`. */
int store_place(struct store_job *job, struct store_placed *rows, size_t count);

/* -------------------------------------------------------------------------------------------------- store_ids.c */

/* Says where the newest row of an id is: this one, unless one of a greater offset is known. `bytes` is its length. */
int store_ids_put(struct store_job *job, const struct checkpoint_row *row, size_t bytes);

/* Forgets the id if the row of that offset is the one that is known by it. RECORD_ID_NONE does nothing. */
int store_ids_remove(struct store_job *job, struct record_id id, int64_t offset);

/* Deletes the index of a forgotten partition, within what is left of the drop budget. */
int store_ids_drop(struct store_job *job, uint32_t partition, bool *exhausted);

/* ------------------------------------------------------------------------------------------------ store_marks.c */

/* Marks and skips of the slot under way take the place of those that are there; what is equal is not written. */
int store_marks_write(struct store_job *job);

/* --------------------------------------------------- store_put.c, store_split.c, store_drop.c, store_erase.c */

/* The new rows of the slot under way. */
int store_put_rows(struct store_job *job);

/* Moves least offsets of a bucket one level down. */
int store_split_bucket(struct store_job *job, const struct checkpoint_split *split);

/* Deletes a bucket's rows, within what is left of the budget. */
int store_drop_bucket(struct store_job *job, const struct bucket_id *id);

/* Deletes a bucket's rows below an offset, within what is left of the same budget. */
int store_drop_below(struct store_job *job, const struct checkpoint_trim *trim);

/* Deletes one row, in whichever bucket of its time it stands. */
int store_erase_row(struct store_job *job, const struct checkpoint_erase *erase);

/* Spends what is left of the budget on rows of forgotten partitions. */
int store_drop_garbage(struct store_job *job);

/* Key of a bucket of the slot under way; writes the lane's name to disk at its first use. */
int store_put_bucket_key(struct store_job *job, struct bucket_id id, uint8_t *key);

#endif
