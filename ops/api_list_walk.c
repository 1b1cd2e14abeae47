/* See api_list_walk.h. */
#include "ops/api_list_walk.h"

#include "ops/clock.h"

#define ROWS_AT_ONCE 1000 /* between two looks at the clock: a millisecond or so */

/* Rows of one call. */
struct reading {
    struct api_list_walk *walk;
    const struct api_list_rule *rule;
    uint32_t rows;
    bool failed;
    struct error *error;
};

bool api_list_walk_open(struct api_list_walk *walk, const struct api_list_walk_options *options, struct error *error)
{
    *walk = (struct api_list_walk){.options = *options};
    walk->browse = store_browse_open(options->store, error);
    if (walk->browse == NULL) {
        return false;
    }
    walk->buckets = api_list_buckets_new(options->place_count);
    walk->wish = (struct api_list_wish){.places = options->places, .place_count = options->place_count, .filter = options->filter};
    return true;
}

void api_list_walk_close(struct api_list_walk *walk)
{
    store_browse_close(walk->browse);
    if (walk->browse != NULL) {
        api_list_buckets_free(&walk->buckets);
    }
    walk->browse = NULL;
}

static void begin_slice(struct api_list_walk *walk)
{
    walk->slice_left = walk->options.slice_rows;
    walk->slice_end_ms = clock_mono().ms + walk->options.slice_ms;
}

/* The cursor's place among items: of its partition, or before the next one. */
static struct api_list_item item_of(const struct api_list_walk *walk, const struct api_list_cursor *cursor)
{
    const struct api_list_place *places = walk->options.places;
    size_t at = api_list_place_find(places, walk->options.place_count, &cursor->place);
    bool here = at < walk->options.place_count && api_list_place_compare(&places[at], &cursor->place) == 0;
    return (struct api_list_item){.due_ms = cursor->due_ms, .place = (uint32_t)at, .offset = here ? cursor->offset : -1};
}

struct api_list_cursor api_list_walk_cursor(const struct api_list_walk *walk, const struct api_list_item *item)
{
    return (struct api_list_cursor){item->due_ms, walk->options.places[item->place], item->offset};
}

/* Cheap things first: most rows of a page's bucket are before or behind the page. */
static bool take_row(const struct store_browse_row *found, void *context)
{
    struct reading *reading = context;
    struct api_list_walk *walk = reading->walk;
    struct api_list_item item = {.due_ms = found->due_ms, .place = walk->at.place, .lane_id = found->lane_id, .offset = found->offset};
    struct row row;
    reading->rows++;
    if (item.due_ms < walk->wish.least_ms || item.due_ms > walk->wish.most_ms || api_list_page_compare(&item, &walk->after) <= 0 ||
        !api_list_page_wants(walk->page, &item) || api_list_done_row(&reading->rule->done, item.offset, item.due_ms)) {
        return true;
    }
    if (!row_decode(found->bytes, &row, reading->error)) {
        reading->failed = true;
        return false;
    }
    if (api_list_filter_row(walk->options.filter, &row)) {
        api_list_page_add(walk->page, &item);
    }
    return true;
}

/* A slice has ended: takes a newer snapshot, and asks what is left to look into behind the bucket under way. */
static bool end_slice(struct api_list_walk *walk, enum api_list_walk_result *result, struct error *error)
{
    uint64_t commit = store_browse_commit(walk->browse);
    store_browse_rest(walk->browse);
    *result = walk->options.stopping != NULL && walk->options.stopping(walk->options.context) ? API_LIST_WALK_STOPPED
              : clock_mono().ms >= walk->options.end_ms                                       ? API_LIST_WALK_TOO_MUCH
                                                                                              : API_LIST_WALK_FAILED;
    if (*result != API_LIST_WALK_FAILED || !store_browse_renew(walk->browse, error)) {
        return false;
    }
    begin_slice(walk);
    return store_browse_commit(walk->browse) == commit || api_list_buckets_collect(&walk->buckets, walk->browse, &walk->wish, &walk->at, error);
}

static bool slice_is_over(const struct api_list_walk *walk)
{
    return walk->slice_left == 0 || clock_mono().ms >= walk->slice_end_ms;
}

/* All rows of walk->at, over as many slices as it takes. A partition that has gone meanwhile has no more. */
static bool read_bucket(struct api_list_walk *walk, enum api_list_walk_result *result, struct error *error)
{
    int64_t next = 0;
    while (next >= 0) {
        if (slice_is_over(walk) && !end_slice(walk, result, error)) {
            return false;
        }
        uint32_t most = walk->slice_left < ROWS_AT_ONCE ? walk->slice_left : ROWS_AT_ONCE;
        uint32_t partition_id = walk->buckets.partition_ids[walk->at.place];
        struct reading reading = {.walk = walk, .rule = api_list_buckets_rule(&walk->buckets, walk->at.place, walk->at.lane_id), .error = error};
        if (partition_id == 0 || reading.rule == NULL) {
            return true; /* nothing of it is there any more */
        }
        *result = API_LIST_WALK_FAILED;
        if (!store_browse_rows(walk->browse, partition_id, walk->at.lane_id, walk->at.level, walk->at.number, next, most, take_row, &reading, &next, error) ||
            reading.failed) {
            return false;
        }
        walk->slice_left -= reading.rows;
    }
    return true;
}

