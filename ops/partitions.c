/* See partitions.h. */
#include "ops/partitions.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static slot_index free_slot(struct partitions *partitions)
{
    for (slot_index slot = 0; slot < partitions->count; slot++) {
        if (partitions->items[slot] == NULL) {
            return slot;
        }
    }
    partitions->items = memory_resize(partitions->items, partitions->count + 1, sizeof(struct partition *));
    partitions->items[partitions->count] = NULL;
    return partitions->count++;
}

struct partition *partitions_add(struct partitions *partitions, const char *topic, int32_t number, size_t source_index)
{
    struct partition *partition = memory_new(1, sizeof(*partition));
    partition->slot = free_slot(partitions);
    partition->state = PARTITIONS_OPENING;
    partition->topic = topic;
    partition->number = number;
    partition->source_index = source_index;
    partition->epoch = partitions_next_epoch(partitions);
    partitions->items[partition->slot] = partition;
    return partition;
}

struct partition *partitions_find(const struct partitions *partitions, const char *topic, int32_t number)
{
    for (slot_index slot = 0; topic != NULL && slot < partitions->count; slot++) {
        struct partition *partition = partitions->items[slot];
        if (partition != NULL && partition->number == number &&
            (partition->topic == topic || strcmp(partition->topic, topic) == 0)) {
            return partition;
        }
    }
    return NULL;
}

struct partition *partitions_at(const struct partitions *partitions, slot_index slot)
{
    return slot < partitions->count ? partitions->items[slot] : NULL;
}

uint32_t partitions_next_epoch(struct partitions *partitions)
{
    return ++partitions->last_epoch;
}

void partitions_remove(struct partitions *partitions, struct partition *partition)
{
    partitions->items[partition->slot] = NULL;
    free(partition);
}

size_t partitions_count(const struct partitions *partitions, enum partitions_state state)
{
    size_t count = 0;
    for (slot_index slot = 0; slot < partitions->count; slot++) {
        count += partitions->items[slot] != NULL && partitions->items[slot]->state == state;
    }
    return count;
}

void partitions_free(struct partitions *partitions)
{
    for (slot_index slot = 0; slot < partitions->count; slot++) {
        free(partitions->items[slot]);
    }
    free(partitions->items);
    *partitions = (struct partitions){0};
}
