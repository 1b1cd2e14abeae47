/* Occurrences of a cron expression as instants: the calendar (cron_calendar.h) on the clock of a zone. */
#include "base/civil.h"
#include "scheduler/cron.h"
#include "scheduler/cron_calendar.h"

/* Local times are never further from UTC than this. */
#define OFFSET_SPAN_S (26 * INT64_C(3600))

/*
 * Fixed times: each matching local time is one instant, the gap's end for those in a gap, the first of two. Instants grow with local times, so the
 * first local time after the one the clock shows at `after` is the first to try. Two things may stand in between: local times that the clock shows
 * for the second time (they have been), and those that share the gap's end with one that has been.
 */
static bool next_fixed(const struct cron *cron, const struct zone *zone, int64_t after_s, int64_t *next_s)
{
    struct zone_instants instants;
    int64_t from_s = zone_to_local_s(zone, after_s) + 1;
    int64_t local_s;
    while (cron_calendar_next(cron, from_s, &local_s)) {
        enum zone_local shown = zone_from_local(zone, local_s, &instants);
        if (instants.first_s > after_s) {
            *next_s = instants.first_s;
            return true;
        }
        from_s = shown == ZONE_OVERLAP && instants.until_s > local_s ? instants.until_s : local_s + 1;
    }
    return false;
}

/*
 * Real time: between two changes the zone's clock runs evenly, so each such stretch is searched by its own clock. A match found beyond the stretch
 * tells that no local time before it matches, which is all that the next stretches need to know, unless the clock went back to before where the
 * search began.
 */
static bool next_interval(const struct cron *cron, const struct zone *zone, int64_t after_s, int64_t *next_s)
{
    int64_t at_s = after_s + 1;
    int64_t known_s = 0;
    int64_t match_s = -1; /* the first match at or after known_s */
    for (;;) {
        int64_t offset_s = zone_offset_s(zone, at_s);
        int64_t local_s = at_s + offset_s;
        if (match_s < 0 || local_s < known_s || local_s > match_s) {
            if (!cron_calendar_next(cron, local_s, &match_s)) {
                match_s = INT64_MAX;
            }
            known_s = local_s;
        }
        int64_t change_s;
        bool changes = zone_next_change(zone, at_s, &change_s);
        if (match_s < INT64_MAX && (!changes || match_s - offset_s < change_s)) {
            *next_s = match_s - offset_s;
            return true;
        }
        /* Nothing is left on this clock; a change may yet go back into what is, as long as it is near. */
        if (!changes || (match_s == INT64_MAX && change_s > known_s + 2 * OFFSET_SPAN_S)) {
            return false;
        }
        at_s = change_s;
    }
}

bool cron_next(const struct cron *cron, const struct zone *zone, int64_t after_ms, int64_t *next_ms)
{
    int64_t end_s = civil_day((struct civil_date){CRON_YEAR_LAST + 1, 1, 1}) * CIVIL_DAY_S + OFFSET_SPAN_S;
    int64_t after_s = after_ms < 0 ? -1 : after_ms / 1000; /* nothing is before 1970 */
    int64_t next_s = 0; /* gcc does not see that it is set where there is one */
    if (after_s >= end_s) {
        return false;
    }
    if (!(cron->interval ? next_interval(cron, zone, after_s, &next_s) : next_fixed(cron, zone, after_s, &next_s))) {
        return false;
    }
    *next_ms = next_s * 1000;
    return true;
}