/* False: nothing behind walk->at may have anything for the page. */
static bool next_bucket(struct api_list_walk *walk, size_t *index, enum api_list_walk_result *result, struct error *error)
{
    struct api_list_buckets *buckets = &walk->buckets;
    *result = API_LIST_WALK_ALL;
    while (*index < buckets->count && api_list_buckets_compare(&buckets->items[*index], &walk->at) <= 0) {
        (*index)++;
    }
    if (*index == buckets->count && buckets->more) {
        *index = 0;
        if (!api_list_buckets_collect(buckets, walk->browse, &walk->wish, &walk->at, error)) {
            *result = API_LIST_WALK_FAILED;
            return false;
        }
    }
    if (*index == buckets->count) {
        return false;
    }
    const struct api_list_bucket *bucket = &buckets->items[*index];
    if (walk->page->count >= walk->page->limit) {
        api_list_page_settle(walk->page);
    }
    if (walk->page->full && bucket->start_ms > walk->page->last.due_ms) {
        *result = API_LIST_WALK_FULL;
        return false;
    }
    if (clock_mono().ms >= walk->options.enough_ms && bucket->start_ms > walk->after.due_ms) {
        walk->certain_ms = bucket->start_ms;
        *result = API_LIST_WALK_PART;
        return false;
    }
    walk->at = *bucket;
    return true;
}

/* The index is of a list that may be another one after a slice: it begins anew then, behind walk->at. */
static enum api_list_walk_result walk_on(struct api_list_walk *walk, struct error *error)
{
    enum api_list_walk_result result;
    size_t index = 0;
    uint64_t commit = store_browse_commit(walk->browse);
    while (next_bucket(walk, &index, &result, error)) {
        if (!read_bucket(walk, &result, error)) {
            return result;
        }
        index = store_browse_commit(walk->browse) == commit ? index : 0;
        commit = store_browse_commit(walk->browse);
    }
    return result;
}

/* What is not certain is not shown; a full page is full even if it was settled just now. */
static void finish(struct api_list_walk *walk, enum api_list_walk_result *result)
{
    struct api_list_page *page = walk->page;
    api_list_page_settle(page);
    while (*result == API_LIST_WALK_PART && page->count > 0 && page->items[page->count - 1].due_ms >= walk->certain_ms) {
        page->count--;
        page->full = false;
    }
    if (page->full && (*result == API_LIST_WALK_PART || (*result == API_LIST_WALK_ALL && page->more))) {
        *result = API_LIST_WALK_FULL;
    }
}

enum api_list_walk_result api_list_walk_round(struct api_list_walk *walk, const struct api_list_cursor *after, struct api_list_page *page, struct error *error)
{
    walk->page = page;
    walk->after = item_of(walk, after);
    walk->at = API_LIST_BUCKET_BEGIN;
    api_list_filter_range(walk->options.filter, &walk->wish.least_ms, &walk->wish.most_ms);
    walk->wish.least_ms = after->due_ms > walk->wish.least_ms ? after->due_ms : walk->wish.least_ms;
    if (!store_browse_renew(walk->browse, error) || !api_list_buckets_collect(&walk->buckets, walk->browse, &walk->wish, &walk->at, error)) {
        return API_LIST_WALK_FAILED;
    }
    begin_slice(walk);
    enum api_list_walk_result result = walk_on(walk, error);
    finish(walk, &result);
    return result;
}

void api_list_walk_rest(struct api_list_walk *walk)
{
    store_browse_rest(walk->browse);
}

bool api_list_walk_renew(struct api_list_walk *walk, struct error *error)
{
    return store_browse_renew(walk->browse, error);
}

const char *api_list_walk_lane(struct api_list_walk *walk, const struct api_list_item *item)
{
    const char *lane = store_browse_lane(walk->browse, item->lane_id);
    return lane != NULL ? lane : "";
}

bool api_list_walk_find(struct api_list_walk *walk, const struct api_list_item *item, store_browse_each_fn *each, void *context, struct error *error)
{
    uint32_t partition_id = walk->buckets.partition_ids[item->place];
    return partition_id == 0 || store_browse_find(walk->browse, partition_id, item->lane_id, item->due_ms, item->offset, each, context, error);
}
