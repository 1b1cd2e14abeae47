#include "support/json_oracle.h"

#include "base/text.h"

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
};

static bool value(struct cursor *cursor, int depth_left);

static int peek(const struct cursor *cursor)
{
    return cursor->at == cursor->end ? -1 : *cursor->at;
}

static bool eat(struct cursor *cursor, const char *any_of)
{
    int byte = peek(cursor);
    if (byte <= 0 || strchr(any_of, byte) == NULL) {
        return false;
    }
    cursor->at++;
    return true;
}

static void blanks(struct cursor *cursor)
{
    while (eat(cursor, " \t\r\n")) {
    }
}

static bool digits(struct cursor *cursor)
{
    bool some = false;
    while (eat(cursor, "0123456789")) {
        some = true;
    }
    return some;
}

static bool number(struct cursor *cursor)
{
    eat(cursor, "-");
    if (!eat(cursor, "0") && !digits(cursor)) {
        return false;
    }
    if (eat(cursor, ".") && !digits(cursor)) {
        return false;
    }
    if (eat(cursor, "eE")) {
        eat(cursor, "+-");
        return digits(cursor);
    }
    return true;
}

static bool four_hex(struct cursor *cursor, unsigned *unit)
{
    static const char lower[] = "0123456789abcdef";
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        int byte = peek(cursor);
        if (!eat(cursor, "0123456789abcdefABCDEF")) {
            return false;
        }
        byte = byte >= 'A' && byte <= 'F' ? byte + 32 : byte;
        *unit = *unit * 16 + (unsigned)(strchr(lower, byte) - lower);
    }
    return true;
}

static bool escape(struct cursor *cursor)
{
    unsigned unit = 0;
    unsigned low = 0;
    if (eat(cursor, "\"\\/bfnrt")) {
        return true;
    }
    if (!eat(cursor, "u") || !four_hex(cursor, &unit) || (unit & 0xFC00) == 0xDC00) {
        return false;
    }
    if ((unit & 0xFC00) != 0xD800) {
        return true;
    }
    return eat(cursor, "\\") && eat(cursor, "u") && four_hex(cursor, &low) && (low & 0xFC00) == 0xDC00;
}

static bool string(struct cursor *cursor)
{
    if (!eat(cursor, "\"")) {
        return false;
    }
    while (peek(cursor) >= 0x20 && peek(cursor) != '"') {
        size_t length = text_utf8_length(cursor->at, (size_t)(cursor->end - cursor->at));
        bool slash = peek(cursor) == '\\';
        cursor->at += length;
        if (length == 0 || (slash && !escape(cursor))) {
            return false;
        }
    }
    return eat(cursor, "\"");
}

static bool word(struct cursor *cursor, const char *expected)
{
    for (; *expected != '\0'; expected++) {
        char one[2] = {*expected, '\0'};
        if (!eat(cursor, one)) {
            return false;
        }
    }
    return true;
}

static bool elements(struct cursor *cursor, bool object, int depth_left)
{
    const char *close = object ? "}" : "]";
    if (depth_left == 0) {
        return false;
    }
    blanks(cursor);
    if (eat(cursor, close)) {
        return true;
    }
    do {
        blanks(cursor);
        if (object) {
            if (!string(cursor)) {
                return false;
            }
            blanks(cursor);
            if (!eat(cursor, ":")) {
                return false;
            }
        }
        if (!value(cursor, depth_left - 1)) {
            return false;
        }
        blanks(cursor);
    } while (eat(cursor, ","));
    return eat(cursor, close);
}

static bool value(struct cursor *cursor, int depth_left)
{
    blanks(cursor);
    if (eat(cursor, "{")) {
        return elements(cursor, true, depth_left);
    }
    if (eat(cursor, "[")) {
        return elements(cursor, false, depth_left);
    }
    switch (peek(cursor)) {
    case '"':
        return string(cursor);
    case 't':
        return word(cursor, "true");
    case 'f':
        return word(cursor, "false");
    case 'n':
        return word(cursor, "null");
    default:
        return number(cursor);
    }
}

bool json_oracle_valid(struct span text, int depth_most)
{
    struct cursor cursor = {text.data, text.data + text.length};
    if (!value(&cursor, depth_most)) {
        return false;
    }
    blanks(&cursor);
    return cursor.at == cursor.end;
}

static void make_blank(struct random *random, struct buffer *out)
{
    static const char *const some[] = {"", "", "", " ", "\n", "\t ", "\r\n"};
    buffer_add_text(out, some[random_below(random, sizeof(some) / sizeof(some[0]))]);
}

static void make_string(struct random *random, struct buffer *out)
{
    static const char *const pieces[] = {"a",       "order-123", " ",    "\\n",      "\\u0000",      "\\ud83d\\ude00",
                                         "\\/",     "\\\"",      "\\\\", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                                         "\\u00e9", "{",         "]",    ",",        "\x7F"};
    uint64_t count = random_below(random, 6);
    buffer_add_text(out, "\"");
    for (uint64_t i = 0; i < count; i++) {
        buffer_add_text(out, pieces[random_below(random, sizeof(pieces) / sizeof(pieces[0]))]);
    }
    buffer_add_text(out, "\"");
}

static void make_scalar(struct random *random, struct buffer *out)
{
    static const char *const some[] = {"null",    "true", "false", "0", "-0", "-1", "1.5", "1e9", "9007199254740993",
                                       "-0.0E-7", "1E+2"};
    if (random_below(random, 2) == 0) {
        make_string(random, out);
        return;
    }
    buffer_add_text(out, some[random_below(random, sizeof(some) / sizeof(some[0]))]);
}

void json_oracle_make(struct random *random, int depth, struct buffer *out)
{
    uint64_t kind = random_below(random, 4);
    if (depth == 0 || kind < 2) {
        make_scalar(random, out);
        return;
    }
    bool object = kind == 2;
    uint64_t count = random_below(random, 5);
    buffer_add_text(out, object ? "{" : "[");
    for (uint64_t i = 0; i < count; i++) {
        buffer_add_text(out, i == 0 ? "" : ",");
        make_blank(random, out);
        if (object) {
            make_string(random, out);
            make_blank(random, out);
            buffer_add_text(out, ":");
        }
        make_blank(random, out);
        json_oracle_make(random, depth - 1, out);
        make_blank(random, out);
    }
    buffer_add_text(out, object ? "}" : "]");
}
