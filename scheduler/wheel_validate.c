/* Checking everything wheel.h says of a wheel. */
#include "scheduler/wheel.h"

#include "base/invariant.h"

struct sums {
    uint32_t count;
    uint64_t bytes;
};

static bool bit(const struct wheel_level *level, unsigned number)
{
    return (level->used[number / 64] >> (number % 64)) & 1;
}

static void validate_entry(const struct wheel *wheel, const struct entry *entry, unsigned level, unsigned number)
{
    INVARIANT(entry->taken == 1);
    INVARIANT(entry->due_ms >= wheel->base_ms);
    INVARIANT(wheel_level_of(wheel, entry->due_ms) == level);
    INVARIANT((((uint64_t)entry->due_ms >> (level * 8)) & (WHEEL_SLOTS - 1)) == number);
}

static void validate_list(const struct wheel *wheel, unsigned level, unsigned number, struct sums *sums)
{
    const struct wheel_slot *slot = &wheel->levels[level].slots[number];
    uint32_t count = 0;
    entry_index before = ENTRY_NONE;
    entry_index least = slot->head;
    for (entry_index i = slot->head; i != ENTRY_NONE; before = i, i = entry_at(wheel->pool, i)->next) {
        const struct entry *entry = entry_at(wheel->pool, i);
        INVARIANT(count < slot->count);
        INVARIANT(entry->prev == before);
        validate_entry(wheel, entry, level, number);
        if (level == 0 && before != ENTRY_NONE) {
            INVARIANT(entry_at(wheel->pool, before)->offset < entry->offset);
        }
        if (key_compare(entry_key(entry), entry_key(entry_at(wheel->pool, least))) < 0) {
            least = i;
        }
        count++;
        sums->bytes += entry->bytes;
    }
    INVARIANT(slot->tail == before);
    INVARIANT(count == slot->count && count > 0);
    INVARIANT(level == 0 || slot->least == ENTRY_NONE || slot->least == least);
    sums->count += count;
}

void wheel_validate(const struct wheel *wheel)
{
    struct sums all = {0, 0};
    for (unsigned level = 0; level < WHEEL_LEVELS; level++) {
        uint32_t before = all.count;
        for (unsigned number = 0; number < WHEEL_SLOTS; number++) {
            if (bit(&wheel->levels[level], number)) {
                validate_list(wheel, level, number, &all);
            }
        }
        INVARIANT(wheel->levels[level].count == all.count - before);
        INVARIANT(((wheel->levels_used >> level) & 1) == (all.count > before));
    }
    INVARIANT(wheel->base_ms >= 0);
    INVARIANT(all.count == wheel->count && all.bytes == wheel->bytes);
}
