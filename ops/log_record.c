/* Log fields of a record: see log_record.h. */
#include "ops/log_record.h"

#include <string.h>

#include "base/text.h"

/* version "-" trace-id "-" parent-id "-" flags */
#define TRACE_AT 3
#define PARENT_AT 36
#define FLAGS_AT 53
#define TRACEPARENT_LENGTH 55
#define TRACE_LENGTH 32
#define PARENT_LENGTH 16

static bool is_hex(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!((bytes[i] >= '0' && bytes[i] <= '9') || (bytes[i] >= 'a' && bytes[i] <= 'f'))) {
            return false;
        }
    }
    return true;
}

static bool is_zero(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != '0') {
            return false;
        }
    }
    return true;
}

/* Version 00 has nothing behind the flags, later ones may, after a hyphen; ff is no version. */
static bool ends_well(struct span text)
{
    bool first_version = memcmp(text.data, "00", 2) == 0;
    bool longer = text.length > TRACEPARENT_LENGTH;
    return memcmp(text.data, "ff", 2) != 0 && (!longer || (!first_version && text.data[TRACEPARENT_LENGTH] == '-'));
}

bool log_record_trace_id(struct span traceparent, char trace_id[LOG_RECORD_TRACE_SIZE])
{
    const uint8_t *text = traceparent.data;
    trace_id[0] = '\0';
    if (text == NULL || traceparent.length < TRACEPARENT_LENGTH || text[2] != '-' || text[PARENT_AT - 1] != '-' || text[FLAGS_AT - 1] != '-' ||
        !is_hex(text, 2) || !is_hex(text + TRACE_AT, TRACE_LENGTH) || !is_hex(text + PARENT_AT, PARENT_LENGTH) || !is_hex(text + FLAGS_AT, 2) ||
        is_zero(text + TRACE_AT, TRACE_LENGTH) || is_zero(text + PARENT_AT, PARENT_LENGTH) || !ends_well(traceparent)) {
        return false;
    }
    memcpy(trace_id, text + TRACE_AT, TRACE_LENGTH);
    trace_id[TRACE_LENGTH] = '\0';
    return true;
}

void log_record_begin(struct log_record *record, const char *topic, int32_t partition, int64_t offset)
{
    *record = (struct log_record){.count = 0};
    if (topic != NULL) {
        log_record_add(record, LOG_TEXT("topic", topic));
    }
    if (partition >= 0) {
        log_record_add(record, LOG_NUMBER("partition", partition));
    }
    if (offset >= 0) {
        log_record_add(record, LOG_NUMBER("offset", offset));
    }
}

void log_record_add(struct log_record *record, struct log_field field)
{
    if (record->count < LOG_RECORD_FIELDS) {
        record->fields[record->count++] = field;
    }
}

void log_record_id(struct log_record *record, struct span id)
{
    if (record->id[0] == '\0') {
        (void)text_printable(id, record->id, sizeof(record->id));
    }
}

void log_record_header(struct log_record *record, struct span name, struct span value)
{
    if (span_equals_text(name, "traceparent")) {
        record->traceparents++;
        if (record->traceparents > 1 || !log_record_trace_id(value, record->trace_id)) {
            record->trace_id[0] = '\0';
        }
    } else if (span_equals_text(name, "tarry-id")) {
        log_record_id(record, value);
    }
}

void log_record_headers(struct log_record *record, const struct record *given)
{
    for (size_t i = 0; i < given->header_count; i++) {
        log_record_header(record, given->headers[i].name, given->headers[i].value);
    }
}

void log_record_row(struct log_record *record, const struct row *row)
{
    struct span rest = row->headers;
    struct record_header header;
    bool damaged = false;
    if (!row->refused) {
        log_record_id(record, row->decoded.id);
    }
    while (row_next_header(&rest, &header, &damaged)) {
        log_record_header(record, header.name, header.value);
    }
}

void log_record_letter(struct log_record *record, const struct letter *letter)
{
    struct span rest = letter->record.headers;
    struct span name;
    struct span value;
    log_record_begin(record, NULL, letter->origin.partition, letter->origin.offset);
    (void)text_printable(letter->origin.topic, record->topic, sizeof(record->topic));
    log_record_add(record, LOG_TEXT("topic", record->topic));
    log_record_add(record, LOG_TEXT("letter", letter->id));
    log_record_id(record, letter->schedule_id);
    while (letter_next_header(&rest, &name, &value)) {
        if (!span_equals_text(name, "tarry-id")) { /* it goes out with one in any case: of a record without an id its place */
            log_record_header(record, name, value);
        }
    }
}

void log_record_end(struct log_record *record)
{
    if (record->id[0] != '\0') {
        log_record_add(record, LOG_TEXT("id", record->id));
    }
    if (record->trace_id[0] != '\0') {
        log_record_add(record, LOG_TEXT("trace_id", record->trace_id));
    }
}
