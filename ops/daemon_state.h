/* The daemon's insides, for the files daemon_*.c. */
#ifndef TARRY_OPS_DAEMON_STATE_H
#define TARRY_OPS_DAEMON_STATE_H

#include "bridge/decode.h"
#include "bridge/row.h"
#include "bridge/sink_transaction.h"
#include "bridge/topic_facts.h"
#include "dlq/outbox.h"
#include "ops/api_open.h"
#include "ops/arena.h"
#include "ops/clock.h"
#include "ops/daemon.h"
#include "ops/daemon_log.h"
#include "ops/daemon_manager.h"
#include "ops/daemon_outcomes.h"
#include "ops/dialects.h"
#include "ops/event_feed.h"
#include "ops/health.h"
#include "ops/http.h"
#include "ops/in_flight.h"
#include "ops/lanes.h"
#include "ops/letter_options.h"
#include "ops/mailbox.h"
#include "ops/metrics.h"
#include "ops/nack_reader.h"
#include "ops/partitions.h"
#include "ops/redelivery.h"
#include "ops/request_watch.h"
#include "ops/steering.h"
#include "ops/writer.h"
#include "ops/zones.h"
#include "scheduler/core.h"
#include "scheduler/firing.h"
#include "scheduler/recurrence.h"

#define DAEMON_PROBE_MS 1000

/* A bucket scan that was carried out, until its rows were stepped. */
struct daemon_scan {
    struct scanned_row *rows;
    uint32_t capacity;
};

/* One source of the configuration, compiled. */
struct daemon_source {
    struct decode_rules rules;
    struct decode_route *routes;
    const struct dialect **dialects;
    struct firing_rules firing;
    struct misfire_policy misfire;
    uint64_t fingerprint;
    struct topic_facts facts;
    bool facts_known;
    bool facts_refused;  /* that was told */
    int64_t facts_at_ms; /* when to ask again, monotonic */
};

/* A letter for which the outbox had no room: what it is made of, kept until there is. */
struct daemon_letter {
    struct in_flight_item *item;
    struct key key;
    uint8_t *row; /* its bytes: those of memory and store may be gone by then */
    size_t row_length;
    char error[REFUSAL_TEXT_MAX];
};

/* Dead letters: JetStream and what is on its way there. */
struct daemon_letters {
    struct link *link;
    char owner[LETTER_OPTIONS_OWNER_SIZE]; /* of the streams */
    struct outbox *outbox;         /* NULL, as the next two, until Kafka has said which cluster it is: whose letters they would be. No letter can arise before */
    struct redelivery *redelivery;
    struct nack_reader *nack_reader; /* NULL: no `nack` in the configuration */
    const struct config *policies;   /* whose targets[].retry are in force: the daemon's, or the reloaded one */
    struct config *reloaded;         /* NULL: none; other threads read it, so it is never changed */
    struct buffer headers;         /* of the letter that is being made */
    struct daemon_letter *waiting; /* for room in the outbox, oldest first, from waiting_first on; as many as the lanes' bounds allow */
    size_t waiting_first;
    size_t waiting_count;
    size_t waiting_capacity;
    uint64_t parked;    /* of those that were kept: at once */
    size_t outstanding; /* not answered yet, waiting ones included */
    bool known;         /* JetStream has answered once: its numbers mean something */
    bool told_down;     /* the log's last word was that JetStream takes no letters */
    struct outbox_status status; /* as of status_at_ms, monotonic */
    int64_t status_at_ms;
};

/* A record that was written again into the transaction that is open or ending. Its number in the list, from 1 on, is the sink's token. */
struct daemon_copy {
    slot_index slot;
    uint32_t epoch;
    lane_index lane;
    uint64_t sequence;
    enum copy_why why;
    bool resumed;                /* COPY_MOVED of what was paused */
    int64_t due_ms;              /* when it is due now */
    struct in_flight_told *told; /* owned; NULL: nobody would hear of it */
};

