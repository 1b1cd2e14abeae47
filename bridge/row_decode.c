/* Reading a row: nothing in its bytes is trusted. */
#include "base/packed.h"
#include "bridge/row.h"
#include "bridge/row_format.h"
#include "bridge/time_text.h"

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
    unsigned known = version < 2 ? FLAGS_OF_1 : version < 3 ? FLAGS_OF_2 : FLAGS_OF_3;
    bool refused_with_extras = (flags & FLAG_REFUSED) != 0 && (flags & FLAG_EXTRAS) != 0;
    if ((flags & ~known) != 0 || refused_with_extras || timestamp > RECORD_TIMESTAMP_APPEND) {
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

/* Present, and as long as decoding lets it be. */
static struct span get_text(struct packed_reader *reader, size_t most)
{
    struct span text = packed_get(reader);
    if (text.length < 1 || text.length > most) {
        reader->ok = false;
    }
    return text;
}

static void get_recurrence(struct packed_reader *reader, unsigned has, struct decoded_recurrence *recurrence)
{
    if ((has & HAS_EVERY) != 0) {
        recurrence->kind = DECODE_RECURRENCE_EVERY;
        recurrence->every_ms = packed_get_signed(reader, DECODE_EVERY_LEAST_MS, INT64_MAX);
    }
    if ((has & HAS_CRON) != 0) {
        recurrence->kind = DECODE_RECURRENCE_CRON;
        recurrence->cron = get_text(reader, DECODE_CRON_MAX);
    }
    if ((has & HAS_ZONE) != 0) {
        recurrence->zone = get_text(reader, DECODE_ZONE_MAX);
    }
    if ((has & HAS_UNTIL) != 0) {
        recurrence->until_ms = packed_get_signed(reader, 1, TIME_TEXT_LAST_MS);
    }
    recurrence->count = packed_get_signed(reader, 0, DECODE_COUNT_MOST);
    recurrence->runs = packed_get_signed(reader, 0, DECODE_COUNT_MOST);
}

/* A row with no extras, or with what only what comes again has, was not written by us. */
static void get_extras(struct packed_reader *reader, struct decoded *decoded)
{
    unsigned has = packed_get_byte(reader);
    unsigned kinds = has & (HAS_EVERY | HAS_CRON);
    if (has == 0 || kinds == (HAS_EVERY | HAS_CRON) || (kinds == 0 && (has & (HAS_ZONE | HAS_UNTIL)) != 0)) {
        reader->ok = false;
        return;
    }
    decoded->conditional = (has & IS_CONDITIONAL) != 0;
    decoded->undecided = (has & IS_UNDECIDED) != 0;
    decoded->paused = (has & IS_PAUSED) != 0;
    if ((has & HAS_EXPIRY) != 0) {
        decoded->expires_ms = packed_get_signed(reader, 1, TIME_TEXT_LAST_MS);
    }
    if (kinds != 0) {
        get_recurrence(reader, has, &decoded->recurrence);
    }
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
    made.decoded.expires_ms = made.decoded.recurrence.until_ms = -1;
    if (made.refused) {
        get_refusal(&reader, &made.refusal);
    } else {
        get_decoded(&reader, &made);
        if ((flags & FLAG_EXTRAS) != 0) {
            get_extras(&reader, &made.decoded);
        }
    }
    get_headers(&reader, &made);
    if (!reader.ok || version == 0) {
        return error_set(error, ERROR_CORRUPT, "a row of %zu bytes does not read back", bytes.length);
    }
    *row = made;
    return true;
}
