/*
 * The rule in the footer of a TZif file: a POSIX TZ text ("CET-1CEST,M3.5.0,M10.5.0/3"), with the hours of -167 to 167 that version 3 allows. Only for zone.c.
 * Pure, O(1) but for the parser's O(length).
 */
#ifndef TARRY_SCHEDULER_ZONE_RULE_H
#define TARRY_SCHEDULER_ZONE_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

enum zone_rule_kind {
    ZONE_RULE_WEEKDAY, /* Mm.w.d: the w-th (5: last) weekday d of month m */
    ZONE_RULE_JULIAN,  /* Jn: day 1 to 365, 29 February is never counted */
    ZONE_RULE_DAY,     /* n: day 0 to 365, 29 February is counted */
};

/* A moment of each year. */
struct zone_rule_moment {
    enum zone_rule_kind kind;
    int day; /* JULIAN, DAY: n; WEEKDAY: d, 0 Sunday */
    int month;
    int week;
    int64_t time_s; /* after midnight; may be negative, or more than a day */
};

struct zone_rule {
    bool summer; /* has a second offset, from `begins` (by the clock before) to `ends` */
    int64_t standard_s;
    int64_t summer_s;
    struct zone_rule_moment begins;
    struct zone_rule_moment ends;
};

/* False: not a text of this form (a second offset without its two moments, too); *rule is undefined. */
bool zone_rule_parse(struct span text, struct zone_rule *rule);


/* The offset at utc_s (ZONE_FIRST_S to ZONE_LAST_S). */
int64_t zone_rule_offset_s(const struct zone_rule *rule, int64_t utc_s);

/* The first change strictly after utc_s. False: there is none, ever. */
bool zone_rule_next_change(const struct zone_rule *rule, int64_t utc_s, int64_t *change_s);

#endif
