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

#include "scheduler/checkpoint.h"
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

/* ------------------------------------------------------------------------------------------------- inputs */

enum input_kind {
    INPUT_SLOT_GAINED,
    INPUT_SLOT_LEAVING,
    INPUT_SLOT_LOST,
    INPUT_RECORD,
    INPUT_POSITION,
    INPUT_READING_STOPPED,
    INPUT_DELIVERED,
    INPUT_DELIVERY_FAILED,
    INPUT_SINK_FULL,
    INPUT_SINK_ROOM,
    INPUT_ROWS,
    INPUT_CHECKPOINT_DONE,
    INPUT_COMMIT_DONE,
    INPUT_TRANSACTION_DONE,
    INPUT_RETENTION,
    INPUT_REAPPENDED,
    INPUT_STEER,
    INPUT_LANE_PAUSE,
    INPUT_STOP,
};

/* A partition is ours, with what the broker and the checkpoint know of it. Slot numbers are dense and reused; `epoch` is
 * greater at each use. Nothing fires before the position has reached catch_up_to and every cut (R2). */
struct input_slot_gained {
    uint32_t epoch;
    int64_t position;    /* offset of the first record that the shell will hand over; C, and perhaps below stored_position, where duplicates are known (dedupe.h) */
    int64_t catch_up_to; /* end of the partition (last stable offset) as it was now */
    int64_t high;        /* high watermark as it was now, asked for at this assignment: up to there may stand re-appends (R5) */
    struct partition_frontier frontier; /* what was committed, or the checkpoint's own; fresh: all KEY_LEAST and position.
                                           Lanes of the core without an entry stand at `shared`. */
    int64_t stored_position;            /* rows of the checkpoint are complete below it; 0 without checkpoint */
    const struct bucket_stats *buckets; /* of the checkpoint, any order; borrowed for the step */
    size_t bucket_count;
    const struct mark *marks;           /* of the checkpoint; borrowed for the step */
    size_t mark_count;
    const struct skip *skips;           /* those that span nothing are duplicates */
    size_t skip_count;
};

/* A record was read and decoded. Offsets of a slot only grow (holes are normal). If it is not needed (below C, covered by F,
 * below stored_position) the core releases its ref in the same step. */
struct input_record {
    int64_t offset;
    int64_t due_ms;
    lane_index lane;
    uint32_t bytes;  /* of the row, for accounting */
    row_ref ref;     /* not 0; a cancel has none */
    int64_t timestamp_ms;
    uint32_t crc;
    int64_t root;    /* of a re-append: offset of the record that a person wrote (R4), below its own; else -1. Read only of records with an id */
    bool cancel;     /* no event: what is pending with this id is done with (R5); due, lane and bytes are unset */
    bool conditional; /* if-exists: reject, not decided yet (R10): due since ever, in a lane that decides. It acts on nothing, and its id finds it not */
    int64_t dedupe_ms;     /* > 0: refuses ids whose last event came due within this time before timestamp_ms (dedupe.h); 0: no such rule, -1: not of this record
                              (a recurrence whose first due time is not known) */
    int64_t dedupe_due_ms; /* the due time that counts for that: of a conditional record the wanted one. With such a rule, reading begins at C at each start: what is
                              below stored_position goes through the rule alone */
    struct record_id id;       /* RECORD_ID_NONE: of no schedule */
    struct stored_event found; /* with an id: the pending event of that id as the last written checkpoint knows it; offset -1: none. Looked up when
                                  no INPUT_CHECKPOINT_DONE is still to be given that is older than the look-up's answer */
};

/* Everything below `offset` has been handed over (end of partition, control records, or nothing there). */
struct input_position {
    int64_t offset;
};

/* Why a record is written again (R4). */
enum copy_why {
    COPY_FORWARD, /* as it is: the log from C on grows too long (R6) */
    COPY_LATER,   /* its letter could not be kept */
    COPY_NEXT,    /* a recurrence fired: its next occurrence, which the shell works out; none: nothing is written */
    COPY_DECIDED, /* it was undecided (R10): the shell asks core_decide once more, and writes it with its due time, or nothing */
    COPY_MOVED,   /* a person wants it at another time */
    COPY_PAUSED,  /* a person wants it to wait until told otherwise */
};

