/* The inside of a zone: for zone.c and zone_parse.c alone. */
#ifndef TARRY_SCHEDULER_ZONE_STATE_H
#define TARRY_SCHEDULER_ZONE_STATE_H

#include <stddef.h>

#include "scheduler/zone.h"
#include "scheduler/zone_rule.h"

struct zone_change {
    int64_t at_s;
    int32_t offset_s; /* from then on */
};

struct zone {
    int32_t first_offset_s; /* before the first change */
    bool ruled;             /* after the last change `rule` holds, else the last offset */
    struct zone_rule rule;
    size_t change_count;
    struct zone_change changes[]; /* strictly ascending */
};

#endif
