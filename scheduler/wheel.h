/*
 * A hierarchical timing wheel: the pending records of one queue that are in memory, in (due, offset) order.
 *
 * Eight levels of 256 slots hold any due from 0 to INT64_MAX in ticks of 1 ms. An entry stands at the level of the
 * highest byte in which its due differs from the wheel's *base*, in the slot that this byte names. The base is the
 * due of what was taken last (or where wheel_advance put it), never the clock: nothing ticks, an empty wheel does
 * nothing, and a bitmap finds the first slot that is in use, however far it is. So
 *   - entries of one due are always in one list, kept in the order of their offsets once they are at level 0;
 *   - all of a lower level are before all of a higher one, and within a level slots are in order: the least entry is
 *     in the first used slot of the lowest used level;
 *   - when the base moves, one slot is spread over the levels below it. An entry moves down at most seven times in
 *     its life.
 *
 * Every operation says its cost. n is the number of entries in the one slot concerned. One owner thread. Offsets in
 * a wheel differ.
 */
#ifndef TARRY_SCHEDULER_WHEEL_H
#define TARRY_SCHEDULER_WHEEL_H

#include "scheduler/entry.h"

#define WHEEL_LEVELS 8
#define WHEEL_SLOTS 256

struct wheel_slot {
    entry_index head;
    entry_index tail;
    entry_index least; /* levels above 0: its least entry, ENTRY_NONE: to be looked for. Unused at level 0: the head is */
    uint32_t count;
};

struct wheel_level {
    struct wheel_slot *slots; /* NULL until first used; a slot counts only while its bit is set */
    uint64_t used[WHEEL_SLOTS / 64];
    uint32_t count;
};

struct wheel {
    struct entry_pool *pool; /* borrowed */
    int64_t base_ms;
    uint64_t bytes;
    uint32_t count;
    uint32_t levels_used; /* bit per level that has entries */
    struct wheel_level levels[WHEEL_LEVELS];
};

/* Makes an empty wheel whose base is base_ms (>= 0). `pool` must outlive it. Nothing is allocated: under 500 bytes,
 * and 4 KiB for each level that is used later. */
void wheel_init(struct wheel *wheel, struct entry_pool *pool, int64_t base_ms);

/* Gives all entries back and frees the levels; the wheel is empty and usable, its base as it was. */
void wheel_free(struct wheel *wheel);

/* Frees the slots of levels that are empty. For a queue that will be quiet for a while. */
void wheel_shrink(struct wheel *wheel);

/* Adds an entry. key.due_ms must be >= base. Returns its index, for wheel_remove. O(1) when offsets of one due come
 * in ascending order; else the sorted place is looked for from the end of that due's list. */
entry_index wheel_add(struct wheel *wheel, struct key key, uint32_t bytes);

/* Stores the least key and returns true, or false: empty. O(1), but O(n) the first time a slot above level 0 becomes
 * the first one after its own least entry was removed. The base does not move, so earlier ones may still be added. */
bool wheel_peek(struct wheel *wheel, struct key *key);

/* Takes the least entry out, copies it to *taken and moves the base to its due. False: empty. O(1) on the average
 * (at most seven moves for each entry). */
bool wheel_take_least(struct wheel *wheel, struct entry *taken);

/* Takes the least entry out and leaves the base: earlier ones may still come. The wheel has one. Cost as wheel_peek. */
void wheel_drop_least(struct wheel *wheel);

/* Takes this entry out. O(1). */
void wheel_remove(struct wheel *wheel, entry_index index);

/* A moment before which nothing is due, TIME_NEVER: empty. Exact, except when a slot above level 0 must be looked
 * through and has more than 4,096 entries: then the slot's start, which is not after the least due. A step at that
 * moment calls wheel_peek, which remembers the answer; so an idle wheel wakes needlessly at most once. */
int64_t wheel_next_bound(const struct wheel *wheel);

/* Moves the base forward. No entry may be due before it; base_ms >= the base as it is. O(n). */
void wheel_advance(struct wheel *wheel, int64_t base_ms);

/* Greatest key, false: empty. O(n), O(1) at level 0. */
bool wheel_greatest(const struct wheel *wheel, struct key *key);

/* How many are due at now_ms or before. O(slots used), plus O(n) for the slot that now_ms falls into. */
uint32_t wheel_count_due(const struct wheel *wheel, int64_t now_ms);

/* Drops the entries with the greatest keys until at most `keep` remain, and returns how many were dropped. If any
 * were, *greatest_kept is the greatest key that remains (KEY_LEAST: none does): all kept <= greatest_kept < all
 * dropped. O(dropped + n). In wheel_trim.c. */
uint32_t wheel_trim(struct wheel *wheel, uint32_t keep, struct key *greatest_kept);

typedef void wheel_each_fn(const struct entry *entry, void *context);

/* Takes all entries out, each given back to the pool before `each` sees its copy (so `each` may add it to another
 * wheel of the same pool). Entries of one due come in the order they stood in; otherwise in no order worth relying
 * on. The base stays. */
void wheel_drain(struct wheel *wheel, wheel_each_fn *each, void *context);

/* Looks at all entries, lists in order of level and slot. `each` must not change the wheel or its pool. */
void wheel_each(const struct wheel *wheel, wheel_each_fn *each, void *context);

static inline uint32_t wheel_count(const struct wheel *wheel)
{
    return wheel->count;
}

/* Sum of the rows' bytes. */
static inline uint64_t wheel_bytes(const struct wheel *wheel)
{
    return wheel->bytes;
}

static inline int64_t wheel_base(const struct wheel *wheel)
{
    return wheel->base_ms;
}

/* Aborts if anything above does not hold. O(entries). In wheel_validate.c. */
void wheel_validate(const struct wheel *wheel);

/* ------------------------------------------------------------------- for wheel_*.c only */

/* The last used slot of a level that has entries. */
unsigned wheel_last_slot(const struct wheel_level *level);

/* Level at which this due stands, given the base. */
unsigned wheel_level_of(const struct wheel *wheel, int64_t due_ms);

#endif