enum delivery_failure {
    DELIVERY_RETRIABLE,     /* an outage: leader away, timeout, transport. Never the record's fault */
    DELIVERY_UNKNOWN_TOPIC, /* the target does not exist (yet) */
    DELIVERY_FAULT,         /* this record can never go there */
    DELIVERY_UNDONE,        /* its transaction failed for another's sake: nothing is said of this one */
    DELIVERY_NO_LETTER,     /* of what goes out as a letter (as_refused, or a row refused at reading): it could not be kept. The record is written again with a
                               later due time (R4), and its lane goes on */
};

/* Report on a COMMAND_DELIVER, named by slot epoch, lane and sequence. */
struct input_delivery {
    lane_index lane;
    uint64_t sequence;
    enum delivery_failure failure; /* INPUT_DELIVERY_FAILED only */
    uint64_t target_hash;          /* of the topic's name; counts for DELIVERY_UNKNOWN_TOPIC only */
    bool again;                    /* INPUT_DELIVERED, at least once: the record goes on as a re-append (its next occurrence, or what was decided of it), in one transaction
                                      with the frontier that passes it: COMMAND_COPY follows. With exactly_once the shell has written that already (INPUT_REAPPENDED) */
    enum copy_why why;             /* of `again`: COPY_NEXT or COPY_DECIDED */
};

/* Some rows of a bucket, in offset order, as COMMAND_SCAN asked for. */
struct scanned_row {
    int64_t offset;
    int64_t due_ms;
    uint32_t bytes;
};

enum scan_purpose {
    SCAN_WINDOW, /* to hold them in memory */
    SCAN_COPY,   /* to copy them forward */
};

struct input_rows {
    struct bucket_id bucket;
    enum scan_purpose purpose;      /* as in the command */
    const struct scanned_row *rows; /* borrowed for the step */
    size_t count;
    bool end; /* no further row below `below_offset` of the command */
};

enum checkpoint_result {
    CHECKPOINT_WRITTEN, /* committed and on disk */
    CHECKPOINT_FULL,    /* no room: nothing of it was written */
};

struct checkpoint_touched {
    slot_index slot;
    uint32_t epoch;
    struct bucket_stats stats; /* as they are now; count 0: the bucket is gone */
};

struct input_checkpoint {
    enum checkpoint_result result;
    const struct checkpoint_touched *touched; /* borrowed for the step */
    size_t touched_count;
};

enum transaction_result {
    TRANSACTION_COMMITTED, /* surely: outputs, copies and frontiers are there together */
    TRANSACTION_ABORTED,   /* surely: nothing of it is there */
    TRANSACTION_FULL,      /* aborted, as the shell's queue had no room for all of it: the next is smaller */
};

/* Where the re-appends of one slot end: the greatest offset that one of them got, and 1. */
struct copied_end {
    slot_index slot;
    uint32_t epoch;
    int64_t end;
};

/* The end of the transaction of that number, known for certain (R9: until then nothing else of these partitions is begun). All reports on its
 * deliveries were stepped before, or are in the same step before it. */
struct input_transaction {
    uint64_t number;
    enum transaction_result result;
    const struct copied_end *ends; /* committed: of each slot that has re-appends in it; borrowed for the step */
    size_t end_count;
};

/* Records below `offset` come near the topic's retention: what is pending there is copied forward (R6). */
struct input_retention {
    int64_t offset;
};

/* The shell has written a re-append of a record of this slot into the transaction that is open or ending, by itself (exactly_once) or for a COMMAND_COPY: given with the step
 * that follows, before all records that were read after the command was carried out: a control among them has to end it (R5). */
struct input_reappended {
    struct record_id id; /* of the schedule; RECORD_ID_NONE: none, or of a conditional record that is copied forward undecided */
    int64_t offset;      /* of the record that was written again */
};

/* What a person wants of one schedule. */
enum steer_verb {
    STEER_MOVE,  /* due_ms: at another time (reschedule, run now, resume) */
    STEER_PAUSE, /* not before it is moved */
};

struct input_steer {
    uint64_t token;   /* comes back with the answer */
    enum steer_verb verb;
    int64_t due_ms;
    struct record_id id;
    struct stored_event found; /* as in input_record */
};

/* The lane stands still in this partition, or goes on: kept in F, so that it survives restarts and takeovers. */
struct input_lane_pause {
    lane_index lane;
    bool paused;
};

