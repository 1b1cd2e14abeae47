/*
 * Duplicates (R10): a record is one when the last accepted event of its id came due at most a window before its timestamp.
 *
 * A fold over the records of a partition in the order of their offsets, and nothing else: by id the due time of the last accepted event. A record of timestamp
 * t is a duplicate when due <= t < due + window; else it is accepted, and its due time becomes the last. A cancel at t < due takes the id out, as that event never
 * fires. So each reading decides alike, whatever has fired by then. An id is forgotten when a later record's timestamp is an hour beyond its window: that, too,
 * follows from the log. An hour is what a producer's clock may be ahead. (A day later our clock does it, for partitions that are quiet.)
 *
 * Whoever begins to read at C must find the accepted record of every id that is kept, or a copy of it: C is at most the least of their offsets that have come due. Behind C duplicates may stand whose
 * accepted record is before it: their offsets are kept in the checkpoint, as skips that span nothing. Without that checkpoint, and beyond DEDUPE_REFUSED_MAX of them, they
 * are judged by what stands from C on.
 *
 * Bounded: DEDUPE_IDS_MAX ids; then the one whose window ends first is forgotten. All by the owner thread.
 */
#ifndef TARRY_SCHEDULER_DEDUPE_H
#define TARRY_SCHEDULER_DEDUPE_H

#include "scheduler/types.h"

#define DEDUPE_IDS_MAX 1000000u
#define DEDUPE_REFUSED_MAX 16384u
#define DEDUPE_LOOK_MAX 10000u
#define DEDUPE_SLACK_MS INT64_C(3600000)
#define DEDUPE_REST_MS INT64_C(86400000)

struct dedupe_entry;

struct dedupe {
    struct dedupe_entry *entries;
    uint32_t *heap;        /* indices of entries, by the end of their windows */
    uint32_t *places;      /* a hash table of indices + 1, 0: free */
    uint32_t capacity;     /* of entries and heap; places are twice as many; a power of two, or 0 */
    uint32_t count;
    uint32_t first;        /* by offset; meaningless when there is none */
    uint32_t last;
    uint64_t forgotten;    /* for want of room, while their windows were open */
    int64_t *refused;      /* offsets of duplicates, ascending */
    uint32_t refused_count;
    uint32_t refused_capacity;
    uint32_t refused_next; /* all before it are below what was read */
    int64_t wall_ms;       /* of the last dedupe_rest */
};

/* A record with an id. */
struct dedupe_record {
    struct record_id id;
    int64_t offset;
    int64_t timestamp_ms;
    int64_t due_ms;
    int64_t window_ms; /* > 0; of a cancel unset */
    bool cancel;
    bool conditional;  /* it is no event yet, and perhaps never: it may be a duplicate, and makes none. If it is accepted, its re-append does */
    bool again;        /* a re-append that counts (no mark has ended it): its event is the last of its id now, and it is no duplicate of itself */
};

void dedupe_free(struct dedupe *dedupe);

/* The skips of a checkpoint, of which those that span nothing are duplicates; below C they are of no matter. */
void dedupe_gain(struct dedupe *dedupe, int64_t low_offset, const struct skip *skips, size_t count);

/* A record of any kind was read at this time: forgets ids. Before dedupe_take. O(1), and O(log n) for each that is forgotten. */
void dedupe_pass(struct dedupe *dedupe, int64_t timestamp_ms);

/* True: it is a duplicate. Records come in the order of their offsets. O(log n). */
bool dedupe_take(struct dedupe *dedupe, const struct dedupe_record *record);

/* By our clock: forgets what is long over. O(1), and O(log n) for each that is forgotten. */
void dedupe_rest(struct dedupe *dedupe, int64_t wall_ms);

/* C was committed there. O(duplicates). */
void dedupe_committed(struct dedupe *dedupe, int64_t low_offset);

/* C may not be greater than this, if nothing else is below `low`. An id whose event is not due yet does not count: the event itself keeps C, until it is done or
 * copied forward, and then its copy says all that is needed. Looks at DEDUPE_LOOK_MAX ids; beyond, the bound may be too low. */
int64_t dedupe_bound(const struct dedupe *dedupe, int64_t low);

/* Aborts when order or counts are wrong. O(n). */
void dedupe_validate(const struct dedupe *dedupe);

#endif
