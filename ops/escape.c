/* Escaping: see escape.h. */
#include "ops/escape.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define REPLACEMENT "\xEF\xBF\xBD"
#define CUT_MARK "..."
#define UNIT_MAX 8

/* One character's escaped form. */
struct unit {
    char text[UNIT_MAX];
    size_t length;
    size_t eaten; /* input bytes it stands for */
};

static struct unit unit_of(const char *text, size_t eaten)
{
    struct unit unit = {.length = strlen(text), .eaten = eaten};
    memcpy(unit.text, text, unit.length);
    return unit;
}

/* The character as it is, or the replacement when it is none. */
static struct unit plain_unit(const uint8_t *bytes, size_t length)
{
    size_t count = text_utf8_length(bytes, length);
    if (count == 0) {
        return unit_of(REPLACEMENT, 1);
    }
    struct unit unit = {.length = count, .eaten = count};
    memcpy(unit.text, bytes, count);
    return unit;
}

static struct unit json_unit(const uint8_t *bytes, size_t length)
{
    switch (bytes[0]) {
    case '"':
        return unit_of("\\\"", 1);
    case '\\':
        return unit_of("\\\\", 1);
    case '\n':
        return unit_of("\\n", 1);
    case '\r':
        return unit_of("\\r", 1);
    case '\t':
        return unit_of("\\t", 1);
    default:
        break;
    }
    if (bytes[0] < 0x20 || bytes[0] == 0x7F) {
        char text[UNIT_MAX];
        (void)snprintf(text, sizeof(text), "\\u%04x", (unsigned)bytes[0]);
        return unit_of(text, 1);
    }
    return plain_unit(bytes, length);
}

void escape_json(struct buffer *buffer, struct span text, size_t output_max)
{
    size_t written = 0;
    for (size_t at = 0; at < text.length;) {
        struct unit unit = json_unit(text.data + at, text.length - at);
        at += unit.eaten;
        size_t reserve = at < text.length ? sizeof(CUT_MARK) - 1 : 0;
        if (written + unit.length + reserve > output_max) {
            buffer_add_text(buffer, CUT_MARK);
            return;
        }
        buffer_add(buffer, unit.text, unit.length);
        written += unit.length;
    }
}

void escape_label(struct buffer *buffer, struct span text)
{
    for (size_t at = 0; at < text.length;) {
        struct unit unit = plain_unit(text.data + at, text.length - at);
        at += unit.eaten;
        if (unit.text[0] == '\n') {
            buffer_add_text(buffer, "\\n");
            continue;
        }
        if (unit.text[0] == '\\' || unit.text[0] == '"') {
            buffer_add_text(buffer, "\\");
        }
        buffer_add(buffer, unit.text, unit.length);
    }
}
