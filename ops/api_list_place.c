/* See api_list_place.h. */
#include "ops/api_list_place.h"

#include <stdlib.h>
#include <string.h>

int api_list_place_compare(const struct api_list_place *a, const struct api_list_place *b)
{
    int topics = strcmp(a->topic, b->topic);
    return topics != 0 ? (topics > 0) - (topics < 0) : (a->partition > b->partition) - (a->partition < b->partition);
}

static int compare(const void *a, const void *b)
{
    return api_list_place_compare(a, b);
}

void api_list_place_sort(struct api_list_place *places, size_t count)
{
    if (count > 1) {
        qsort(places, count, sizeof(*places), compare);
    }
}

size_t api_list_place_find(const struct api_list_place *places, size_t count, const struct api_list_place *place)
{
    size_t from = 0;
    while (from < count) {
        size_t middle = from + (count - from) / 2;
        if (api_list_place_compare(&places[middle], place) < 0) {
            from = middle + 1;
        } else {
            count = middle;
        }
    }
    return from;
}
