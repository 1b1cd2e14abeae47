/* What became of records, counted and told (daemon_outcomes.c); for the files daemon_*.c. Owner thread. */
#ifndef TARRY_OPS_DAEMON_OUTCOMES_H
#define TARRY_OPS_DAEMON_OUTCOMES_H

#include "bridge/history_sink.h"
#include "bridge/row.h"
#include "ops/history.h"
#include "ops/in_flight.h"
#include "ops/partitions.h"
#include "ops/recent_rate.h"

struct daemon;
struct daemon_copy;

/* The latest ids read, by where their records stand: for what is told of them when they have become outcomes. */
struct daemon_id;

struct daemon_outcomes {
    struct history *history;
    struct history_sink *sink; /* NULL: no history.topic */
    int64_t poll_at_ms;        /* monotonic */
    struct history_sink_counts counts;
    uint64_t no_room; /* events that the sink did not take */
    struct recent_rate delivered;
    struct daemon_id *ids;
    size_t id_bytes;
    uint64_t id_turn; /* ids read so far */
    struct buffer json;
};

bool daemon_outcomes_open(struct daemon *daemon, struct error *error);
void daemon_outcomes_close(struct daemon *daemon);
void daemon_outcomes_poll(struct daemon *daemon);
int64_t daemon_outcomes_deadline(const struct daemon *daemon);
void daemon_outcomes_read(struct daemon *daemon, const struct partition *partition, int64_t offset, struct span id); /* a record with an id */
void daemon_outcomes_root(struct daemon *daemon, const struct partition *partition, const struct input_record *taken); /* of that record: after daemon_outcomes_read */
struct in_flight_told *daemon_outcomes_note(const struct daemon *daemon, const struct row *row, int64_t offset);     /* owned; NULL: nobody would hear */
void daemon_outcomes_settled(struct daemon *daemon, const struct in_flight_item *item); /* its delivery, or what stands for it, stands */
void daemon_outcomes_copied(struct daemon *daemon, const struct daemon_copy *copy);     /* it is committed */
void daemon_outcomes_take(struct daemon *daemon, const struct partition *partition, const struct command_outcome *outcome);

#endif
