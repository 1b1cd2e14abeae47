/* The core's insides, for the files of scheduler/ that make it up. Drawn in docs/internals/core.md. */
#ifndef TARRY_SCHEDULER_CORE_STATE_H
#define TARRY_SCHEDULER_CORE_STATE_H

#include "scheduler/bucket_table.h"
#include "scheduler/cancelled.h"
#include "scheduler/core.h"
#include "scheduler/dedupe.h"
#include "scheduler/id_table.h"
#include "scheduler/late_heap.h"
#include "scheduler/marks.h"
#include "scheduler/taken.h"
#include "scheduler/unknown_topics.h"
#include "scheduler/unwritten.h"
#include "scheduler/wheel.h"

/* A bucket being loaded. Answers come one for each command, in order; those of a cancelled scan are let pass. */
struct scan {
    bool active;
    bool waiting;         /* for an answer */
    uint32_t ignore;      /* answers still to come that count no more */
    struct bucket_id bucket;
    int64_t below_offset; /* rows of the store are complete below it, as asked for */
    bool counted;         /* the bucket was dropped meanwhile, and its rows taken out of `pending` with it */
    uint64_t done_rows;   /* rows found that F covers: they count as pending until the scan is through */
    uint64_t done_bytes;
    struct key limit;     /* `loaded` when this scan is through: the bucket's end, or less when memory ran out */
};

/* A lane whose target fails waits before it goes on. */
struct hold {
    bool held;
    int64_t until_ms; /* monotonic */
    int64_t wait_ms;  /* the last wait, 0 after a success */
};

#define QUEUES_MAX (2 * LANES_MAX) /* of a slot: each lane's own, and from LANES_MAX on those behind the catch-up boundary (catch_up.h) */
#define SEQUENCE_BEHIND (UINT64_C(1) << 63) /* their records' numbers begin here */

/* Everything about one lane of one slot; of a lane that catches up, about one side of the boundary. */
struct queue {
    lane_index lane;
    uint16_t index;             /* among the slot's queues */
    struct queue *own;          /* of one behind: the lane's own; else NULL */
    struct key floor;           /* of an own one with another behind: what is not greater is not its business; else KEY_LEAST */
    int64_t ceiling_ms;         /* of one behind: what is due later is not its business; else INT64_MAX */
    int64_t taken_end;          /* of one behind: all that it has taken is below */
    struct wheel wheel;         /* taken_point < key, loaded or under load */
    struct late_heap late;      /* key <= taken_point, offset >= cut */
    int64_t spilled_from;       /* least offset of late records that had no room in memory; INT64_MAX: none */
    struct taken_fifo taken;
    struct hold hold;
    struct key taken_point;     /* V */
    struct frontier frontier;   /* F, as acknowledged by the targets */
    struct frontier outlook;    /* F as the next commit says it: with exactly_once, if what is in flight is delivered */
    struct frontier committing; /* what the commit under way says */
    struct frontier committed;  /* what Kafka acknowledged */
    uint32_t ahead;             /* records of the FIFO that `outlook` counts as done */
    struct key loaded;          /* pending records up to here are in memory */
    struct key counted;         /* rows of the store up to here were looked at once: for counting what is pending */
    struct scan scan;
    int64_t beyond_due_ms;      /* least due of unwritten rows beyond `loaded`; TIME_NEVER: none */
    int64_t plan_coarse_ms;     /* the plan under way writes to a coarse bucket that starts here; TIME_NEVER: none */
    struct bucket_table buckets;
    uint64_t pending;           /* with a queue behind the two count together, modulo 2^64: rows pass from one to the other when buckets are split */
    uint64_t pending_bytes;
    bool paused;                /* by a person (lane_limit.h): nothing is taken; kept in F */
    bool paused_committing;
    bool paused_committed;
};

#define STEER_MAX 64u /* of one slot, under way */

/* One event that a person steers (steer.h). */
struct steered {
    uint64_t token;
    struct record_id id;
    struct key key;    /* of the event as it is */
    int64_t root;      /* offset of the record that a person wrote */
    int64_t due_ms;    /* wanted */
    uint32_t bytes;
    lane_index lane;
    uint8_t verb;      /* enum steer_verb */
    uint8_t failures;  /* transactions with it that were aborted */
    bool sent;         /* in the transaction that is ending */
    bool ended;        /* the event is, meanwhile: by a control, or by its own re-append, which was read before the transaction's end is known */
    bool beaten;       /* by a control */
};

struct steer {
    struct steered items[STEER_MAX];
    uint32_t count;
    int64_t not_before_ms; /* monotonic */
    int64_t wait_ms;       /* after a failure, 0 after a success */
    bool alone;            /* the last transaction was the last attempt of one */
    int64_t moved_end;     /* of the last re-append of a steered event: not read back while the position is below. Also as a former owner's F has it */
    int64_t copied_end;    /* of the last one of any kind that this slot had a transaction of its own for */
    bool moving_committing; /* what the commit under way says of that, and what is committed */
    bool moving_committed;
};

