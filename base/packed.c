#include "base/packed.h"

#define FIXED_BYTES 8

void packed_put_number(struct buffer *to, uint64_t number)
{
    uint8_t bytes[PACKED_NUMBER_MAX];
    size_t length = 0;
    for (; number >= 0x80; number >>= 7) {
        bytes[length++] = (uint8_t)(number & 0x7F) | 0x80;
    }
    bytes[length++] = (uint8_t)number;
    buffer_add(to, bytes, length);
}

void packed_put_signed(struct buffer *to, int64_t number)
{
    packed_put_number(to, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
}

void packed_put_fixed(struct buffer *to, uint64_t number)
{
    uint8_t bytes[FIXED_BYTES];
    for (size_t i = 0; i < FIXED_BYTES; i++) {
        bytes[i] = (uint8_t)(number >> 8 * i);
    }
    buffer_add(to, bytes, FIXED_BYTES);
}

void packed_put(struct buffer *to, struct span bytes)
{
    packed_put_number(to, bytes.length);
    buffer_add_span(to, bytes);
}

void packed_put_optional(struct buffer *to, struct span bytes)
{
    packed_put_number(to, bytes.data == NULL ? 0 : (uint64_t)bytes.length + 1);
    buffer_add_span(to, bytes);
}

unsigned packed_get_byte(struct packed_reader *reader)
{
    if (!reader->ok || reader->rest.length == 0) {
        reader->ok = false;
        return 0;
    }
    reader->rest.length--;
    return *reader->rest.data++;
}

/* Ten bytes at most; the tenth holds one bit. */
static uint64_t get_any_number(struct packed_reader *reader)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned byte = packed_get_byte(reader);
        if (shift == 63 && byte > 1) {
            break;
        }
        number |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            return number;
        }
    }
    reader->ok = false;
    return 0;
}

uint64_t packed_get_number(struct packed_reader *reader, uint64_t most)
{
    uint64_t number = get_any_number(reader);
    reader->ok = reader->ok && number <= most;
    return reader->ok ? number : 0;
}

int64_t packed_get_signed(struct packed_reader *reader, int64_t least, int64_t greatest)
{
    uint64_t number = get_any_number(reader);
    int64_t half = (int64_t)(number >> 1);
    int64_t value = (number & 1) == 0 ? half : -half - 1;
    reader->ok = reader->ok && value >= least && value <= greatest;
    return reader->ok ? value : 0;
}

uint64_t packed_get_fixed(struct packed_reader *reader)
{
    struct span bytes = packed_get_raw(reader, FIXED_BYTES);
    uint64_t number = 0;
    for (size_t i = 0; i < bytes.length; i++) {
        number |= (uint64_t)bytes.data[i] << 8 * i;
    }
    return number;
}

struct span packed_get_raw(struct packed_reader *reader, uint64_t length)
{
    if (!reader->ok || length > reader->rest.length) {
        reader->ok = false;
        return SPAN_ABSENT;
    }
    struct span bytes = {reader->rest.data, (size_t)length};
    reader->rest.data += length;
    reader->rest.length -= (size_t)length;
    return bytes;
}

struct span packed_get(struct packed_reader *reader)
{
    return packed_get_raw(reader, packed_get_number(reader, UINT64_MAX));
}

struct span packed_get_optional(struct packed_reader *reader)
{
    uint64_t length = packed_get_number(reader, UINT64_MAX);
    return length == 0 ? SPAN_ABSENT : packed_get_raw(reader, length - 1);
}
