/* JSON made fit for cJSON: see letter_json_scan.h. */
#include "dlq/letter_json_scan.h"

#include "base/text.h"

/* A header takes 51 characters and is 5 values: this leaves room. */
enum { VALUES_LEAST = 64, VALUE_CHARACTERS = 8 };

static bool hex_digit(uint8_t byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

/* Four hex digits at the start of `rest`, not all 0. */
static bool code_unit(struct span rest)
{
    bool zero = true;
    for (size_t i = 0; i < 4; i++) {
        if (i >= rest.length || !hex_digit(rest.data[i])) {
            return false;
        }
        zero = zero && rest.data[i] == '0';
    }
    return !zero;
}

/* Length of the string that `text` begins with, its quotes included; 0: something is wrong with it, *why says what. */
static size_t string_length(struct span text, const char **why)
{
    for (size_t i = 1; i < text.length; i++) {
        uint8_t byte = text.data[i];
        if (byte == '"') {
            return i + 1;
        }
        if (byte < 0x20) {
            *why = "a control character in a string";
            return 0;
        }
        if (byte != '\\') {
            continue;
        }
        i++;
        if (i < text.length && text.data[i] == 'u' && !code_unit((struct span){text.data + i + 1, text.length - i - 1})) {
            *why = "\\u without four hex digits, or \\u0000 (bytes with a NUL go as base64)";
            return 0;
        }
    }
    *why = "a string without an end";
    return 0;
}

static bool in_number(uint8_t byte)
{
    return (byte >= '0' && byte <= '9') || byte == '-' || byte == '+' || byte == '.' || byte == 'e' || byte == 'E';
}

/* What the text begins with outside of strings, copied; returns how much of it. 0: wrong. */
static size_t copy_next(struct span text, struct buffer *out, const char **why)
{
    uint8_t first = text.data[0];
    size_t length = 1;
    if (first == '"') {
        length = string_length(text, why);
        buffer_add(out, text.data, length);
    } else if (first == '-' || (first >= '0' && first <= '9')) {
        while (length < text.length && in_number(text.data[length])) {
            length++;
        }
        const char start[] = {'"', LETTER_JSON_SCAN_NUMBER};
        buffer_add(out, start, sizeof(start));
        buffer_add(out, text.data, length);
        buffer_add_text(out, "\"");
    } else if (first < 0x20 && first != '\t' && first != '\n' && first != '\r') {
        *why = "a control character";
        return 0;
    } else {
        buffer_add(out, text.data, 1);
    }
    return length;
}

bool letter_json_scan(struct span text, struct buffer *out, struct error *error)
{
    const char *why = NULL;
    size_t values = 0;
    buffer_clear(out);
    if (!text_is_utf8(text)) {
        return error_set(error, ERROR_INVALID, "no JSON: bytes that are no UTF-8");
    }
    for (size_t at = 0; at < text.length;) {
        uint8_t first = text.data[at];
        size_t length = copy_next((struct span){text.data + at, text.length - at}, out, &why);
        if (length == 0) {
            return error_set(error, ERROR_INVALID, "no JSON: at byte %zu %s", at, why);
        }
        values += first == '{' || first == '[' || first == ',' ? 1 : 0;
        at += length;
    }
    if (values > VALUES_LEAST + text.length / VALUE_CHARACTERS) {
        return error_set(error, ERROR_INVALID, "no letter: %zu values in %zu bytes", values, text.length);
    }
    buffer_add(out, "", 1);
    return out->full ? error_set(error, ERROR_FULL, "JSON of %zu bytes does not fit", text.length) : true;
}
