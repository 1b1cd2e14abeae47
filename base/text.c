/* Printable text from bytes of any kind: see text.h. */
#include "base/text.h"

#include <assert.h>
#include <string.h>

#define ELLIPSIS "..."
#define ELLIPSIS_LENGTH 3

/* One row for each range of first bytes of well-formed UTF-8 beyond ASCII (table 3-7 of the Unicode standard): the second byte's
 * range rules out overlong forms, surrogates and what is beyond U+10FFFF. */
struct utf8_row {
    uint8_t first_least, first_greatest, length, second_least, second_greatest;
};

static const struct utf8_row utf8_rows[] = {
    {0xc2, 0xdf, 2, 0x80, 0xbf},
    {0xe0, 0xe0, 3, 0xa0, 0xbf},
    {0xe1, 0xec, 3, 0x80, 0xbf},
    {0xed, 0xed, 3, 0x80, 0x9f},
    {0xee, 0xef, 3, 0x80, 0xbf},
    {0xf0, 0xf0, 4, 0x90, 0xbf},
    {0xf1, 0xf3, 4, 0x80, 0xbf},
    {0xf4, 0xf4, 4, 0x80, 0x8f},
};

static const struct utf8_row *row_of(uint8_t first)
{
    for (size_t i = 0; i < sizeof(utf8_rows) / sizeof(utf8_rows[0]); i++) {
        if (first >= utf8_rows[i].first_least && first <= utf8_rows[i].first_greatest) {
            return &utf8_rows[i];
        }
    }
    return NULL;
}

size_t text_utf8_length(const uint8_t *bytes, size_t length)
{
    if (length > 0 && bytes[0] < 0x80) { /* most of what is ever looked at */
        return 1;
    }
    const struct utf8_row *row = length == 0 ? NULL : row_of(bytes[0]);
    if (row == NULL || row->length > length) {
        return 0;
    }
    if (bytes[1] < row->second_least || bytes[1] > row->second_greatest) {
        return 0;
    }
    for (size_t i = 2; i < row->length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return row->length;
}

/* How many bytes at the beginning are ASCII, in steps of eight. */
static size_t ascii_eights(const uint8_t *bytes, size_t length)
{
    size_t count = 0;
    for (; length - count >= sizeof(uint64_t); count += sizeof(uint64_t)) {
        uint64_t eight;
        memcpy(&eight, bytes + count, sizeof(eight));
        if ((eight & UINT64_C(0x8080808080808080)) != 0) {
            break;
        }
    }
    return count;
}

bool text_is_utf8(struct span bytes)
{
    size_t i = ascii_eights(bytes.data, bytes.length);
    while (i < bytes.length) {
        size_t length = text_utf8_length(bytes.data + i, bytes.length - i);
        if (length == 0) {
            return false;
        }
        i += length;
    }
    return true;
}

static uint32_t code_point(const uint8_t *bytes, size_t length)
{
    static const uint8_t first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    assert(length < sizeof(first_bits));
    uint32_t point = (uint32_t)(bytes[0] & first_bits[length]);
    for (size_t i = 1; i < length; i++) {
        point = (point << 6) | (uint32_t)(bytes[i] & 0x3f);
    }
    return point;
}

/* What would move a cursor, start an escape sequence, break a line or turn the reading direction is not shown as it
 * is. */
static bool is_printable(uint32_t point)
{
    bool control = point < 0x20 || (point >= 0x7f && point < 0xa0) || point == '\\';
    bool marks = (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e)
        || (point >= 0x2060 && point <= 0x206f) || point == 0x061c || point == 0xfeff;
    return !control && !marks;
}

static size_t escape_byte(uint8_t byte, char *text)
{
    static const char digits[] = "0123456789abcdef";
    static const char plain[] = "\n\r\t\\";
    static const char letters[] = "nrt\\";
    const char *found = byte == 0 ? NULL : strchr(plain, (char)byte);
    text[0] = '\\';
    if (found != NULL) {
        text[1] = letters[found - plain];
        return 2;
    }
    text[1] = 'x';
    text[2] = digits[byte >> 4];
    text[3] = digits[byte & 15];
    return 4;
}

/* Writes the next piece (a character, or the escape of one byte) to `piece`; stores how many bytes it stands for. */
static size_t next_piece(const uint8_t *bytes, size_t length, char piece[TEXT_ESCAPE_MAX], size_t *taken)
{
    size_t character = text_utf8_length(bytes, length);
    if (character > 0 && is_printable(code_point(bytes, character))) {
        memcpy(piece, bytes, character);
        *taken = character;
        return character;
    }
    *taken = 1;
    return escape_byte(bytes[0], piece);
}

size_t text_printable(struct span bytes, char *text, size_t size)
{
    if (size == 0) {
        return 0;
    }
    size_t used = 0;
    size_t before_ellipsis = 0; /* the greatest cut that leaves room for "..." */
    for (size_t i = 0; i < bytes.length;) {
        char piece[TEXT_ESCAPE_MAX];
        size_t taken;
        size_t length = next_piece(bytes.data + i, bytes.length - i, piece, &taken);
        if (used + length > size - 1) {
            if (size > ELLIPSIS_LENGTH) {
                memcpy(text + before_ellipsis, ELLIPSIS, ELLIPSIS_LENGTH);
                used = before_ellipsis + ELLIPSIS_LENGTH;
            }
            break;
        }
        memcpy(text + used, piece, length);
        used += length;
        if (used + ELLIPSIS_LENGTH <= size - 1) {
            before_ellipsis = used;
        }
        i += taken;
    }
    text[used] = '\0';
    return used;
}
