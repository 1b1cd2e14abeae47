/* One field of a cron expression, read into the sets of struct cron. Only for cron_parse.c. Pure. */
#ifndef TARRY_SCHEDULER_CRON_FIELD_H
#define TARRY_SCHEDULER_CRON_FIELD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"
#include "scheduler/cron.h"

/* In the order of the text. */
enum cron_field {
    CRON_FIELD_SECOND,
    CRON_FIELD_MINUTE,
    CRON_FIELD_HOUR,
    CRON_FIELD_DAY,
    CRON_FIELD_MONTH,
    CRON_FIELD_WEEKDAY,
    CRON_FIELD_YEAR,
};
#define CRON_FIELDS 7

/* Adds what the field says to *cron. False: a problem as cron_parse() tells it; the sets of this field are undefined. O(length). */
bool cron_field_parse(enum cron_field field, struct span text, struct cron *cron, char *problem, size_t size);

#endif
