/*
 * The walk of a list through the checkpoint: the least rows behind a cursor that pass a filter and are not done by the frontier that stands beside them.
 *
 * Bounded memory, whatever is there. Read in slices, between which the snapshot is a newer one, so that it keeps no page for long. A row that is pending all the
 * time is met once and shown once; one that comes or goes meanwhile may be shown or not. Worker threads; one at a time for each walk.
 */
#ifndef TARRY_OPS_API_LIST_WALK_H
#define TARRY_OPS_API_LIST_WALK_H

#include "ops/api_list_buckets.h"
#include "ops/api_list_cursor.h"
#include "ops/api_list_page.h"
#include "store/store_browse.h"

#define API_LIST_WALK_SLICE_MS 100
#define API_LIST_WALK_SLICE_ROWS 20000

struct store;

struct api_list_walk_options {
    struct store *store;
    const struct api_list_place *places; /* sorted; only rows of these are listed */
    size_t place_count;
    const struct api_list_filter *filter;
    int64_t enough_ms; /* monotonic: after it no further bucket is begun, if what is certain is more than nothing */
    int64_t end_ms;    /* monotonic: after it the walk gives up */
    int64_t slice_ms;
    uint32_t slice_rows;
    bool (*stopping)(void *context); /* asked once in a slice, while no snapshot is held; true ends the walk. NULL: never */
    void *context;
};

struct api_list_walk {
    struct api_list_walk_options options;
    struct store_browse *browse;
    struct api_list_buckets buckets;
    struct api_list_wish wish;
    /* Of the round: */
    struct api_list_item after; /* in the terms of items */
    struct api_list_page *page;
    struct api_list_bucket at;  /* the bucket that is being looked into, or was last */
    uint32_t slice_left;
    int64_t slice_end_ms;
    int64_t certain_ms; /* API_LIST_WALK_PART: the page holds all that is due before it */
};

enum api_list_walk_result {
    API_LIST_WALK_FULL,     /* the page is full */
    API_LIST_WALK_ALL,      /* there is no more than stands on the page */
    API_LIST_WALK_PART,     /* not all was looked through: certain_ms. What stands on the page is due before it */
    API_LIST_WALK_TOO_MUCH, /* end_ms */
    API_LIST_WALK_STOPPED,
    API_LIST_WALK_FAILED,   /* the error says why */
};

/* Options are copied; what they point to is borrowed. ERROR_FULL, ERROR_SYSTEM. */
bool api_list_walk_open(struct api_list_walk *walk, const struct api_list_walk_options *options, struct error *error);

/* A zeroed walk is fine. */
void api_list_walk_close(struct api_list_walk *walk);

/* Fills an empty page with the least rows behind `after`. The snapshot is held afterwards (api_list_walk_rest). O(rows of the buckets that it has to look into). */
enum api_list_walk_result api_list_walk_round(struct api_list_walk *walk, const struct api_list_cursor *after, struct api_list_page *page, struct error *error);

/* Lets go of the snapshot, before the owner is asked; and takes a newer one, for api_list_walk_find. ERROR_SYSTEM. */
void api_list_walk_rest(struct api_list_walk *walk);
bool api_list_walk_renew(struct api_list_walk *walk, struct error *error);

/* The name of an item's lane; "" where it has none. Borrowed while the snapshot is held. */
const char *api_list_walk_lane(struct api_list_walk *walk, const struct api_list_item *item);

/* The item's place as a cursor. */
struct api_list_cursor api_list_walk_cursor(const struct api_list_walk *walk, const struct api_list_item *item);

/* The bytes of an item's row in the snapshot: `each` is called if it is there (store_browse_find). ERROR_CORRUPT, ERROR_SYSTEM. */
bool api_list_walk_find(struct api_list_walk *walk,
                        const struct api_list_item *item,
                        store_browse_each_fn *each,
                        void *context,
                        struct error *error);

#endif
