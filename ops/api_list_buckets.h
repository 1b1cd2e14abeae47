/*
 * The buckets that a list has to look into, in the order in which it does: by the time at which they begin, the coarser first, then by partition and lane.
 *
 * Rows only ever move from a bucket to finer ones within its time, so always to buckets that come later in this order. So a walk that goes through it once, with
 * a newer snapshot now and then, and asks again after each what is left to look into, meets every row that was there all the time. One thread at a time.
 */
#ifndef TARRY_OPS_API_LIST_BUCKETS_H
#define TARRY_OPS_API_LIST_BUCKETS_H

#include "base/error.h"
#include "ops/api_list_done.h"
#include "ops/api_list_filter.h"
#include "ops/api_list_place.h"

#define API_LIST_BUCKETS_MAX 65536 /* that are known at a time; the earliest */

struct store_browse;

struct api_list_bucket {
    int64_t start_ms;
    int64_t number;
    uint32_t place; /* index of its partition */
    uint16_t lane_id;
    uint8_t level;
};

/* Before every bucket. */
#define API_LIST_BUCKET_BEGIN ((struct api_list_bucket){.start_ms = -1})

int api_list_buckets_compare(const struct api_list_bucket *a, const struct api_list_bucket *b);

/* Of one partition and lane, as the snapshot has them. */
struct api_list_rule {
    uint32_t place;
    uint16_t lane_id;
    bool listed; /* the filter lets the lane through */
    struct api_list_done done;
};

struct api_list_buckets {
    struct api_list_bucket *items; /* sorted */
    size_t count;
    size_t capacity;
    bool more; /* there are later ones that had no room: collect again when these are through */
    struct api_list_rule *rules; /* by place, then by lane */
    size_t rule_count;
    size_t rule_capacity;
    uint32_t *partition_ids; /* the store's, by place; 0: the checkpoint has no such partition */
};

/* What is collected; borrowed. */
struct api_list_wish {
    const struct api_list_place *places; /* sorted */
    size_t place_count;
    const struct api_list_filter *filter;
    int64_t least_ms; /* dues of keys that may be listed, both included */
    int64_t most_ms;
};

/* Empty; for so many places. */
struct api_list_buckets api_list_buckets_new(size_t place_count);
void api_list_buckets_free(struct api_list_buckets *buckets);

/* Takes what the snapshot has behind `after`. ERROR_CORRUPT, ERROR_SYSTEM. O(buckets of the partitions), some 100 ns each. */
bool api_list_buckets_collect(struct api_list_buckets *buckets,
                              struct store_browse *browse,
                              const struct api_list_wish *wish,
                              const struct api_list_bucket *after,
                              struct error *error);

/* What the frontier of the partition says of the lane; borrowed until the next collecting. NULL: not known. O(log rules). */
const struct api_list_rule *api_list_buckets_rule(const struct api_list_buckets *buckets, uint32_t place, uint16_t lane_id);

#endif
