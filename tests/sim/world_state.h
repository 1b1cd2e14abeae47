/* What the world is made of; for world_*.c only. */
#ifndef TARRY_TESTS_WORLD_STATE_H
#define TARRY_TESTS_WORLD_STATE_H

#include "base/random.h"
#include "scheduler/core.h"
#include "scheduler/recurrence.h"
#include "tests/sim/world.h"

#define WORLD_PARTITIONS_MAX 3
#define WORLD_INSTANCES_MAX 3
#define WORLD_LANES_MAX 5 /* one of them decides */
#define WORLD_IDS_MAX 64
#define WORLD_WALL_0 INT64_C(1800000000000)
#define SECOND_MS INT64_C(1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)

enum target_kind {
    TARGET_GOOD,
    TARGET_UNKNOWN, /* before topics_at */
    TARGET_FAULT,
};

enum record_state {
    RECORD_VISIBLE,
    RECORD_OPEN,    /* of a transaction that has not ended: nobody reads at or beyond it */
    RECORD_ABORTED, /* a hole in the offsets */
};

enum record_judged {
    JUDGED_NOT,
    JUDGED_ACCEPTED,
    JUDGED_DUPLICATE, /* it acts on nothing, and nothing of it leaves */
};

/* What a record says of its schedule. */
struct world_schedule {
    int64_t nominal_ms; /* when it is due by its schedule; the record's own due time may be later, as its letter was not kept */
    int64_t every_ms;   /* 0: it comes once */
    int64_t until_ms;   /* no occurrence after it; -1: no end */
    uint32_t count;     /* firings of the chain */
    uint32_t runs;      /* before this one */
    bool conditional;   /* if-exists: reject, undecided (R10) */
    bool undecided;     /* conditional, or its first time is not known: it stands in the lane that decides */
    bool first_unknown; /* while undecided: nominal_ms means nothing */
    bool never;         /* while undecided: no time comes */
    bool unwritable;    /* the shell can never write what follows it */
    lane_index lane;    /* while undecided: where it belongs then */
};

/* A record of a partition and what became of it. A *life* is one holding of the partition by one start of an instance. */
struct world_record {
    size_t index; /* in its partition */
    int64_t offset;
    int64_t due_ms;
    uint32_t bytes;
    uint32_t id; /* 0: of no schedule */
    lane_index lane;
    bool cancel;
    struct world_schedule schedule;
    enum target_kind target;
    enum record_state state;
    int64_t root;                    /* of a re-append: offset of the record that a person wrote; else -1 */
    struct world_record *origin;     /* that record; of a person's the record itself */
    struct world_record *event;      /* the first record of this occurrence: what becomes of it is counted there */
    int64_t timestamp_ms;
    bool over;                       /* of an event: its shell has decided that nothing follows */
    enum record_judged judged;       /* by the dedupe rule */
    bool said;                       /* of a control: somebody was told that it ended something, or came too late */
    bool ended;                      /* of an event: somebody was told that it never goes out */
    bool let_fall;                   /* of an event: decided (R10), or by misfire, not to go out */
    struct world_record *same_id;    /* the next one a person wrote with this id, whatever its state */
    bool committed;                  /* a commit that Kafka has covers it */
    bool moved;                      /* a copy of it is committed */
    bool steered;                    /* one by which a person moved it: it never leaves */
    const struct world_record *copy; /* that one */
    uint32_t taken;                  /* of a person's: ends of it, or of a copy of it, that count: outputs that a reader sees, letters with which it was done */
    uint32_t outputs;                /* of a person's: of those, in its target */
    uint32_t letters;                /* of a person's: letters of it that stand in the stream */
    uint32_t unsaid;                 /* of a person's: publishes of letters that count for nothing: reported as not kept, or in a transaction that was aborted */
    int64_t lettered_at;             /* when the last of the letters was published */
};

struct world_partition {
    struct world_record **records;
    size_t count;
    size_t capacity;
    int64_t log_end; /* high watermark */
    bool has_group;
    struct partition_frontier group; /* committed, as read back from its text */
    uint64_t group_sequence;         /* of the commit that stands there: an older one that comes later is nothing (R9) */
    int holder;                      /* instance, -1: nobody */
    bool moving;                     /* an event will gain it */
    uint32_t offsets_pending;        /* transactions that name it whose end the group does not know: nobody may read its frontier */
};

