#include "bridge/delay_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/checked.h"

struct unit {
    const char *name;
    size_t length;
    int64_t ms;
};

/* From the greatest to the least: a unit may follow only those above it. `ms` before `m` would never be seen, hence the
 * longest match in find_unit. */
static const struct unit units[] = {
    {"d", 1, 86400000}, {"h", 1, 3600000}, {"m", 1, 60000}, {"s", 1, 1000}, {"ms", 2, 1},
};
#define UNIT_COUNT (sizeof(units) / sizeof(units[0]))

static size_t run_of_digits(struct span text)
{
    size_t count = 0;
    while (count < text.length && text.data[count] >= '0' && text.data[count] <= '9') {
        count++;
    }
    return count;
}

static size_t run_of_letters(struct span text)
{
    size_t count = 0;
    while (count < text.length && text.data[count] >= 'a' && text.data[count] <= 'z') {
        count++;
    }
    return count;
}

static struct span part(struct span text, size_t from, size_t length)
{
    return (struct span){text.data + from, length};
}

/* The unit's place in the table at or after `least`, or UNIT_COUNT. */
static size_t find_unit(struct span name, size_t least)
{
    for (size_t i = least; i < UNIT_COUNT; i++) {
        if (name.length == units[i].length && memcmp(name.data, units[i].name, name.length) == 0) {
            return i;
        }
    }
    return UNIT_COUNT;
}

/* Takes one "<digits><unit>" off *text and adds it to *sum. */
static enum decimal_result take_part(struct span *text, size_t *least, int64_t *sum)
{
    int64_t number = 0;
    size_t digits = run_of_digits(*text);
    struct span rest = part(*text, digits, text->length - digits);
    size_t letters = run_of_letters(rest);
    size_t unit = find_unit(part(rest, 0, letters), *least);
    if (digits == 0 || unit == UNIT_COUNT) {
        return DECIMAL_NOT_DIGITS;
    }
    if (decimal_parse(part(*text, 0, digits), &number) != DECIMAL_READ ||
        !checked_mul_i64(number, units[unit].ms, &number) || !checked_add_i64(*sum, number, sum)) {
        return DECIMAL_TOO_LARGE;
    }
    *least = unit + 1;
    *text = part(rest, letters, rest.length - letters);
    return DECIMAL_READ;
}

enum decimal_result delay_text_parse(struct span text, int64_t *delay_ms)
{
    size_t least = 0;
    int64_t sum = 0;
    if (text.length == 0 || decimal_only_digits(text)) {
        return decimal_parse(text, delay_ms);
    }
    while (text.length > 0) {
        enum decimal_result result = take_part(&text, &least, &sum);
        if (result != DECIMAL_READ) {
            return result;
        }
    }
    *delay_ms = sum;
    return DECIMAL_READ;
}

void delay_text_write(int64_t delay_ms, char text[DELAY_TEXT_MAX])
{
    size_t length = 0;
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (delay_ms >= units[i].ms || (delay_ms == 0 && length == 0 && i + 1 == UNIT_COUNT)) {
            length += (size_t)snprintf(text + length, DELAY_TEXT_MAX - length, "%" PRId64 "%s", delay_ms / units[i].ms, units[i].name);
            delay_ms %= units[i].ms;
        }
    }
}
