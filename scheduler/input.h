/*
 * Inputs: facts that happened, as the shell hands them to core_step (core.h). Plain data; what is borrowed is so for the step.
 */
#ifndef TARRY_SCHEDULER_INPUT_H
#define TARRY_SCHEDULER_INPUT_H

#include "scheduler/types.h"

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
    int64_t root;        /* of that record: where a person wrote it; its own offset if it is no re-append */
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

#endif
