/*
 * The core: decides what is read, held, fired, written and committed, and does none of it.
 *
 * One call, core_step(core, now, inputs) -> commands, and one question, core_next_deadline(core). Inputs are facts that
 * happened; commands are data for the shell. No clock, I/O, thread, lock, errno or library in here, so that the
 * simulator runs years in seconds with the very code that runs in production. The structures behind it are drawn in
 * docs/internals/core.md, the rules it keeps (R1 to R10) in docs/frontier.md, the contract with the shell in both.
 *
 * Thread context: everything here belongs to one owner thread. Memory: allocation failure ends the process (base/memory.h),
 * as there is no useful way on without it and the log in Kafka loses nothing.
 */
#ifndef TARRY_SCHEDULER_CORE_H
#define TARRY_SCHEDULER_CORE_H

#include "scheduler/command.h"
#include "scheduler/input.h"
#include "scheduler/types.h"

struct core;

/* ------------------------------------------------------------------------------------------------ options */

struct core_lane_options {
    uint32_t max_in_flight;       /* taken and not yet passed by the acknowledged prefix (with exactly_once: sent and not yet reported on, as the
                                     transaction has its own bound), all slots together: 1 to 1,000,000 */
    uint64_t max_in_flight_bytes; /* in bytes of rows, of all that was taken and is not passed; one record of each slot is always let through */
    uint32_t rate_per_s;          /* deliveries in a second at most, all slots together; 0: no such limit. Bursts: what it lets through in 100 ms */
    bool paused;
    bool decides;                 /* the lane of what is undecided (R10): its "deliveries" are decisions, no target's */
    bool catches_up;              /* what is overdue when a slot is gained may be a lane of its own (catch_up_per_s). Not for what is due since ever */
};

struct core_options {
    uint32_t entries_max;           /* wheel and heap entries in memory, all queues together (32 bytes each) */
    uint32_t late_max;              /* late heap of one queue; beyond it late records stay on disk (docs/internals/core.md) */
    uint32_t old_pairs_max;         /* old pairs of one slot, all lanes together: what the metadata has room for */
    uint32_t step_records_max;      /* records taken in one step, all queues together */
    uint32_t scan_rows_max;         /* rows asked for by one COMMAND_SCAN */
    uint32_t split_rows_max;        /* rows split by one checkpoint */
    uint32_t erase_rows_max;        /* rows of cancelled events that one checkpoint takes out of one slot: a full store has only its reserve for them */
    uint64_t unwritten_bytes_max;   /* bytes read and not yet in the store, all slots: reading pauses beyond */
    uint32_t unwritten_rows_max;    /* same, in rows */
    int64_t window_ms;              /* how far ahead of the clock buckets are loaded */
    int64_t checkpoint_ms;          /* least time between two checkpoints */
    int64_t commit_ms;              /* least time between two commits of a slot */
    int64_t retry_ms;               /* first wait of a held lane; doubles up to retry_max_ms */
    int64_t retry_max_ms;
    int64_t unknown_topic_grace_ms; /* how long a topic may be missing before its records are refused */
    int64_t store_retry_ms;         /* wait after a checkpoint that found the store full */
    bool exactly_once;              /* deliveries and the frontier that says they are done are one transaction (R9) */
    uint32_t transaction_records_max; /* taken into one transaction; fewer after one for which the sink had no room */
    int64_t transaction_wait_ms;    /* under load: a transaction waits so long for more than came due while the one before was ending; 0: never */
    uint32_t transaction_busy_records; /* that is: it begins with as many, and */
    uint32_t transaction_busy_per_ms;  /* with as many for each ms since the last one's end was ordered */
    int64_t transaction_fill_ms;    /* a transaction takes no more this long after its first record */
    uint64_t span_max;              /* offsets from C to the position beyond which old records are copied forward (R6); 0: never */
    uint32_t copy_rows_max;         /* copied forward in one transaction; 0: never, whatever asks for it. Where it is not 0 it bounds postponed ones too */
    int64_t copy_ms;                /* least time between two such transactions of one slot, and at least once between two of postponed ones */
    int64_t letter_later_ms;        /* how much later than now a record is due that is written again because its letter could not be kept */
    uint32_t catch_up_per_s;        /* deliveries in a second, all slots and lanes together, of what was overdue when its slot was gained: it is a lane of its own then,
                                       and what comes due later stays on time. 0: off; a boundary that F has is kept all the same, without a rate */
};

/* Fills in what production uses; each value's reason stands beside it in core_options.c. */
void core_options_default(struct core_options *options);

/* A core without slots and lanes. Never NULL. The options are copied. */
struct core *core_new(const struct core_options *options);

