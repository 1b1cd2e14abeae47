/* A checkpoint's plan: what the core orders the store to write, in one transaction (R3). Plain data, borrowed from the core. */
#ifndef TARRY_SCHEDULER_CHECKPOINT_H
#define TARRY_SCHEDULER_CHECKPOINT_H

#include "scheduler/types.h"

struct checkpoint_row {
    struct bucket_id bucket;
    int64_t offset;
    int64_t due_ms;
    row_ref ref;
    struct record_id id; /* RECORD_ID_NONE: of no schedule */
    int64_t root;        /* as in input_record; kept beside the id, so of no matter without one */
};

/* Remove the rows of `bucket` with offsets below `below_offset`, least first; at most rows_max. C has passed them (copied forward, R6). */
struct checkpoint_trim {
    struct bucket_id bucket;
    int64_t below_offset;
    uint32_t rows_max;
};

/* Remove one row: it was cancelled or replaced (R5). It stands in the bucket of its time at some level, or nowhere. */
struct checkpoint_erase {
    struct key key;
    lane_index lane;
};

/* Move rows of `from`, least offsets first, to level - 1 by their due; at most rows_max. */
struct checkpoint_split {
    struct bucket_id from;
    uint32_t rows_max;
};

/* The part of a checkpoint that concerns one slot. */
struct checkpoint_slot {
    slot_index slot;
    uint32_t epoch;
    int64_t position;                    /* rows below it are complete after this checkpoint */
    bool keeps_frontier;                 /* the core's own: the slot reads no more, and this is the only place of its progress */
    struct partition_frontier frontier;  /* the committed one, by which rows were left out and buckets are dropped */
    const struct checkpoint_row *rows;   /* in offset order */
    size_t row_count;
    const struct checkpoint_split *splits;
    size_t split_count;
    const struct bucket_id *drops;
    size_t drop_count;
    const struct checkpoint_trim *trims;
    size_t trim_count;
    const struct checkpoint_erase *erases;
    size_t erase_count;
    const struct mark *marks; /* all that are kept of the slot: they replace those of the last checkpoint that named it (R3) */
    size_t mark_count;
    const struct skip *skips;
    size_t skip_count;
};

/* One transaction: drops first, then trims, erases, splits, then puts (a bucket may be dropped and begin again in one plan). Valid until INPUT_CHECKPOINT_DONE was stepped; the writer thread may read it all that time. */
struct checkpoint_plan {
    const struct checkpoint_slot *slots;
    size_t slot_count;
};

#endif
