/* See api_list_filter.h. */
#include "ops/api_list_filter.h"

#include <string.h>

#include "bridge/time_text.h"
#include "ops/lanes.h"

struct api_list_filter api_list_filter_all(bool schedules)
{
    return (struct api_list_filter){.schedules = schedules, .partition = -1, .due_from_ms = 0, .due_to_ms = INT64_MAX};
}

bool api_list_filter_place(const struct api_list_filter *filter, const struct api_list_place *place)
{
    return (filter->source.data == NULL || span_equals_text(filter->source, place->topic)) &&
           (filter->partition < 0 || filter->partition == place->partition);
}

bool api_list_filter_lane(const struct api_list_filter *filter, const char *lane)
{
    bool undecided = strcmp(lane, LANES_UNDECIDED_NAME) == 0;
    if (strcmp(lane, LANES_REFUSED_NAME) == 0 || (filter->lane.data != NULL && !span_equals_text(filter->lane, lane))) {
        return false;
    }
    switch (filter->state) {
    case API_LIST_STATE_UNDECIDED:
        return undecided && !filter->has_due;
    case API_LIST_STATE_PENDING:
    case API_LIST_STATE_PAUSED:
        return !undecided;
    case API_LIST_STATE_ANY:
        return !undecided || !filter->has_due;
    }
    return false;
}

void api_list_filter_range(const struct api_list_filter *filter, int64_t *least_ms, int64_t *most_ms)
{
    *least_ms = filter->has_due && filter->due_from_ms > 0 ? filter->due_from_ms : 0;
    *most_ms = filter->has_due && filter->due_to_ms <= INT64_MAX - 1 ? filter->due_to_ms - 1 : INT64_MAX;
    if (filter->state == API_LIST_STATE_PAUSED) { /* where keys of what is paused stand */
        *least_ms = filter->has_due ? INT64_MAX : TIME_TEXT_LAST_MS;
        *most_ms = TIME_TEXT_LAST_MS;
    }
}

bool api_list_filter_row(const struct api_list_filter *filter, const struct row *row)
{
    const struct decoded *decoded = &row->decoded;
    size_t prefix = filter->id_prefix.length;
    if (row->refused || (decoded->recurrence.kind != DECODE_RECURRENCE_NONE) != filter->schedules) {
        return false;
    }
    if (decoded->paused ? filter->has_due || filter->state == API_LIST_STATE_PENDING : filter->state == API_LIST_STATE_PAUSED) {
        return false;
    }
    if (filter->target.data != NULL && !span_equal(filter->target, decoded->target)) {
        return false;
    }
    return prefix == 0 || (decoded->id.data != NULL && decoded->id.length >= prefix && memcmp(decoded->id.data, filter->id_prefix.data, prefix) == 0);
}