/* Frees everything. NULL is allowed. Refs that were not released are simply forgotten. */
void core_free(struct core *core);

/* Adds the next lane (the first has index 0) and returns its index. Call it before a slot that uses it is gained; at most
 * LANES_MAX, checked by the caller. May also be called later, between steps. */
lane_index core_lane_add(struct core *core, const struct core_lane_options *options);

/* Changes a lane's limits or pause between two steps (SIGHUP). The pause is not persistent. */
void core_lane_change(struct core *core, lane_index lane, const struct core_lane_options *options);

/* --------------------------------------------------------------------------------------------------- calls */

/* Takes in `count` facts and decides. now.mono never goes back between calls; now.wall may. With count 0 it only looks at
 * the time. Bounded: at most step_records_max records are taken, scan and split sizes are bounded; cost is linear in inputs
 * and commands, plus some 20 ns for each queue. */
struct commands core_step(struct core *core, struct now now, const struct input *inputs, size_t count);

/* When core_step should be called next if nothing happens before: the earlier of two moments on two clocks; a field is TIME_NEVER
 * when that clock decides nothing. A moment that has passed means "at once" (a step's budget ended). */
struct core_deadline {
    struct wall_ms wall;
    struct mono_ms mono;
};
struct core_deadline core_next_deadline(const struct core *core);

/* What is decided of a conditional record (R10). */
enum decision {
    DECISION_ACCEPT,
    DECISION_REJECT, /* an event of its id is pending */
    DECISION_DROP,   /* a newer control of its id was read: that one counts */
};

/* Decides about the conditional record that a person wrote at `root` (its own offset, unless it was copied forward), which the core has told to deliver (in a lane that decides) or to copy (COPY_DECIDED). Asked while commands are
 * carried out, at most once for each such command. `found` as in input_record. An accepted id counts as pending from now on, also over an abort, after which it is asked about again;
 * until its re-append is read, or its record is done without one. What is refused or dropped is told (OUTCOME_REJECTED, OUTCOME_DROPPED) when the command's record is done: at least
 * once with INPUT_DELIVERED or the end of its copy's transaction, with exactly_once when the transaction has committed. O(1) on the average, O(FIFO) for events that are due. */
enum decision core_decide(struct core *core, slot_index index, uint32_t epoch, struct record_id id, int64_t root, const struct stored_event *found);

/* ------------------------------------------------------------------------------------------- what it knows */

struct core_queue_stats {
    uint64_t pending;        /* read or loaded, not done; what is still on disk counts by bucket statistics */
    uint64_t pending_bytes;
    uint64_t in_memory;      /* wheel and heap entries */
    uint64_t in_flight;
    uint64_t overdue;        /* in memory and due, not acknowledged; what is on disk beyond the window comes by whole buckets */
    int64_t oldest_due_ms;   /* of the overdue ones, TIME_NEVER: none. Never DUE_SINCE_EVER */
    int64_t next_due_ms;     /* least due that is not taken, TIME_NEVER: none (bucket precision when on disk) */
    int64_t last_due_ms;     /* greatest (bucket precision) */
    bool held;               /* waits after failures */
    bool paused;             /* by INPUT_LANE_PAUSE, or as F had it when the slot was gained */
};

struct core_slot_stats {
    bool caught_up;
    bool reading_paused;
    int64_t position;
    int64_t low_offset; /* C of the last commit that was built, and not aborted */
    uint64_t pending;    /* of all queues */
    uint64_t unwritten_rows;
    uint64_t unwritten_bytes;
    uint32_t buckets;
    uint16_t lanes_apart;    /* with an entry of their own in the last commit's metadata */
    uint16_t lanes_behind;   /* that still have something behind a catch-up boundary, or its end not acknowledged */
    uint64_t cancelled;      /* events that a cancel ended (or a replacement, while they were under way), in this life of the slot */
    uint64_t replaced;       /* events that a later one of their id replaced */
    uint64_t copied;         /* events copied forward */
    uint64_t postponed;      /* events written again with a later due time, as their letters could not be kept */
    uint64_t skipped;        /* re-appends that a mark ended, and next occurrences that were not written */
    uint64_t duplicates;     /* records that the dedupe rule let fall */
    uint64_t moved;          /* events that a person moved or paused */
    uint32_t dedupe_ids;     /* kept for the dedupe rule */
    uint64_t dedupe_forgotten; /* ids that it had no room for any more */
    uint32_t moving;         /* ids whose re-append is not read back yet */
    uint32_t marks;
};

