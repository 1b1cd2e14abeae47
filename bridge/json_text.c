#include "bridge/json_text.h"

/* Reads a text byte by byte; one escape may stand for several bytes, which wait in `pending`. */
struct reader {
    const uint8_t *at;
    const uint8_t *end;
    uint8_t pending[4];
    unsigned pending_count;
    unsigned pending_next;
};

static struct reader reader_of(const struct json_scan_value *string)
{
    struct span inner = json_text_inner(string);
    return (struct reader){.at = inner.data, .end = inner.data + inner.length};
}

static uint32_t hex_value(uint8_t digit)
{
    return digit <= '9' ? (uint32_t)digit - '0' : ((uint32_t)digit | 0x20) - 'a' + 10;
}

static uint32_t take_unit(struct reader *reader)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        unit = unit * 16 + hex_value(*reader->at++);
    }
    return unit;
}

/* After "\u": the code point, two units of it when the first is a high surrogate. */
static uint32_t take_code_point(struct reader *reader)
{
    uint32_t unit = take_unit(reader);
    if (unit < 0xD800 || unit > 0xDBFF) {
        return unit;
    }
    reader->at += 2; /* the "\u" of the low surrogate */
    return 0x10000 + ((unit - 0xD800) << 10) + (take_unit(reader) - 0xDC00);
}

static void pend(struct reader *reader, uint32_t byte)
{
    reader->pending[reader->pending_count++] = (uint8_t)byte;
}

static void pend_code_point(struct reader *reader, uint32_t point)
{
    if (point < 0x80) {
        pend(reader, point);
        return;
    }
    if (point < 0x800) {
        pend(reader, 0xC0 | point >> 6);
    } else if (point < 0x10000) {
        pend(reader, 0xE0 | point >> 12);
        pend(reader, 0x80 | (point >> 6 & 0x3F));
    } else {
        pend(reader, 0xF0 | point >> 18);
        pend(reader, 0x80 | (point >> 12 & 0x3F));
        pend(reader, 0x80 | (point >> 6 & 0x3F));
    }
    pend(reader, 0x80 | (point & 0x3F));
}

static uint32_t simple_escape(uint8_t letter)
{
    switch (letter) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return letter; /* quote, backslash, slash */
    }
}

/* The next byte, or -1 at the end. */
static int next_byte(struct reader *reader)
{
    if (reader->pending_next < reader->pending_count) {
        return reader->pending[reader->pending_next++];
    }
    if (reader->at == reader->end) {
        return -1;
    }
    uint8_t byte = *reader->at++;
    if (byte != '\\') {
        return byte;
    }
    uint8_t letter = *reader->at++;
    reader->pending_count = 0;
    reader->pending_next = 1;
    pend_code_point(reader, letter == 'u' ? take_code_point(reader) : simple_escape(letter));
    return reader->pending[0];
}

struct span json_text_inner(const struct json_scan_value *string)
{
    return (struct span){string->span.data + 1, string->span.length - 2};
}

bool json_text_copy(const struct json_scan_value *string, uint8_t *to, size_t room, size_t *length)
{
    struct reader reader = reader_of(string);
    size_t written = 0;
    for (int byte = next_byte(&reader); byte >= 0; byte = next_byte(&reader)) {
        if (written == room) {
            return false;
        }
        to[written++] = (uint8_t)byte;
    }
    *length = written;
    return true;
}

bool json_text_same(const struct json_scan_value *a, const struct json_scan_value *b)
{
    if (!a->escaped && !b->escaped) {
        return span_equal(a->span, b->span);
    }
    struct reader left = reader_of(a);
    struct reader right = reader_of(b);
    int byte = 0;
    while (byte >= 0) {
        byte = next_byte(&left);
        if (byte != next_byte(&right)) {
            return false;
        }
    }
    return true;
}

/* Without escapes the bytes are the text, and no NUL is among them: strncmp stops at the end of the shorter one. */
static bool inner_is(struct span inner, const char *plain)
{
    return strncmp((const char *)inner.data, plain, inner.length) == 0 && plain[inner.length] == '\0';
}

bool json_text_is(const struct json_scan_value *string, const char *plain)
{
    if (!string->escaped) {
        return inner_is(json_text_inner(string), plain);
    }
    struct reader reader = reader_of(string);
    for (; *plain != '\0'; plain++) {
        if (next_byte(&reader) != (uint8_t)*plain) {
            return false;
        }
    }
    return next_byte(&reader) < 0;
}

uint32_t json_text_hash(const struct json_scan_value *string)
{
    struct reader reader = reader_of(string);
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (; !string->escaped && reader.at < reader.end; reader.at++) {
        hash = (hash ^ *reader.at) * 16777619U;
    }
    for (int byte = next_byte(&reader); byte >= 0; byte = next_byte(&reader)) {
        hash = (hash ^ (uint32_t)byte) * 16777619U;
    }
    return hash;
}
