/*
 * Cron expressions: what is written, and when it is next. Pure, no allocation.
 *
 *   minute hour day-of-month month day-of-week
 *   second minute hour day-of-month month day-of-week
 *   second minute hour day-of-month month day-of-week year
 *   @yearly @annually @monthly @weekly @daily @midnight @hourly
 *
 * Fields stand apart by blanks or tabs. In each: `*`, n, a-b, a list by commas, a step by `/n` (of `*`, a-b, or a: from a to the end, in
 * day-of-week to 7). `?` is `*` in the two day fields. Names JAN to DEC and SUN to SAT, any case; 0 and 7 are Sunday. As Spring has them: `L`, `L-3`,
 * `15W`, `LW` in day-of-month; `5L`, `MON#2` in day-of-week. Years 1970 to 2199. nW stays in its month, and is not in months that have no day n.
 *
 * The two day fields: where one of them begins with `*` or `?`, a day has to match both; else, both restricted, it has to match either (Vixie,
 * cronie).
 *
 * Clock changes. An expression whose hour field does not begin with `*` has fixed times: those that fall into a gap are one, at the gap's end; one
 * that the clock shows twice is the first. One whose hour field begins with `*` is an interval: it follows real time, what the clock skips is not,
 * what it shows twice is twice.
 */
#ifndef TARRY_SCHEDULER_CRON_H
#define TARRY_SCHEDULER_CRON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "scheduler/zone.h"

#define CRON_YEAR_FIRST 1970
#define CRON_YEAR_LAST 2199
#define CRON_TEXT_MAX 1024    /* bytes of an expression */
#define CRON_PROBLEM_SIZE 320 /* room for any problem, with its NUL */

/* A parsed expression: plain bits, copied by `=`. Bit n of a set stands for the value n. */
struct cron {
    uint64_t seconds;                                              /* 0 to 59 */
    uint64_t minutes;                                              /* 0 to 59 */
    uint64_t years[(CRON_YEAR_LAST - CRON_YEAR_FIRST + 64) / 64];  /* year - CRON_YEAR_FIRST */
    uint32_t hours;                                                /* 0 to 23 */
    uint32_t days;                                                 /* 1 to 31 */
    uint32_t days_from_end;                                        /* L-n: 0 (the last day) to 30 */
    uint32_t days_nearest;                                         /* nW: 1 to 31 */
    uint32_t months;                                               /* 1 to 12 */
    uint8_t weekdays;                                              /* 0 Sunday to 6 */
    uint8_t weekdays_last;                                         /* nL */
    uint8_t weekdays_nth[5];                                       /* n#1 to n#5 */
    bool last_workday;                                             /* LW */
    bool days_either;                                              /* both day fields are restricted: either matches */
    bool interval;                                                 /* the hour field begins with a star */
};

/*
 * Reads an expression. False: problem (at most `size` bytes with its NUL, always terminated when size > 0) names the field, what is wrong and what is
 * allowed, in printable UTF-8; *cron is untouched. Refused are, too, an expression of a day that never comes (30 February), @every and @reboot, and a
 * zone in the text (CRON_TZ=). O(length), and one look through the calendar.
 */
bool cron_parse(struct span text, struct cron *cron, char *problem, size_t size);

/*
 * The first occurrence strictly after `after_ms` (milliseconds since 1970, any value), on the zone's clock (NULL: UTC). A whole second, >= 0.
 * False: there is none until the end of 2199; *next_ms is untouched. A bounded search: about a microsecond for what comes within weeks, below a
 * millisecond for what never comes.
 */
bool cron_next(const struct cron *cron, const struct zone *zone, int64_t after_ms, int64_t *next_ms);

#endif