struct store_row {
    struct world_record *record;
    int64_t offset;
    int64_t due_ms;
    uint32_t bytes;
    struct bucket_id bucket;
};

/* What one instance's disk knows of a partition. */
struct store_part {
    bool found;
    int64_t position;
    struct store_row *rows; /* by offset */
    size_t count;
    struct bucket_stats *buckets;
    size_t bucket_count;
    struct mark *marks;
    size_t mark_count;
    struct skip *skips;
    size_t skip_count;
};

struct world_disk {
    struct store_part parts[WORLD_PARTITIONS_MAX];
};

struct sequence_note {
    struct world_record *record;
    bool open; /* a report is due */
    bool done; /* delivered; in a transaction once that has committed */
};

/* Deliveries of one lane of one life, by sequence number. */
struct world_lane {
    struct sequence_note *notes;
    size_t count;
    size_t capacity;
    size_t prefix; /* all before it are done */
    uint32_t in_flight;
    struct key greatest; /* of those known in time and sent once */
    bool disturbed;      /* order is not promised any more */
    struct key point;    /* behind the catch-up boundary: where the life found it; from there on all that stood in the log leaves in order */
    struct key passed;   /* the last of those */
};

/* What one life knows of a record. */
struct life_note {
    int64_t known_wall_ms; /* when it came to know it, by its clock; 0: it does not */
    int64_t read;          /* how far it had read when it took the record */
    bool sent;
    bool failed;  /* may be sent again */
    bool done;    /* delivered as far as the core may know */
    bool claimed; /* a commit of it covers the record, or one that it found */
    bool copying; /* it stands in the transaction under way */
    bool steering; /* as a person wants to move it: its re-append ends it, known or not */
    bool goes_on; /* delivered, and to be written again before it is done (at least once) */
    bool ended;   /* of an event: this life has said that it never goes out */
    bool duplicate; /* this life has said so */
    uint8_t told; /* of a control: its outcome and 1 */
    bool went;    /* out, as goes_on says, or said: a control ends what follows */
    bool cut;     /* its letter is to say that nothing follows: it could not be written again */
    bool unkept;  /* its letter was said not to be kept: it is written again with a later due time */
    bool back;    /* since then a transaction with copies of its slot was aborted: it may be a letter once more */
    bool moved;   /* in one that is known to be committed */
    uint64_t transaction; /* the last one that it was sent in */
    uint8_t outs; /* of a person's: outputs that left in this life */
};

struct world_slot {
    bool held;
    bool fenced; /* somebody else may hold the partition: nothing of this one is accepted */
    int partition;
    uint64_t life;
    uint32_t epoch;
    int64_t reading; /* what is handed over next */
    int64_t position; /* what it knows: up to there, and up to what is in its store */
    int64_t catch_up_to;
    int64_t gained_low;
    int64_t judged_to; /* all below it was judged by the dedupe rule */
    int64_t known_below; /* what stands below it was done with, or in the store */
    int64_t high; /* watermark when it was gained */
    int64_t gained_position;
    bool reading_paused;
    bool reading_stopped;
    bool poll_due;
    bool leaving;
    bool commit_open;
    bool commit_settled; /* its fate was decided when the slot was fenced */
    bool commit_there;
    struct partition_frontier last; /* claimed last: gained or built */
    struct partition_frontier acked;
    struct partition_frontier sent; /* the commit under way */
    struct world_lane lanes[WORLD_LANES_MAX];
    struct world_lane behind[WORLD_LANES_MAX]; /* of what was overdue at the start, where that is a lane of its own */
    struct life_note *notes; /* by index of the record */
    size_t note_count;
    bool marked; /* its checkpoint had marks: of controls that it may not have read yet, as a full store takes marks but no rows */
    bool lane_paused[WORLD_LANES_MAX]; /* by a person, for as long as that person wants */
    bool exact; /* nothing stale in the checkpoint: pending must be right all the time */
};

/* One partition's part of a transaction. */
struct world_offsets {
    int slot;
    uint32_t epoch;
    int partition;
    struct partition_frontier frontier;
};

