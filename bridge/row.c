#include "bridge/row.h"

#include "base/packed.h"
#include "bridge/row_format.h"

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

static unsigned extras_of(const struct decoded *decoded)
{
    const struct decoded_recurrence *recurrence = &decoded->recurrence;
    unsigned has = (decoded->expires_ms > 0 ? HAS_EXPIRY : 0U) | (decoded->conditional ? IS_CONDITIONAL : 0U) |
                   (decoded->undecided ? IS_UNDECIDED : 0U) | (decoded->paused ? IS_PAUSED : 0U);
    if (recurrence->kind == DECODE_RECURRENCE_NONE) {
        return has;
    }
    return has | (recurrence->kind == DECODE_RECURRENCE_CRON ? HAS_CRON : HAS_EVERY) | (recurrence->zone.data == NULL ? 0U : HAS_ZONE) |
           (recurrence->until_ms > 0 ? HAS_UNTIL : 0U);
}

static void put_extras(struct writer *writer, const struct decoded *decoded)
{
    const struct decoded_recurrence *recurrence = &decoded->recurrence;
    unsigned has = extras_of(decoded);
    put_byte(writer, has);
    if ((has & HAS_EXPIRY) != 0) {
        put_signed(writer, decoded->expires_ms);
    }
    if ((has & HAS_EVERY) != 0) {
        put_signed(writer, recurrence->every_ms);
    }
    if ((has & HAS_CRON) != 0) {
        put_bytes(writer, recurrence->cron);
    }
    if ((has & HAS_ZONE) != 0) {
        put_bytes(writer, recurrence->zone);
    }
    if ((has & HAS_UNTIL) != 0) {
        put_signed(writer, recurrence->until_ms);
    }
    if ((has & (HAS_EVERY | HAS_CRON)) != 0) {
        put_signed(writer, recurrence->count);
        put_signed(writer, recurrence->runs);
    }
}

/* The earliest format that can hold it. */
static unsigned version_of(const struct decoded *decoded, unsigned flags)
{
    return (flags & FLAG_EXTRAS) != 0 ? 3 : decoded->root >= 0 ? 2 : 1;
}

static void put_record_start(struct writer *writer, const struct record *record, const struct decoded *decoded, unsigned flags)
{
    flags |= (record->key.data == NULL ? 0U : FLAG_KEY) | (record->value.data == NULL ? 0U : FLAG_VALUE) |
             (unsigned)record->timestamp << FLAG_TIMESTAMP_SHIFT | (decoded->root < 0 ? 0U : FLAG_ROOT);
    put_byte(writer, version_of(decoded, flags));
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
    if (extras_of(decoded) != 0) {
        put_extras(writer, decoded);
    }
}

static void put_row(struct writer *writer,
                    const struct record *record,
                    const struct decoded *decoded,
                    const struct refusal *refusal)
{
    put_record_start(writer, record, decoded, refusal != NULL ? FLAG_REFUSED : extras_of(decoded) != 0 ? FLAG_EXTRAS : 0U);
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
