#include "bridge/json_string.h"

#include "base/text.h"

static bool fail(struct json_scan *scan, const char *trouble)
{
    scan->trouble = trouble;
    return false;
}

static bool at_end(const struct json_scan *scan)
{
    return scan->at == scan->end;
}

static bool between(uint8_t byte, unsigned least, unsigned most)
{
    return byte >= least && byte <= most;
}

static int hex_value(uint8_t digit)
{
    if (between(digit, '0', '9')) {
        return digit - '0';
    }
    if (between(digit, 'a', 'f')) {
        return digit - 'a' + 10;
    }
    return between(digit, 'A', 'F') ? digit - 'A' + 10 : -1;
}

/* The four hexadecimal digits at `at`, or -1. */
static int32_t hex_unit(const uint8_t *at, const uint8_t *end)
{
    int32_t unit = 0;
    if (end - at < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        int value = hex_value(at[i]);
        if (value < 0) {
            return -1;
        }
        unit = unit * 16 + value;
    }
    return unit;
}

static bool is_high_surrogate(int32_t unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low_surrogate(int32_t unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* At the first digit after "\u": takes them, and a low surrogate after a high one. */
static bool skip_unicode_escape(struct json_scan *scan)
{
    int32_t unit = hex_unit(scan->at, scan->end);
    if (unit < 0) {
        return fail(scan, "\\u needs four hexadecimal digits");
    }
    if (is_low_surrogate(unit)) {
        return fail(scan, "a lone surrogate");
    }
    scan->at += 4;
    if (!is_high_surrogate(unit)) {
        return true;
    }
    bool pair = scan->end - scan->at >= 6 && scan->at[0] == '\\' && scan->at[1] == 'u' &&
                is_low_surrogate(hex_unit(scan->at + 2, scan->end));
    if (!pair) {
        return fail(scan, "a lone surrogate");
    }
    scan->at += 6;
    return true;
}

/* At the byte after a backslash. */
static bool skip_escape(struct json_scan *scan)
{
    if (at_end(scan)) {
        return fail(scan, "the text ends inside a string");
    }
    switch (*scan->at) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        scan->at++;
        return true;
    case 'u':
        scan->at++;
        return skip_unicode_escape(scan);
    default:
        return fail(scan, "an unknown escape");
    }
}

static bool is_plain(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* Takes one thing that is not a plain byte: an escape or a longer UTF-8 sequence. */
static bool skip_special(struct json_scan *scan, bool *escaped)
{
    if (*scan->at == '\\') {
        *escaped = true;
        scan->at++;
        return skip_escape(scan);
    }
    if (*scan->at < 0x20) {
        return fail(scan, "a raw control character in a string");
    }
    size_t length = text_utf8_length(scan->at, (size_t)(scan->end - scan->at));
    if (length == 0) {
        return fail(scan, "bytes that are not UTF-8");
    }
    scan->at += length;
    return true;
}

bool json_string_skip(struct json_scan *scan, bool *escaped)
{
    scan->at++;
    for (;;) {
        while (!at_end(scan) && is_plain(*scan->at)) {
            scan->at++;
        }
        if (at_end(scan)) {
            return fail(scan, "the text ends inside a string");
        }
        if (*scan->at == '"') {
            scan->at++;
            return true;
        }
        if (!skip_special(scan, escaped)) {
            return false;
        }
    }
}
