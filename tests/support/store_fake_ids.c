/* The fake store's index of record ids, and its marks and skips. */
#include "support/store_fake_disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int compare_ids(struct record_id a, struct record_id b)
{
    if (a.high != b.high) {
        return a.high < b.high ? -1 : 1;
    }
    return (a.low > b.low) - (a.low < b.low);
}

/* Index of the first entry that is not below an id. */
static size_t place_of(const struct store_fake_partition *partition, struct record_id id)
{
    size_t low = 0;
    size_t high = partition->id_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_ids(partition->ids[middle].id, id) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct store_fake_id *store_fake_ids_find(const struct store_fake_partition *partition, struct record_id id)
{
    size_t at = place_of(partition, id);
    return at < partition->id_count && record_id_equal(partition->ids[at].id, id) ? &partition->ids[at] : NULL;
}

void store_fake_ids_put(struct store_fake_partition *partition, struct store_fake_id entry)
{
    if (record_id_is_none(entry.id)) {
        return;
    }
    size_t at = place_of(partition, entry.id);
    if (at < partition->id_count && record_id_equal(partition->ids[at].id, entry.id)) {
        if (partition->ids[at].event.offset <= entry.event.offset) {
            partition->ids[at] = entry;
        }
        return;
    }
    if (partition->id_count == partition->id_room) {
        partition->id_room = partition->id_room * 2 + 16;
        partition->ids = memory_resize(partition->ids, partition->id_room, sizeof(*partition->ids));
    }
    memmove(partition->ids + at + 1, partition->ids + at, (partition->id_count - at) * sizeof(*partition->ids));
    partition->ids[at] = entry;
    partition->id_count++;
}

void store_fake_ids_remove(struct store_fake_partition *partition, struct record_id id, int64_t offset)
{
    size_t at = place_of(partition, id);
    if (at == partition->id_count || !record_id_equal(partition->ids[at].id, id) ||
        partition->ids[at].event.offset != offset) {
        return;
    }
    partition->id_count--;
    memmove(partition->ids + at, partition->ids + at + 1, (partition->id_count - at) * sizeof(*partition->ids));
}

void *store_fake_copy(const void *items, size_t count, size_t item_bytes)
{
    if (count == 0) {
        return NULL;
    }
    void *copy = memory_new(count, item_bytes);
    memcpy(copy, items, count * item_bytes);
    return copy;
}

static int compare_marks(const void *a, const void *b)
{
    const struct mark *left = a;
    const struct mark *right = b;
    return left->offset != right->offset ? (left->offset < right->offset ? -1 : 1) : compare_ids(left->id, right->id);
}

static int compare_skips(const void *a, const void *b)
{
    const struct skip *left = a;
    const struct skip *right = b;
    return left->offset != right->offset ? (left->offset < right->offset ? -1 : 1)
                                         : (left->skipped > right->skipped) - (left->skipped < right->skipped);
}

void store_fake_marks_set(struct store_fake_partition *partition, const struct checkpoint_slot *slot)
{
    free(partition->marks);
    free(partition->skips);
    partition->marks = store_fake_copy(slot->marks, slot->mark_count, sizeof(*slot->marks));
    partition->mark_count = slot->mark_count;
    partition->skips = store_fake_copy(slot->skips, slot->skip_count, sizeof(*slot->skips));
    partition->skip_count = slot->skip_count;
    if (slot->mark_count > 1) {
        qsort(partition->marks, partition->mark_count, sizeof(*partition->marks), compare_marks);
    }
    if (slot->skip_count > 1) {
        qsort(partition->skips, partition->skip_count, sizeof(*partition->skips), compare_skips);
    }
}
