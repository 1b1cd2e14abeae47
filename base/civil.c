/* See civil.h. Years begin in March in here, so that the leap day is the last of its year: the days before a month are then (153 * m + 2) / 5 for m = 0 (March)
 * to 11 (February). 719,468 days lie between 0000-03-01 and 1970-01-01, 146,097 in 400 years. */
#include "base/civil.h"

#define DAYS_TO_1970 719468
#define DAYS_IN_ERA 146097 /* 400 years */

/* Rounds down, where C rounds to zero. */
static int64_t divide_down(int64_t number, int64_t by)
{
    return number / by - (number % by < 0 ? 1 : 0);
}

bool civil_leap_year(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int civil_days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && civil_leap_year(year) ? 29 : days[month - 1];
}

int64_t civil_day(struct civil_date date)
{
    int64_t year = date.month <= 2 ? date.year - 1 : date.year;
    int64_t month = date.month <= 2 ? date.month + 9 : date.month - 3;
    int64_t era = divide_down(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
    return era * DAYS_IN_ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - DAYS_TO_1970;
}

struct civil_date civil_date_of(int64_t day)
{
    int64_t shifted = day + DAYS_TO_1970;
    int64_t era = divide_down(shifted, DAYS_IN_ERA);
    int64_t day_of_era = shifted - era * DAYS_IN_ERA;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153; /* 0: March */
    int64_t year = year_of_era + era * 400 + (month >= 10 ? 1 : 0);
    return (struct civil_date){(int)year, (int)(month < 10 ? month + 3 : month - 9), (int)(day_of_year - (153 * month + 2) / 5 + 1)};
}

int civil_weekday(int64_t day)
{
    int weekday = (int)((day % 7 + 4) % 7); /* 1970-01-01 was a Thursday */
    return weekday < 0 ? weekday + 7 : weekday;
}

int64_t civil_day_of_s(int64_t seconds)
{
    return divide_down(seconds, CIVIL_DAY_S);
}
