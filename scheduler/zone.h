/*
 * A time zone: when its clocks stood how, read from the bytes of a TZif file (RFC 8536, versions 1 to 4). Pure: who reads the file is ops/zones.h.
 *
 * Instants are seconds since 1970-01-01 UTC (utc_s). A local time (local_s) is counted alike, as if the zone's clock showed UTC: local_s = utc_s +
 * offset. Both from ZONE_FIRST_S to ZONE_LAST_S; what lies outside is taken as the nearest of these.
 *
 * A zone never changes once parsed: any number of threads may ask it. NULL is a zone, too: UTC.
 */
#ifndef TARRY_SCHEDULER_ZONE_H
#define TARRY_SCHEDULER_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/span.h"

#define ZONE_FIRST_S INT64_C(-62135596800) /* 0001-01-01 */
#define ZONE_LAST_S INT64_C(253402300799)  /* 9999-12-31T23:59:59 */
#define ZONE_CHANGES_MAX 4096              /* in the table of a file; those of the world have some 250 */

struct zone;

/*
 * Reads a whole TZif file. True: *zone is the caller's, zone_free() gives it back; `bytes` is not kept. False: ERROR_INVALID and words that say what
 * is wrong (not TZif, cut off, a count or index out of range, changes out of order, a rule in the footer that does not read, a zone that counts leap
 * seconds, more than ZONE_CHANGES_MAX changes). Instants after the table follow the footer's rule; a file without one keeps its last offset.
 * Never reads outside of `bytes`, whatever is in them. O(length).
 */
bool zone_parse(struct span bytes, struct zone **zone, struct error *error);

/* NULL is fine. */
void zone_free(struct zone *zone);

/* Seconds east of UTC at that instant, -89,999 to 93,599. O(log changes). */
int64_t zone_offset_s(const struct zone *zone, int64_t utc_s);

/* What the zone's clock shows at that instant. O(log changes). */
int64_t zone_to_local_s(const struct zone *zone, int64_t utc_s);

enum zone_local {
    ZONE_ONCE,    /* the clock shows it once */
    ZONE_GAP,     /* never: clocks went forward over it */
    ZONE_OVERLAP, /* twice (or more): clocks went back over it */
};

struct zone_instants {
    int64_t first_s; /* the instant; the first of several; in a gap: that of the change, which is the first one after the gap */
    int64_t last_s;  /* the last of several, else first_s */
    int64_t until_s; /* OVERLAP: the local time at which the clocks went back, so that local times from here on are shown once; else local_s itself */
};

/* When the zone's clock shows this local time. O(log changes). */
enum zone_local zone_from_local(const struct zone *zone, int64_t local_s, struct zone_instants *instants);

/* The next change strictly after utc_s (it need not change the offset: names change, too). False: none until ZONE_LAST_S; *change_s is untouched.
 * O(log changes). */
bool zone_next_change(const struct zone *zone, int64_t utc_s, int64_t *change_s);

#endif