struct world_output {
    struct world_record *record;
    int slot;
    uint32_t epoch;
    int64_t read;
    lane_index lane;
    uint64_t sequence;
    bool letter;
    bool kept; /* that one is, and was said to be */
    bool silent; /* nothing went out: it was decided about, or let fall */
    bool falls;
};

enum world_transaction_state {
    TX_OPEN,    /* records are added */
    TX_ENDING,  /* the core has ended it: what is in flight is waited for */
    TX_SENT,    /* the group has its offsets, pending */
    TX_DECIDED, /* committed or aborted at the broker; its markers are being written */
};

/* A transaction of an instance, or (instance -1) of some producer of events. */
struct world_transaction {
    uint64_t number; /* in this world */
    int instance;
    uint64_t run;
    uint64_t core_number;
    enum world_transaction_state state;
    bool committed;
    bool failed;   /* something of it was not taken, or the core said so */
    bool orphaned; /* its instance is gone, or was away for too long */
    uint32_t reports_open;
    uint64_t sequence; /* of its offsets among the commits of the group */
    struct world_output *outputs;
    size_t output_count;
    size_t output_capacity;
    struct world_copy {
        struct world_record *from; /* NULL: an event that somebody writes */
        struct world_record *to;   /* NULL: nothing follows */
        int slot;
        uint32_t epoch;
        int partition;
        enum copy_why why;
        lane_index lane;
        uint64_t sequence;
        bool steered;
    } *copies;
    size_t copy_count;
    size_t copy_capacity;
    struct world_offsets *offsets;
    size_t offset_count;
    uint8_t markers_left;
};

/* What a person asked of an id. */
struct world_steer {
    int instance;
    uint64_t run;
    int slot;
    uint32_t epoch;
    uint32_t id;
    enum steer_verb verb;
    int64_t due_ms;
    int64_t read;              /* how far its slot had read then */
    struct world_record *from; /* what was written again for it; NULL: nothing */
    bool answered;
};

enum ref_state {
    REF_LIVE = 1,
    REF_RELEASED,
};

struct world_ref {
    struct world_record *record;
    int instance;
    uint64_t run;
    uint8_t state;
};

struct world_write {
    bool open;
    bool applied;
    enum checkpoint_result result;
    const struct checkpoint_plan *plan;
    int partitions[WORLD_PARTITIONS_MAX];
    struct checkpoint_touched *touched;
    size_t touched_count;
};

struct world_instance {
    bool alive;
    bool stopping;
    bool touched; /* has inputs, or was told to look */
    bool frozen;  /* SIGSTOP: nothing of it happens until it returns */
    int64_t thaw_at;
    int number;
    uint64_t run;
    struct core *core;
    int64_t wall_offset;   /* at wall_base of true time */
    int64_t wall_base;
    int32_t wall_permille; /* how fast it goes: 1000 is right, 0 stands still */
    int64_t mono_offset;
    struct core_deadline deadline;
    struct world_slot slots[WORLD_PARTITIONS_MAX];
    struct world_disk disk;
    struct world_disk old_disk;
    bool forget
        [WORLD_PARTITIONS_MAX]; /* its reading was stopped: the checkpoint went its own way and is not used again */
    struct world_write write;
    struct world_transaction *transaction; /* the one under way, NULL: none */
    bool sink_full;
    bool paused[WORLD_LANES_MAX];
    int64_t started_at;
    uint64_t sent[WORLD_LANES_MAX]; /* since then */
    struct input *inputs;
    size_t input_count;
    size_t input_capacity;
    void **owned; /* freed after the step */
    size_t owned_count;
    size_t owned_capacity;
    uint32_t idle_steps; /* in a row, at one time, that did nothing */
    uint32_t busy_steps; /* in a row, at one time */
    int64_t idle_at;
    int64_t stop_at;
    int64_t scan_at; /* answers to scans come in order */
};

