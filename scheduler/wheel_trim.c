/* Dropping what is furthest away, when memory is short: see wheel_trim in wheel.h. */
#include "scheduler/wheel.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"

static void swap_keys(struct key *a, struct key *b)
{
    struct key kept = *a;
    *a = *b;
    *b = kept;
}

/* Orders keys[0..count) so that those before index `nth` are less than it and those behind greater, and returns
 * keys[nth] (quickselect; the pivot is random so that no input makes it quadratic). Keys differ. */
static struct key select_nth(struct key *keys, size_t count, size_t nth)
{
    struct random source = random_new(count);
    while (count > 1) {
        swap_keys(&keys[random_below(&source, count)], &keys[count - 1]);
        size_t less = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            if (key_compare(keys[i], keys[count - 1]) < 0) {
                swap_keys(&keys[i], &keys[less++]);
            }
        }
        swap_keys(&keys[less], &keys[count - 1]);
        if (nth == less) {
            return keys[less];
        }
        if (nth < less) {
            count = less;
        } else {
            keys += less + 1;
            count -= less + 1;
            nth -= less + 1;
        }
    }
    return keys[0];
}

/* The key of which `keep` entries of the slot are at or below. 0 < keep < slot->count. */
static struct key threshold_of(const struct wheel *wheel, const struct wheel_slot *slot, uint32_t keep)
{
    struct key *keys = memory_new(slot->count, sizeof(struct key));
    size_t count = 0;
    for (entry_index i = slot->head; i != ENTRY_NONE; i = entry_at(wheel->pool, i)->next) {
        keys[count++] = entry_key(entry_at(wheel->pool, i));
    }
    assert(count == slot->count);
    struct key threshold = select_nth(keys, count, keep - 1);
    free(keys);
    return threshold;
}

/* Removes all entries of the list that starts at `head` whose key is greater than `threshold`. */
static void drop_beyond(struct wheel *wheel, entry_index head, struct key threshold)
{
    for (entry_index i = head; i != ENTRY_NONE;) {
        const struct entry *entry = entry_at(wheel->pool, i);
        entry_index next = entry->next;
        if (key_compare(entry_key(entry), threshold) > 0) {
            wheel_remove(wheel, i);
        }
        i = next;
    }
}

/* Drops the greatest entries of the wheel's last slot: all of them, or as many as it takes to leave `keep` in the
 * wheel. */
static void trim_last_slot(struct wheel *wheel, uint32_t keep)
{
    unsigned level_number = 31 - (unsigned)__builtin_clz(wheel->levels_used);
    const struct wheel_level *level = &wheel->levels[level_number];
    const struct wheel_slot *slot = &level->slots[wheel_last_slot(level)];
    uint32_t surplus = wheel->count - keep;
    if (surplus >= slot->count) {
        drop_beyond(wheel, slot->head, KEY_LEAST);
    } else if (level_number > 0) {
        drop_beyond(wheel, slot->head, threshold_of(wheel, slot, slot->count - surplus));
    } else {
        for (; surplus > 0; surplus--) {
            wheel_remove(wheel, slot->tail);
        }
    }
}

uint32_t wheel_trim(struct wheel *wheel, uint32_t keep, struct key *greatest_kept)
{
    uint32_t before = wheel->count;
    while (wheel->count > keep) {
        trim_last_slot(wheel, keep);
    }
    uint32_t dropped = before - wheel->count;
    if (dropped > 0 && !wheel_greatest(wheel, greatest_kept)) {
        *greatest_kept = KEY_LEAST;
    }
    return dropped;
}
