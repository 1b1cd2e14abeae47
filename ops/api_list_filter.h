/* What a list is asked for: which partitions, lanes, times and rows. Pure, any thread. Spans are borrowed from the request. */
#ifndef TARRY_OPS_API_LIST_FILTER_H
#define TARRY_OPS_API_LIST_FILTER_H

#include "bridge/row.h"
#include "ops/api_list_place.h"

enum api_list_state {
    API_LIST_STATE_ANY,
    API_LIST_STATE_PENDING,   /* waits for its time, or for its lane to go on */
    API_LIST_STATE_PAUSED,    /* by a person */
    API_LIST_STATE_UNDECIDED, /* R10 */
};

struct api_list_filter {
    bool schedules;        /* what comes again; false: what does not */
    enum api_list_state state;
    struct span source;    /* topic; absent: any, as the next four */
    int32_t partition;     /* -1: any */
    struct span target;    /* topic */
    struct span lane;
    struct span id_prefix; /* empty: every id, and rows without one */
    bool has_due;          /* with a bound: what has no due time (paused, undecided) is left out */
    int64_t due_from_ms;   /* not before */
    int64_t due_to_ms;     /* before */
};

/* Everything of a kind. */
struct api_list_filter api_list_filter_all(bool schedules);

bool api_list_filter_place(const struct api_list_filter *filter, const struct api_list_place *place);

/* Refused rows are in no list. */
bool api_list_filter_lane(const struct api_list_filter *filter, const char *lane);

/* Between which keys' dues (both included) there can be rows that pass. *least > *most: nowhere. */
void api_list_filter_range(const struct api_list_filter *filter, int64_t *least_ms, int64_t *most_ms);

/* Whether a row of a lane and partition that pass does, too. Keys, values and headers are not looked at. O(length of the prefix). */
bool api_list_filter_row(const struct api_list_filter *filter, const struct row *row);

#endif