/* The copies of a transaction, and where those of each slot end. */
struct daemon_copies {
    struct daemon_copy *items;
    size_t count;
    size_t capacity;
    struct copied_end *ends; /* of each slot that has some; handed to the core with the transaction's end */
    size_t end_count;
    size_t end_capacity;
};

/* Wishes under way (daemon_steering.c). */
struct daemon_steering;

#define DAEMON_WATCHES_MAX 256

/* Who waits for what becomes of a record that was written through the API (daemon_watch.c). */
struct daemon_watches {
    struct request_watch *items[DAEMON_WATCHES_MAX]; /* the first `count` */
    size_t count;
};

/* Cron expressions that were read lately, by their text. */
struct daemon_cron;

/* The end of a transaction that the core has ordered, until nothing stands in its way. */
struct daemon_end {
    bool ordered;
    bool abort;
    size_t offset_count;
    int64_t give_up_ms; /* monotonic: letters that have no room in the outbox by then are not waited for */
    struct buffer members;
};

struct daemon {
    struct config *config;
    struct daemon_options options;
    struct clock clock;
    struct now now;
    int wake_fd; /* an eventfd: source, sink and writer make it readable */

    struct core *core;
    struct store *store;
    struct source *source;
    struct sink *sink;
    struct writer *writer;
    struct mailbox *mailbox;
    struct http *http;
    struct daemon_manager manager;
    struct api *api;
    struct event_feed *feed;
    struct metrics *metrics;
    struct daemon_log log;

    struct lanes lanes;
    struct target_pattern *patterns;
    const char **known_targets;
    struct target_list targets;
    struct daemon_source *sources;
    struct partitions partitions;
    struct partition *last_partition; /* of the last record: the next one is mostly of the same */
    struct arena arena;
    struct in_flight in_flight;
    struct buffer row;
    struct daemon_letters letters;
    struct dialects dialects;
    struct zones *zones;
    struct daemon_cron *crons;
    uint64_t id_seed;
    bool id_seed_known;
    struct daemon_outcomes outcomes;
    struct steering *steering;
    struct daemon_steering *steered; /* what it has under way */
    struct daemon_watches watches;

    struct input *inputs; /* facts for the next step */
    size_t input_count;
    size_t input_capacity;
    struct input_slot_gained *gained[64]; /* what the inputs of kind SLOT_GAINED point to, freed after the step */
    size_t gained_count;
    struct daemon_scan *scans;
    size_t scan_count;
    size_t scan_capacity;
    struct writer_result written;
    bool written_valid; /* `written` is to be freed after the step */
    char (*plan_texts)[METADATA_MAX + 1];
    const char **plan_text_list;
    size_t plan_text_capacity;

    struct sink_offset *offsets; /* of the transaction being ended */
    char (*offset_texts)[METADATA_MAX + 1];
    size_t offset_capacity;
    uint64_t transaction; /* number of the one that is ending */
    struct daemon_end end;
    struct in_flight_item *settling; /* acknowledged in the transaction that has not ended: counted when it commits */
    size_t settling_count;
    size_t settling_capacity;
    bool spoilt;          /* something of the open transaction was not sent */
    struct daemon_copies copies; /* of the open or ending transaction */
    struct sink_transaction_result result; /* of the one that has ended, while end_at_ms counts */
    int64_t end_at_ms;    /* when to ask (again) where its copies end, monotonic; TIME_NEVER: nothing to ask. Those that are known are not asked for again */

