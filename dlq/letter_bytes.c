/* Numbers and bytes, written and read: see letter_bytes.h. */
#include "dlq/letter_bytes.h"

#define FIXED_BYTES 8

void letter_bytes_put_number(struct buffer *to, uint64_t number)
{
    uint8_t bytes[LETTER_BYTES_NUMBER_MAX];
    size_t length = 0;
    for (; number >= 0x80; number >>= 7) {
        bytes[length++] = (uint8_t)(number & 0x7F) | 0x80;
    }
    bytes[length++] = (uint8_t)number;
    buffer_add(to, bytes, length);
}

void letter_bytes_put_signed(struct buffer *to, int64_t number)
{
    letter_bytes_put_number(to, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
}

void letter_bytes_put_fixed(struct buffer *to, uint64_t number)
{
    uint8_t bytes[FIXED_BYTES];
    for (size_t i = 0; i < FIXED_BYTES; i++) {
        bytes[i] = (uint8_t)(number >> 8 * i);
    }
    buffer_add(to, bytes, FIXED_BYTES);
}

void letter_bytes_put(struct buffer *to, struct span bytes)
{
    letter_bytes_put_number(to, bytes.length);
    buffer_add_span(to, bytes);
}

void letter_bytes_put_optional(struct buffer *to, struct span bytes)
{
    letter_bytes_put_number(to, bytes.data == NULL ? 0 : (uint64_t)bytes.length + 1);
    buffer_add_span(to, bytes);
}

static unsigned get_byte(struct letter_bytes_reader *reader)
{
    if (!reader->ok || reader->rest.length == 0) {
        reader->ok = false;
        return 0;
    }
    reader->rest.length--;
    return *reader->rest.data++;
}

/* Ten bytes at most; the tenth holds one bit. */
static uint64_t get_any_number(struct letter_bytes_reader *reader)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned byte = get_byte(reader);
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

uint64_t letter_bytes_get_number(struct letter_bytes_reader *reader, uint64_t most)
{
    uint64_t number = get_any_number(reader);
    reader->ok = reader->ok && number <= most;
    return reader->ok ? number : 0;
}

int64_t letter_bytes_get_signed(struct letter_bytes_reader *reader, int64_t least, int64_t greatest)
{
    uint64_t number = get_any_number(reader);
    int64_t half = (int64_t)(number >> 1);
    int64_t value = (number & 1) == 0 ? half : -half - 1;
    reader->ok = reader->ok && value >= least && value <= greatest;
    return reader->ok ? value : 0;
}

uint64_t letter_bytes_get_fixed(struct letter_bytes_reader *reader)
{
    struct span bytes = letter_bytes_get_raw(reader, FIXED_BYTES);
    uint64_t number = 0;
    for (size_t i = 0; i < bytes.length; i++) {
        number |= (uint64_t)bytes.data[i] << 8 * i;
    }
    return number;
}

struct span letter_bytes_get_raw(struct letter_bytes_reader *reader, uint64_t length)
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

struct span letter_bytes_get(struct letter_bytes_reader *reader)
{
    return letter_bytes_get_raw(reader, letter_bytes_get_number(reader, UINT64_MAX));
}

struct span letter_bytes_get_optional(struct letter_bytes_reader *reader)
{
    uint64_t length = letter_bytes_get_number(reader, UINT64_MAX);
    return length == 0 ? SPAN_ABSENT : letter_bytes_get_raw(reader, length - 1);
}
