/* Partitions of the sources that this instance does not have: where else an event may be. Worker threads. */
#ifndef TARRY_OPS_API_GET_ELSEWHERE_H
#define TARRY_OPS_API_GET_ELSEWHERE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/time_types.h"
#include "ops/api_list_place.h"

struct api;
struct cJSON;

#define API_GET_ELSEWHERE_MOST 100

struct api_get_elsewhere {
    size_t count;    /* partitions that are not here */
    bool unknown;    /* of a source nobody could say how many it has */
};

/* Adds "elsewhere": [{"topic","partition","owner"}], at most API_GET_ELSEWHERE_MOST, of the source `topic` (NULL: of all), without those in `here`; "owner" is the address under which whoever has it
 * answers, where that is known. Asks Kafka, within the time, and says no more than it learns (cached for some seconds: request_sink.h). */
struct api_get_elsewhere
api_get_elsewhere(struct api *api, struct cJSON *object, const char *topic, const struct api_list_place *here, size_t here_count, struct mono_ms deadline);

#endif
