/*
 * What became of records, for people who ask: one outcome as JSON (the history topic's value), and the latest ones in memory, found by id.
 *
 * Not a thing that anything rests on: what is told here is final already, and a restart forgets it.
 */
#ifndef TARRY_OPS_HISTORY_H
#define TARRY_OPS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/span.h"

#define HISTORY_EVENTS_MAX 10000
#define HISTORY_BYTES_MAX (UINT64_C(16) << 20)

enum history_outcome {
    HISTORY_DELIVERED,    /* by its target; target_offset where it is known */
    HISTORY_LETTER,       /* became a dead letter */
    HISTORY_CANCELLED,
    HISTORY_REPLACED,
    HISTORY_REJECTED,     /* if-exists: reject, and there was one */
    HISTORY_DUPLICATE,    /* dedupe */
    HISTORY_DROPPED_LATE, /* late: drop */
    HISTORY_EXPIRED,      /* tarry-expires */
    HISTORY_TOO_LATE,     /* a control, and the event's delivery was under way */
    HISTORY_NOT_FOUND,    /* a cancel, and nothing was there */
    HISTORY_SKIPPED,      /* an occurrence that is not to come: its schedule was cancelled or replaced, or misfire: skip */
    HISTORY_NEXT,         /* written again with its next occurrence, of `due` */
    HISTORY_MOVED,        /* written again with another due time, `due` */
    HISTORY_PAUSED,
    HISTORY_RESUMED,
    HISTORY_FINISHED,     /* of a recurrence: no occurrence is left */
    HISTORY_OUTCOMES,
};

struct history_event {
    struct span id;           /* absent: of no schedule */
    struct span source_topic;
    int32_t source_partition;
    int64_t source_offset;    /* of the record that it is about; -1: unknown */
    int64_t due_ms;           /* -1: none */
    enum history_outcome outcome;
    int64_t at_ms;            /* when it became final */
    struct span target;       /* topic; absent: none */
    int32_t target_partition; /* -1: unknown, or none */
    int64_t target_offset;    /* -1: unknown, or none */
    int64_t lateness_ms;      /* -1: it does not apply */
    const char *reason;       /* of a letter: why it is one; static. NULL: none */
    bool refused;             /* at reading: it never was an event, and is not kept among the latest ones of its id */
};

/* "delivered", "letter", "cancelled", "replaced", "rejected", "duplicate", "dropped_late", "expired", "too_late", "not_found", "skipped", "next", "moved",
 * "paused", "resumed", "finished". Static. */
const char *history_outcome_name(enum history_outcome outcome);

/*
 * Appends the event as one JSON object in one line, without a line end:
 *
 *   { "id": "order-123", "source": {"topic": "delays", "partition": 3, "offset": 42}, "due": "2026-01-31T12:00:00.000Z", "outcome": "delivered",
 *     "at": "2026-01-31T12:00:00.004Z", "target": {"topic": "orders", "partition": 0, "offset": 7}, "lateness_ms": 4 }
 *
 * An id that is no UTF-8, or has control characters other than \t \n \r, is base64, and "id_encoding": "base64" follows it. What is absent or unknown is null; without a
 * topic "target" is null. Of a letter "reason" says why, behind all others. A time outside the years 0001 to 9999 is the number of milliseconds. ERROR_FULL: the buffer's bound; what was appended is taken off
 * again. Pure; any thread. O(length).
 */
bool history_json(struct buffer *out, const struct history_event *event, struct error *error);

/* The latest events that have an id, at most events_max and bytes_max of them (with texts and what keeping them takes); the oldest go. Owner thread. */
struct history;

/* Nothing in it. events_max 1 to 1,000,000. Its tables, some 200 bytes for each of events_max, are allocated here. Never NULL. */
struct history *history_new(size_t events_max, uint64_t bytes_max);

/* NULL is allowed. */
void history_free(struct history *history);

/* Copies the event. One without an id, or of a refused record, is not kept, and one that alone is larger than bytes_max neither. Expected O(1) beside the ids' and topics' length. */
void history_add(struct history *history, const struct history_event *event);

/* The latest events of this id, newest first, at most `most`; returns how many. Their spans are borrowed until the next history_add. Expected O(1) beside what is
 * returned. */
size_t history_state(const struct history *history, struct span id, struct history_event *events, size_t most);

/* How many are kept, and the bytes of them that count. */
void history_size(const struct history *history, size_t *events, uint64_t *bytes);

#endif
