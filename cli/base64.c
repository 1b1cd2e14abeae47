#include "cli/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_write(struct span bytes, struct buffer *text)
{
    for (size_t i = 0; i < bytes.length; i += 3) {
        size_t count = bytes.length - i < 3 ? bytes.length - i : 3;
        uint32_t group = (uint32_t)bytes.data[i] << 16;
        group |= count > 1 ? (uint32_t)bytes.data[i + 1] << 8 : 0;
        group |= count > 2 ? bytes.data[i + 2] : 0;
        const char four[4] = {digits[group >> 18], digits[(group >> 12) & 63], (char)(count > 1 ? digits[(group >> 6) & 63] : '='),
                              (char)(count > 2 ? digits[group & 63] : '=')};
        buffer_add(text, four, sizeof four);
    }
}

/* Value of a digit, or 64: none. */
static uint32_t value_of(uint8_t digit)
{
    const char *found = digit == '\0' ? NULL : strchr(digits, digit);
    return found == NULL ? 64 : (uint32_t)(found - digits);
}

bool base64_read(struct span text, struct buffer *bytes)
{
    if (text.length % 4 != 0) {
        return false;
    }
    for (size_t i = 0; i < text.length; i += 4) {
        const uint8_t *four = text.data + i;
        bool last = i + 4 == text.length;
        size_t count = last && four[3] == '=' ? (four[2] == '=' ? 1 : 2) : 3;
        uint32_t group = 0;
        for (size_t k = 0; k < 4; k++) {
            uint32_t value = k > count ? 0 : value_of(four[k]);
            if (value == 64) {
                return false;
            }
            group = group << 6 | value;
        }
        if ((group & (count == 1 ? 0xffffU : count == 2 ? 0xffU : 0U)) != 0) {
            return false; /* two texts for the same bytes */
        }
        const uint8_t three[3] = {(uint8_t)(group >> 16), (uint8_t)(group >> 8), (uint8_t)group};
        buffer_add(bytes, three, count);
    }
    return true;
}
