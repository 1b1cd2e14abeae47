/* See zone_rule.h. */
#include "scheduler/zone_rule.h"

#include "base/civil.h"

#define HOUR_S INT64_C(3600)
#define OFFSET_HOURS_MAX 24
#define TIME_HOURS_MAX 167
#define CHANGES 8 /* of four years in a row */

/* What is left of the text; `ok` goes false at the first byte that does not fit and stays so. */
struct reader {
    struct span rest;
    bool ok;
};

static bool next_is(const struct reader *reader, char byte)
{
    return reader->rest.length > 0 && reader->rest.data[0] == (uint8_t)byte;
}

static bool next_is_digit(const struct reader *reader)
{
    return reader->rest.length > 0 && reader->rest.data[0] >= '0' && reader->rest.data[0] <= '9';
}

static void skip(struct reader *reader)
{
    reader->rest.data++;
    reader->rest.length--;
}

static bool take_if(struct reader *reader, char byte)
{
    if (!next_is(reader, byte)) {
        return false;
    }
    skip(reader);
    return true;
}

static void take(struct reader *reader, char byte)
{
    reader->ok = take_if(reader, byte) && reader->ok;
}

static int take_number(struct reader *reader, int least, int most)
{
    int number = 0;
    int digits = 0;
    while (next_is_digit(reader) && digits < 4) {
        number = number * 10 + (reader->rest.data[0] - '0');
        skip(reader);
        digits++;
    }
    reader->ok = reader->ok && digits > 0 && number >= least && number <= most;
    return number;
}

static bool is_letter(uint8_t byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

/* "CET" or "<+03>": three characters and more. What it says does not matter to us. */
static void take_name(struct reader *reader)
{
    size_t length = 0;
    bool quoted = take_if(reader, '<');
    while (reader->rest.length > 0 && (is_letter(reader->rest.data[0]) || (quoted && !next_is(reader, '>')))) {
        skip(reader);
        length++;
    }
    if (quoted) {
        take(reader, '>');
    }
    reader->ok = reader->ok && length >= 3;
}

/* [+-]hh[:mm[:ss]] */
static int64_t take_time(struct reader *reader, int hours_most)
{
    bool negative = take_if(reader, '-');
    if (!negative) {
        (void)take_if(reader, '+');
    }
    int64_t seconds = take_number(reader, 0, hours_most) * HOUR_S;
    if (take_if(reader, ':')) {
        seconds += (int64_t)take_number(reader, 0, 59) * 60;
        if (take_if(reader, ':')) {
            seconds += take_number(reader, 0, 59);
        }
    }
    return negative ? -seconds : seconds;
}

static struct zone_rule_moment take_moment(struct reader *reader)
{
    struct zone_rule_moment moment = {.kind = ZONE_RULE_DAY, .time_s = 2 * HOUR_S};
    take(reader, ',');
    if (take_if(reader, 'M')) {
        moment.kind = ZONE_RULE_WEEKDAY;
        moment.month = take_number(reader, 1, 12);
        take(reader, '.');
        moment.week = take_number(reader, 1, 5);
        take(reader, '.');
        moment.day = take_number(reader, 0, 6);
    } else if (take_if(reader, 'J')) {
        moment.kind = ZONE_RULE_JULIAN;
        moment.day = take_number(reader, 1, 365);
    } else {
        moment.day = take_number(reader, 0, 365);
    }
    if (take_if(reader, '/')) {
        moment.time_s = take_time(reader, TIME_HOURS_MAX);
    }
    return moment;
}

bool zone_rule_parse(struct span text, struct zone_rule *rule)
{
    struct reader reader = {text, true};
    *rule = (struct zone_rule){.summer = false};
    take_name(&reader);
    rule->standard_s = -take_time(&reader, OFFSET_HOURS_MAX); /* POSIX counts to the west */
    if (reader.ok && reader.rest.length > 0) {
        rule->summer = true;
        rule->summer_s = rule->standard_s + HOUR_S;
        take_name(&reader);
        if (!next_is(&reader, ',')) {
            rule->summer_s = -take_time(&reader, OFFSET_HOURS_MAX);
        }
        rule->begins = take_moment(&reader);
        rule->ends = take_moment(&reader);
    }
    return reader.ok && reader.rest.length == 0;
}

static int64_t day_of_moment(const struct zone_rule_moment *moment, int year)
{
    if (moment->kind != ZONE_RULE_WEEKDAY) {
        bool after_leap_day = moment->kind == ZONE_RULE_JULIAN && moment->day >= 60 && civil_leap_year(year);
        int from_first = moment->kind == ZONE_RULE_JULIAN ? moment->day - 1 : moment->day;
        return civil_day((struct civil_date){year, 1, 1}) + from_first + (after_leap_day ? 1 : 0);
    }
    int64_t first = civil_day((struct civil_date){year, moment->month, 1});
    int day = (moment->day - civil_weekday(first) + 7) % 7 + (moment->week - 1) * 7;
    return first + (day >= civil_days_in_month(year, moment->month) ? day - 7 : day);
}

struct change {
    int64_t at_s;
    int64_t offset_s;
};

/* The changes around utc_s, in order: two years before to one after, as a moment may lie a week outside of its year. The sort is stable: where a year
 * ends and the next begins at the same instant, as all-year summer time is written, the beginning comes second and holds. */
static void list_changes(const struct zone_rule *rule, int64_t utc_s, struct change changes[CHANGES])
{
    int year = civil_date_of(civil_day_of_s(utc_s)).year;
    int count = 0;
    for (int y = year - 2; y <= year + 1; y++) {
        changes[count++] = (struct change){day_of_moment(&rule->ends, y) * CIVIL_DAY_S + rule->ends.time_s - rule->summer_s, rule->standard_s};
        changes[count++] = (struct change){day_of_moment(&rule->begins, y) * CIVIL_DAY_S + rule->begins.time_s - rule->standard_s, rule->summer_s};
    }
    for (int i = 1; i < count; i++) {
        struct change moved = changes[i];
        int at = i;
        for (; at > 0 && changes[at - 1].at_s > moved.at_s; at--) {
            changes[at] = changes[at - 1];
        }
        changes[at] = moved;
    }
}

int64_t zone_rule_offset_s(const struct zone_rule *rule, int64_t utc_s)
{
    struct change changes[CHANGES] = {{0, 0}};
    if (!rule->summer) {
        return rule->standard_s;
    }
    list_changes(rule, utc_s, changes);
    int64_t offset_s = changes[0].offset_s;
    for (int i = 0; i < CHANGES && changes[i].at_s <= utc_s; i++) {
        offset_s = changes[i].offset_s;
    }
    return offset_s;
}

bool zone_rule_next_change(const struct zone_rule *rule, int64_t utc_s, int64_t *change_s)
{
    struct change changes[CHANGES] = {{0, 0}};
    if (!rule->summer) {
        return false;
    }
    list_changes(rule, utc_s, changes);
    for (int i = 0; i < CHANGES; i++) {
        if (changes[i].at_s > utc_s) {
            *change_s = changes[i].at_s;
            return true;
        }
    }
    return false;
}
