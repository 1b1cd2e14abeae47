/* See api_list_page.h. */
#include "ops/api_list_page.h"

#include <stdlib.h>

#include "base/memory.h"

int api_list_page_compare(const struct api_list_item *a, const struct api_list_item *b)
{
    if (a->due_ms != b->due_ms) {
        return a->due_ms < b->due_ms ? -1 : 1;
    }
    if (a->place != b->place) {
        return a->place < b->place ? -1 : 1;
    }
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static int compare(const void *a, const void *b)
{
    return api_list_page_compare(a, b);
}

struct api_list_page api_list_page_new(size_t limit)
{
    return (struct api_list_page){.limit = limit, .items = memory_new(2 * limit, sizeof(struct api_list_item))};
}

void api_list_page_free(struct api_list_page *page)
{
    free(page->items);
    *page = (struct api_list_page){0};
}

bool api_list_page_wants(const struct api_list_page *page, const struct api_list_item *item)
{
    int beyond = page->full ? api_list_page_compare(item, &page->last) : -1;
    return beyond < 0 || (beyond > 0 && !page->more);
}

void api_list_page_add(struct api_list_page *page, const struct api_list_item *item)
{
    int beyond = page->full ? api_list_page_compare(item, &page->last) : -1;
    page->more = page->more || beyond > 0;
    if (beyond >= 0) {
        return;
    }
    page->items[page->count++] = *item;
    if (page->count == 2 * page->limit) {
        api_list_page_settle(page);
    }
}

void api_list_page_settle(struct api_list_page *page)
{
    size_t kept = 0;
    if (page->count > 1) {
        qsort(page->items, page->count, sizeof(*page->items), compare);
    }
    for (size_t i = 0; i < page->count; i++) {
        if (kept > 0 && api_list_page_compare(&page->items[i], &page->items[kept - 1]) == 0) {
            continue;
        }
        if (kept == page->limit) {
            page->more = true;
            break;
        }
        page->items[kept++] = page->items[i];
    }
    page->count = kept;
    page->full = kept == page->limit;
    page->last = kept > 0 ? page->items[kept - 1] : (struct api_list_item){0};
}
