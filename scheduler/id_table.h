/*
 * A table from schedule id to a few numbers: the events that were read and not yet written, the marks (R5), and what is moving (R4). Ids are hashes already, so they
 * are their own. Open addressing; all by the owner thread.
 */
#ifndef TARRY_SCHEDULER_ID_TABLE_H
#define TARRY_SCHEDULER_ID_TABLE_H

#include "scheduler/types.h"

struct id_entry {
    struct record_id id; /* RECORD_ID_NONE: a free place */
    int64_t offset;
    int64_t end;    /* of a mark, and of what is moving (reappend.h) */
    int64_t waits;  /* of a mark: offset of a control whose outcome waits for it (marks_wait), -1: none */
    int64_t before; /* of a mark: offset of the one that stood in its place, -1: none */
    int64_t due_ms; /* of an event, as what follows */
    int64_t root;
    uint32_t bytes;
    lane_index lane;
    bool by_cancel; /* of a mark: its control is a cancel */
    bool waits_by_cancel;
    bool decided;   /* of what is moving: by core_decide, so it is to be moved even if its transaction is aborted */
};

struct id_table {
    struct id_entry *entries;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
};

/* Frees the room; the table is empty and usable. */
void id_table_free(struct id_table *table);

/* Keeps the entry, in place of the one with its id. The id must not be RECORD_ID_NONE. O(1) on the average. */
void id_table_put(struct id_table *table, const struct id_entry *entry);

/* NULL: none. Borrowed until the next put or remove. */
struct id_entry *id_table_find(const struct id_table *table, struct record_id id);

/* Takes the entry of this id out; if there is none, nothing happens. */
void id_table_remove(struct id_table *table, struct record_id id);

typedef bool id_table_keep_fn(struct id_entry *entry, void *context);

/* Asks `keep` about every entry, which it may change but for its id, and takes out those it does not want. O(capacity). */
void id_table_filter(struct id_table *table, id_table_keep_fn *keep, void *context);

#endif
