#include "ops/config_value.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/text.h"

struct unit {
    const char *name;
    int64_t factor;
};

static const struct unit TIME_UNITS[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

static const struct unit SIZE_UNITS[] = {
    {"", 1},
    {"KiB", 1024},
    {"MiB", 1024 * 1024},
    {"GiB", 1024 * 1024 * 1024},
    {"TiB", INT64_C(1024) * 1024 * 1024 * 1024},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000 * 1000},
    {"GB", 1000 * 1000 * 1000},
    {"TB", INT64_C(1000) * 1000 * 1000 * 1000},
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Takes digits off the front; false when there are none, or too many. */
static bool take_number(const char **text, int64_t *number)
{
    const char *at = *text;
    int64_t value = 0;
    if (!is_digit(*at)) {
        return false;
    }
    for (; is_digit(*at); at++) {
        if (!checked_mul_i64(value, 10, &value) || !checked_add_i64(value, *at - '0', &value)) {
            return false;
        }
    }
    *number = value;
    *text = at;
    return true;
}

/* Index of the unit that stands at the front, all letters of it; -1: none. */
static int take_unit(const char **text, const struct unit *units, size_t count)
{
    size_t length = 0;
    while (is_letter((*text)[length])) {
        length++;
    }
    for (size_t i = 0; i < count; i++) {
        if (strlen(units[i].name) == length && memcmp(units[i].name, *text, length) == 0) {
            *text += length;
            return (int)i;
        }
    }
    return -1;
}

bool config_value_duration(const char *text, int64_t *result, struct error *error)
{
    int64_t total = 0;
    int last = -1;
    const char *at = text;
    do {
        int64_t number;
        int unit = -1;
        if (!take_number(&at, &number) || (unit = take_unit(&at, TIME_UNITS, COUNT_OF(TIME_UNITS))) <= last ||
            !checked_mul_i64(number, TIME_UNITS[unit].factor, &number) || !checked_add_i64(total, number, &total)) {
            return error_set(error, ERROR_INVALID,
                             "is not a duration: write whole numbers with units d h m s ms, greatest first, for "
                             "example 100ms, 5s, 1h30m, 366d");
        }
        last = unit;
    } while (*at != '\0');
    *result = total;
    return true;
}

bool config_value_size(const char *text, int64_t *result, struct error *error)
{
    const char *at = text;
    int64_t number;
    int unit = -1;
    if (!take_number(&at, &number) || (unit = take_unit(&at, SIZE_UNITS, COUNT_OF(SIZE_UNITS))) < 0 || *at != '\0' ||
        !checked_mul_i64(number, SIZE_UNITS[unit].factor, &number)) {
        return error_set(error, ERROR_INVALID,
                         "is not a size: write a whole number of bytes, or one with KiB, MiB, GiB, TiB, kB, MB, GB or "
                         "TB, for example 64GiB");
    }
    *result = number;
    return true;
}

bool config_value_count(const char *text, int64_t *result, struct error *error)
{
    const char *at = text;
    int64_t number;
    bool leading_zero = text[0] == '0' && text[1] != '\0';
    if (leading_zero || !take_number(&at, &number) || *at != '\0') {
        return error_set(error, ERROR_INVALID, "is not a whole number: write decimal digits only, for example 10000");
    }
    *result = number;
    return true;
}

bool config_value_bool(const char *text, bool *result, struct error *error)
{
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
        return error_set(error, ERROR_INVALID, "is neither true nor false");
    }
    *result = text[0] == 't';
    return true;
}

bool config_value_choice(const char *text, const char *choices, unsigned *result, struct error *error)
{
    size_t length = strlen(text);
    unsigned index = 0;
    for (const char *word = choices;; index++) {
        size_t word_length = strcspn(word, "|");
        if (word_length == length && memcmp(word, text, length) == 0) {
            *result = index;
            return true;
        }
        if (word[word_length] == '\0') {
            break;
        }
        word += word_length + 1;
    }
    if (index == 0) {
        return error_set(error, ERROR_INVALID, "is not known here: the only value is %s", choices);
    }
    return error_set(error, ERROR_INVALID, "is none of %s", choices);
}

bool config_value_name(const char *text, int64_t most, struct error *error)
{
    size_t length = 0;
    while (is_letter(text[length]) || is_digit(text[length]) || (text[length] != '\0' && strchr("._-", text[length]))) {
        length++;
    }
    if (length == 0 || text[length] != '\0' || length > (size_t)most) {
        return error_set(error, ERROR_INVALID,
                         "is not a name: write 1 to %lld letters, digits, dots, underscores and hyphens",
                         (long long)most);
    }
    return true;
}

static bool host_is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == strlen(host));
}

bool config_value_address(const char *text, struct config_address *result, struct error *error)
{
    struct config_address address = {0};
    bool bracketed = text[0] == '[';
    const char *host = bracketed ? text + 1 : text;
    size_t length = strcspn(host, bracketed ? "]" : ":");
    const char *at = host + length + (bracketed && host[length] == ']' ? 1 : 0);
    int64_t port = 0;
    bool good = length > 0 && length < sizeof address.host && *at == ':' && strcspn(host, " /@\t\r\n") >= length;
    at += good ? 1 : 0;
    if (!good || !take_number(&at, &port) || *at != '\0' || port > UINT16_MAX) {
        return error_set(error, ERROR_INVALID,
                         "is not an address: write host:port, for example 127.0.0.1:7411 or [::1]:7411");
    }
    memcpy(address.host, host, length);
    address.port = (uint16_t)port;
    address.loopback = host_is_loopback(address.host);
    address.any =
        strcmp(address.host, "0.0.0.0") == 0 || strcmp(address.host, "::") == 0 || strcmp(address.host, "*") == 0;
    *result = address;
    return true;
}

struct config_value_shown config_value_show(const char *text)
{
    char printable[CONFIG_VALUE_SHOWN_MAX - 2];
    text_printable(span_of_text(text), printable, sizeof printable);
    struct config_value_shown shown;
    snprintf(shown.text, sizeof shown.text, "'%s'", printable);
    return shown;
}