enum commit_result {
    COMMIT_ACKNOWLEDGED,
    COMMIT_FAILED,  /* surely not there, or may be sent again (retriable): the core sends a newer one */
};

struct input {
    enum input_kind kind;
    slot_index slot;
    uint32_t epoch; /* of the slot; INPUT_STOP, INPUT_SINK_ROOM, INPUT_CHECKPOINT_DONE and INPUT_TRANSACTION_DONE leave slot and epoch unset */
    union {
        const struct input_slot_gained *gained; /* borrowed for the step (it is large) */
        struct input_record record;
        struct input_position position;
        struct input_delivery delivery; /* DELIVERED, DELIVERY_FAILED, and SINK_FULL: not taken, offer it again after SINK_ROOM */
        struct input_rows rows;
        struct input_checkpoint checkpoint;
        enum commit_result commit;
        struct input_transaction transaction;
        struct input_retention retention;
        struct input_reappended reappended;
        struct input_steer steer;
        struct input_lane_pause lane_pause;
    } as;
};
/* INPUT_SLOT_LEAVING: the partition will be given up: nothing new is taken; when nothing is in flight a last commit is made, then
 * COMMAND_SLOT_LEFT says that INPUT_SLOT_LOST may come (it may come earlier: then what was in flight is repeated by the next owner).
 * INPUT_READING_STOPPED: the shell will hand over nothing more (another topic of the same name, see R8): the slot counts as caught up,
 * fires what it holds, commits nothing more to Kafka, and keeps its progress in checkpoints. INPUT_STOP: shutdown: nothing new is taken; when nothing is in flight a last
 * checkpoint and last commits are made, then COMMAND_STOPPED. */

/* ----------------------------------------------------------------------------------------------- commands */

enum command_kind {
    COMMAND_READ_PAUSE,  /* stop handing over records of the slot; go on polling */
    COMMAND_READ_RESUME,
    COMMAND_DELIVER,
    COMMAND_SCAN,
    COMMAND_CHECKPOINT,
    COMMAND_COMMIT,
    COMMAND_COPY,
    COMMAND_TRANSACTION,
    COMMAND_OUTCOME,
    COMMAND_STEERED,
    COMMAND_SLOT_LEFT,
    COMMAND_STOPPED,
};

/* Write this row to its target (or, as_refused, as a dead letter, which is acknowledged before the frontier passes the record). Answer: DELIVERED, DELIVERY_FAILED or SINK_FULL,
 * which may come at once or later. ref 0: the row is in the store at `bucket` (or, after the clock was set back, in a coarser one of that time). */
struct command_deliver {
    lane_index lane;
    bool as_refused;
    bool again; /* a repetition after a failure */
    enum delivery_failure reason; /* as_refused only: DELIVERY_UNKNOWN_TOPIC or DELIVERY_FAULT */
    bool not_reappended; /* as_refused only: what could not be written is its re-append (INPUT_DELIVERED.again); it was delivered, or decided, before */
    uint64_t sequence;
    struct key key;
    row_ref ref;
    struct bucket_id bucket;
};

/* Write this row again to the end of its own partition, in the transaction whose command follows (R4). It carries its root and its root's
 * timestamp. No answer of its own when it is written; what cannot be written has the transaction aborted. ref as in command_deliver. */
struct command_copy {
    lane_index lane;
    enum copy_why why;
    uint64_t sequence; /* of COPY_NEXT and COPY_DECIDED: if it can never be written (its own fault), INPUT_DELIVERY_FAILED with DELIVERY_FAULT says so before the end of the transaction */
    int64_t due_ms; /* to be due then. COPY_LATER: to be looked at then. Unset: COPY_NEXT, COPY_DECIDED, COPY_PAUSED */
    struct key key;
    row_ref ref;
    struct bucket_id bucket;
};

/* One slot's frontier in a transaction. */
struct transaction_slot {
    slot_index slot;
    uint32_t epoch;
    const struct partition_frontier *frontier; /* valid until the next step */
};

/* Ends the transaction to which all COMMAND_COPY, and with exactly_once all COMMAND_DELIVER, since the one before belong. Commits it together with
 * the frontiers, or aborts it: when told to, and when one of its deliveries or copies failed or was not taken. A transaction may be empty of records.
 * Answer: INPUT_TRANSACTION_DONE, after the reports on its deliveries. One is under way at a time, and none of its slots has a commit under way. */
