/*
 * Commands: what the core has decided, as data for the shell (core.h). Valid until its next step.
 */
#ifndef TARRY_SCHEDULER_COMMAND_H
#define TARRY_SCHEDULER_COMMAND_H

#include "scheduler/checkpoint.h"
#include "scheduler/input.h"

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

#endif
