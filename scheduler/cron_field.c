/* One field of a cron expression: see cron_field.h. */
#include "scheduler/cron_field.h"

#include <stdio.h>

#include "base/text.h"

#define SHOWN_SIZE 48 /* of a value, in a problem */
#define DIGITS_MAX 4

/* What may stand in a field. Names stand for `least` and the values after it. */
struct field {
    const char *label;
    const char *names; /* three letters each, or NULL */
    int least;
    int most;
};

static const struct field fields[CRON_FIELDS] = {
    [CRON_FIELD_SECOND] = {"second", NULL, 0, 59},
    [CRON_FIELD_MINUTE] = {"minute", NULL, 0, 59},
    [CRON_FIELD_HOUR] = {"hour", NULL, 0, 23},
    [CRON_FIELD_DAY] = {"day-of-month", NULL, 1, 31},
    [CRON_FIELD_MONTH] = {"month", "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", 1, 12},
    [CRON_FIELD_WEEKDAY] = {"day-of-week", "SUNMONTUEWEDTHUFRISAT", 0, 7},
    [CRON_FIELD_YEAR] = {"year", NULL, CRON_YEAR_FIRST, CRON_YEAR_LAST},
};

struct parser {
    struct cron *cron;
    char *problem;
    size_t size;
    enum cron_field field;
};

static bool refuse_value(struct parser *parser, struct span value, const char *wrong)
{
    char shown[SHOWN_SIZE];
    (void)text_printable(value, shown, sizeof(shown));
    if (parser->size > 0) {
        (void)snprintf(parser->problem, parser->size, "cron: `%s` in the field %s: %s", shown, fields[parser->field].label, wrong);
    }
    return false;
}

static bool refuse_range(struct parser *parser, struct span value)
{
    const struct field *field = &fields[parser->field];
    char wrong[96];
    const char *names = field->names == NULL ? "" : parser->field == CRON_FIELD_MONTH ? " or JAN to DEC" : " or SUN to SAT";
    (void)snprintf(wrong, sizeof(wrong), "%d to %d%s is allowed", field->least, field->most, names);
    return refuse_value(parser, value, wrong);
}

static uint8_t upper(uint8_t byte)
{
    return byte >= 'a' && byte <= 'z' ? (uint8_t)(byte - 'a' + 'A') : byte;
}

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool ends_with(struct span text, char letter)
{
    return text.length > 0 && upper(text.data[text.length - 1]) == (uint8_t)letter;
}

static bool begins_with(struct span text, char letter)
{
    return text.length > 0 && upper(text.data[0]) == (uint8_t)letter;
}

static struct span without_first(struct span text)
{
    return (struct span){text.data + 1, text.length - 1};
}

static struct span without_last(struct span text)
{
    return (struct span){text.data, text.length - 1};
}

/* Takes the text before the first `mark` off the front, and the mark; all of it when there is none: `text` is absent then. */
static struct span take_until(struct span *text, char mark)
{
    const uint8_t *found = text->length == 0 ? NULL : memchr(text->data, mark, text->length);
    struct span part = *text;
    if (found == NULL) {
        *text = SPAN_ABSENT;
        return part;
    }
    part.length = (size_t)(found - part.data);
    *text = (struct span){found + 1, text->length - part.length - 1};
    return part;
}

static bool read_number(struct span text, int *number)
{
    int value = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (!is_digit(text.data[i]) || i >= DIGITS_MAX) {
            return false;
        }
        value = value * 10 + (text.data[i] - '0');
    }
    *number = value;
    return text.length > 0;
}

static bool read_name(const struct field *field, struct span text, int *number)
{
    if (field->names == NULL || text.length != 3) {
        return false;
    }
    for (size_t i = 0; field->names[i] != '\0'; i += 3) {
        const char *name = field->names + i;
        if (upper(text.data[0]) == (uint8_t)name[0] && upper(text.data[1]) == (uint8_t)name[1] && upper(text.data[2]) == (uint8_t)name[2]) {
            *number = field->least + (int)(i / 3);
            return true;
        }
    }
    return false;
}

/* A number or name of the field. */
static bool take_value(struct parser *parser, struct span text, int *number)
{
    const struct field *field = &fields[parser->field];
    bool read = read_name(field, text, number) || (read_number(text, number) && *number >= field->least && *number <= field->most);
    return read || refuse_range(parser, text);
}

static void mark_value(struct parser *parser, int value)
{
    struct cron *cron = parser->cron;
    switch (parser->field) {
    case CRON_FIELD_SECOND:
        cron->seconds |= UINT64_C(1) << value;
        break;
    case CRON_FIELD_MINUTE:
        cron->minutes |= UINT64_C(1) << value;
        break;
    case CRON_FIELD_HOUR:
        cron->hours |= UINT32_C(1) << value;
        break;
    case CRON_FIELD_DAY:
        cron->days |= UINT32_C(1) << value;
        break;
    case CRON_FIELD_MONTH:
        cron->months |= UINT32_C(1) << value;
        break;
    case CRON_FIELD_WEEKDAY:
        cron->weekdays = (uint8_t)(cron->weekdays | 1 << value % 7);
        break;
    case CRON_FIELD_YEAR:
        cron->years[(value - CRON_YEAR_FIRST) / 64] |= UINT64_C(1) << (value - CRON_YEAR_FIRST) % 64;
        break;
    }
}

