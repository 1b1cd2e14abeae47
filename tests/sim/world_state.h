/* What the world is made of; for world_*.c only. */
#ifndef TARRY_TESTS_WORLD_STATE_H
#define TARRY_TESTS_WORLD_STATE_H

#include "base/random.h"
#include "scheduler/core.h"
#include "tests/sim/world.h"

#define WORLD_PARTITIONS_MAX 3
#define WORLD_INSTANCES_MAX 2
#define WORLD_LANES_MAX 4
#define WORLD_WALL_0 INT64_C(1800000000000)
#define SECOND_MS INT64_C(1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)

enum target_kind {
    TARGET_GOOD,
    TARGET_UNKNOWN,
    TARGET_FAULT,
};

/* A record of a partition and what became of it. A *life* is one holding of the partition by one start of an instance. */
struct world_record {
    int64_t offset;
    int64_t due_ms;
    uint32_t bytes;
    lane_index lane;
    enum target_kind target;
    uint32_t taken;         /* times a target took it */
    bool committed;         /* a commit that Kafka has covers it */
    uint64_t sent_life;     /* last life that sent it */
    uint64_t failed_life;   /* the life in which a failure allows it to be sent again */
    uint64_t reported_life; /* the life that was told of its delivery */
    uint64_t claimed_life;  /* the life of which a commit covers it */
    uint64_t acked_life;    /* the life that knows of a commit that covers it */
    int64_t known_wall_ms;  /* when the present life came to know it, by its clock */
};

struct world_partition {
    struct world_record *records;
    size_t count;
    size_t capacity;
    int64_t log_end;
    bool has_group;
    struct partition_frontier group; /* committed, as read back from its text */
    int holder;                      /* instance, -1: nobody */
    bool moving;                     /* an event will gain it */
};

struct store_row {
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
};

struct world_disk {
    struct store_part parts[WORLD_PARTITIONS_MAX];
};

struct sequence_note {
    struct world_record *record;
    bool open; /* a report is due */
    bool done;
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
};

struct world_slot {
    bool held;
    int partition;
    uint64_t life;
    uint32_t epoch;
    int64_t position;
    int64_t catch_up_to;
    bool reading_paused;
    bool reading_stopped;
    bool poll_due;
    bool leaving;
    bool commit_open;
    bool claimed;                   /* `last` holds a claim */
    struct partition_frontier last; /* claimed last: gained or built */
    struct partition_frontier acked;
    struct partition_frontier sent; /* the commit under way */
    struct world_lane lanes[WORLD_LANES_MAX];
    bool exact; /* nothing stale in the checkpoint: pending must be right all the time */
    uint64_t pending_before[WORLD_LANES_MAX];
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
    int number;
    uint64_t run;
    struct core *core;
    int64_t wall_offset;
    int64_t mono_offset;
    struct core_deadline deadline;
    struct world_slot slots[WORLD_PARTITIONS_MAX];
    struct world_disk disk;
    struct world_disk old_disk;
    bool forget
        [WORLD_PARTITIONS_MAX]; /* its reading was stopped: the checkpoint went its own way and is not used again */
    struct world_write write;
    bool sink_full;
    bool paused[WORLD_LANES_MAX];
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
    uint64_t sequence;
    int code; /* what the answer will say */
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
    uint32_t full_percent;
    uint32_t clock_ms; /* greatest step */
    bool clock_steps;
    bool tight_stats; /* the store says the least offset exactly after a split */
    uint32_t validate_every;
};

struct world {
    uint64_t seed;
    bool trace;
    struct random random;
    struct world_traits traits;
    struct core_options options;
    struct core_lane_options lane_options[WORLD_LANES_MAX];
    int64_t now; /* true time */
    bool calm;
    int64_t store_full_until;
    int64_t lane_down_until[WORLD_LANES_MAX];
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
void world_say(const struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
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

/* world_disk.c */
void world_disk_free(struct world_disk *disk);
void world_disk_copy(struct world_disk *to, const struct world_disk *from);
void world_disk_forget(struct world_disk *disk, int partition);
bool world_disk_has(const struct store_part *part, struct bucket_id bucket, int64_t offset);
void world_disk_scan(
    const struct store_part *part, const struct command_scan *scan, struct scanned_row *rows, size_t *count, bool *end);
void world_disk_write(struct world *world, struct world_instance *instance);

/* world_shell.c: what an instance's shell does. */
struct now world_shell_now(const struct world *world, const struct world_instance *instance);
struct input *world_shell_input(struct world_instance *instance, enum input_kind kind, int slot, uint32_t epoch);
void world_shell_own(struct world_instance *instance, void *memory);
void world_shell_start(struct world *world, int number);
void world_shell_gain(struct world *world, struct world_instance *instance, int partition);
void world_shell_lose(struct world *world, struct world_instance *instance, int slot);
void world_shell_end(struct world *world, struct world_instance *instance, bool crash);
void world_shell_poll(struct world *world, struct world_instance *instance, int slot);
void world_shell_report(struct world *world, struct world_instance *instance, const struct event *event);
void world_shell_wake_poll(struct world *world, struct world_instance *instance, int slot);

/* world_commands.c: carries out what a step decided. */
void world_commands_run(struct world *world, struct world_instance *instance, const struct commands *commands);

/* world_group.c: commits as Kafka keeps them. */
void world_group_apply(struct world *world, struct world_slot *slot);

/* world_oracle.c */
bool world_oracle_claims(const struct partition_frontier *frontier, const struct world_record *record);
struct world_record *world_oracle_find(const struct world *world, int partition, int64_t offset);
void world_oracle_deliver(struct world *world,
                          struct world_instance *instance,
                          struct world_slot *slot,
                          const struct command_deliver *deliver);
void world_oracle_commit(struct world *world, struct world_slot *slot, const struct partition_frontier *frontier);
void world_oracle_plan(struct world *world, struct world_instance *instance, const struct checkpoint_plan *plan);
void world_oracle_written(struct world *world,
                          const struct checkpoint_slot *part,
                          const struct store_part *store,
                          int partition);
const struct frontier_pair *world_oracle_live(const struct partition_frontier *frontier, lane_index lane);
void world_oracle_step(struct world *world, struct world_instance *instance);
void world_oracle_end(struct world *world);

/* world_faults.c */
void world_faults_happen(struct world *world);
void world_faults_calm(struct world *world);
void world_faults_place(struct world *world);

#endif