enum event_kind {
    EVENT_PRODUCE,
    EVENT_POLL,
    EVENT_REPORT,
    EVENT_SCAN,
    EVENT_WRITE,
    EVENT_WRITTEN,
    EVENT_COMMIT,
    EVENT_COMMITTED,
    EVENT_SINK_ROOM,
    EVENT_GAIN,
    EVENT_LOSE,
    EVENT_START,
    EVENT_FAULT,
    EVENT_ENDED,
    EVENT_CALM,
    EVENT_TRANSACTION_END,   /* the instance goes on with ending it */
    EVENT_TRANSACTION_KNOWN, /* the instance learns how it ended */
    EVENT_TRANSACTION_MARK,  /* a marker of it is written; code: to the group (1) or the partitions (0) */
    EVENT_TRANSACTION_OVER,  /* its time is up at the broker */
    EVENT_FENCE,             /* the group gives a frozen instance's partitions away */
    EVENT_THAW,
    EVENT_LEARN, /* an instance is told that it lost its partitions while it was frozen */
    EVENT_RETENTION,
    EVENT_SCRIPT,
};

struct event {
    int64_t at;
    uint64_t number;
    enum event_kind kind;
    int instance;
    uint64_t run;
    int slot;
    uint32_t epoch;
    int partition;
    lane_index lane;
    uint64_t sequence; /* of a delivery; number of a transaction; line of a script */
    int code;          /* what the answer will say */
    bool again;        /* as in input_delivery */
    enum copy_why why;
    bool of_copy;      /* a report on what was written again */
    bool transacted;   /* the delivery reported belongs to a transaction */
    struct command_scan scan;
};

/* What the seed makes of this world. */
struct world_traits {
    int partitions;
    int instances;
    int lanes;
    size_t records;
    int64_t spread_ms;  /* due times beyond now, most of them */
    int64_t produce_ms; /* greatest pause between two records */
    int64_t latency_ms; /* greatest of answers */
    int64_t fault_ms;   /* mean time between faults, 0: none */
    int64_t calm_at;    /* faults end */
    uint32_t fail_percent;
    uint32_t commit_fail_percent;
    uint32_t sink_full_permille;
    uint32_t odd_target_percent;
    uint32_t letter_fail_percent;   /* not kept, and said so */
    uint32_t letter_unsaid_percent; /* kept, and said not to be */
    int64_t topics_at;              /* when unknown ones are made */
    uint32_t full_percent;
    uint32_t clock_ms; /* greatest step */
    bool clock_steps;
    bool clock_drifts; /* and stops */
    bool tight_stats;  /* the store says the least offset exactly after a split */
    uint32_t validate_every;
    uint32_t ids;              /* 0: no schedules */
    uint32_t cancel_percent;
    uint32_t steer_percent;    /* of the moments at which something is written: somebody steers */
    uint32_t foreign_percent;  /* events written in somebody's transaction */
    uint32_t abort_percent;    /* transactions that the broker aborts */
    uint32_t unknown_percent;  /* whose result comes late */
    int64_t marker_ms;         /* greatest time until the markers are written */
    int64_t timeout_ms;        /* of a transaction whose owner is gone */
    bool freezes;
    bool plain_crashes; /* nothing else goes wrong: what comes due is on time */
    uint32_t old_percent; /* of events that are due long before they are written */
    bool stops_reading;
    bool retention;
    int deciding;               /* the lane of what is undecided; -1: there is none */
    uint32_t every_percent;     /* of events that recur */
    uint32_t undecided_percent; /* of those with an id */
    uint32_t unwritable_percent;
    int64_t every_ms;
    int64_t dedupe_ms; /* 0: no such rule */
    enum misfire misfire;
    int64_t misfire_ms;
};

#define WORLD_LATE_MAX_MS 2000 /* where plain_crashes: reading, splitting and loading take no longer */
#define WORLD_BEHIND (UINT64_C(1) << 63) /* numbers of deliveries from behind the catch-up boundary have this bit */

static inline struct world_lane *world_lane_of(struct world_slot *slot, lane_index lane, uint64_t sequence)
{
    return (sequence & WORLD_BEHIND) != 0 ? &slot->behind[lane] : &slot->lanes[lane];
}

static inline struct sequence_note *world_sequence(struct world_slot *slot, lane_index lane, uint64_t sequence)
{
    return &world_lane_of(slot, lane, sequence)->notes[sequence & ~WORLD_BEHIND];
}

struct world_script;

