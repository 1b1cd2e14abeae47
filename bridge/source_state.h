/* Room-internal: what a source keeps, and what its files offer each other. Owner thread only. */
#ifndef TARRY_BRIDGE_SOURCE_STATE_H
#define TARRY_BRIDGE_SOURCE_STATE_H

#include <librdkafka/rdkafka.h>

#include "bridge/source.h"

enum source_phase {
    SOURCE_PHASE_NONE,     /* not ours */
    SOURCE_PHASE_ASKED,    /* assigned; waits for source_start or source_hold */
    SOURCE_PHASE_STARTED,  /* is read, or will be from the next poll on */
    SOURCE_PHASE_HELD,     /* ours, not read */
    SOURCE_PHASE_REVOKED,  /* waits for source_release */
};

struct source_partition {
    enum source_phase phase;
    bool fetching;      /* librdkafka has it in its assignment */
    bool paused;        /* the shell wants it paused */
    bool client_paused; /* librdkafka has it paused: this outlives an assignment there */
    int64_t next;       /* the next offset to hand over */
};

/* A topic once seen stays until the source is closed: that is what makes its name a stable pointer. */
struct source_topic {
    char *name;
    struct source_partition *partitions;
    int32_t partition_count;
};

struct source_notice {
    enum source_event_kind kind; /* ASSIGNED or REVOKED */
    struct source_topic *topic;
    int32_t partition;
    bool lost;
};

struct source {
    rd_kafka_t *handle;
    rd_kafka_queue_t *queue;
    rd_kafka_event_t *borrowed; /* the event whose message the last SOURCE_RECORD points into */
    struct record_header *headers;
    size_t header_room;

    struct source_topic **topics;
    size_t topic_count;
    struct source_topic *last_topic; /* of the last record: most often the next one's */

    struct source_notice *notices; /* ASSIGNED and REVOKED not yet handed over; bounded by two for each partition of a rebalance */
    size_t notice_count;
    size_t notice_next;
    size_t notice_room;

    bool assign_owed;    /* librdkafka waits for our assign call */
    bool assign_changed; /* a partition was started or held since the last one */
    bool revoke_owed;    /* librdkafka waits for our unassign call */
    size_t unreleased;   /* partitions of the revocation under way that wait for source_release */

    bool rejoining;    /* cooperative: what was revoked is given up, and librdkafka joins again until a REBALANCE event says that it has, */
    bool assign_first; /* which is not the next one: that is of the rebalance that revoked, and only after its answer it joins */
    struct source_deferred *deferred; /* commits that wait for that */
    size_t deferred_count;
    size_t deferred_room;

    void *members;     /* librdkafka's words for our place in the group, as of the last assignment or revocation answered; NULL: none. */
    size_t members_size;

    bool troubled;     /* TROUBLE without a topic was said and no CONNECTED since */
    bool fatal_said;
    rd_kafka_t *reader; /* the consumer for single questions (anchors, high watermarks); lives while partitions wait for their start */
    bool reader_kept;   /* an answer by it is still to come */
    rd_kafka_t *asker;  /* fetches nothing, so that no answer waits behind a fetch; NULL: nothing was asked yet; lives with the source */
    struct kafka_handle_ending *reader_ending; /* the last one that is no longer needed, on its way down */
    struct kafka_property *properties; /* copies, for the reader */
    size_t property_count;
    char *group;
    char *instance;
};

/* source_topic.c */

/* The topic of that name, made if new. The last one is found at once, others in O(topics). */
struct source_topic *source_topic_intern(struct source *source, const char *name);

/* The partition, its room made if new. Partition must not be negative. */
struct source_partition *source_topic_partition(struct source_topic *topic, int32_t partition);

/* The same by name, or NULL when it was never seen. */
struct source_partition *source_topic_find(struct source *source, const char *name, int32_t partition);

void source_topic_free_all(struct source *source);

/* source_group.c: rebalances */

/* Takes in a REBALANCE event: notes what to tell. */
void source_group_take(struct source *source, rd_kafka_event_t *event);

/* The next notice, if any. */
bool source_group_notice(struct source *source, struct source_event *event);

/* Tells librdkafka what was started since. Call when no notice is left and before polling. */
void source_group_apply(struct source *source);

bool source_group_start(struct source *source, const char *topic, int32_t partition, int64_t offset, struct error *error);
bool source_group_hold(struct source *source, const char *topic, int32_t partition, struct error *error);
void source_group_release(struct source *source, const char *topic, int32_t partition);
bool source_group_pause(struct source *source, const char *topic, int32_t partition, bool pause, struct error *error);

/* Before the end: gives everything up and answers whatever rebalance librdkafka waits with. */
void source_group_abandon(struct source *source);

/* True if some partition waits for its start. */
bool source_group_waiting(const struct source *source);

/* source_members.c */

/* Notes our place in the group. Only while librdkafka waits for our answer to a rebalance (its file says why). */
void source_members_take(struct source *source);

/* Nothing is assigned any more. */
void source_members_forget(struct source *source);

/* source_record.c */

/* Fills event with the record; false: nothing to hand over (not ours any more, or the event is no record). */
bool source_record_take(struct source *source, rd_kafka_event_t *event, struct source_event *out);

/* Fills a record from a message. `headers` has room for *room, enlarged when needed (free() it). */
void source_record_fill(const rd_kafka_message_t *message, struct record *record, struct record_header **headers, size_t *room);

/* source_trouble.c */

/* Takes in an ERROR event; true if *out is to be handed over. */
bool source_trouble_take(struct source *source, rd_kafka_event_t *event, struct source_event *out);

/* Asks the brokers for metadata while there is trouble. True: none, or over. */
bool source_trouble_probe(struct source *source, int timeout_ms);

/* Fatal trouble in any guise; false when it was said before. */
bool source_trouble_fatal(struct source *source, const char *words, struct source_event *out);

/* source_commit.c */

/* Takes in an OFFSET_COMMIT event. */
bool source_commit_take(struct source *source, rd_kafka_event_t *event, struct source_event *out);

/* Sends the commits that waited for the end of a join. */
void source_commit_send_deferred(struct source *source);

/* Throws them away. */
void source_commit_free_deferred(struct source *source);

/* source_read.c */

/* The consumer for single questions, made if there is none: it never joins the group and asks with read_uncommitted. NULL: ERROR_INVALID. */
rd_kafka_t *source_read_handle(struct source *source, struct error *error);

/* The same with read_committed, for log start, last stable offset and times: no fetch is ever under way on its connections. */
rd_kafka_t *source_read_asker(struct source *source, struct error *error);

/* Lets the reader go, if there is one. Does not wait for its end: the owner calls it between other partitions' deliveries. */
void source_read_close(struct source *source);

/* Waits (at most timeout_ms) for the end of a reader that was let go, if there is one. */
void source_read_wait(struct source *source, int timeout_ms);

#endif
