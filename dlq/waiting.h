/*
 * Letters that wait for their time, in memory: in order of time, and by id so that a later letter of a record takes the place of an earlier one.
 *
 * A copy of what the stream says, rebuilt by reading it; it holds no letter, only where each stands. Pure; the caller's thread. Bounded: 56 bytes a letter and
 * as much as 16 for the index.
 */
#ifndef TARRY_DLQ_WAITING_H
#define TARRY_DLQ_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlq/letter.h"

#define WAITING_MAX 1000000

struct waiting;

struct waiting_id {
    uint64_t high;
    uint64_t low;
};

struct waiting_entry {
    int64_t not_before_ms; /* of the letter, or later: its target rests */
    uint64_t sequence;     /* in the stream */
    struct waiting_id id;
    uint32_t attempt;
    uint32_t replays;
    uint64_t target_hash;  /* the caller's */
};

/* The letter's id as a number. An id that is not 32 hex digits (a damaged letter) is hashed. */
struct waiting_id waiting_id_of(const char *id);

/* Never NULL. Holds at most `most`. */
struct waiting *waiting_new(size_t most);
void waiting_free(struct waiting *waiting);
void waiting_clear(struct waiting *waiting);

size_t waiting_count(const struct waiting *waiting);

enum waiting_result {
    WAITING_PUT,
    WAITING_REPLACED,  /* put; an earlier letter of the id went out: *removed */
    WAITING_OUTDATED,  /* not put: a later letter of the id, or the same one again, is there */
    WAITING_FULL,      /* not put: no room */
    WAITING_KNOWN,     /* not put: this very message is there */
};

/* Later is: more replays, then more attempts. Of two of the same replays and attempt the one that stands earlier in the stream stays. O(log n). */
enum waiting_result waiting_put(struct waiting *waiting, const struct waiting_entry *entry, struct waiting_entry *removed);

/* The first by (not_before, sequence). False: none. O(1). */
bool waiting_first(const struct waiting *waiting, struct waiting_entry *entry);

/* Takes the first out, if it is due at now_ms. False: none is. O(log n). */
bool waiting_take(struct waiting *waiting, int64_t now_ms, struct waiting_entry *entry);

/* The letter of this id. False: none. O(1). */
bool waiting_find(const struct waiting *waiting, struct waiting_id id, struct waiting_entry *entry);

/* Takes it out. False: it is not there. O(log n). */
bool waiting_remove(struct waiting *waiting, struct waiting_id id);

/* True: structure and index agree (tests). O(n). */
bool waiting_sound(const struct waiting *waiting);

#endif
