#include "ops/redelivery_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dlq/waiting.h"

#define VERSION 1
#define HEAD_MOST 40 /* of the bytes before the letters */
#define CHECK_LENGTH 9 /* ":" and eight hex digits */

uint32_t redelivery_text_check(const struct letter *letter)
{
    struct waiting_id id = waiting_id_of(letter->id);
    return (uint32_t)id.low ^ (uint32_t)(id.high >> 32) ^ letter->attempt * 2654435761u ^ letter->replays * 40503u;
}

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
    return (METADATA_MAX - HEAD_MOST) / (digits(greatest) + 1 + CHECK_LENGTH);
}

bool redelivery_text_write(int64_t created_ms, const struct redelivery_text_letter *letters, size_t count, char text[REDELIVERY_TEXT_SIZE])
{
    size_t length = (size_t)snprintf(text, REDELIVERY_TEXT_SIZE, "letters %d %" PRId64, VERSION, created_ms);
    for (size_t i = 0; i < count; i++) {
        size_t need = digits(letters[i].sequence) + 1 + CHECK_LENGTH;
        if (length + need >= REDELIVERY_TEXT_SIZE) {
            return false;
        }
        length += (size_t)snprintf(text + length, REDELIVERY_TEXT_SIZE - length, " %" PRIu64 ":%08" PRIx32, letters[i].sequence,
                                    letters[i].check);
    }
    return true;
}

/* ":" and eight hex digits. */
static bool read_check(const char **text, uint32_t *check)
{
    const char *at = *text;
    if (*at++ != ':') {
        return false;
    }
    *check = 0;
    for (int i = 0; i < CHECK_LENGTH - 1; i++, at++) {
        bool decimal = *at >= '0' && *at <= '9';
        if (!decimal && (*at < 'a' || *at > 'f')) {
            return false;
        }
        *check = *check << 4 | (uint32_t)(decimal ? *at - '0' : *at - 'a' + 10);
    }
    *text = at;
    return true;
}

/* What stands behind a word: a blank and another word, which is gone to, or the end. */
static bool end_word(const char **text)
{
    const char *at = *text;
    bool good = *at == '\0' || (*at == ' ' && at[1] != '\0');
    *text = *at == ' ' ? at + 1 : at;
    return good;
}

/* A decimal number. */
static bool read_digits(const char **text, uint64_t *number)
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
    bool some = at != *text;
    *text = at;
    return some;
}

static bool read_number(const char **text, uint64_t *number)
{
    return read_digits(text, number) && end_word(text);
}

static bool read_letter(const char **text, struct redelivery_text_letter *letter)
{
    return read_digits(text, &letter->sequence) && read_check(text, &letter->check) && end_word(text);
}

static bool not_ours(const char *text, struct error *error)
{
    return error_set(error, ERROR_INVALID, "\"%.60s\" is not what redelivery commits there; reset that group's offset", text);
}

bool redelivery_text_read(const char *text, int64_t *created_ms, struct redelivery_text_letter *letters, size_t most, size_t *count, struct error *error)
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
        if (!read_letter(&at, &letters[*count])) {
            return not_ours(text, error);
        }
        (*count)++;
    }
    *created_ms = created;
    return true;
}
