#include "ops/redelivery_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VERSION 1
#define HEAD_MOST 40 /* of the bytes before the sequences */

static size_t digits(uint64_t number)
{
    size_t count = 1;
    while (number >= 10) {
        number /= 10;
        count++;
    }
    return count;
}

size_t redelivery_text_room(uint64_t greatest)
{
    return (METADATA_MAX - HEAD_MOST) / (digits(greatest) + 1);
}

bool redelivery_text_write(int64_t created_ms, const uint64_t *sequences, size_t count, char text[REDELIVERY_TEXT_SIZE])
{
    size_t length = (size_t)snprintf(text, REDELIVERY_TEXT_SIZE, "letters %d %" PRId64, VERSION, created_ms);
    for (size_t i = 0; i < count; i++) {
        size_t need = digits(sequences[i]) + 1;
        if (length + need >= REDELIVERY_TEXT_SIZE) {
            return false;
        }
        length += (size_t)snprintf(text + length, REDELIVERY_TEXT_SIZE - length, " %" PRIu64, sequences[i]);
    }
    return true;
}

/* A decimal number, and what stands behind it: a blank, which is taken, or the end. */
static bool read_number(const char **text, uint64_t *number)
{
    const char *at = *text;
    *number = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (*number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *number = *number * 10 + digit;
    }
    if (at == *text || (*at != ' ' && *at != '\0') || (*at == ' ' && at[1] == '\0')) {
        return false;
    }
    *text = *at == ' ' ? at + 1 : at;
    return true;
}

static bool not_ours(const char *text, struct error *error)
{
    return error_set(error, ERROR_INVALID, "\"%.60s\" is not what redelivery commits there; reset that group's offset", text);
}

bool redelivery_text_read(const char *text, int64_t *created_ms, uint64_t *sequences, size_t most, size_t *count, struct error *error)
{
    uint64_t number;
    const char *at = text + strlen("letters ");
    *count = 0;
    *created_ms = -1;
    if (text[0] == '\0') {
        return true;
    }
    if (strncmp(text, "letters ", strlen("letters ")) != 0 || !read_number(&at, &number)) {
        return not_ours(text, error);
    }
    if (number != VERSION) {
        return error_set(error, ERROR_TOO_NEW, "what redelivery committed is of version %" PRIu64 ", this is %d: use the newer tarry", number, VERSION);
    }
    if (!read_number(&at, &number) || number > INT64_MAX) {
        return not_ours(text, error);
    }
    int64_t created = (int64_t)number;
    while (*at != '\0') {
        if (*count == most) {
            return error_set(error, ERROR_FULL, "redelivery committed more than %zu letters", most);
        }
        if (!read_number(&at, &sequences[*count])) {
            return not_ours(text, error);
        }
        (*count)++;
    }
    *created_ms = created;
    return true;
}
