#include "dlq/reasons_error.h"

#include <stdbool.h>
#include <stddef.h>

#define ID_LEAST 8

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_hex(uint8_t byte)
{
    return is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

static bool is_word(uint8_t byte)
{
    return is_digit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static size_t run_of(struct span text, size_t from, bool (*is)(uint8_t))
{
    size_t at = from;
    while (at < text.length && is(text.data[at])) {
        at++;
    }
    return at - from;
}

/* Length of the UUID that stands at `from`, or 0. */
static size_t uuid(struct span text, size_t from)
{
    static const size_t parts[] = {8, 4, 4, 4, 12};
    size_t at = from;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        bool dash = i == 0 || (at < text.length && text.data[at] == '-');
        at += i == 0 ? 0 : 1;
        if (!dash || run_of(text, at, is_hex) != parts[i]) {
            return 0;
        }
        at += parts[i];
    }
    return at - from;
}

/* Length of the id that is the whole word (of `length` bytes) at `from`, or 0. */
static size_t id(struct span text, size_t from, size_t length)
{
    const uint8_t *word = text.data + from;
    size_t digits = 0;
    size_t hex = 0;
    if (length > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X') && run_of(text, from + 2, is_hex) == length - 2) {
        return length;
    }
    for (size_t i = 0; i < length; i++) {
        digits += is_digit(word[i]);
        hex += is_hex(word[i]);
    }
    return length >= ID_LEAST && hex == length && digits > 0 ? length : 0;
}

/* A word that is no id: runs of digits in it become N. */
static void add_word(struct span word, struct buffer *out)
{
    for (size_t i = 0; i < word.length;) {
        size_t digits = run_of(word, i, is_digit);
        if (digits > 0) {
            buffer_add_text(out, "N");
        } else {
            buffer_add(out, word.data + i, 1);
        }
        i += digits > 0 ? digits : 1;
    }
}

void reasons_error(struct span text, struct buffer *out)
{
    for (size_t i = 0; i < text.length;) {
        size_t word = run_of(text, i, is_word);
        if (word == 0) {
            buffer_add(out, text.data + i, 1);
            i++;
            continue;
        }
        size_t whole = uuid(text, i);
        whole = whole > 0 ? whole : id(text, i, word);
        if (whole > 0) {
            buffer_add_text(out, "N");
        } else {
            add_word((struct span){text.data + i, word}, out);
        }
        i += whole > 0 ? whole : word;
    }
}
