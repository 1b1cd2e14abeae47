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

bool config_value_percent(const char *text, int64_t *result, struct error *error)
{
    const char *at = text;
    int64_t percent = 0;
    bool leading_zero = text[0] == '0' && is_digit(text[1]);
    bool good = !leading_zero && take_number(&at, &percent) && checked_mul_i64(percent, 100, &percent);
    if (good && *at == '.') {
        good = is_digit(at[1]) && checked_add_i64(percent, 10 * (int64_t)(at[1] - '0'), &percent);
        at += good ? 2 : 0;
        if (good && is_digit(*at)) {
            good = checked_add_i64(percent, *at - '0', &percent);
            at += 1;
        }
    }
    if (!good || *at != '\0') {
        return error_set(error, ERROR_INVALID, "is not a number of at most two decimals: write for example 2, 1.5 or 0.25");
    }
    *result = percent;
    return true;
}

bool config_value_rate(const char *text, int64_t *result, struct error *error)
{
    static const struct unit units[] = {{"", 1}, {"/s", 1}, {"/m", 60}, {"/h", 3600}};
    const char *at = text;
    int64_t number = 0;
    bool leading_zero = text[0] == '0' && text[1] != '\0';
    if (!leading_zero && take_number(&at, &number)) {
        for (size_t i = 0; i < COUNT_OF(units); i++) {
            if (strcmp(at, units[i].name) == 0 && number % units[i].factor == 0) {
                *result = number / units[i].factor;
                return true;
            }
        }
    }
    return error_set(error, ERROR_INVALID,
                     "is not a rate: write a whole number with /s, /m or /h that is a whole number in a second, for example 5000/s or 300/m");
}

/* One server's address, of that many bytes. */
static bool server_valid(const char *text, size_t length)
{
    static const char *const schemes[] = {"nats://", "tls://"};
    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        size_t scheme = strlen(schemes[i]);
        if (length > scheme && strncmp(text, schemes[i], scheme) == 0) {
            return strcspn(text + scheme, " /@\t\r\n,") == length - scheme && text[scheme] != ':';
        }
    }
    return false;
}

bool config_value_servers(const char *text, struct error *error)
{
    if (strchr(text, '@') != NULL) {
        return error_set(error, ERROR_INVALID,
                         "names a user: secrets never stand in the file; write the address alone, and give nats.user and "
                         "nats.password_file, or nats.token_file");
    }
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        if (!server_valid(at, length)) {
            return error_set(error, ERROR_INVALID,
                             "is not an address of NATS: write nats://host:port or tls://host:port, more than one with commas "
                             "between");
        }
        at += length;
        if (*at == '\0') {
            return true;
        }
    }
}

bool config_value_subject(const char *text, int64_t most, struct error *error)
{
    size_t length = strlen(text);
    bool good = length <= (size_t)most && text[0] != '.';
    for (size_t i = 0; good && i < length; i++) {
        good = is_letter(text[i]) || is_digit(text[i]) || text[i] == '-' || text[i] == '_' ||
               (text[i] == '.' && text[i + 1] != '.');
    }
    if (!good) {
        return error_set(error, ERROR_INVALID,
                         "is nothing that subjects may begin with: write words of letters, digits, hyphens and underscores with "
                         "dots between, at most %lld characters",
                         (long long)most);
    }
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
