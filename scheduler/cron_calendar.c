/* See cron_calendar.h. */
#include "scheduler/cron_calendar.h"

#include "base/civil.h"

/* A month: how many days it has, and what weekday its first is. */
struct month {
    int days;
    int first_weekday;
};

static uint32_t bit(int day)
{
    return UINT32_C(1) << (day & 31); /* 1 to 31, or 0: the day itself is the last */
}

static int weekday_of(const struct month *month, int day)
{
    return (month->first_weekday + day - 1) % 7;
}

/* The Monday to Friday nearest to a day, within the month: a Saturday gives the Friday before, unless it is the first; a Sunday the Monday after, unless it is
 * the last. */
static int nearest_workday(const struct month *month, int day)
{
    switch (weekday_of(month, day)) {
    case 6:
        return day > 1 ? day - 1 : day + 2;
    case 0:
        return day < month->days ? day + 1 : day - 2;
    default:
        return day;
    }
}

static int last_workday(const struct month *month)
{
    int weekday = weekday_of(month, month->days);
    if (weekday == 6) {
        return month->days - 1;
    }
    return weekday == 0 ? month->days - 2 : month->days;
}

static uint32_t match_days(const struct cron *cron, const struct month *month)
{
    uint32_t matching = cron->days;
    for (int day = 1; day <= month->days; day++) {
        if ((cron->days_nearest & bit(day)) != 0) {
            matching |= bit(nearest_workday(month, day));
        }
        if ((cron->days_from_end & bit(month->days - day)) != 0) {
            matching |= bit(day);
        }
    }
    return cron->last_workday ? matching | bit(last_workday(month)) : matching;
}

static uint32_t match_weekdays(const struct cron *cron, const struct month *month)
{
    uint32_t matching = 0;
    for (int day = 1; day <= month->days; day++) {
        int weekdays = cron->weekdays | cron->weekdays_nth[(day - 1) / 7];
        if (day + 7 > month->days) {
            weekdays |= cron->weekdays_last;
        }
        if ((weekdays >> weekday_of(month, day) & 1) != 0) {
            matching |= bit(day);
        }
    }
    return matching;
}

uint32_t cron_calendar_days(const struct cron *cron, int year, int month)
{
    struct month shape = {civil_days_in_month(year, month), civil_weekday(civil_day((struct civil_date){year, month, 1}))};
    uint32_t days = match_days(cron, &shape);
    uint32_t weekdays = match_weekdays(cron, &shape);
    uint32_t exist = (uint32_t)((UINT64_C(2) << shape.days) - 2);
    return (cron->days_either ? days | weekdays : days & weekdays) & exist;
}

/* The least value of a set that is `from` or more, or -1. */
static int least_from(uint64_t set, int from)
{
    uint64_t rest = from > 63 ? 0 : set >> from << from;
    return rest == 0 ? -1 : __builtin_ctzll(rest);
}

/* The first matching second of a day, counted from midnight, at or after from_s; -1: none is left. */
static int64_t next_in_day(const struct cron *cron, int64_t from_s)
{
    int from_hour = (int)(from_s / 3600);
    int from_minute = (int)(from_s / 60 % 60);
    int from_second = (int)(from_s % 60);
    for (int hour = least_from(cron->hours, from_hour); hour >= 0; hour = least_from(cron->hours, hour + 1)) {
        bool same_hour = hour == from_hour;
        for (int minute = least_from(cron->minutes, same_hour ? from_minute : 0); minute >= 0; minute = least_from(cron->minutes, minute + 1)) {
            int second = least_from(cron->seconds, same_hour && minute == from_minute ? from_second : 0);
            if (second >= 0) {
                return (int64_t)hour * 3600 + (int64_t)minute * 60 + second;
            }
        }
    }
    return -1;
}

/* The first match in one month, at or after the second from_s of its day from_day. */
static bool next_in_month(const struct cron *cron, struct civil_date from, int64_t from_s, int64_t *match_s)
{
    uint32_t days = cron_calendar_days(cron, from.year, from.month);
    for (int day = least_from(days, from.day); day >= 0; day = least_from(days, day + 1)) {
        int64_t second = next_in_day(cron, day == from.day ? from_s : 0);
        if (second >= 0) {
            *match_s = civil_day((struct civil_date){from.year, from.month, day}) * CIVIL_DAY_S + second;
            return true;
        }
    }
    return false;
}

static bool has_year(const struct cron *cron, int year)
{
    int index = year - CRON_YEAR_FIRST;
    return (cron->years[index / 64] >> (index % 64) & 1) != 0;
}

/* The first of a month that matches by month and year, or a date beyond the last year. A date that matches stays what it is. */
static struct civil_date skip_months(const struct cron *cron, struct civil_date date)
{
    while (date.year <= CRON_YEAR_LAST) {
        int month = has_year(cron, date.year) ? least_from(cron->months, date.month) : -1;
        if (month == date.month) {
            return date;
        }
        if (month > 0) {
            return (struct civil_date){date.year, month, 1};
        }
        date = (struct civil_date){date.year + 1, 1, 1};
    }
    return date;
}

bool cron_calendar_next(const struct cron *cron, int64_t local_s, int64_t *match_s)
{
    int64_t first_s = civil_day((struct civil_date){CRON_YEAR_FIRST, 1, 1}) * CIVIL_DAY_S;
    int64_t end_s = civil_day((struct civil_date){CRON_YEAR_LAST + 1, 1, 1}) * CIVIL_DAY_S;
    int64_t at_s = local_s < first_s ? first_s : local_s;
    if (at_s >= end_s) {
        return false;
    }
    int64_t day = civil_day_of_s(at_s);
    int64_t from_s = at_s - day * CIVIL_DAY_S;
    struct civil_date start = civil_date_of(day);
    struct civil_date date = skip_months(cron, start);
    while (date.year <= CRON_YEAR_LAST) {
        bool starting = date.year == start.year && date.month == start.month && date.day == start.day;
        if (next_in_month(cron, date, starting ? from_s : 0, match_s)) {
            return true;
        }
        date = skip_months(cron, date.month == 12 ? (struct civil_date){date.year + 1, 1, 1} : (struct civil_date){date.year, date.month + 1, 1});
    }
    return false;
}
