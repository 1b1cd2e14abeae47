/* Slots and lanes as the store's own ids. Ids of new names are given out here and reach the disk with the first plan
 * that uses them, so that binding never waits for the writer. */
#include "store/store_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const struct store_name *store_names_of_slot(struct store *store, slot_index slot)
{
    struct store_names *names = &store->names;
    pthread_mutex_lock(&names->lock);
    const struct store_name *name = slot < names->slot_count ? names->slots[slot] : NULL;
    pthread_mutex_unlock(&names->lock);
    return name;
}

uint16_t store_names_lane(struct store *store, lane_index lane, char *name)
{
    struct store_names *names = &store->names;
    if (lane >= LANES_MAX) {
        return 0;
    }
    pthread_mutex_lock(&names->lock);
    uint16_t id = names->lanes[lane];
    if (name != NULL) {
        memcpy(name, names->lane_names[lane], sizeof(names->lane_names[lane]));
    }
    pthread_mutex_unlock(&names->lock);
    return id;
}

bool store_names_bucket(const struct store *store, slot_index slot, struct bucket_id id, struct store_bucket *bucket)
{
    const struct store_names *names = &store->names;
    if (slot >= names->slot_count || names->slots[slot] == NULL || id.lane >= LANES_MAX || names->lanes[id.lane] == 0) {
        return false;
    }
    *bucket = (struct store_bucket){names->slots[slot]->id, names->lanes[id.lane], id.level, id.number};
    return true;
}

lane_index store_names_lane_index(const struct store *store, uint16_t id)
{
    lane_index lane = 0;
    while (lane < LANES_MAX && store->names.lanes[lane] != id) {
        lane++;
    }
    return lane;
}

struct store_name *store_names_add(struct store *store, const char *topic, int32_t partition, uint32_t known_id)
{
    struct store_names *names = &store->names;
    for (struct store_name *name = names->all; name != NULL; name = name->next) {
        if (name->partition == partition && strcmp(name->topic, topic) == 0) {
            return name;
        }
    }
    struct store_name *name = memory_new(1, sizeof(*name));
    memcpy(name->topic, topic, strlen(topic));
    name->partition = partition;
    name->id = known_id != 0 ? known_id : names->next_partition++;
    name->next = names->all;
    names->all = name;
    return name;
}

void store_names_bind(struct store *store, slot_index slot, struct store_name *name)
{
    struct store_names *names = &store->names;
    pthread_mutex_lock(&names->lock);
    if (slot >= names->slot_count) {
        size_t count = ((size_t)slot + 1) * 2;
        names->slots = memory_resize(names->slots, count, sizeof(struct store_name *));
        memset(names->slots + names->slot_count, 0, (count - names->slot_count) * sizeof(struct store_name *));
        names->slot_count = count;
    }
    names->slots[slot] = name;
    pthread_mutex_unlock(&names->lock);
}

void store_names_new_id(struct store *store, struct store_name *name)
{
    pthread_mutex_lock(&store->names.lock);
    name->id = store->names.next_partition++;
    pthread_mutex_unlock(&store->names.lock);
}

void store_names_free(struct store *store)
{
    struct store_name *name = store->names.all;
    while (name != NULL) {
        struct store_name *next = name->next;
        free(name);
        name = next;
    }
    free(store->names.slots);
    pthread_mutex_destroy(&store->names.lock);
}
