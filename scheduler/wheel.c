/* The timing wheel's own operations: see wheel.h. Trimming and validation have files of their own. */
#include "scheduler/wheel.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

#define BITS_PER_LEVEL 8
#define BOUND_SCAN_MAX 4096 /* some 20 microseconds: what a question about the next deadline may cost */

static unsigned slot_of(int64_t due_ms, unsigned level)
{
    return (unsigned)((uint64_t)due_ms >> (level * BITS_PER_LEVEL)) & (WHEEL_SLOTS - 1);
}

unsigned wheel_level_of(const struct wheel *wheel, int64_t due_ms)
{
    uint64_t differs = (uint64_t)due_ms ^ (uint64_t)wheel->base_ms;
    return differs == 0 ? 0 : (63 - (unsigned)__builtin_clzll(differs)) / BITS_PER_LEVEL;
}

static bool is_used(const struct wheel_level *level, unsigned slot)
{
    return (level->used[slot / 64] >> (slot % 64)) & 1;
}

/* The first used slot of a level that has entries. */
static unsigned first_slot(const struct wheel_level *level)
{
    for (unsigned word = 0; word < WHEEL_SLOTS / 64; word++) {
        if (level->used[word] != 0) {
            return word * 64 + (unsigned)__builtin_ctzll(level->used[word]);
        }
    }
    assert(false);
    return 0;
}

unsigned wheel_last_slot(const struct wheel_level *level)
{
    for (unsigned word = WHEEL_SLOTS / 64; word-- > 0;) {
        if (level->used[word] != 0) {
            return word * 64 + 63 - (unsigned)__builtin_clzll(level->used[word]);
        }
    }
    assert(false);
    return 0;
}

/* Level of the least entry. The wheel has one. */
static unsigned first_level(const struct wheel *wheel)
{
    assert(wheel->levels_used != 0);
    return (unsigned)__builtin_ctz(wheel->levels_used);
}

void wheel_init(struct wheel *wheel, struct entry_pool *pool, int64_t base_ms)
{
    assert(base_ms >= 0);
    *wheel = (struct wheel){.pool = pool, .base_ms = base_ms};
}

void wheel_shrink(struct wheel *wheel)
{
    for (unsigned i = 0; i < WHEEL_LEVELS; i++) {
        if (wheel->levels[i].count == 0) {
            free(wheel->levels[i].slots);
            wheel->levels[i].slots = NULL;
        }
    }
}

static struct wheel_slot *open_slot(struct wheel *wheel, unsigned level_number, unsigned number)
{
    struct wheel_level *level = &wheel->levels[level_number];
    if (level->slots == NULL) {
        level->slots = memory_new(WHEEL_SLOTS, sizeof(struct wheel_slot));
    }
    struct wheel_slot *slot = &level->slots[number];
    if (!is_used(level, number)) {
        *slot = (struct wheel_slot){ENTRY_NONE, ENTRY_NONE, ENTRY_NONE, 0};
        level->used[number / 64] |= UINT64_C(1) << (number % 64);
        wheel->levels_used |= 1U << level_number;
    }
    return slot;
}

/* Marks a slot and perhaps its level as unused once nothing is left in it. */
static void close_slot(struct wheel *wheel, unsigned level_number, unsigned number)
{
    struct wheel_level *level = &wheel->levels[level_number];
    level->used[number / 64] &= ~(UINT64_C(1) << (number % 64));
    if (level->count == 0) {
        wheel->levels_used &= ~(1U << level_number);
    }
}

/* Puts `index` behind `after` (ENTRY_NONE: first). */
static void insert_after(struct entry_pool *pool, struct wheel_slot *slot, entry_index after, entry_index index)
{
    struct entry *entry = entry_at(pool, index);
    entry->prev = after;
    entry->next = after == ENTRY_NONE ? slot->head : entry_at(pool, after)->next;
    if (entry->next == ENTRY_NONE) {
        slot->tail = index;
    } else {
        entry_at(pool, entry->next)->prev = index;
    }
    if (after == ENTRY_NONE) {
        slot->head = index;
    } else {
        entry_at(pool, after)->next = index;
    }
}

/* Links an entry where its due belongs with the base as it is; sums of the wheel are the caller's. */
static void place(struct wheel *wheel, entry_index index)
{
    struct entry_pool *pool = wheel->pool;
    const struct entry *entry = entry_at(pool, index);
    unsigned level = wheel_level_of(wheel, entry->due_ms);
    struct wheel_slot *slot = open_slot(wheel, level, slot_of(entry->due_ms, level));
    entry_index after = slot->tail;
    if (level == 0) {
        while (after != ENTRY_NONE && entry_at(pool, after)->offset > entry->offset) {
            after = entry_at(pool, after)->prev;
        }
    } else if (slot->count == 0 ||
               (slot->least != ENTRY_NONE && key_compare(entry_key(entry), entry_key(entry_at(pool, slot->least))) < 0)) {
        slot->least = index;
    }
    insert_after(pool, slot, after, index);
    slot->count++;
    wheel->levels[level].count++;
}

