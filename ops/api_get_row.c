/* See api_get_row.h. */
#include "ops/api_get_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ops/api_list_buckets.h"
#include "ops/clock.h"
#include "scheduler/bucket.h"
#include "store/store_browse.h"

struct looking {
    struct store_browse *browse;
    const struct api_list_place *place;
    bool found; /* the partition is in the checkpoint */
    uint32_t partition_id;
    int64_t offset;
    struct api_get_row *row;
    /* By offset: */
    const struct api_get_row_options *options;
    struct api_list_bucket *buckets; /* that may hold the offset, behind `at`; room for twice as many as may stay */
    size_t count;
    size_t next;               /* of `buckets` */
    bool more;                 /* there are later ones that had no room */
    struct api_list_bucket at; /* the bucket that was looked into last */
    uint32_t slice_left;
    int64_t slice_end_ms;
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

static int compare(const void *a, const void *b)
{
    return api_list_buckets_compare(a, b);
}

/* The earliest stay. */
static void sort(struct looking *looking)
{
    qsort(looking->buckets, looking->count, sizeof(*looking->buckets), compare);
    if (looking->count > looking->options->buckets) {
        looking->count = looking->options->buckets;
        looking->more = true;
    }
}

static void see_bucket(uint16_t lane_id, const struct bucket_stats *stats, void *context)
{
    struct looking *looking = context;
    struct api_list_bucket bucket = {.start_ms = bucket_start_ms(stats->id), .number = stats->id.number, .lane_id = lane_id, .level = stats->id.level};
    if (stats->count == 0 || looking->offset < stats->least_offset || looking->offset > stats->last_offset ||
        api_list_buckets_compare(&bucket, &looking->at) <= 0) {
        return;
    }
    if (looking->count == 2 * looking->options->buckets) {
        sort(looking);
    }
    looking->buckets[looking->count++] = bucket;
}

/* What is left to look into, as the snapshot has it. Rows only ever move to buckets that come later in this order. */
static bool collect(struct looking *looking, struct error *error)
{
    looking->found = false;
    looking->count = 0;
    looking->next = 0;
    looking->more = false;
    bool done = store_browse_partitions(looking->browse, see_partition, looking, error) &&
                (!looking->found || store_browse_buckets(looking->browse, looking->partition_id, see_bucket, looking, error));
    sort(looking);
    return done;
}

static void begin_slice(struct looking *looking)
{
    looking->slice_left = looking->options->slice_buckets;
    looking->slice_end_ms = clock_mono().ms + looking->options->slice_ms;
}

static bool renew(struct looking *looking, struct error *error)
{
    const struct api_get_row_options *options = looking->options;
    uint64_t commit = store_browse_commit(looking->browse);
    store_browse_rest(looking->browse);
    if (options->stopping != NULL && options->stopping(options->context)) {
        return error_set(error, ERROR_UNAVAILABLE, "the scheduler is stopping");
    }
    if (clock_mono().ms >= options->end_ms) {
        return error_set(error, ERROR_UNAVAILABLE, "looking through the checkpoint for offset %" PRId64 " of partition %" PRId32 " of %s took too long; ask by its id", looking->offset,
                         looking->place->partition, looking->place->topic);
    }
    if (!store_browse_renew(looking->browse, error)) {
        return false;
    }
    begin_slice(looking);
    return store_browse_commit(looking->browse) == commit || collect(looking, error);
}

static bool look_into_next(struct looking *looking, struct error *error)
{
    int64_t next;
    looking->at = looking->buckets[looking->next++];
    looking->slice_left--;
    return store_browse_rows(looking->browse, looking->partition_id, looking->at.lane_id, looking->at.level, looking->at.number, looking->offset, 1, take, looking, &next, error);
}

static bool search(struct looking *looking, struct error *error)
{
    bool done = collect(looking, error);
    begin_slice(looking);
    while (done && looking->row->bytes == NULL && (looking->next < looking->count || looking->more)) {
        bool is_over = looking->slice_left == 0 || clock_mono().ms >= looking->slice_end_ms;
        done = is_over                         ? renew(looking, error)
               : looking->next < looking->count ? look_into_next(looking, error)
                                                : collect(looking, error);
    }
    return done;
}

bool api_get_row_by_offset(
    struct store *store, const struct api_list_place *place, int64_t offset, const struct api_get_row_options *options, struct api_get_row *row, struct error *error)
{
    struct looking looking = {.place = place, .offset = offset, .row = row, .options = options, .at = API_LIST_BUCKET_BEGIN};
    *row = (struct api_get_row){.bytes = NULL};
    looking.browse = store_browse_open(store, error);
    if (looking.browse == NULL) {
        return false;
    }
    looking.buckets = memory_new(2 * options->buckets, sizeof(*looking.buckets));
    bool done = search(&looking, error);
    free(looking.buckets);
    store_browse_close(looking.browse);
    return done;
}
