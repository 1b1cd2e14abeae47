/* Moments as text: see letter_time.h. */
#include "dlq/letter_time.h"

#include <stdio.h>

#include "base/civil.h"

#define DAY_MS INT64_C(86400000)
#define FIRST_MS INT64_C(-62135596800000) /* 0001-01-01T00:00:00.000Z */

bool letter_time_write(int64_t time_ms, char text[LETTER_TIME_SIZE])
{
    text[0] = '\0';
    if (time_ms < FIRST_MS || time_ms > LETTER_TIME_LAST_MS) {
        return false;
    }
    int64_t days = time_ms / DAY_MS - (time_ms % DAY_MS < 0 ? 1 : 0);
    struct civil_date date = civil_date_of(days);
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

/* Other numbers out of range (an hour 24) are found by writing what was read. */
bool letter_time_read(struct span text, int64_t *time_ms)
{
    if (!shaped(text)) {
        return false;
    }
    struct civil_date date = {number_at(text.data, 4), number_at(text.data + 5, 2), number_at(text.data + 8, 2)};
    if (date.year == 0 || date.month < 1 || date.month > 12 || date.day < 1 || date.day > civil_days_in_month(date.year, date.month)) {
        return false;
    }
    int64_t minutes = (int64_t)number_at(text.data + 11, 2) * 60 + number_at(text.data + 14, 2);
    int64_t read = civil_day(date) * DAY_MS + (minutes * 60 + number_at(text.data + 17, 2)) * 1000 + number_at(text.data + 20, 3);
    char again[LETTER_TIME_SIZE];
    if (!letter_time_write(read, again) || !span_equals_text(text, again)) {
        return false;
    }
    *time_ms = read;
    return true;
}
