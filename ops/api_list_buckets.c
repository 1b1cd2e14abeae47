/* See api_list_buckets.h. */
#include "ops/api_list_buckets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scheduler/bucket.h"
#include "store/store_browse.h"

/* One collecting. */
struct collecting {
    struct api_list_buckets *buckets;
    struct store_browse *browse;
    const struct api_list_wish *wish;
    const struct api_list_bucket *after;
    struct metadata *metadata; /* of the partition under way; large, so made once */
    bool has_metadata;
    uint32_t place;
    bool failed;
    struct error *error;
};

int api_list_buckets_compare(const struct api_list_bucket *a, const struct api_list_bucket *b)
{
    if (a->start_ms != b->start_ms) {
        return a->start_ms < b->start_ms ? -1 : 1;
    }
    if (a->level != b->level) {
        return a->level > b->level ? -1 : 1;
    }
    if (a->place != b->place) {
        return a->place < b->place ? -1 : 1;
    }
    return (a->lane_id > b->lane_id) - (a->lane_id < b->lane_id);
}

static int compare(const void *a, const void *b)
{
    return api_list_buckets_compare(a, b);
}

struct api_list_buckets api_list_buckets_new(size_t place_count)
{
    return (struct api_list_buckets){.partition_ids = memory_new(place_count, sizeof(uint32_t))};
}

void api_list_buckets_free(struct api_list_buckets *buckets)
{
    free(buckets->items);
    free(buckets->rules);
    free(buckets->partition_ids);
    *buckets = (struct api_list_buckets){0};
}

static bool is_before(const struct api_list_rule *rule, uint32_t place, uint16_t lane_id)
{
    return rule->place != place ? rule->place < place : rule->lane_id < lane_id;
}

/* They stand in this order, as the snapshot has its partitions and their lanes. */
const struct api_list_rule *api_list_buckets_rule(const struct api_list_buckets *buckets, uint32_t place, uint16_t lane_id)
{
    size_t low = 0;
    size_t high = buckets->rule_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(&buckets->rules[middle], place, lane_id)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct api_list_rule *rule = low < buckets->rule_count ? &buckets->rules[low] : NULL;
    return rule != NULL && rule->place == place && rule->lane_id == lane_id ? rule : NULL;
}

static const struct api_list_rule *add_rule(struct collecting *collecting, uint16_t lane_id)
{
    struct api_list_buckets *buckets = collecting->buckets;
    const char *name = store_browse_lane(collecting->browse, lane_id);
    if (name == NULL) {
        collecting->failed = true;
        (void)error_set(collecting->error, ERROR_CORRUPT, "the store has rows of lane %u, which has no name there: stop, keep a copy of the directory for a report, and move it away",
                        (unsigned)lane_id);
        return NULL;
    }
    if (buckets->rule_count == buckets->rule_capacity) {
        buckets->rule_capacity = buckets->rule_capacity == 0 ? 16 : buckets->rule_capacity * 2;
        buckets->rules = memory_resize(buckets->rules, buckets->rule_capacity, sizeof(*buckets->rules));
    }
    struct api_list_rule *rule = &buckets->rules[buckets->rule_count++];
    *rule = (struct api_list_rule){.place = collecting->place,
                                   .lane_id = lane_id,
                                   .listed = api_list_filter_lane(collecting->wish->filter, name),
                                   .done = api_list_done_of(collecting->has_metadata ? collecting->metadata : NULL, name)};
    return rule;
}

/* Keeps the earliest API_LIST_BUCKETS_MAX. */
static void make_room(struct api_list_buckets *buckets)
{
    if (buckets->count < buckets->capacity) {
        return;
    }
    if (buckets->capacity < 2 * (size_t)API_LIST_BUCKETS_MAX) {
        buckets->capacity = buckets->capacity == 0 ? 256 : buckets->capacity * 2;
        buckets->items = memory_resize(buckets->items, buckets->capacity, sizeof(*buckets->items));
        return;
    }
    qsort(buckets->items, buckets->count, sizeof(*buckets->items), compare);
    buckets->count = API_LIST_BUCKETS_MAX;
    buckets->more = true;
}