    char cluster[METADATA_CLUSTER_MAX];
    bool connected;
    bool was_connected;
    char trouble[256];
    int64_t open_at_ms;  /* no look-up of a partition before, monotonic: a failed one held the owner up */
    int64_t probe_at_ms; /* while there is trouble: when to ask whether it is over, monotonic */
    bool sink_full;
    bool store_reading;      /* a read snapshot is open in this turn */
    bool stopping;
    bool stopped;            /* the core has said so */
    bool failed;             /* the process has to end */
    struct error failure;
    int64_t stop_by_ms;      /* monotonic; TIME_NEVER while not stopping */
    int64_t written_at_ms;   /* last checkpoint, monotonic */
    int64_t started_wall_ms;
    bool asked; /* somebody waits for an answer by HTTP, or may do so */
    uint64_t turns;
};

/* Adds a fact for the next step and returns it, with slot and epoch filled in; partition may be NULL. Borrowed until the next one. */
struct input *daemon_input(struct daemon *daemon, enum input_kind kind, const struct partition *partition);

/* Ends the loop after this turn with this error. The first one counts. */
void daemon_fail(struct daemon *daemon, const struct error *error);

/* daemon_setup.c */
bool daemon_setup(struct daemon *daemon, struct error *error);
void daemon_setup_teardown(struct daemon *daemon);
void daemon_setup_reload(struct daemon *daemon);

/* daemon_open.c: partitions given to us (R8): opens those whose time has come, a bounded number in a turn. */
void daemon_open_partitions(struct daemon *daemon);
void daemon_open_assigned(struct daemon *daemon, const char *topic, int32_t number);
void daemon_open_leave(struct daemon *daemon, struct partition *partition, bool lost);
void daemon_open_left(struct daemon *daemon, struct partition *partition);
int64_t daemon_open_deadline(const struct daemon *daemon);
bool daemon_open_only_paused(const struct daemon *daemon, const struct partition *partition); /* gained: all that is pending, and something is */

/* daemon_cluster.c. Blocks up to timeout_ms until the cluster's id is known. False: ERROR_UNAVAILABLE, or the process ends. */
bool daemon_cluster_know(struct daemon *daemon, int timeout_ms, struct error *error);

/* daemon_intake.c: what the source and the sink say. Returns true when there may be more at once. */
bool daemon_intake(struct daemon *daemon);
bool daemon_intake_reports(struct daemon *daemon);

/* daemon_ids.c: ids as the core knows them. */
struct record_id daemon_ids_hash(struct daemon *daemon, struct span id);                                               /* absent: RECORD_ID_NONE */
uint64_t daemon_ids_place(const void *bytes, size_t length);                                                              /* a hash for tables here */
struct stored_event daemon_ids_find(struct daemon *daemon, const struct partition *partition, struct record_id id); /* in the store; offset -1: none. It cannot be read: daemon_fail */
bool daemon_ids_look(struct daemon *daemon, const struct partition *partition, struct record_id id, struct stored_event *event, struct error *error); /* the same for who only asks: false, and nobody has to end */

/* daemon_schedules.c: what comes again. */
bool daemon_schedules_check(struct daemon *daemon, const struct decoded *decoded, struct refusal *refusal); /* at intake. BAD_SCHEDULE: it never comes */
bool daemon_schedules_first(struct daemon *daemon, const struct partition *partition, const struct row *row, int64_t offset, int64_t *due_ms);
bool daemon_schedules_step(struct daemon *daemon, const struct partition *partition, const struct row *row, int64_t offset, struct recurrence_step *step);
static inline bool daemon_schedules_recurs(const struct row *row)
{
    return !row->refused && row->decoded.recurrence.kind != DECODE_RECURRENCE_NONE;
}

/* daemon_again.c: records written again (R4). */

enum daemon_decided {
    DAEMON_DECIDED_WRITE,
    DAEMON_DECIDED_NOTHING, /* rejected, dropped, or no occurrence follows */
    DAEMON_DECIDED_NEVER,   /* it has no time any more, or nobody here can say when: its zone or expression does not read */
};

