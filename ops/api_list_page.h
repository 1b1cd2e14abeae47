/* The least rows that were seen, as many as a page has room for: bounded, whatever comes. Any thread; one at a time. */
#ifndef TARRY_OPS_API_LIST_PAGE_H
#define TARRY_OPS_API_LIST_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row's place in the list, and where it stands. */
struct api_list_item {
    int64_t due_ms;   /* of its key */
    uint32_t place;   /* index of its partition, in the order of api_list_place_compare */
    uint16_t lane_id; /* the store's */
    int64_t offset;
};

/* By due, place, offset: -1, 0, 1. A row that was seen twice, as it was split meanwhile, is equal to itself. */
int api_list_page_compare(const struct api_list_item *a, const struct api_list_item *b);

struct api_list_page {
    size_t limit;
    struct api_list_item *items; /* sorted, each once and `limit` at most, after api_list_page_settle */
    size_t count;
    bool full; /* there are `limit`, up to `last`: what is beyond is not kept */
    bool more; /* something was beyond */
    struct api_list_item last;
};

/* limit: 1 or more. Takes 2 * limit items of memory. */
struct api_list_page api_list_page_new(size_t limit);

void api_list_page_free(struct api_list_page *page);

/* False: to add it would change nothing, as far as is known. O(1). */
bool api_list_page_wants(const struct api_list_page *page, const struct api_list_item *item);

/* O(log limit) on the average. */
void api_list_page_add(struct api_list_page *page, const struct api_list_item *item);

/* Sorts, and leaves each once and `limit` at most. */
void api_list_page_settle(struct api_list_page *page);

#endif
