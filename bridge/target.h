/* The allow list: which topics may be targets, and in which lane each goes. First match wins. */
#ifndef TARRY_BRIDGE_TARGET_H
#define TARRY_BRIDGE_TARGET_H

#include <stdbool.h>

#include "base/span.h"
#include "scheduler/types.h"

struct target_pattern {
    const char *match; /* a topic name in which each * stands for any run of bytes */
    lane_index lane;
};

struct target_list {
    const struct target_pattern *patterns; /* in the order of the configuration */
    size_t pattern_count;
    const char *const *known; /* default targets and routes: allowed even without a pattern, then in default_lane */
    size_t known_count;
    lane_index default_lane;
};

/* True and the lane when `topic` may be a target. O(patterns * length). */
bool target_lane(const struct target_list *list, struct span topic, lane_index *lane);

/* Kafka's rule: 1 to 249 bytes of [a-zA-Z0-9._-], not "." or "..". */
bool target_name_valid(struct span topic);

/* Glob match with `*` only; linear in both lengths for any input. */
bool target_glob_match(const char *pattern, struct span text);

#endif
