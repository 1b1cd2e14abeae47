/* Reads cron expressions: see cron.h. */
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "scheduler/cron_calendar.h"
#include "scheduler/cron_field.h"

#define SHOWN_SIZE 48 /* of a name, in a problem */

static const struct {
    const char *name;
    const char *means;
} shorthands[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"},
};

struct parser {
    struct cron *cron;
    char *problem;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct parser *parser, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (parser->size > 0) {
        (void)vsnprintf(parser->problem, parser->size, format, arguments);
    }
    va_end(arguments);
    return false;
}

static uint8_t upper(uint8_t byte)
{
    return byte >= 'a' && byte <= 'z' ? (uint8_t)(byte - 'a' + 'A') : byte;
}

static bool begins_with(struct span text, char letter)
{
    return text.length > 0 && text.data[0] == (uint8_t)letter;
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t';
}

/* Cuts at blanks and tabs. Counts all, keeps the first seven. */
static int split(struct span text, struct span parts[CRON_FIELDS])
{
    int count = 0;
    size_t at = 0;
    while (at < text.length) {
        size_t from = at;
        while (at < text.length && !is_blank(text.data[at])) {
            at++;
        }
        if (at > from) {
            if (count < CRON_FIELDS) {
                parts[count] = (struct span){text.data + from, at - from};
            }
            count++;
        }
        at++;
    }
    return count;
}

static bool refuse_count(struct parser *parser, int count)
{
    return refuse(parser,
                  "cron: %d field%s; allowed are 5 (minute hour day-of-month month day-of-week), 6 (a second before them) or 7 (a second before and a year "
                  "after), apart by blanks, or @yearly @monthly @weekly @daily @hourly",
                  count, count == 1 ? "" : "s");
}

static bool equals_name(struct span text, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < length && i < text.length; i++) {
        if (upper(text.data[i]) != upper((uint8_t)name[i])) {
            return false;
        }
    }
    return text.length == length;
}

static bool expand(struct parser *parser, struct span name, int count, struct span *meaning)
{
    char shown[SHOWN_SIZE];
    (void)text_printable(name, shown, sizeof(shown));
    if (equals_name(name, "@every")) {
        return refuse(parser, "cron: @every is not for tarry-cron: give the header tarry-every instead (`tarry-every: 5m`)");
    }
    for (size_t i = 0; i < sizeof(shorthands) / sizeof(shorthands[0]) && count == 1; i++) {
        if (equals_name(name, shorthands[i].name)) {
            *meaning = span_of_text(shorthands[i].means);
            return true;
        }
    }
    return refuse(parser, "cron: `%s`: allowed alone are @yearly @annually @monthly @weekly @daily @midnight @hourly", shown);
}

static bool is_restricted(struct span day_field)
{
    return !begins_with(day_field, '*') && !begins_with(day_field, '?');
}

static bool take_fields(struct parser *parser, int count, const struct span parts[CRON_FIELDS])
{
    static const struct span zero = {(const uint8_t *)"0", 1};
    static const struct span all = {(const uint8_t *)"*", 1};
    struct span texts[CRON_FIELDS];
    texts[CRON_FIELD_SECOND] = count > 5 ? parts[0] : zero;
    for (int i = 0; i < 5; i++) {
        texts[CRON_FIELD_MINUTE + i] = parts[i + (count > 5 ? 1 : 0)];
    }
    texts[CRON_FIELD_YEAR] = count == 7 ? parts[6] : all;
    for (int i = 0; i < CRON_FIELDS; i++) {
        if (!cron_field_parse((enum cron_field)i, texts[i], parser->cron, parser->problem, parser->size)) {
            return false;
        }
    }
    parser->cron->interval = begins_with(texts[CRON_FIELD_HOUR], '*');
    parser->cron->days_either = is_restricted(texts[CRON_FIELD_DAY]) && is_restricted(texts[CRON_FIELD_WEEKDAY]);
    return true;
}

static bool take_expression(struct parser *parser, struct span text)
{
    struct span parts[CRON_FIELDS];
    struct span meaning;
    int64_t first_s;
    int count = split(text, parts);
    if (count > 0 && begins_with(parts[0], '@')) {
        if (!expand(parser, parts[0], count, &meaning)) {
            return false;
        }
        count = split(meaning, parts);
    }
    if (count > 0 && memchr(parts[0].data, '=', parts[0].length) != NULL) {
        return refuse(parser, "cron: a zone is not part of the expression: give the header tarry-tz instead (`tarry-tz: Europe/London`)");
    }
    if (count < 5 || count > CRON_FIELDS) {
        return refuse_count(parser, count);
    }
    if (!take_fields(parser, count, parts)) {
        return false;
    }
    return cron_calendar_next(parser->cron, 0, &first_s) ||
           refuse(parser, "cron: no day from %d to %d matches day-of-month, month, day-of-week%s: it would never fire", CRON_YEAR_FIRST, CRON_YEAR_LAST,
                  count == 7 ? " and year" : "");
}

bool cron_parse(struct span text, struct cron *cron, char *problem, size_t size)
{
    struct cron parsed = {.seconds = 0};
    struct parser parser = {.cron = &parsed, .problem = problem, .size = size};
    if (text.length > CRON_TEXT_MAX) {
        return refuse(&parser, "cron: %zu bytes, at most %d", text.length, CRON_TEXT_MAX);
    }
    if (!take_expression(&parser, text)) {
        return false;
    }
    *cron = parsed;
    return true;
}
