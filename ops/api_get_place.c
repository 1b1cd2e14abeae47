/* See api_get_place.h. */
#include "ops/api_get_place.h"

#include <string.h>

#include "bridge/decimal.h"

/* The bytes up to the next slash, taken off `rest`; absent: there is none. */
static struct span take_segment(struct span *rest)
{
    const uint8_t *slash = rest->length == 0 ? NULL : memchr(rest->data, '/', rest->length);
    if (slash == NULL) {
        return SPAN_ABSENT;
    }
    struct span segment = {rest->data, (size_t)(slash - rest->data)};
    *rest = (struct span){slash + 1, rest->length - segment.length - 1};
    return segment;
}

/* A topic's name has no slash. */
bool api_get_place_read(struct span text, struct api_list_place *place, int64_t *offset)
{
    struct span topic = take_segment(&text);
    struct span of_partition = take_segment(&text);
    int64_t partition;
    if (of_partition.data == NULL || topic.length == 0 || topic.length > API_LIST_PLACE_TOPIC_MAX || memchr(topic.data, 0, topic.length) != NULL ||
        decimal_parse(of_partition, &partition) != DECIMAL_READ || partition > INT32_MAX || decimal_parse(text, offset) != DECIMAL_READ) {
        return false;
    }
    memcpy(place->topic, topic.data, topic.length);
    place->topic[topic.length] = '\0';
    place->partition = (int32_t)partition;
    return true;
}