/* How the record of a COMMAND_COPY is written again: as *how says, of which NULL is as it stands. `row` is accepted, but with COPY_FORWARD and COPY_LATER. */
enum daemon_decided daemon_again_make(struct daemon *daemon,
                                      const struct partition *partition,
                                      const struct command_copy *command,
                                      const struct row *row,
                                      struct outgoing_again *again,
                                      const struct outgoing_again **how);
enum daemon_decided
daemon_again_decide(struct daemon *daemon, const struct partition *partition, const struct row *row, int64_t offset, struct outgoing_again *again);

/* Where the copy belongs: of a delivery with exactly_once the row of the delivery, else that of COMMAND_COPY. */
struct daemon_place {
    lane_index lane;
    uint64_t sequence; /* 0 with a `why` that nobody is told of */
    struct key key;
    int64_t due_ms; /* COPY_FORWARD, COPY_LATER, COPY_MOVED */
};
void daemon_again_write(struct daemon *daemon,
                        const struct partition *partition,
                        const struct row *row,
                        const struct daemon_place *place,
                        enum copy_why why,
                        const struct outgoing_again *again);
void daemon_again_prepare(struct daemon *daemon); /* copies will be needed soon: the first one waits for less then */
void daemon_again_copy(struct daemon *daemon, const struct partition *partition, const struct command_copy *command);
void daemon_again_report(struct daemon *daemon, const struct sink_report *report); /* on a copy: it can never be written */
void daemon_again_end(struct daemon *daemon, bool committed);                      /* of the transaction: tells of them, and forgets them */
void daemon_again_fault(struct daemon *daemon, const struct partition *partition, lane_index lane, uint64_t sequence, enum letter_reason reason, const char *text);

/* daemon_deliver.c: COMMAND_DELIVER. */
void daemon_deliver(struct daemon *daemon, const struct partition *partition, const struct command_deliver *deliver);

/* daemon_watch.c: who has written a record through the API waits for what becomes of it. */
bool daemon_watch_add(struct daemon *daemon, struct request_watch *watch); /* takes one of its two drops over. False: too many wait */
void daemon_watch_read(struct daemon *daemon, const struct partition *partition, const struct input_record *taken, const struct decoded *decoded);
void daemon_watch_refused(struct daemon *daemon, const struct partition *partition, const struct record *record, const struct refusal *refusal);
void daemon_watch_outcome(struct daemon *daemon, const struct partition *partition, const struct command_outcome *outcome); /* before it stands in the history */
void daemon_watch_letter(struct daemon *daemon, const struct in_flight_item *item); /* it became one */
void daemon_watch_stepped(struct daemon *daemon);                                   /* the step's commands are carried out */
void daemon_watch_close(struct daemon *daemon);
/* The row of what core_look_id has found, if it can be had: handed to `look`, borrowed for that call. False: it cannot. */
bool daemon_watch_row(struct daemon *daemon,
                      const struct partition *partition,
                      const struct core_event *event,
                      void (*look)(void *context, const struct row *row),
                      void *context);
/* What the history of this instance says last of an id that is not pending in that partition: DELIVERED or ALREADY, with when; else NOT_FOUND. */
enum request_watch_end daemon_watch_past(const struct daemon *daemon, const struct partition *partition, struct span id, int64_t *at_ms);

/* daemon_steering.c: people's wishes. */
bool daemon_steering_open(struct daemon *daemon, struct error *error);
void daemon_steering_close(struct daemon *daemon); /* who waits is told that the daemon ends */
void daemon_steering_free(struct daemon *daemon);  /* nobody asks any more */
void daemon_steering_take(struct daemon *daemon);
bool daemon_steering_wants(const struct daemon *daemon); /* its fd is worth waiting for */
int64_t daemon_steering_deadline(const struct daemon *daemon);
void daemon_steering_answer(struct daemon *daemon, const struct command_steered *steered);

/* daemon_commands.c */
void daemon_commands(struct daemon *daemon, const struct commands *commands);
void daemon_commands_written(struct daemon *daemon);

