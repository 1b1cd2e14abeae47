/* An event named by where it stands: "topic/partition/offset". Pure; any thread. */
#ifndef TARRY_OPS_API_GET_PLACE_H
#define TARRY_OPS_API_GET_PLACE_H

#include <stdbool.h>

#include "base/span.h"
#include "ops/api_list_place.h"

/* False: the text is not of that form (then it may be an id); *place and *offset mean nothing. O(length). */
bool api_get_place_read(struct span text, struct api_list_place *place, int64_t *offset);

#endif