/* Buckets come lane by lane: it is that of the bucket before, or a new one. */
static const struct api_list_rule *latest_rule(const struct collecting *collecting, uint16_t lane_id)
{
    const struct api_list_buckets *buckets = collecting->buckets;
    const struct api_list_rule *rule = buckets->rule_count == 0 ? NULL : &buckets->rules[buckets->rule_count - 1];
    return rule != NULL && rule->place == collecting->place && rule->lane_id == lane_id ? rule : NULL;
}

static void take_bucket(uint16_t lane_id, const struct bucket_stats *stats, void *context)
{
    struct collecting *collecting = context;
    struct api_list_buckets *buckets = collecting->buckets;
    const struct api_list_rule *rule = latest_rule(collecting, lane_id);
    rule = rule != NULL || collecting->failed ? rule : add_rule(collecting, lane_id);
    struct api_list_bucket bucket = {.start_ms = bucket_start_ms(stats->id),
                                     .number = stats->id.number,
                                     .place = collecting->place,
                                     .lane_id = lane_id,
                                     .level = stats->id.level};
    if (rule == NULL || !rule->listed || bucket.start_ms > collecting->wish->most_ms || bucket_last_ms(stats->id) < collecting->wish->least_ms ||
        api_list_buckets_compare(&bucket, collecting->after) <= 0 || api_list_done_bucket(&rule->done, stats)) {
        return;
    }
    make_room(buckets);
    buckets->items[buckets->count++] = bucket;
}

/* Metadata that does not read is no reason to show nothing: then the owner alone says what is done. */
static void read_metadata(struct collecting *collecting, const char *text)
{
    struct error ignored;
    collecting->has_metadata = text[0] != '\0' && metadata_decode(span_of_text(text), collecting->metadata, &ignored);
}

static void take_partition(const struct store_browse_partition *partition, void *context)
{
    struct collecting *collecting = context;
    const struct api_list_wish *wish = collecting->wish;
    struct api_list_place place = {.partition = partition->partition};
    (void)snprintf(place.topic, sizeof(place.topic), "%s", partition->topic);
    size_t at = api_list_place_find(wish->places, wish->place_count, &place);
    if (collecting->failed || at == wish->place_count || api_list_place_compare(&wish->places[at], &place) != 0 ||
        !api_list_filter_place(wish->filter, &place)) {
        return;
    }
    collecting->place = (uint32_t)at;
    collecting->buckets->partition_ids[at] = partition->id;
    read_metadata(collecting, partition->metadata);
    if (!store_browse_buckets(collecting->browse, partition->id, take_bucket, collecting, collecting->error)) {
        collecting->failed = true;
    }
}

bool api_list_buckets_collect(struct api_list_buckets *buckets,
                              struct store_browse *browse,
                              const struct api_list_wish *wish,
                              const struct api_list_bucket *after,
                              struct error *error)
{
    struct collecting collecting = {.buckets = buckets, .browse = browse, .wish = wish, .after = after, .error = error};
    collecting.metadata = memory_new(1, sizeof(*collecting.metadata));
    buckets->count = 0;
    buckets->more = false;
    buckets->rule_count = 0;
    memset(buckets->partition_ids, 0, wish->place_count * sizeof(*buckets->partition_ids));
    bool done = store_browse_partitions(browse, take_partition, &collecting, error) && !collecting.failed;
    free(collecting.metadata);
    if (buckets->count > 1) {
        qsort(buckets->items, buckets->count, sizeof(*buckets->items), compare);
    }
    if (buckets->count > API_LIST_BUCKETS_MAX) {
        buckets->count = API_LIST_BUCKETS_MAX;
        buckets->more = true;
    }
    return done;
}
