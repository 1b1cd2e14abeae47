#include "bridge/row.h"

#include "base/packed.h"
#include "bridge/refusal.h"

/*
 * version(1) flags(1) offset timestamp [root root_timestamp] [key] [value]
 *   accepted: output(1) due partition+1 target [key] [value] [id]
 *   refused:  reason text
 * header_count, then for each header: name, value
 *
 * Numbers and bytes as in base/packed.h; a header's value may be absent. Key and value are written once: what goes out is mostly they,
 * or a part of the value.
 */
enum {
    FLAG_REFUSED = 1,
    FLAG_KEY = 2,
    FLAG_VALUE = 4,
    FLAG_TIMESTAMP_SHIFT = 3, /* two bits: enum record_timestamp */
    FLAG_ROOT = 32, /* version 2 */
    FLAGS_OF_1 = 0x1F,
    FLAGS_ALL = 0x3F,
};

enum { OUTPUT_SAME, OUTPUT_NULL, OUTPUT_PART, OUTPUT_OWN };
enum {
    OUTPUT_KEY_MASK = 3,
    OUTPUT_VALUE_SHIFT = 2,
    OUTPUT_ID = 16,
    OUTPUT_ALL = 0x1F,
};

/* Writes to `to`, or only counts when that is NULL. */
struct writer {
    uint8_t *to;
    size_t length;
};

static void put_byte(struct writer *writer, unsigned byte)
{
    if (writer->to != NULL) {
        writer->to[writer->length] = (uint8_t)byte;
    }
    writer->length++;
}

static void put_number(struct writer *writer, uint64_t number)
{
    for (; number >= 0x80; number >>= 7) {
        put_byte(writer, (unsigned)(number & 0x7F) | 0x80);
    }
    put_byte(writer, (unsigned)number);
}