struct command_transaction {
    uint64_t number;
    bool abort;
    const struct transaction_slot *slots; /* valid until the next step */
    size_t slot_count;
};

/*
 * What became of a control, or of a record that a control or a rule ended: final. Each cancel gets one of the first four, and so does each event with an id that
 * ended one or came too late for it; the others tell of records. Of two controls of one event the first decides, and the second has found nothing. It comes
 * when it is known: with the delivery (and its transaction) when that was under way, and when a mark may still end what is moving or undecided, with that or with
 * the commit that proves the mark. None comes when the slot is lost before; what is read again after a start is told again.
 */
enum outcome {
    OUTCOME_CANCELLED, /* the event is ended and never goes out (event_offset: itself, or its re-append when that was met) */
    OUTCOME_REPLACED,
    OUTCOME_TOO_LATE,  /* the event went out: its delivery was under way, or done in this life of the slot and not committed yet. Of a recurrence that was this
                          occurrence: OUTCOME_SKIPPED tells of the next */
    OUTCOME_NOT_FOUND, /* a cancel, and nothing was pending. What went out and is committed is not pending */
    OUTCOME_DUPLICATE, /* the record at event_offset was let fall: its id came due within the source's dedupe */
    OUTCOME_REJECTED,  /* the conditional record at event_offset was refused: an event of its id was pending */
    OUTCOME_DROPPED,   /* the conditional record at event_offset was let fall undecided: a newer control of its id counts */
    OUTCOME_SKIPPED,   /* a re-append at event_offset was ended by a newer control, or by an event that was written later (control_offset). At least once, of an
                          occurrence at event_offset that went out: the next one is not written */
    OUTCOME_COUNT,
};

struct command_outcome {
    enum outcome outcome;
    int64_t control_offset; /* -1: none */
    int64_t event_offset;   /* -1: none */
    int64_t event_due_ms;   /* as its key has it */
    bool by_cancel;         /* the control is a cancel, else an event that replaces. Of SKIPPED and DROPPED: as far as it was read in this life of the slot */
};

enum steer_result {
    STEER_DONE,
    STEER_NOT_FOUND, /* nothing of the id is pending; or a control that was read meanwhile has ended it */
    STEER_TOO_LATE, /* its delivery is under way, or was a moment ago */
    STEER_MOVING,   /* its re-append is not read back yet, or the partition is not yet: ask again with the next step in which something was read */
    STEER_BUSY,     /* too many of this partition are under way: ask again later */
    STEER_FAILED,   /* it could not be written again, three times */
    STEER_STOPPED,  /* the partition is being given up, or another topic stands there: ask its owner */
};

/* Answer to INPUT_STEER; exactly one. */
struct command_steered {
    uint64_t token;
    enum steer_result result;
    int64_t due_ms; /* that it had; of STEER_DONE and STEER_TOO_LATE */
};

/* Read rows of a bucket. Answer: INPUT_ROWS; the answers of a queue and purpose come in the order of its commands. */
struct command_scan {
    struct bucket_id bucket;
    enum scan_purpose purpose;
    int64_t from_offset;
    int64_t below_offset; /* rows at or beyond are not asked for */
    uint32_t rows_max;
};

struct command {
    enum command_kind kind;
    slot_index slot;
    uint32_t epoch;
    union {
        struct command_deliver deliver;
        struct command_scan scan;
        const struct checkpoint_plan *plan;
        const struct partition_frontier *frontier; /* COMMAND_COMMIT; valid until the next step */
        struct command_copy copy;
        struct command_transaction transaction; /* slot and epoch of the command are unset */
        struct command_outcome outcome;
        struct command_steered steered;
    } as;
};

/* Commands of one step, in order. Owned by the core, valid until its next step. */
struct commands {
    const struct command *items;
    size_t count;
    const row_ref *releases; /* rows whose bytes are needed no more, once the commands were executed; each ref exactly once */
    size_t release_count;
};

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

/* Checks every invariant that can be checked (counts, order, heap, ring, C, bounds); aborts with a message on a violation.
 * For tests and the simulator. O(everything). */
void core_validate(const struct core *core);

#endif
