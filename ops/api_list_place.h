/* A partition of a source as a list knows it, and how a list is ordered: by (due, topic, partition, offset). Pure, any thread. */
#ifndef TARRY_OPS_API_LIST_PLACE_H
#define TARRY_OPS_API_LIST_PLACE_H

#include <stddef.h>
#include <stdint.h>

#define API_LIST_PLACE_TOPIC_MAX 249 /* bytes of a topic's name: Kafka's own limit */

struct api_list_place {
    char topic[API_LIST_PLACE_TOPIC_MAX + 1];
    int32_t partition;
};

/* By topic, byte by byte, then by partition: -1, 0, 1. */
int api_list_place_compare(const struct api_list_place *a, const struct api_list_place *b);

/* Puts them in that order. */
void api_list_place_sort(struct api_list_place *places, size_t count);

/* The index of the first of sorted places that is not before this one; `count`: all are. O(log count). */
size_t api_list_place_find(const struct api_list_place *places, size_t count, const struct api_list_place *place);

#endif