/* The metadata text of a slot's frontier (METADATA_MAX + 1 bytes); false: it does not fit, and the process ends. */
bool daemon_commands_text(struct daemon *daemon, const struct partition *partition, const struct partition_frontier *frontier, char *text);

/* The row's bytes from the store. Begins a read snapshot if none is open (daemon->store_reading). ERROR_NOT_FOUND: it is not there (any more). Borrowed while that is open. */
bool daemon_commands_stored(struct daemon *daemon, slot_index slot, lane_index lane, struct key key, struct span *bytes, struct error *error);

/* The row of a record and its bytes (may be NULL), from memory or the store; false: the process ends. Borrowed until the end of the turn. */
bool daemon_commands_row(struct daemon *daemon,
                         const struct partition *partition,
                         lane_index lane,
                         struct key key,
                         row_ref ref,
                         struct row *row,
                         struct span *bytes);

/* daemon_transaction.c */
bool daemon_transaction_settled(struct daemon *daemon); /* no former process of this name can commit any more: frontiers may be read */
bool daemon_transaction_exact(const struct daemon *daemon);
void daemon_transaction_note(struct daemon *daemon, struct in_flight_item *item); /* done, if the transaction commits; takes over what it owns */
void daemon_transaction_end(struct daemon *daemon, const struct command_transaction *command);
void daemon_transaction_try_end(struct daemon *daemon); /* tells the sink, once all letters of it are answered */
void daemon_transaction_take(struct daemon *daemon);
int64_t daemon_transaction_deadline(const struct daemon *daemon);

/* daemon_topics.c: what the brokers say of the input topics, and how near their retention comes to what is pending. */
void daemon_topics_watch(struct daemon *daemon);
int64_t daemon_topics_deadline(const struct daemon *daemon);

/* daemon_retention.c: when the topic's retention reaches the oldest record that is still needed. */
bool daemon_retention_watches(const struct daemon *daemon, const struct partition *partition);
struct partition *daemon_retention_next(const struct daemon *daemon); /* whose turn it is; NULL: nobody's */
void daemon_retention_look(struct daemon *daemon, struct partition *partition); /* blocks as daemon_topics_watch; sets oldest_at_ms */
int64_t daemon_retention_headroom_ms(const struct daemon *daemon, const struct partition *partition); /* >= 0; TIME_NEVER: none, or not known */

/* daemon_letters.c: what cannot be understood or delivered becomes a dead letter. */
bool daemon_letters_open(struct daemon *daemon, struct error *error); /* does not wait for NATS */
bool daemon_letters_start(struct daemon *daemon, struct error *error); /* once the cluster's id is known */
void daemon_letters_close(struct daemon *daemon);
void daemon_letters_send(struct daemon *daemon, struct in_flight_item *item, struct key key, const struct row *row, struct span bytes, const char *error);
bool daemon_letters_take(struct daemon *daemon); /* true: there may be more at once */
void daemon_letters_redelivery(const struct daemon *daemon, struct redelivery_status *status);
const struct outbox_status *daemon_letters_status(struct daemon *daemon); /* some 100 ms old at most */
void daemon_letters_reload(struct daemon *daemon, struct config *fresh); /* of the same targets; owns it from now on */
enum letter_reason daemon_letters_reason(enum refusal_reason reason);

/* daemon_health.c */
#define DAEMON_COMPONENTS 5
#define DAEMON_DETAILS 24

/* Components and the details that they borrow. */
struct daemon_health {
    struct health_component components[DAEMON_COMPONENTS];
    struct health_detail details[DAEMON_DETAILS];
    struct redelivery_status redelivery;
    char paused[512]; /* names of targets */
    struct health_detail paused_detail;
};
void daemon_health_fill(struct daemon *daemon, struct daemon_health *health);
bool daemon_health_ready(struct daemon *daemon);

/* daemon_observe.c */
void daemon_observe_serve(struct daemon *daemon);

#endif
