#include "bridge/time_text.h"

#include "base/civil.h"

/* What is left of the text; `ok` goes false at the first byte that does not fit and stays so. */
struct reader {
    struct span rest;
    bool ok;
};

static uint8_t take(struct reader *reader)
{
    if (reader->rest.length == 0) {
        reader->ok = false;
        return 0;
    }
    uint8_t byte = reader->rest.data[0];
    reader->rest.data++;
    reader->rest.length--;
    return byte;
}

static bool next_is(const struct reader *reader, char byte)
{
    return reader->rest.length > 0 && reader->rest.data[0] == (uint8_t)byte;
}

static int take_digit(struct reader *reader)
{
    uint8_t byte = take(reader);
    if (byte < '0' || byte > '9') {
        reader->ok = false;
        return 0;
    }
    return byte - '0';
}

static int take_number(struct reader *reader, int digits, int least, int most)
{
    int number = 0;
    for (int i = 0; i < digits; i++) {
        number = number * 10 + take_digit(reader);
    }
    if (number < least || number > most) {
        reader->ok = false;
    }
    return number;
}

static void take_either(struct reader *reader, char one, char other)
{
    uint8_t byte = take(reader);
    if (byte != (uint8_t)one && byte != (uint8_t)other) {
        reader->ok = false;
    }
}

static int64_t take_date(struct reader *reader)
{
    int year = take_number(reader, 4, 0, 9999);
    take_either(reader, '-', '-');
    int month = take_number(reader, 2, 1, 12);
    take_either(reader, '-', '-');
    int day = take_number(reader, 2, 1, 31);
    if (!reader->ok || day > civil_days_in_month(year, month)) {
        reader->ok = false;
        return 0;
    }
    return civil_day((struct civil_date){year, month, day});
}

/* Milliseconds of ".123456", rounded up; 0 when there is no fraction. */
static int64_t take_fraction(struct reader *reader)
{
    static const int weights[] = {100, 10, 1};
    int64_t ms = 0;
    bool more = false;
    if (!next_is(reader, '.')) {
        return 0;
    }
    take(reader);
    size_t digits = 0;
    do {
        int digit = take_digit(reader);
        if (digits < 3) {
            ms += digit * weights[digits];
        } else {
            more = more || digit != 0;
        }
        digits++;
    } while (reader->ok && reader->rest.length > 0 && reader->rest.data[0] >= '0' && reader->rest.data[0] <= '9');
    return more ? ms + 1 : ms;
}

/* Seconds east of UTC. */
static int64_t take_zone(struct reader *reader)
{
    if (next_is(reader, 'Z') || next_is(reader, 'z')) {
        take(reader);
        return 0;
    }
    bool west = next_is(reader, '-');
    take_either(reader, '+', '-');
    int hours = take_number(reader, 2, 0, 23);
    take_either(reader, ':', ':');
    int minutes = take_number(reader, 2, 0, 59);
    int64_t seconds = (int64_t)hours * 3600 + (int64_t)minutes * 60;
    return west ? -seconds : seconds;
}

bool time_text_parse(struct span text, int64_t *epoch_ms)
{
    struct reader reader = {text, true};
    int64_t days = take_date(&reader);
    take_either(&reader, 'T', 't');
    int hour = take_number(&reader, 2, 0, 23);
    take_either(&reader, ':', ':');
    int minute = take_number(&reader, 2, 0, 59);
    take_either(&reader, ':', ':');
    int second = take_number(&reader, 2, 0, 60);
    int64_t fraction_ms = take_fraction(&reader);
    int64_t zone = take_zone(&reader);
    if (!reader.ok || reader.rest.length > 0) {
        return false;
    }
    int64_t seconds = days * CIVIL_DAY_S + (int64_t)hour * 3600 + (int64_t)minute * 60 + second - zone;
    if (second == 60 && seconds % CIVIL_DAY_S != 0) {
        return false;
    }
    *epoch_ms = seconds * 1000 + fraction_ms;
    return true;
}