enum copy_state {
    COPY_IDLE,
    COPY_SCANNING, /* what is to be copied is looked up */
    COPY_READY,
    COPY_SENT,     /* in the transaction that is ending */
};

struct copied_row {
    struct key key;
    int64_t due_ms; /* of the copy */
    uint64_t sequence; /* of COPY_NEXT and COPY_DECIDED */
    uint32_t bytes;
    lane_index lane;
    uint8_t why;    /* enum copy_why */
};

/* What is copied forward of a slot (copy_forward.h). */
struct copy {
    enum copy_state state;
    int64_t wanted_below;    /* near the topic's retention: what is pending below is to be copied */
    int64_t below;           /* this time */
    uint32_t rows_max;       /* this time; fewer after a failure, 0: as many as may be */
    int64_t not_before_ms;   /* monotonic */
    int64_t wait_ms;         /* after a failure, 0 after a success */
    struct bucket_id *buckets; /* to be looked through */
    uint32_t bucket_count;
    uint32_t bucket_next;
    uint32_t bucket_capacity;
    struct copied_row *rows; /* found */
    uint32_t row_count;
    uint32_t row_capacity;
};

/* How a slot's postponed records are written again (postpone.h). */
struct postpone {
    uint32_t rows_max;     /* in one transaction; fewer after a failure, 0: as many as may be */
    int64_t not_before_ms; /* monotonic */
    int64_t wait_ms;       /* after a failure, 0 after a success */
};

/* One re-append of the transaction that is open or ending. */
struct noted {
    struct record_id id;
    int64_t root;
};

/* What is written again and not read back (reappend.h). */
struct moving {
    struct id_table table; /* offset: of the record that moved; root: of that; end */
    struct noted *noted;
    uint32_t noted_count;
    uint32_t noted_capacity;
    uint32_t swept; /* left after the last sweep */
};

/* Events that ended without a delivery, in this life of the slot. */
struct ended {
    uint64_t moved; /* by a person */
    uint64_t cancelled;
    uint64_t replaced;
    uint64_t copied;
    uint64_t postponed;
    uint64_t skipped;
    uint64_t duplicates;
};

struct slot {
    slot_index index;
    uint32_t epoch;
    int64_t position;        /* everything below was handed over */
    int64_t catch_up_to;     /* R2 */
    int64_t stored_position; /* rows of the store are complete below it */
    int64_t low_offset;      /* C of the last commit that was built and not aborted, or as gained */
    int64_t low_committed;
    int64_t gained_low;          /* C when the slot was gained */
    int64_t low_committing;
    struct anchor anchor;
    struct anchor last_read;
    struct frontier_pair shared; /* of the last commit that was built */
    struct frontier_pair shared_committed;
    struct marks_proof proving;  /* when the last commit was built (R5) */
    int64_t undecided_last;      /* greatest offset of a record that was read into a lane that decides; -1: none (R10) */
    int64_t decided;             /* all of those below it are done, as committed */
    struct unwritten unwritten;
    struct id_table ids;         /* events of the unwritten list that have an id */
    struct cancelled cancelled;
    struct marks marks;
    struct dedupe dedupe;
    struct moving moving;
    struct copy copy;
    struct postpone postpone;
    struct steer steer;
    struct ended ended;
    uint32_t untold;                 /* what is to be told of records in FIFOs when their deliveries are known */
    struct queue *queues[QUEUES_MAX]; /* NULL: nothing of that lane was ever here */
    uint16_t queue_count;            /* lanes below it may have a queue */
    uint16_t behind_count;           /* queues from LANES_MAX on */
    int64_t boundary_ms;             /* the catch-up boundary, 0: there is none */
    bool caught_up;
    bool reading_paused;
    bool reading_stopped;
    bool text_behind;      /* a commit was acknowledged since the last checkpoint: the last one before the end takes it in */
    bool unsaved;          /* reading_stopped: F has moved since the last checkpoint, which alone keeps it */
    bool leaving;
    bool left;             /* COMMAND_SLOT_LEFT was given */
    bool commit_under_way;
    bool commit_unknown;   /* the last plain one failed, and may be there all the same, or come yet (R9) */
    bool in_transaction;   /* the commit under way is part of the transaction */
    int64_t commit_at_ms;  /* not before; monotonic */
    int64_t written_at_ms; /* last checkpoint that named this slot */
    uint16_t lanes_apart;
};

struct command_list {
    struct command *items;
    size_t count;
    size_t capacity;
    row_ref *releases;
    size_t release_count;
    size_t release_capacity;
};

/* What goes into a plan: when the store is full, less and less is tried, as drops alone need the least room. */
enum checkpoint_scope {
    SCOPE_ALL,
    SCOPE_NO_ROWS,
    SCOPE_DROPS,
};

