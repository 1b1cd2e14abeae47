/* See api_get_row.h. */
#include "ops/api_get_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/store_browse.h"

struct looking {
    struct store_browse *browse;
    const struct api_list_place *place;
    bool found; /* the partition is in the checkpoint */
    uint32_t partition_id;
    int64_t offset;
    struct api_get_row *row;
    struct bucket_stats *buckets; /* that may hold the offset; their lane is the store's own id */
    size_t count;
    size_t capacity;
};

static void see_partition(const struct store_browse_partition *partition, void *context)
{
    struct looking *looking = context;
    if (strcmp(partition->topic, looking->place->topic) == 0 && partition->partition == looking->place->partition) {
        looking->found = true;
        looking->partition_id = partition->id;
    }
}

static bool take(const struct store_browse_row *found, void *context)
{
    struct looking *looking = context;
    struct api_get_row *row = looking->row;
    if (found->offset != looking->offset) {
        return false;
    }
    const char *lane = store_browse_lane(looking->browse, found->lane_id);
    row->key = (struct key){found->due_ms, found->offset};
    (void)snprintf(row->lane, sizeof(row->lane), "%s", lane == NULL ? "" : lane);
    row->bytes = memory_new(found->bytes.length + 1, 1);
    row->length = found->bytes.length;
    memcpy(row->bytes, found->bytes.data, found->bytes.length);
    return false;
}

static bool begin(struct store *store, struct looking *looking, struct error *error)
{
    *looking->row = (struct api_get_row){.bytes = NULL};
    looking->browse = store_browse_open(store, error);
    return looking->browse != NULL && store_browse_partitions(looking->browse, see_partition, looking, error);
}

bool api_get_row_by_id(struct store *store, const struct api_list_place *place, struct record_id id, int64_t offset, struct api_get_row *row, struct error *error)
{
    struct looking looking = {.place = place, .offset = offset, .row = row};
    struct stored_event event = {.offset = -1};
    uint16_t lane_id = 0;
    bool done = begin(store, &looking, error);
    if (done && looking.found) {
        done = store_browse_id(looking.browse, looking.partition_id, id, &event, &lane_id, error);
    }
    if (done && looking.found && event.offset == offset) {
        done = store_browse_find(looking.browse, looking.partition_id, lane_id, event.due_ms, offset, take, &looking, error);
    }
    store_browse_close(looking.browse);
    return done;
}

/* ------------------------------------------------------------------------------------------------- by offset */

static void see_bucket(uint16_t lane_id, const struct bucket_stats *stats, void *context)
{
    struct looking *looking = context;
    if (stats->count == 0 || looking->offset < stats->least_offset || looking->offset > stats->last_offset) {
        return;
    }
    if (looking->count == looking->capacity) {
        looking->capacity = looking->capacity == 0 ? 64 : looking->capacity * 2;
        looking->buckets = memory_resize(looking->buckets, looking->capacity, sizeof(*looking->buckets));
    }
    looking->buckets[looking->count] = *stats;
    looking->buckets[looking->count++].id.lane = lane_id;
}

bool api_get_row_by_offset(struct store *store, const struct api_list_place *place, int64_t offset, struct api_get_row *row, struct error *error)
{
    struct looking looking = {.place = place, .offset = offset, .row = row};
    bool done = begin(store, &looking, error);
    if (done && looking.found) {
        done = store_browse_buckets(looking.browse, looking.partition_id, see_bucket, &looking, error);
    }
    for (size_t i = 0; done && row->bytes == NULL && i < looking.count; i++) {
        struct bucket_id id = looking.buckets[i].id;
        int64_t next;
        done = store_browse_rows(looking.browse, looking.partition_id, id.lane, id.level, id.number, offset, 1, take, &looking, &next, error);
    }
    free(looking.buckets);
    store_browse_close(looking.browse);
    return done;
}
