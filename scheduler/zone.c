/* See zone.h. Reading the file is zone_parse.c. */
#include <stdlib.h>

#include "scheduler/zone_state.h"

/* No offset is further from UTC than this: RFC 8536 allows -25 h to +26 h, without the ends. */
#define OFFSET_SPAN_S (26 * INT64_C(3600))

static int64_t within(int64_t seconds)
{
    if (seconds < ZONE_FIRST_S) {
        return ZONE_FIRST_S;
    }
    return seconds > ZONE_LAST_S ? ZONE_LAST_S : seconds;
}

/* How many changes of the table are at utc_s or before. */
static size_t count_changes(const struct zone *zone, int64_t utc_s)
{
    size_t low = 0;
    size_t high = zone->change_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->changes[middle].at_s <= utc_s) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int64_t zone_offset_s(const struct zone *zone, int64_t utc_s)
{
    if (zone == NULL) {
        return 0;
    }
    int64_t at_s = within(utc_s);
    size_t passed = count_changes(zone, at_s);
    if (passed == zone->change_count && zone->ruled) {
        return zone_rule_offset_s(&zone->rule, at_s);
    }
    return passed == 0 ? zone->first_offset_s : zone->changes[passed - 1].offset_s;
}

int64_t zone_to_local_s(const struct zone *zone, int64_t utc_s)
{
    int64_t at_s = within(utc_s);
    return at_s + zone_offset_s(zone, at_s);
}

static bool next_change(const struct zone *zone, int64_t utc_s, int64_t *change_s)
{
    size_t passed = count_changes(zone, utc_s);
    if (passed < zone->change_count) {
        *change_s = zone->changes[passed].at_s;
        return true;
    }
    return zone->ruled && zone_rule_next_change(&zone->rule, utc_s, change_s);
}

bool zone_next_change(const struct zone *zone, int64_t utc_s, int64_t *change_s)
{
    int64_t next_s;
    if (zone == NULL || !next_change(zone, within(utc_s), &next_s) || next_s > ZONE_LAST_S) {
        return false;
    }
    *change_s = next_s;
    return true;
}

/* What is known so far of a local time, while the changes around it are gone through in order. */
struct search {
    int64_t local_s;
    int shown;
    bool gap;
    struct zone_instants instants;
};

/* Between two changes the offset stands still: the clock shows the local time there, or not. */
static void search_between(struct search *search, int64_t from_s, int64_t to_s, int64_t offset_s)
{
    int64_t at_s = search->local_s - offset_s;
    if (at_s < from_s || at_s >= to_s) {
        return;
    }
    if (search->shown == 0) {
        search->instants.first_s = at_s;
    }
    search->instants.last_s = at_s;
    search->shown++;
}

static void search_change(struct search *search, int64_t at_s, int64_t before_s, int64_t after_s)
{
    int64_t shown_before_s = at_s + before_s;
    int64_t shown_after_s = at_s + after_s;
    if (!search->gap && search->shown == 0 && shown_before_s <= search->local_s && search->local_s < shown_after_s) {
        search->gap = true;
        search->instants.first_s = at_s;
        search->instants.last_s = at_s;
    }
    if (shown_after_s <= search->local_s && search->local_s < shown_before_s) {
        search->instants.until_s = shown_before_s;
    }
}

enum zone_local zone_from_local(const struct zone *zone, int64_t local_s, struct zone_instants *instants)
{
    struct search search = {.local_s = within(local_s)};
    search.instants = (struct zone_instants){search.local_s, search.local_s, search.local_s};
    if (zone != NULL) {
        int64_t end_s = search.local_s + OFFSET_SPAN_S;
        int64_t at_s = search.local_s - OFFSET_SPAN_S;
        int64_t offset_s = zone_offset_s(zone, at_s);
        int64_t change_s;
        while (next_change(zone, at_s, &change_s) && change_s <= end_s) {
            int64_t after_s = zone_offset_s(zone, change_s);
            search_between(&search, at_s, change_s, offset_s);
            search_change(&search, change_s, offset_s, after_s);
            at_s = change_s;
            offset_s = after_s;
        }
        search_between(&search, at_s, INT64_MAX, offset_s);
    }
    *instants = search.instants;
    if (search.shown > 1) {
        return ZONE_OVERLAP;
    }
    instants->until_s = search.local_s;
    return zone != NULL && search.shown == 0 ? ZONE_GAP : ZONE_ONCE;
}

void zone_free(struct zone *zone)
{
    free(zone);
}