/* Takes an entry out of its list; the entry stays taken, sums of the wheel are the caller's. */
static void unlink_entry(struct wheel *wheel, entry_index index)
{
    struct entry_pool *pool = wheel->pool;
    const struct entry *entry = entry_at(pool, index);
    unsigned level = wheel_level_of(wheel, entry->due_ms);
    unsigned number = slot_of(entry->due_ms, level);
    assert(is_used(&wheel->levels[level], number));
    struct wheel_slot *slot = &wheel->levels[level].slots[number];
    if (entry->prev == ENTRY_NONE) {
        slot->head = entry->next;
    } else {
        entry_at(pool, entry->prev)->next = entry->next;
    }
    if (entry->next == ENTRY_NONE) {
        slot->tail = entry->prev;
    } else {
        entry_at(pool, entry->next)->prev = entry->prev;
    }
    if (slot->least == index) {
        slot->least = ENTRY_NONE;
    }
    slot->count--;
    wheel->levels[level].count--;
    if (slot->count == 0) {
        close_slot(wheel, level, number);
    }
}

entry_index wheel_add(struct wheel *wheel, struct key key, uint32_t bytes)
{
    assert(key.due_ms >= wheel->base_ms);
    entry_index index = entry_pool_take(wheel->pool, key, bytes);
    place(wheel, index);
    wheel->count++;
    wheel->bytes += bytes;
    return index;
}

void wheel_remove(struct wheel *wheel, entry_index index)
{
    unlink_entry(wheel, index);
    wheel->count--;
    wheel->bytes -= entry_at(wheel->pool, index)->bytes;
    entry_pool_give(wheel->pool, index);
}

/* Least entry of a list, by looking at `most` entries; ENTRY_NONE: the list is longer. */
static entry_index least_of(const struct entry_pool *pool, const struct wheel_slot *slot, uint32_t most)
{
    if (slot->count > most) {
        return ENTRY_NONE;
    }
    entry_index least = slot->head;
    for (entry_index i = slot->head; i != ENTRY_NONE; i = entry_at(pool, i)->next) {
        if (key_compare(entry_key(entry_at(pool, i)), entry_key(entry_at(pool, least))) < 0) {
            least = i;
        }
    }
    return least;
}

/* The least entry, remembered for the next time; the wheel has one. */
static entry_index find_least(struct wheel *wheel)
{
    unsigned level = first_level(wheel);
    struct wheel_slot *slot = &wheel->levels[level].slots[first_slot(&wheel->levels[level])];
    if (level == 0) {
        return slot->head;
    }
    if (slot->least == ENTRY_NONE) {
        slot->least = least_of(wheel->pool, slot, UINT32_MAX);
    }
    return slot->least;
}

bool wheel_peek(struct wheel *wheel, struct key *key)
{
    if (wheel->count == 0) {
        return false;
    }
    *key = entry_key(entry_at(wheel->pool, find_least(wheel)));
    return true;
}

int64_t wheel_next_bound(const struct wheel *wheel)
{
    if (wheel->count == 0) {
        return TIME_NEVER;
    }
    unsigned level = first_level(wheel);
    unsigned number = first_slot(&wheel->levels[level]);
    const struct wheel_slot *slot = &wheel->levels[level].slots[number];
    entry_index least = level == 0 ? slot->head : slot->least;
    if (least == ENTRY_NONE) {
        least = least_of(wheel->pool, slot, BOUND_SCAN_MAX);
    }
    if (least != ENTRY_NONE) {
        return entry_at(wheel->pool, least)->due_ms;
    }
    /* Any entry of the slot has the bytes from this level up that its start has. */
    uint64_t below = (UINT64_C(1) << (level * BITS_PER_LEVEL)) - 1;
    return (int64_t)((uint64_t)entry_at(wheel->pool, slot->head)->due_ms & ~below);
}

