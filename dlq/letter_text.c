/* Texts, base64, decimals: see letter_text.h. */
#include "dlq/letter_text.h"

#include "base/checked.h"
#include "base/text.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool letter_text_control(const uint8_t *character, size_t length)
{
    return (length == 1 && (character[0] < 0x20 || character[0] == 0x7F)) || (length == 2 && character[0] == 0xC2 && character[1] < 0xA0);
}

bool letter_text_clean(struct span text)
{
    for (size_t at = 0; at < text.length;) {
        const uint8_t *character = text.data + at;
        size_t length = text_utf8_length(character, text.length - at);
        bool line = *character == '\t' || *character == '\n' || *character == '\r';
        if (length == 0 || (!line && letter_text_control(character, length))) {
            return false;
        }
        at += length;
    }
    return true;
}

void letter_text_add_base64(struct buffer *to, struct span bytes)
{
    for (size_t at = 0; at < bytes.length; at += 3) {
        size_t count = bytes.length - at < 3 ? bytes.length - at : 3;
        uint32_t group = 0;
        for (size_t i = 0; i < 3; i++) {
            group = group << 8 | (i < count ? bytes.data[at + i] : 0);
        }
        char four[] = "====";
        for (size_t i = 0; i <= count; i++) {
            four[i] = digits[group >> (18 - 6 * i) & 0x3F];
        }
        buffer_add(to, four, sizeof(four) - 1);
    }
}

static int value_of(uint8_t digit)
{
    const char *found = digit == '\0' ? NULL : strchr(digits, digit);
    return found == NULL ? -1 : (int)(found - digits);
}

/* Bytes that these four characters stand for (1 to 3, the number before padding less 1), 0: they stand for none. */
static size_t decode_four(const uint8_t *four, bool last, uint8_t bytes[3])
{
    uint32_t group = 0;
    size_t count = !last || four[3] != '=' ? 4 : four[2] != '=' ? 3 : 2;
    for (size_t i = 0; i < 4; i++) {
        int value = i < count ? value_of(four[i]) : 0;
        if (value < 0) {
            return 0;
        }
        group = group << 6 | (uint32_t)value;
    }
    for (size_t i = 0; i < 3; i++) {
        bytes[i] = (uint8_t)(group >> (16 - 8 * i));
    }
    bool canonical = (count > 3 || bytes[2] == 0) && (count > 2 || bytes[1] == 0);
    return canonical ? count - 1 : 0;
}

bool letter_text_decode_base64(struct buffer *to, struct span text)
{
    size_t start = to->length;
    bool read = text.length % 4 == 0;
    for (size_t at = 0; read && at < text.length; at += 4) {
        uint8_t bytes[3];
        size_t count = decode_four(text.data + at, at + 4 == text.length, bytes);
        buffer_add(to, bytes, count);
        read = count > 0;
    }
    if (!read) {
        to->length = start;
    }
    return read && !to->full;
}

bool letter_text_number(struct span text, int64_t least, int64_t greatest, int64_t *number)
{
    bool negative = text.length > 0 && text.data[0] == '-';
    size_t first = negative ? 1 : 0;
    int64_t value = 0;
    if (text.length == first || (text.data[first] == '0' && text.length > 1)) {
        return false;
    }
    for (size_t i = first; i < text.length; i++) {
        int64_t digit = (int64_t)text.data[i] - '0';
        if (digit < 0 || digit > 9 || !checked_mul_i64(value, 10, &value) || !checked_add_i64(value, negative ? -digit : digit, &value)) {
            return false;
        }
    }
    if (value < least || value > greatest) {
        return false;
    }
    *number = value;
    return true;
}
