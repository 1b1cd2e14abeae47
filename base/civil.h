/*
 * Days and dates of the proleptic Gregorian calendar: own arithmetic, no libc time, no zone of the host.
 *
 * A day is counted from 1970-01-01 (day 0), negative before. Pure functions, any thread, O(1).
 */
#ifndef TARRY_BASE_CIVIL_H
#define TARRY_BASE_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

#define CIVIL_DAY_S INT64_C(86400)

struct civil_date {
    int year;  /* -9999 to 99,999: what the functions below are good for */
    int month; /* 1 to 12 */
    int day;   /* 1 to 31 */
};

bool civil_leap_year(int year);

/* 28 to 31. month: 1 to 12. */
int civil_days_in_month(int year, int month);

/* The day of a date. The date must exist. */
int64_t civil_day(struct civil_date date);

/* The date of a day. day: -4,000,000 to 36,000,000 (years -8982 to 100,534). */
struct civil_date civil_date_of(int64_t day);

/* 0 Sunday to 6 Saturday. Any day. */
int civil_weekday(int64_t day);

/* The day of an instant, rounded down: -1 s is of day -1. */
int64_t civil_day_of_s(int64_t seconds);

#endif
