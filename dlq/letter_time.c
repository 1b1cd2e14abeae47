/* Moments as text: see letter_time.h. */
#include "dlq/letter_time.h"

#include <stdio.h>

#define DAY_MS INT64_C(86400000)
#define FIRST_MS INT64_C(-62135596800000) /* 0001-01-01T00:00:00.000Z */

/* Days from 0000-03-01 to 1970-01-01, and in 400, 100 and 4 years: a year here begins in March, so that a leap day is its last. */
enum { DAYS_TO_1970 = 719468, DAYS_400 = 146097, DAYS_100 = 36524, DAYS_4 = 1461, DAYS_1 = 365 };

struct date {
    int year, month, day;
};

static struct date date_of(int64_t days_since_1970)
{
    int days = (int)(days_since_1970 + DAYS_TO_1970);
    int era = days / DAYS_400;
    int of_era = days % DAYS_400;
    int year = (of_era - of_era / (DAYS_4 - 1) + of_era / DAYS_100 - of_era / (DAYS_400 - 1)) / DAYS_1;
    int of_year = of_era - (DAYS_1 * year + year / 4 - year / 100);
    int month = (5 * of_year + 2) / 153; /* 153 days in five months from March on */
    struct date date = {era * 400 + year + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, of_year - (153 * month + 2) / 5 + 1};
    return date;
}

static int64_t days_of(struct date date)
{
    int year = date.year - (date.month <= 2 ? 1 : 0);
    int month = date.month > 2 ? date.month - 3 : date.month + 9;
    int of_era = year % 400;
    return (int64_t)(year / 400) * DAYS_400 + of_era * DAYS_1 + of_era / 4 - of_era / 100 + (153 * month + 2) / 5 + date.day - 1 - DAYS_TO_1970;
}

bool letter_time_write(int64_t time_ms, char text[LETTER_TIME_SIZE])
{
    text[0] = '\0';
    if (time_ms < FIRST_MS || time_ms > LETTER_TIME_LAST_MS) {
        return false;
    }
    int64_t days = time_ms / DAY_MS - (time_ms % DAY_MS < 0 ? 1 : 0);
    struct date date = date_of(days);
    unsigned ms = (unsigned)(time_ms - days * DAY_MS);
    (void)snprintf(text, LETTER_TIME_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", (unsigned)date.year % 10000, (unsigned)date.month % 100,
                   (unsigned)date.day % 100, ms / 3600000 % 100, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
    return true;
}

static int number_at(const uint8_t *digits, size_t count)
{
    int number = 0;
    for (size_t i = 0; i < count; i++) {
        number = number * 10 + (digits[i] - '0');
    }
    return number;
}

static bool shaped(struct span text)
{
    static const char shape[] = "0000-00-00T00:00:00.000Z";
    bool same = text.data != NULL && text.length == sizeof(shape) - 1;
    for (size_t i = 0; same && i < text.length; i++) {
        same = shape[i] == '0' ? text.data[i] >= '0' && text.data[i] <= '9' : text.data[i] == (uint8_t)shape[i];
    }
    return same;
}

/* Numbers out of range (a 30th of February, an hour 24) are found by writing what was read. */
bool letter_time_read(struct span text, int64_t *time_ms)
{
    if (!shaped(text)) {
        return false;
    }
    struct date date = {number_at(text.data, 4), number_at(text.data + 5, 2), number_at(text.data + 8, 2)};
    if (date.year == 0 || date.month < 1 || date.month > 12) {
        return false;
    }
    int64_t minutes = (int64_t)number_at(text.data + 11, 2) * 60 + number_at(text.data + 14, 2);
    int64_t read = days_of(date) * DAY_MS + (minutes * 60 + number_at(text.data + 17, 2)) * 1000 + number_at(text.data + 20, 3);
    char again[LETTER_TIME_SIZE];
    if (!letter_time_write(read, again) || !span_equals_text(text, again)) {
        return false;
    }
    *time_ms = read;
    return true;
}
