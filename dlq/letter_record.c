/*
 * The record of a letter, by itself: what letter.h says of records and headers.
 *
 *   apart: version(1) [key] [value] headers checksum(8)
 *   a header: name [value]; brackets: may be absent
 */
#include "dlq/letter_record.h"

#include <xxhash.h>

void letter_record_put(struct buffer *buffer, const struct letter_record *record)
{
    packed_put_optional(buffer, record->key);
    packed_put_optional(buffer, record->value);
    packed_put(buffer, record->headers);
}

bool letter_record_headers_readable(struct span headers)
{
    struct packed_reader reader = {headers, true};
    while (reader.ok && reader.rest.length > 0) {
        (void)packed_get(&reader);
        (void)packed_get_optional(&reader);
    }
    return reader.ok;
}

/* Headers are walked here once, so that nobody meets a damaged one later. */
void letter_record_get(struct packed_reader *reader, struct letter_record *record)
{
    record->key = packed_get_optional(reader);
    record->value = packed_get_optional(reader);
    record->headers = packed_get(reader);
    reader->ok = reader->ok && letter_record_headers_readable(record->headers);
}

bool letter_record_finish(struct buffer *buffer, size_t start, struct error *error)
{
    if (!buffer->full) {
        packed_put_fixed(buffer, XXH3_64bits(buffer->data + start, buffer->length - start));
    }
    if (buffer->full) {
        buffer->length = start;
        return error_set(error, ERROR_FULL, "a letter does not fit: at most %zu bytes", buffer->most);
    }
    return true;
}

bool letter_record_start(struct span bytes, struct packed_reader *reader, struct error *error)
{
    *reader = (struct packed_reader){bytes, true};
    uint64_t version = packed_get_number(reader, UINT8_MAX);
    if (reader->ok && version > LETTER_VERSION) {
        return error_set(error, ERROR_TOO_NEW, "a letter of format %u: this version of tarry reads up to %d", (unsigned)version, LETTER_VERSION);
    }
    const size_t checksum_bytes = sizeof(uint64_t);
    if (!reader->ok || version == 0 || reader->rest.length < checksum_bytes) {
        return letter_record_damaged(bytes, error);
    }
    reader->rest.length -= checksum_bytes;
    struct packed_reader checksum = {{bytes.data + bytes.length - checksum_bytes, checksum_bytes}, true};
    if (packed_get_fixed(&checksum) != XXH3_64bits(bytes.data, bytes.length - checksum_bytes)) {
        return letter_record_damaged(bytes, error);
    }
    return true;
}

bool letter_record_damaged(struct span bytes, struct error *error)
{
    return error_set(error, ERROR_CORRUPT, "a letter of %zu bytes does not read back", bytes.length);
}

bool letter_encode_record(struct buffer *buffer, const struct letter_record *record, struct error *error)
{
    if (!letter_record_headers_readable(record->headers)) {
        return error_set(error, ERROR_INVALID, "a record's headers would not read back");
    }
    size_t start = buffer->length;
    packed_put_number(buffer, LETTER_VERSION);
    letter_record_put(buffer, record);
    return letter_record_finish(buffer, start, error);
}

bool letter_decode_record(struct span bytes, struct letter_record *record, struct error *error)
{
    struct packed_reader reader;
    if (!letter_record_start(bytes, &reader, error)) {
        return false;
    }
    struct letter_record read = {0};
    letter_record_get(&reader, &read);
    if (!reader.ok || reader.rest.length > 0) {
        return letter_record_damaged(bytes, error);
    }
    *record = read;
    return true;
}

void letter_add_header(struct buffer *headers, struct span name, struct span value)
{
    packed_put(headers, name);
    packed_put_optional(headers, value);
}

bool letter_next_header(struct span *headers, struct span *name, struct span *value)
{
    if (headers->length == 0) {
        return false;
    }
    struct packed_reader reader = {*headers, true};
    *name = packed_get(&reader);
    *value = packed_get_optional(&reader);
    *headers = reader.ok ? reader.rest : (struct span){headers->data, 0};
    return reader.ok;
}
