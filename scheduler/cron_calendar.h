/* The calendar of a cron expression, without a zone: which local times match. Only for cron_*.c. Pure. */
#ifndef TARRY_SCHEDULER_CRON_CALENDAR_H
#define TARRY_SCHEDULER_CRON_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/cron.h"

/* The days of a month that match the two day fields: bit 1 to 31. year: 1970 to 2199. */
uint32_t cron_calendar_days(const struct cron *cron, int year, int month);

/* The first matching local time (seconds since 1970, see zone.h) at or after local_s. False: none until the end of 2199. At most 2,760 months are looked at. */
bool cron_calendar_next(const struct cron *cron, int64_t local_s, int64_t *match_s);

#endif
