/*
 * Waiting for what became of a record that the API has written: a worker waits, the owner reads the record and says (daemon_watch.c).
 *
 * A watch knows its records by a word that they carry (header tarry-request), and has a place for each partition in which one is expected. It belongs to both sides, and is
 * freed by the one that drops it last.
 */
#ifndef TARRY_OPS_REQUEST_WATCH_H
#define TARRY_OPS_REQUEST_WATCH_H

#include "base/span.h"
#include "base/time_types.h"
#include "bridge/decode.h"
#include "scheduler/types.h"

#define REQUEST_WATCH_PLACES_MAX 1024

enum request_watch_end {
    REQUEST_WATCH_OPEN,       /* nothing is known yet */
    REQUEST_WATCH_LOST,       /* the partition was given up before it was known */
    REQUEST_WATCH_SCHEDULED,  /* due_ms */
    REQUEST_WATCH_REFUSED,    /* the watch's refusal */
    REQUEST_WATCH_EXISTS,     /* if-exists: reject, and one of its id was pending */
    REQUEST_WATCH_DUPLICATE,  /* dedupe */
    REQUEST_WATCH_DROPPED,    /* undecided, and something newer of its id counts */
    REQUEST_WATCH_CANCELLED,  /* due_ms: that the event had */
    REQUEST_WATCH_STOPPED,    /* cancelled, and the occurrence that was under way went out */
    REQUEST_WATCH_TOO_LATE,   /* its delivery was under way */
    REQUEST_WATCH_NOT_FOUND,
    REQUEST_WATCH_DELIVERED,  /* not found, as it went out: at_ms */
    REQUEST_WATCH_ALREADY,    /* not found, as it was cancelled before: at_ms */
};

struct request_watch_place {
    /* Given: */
    slot_index slot;
    uint32_t epoch;
    int32_t partition;
    size_t source; /* index in the configuration */
    /* The owner's word: */
    enum request_watch_end end;
    int64_t offset; /* of the record, once it was read; -1: not yet */
    int64_t due_ms; /* -1: none is known */
    int64_t at_ms;  /* wall; -1: does not apply */
    /* The owner's own: */
    bool cancel;
    bool undecided;
    int recurs; /* of a cancel, of what it is about: 1, 0; -1: not known */
};

struct request_watch;

/* For `count` places (1 to REQUEST_WATCH_PLACES_MAX), copied; the word is 1 to DECODE_REQUEST_MAX bytes, the id may be absent; both are copied. Two drops are owed. Never NULL. */
struct request_watch *request_watch_new(struct span word, struct span id, const struct request_watch_place *places, size_t count);

/* One side needs it no more. NULL is fine. */
void request_watch_drop(struct request_watch *watch);

/* ---- who waits ---- */

/* Waits until each place has an end, `deadline` at most, and API_SLICE_MS or so beyond when *stopping turns true (NULL: it never does). True: each has. */
bool request_watch_wait(struct request_watch *watch, struct mono_ms deadline, bool (*stopping)(const void *context), const void *context);

/* Copies what is known now: `count` as given to request_watch_new; refusal may be NULL. */
void request_watch_copy(struct request_watch *watch, struct request_watch_place *places, struct refusal *refusal);

/* ---- the owner ---- */

/* Borrowed; never changed. */
struct span request_watch_word(const struct request_watch *watch);
struct span request_watch_id(const struct request_watch *watch);

/* The places. Only the owner changes them, under request_watch_lock; it may read them without. */
struct request_watch_place *request_watch_places(struct request_watch *watch, size_t *count);
void request_watch_lock(struct request_watch *watch);
void request_watch_unlock(struct request_watch *watch); /* wakes who waits when each place has an end */
void request_watch_refuse(struct request_watch *watch, const struct refusal *refusal); /* locked: whose words request_watch_copy gives */

/* True: the other side has dropped it. */
bool request_watch_left(struct request_watch *watch);

#endif
