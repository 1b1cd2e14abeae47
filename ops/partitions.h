/*
 * The partitions that this instance was given, by slot: what the daemon knows of each beside the core.
 *
 * A slot's life: OPENING (being looked up) -> OPEN, DRAINING or HELD -> LEAVING (finishing before it is given up) -> free. Owner thread.
 */
#ifndef TARRY_OPS_PARTITIONS_H
#define TARRY_OPS_PARTITIONS_H

#include <stdbool.h>

#include "base/time_types.h"
#include "scheduler/metadata.h"

enum partitions_state {
    PARTITIONS_FREE,
    PARTITIONS_OPENING,
    PARTITIONS_OPEN,
    PARTITIONS_DRAINING, /* another topic stands there (R8): what is pending leaves, nothing is read */
    PARTITIONS_HELD,     /* an operator has to decide */
    PARTITIONS_LEAVING,
};

#define PARTITIONS_PROBLEM_MAX 768

struct partition {
    enum partitions_state state;
    const char *topic; /* interned by the source */
    int32_t number;
    size_t source_index; /* in the configuration */
    slot_index slot;
    uint32_t epoch;
    bool gained;         /* the core has it */
    bool has_ids;        /* the store may have rows with ids of it */
    bool restart;        /* DRAINING: start over when nothing is pending */
    bool start_over;     /* OPENING: by order, as if nothing had been known */
    int64_t retry_at_ms; /* OPENING: next attempt, monotonic */
    uint32_t failures;   /* OPENING: attempts in a row */
    int64_t leave_by_ms; /* LEAVING: give up waiting, monotonic */
    bool commit_fails;   /* the last commit was refused, and that was told */
    int64_t low;         /* the log's start as last looked up */
    int64_t aged_at_ms;  /* when to ask next how far its records near their retention, monotonic */
    int64_t oldest_ms;     /* timestamp of the oldest record that is still needed, as last looked up; INT64_MIN: the topic has it no more */
    bool oldest_known;
    int64_t oldest_at_ms;  /* when to look again, monotonic */
    struct metadata_identity identity;
    char problem[PARTITIONS_PROBLEM_MAX]; /* "" or why it is not as it should be */
};

struct partitions {
    struct partition **items; /* by slot; pointers stay valid until the partition is freed */
    slot_index count;
    uint32_t last_epoch;
};

/* A free slot for this partition, in state OPENING. Borrowed until partitions_remove. */
struct partition *partitions_add(struct partitions *partitions, const char *topic, int32_t number, size_t source_index);

/* NULL: not held. */
struct partition *partitions_find(const struct partitions *partitions, const char *topic, int32_t number);

/* NULL: the slot is free. */
struct partition *partitions_at(const struct partitions *partitions, slot_index slot);

/* An epoch never used before: for each gain of a slot. */
uint32_t partitions_next_epoch(struct partitions *partitions);

/* Frees the slot. */
void partitions_remove(struct partitions *partitions, struct partition *partition);

/* How many are in this state. */
size_t partitions_count(const struct partitions *partitions, enum partitions_state state);

void partitions_free(struct partitions *partitions);

#endif