enum transaction_state {
    TRANSACTION_NONE,
    TRANSACTION_OPEN,   /* deliveries are taken into it */
    TRANSACTION_ENDING, /* its end is not known yet: nothing else is begun (R9) */
};

struct transaction {
    enum transaction_state state;
    uint64_t number;
    uint32_t records;
    uint32_t limit;             /* of records; less than transaction_records_max after the sink had no room */
    uint32_t first_records;     /* taken in its first step */
    int64_t opened_at_ms;       /* monotonic, as what follows */
    int64_t taken_at_ms;        /* the last record */
    int64_t ended_at_ms;        /* the last end was ordered */
    uint32_t aborts;            /* in a row */
    int64_t not_before_ms;      /* monotonic: the next one */
    bool full;                  /* the sink had no room for all of it */
    bool poisoned;              /* is to be aborted */
    bool found;                 /* it showed which record cannot be delivered: that one goes elsewhere now, and the rest need not wait */
    bool explained;             /* one of its deliveries failed: that is why it is aborted */
    bool at_fault;              /* one of its copies can never be written: that is why */
    const struct queue *alone;  /* of the last one with deliveries: nobody else's may go into it; NULL: it is everybody's whose last one succeeded */
    struct slot *copying;       /* the last one copies records of this slot forward; NULL: it does not, or the slot was lost */
    struct slot *postponing;    /* the last one writes postponed records of this slot again; NULL as with `copying` */
    uint32_t postponed;         /* so many */
    struct slot *steering;      /* the last one moves events that persons steer, of this slot; NULL as with `copying` */
    uint32_t moving_turn;       /* which kind of re-append begins one next */
    struct transaction_slot *slots;
    size_t slot_count;
    size_t slot_capacity;
};

/* The checkpoint under way and the room it is built in. */
struct checkpoint {
    bool under_way;
    bool full;             /* the last one found no room */
    uint8_t scope;         /* enum checkpoint_scope of the next plan, or of the one under way */
    int64_t not_before_ms; /* monotonic */
    struct checkpoint_plan plan;
    struct checkpoint_slot *slots;
    size_t slot_count;
    size_t slot_capacity;
    struct checkpoint_row *rows;
    size_t row_count;
    size_t row_capacity;
    struct checkpoint_split *splits;
    size_t split_count;
    size_t split_capacity;
    struct bucket_id *drops;
    size_t drop_count;
    size_t drop_capacity;
    struct checkpoint_trim *trims;
    size_t trim_count;
    size_t trim_capacity;
    struct checkpoint_erase *erases;
    size_t erase_count;
    size_t erase_capacity;
    struct mark *marks;
    size_t mark_count;
    size_t mark_capacity;
    struct skip *skips;
    size_t skip_count;
    size_t skip_capacity;
};

/* What a lane with a rate may still send, in thousandths of a delivery (lane_limit.h). */
struct lane_tokens {
    uint64_t credit;
    int64_t at_ms;       /* monotonic: as of then */
    uint32_t rate_per_s; /* that it is for */
};

/* What the rate of catching up lets through (catch_up.h). */
struct catch_up {
    int64_t credit; /* in thousandths of a record */
    int64_t refilled_ms; /* monotonic */
};

struct core {
    struct core_options options;
    struct core_lane_options lanes[LANES_MAX];
    uint16_t lane_count;
    lane_index deciding_lane;             /* the one that decides (R10); LANES_MAX: none does */
    uint32_t lane_taken[QUEUES_MAX];      /* in the FIFOs of a lane, all slots together; by the queue's index */
    uint64_t lane_taken_bytes[QUEUES_MAX];
    uint32_t lane_sent[QUEUES_MAX];       /* of those, not yet reported on: as of the last delivery_turn */
    struct lane_tokens lane_tokens[LANES_MAX];
    struct slot **slots; /* by index, NULL: not held */
    uint32_t slot_count;
    struct entry_pool pool;
    uint64_t late_count; /* in all heaps */
    struct command_list commands;
    struct command_list told;   /* outcomes that were found between two steps: the next one tells them */
    struct checkpoint checkpoint;
    struct transaction transaction;
    struct unknown_topics unknown;
    struct partition_frontier *frontier_room; /* one for each commit of a step */
    size_t frontier_count;
    size_t frontier_capacity;
    uint32_t queue_total;
    uint32_t behind_total; /* of those, behind a catch-up boundary */
    struct catch_up catch_up;
    uint32_t turn;      /* counts steps: slot and lane that take first follow from it */
    bool sink_full;
    bool more;          /* the step's budget ended before the work did */
    bool stopping;
    bool stopped;
    struct now last;    /* of the last step */
    bool stepped;
    struct core_stats stats;
};

/* Entries in memory, wheels and heaps together. */
static inline uint64_t core_state_entries(const struct core *core)
{
    return (uint64_t)entry_pool_count(&core->pool) + core->late_count;
}

#endif