struct world {
    uint64_t seed;
    bool trace;
    struct random random;
    struct random schedules; /* what comes with schedules is drawn apart: worlds without stay as they were */
    struct random own; /* of traits that leave worlds without them as they were */
    struct world_traits traits;
    struct core_options options;
    struct core_lane_options lane_options[WORLD_LANES_MAX];
    int64_t now; /* true time */
    bool calm;
    bool unsure; /* nothing can be said of the rest of this world */
    int64_t store_full_until;
    int64_t lane_down_until[WORLD_LANES_MAX];
    int64_t letters_down_until;
    uint32_t letters_unsaid_next; /* script: so many letters are kept, and said not to be */
    struct world_partition partitions[WORLD_PARTITIONS_MAX];
    struct world_instance instances[WORLD_INSTANCES_MAX];
    uint64_t lives;
    uint64_t runs;
    size_t produced;
    struct world_ref *refs;
    size_t ref_count;
    size_t ref_capacity;
    struct event *events; /* a binary heap */
    size_t event_count;
    size_t event_capacity;
    uint64_t event_number;
    struct world_transaction **transactions; /* that have not ended for everybody */
    size_t transaction_count;
    size_t transaction_capacity;
    uint64_t transaction_number;
    uint64_t commit_sequence;
    struct world_record *last_of_id[WORLD_PARTITIONS_MAX][WORLD_IDS_MAX + 1];
    struct world_steer *steers; /* by token */
    size_t steer_count;
    size_t steer_capacity;
    struct world_script *script; /* NULL: the seed decides */
    int preferred;               /* script: who gets partitions */
    uint32_t aborts_next;        /* script: so many transactions are aborted by the broker */
    uint32_t refusals_next;      /* script: so many commits fail */
    int64_t slow_ms[EVENT_SCRIPT + 1]; /* script: what such an event takes longer */
    struct world_result result;
};

#define GROW_FOR_ONE(array, count, capacity)                                                                           \
    do {                                                                                                               \
        if ((count) == (capacity)) {                                                                                   \
            (capacity) = (capacity) == 0 ? 16 : (capacity)*2;                                                          \
            (array) = memory_resize((array), (capacity), sizeof(*(array)));                                            \
        }                                                                                                              \
    } while (0)

