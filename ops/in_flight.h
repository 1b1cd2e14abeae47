/*
 * What the sink was given and has not reported on: the core's name for it, for when the report comes.
 *
 * Records come from a pool and their addresses are the sink's tokens. How many there are is the core's bound (max_in_flight of each lane).
 * Beside them the last errors of deliveries, for the letters of records that are at fault. Owner thread.
 */
#ifndef TARRY_OPS_IN_FLIGHT_H
#define TARRY_OPS_IN_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/core.h"

/* What became of an item that was not sent anywhere. */
enum in_flight_end {
    IN_FLIGHT_LEAVES,  /* it was: to its target, or as a letter */
    IN_FLIGHT_DROPPED, /* too late (late: drop) */
    IN_FLIGHT_SKIPPED, /* an occurrence that has passed (misfire: skip) */
};

/* What history tells of an item, when it is final: its id and target. */
struct in_flight_told {
    int64_t offset; /* of the record that a person wrote */
    int64_t target_offset;
    int32_t target_partition;
    bool finished; /* of a recurrence: no occurrence follows */
    uint16_t id_length;
    uint16_t target_length;
    uint8_t bytes[]; /* the id, then the target's name */
};

struct in_flight_item {
    struct in_flight_item *next; /* while free */
    slot_index slot;
    uint32_t epoch;
    lane_index lane;
    bool as_letter;
    bool refused;   /* as_letter: at reading; else at delivery, by the target */
    uint8_t reason; /* as_letter: enum letter_reason */
    bool parked;    /* as_letter: at once */
    uint8_t end;    /* enum in_flight_end */
    bool again;     /* the record goes on as a re-append when this is done with: INPUT_DELIVERED says so */
    enum copy_why why;           /* of `again` */
    struct in_flight_told *told; /* owned; NULL: nobody would hear of it */
    size_t source_index;
    uint64_t sequence;
    int64_t due_ms;
    int64_t sent_ms; /* monotonic */
};

#define IN_FLIGHT_ERRORS 2048 /* more than are reported in a turn */
#define IN_FLIGHT_ERROR_MAX 256

struct in_flight_error {
    uint64_t sequence;
    uint32_t epoch;
    lane_index lane;
    const char *reason; /* as in struct sink_report */
    char text[IN_FLIGHT_ERROR_MAX];
};

struct in_flight_block;

struct in_flight {
    struct in_flight_item *free;
    struct in_flight_block *blocks;
    size_t count;
    struct in_flight_error errors[IN_FLIGHT_ERRORS]; /* by sequence: a later one takes the place of what is IN_FLIGHT_ERRORS behind it */
};

/* A record to fill in. Never NULL. O(1). */
struct in_flight_item *in_flight_take(struct in_flight *in_flight);

/* Gives it back, with what it owns. */
void in_flight_give(struct in_flight *in_flight, struct in_flight_item *item);

/* Remembers why a delivery failed; an older one may be forgotten for it. An empty text is not remembered. reason: static, or NULL. O(1). */
void in_flight_note(struct in_flight *in_flight, const struct in_flight_item *item, const char *reason, const char *text);

/* The remembered text, or a general one; *reason as noted, NULL when it is not remembered. Borrowed until the next note. O(1). */
const char *in_flight_text(const struct in_flight *in_flight, uint32_t epoch, lane_index lane, uint64_t sequence, const char **reason);

void in_flight_free(struct in_flight *in_flight);

#endif