struct core_stats {
    uint64_t steps;
    uint64_t clock_steps_back;    /* the wall clock was behind an earlier reading by more than 1 s */
    uint64_t clock_steps_forward; /* it ran ahead of the monotonic clock by more than 1 s between two steps */
    uint64_t entries;             /* wheel and heap entries, all queues */
    uint64_t rows_never_written;  /* were done before their first checkpoint */
    uint64_t rows_written;
    bool store_full;
};

/* Copies figures out. The slot `index` must be held, `lane` exist. O(buckets of the queue). */
void core_queue_stats(const struct core *core, slot_index index, lane_index lane, struct now now, struct core_queue_stats *stats);
void core_slot_stats(const struct core *core, slot_index index, struct core_slot_stats *stats);
void core_stats(const struct core *core, struct core_stats *stats);

/* How it stands with one event (core_look.c). */
enum core_event_state {
    CORE_EVENT_ENDED,     /* done, cancelled, replaced, moved on, or unknown. What a control has met while it was under way counts as ended by it, until its outcome is told */
    CORE_EVENT_PENDING,   /* also while it waits to be sent again after a failure */
    CORE_EVENT_RUNNING,   /* its delivery is under way, or done and not yet known to be committed */
    CORE_EVENT_MOVING,    /* written again, and that is not read back yet */
    CORE_EVENT_UNDECIDED, /* R10: not decided yet */
};

struct core_event {
    enum core_event_state state;
    lane_index lane;
    struct key key; /* due as the queue has it */
    int64_t root;   /* where a person wrote it; its own offset if it is no re-append */
    row_ref ref;    /* 0: its row is in the store */
};

/* The event of this id, `found` as in input_record: what is pending, or under way. False: none is. MOVING: as it was where it is still known; where only the id is, key.offset is that
 * of the record that moved, lane LANES_MAX, ref 0. The slot must be held. O(1) on the average, O(log FIFO) for what is due (O(FIFO) while late ones are in it). */
bool core_look_id(const struct core *core, slot_index index, struct record_id id, const struct stored_event *found, struct core_event *event);

/* What was read at this offset and stands in no written checkpoint yet; its state may be any but MOVING. False: nothing was, or its row is in the store. The slot must be held. Cost as core_look_row. */
bool core_look_offset(const struct core *core, slot_index index, int64_t offset, struct core_event *event);

/* What stands at this place of the store is still to come? For rows of the last checkpoint or the one before, which may be done, cancelled, replaced or moved since: a row that an
 * older one had, and that was cancelled and erased since, counts as pending. Never MOVING. The slot must be held, `lane` exist. O(pairs + log n), O(FIFO) while late ones are in it. */
enum core_event_state core_look_row(const struct core *core, slot_index index, lane_index lane, struct key key);

/* The same of many of one lane at once: a page of a list. `keys` are in order, each once, CORE_LOOK_ROWS_MAX at most; states[i] becomes that of keys[i]. As cheap as one of them
 * where late ones are in the FIFO: it is gone through once. */
#define CORE_LOOK_ROWS_MAX 128
void core_look_rows(const struct core *core, slot_index index, lane_index lane, const struct key *keys, size_t count, enum core_event_state *states);

/*
 * How many events come due when (core_look_forecast.c): added to what stands in it already, so that slots can be summed up. Bins end at the multiples of bin_ms, so the first
 * may be shorter; they begin at from_ms.
 *
 * From bucket statistics, and from what memory holds where that is finer: a bucket on both sides of a bin's end, or partly done, is spread evenly and sets `estimated` of the
 * bins it touches. A recurrence counts with its next occurrence alone.
 */
struct core_forecast {
    int64_t from_ms;      /* >= 0 */
    int64_t bin_ms;       /* 1 or more */
    size_t bins;
    uint32_t walk_max;    /* entries in memory that may still be looked at one by one, of all slots together: it is used up. Where it is not enough they are counted by the
                             slot, which may include some that were cancelled (then estimated) */
    double *counts;       /* of `bins`; whole numbers where nothing is estimated. Never below 0, as the three below */
    bool *estimated;      /* of `bins` */
    double before;        /* due before from_ms */
    double later;         /* due after the last bin */
    double paused;        /* by a person: due at RECURRENCE_LAST_MS */
};

/* Of the lanes for which `lanes` (by index, as many as the core has) says so. The slot must be held. O(buckets + entries read and not written, under way or late + walk_max, and bins for each queue
 * beyond it). */
void core_look_forecast(const struct core *core, slot_index index, const bool *lanes, struct core_forecast *forecast);

/* Checks every invariant that can be checked (counts, order, heap, ring, C, bounds); aborts with a message on a violation.
 * For tests and the simulator. O(everything). */
void core_validate(const struct core *core);

#endif