/* world_say.c */
_Noreturn void world_say_broken(const struct world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void world_say_line(const struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define world_say(world, ...) ((world)->trace ? world_say_line((world), __VA_ARGS__) : (void)0)
#define PROMISE(world, condition, ...) ((condition) ? (void)0 : world_say_broken((world), __VA_ARGS__))

/* world_events.c */
void world_events_add(struct world *world, const struct event *event);
bool world_events_take(struct world *world, int64_t until, struct event *event);
int64_t world_events_next(const struct world *world);
bool world_chance(struct world *world, uint32_t percent);
int64_t world_latency(struct world *world);
struct event world_event(const struct world *world, enum event_kind kind, int instance);

/* world_traits.c */
void world_traits_draw(struct world *world);
int64_t world_traits_due(struct world *world);

/* world_log.c: the partitions. */
struct world_record *world_log_append(struct world *world, int partition, const struct world_record *record);
void world_log_control(struct world *world, int partition);
struct world_record *world_log_find(const struct world *world, int partition, int64_t offset);
int64_t world_log_stable(const struct world *world, int partition);
size_t world_log_from(const struct world_partition *partition, int64_t offset);
bool world_log_displaced(const struct world_record *record, int64_t read);
bool world_log_outdated(const struct world_record *record, int64_t read);
const struct world_record *world_log_control_of(const struct world_record *record, int64_t read);
void world_log_wake(struct world *world, int partition);
void world_log_produce(struct world *world);
void world_log_foreign(
    struct world *world, int partition, struct world_record *record, int64_t open_ms, bool commits);

/* world_transaction.c: those of the instances, and those of others. */
struct world_transaction *world_transaction_begin(struct world *world, int instance);
void world_transaction_add(struct world_transaction *transaction, const struct world_copy *copy);
void world_transaction_free(struct world_transaction *transaction);
void world_transaction_sent(struct world *world, struct world_instance *instance, const struct world_output *output);
void world_transaction_reported(struct world *world, struct world_instance *instance, bool failed);
void world_transaction_copy(struct world *world, struct world_instance *instance, const struct command *command);
void world_transaction_silent(struct world_instance *instance, bool falls);
void world_transaction_refuse(struct world *world, struct world_instance *instance);
void world_transaction_write(struct world *world, struct world_instance *instance, const struct world_copy *copy, const struct world_record *record);
void world_transaction_command(struct world *world, struct world_instance *instance, const struct command *command);
bool world_transaction_names(const struct world_instance *instance, int slot);
void world_transaction_decide(struct world *world, struct world_transaction *transaction, bool commits);
void world_transaction_orphan(struct world *world, struct world_instance *instance);
void world_transaction_freeze(struct world *world, struct world_instance *instance);
void world_transaction_finish(struct world *world, int instance);
void world_transaction_event(struct world *world, const struct event *event);

/* world_disk.c */
void world_disk_free(struct world_disk *disk);
void world_disk_copy(struct world_disk *to, const struct world_disk *from);
void world_disk_forget(struct world_disk *disk, int partition);
bool world_disk_has(const struct store_part *part, struct bucket_id bucket, int64_t offset);
void world_disk_scan(
    const struct store_part *part, const struct command_scan *scan, struct scanned_row *rows, size_t *count, bool *end);
struct stored_event world_disk_by_id(const struct store_part *part, uint32_t id);

/* world_write.c: a checkpoint, carried out. */
void world_write(struct world *world, struct world_instance *instance);

/* world_clock.c */
struct now world_clock_now(const struct world *world, const struct world_instance *instance);
void world_clock_set(struct world *world, struct world_instance *instance, int64_t offset, int32_t permille);
int64_t world_clock_when(const struct world *world, const struct world_instance *instance, int64_t wall_ms);

/* world_shell.c: what an instance's shell does. */
struct input *world_shell_input(struct world_instance *instance, enum input_kind kind, int slot, uint32_t epoch);
void world_shell_own(struct world_instance *instance, void *memory);
void world_shell_start(struct world *world, int number);
void world_shell_gain(struct world *world, struct world_instance *instance, int partition);
void world_shell_lose(struct world *world, struct world_instance *instance, int slot);
void world_shell_end(struct world *world, struct world_instance *instance, bool crash);
void world_shell_poll(struct world *world, struct world_instance *instance, int slot);
void world_shell_report(struct world *world, struct world_instance *instance, const struct event *event);
void world_shell_wake_poll(struct world *world, struct world_instance *instance, int slot);
void world_shell_settle(struct world *world, struct world_slot *slot);

/* world_answers.c: what comes back to an instance. */
void world_answers_event(struct world *world, struct world_instance *instance, const struct event *event);

/* world_commands.c: carries out what a step decided. */
void world_commands_run(struct world *world, struct world_instance *instance, const struct commands *commands);

/* world_group.c: commits as Kafka keeps them. */
void world_group_apply(struct world *world, int partition, const struct partition_frontier *frontier, uint64_t sequence);

/* world_oracle.c */
bool world_oracle_claims(const struct partition_frontier *frontier, const struct world_record *record);
struct life_note *world_oracle_note(struct world *world, struct world_slot *slot, const struct world_record *record);
void world_oracle_deliver(struct world *world,
                          struct world_instance *instance,
                          struct world_slot *slot,
                          const struct command_deliver *deliver);
void world_oracle_seen(struct world *world, struct world_record *record, int64_t read, bool letter);
void world_oracle_frontier(struct world *world,
                           struct world_slot *slot,
                           const struct partition_frontier *frontier,
                           const struct world_transaction *transaction);
void world_oracle_claimed(struct world *world, struct world_slot *slot, const struct partition_frontier *frontier);
void world_oracle_row(struct world *world,
                      const struct world_instance *instance,
                      const struct world_slot *slot,
                      row_ref ref,
                      struct bucket_id bucket,
                      const struct world_record *record);
bool world_oracle_outdated(const struct world_slot *slot, const struct world_record *record);
const struct frontier_pair *world_oracle_live(const struct partition_frontier *frontier, lane_index lane);
const struct frontier_pair *world_oracle_behind(const struct partition_frontier *frontier, lane_index lane);

/* world_plan.c: checkpoints. */
void world_plan_check(struct world *world, struct world_instance *instance, const struct checkpoint_plan *plan);
void world_plan_written(struct world *world,
                        const struct checkpoint_slot *part,
                        const struct store_part *store,
                        int partition);

/* world_steer.c: persons who steer. */
void world_steer_ask(struct world *world, int instance, int slot, uint32_t id, enum steer_verb verb, int64_t due_ms);
void world_steer_some(struct world *world);
void world_steer_pause(struct world *world, int instance, int slot, int lane, bool paused);
void world_steer_turn_lane(struct world *world, struct world_instance *instance);
void world_steer_calm(struct world *world);
void world_steer_gained(struct world *world, struct world_instance *instance, int slot);
void world_steer_frontier(struct world *world, const struct world_slot *slot, const struct partition_frontier *frontier);
int64_t world_steer_due(struct world *world, const struct world_instance *instance, const struct command *command, struct world_record *from);
void world_steer_answer(struct world *world, struct world_instance *instance, const struct command *command);
void world_steer_rate(struct world *world, struct world_instance *instance, lane_index lane);
void world_steer_end(struct world *world);

/* world_schedules.c: what recurs, and what follows a delivery. */
void world_schedules_traits(struct world *world);
void world_schedules_draw(struct world *world, struct world_record *record);
void world_schedules_place(const struct world *world, struct world_record *record);
struct world_record world_schedules_again(const struct world_record *from, int64_t due_ms);
bool world_schedules_deliver(struct world *world, struct world_instance *instance, const struct command *command, struct world_record *record, struct event *event);
void world_schedules_copy(struct world *world, struct world_instance *instance, const struct command *command, struct world_record *from);
void world_schedules_report(struct world *world, struct world_instance *instance, const struct event *event);
void world_schedules_end(struct world *world, const struct world_record *record);

/* world_decide.c: decisions. */
enum world_decided {
    WORLD_DECIDED_NOTHING,
    WORLD_DECIDED_WRITE,
    WORLD_DECIDED_NEVER, /* no time of its schedule comes */
};
enum world_decided world_decide(struct world *world, struct world_instance *instance, int slot, struct world_record *record, struct world_record *decided);

/* world_dedupe.c: duplicates. */
void world_dedupe_record(const struct world *world, const struct world_record *record, struct input_record *input);
void world_dedupe_refused(struct world *world, struct world_slot *slot, struct world_record *record);
void world_dedupe_step(struct world *world, struct world_slot *slot);

/* world_outcomes.c: what is told to people. */
void world_outcomes_hear(struct world *world, struct world_instance *instance, const struct command *command);
void world_outcomes_end(struct world *world, const struct world_instance *instance, int slot);

/* world_letters.c */
bool world_letters_publish(struct world *world, struct world_record *record);
void world_letters_report(struct world *world, struct world_slot *slot, const struct world_record *record, int code);
void world_letters_back(struct world_slot *slot);
void world_letters_copied(struct world *world, struct world_instance *instance, const struct world_slot *slot, const struct command_copy *order);
void world_letters_end(struct world *world, const struct world_record *record);

/* world_check.c */
bool world_check_waits(const struct world_slot *slot, const struct world_record *record); /* read, not done, and not ended otherwise, as the core can know it */
void world_check_step(struct world *world, struct world_instance *instance);
void world_check_end(struct world *world);

/* world_look.c: what core_look says. */
void world_look_step(struct world *world, struct world_instance *instance, int index);

/* world_faults.c */
void world_faults_happen(struct world *world);
void world_faults_calm(struct world *world);
void world_faults_place(struct world *world);
void world_faults_event(struct world *world, const struct event *event);
void world_faults_crash(struct world *world, int instance, int64_t back_after_ms);
void world_faults_freeze(struct world *world, int instance, int64_t fence_after_ms, int64_t thaw_after_ms);

/* world_script.c */
struct world_script *world_script_read(const char *path);
void world_script_free(struct world_script *script);
void world_script_options(struct world *world);
void world_script_begin(struct world *world);
void world_script_event(struct world *world, const struct event *event);
void world_script_end(struct world *world);

#endif