/* "22-2" is meant well, but every reader of cron takes it otherwise, most of them silently. */
static bool refuse_backwards(struct parser *parser, struct span range, int from, int to)
{
    const struct field *field = &fields[parser->field];
    char wrong[96];
    int most = parser->field == CRON_FIELD_WEEKDAY ? 6 : field->most;
    (void)snprintf(wrong, sizeof(wrong), "a range goes up; write %d-%d,%d-%d", from, most, field->least, to);
    return refuse_value(parser, range, wrong);
}

/* `*`, a value, or a range. `single`: a value. */
static bool take_range(struct parser *parser, struct span text, int *from, int *to, bool *single)
{
    const struct field *field = &fields[parser->field];
    struct span rest = text;
    *single = false;
    if (span_equals_text(text, "*")) {
        *from = field->least;
        *to = field->most;
        return true;
    }
    struct span first = take_until(&rest, '-');
    if (!take_value(parser, first, from)) {
        return false;
    }
    if (rest.data == NULL) {
        *single = true;
        *to = *from;
        return true;
    }
    if (!take_value(parser, rest, to)) {
        return false;
    }
    if (parser->field == CRON_FIELD_WEEKDAY && *to == 0 && *from > 0 && !is_digit(rest.data[0])) {
        *to = 7; /* SAT-SUN */
    }
    return *from <= *to || refuse_backwards(parser, text, *from, *to);
}

/* A plain item of a list: a range, with a step or without. */
static bool take_plain(struct parser *parser, struct span item)
{
    const struct field *field = &fields[parser->field];
    struct span step_text = item;
    struct span range = take_until(&step_text, '/');
    int from;
    int to;
    int step = 1;
    bool single;
    if (!take_range(parser, range, &from, &to, &single)) {
        return false;
    }
    if (step_text.data != NULL) {
        int most = parser->field == CRON_FIELD_WEEKDAY ? 7 : field->most - field->least + 1;
        if (!read_number(step_text, &step) || step < 1 || step > most) {
            char wrong[96];
            (void)snprintf(wrong, sizeof(wrong), "a step is 1 to %d here", most);
            return refuse_value(parser, item, wrong);
        }
        to = single ? field->most : to;
    }
    for (int value = from; value <= to; value += step) {
        mark_value(parser, value);
    }
    return true;
}

/* L, L-3, LW: `item` begins with L. */
static bool take_from_end(struct parser *parser, struct span item)
{
    struct span rest = without_first(item);
    int before = 0;
    if (ends_with(rest, 'W') && rest.length == 1) {
        parser->cron->last_workday = true;
        return true;
    }
    if (rest.length > 0 && (!begins_with(rest, '-') || !read_number(without_first(rest), &before) || before < 1 || before > 30)) {
        return refuse_value(parser, item, "L, L-1 to L-30 or LW is allowed: the last day, some days before it, the last workday");
    }
    parser->cron->days_from_end |= UINT32_C(1) << before;
    return true;
}

/* 15W */
static bool take_nearest(struct parser *parser, struct span item)
{
    int day;
    if (!read_number(without_last(item), &day) || day < 1 || day > 31) {
        return refuse_value(parser, item, "1W to 31W is allowed: the workday nearest to that day");
    }
    parser->cron->days_nearest |= UINT32_C(1) << day;
    return true;
}

/* 5L, FRIL */
static bool take_last_weekday(struct parser *parser, struct span item)
{
    int weekday = 0;
    if (item.length == 1) {
        return refuse_value(parser, item, "L needs a day before it: 5L or FRIL is the last Friday of the month");
    }
    if (!take_value(parser, without_last(item), &weekday)) {
        return false;
    }
    parser->cron->weekdays_last = (uint8_t)(parser->cron->weekdays_last | 1 << weekday % 7);
    return true;
}

/* MON#2 */
static bool take_nth_weekday(struct parser *parser, struct span item)
{
    struct span rest = item;
    struct span day = take_until(&rest, '#');
    int weekday = 0;
    int nth = 0;
    if (!take_value(parser, day, &weekday)) {
        return false;
    }
    if (!read_number(rest, &nth) || nth < 1 || nth > 5) {
        return refuse_value(parser, item, "#1 to #5 is allowed: MON#2 is the second Monday of the month");
    }
    parser->cron->weekdays_nth[nth - 1] = (uint8_t)(parser->cron->weekdays_nth[nth - 1] | 1 << weekday % 7);
    return true;
}

static bool take_item(struct parser *parser, struct span item)
{
    if (item.length == 0) {
        return refuse_value(parser, item, "a value is missing");
    }
    if (memchr(item.data, '?', item.length) != NULL) {
        return refuse_value(parser, item, "? stands alone, in one of the two day fields");
    }
    if (parser->field == CRON_FIELD_DAY && begins_with(item, 'L')) {
        return take_from_end(parser, item);
    }
    if (parser->field == CRON_FIELD_DAY && ends_with(item, 'W')) {
        return take_nearest(parser, item);
    }
    if (parser->field == CRON_FIELD_WEEKDAY && ends_with(item, 'L')) {
        return take_last_weekday(parser, item);
    }
    if (parser->field == CRON_FIELD_WEEKDAY && memchr(item.data, '#', item.length) != NULL) {
        return take_nth_weekday(parser, item);
    }
    return take_plain(parser, item);
}

bool cron_field_parse(enum cron_field field, struct span text, struct cron *cron, char *problem, size_t size)
{
    struct parser parser = {cron, problem, size, field};
    bool is_day = field == CRON_FIELD_DAY || field == CRON_FIELD_WEEKDAY;
    struct span rest = is_day && span_equals_text(text, "?") ? span_of_text("*") : text;
    do {
        if (!take_item(&parser, take_until(&rest, ','))) {
            return false;
        }
    } while (rest.data != NULL);
    return true;
}
