/*
 * The nouns that the core, the store and the bridge share. Plain data: no function here does anything.
 */
#ifndef TARRY_SCHEDULER_TYPES_H
#define TARRY_SCHEDULER_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time_types.h"

/* What fixes the place of a record within its lane: compared by due, then by offset. */
struct key {
    int64_t due_ms; /* epoch milliseconds; DUE_SINCE_EVER for what is decided at once (R10) */
    int64_t offset;
};

#define DUE_SINCE_EVER ((int64_t)0)
#define KEY_LEAST ((struct key){INT64_MIN, -1})

static inline int key_compare(struct key a, struct key b)
{
    if (a.due_ms != b.due_ms) {
        return a.due_ms < b.due_ms ? -1 : 1;
    }
    return (a.offset > b.offset) - (a.offset < b.offset);
}

/* A lane is an index into the list of lanes (ops/ knows their names); a slot one into the partitions this instance holds. */
typedef uint16_t lane_index;
typedef uint32_t slot_index;

#define LANES_MAX 128 /* configured, retired and built-in ones together; the metadata holds fewer (see metadata.h) */
#define CATCH_UP_MAX 16 /* lanes of one slot that may have a queue behind the catch-up boundary (catch_up.h) */

/* One statement about a lane: every record with offset < cut and key <= point is done (docs/frontier.md). */
struct frontier_pair {
    struct key point;
    int64_t cut;
};

#define FRONTIER_PAIRS_MAX 4 /* older pairs kept beside the live one after steps back of the clock (R1) */

struct frontier {
    struct frontier_pair live;
    struct frontier_pair old[FRONTIER_PAIRS_MAX];
    uint8_t old_count;
};

/* Time buckets of the store: level L has buckets of 2^(BUCKET_SHIFT_0 + BUCKET_SHIFT_STEP * L) ms. */
#define BUCKET_LEVELS 4
#define BUCKET_SHIFT_0 13
#define BUCKET_SHIFT_STEP 6

struct bucket_id {
    lane_index lane;
    uint8_t level;
    int64_t number; /* due_ms >> shift of the level; never negative */
};

/* What the store knows of one bucket without looking into it. */
struct bucket_stats {
    struct bucket_id id;
    uint64_t count;
    uint64_t bytes;
    int64_t least_offset; /* the least it ever held; meaningless when count is 0 */
    int64_t last_offset;  /* the greatest it ever held */
    struct key greatest;  /* the greatest key it ever held: a bucket can be dropped before its time has run out */
};

/* What the shell keeps for a row until the core releases it. Opaque to the core; 0 is "none: read it from the store". */
typedef uint64_t row_ref;

/* A schedule's id (and key) as a 128-bit hash. Both 0: none. */
struct record_id {
    uint64_t high;
    uint64_t low;
};

#define RECORD_ID_NONE ((struct record_id){0, 0})

static inline bool record_id_equal(struct record_id a, struct record_id b)
{
    return a.high == b.high && a.low == b.low;
}

static inline bool record_id_is_none(struct record_id id)
{
    return id.high == 0 && id.low == 0;
}

/* A control at `offset` beats re-appends of its id whose root is less, even if they stand further up the log, below `end` (R5). */
struct mark {
    struct record_id id;
    int64_t offset;
    int64_t end;
};

/* The re-append at `skipped` was ended by the mark of `offset`: C stays out of (offset, skipped] (R5). One that spans nothing: the record there is a duplicate (dedupe.h). */
struct skip {
    int64_t offset;
    int64_t skipped;
};

/* Where an event of an id is, as a checkpoint knows it. */
struct stored_event {
    int64_t offset; /* -1: none */
    int64_t due_ms;
    int64_t root;   /* as in input_record */
    uint32_t bytes;
    lane_index lane;
};

/* The last record below the greatest cut: read again at start to know the topic for the same one (R8). */
struct anchor {
    int64_t offset; /* -1: none yet */
    int64_t timestamp_ms;
    uint32_t crc;
};

/* What a commit says of one partition. Lanes without an entry stand at `shared`. */
struct frontier_lane {
    lane_index lane;
    bool paused; /* by a person: it stands still until told otherwise */
    struct frontier frontier;
};

struct partition_frontier {
    int64_t committed_offset; /* the least cut: what lag tools show */
    int64_t low_offset;       /* C: below it everything is done and needs no reading */
    bool moving;              /* re-appends of steered events may not be read back yet, and F does not cover what they stand for: a next owner fires
                                 nothing before it has read up to the high watermark */
    struct anchor anchor;
    struct frontier_pair shared;
    struct frontier_lane lanes[LANES_MAX]; /* only those that differ from `shared` */
    uint16_t lane_count;
    /* While something waits behind a catch-up boundary: of the lanes named here a record due at boundary_ms or before is done if this entry says so, and what
     * `lanes` and `shared` say is of those due later alone. */
    int64_t boundary_ms; /* without entries: of no meaning */
    struct frontier_lane behind[CATCH_UP_MAX];
    uint16_t behind_count;
};

#endif