void wheel_advance(struct wheel *wheel, int64_t base_ms)
{
    assert(base_ms >= wheel->base_ms);
    unsigned level = wheel_level_of(wheel, base_ms);
    unsigned number = slot_of(base_ms, level);
    wheel->base_ms = base_ms;
    /* What shares the byte of this level with the new base now differs from it further down; all else stays where it
     * is. */
    assert((wheel->levels_used & ((1U << level) - 1)) == 0);
    struct wheel_level *from = &wheel->levels[level];
    if (level == 0 || !is_used(from, number)) {
        return;
    }
    struct wheel_slot spread = from->slots[number];
    from->count -= spread.count;
    close_slot(wheel, level, number);
    for (entry_index i = spread.head; i != ENTRY_NONE;) {
        const struct entry *entry = entry_at(wheel->pool, i);
        entry_index next = entry->next;
        assert(entry->due_ms >= base_ms);
        place(wheel, i);
        i = next;
    }
}

bool wheel_take_least(struct wheel *wheel, struct entry *taken)
{
    if (wheel->count == 0) {
        return false;
    }
    entry_index index = find_least(wheel);
    *taken = *entry_at(wheel->pool, index);
    wheel_remove(wheel, index);
    wheel_advance(wheel, taken->due_ms);
    return true;
}

void wheel_drop_least(struct wheel *wheel)
{
    wheel_remove(wheel, find_least(wheel));
}

bool wheel_greatest(const struct wheel *wheel, struct key *key)
{
    if (wheel->count == 0) {
        return false;
    }
    unsigned level = 31 - (unsigned)__builtin_clz(wheel->levels_used);
    const struct wheel_slot *slot = &wheel->levels[level].slots[wheel_last_slot(&wheel->levels[level])];
    *key = entry_key(entry_at(wheel->pool, slot->tail));
    if (level == 0) {
        return true;
    }
    for (entry_index i = slot->head; i != ENTRY_NONE; i = entry_at(wheel->pool, i)->next) {
        struct key other = entry_key(entry_at(wheel->pool, i));
        if (key_compare(other, *key) > 0) {
            *key = other;
        }
    }
    return true;
}

/* Entries of one list that are due at now_ms. */
static uint32_t count_due_in(const struct wheel *wheel, const struct wheel_slot *slot, int64_t now_ms)
{
    uint32_t count = 0;
    for (entry_index i = slot->head; i != ENTRY_NONE; i = entry_at(wheel->pool, i)->next) {
        count += entry_at(wheel->pool, i)->due_ms <= now_ms;
    }
    return count;
}

uint32_t wheel_count_due(const struct wheel *wheel, int64_t now_ms)
{
    if (now_ms < wheel->base_ms) {
        return 0;
    }
    unsigned level = wheel_level_of(wheel, now_ms);
    unsigned number = slot_of(now_ms, level);
    uint32_t count = 0;
    for (unsigned i = 0; i < level; i++) {
        count += wheel->levels[i].count;
    }
    const struct wheel_level *at = &wheel->levels[level];
    for (unsigned i = 0; i < number; i++) {
        count += is_used(at, i) ? at->slots[i].count : 0;
    }
    if (is_used(at, number)) {
        count += level == 0 ? at->slots[number].count : count_due_in(wheel, &at->slots[number], now_ms);
    }
    return count;
}

void wheel_drain(struct wheel *wheel, wheel_each_fn *each, void *context)
{
    while (wheel->levels_used != 0) {
        unsigned level_number = first_level(wheel);
        struct wheel_level *level = &wheel->levels[level_number];
        unsigned number = first_slot(level);
        struct wheel_slot slot = level->slots[number];
        level->count -= slot.count;
        wheel->count -= slot.count;
        close_slot(wheel, level_number, number);
        for (entry_index i = slot.head; i != ENTRY_NONE;) {
            struct entry entry = *entry_at(wheel->pool, i);
            wheel->bytes -= entry.bytes;
            entry_pool_give(wheel->pool, i);
            i = entry.next;
            each(&entry, context);
        }
    }
}

static void ignore(const struct entry *entry, void *context)
{
    (void)entry;
    (void)context;
}

void wheel_free(struct wheel *wheel)
{
    wheel_drain(wheel, ignore, NULL);
    wheel_shrink(wheel);
}

void wheel_each(const struct wheel *wheel, wheel_each_fn *each, void *context)
{
    for (unsigned level = 0; level < WHEEL_LEVELS; level++) {
        for (unsigned number = 0; wheel->levels[level].count > 0 && number < WHEEL_SLOTS; number++) {
            if (!is_used(&wheel->levels[level], number)) {
                continue;
            }
            const struct wheel_slot *slot = &wheel->levels[level].slots[number];
            for (entry_index i = slot->head; i != ENTRY_NONE; i = entry_at(wheel->pool, i)->next) {
                each(entry_at(wheel->pool, i), context);
            }
        }
    }
}