static void put_signed(struct writer *writer, int64_t number)
{
    put_number(writer, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
}

static void put_raw(struct writer *writer, struct span bytes)
{
    if (writer->to != NULL && bytes.data != NULL && bytes.length > 0) {
        memcpy(writer->to + writer->length, bytes.data, bytes.length);
    }
    writer->length += bytes.length;
}

static void put_bytes(struct writer *writer, struct span bytes)
{
    put_number(writer, bytes.length);
    put_raw(writer, bytes);
}

/* Where `inner` lies within `outer`; false when it does not. */
static bool part_of(struct span outer, struct span inner, size_t *from)
{
    uintptr_t outer_first = (uintptr_t)outer.data;
    uintptr_t inner_first = (uintptr_t)inner.data;
    if (outer.data == NULL || inner_first < outer_first || inner.length > outer.length ||
        inner_first - outer_first > outer.length - inner.length) {
        return false;
    }
    *from = inner_first - outer_first;
    return true;
}

static unsigned output_of(struct span own, struct span out)
{
    size_t from = 0;
    if (own.data == out.data && own.length == out.length) {
        return OUTPUT_SAME;
    }
    if (out.data == NULL) {
        return OUTPUT_NULL;
    }
    return part_of(own, out, &from) ? OUTPUT_PART : OUTPUT_OWN;
}

static void put_output(struct writer *writer, unsigned output, struct span own, struct span out)
{
    size_t from = 0;
    if (output == OUTPUT_PART) {
        (void)part_of(own, out, &from);
        put_number(writer, from);
        put_number(writer, out.length);
    } else if (output == OUTPUT_OWN) {
        put_bytes(writer, out);
    }
}

static void put_record_start(struct writer *writer, const struct record *record, const struct decoded *decoded, unsigned flags)
{
    flags |= (record->key.data == NULL ? 0U : FLAG_KEY) | (record->value.data == NULL ? 0U : FLAG_VALUE) |
             (unsigned)record->timestamp << FLAG_TIMESTAMP_SHIFT | (decoded->root < 0 ? 0U : FLAG_ROOT);
    put_byte(writer, decoded->root < 0 ? 1 : ROW_VERSION);
    put_byte(writer, flags);
    put_signed(writer, record->offset);
    put_signed(writer, record->timestamp_ms);
    if (decoded->root >= 0) {
        put_signed(writer, decoded->root);
        put_signed(writer, decoded->root_timestamp_ms);
    }
    if (record->key.data != NULL) {
        put_bytes(writer, record->key);
    }
    if (record->value.data != NULL) {
        put_bytes(writer, record->value);
    }
}

static void put_headers(struct writer *writer, const struct record *record)
{
    put_number(writer, record->header_count);
    for (size_t i = 0; i < record->header_count; i++) {
        const struct record_header *header = &record->headers[i];
        put_bytes(writer, header->name);
        put_number(writer, header->value.data == NULL ? 0 : (uint64_t)header->value.length + 1);
        put_raw(writer, header->value);
    }
}

static void put_decoded(struct writer *writer, const struct record *record, const struct decoded *decoded)
{
    unsigned key = output_of(record->key, decoded->key);
    unsigned value = output_of(record->value, decoded->value);
    put_byte(writer, key | value << OUTPUT_VALUE_SHIFT | (decoded->id.data == NULL ? 0U : OUTPUT_ID));
    put_signed(writer, decoded->due_ms);
    put_number(writer, (uint64_t)((int64_t)decoded->partition + 1));
    put_bytes(writer, decoded->target);
    put_output(writer, key, record->key, decoded->key);
    put_output(writer, value, record->value, decoded->value);
    if (decoded->id.data != NULL) {
        put_bytes(writer, decoded->id);
    }
}

static void put_row(struct writer *writer,
                    const struct record *record,
                    const struct decoded *decoded,
                    const struct refusal *refusal)
{
    put_record_start(writer, record, decoded, refusal == NULL ? 0 : FLAG_REFUSED);
    if (refusal == NULL) {
        put_decoded(writer, record, decoded);
    } else {
        put_number(writer, (uint64_t)refusal->reason);
        put_bytes(writer, span_of_text(refusal->text));
    }
    put_headers(writer, record);
}

/* Once to count, once to write: the buffer is extended by exactly what is needed. Of a refused record only the root is decoded. */
static bool append(struct buffer *buffer,
                   const struct record *record,
                   const struct decoded *decoded,
                   const struct refusal *refusal,
                   struct error *error)
{
    struct writer count = {NULL, 0};
    put_row(&count, record, decoded, refusal);
    struct writer writer = {buffer_extend(buffer, count.length), 0};
    if (writer.to == NULL) {
        return error_set(error, ERROR_FULL, "a row of %zu bytes does not fit: %zu of at most %zu are taken",
                         count.length, buffer->length, buffer->most);
    }
    put_row(&writer, record, decoded, refusal);
    return true;
}

bool row_encode(struct buffer *buffer, const struct record *record, const struct decoded *decoded, struct error *error)
{
    return append(buffer, record, decoded, NULL, error);
}

bool row_encode_refused(struct buffer *buffer,
                        const struct record *record,
                        const struct refusal *refusal,
                        struct error *error)
{
    struct decode_root root;
    struct refusal unreadable; /* then it is none, and that is most likely why it is refused */
    (void)decode_root(record, &root, &unreadable);
    const struct decoded of_root = {.root = root.offset, .root_timestamp_ms = root.timestamp_ms};
    return append(buffer, record, &of_root, refusal, error);
}

/* --- reading --- */

static uint64_t get_number(struct packed_reader *reader)
{
    return packed_get_number(reader, UINT64_MAX);
}

static int64_t get_signed(struct packed_reader *reader)
{
    return packed_get_signed(reader, INT64_MIN, INT64_MAX);
}

static struct span get_part(struct packed_reader *reader, struct span own)
{
    uint64_t from = get_number(reader);
    uint64_t length = get_number(reader);
    if (own.data == NULL || from > own.length || length > own.length - from) {
        reader->ok = false;
        return SPAN_ABSENT;
    }
    return (struct span){own.data + from, (size_t)length};
}

static struct span get_output(struct packed_reader *reader, unsigned output, struct span own)
{
    switch (output) {
    case OUTPUT_SAME:
        return own;
    case OUTPUT_NULL:
        return SPAN_ABSENT;
    case OUTPUT_PART:
        return get_part(reader, own);
    default:
        return packed_get(reader);
    }
}

static void get_record_start(struct packed_reader *reader, unsigned version, unsigned flags, struct row *row)
{
    struct record *record = &row->record;
    unsigned timestamp = flags >> FLAG_TIMESTAMP_SHIFT & 3;
    if ((flags & ~(unsigned)(version < 2 ? FLAGS_OF_1 : FLAGS_ALL)) != 0 || timestamp > RECORD_TIMESTAMP_APPEND) {
        reader->ok = false;
    }
    record->timestamp = (enum record_timestamp)timestamp;
    record->offset = get_signed(reader);
    record->timestamp_ms = get_signed(reader);
    row->root = row->root_timestamp_ms = -1;
    if ((flags & FLAG_ROOT) != 0) {
        row->root = get_signed(reader);
        row->root_timestamp_ms = get_signed(reader);
        reader->ok = reader->ok && row->root >= 0 && row->root < record->offset && row->root_timestamp_ms >= -1;
    }
    record->key = (flags & FLAG_KEY) == 0 ? SPAN_ABSENT : packed_get(reader);
    record->value = (flags & FLAG_VALUE) == 0 ? SPAN_ABSENT : packed_get(reader);
}

static void get_decoded(struct packed_reader *reader, struct row *row)
{
    struct decoded *decoded = &row->decoded;
    unsigned flags = packed_get_byte(reader);
    decoded->due_ms = get_signed(reader);
    uint64_t partition = get_number(reader);
    decoded->target = packed_get(reader);
    decoded->key = get_output(reader, flags & OUTPUT_KEY_MASK, row->record.key);
    decoded->value = get_output(reader, flags >> OUTPUT_VALUE_SHIFT & OUTPUT_KEY_MASK, row->record.value);
    decoded->id = (flags & OUTPUT_ID) == 0 ? SPAN_ABSENT : packed_get(reader);
    if ((flags & ~(unsigned)OUTPUT_ALL) != 0 || partition > (uint64_t)INT32_MAX + 1) {
        reader->ok = false;
        return;
    }
    decoded->partition = (int32_t)((int64_t)partition - 1);
}

static void get_refusal(struct packed_reader *reader, struct refusal *refusal)
{
    uint64_t reason = get_number(reader);
    struct span text = packed_get(reader);
    if (reason == REFUSAL_NONE || reason >= REFUSAL_REASONS || text.data == NULL || text.length >= REFUSAL_TEXT_MAX) {
        reader->ok = false;
        return;
    }
    refusal->reason = (enum refusal_reason)reason;
    memcpy(refusal->text, text.data, text.length);
    refusal->text[text.length] = '\0';
}

/* A header takes two bytes at least. */
static void get_headers(struct packed_reader *reader, struct row *row)
{
    uint64_t count = get_number(reader);
    if (count > reader->rest.length / 2) {
        reader->ok = false;
        return;
    }
    row->record.header_count = (size_t)count;
    row->headers = reader->rest;
}

bool row_decode(struct span bytes, struct row *row, struct error *error)
{
    struct packed_reader reader = {bytes, true};
    struct row made = {0};
    unsigned version = packed_get_byte(&reader);
    if (version > ROW_VERSION) {
        return error_set(error, ERROR_TOO_NEW, "a row of format %u: this version of tarry reads up to %d", version,
                         ROW_VERSION);
    }
    unsigned flags = packed_get_byte(&reader);
    made.refused = (flags & FLAG_REFUSED) != 0;
    get_record_start(&reader, version, flags, &made);
    made.decoded.root = made.root;
    made.decoded.root_timestamp_ms = made.root_timestamp_ms;
    if (made.refused) {
        get_refusal(&reader, &made.refusal);
    } else {
        get_decoded(&reader, &made);
    }
    get_headers(&reader, &made);
    if (!reader.ok || version == 0) {
        return error_set(error, ERROR_CORRUPT, "a row of %zu bytes does not read back", bytes.length);
    }
    *row = made;
    return true;
}

bool row_next_header(struct span *headers, struct record_header *header, bool *damaged)
{
    struct packed_reader reader = {*headers, true};
    if (headers->length == 0) {
        return false;
    }
    struct span name = packed_get(&reader);
    struct span value = packed_get_optional(&reader);
    if (!reader.ok) {
        *damaged = true;
        return false;
    }
    *header = (struct record_header){name, value};
    *headers = reader.rest;
    return true;
}
