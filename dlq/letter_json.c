/*
 * Letters as JSON, written: see letter_json.h.
 *
 * By hand: a tree of cJSON would print numbers by way of double, exact up to 2^53 only, and end texts at a NUL.
 */
#include "dlq/letter_json.h"

#include <inttypes.h>

#include "base/text.h"
#include "dlq/letter_text.h"
#include "dlq/letter_time.h"

const char *letter_json_state(enum letter_state state)
{
    return state == LETTER_PARKED ? "parked" : "waiting";
}

/* One character of a string, `length` bytes; 0: a byte that is no UTF-8. */
static void add_character(struct buffer *out, const uint8_t *character, size_t length)
{
    switch (*character) {
    case '"':
    case '\\':
        buffer_add_format(out, "\\%c", *character);
        return;
    case '\n':
        buffer_add_text(out, "\\n");
        return;
    case '\r':
        buffer_add_text(out, "\\r");
        return;
    case '\t':
        buffer_add_text(out, "\\t");
        return;
    default:
        break;
    }
    if (length == 0) {
        buffer_add_text(out, "\xEF\xBF\xBD");
    } else if (letter_text_control(character, length)) {
        buffer_add_format(out, "\\u%04x", character[length - 1]);
    } else {
        buffer_add(out, character, length);
    }
}

/* True for a character that stands as it is: most do, and are copied in runs. */
static bool stands(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

void letter_json_add_text(struct buffer *out, struct span text)
{
    buffer_add_text(out, "\"");
    for (size_t at = 0; at < text.length;) {
        size_t run = 0;
        while (run < text.length - at && stands(text.data[at + run])) {
            run++;
        }
        buffer_add(out, text.data + at, run);
        at += run;
        if (at < text.length) {
            size_t length = text_utf8_length(text.data + at, text.length - at);
            add_character(out, text.data + at, length);
            at += length > 0 ? length : 1;
        }
    }
    buffer_add_text(out, "\"");
}

static void add_bytes(struct buffer *out, struct span bytes)
{
    if (bytes.data == NULL) {
        buffer_add_text(out, "null");
    } else if (letter_text_clean(bytes)) {
        buffer_add_text(out, "{\"encoding\":\"utf8\",\"data\":");
        letter_json_add_text(out, bytes);
        buffer_add_text(out, "}");
    } else {
        buffer_add_text(out, "{\"encoding\":\"base64\",\"data\":\"");
        letter_text_add_base64(out, bytes);
        buffer_add_text(out, "\"}");
    }
}

static void add_field(struct buffer *out, const char *name)
{
    buffer_add_format(out, ",\"%s\":", name);
}

static void add_text(struct buffer *out, struct span text)
{
    if (text.data != NULL && letter_text_clean(text)) {
        letter_json_add_text(out, text);
    } else {
        add_bytes(out, text);
    }
}

static void add_text_field(struct buffer *out, const char *name, struct span text)
{
    add_field(out, name);
    add_text(out, text);
}

static void add_bytes_field(struct buffer *out, const char *name, struct span bytes)
{
    add_field(out, name);
    add_bytes(out, bytes);
}

static void add_number_field(struct buffer *out, const char *name, int64_t number)
{
    add_field(out, name);
    if (number == -1) {
        buffer_add_text(out, "null");
    } else {
        buffer_add_format(out, "%" PRId64, number);
    }
}

static void add_time_field(struct buffer *out, const char *name, int64_t time_ms)
{
    char text[LETTER_TIME_SIZE];
    if (time_ms != -1 && letter_time_write(time_ms, text)) {
        add_text_field(out, name, span_of_text(text));
    } else {
        add_number_field(out, name, time_ms);
    }
}

static void add_origin(struct buffer *out, const struct letter_origin *origin)
{
    add_field(out, "origin");
    buffer_add_text(out, "{\"topic\":");
    add_text(out, origin->topic);
    add_number_field(out, "partition", origin->partition);
    add_number_field(out, "offset", origin->offset);
    add_time_field(out, "timestamp", origin->timestamp_ms);
    buffer_add_text(out, "}");
}

static void add_headers(struct buffer *out, struct span headers)
{
    struct span name, value;
    add_field(out, "headers");
    buffer_add_text(out, "[");
    for (const char *comma = ""; letter_next_header(&headers, &name, &value); comma = ",") {
        buffer_add_format(out, "%s{\"name\":", comma);
        add_bytes(out, name);
        add_bytes_field(out, "value", value);
        buffer_add_text(out, "}");
    }
    buffer_add_text(out, "]");
}

bool letter_json_write(struct buffer *out, const struct letter *letter, enum letter_state state, bool payload, struct error *error)
{
    size_t start = out->length;
    buffer_add_text(out, "{\"id\":");
    letter_json_add_text(out, span_of_text(letter->id));
    add_text_field(out, "state", span_of_text(letter_json_state(state)));
    add_text_field(out, "target", letter->target);
    add_text_field(out, "reason", span_of_text(letter_reason_name(letter->reason)));
    add_text_field(out, "error", letter->error.data == NULL ? span_of_text("") : letter->error);
    buffer_add_format(out, ",\"attempt\":%" PRIu32 ",\"replays\":%" PRIu32, letter->attempt, letter->replays);
    add_time_field(out, "first_failure", letter->first_failure_ms);
    add_time_field(out, "last_failure", letter->last_failure_ms);
    add_time_field(out, "not_before", letter->not_before_ms);
    add_origin(out, &letter->origin);
    add_text_field(out, "group", letter->group);
    add_bytes_field(out, "schedule_id", letter->schedule_id);
    add_time_field(out, "due", letter->due_ms);
    add_number_field(out, "target_partition", letter->target_partition);
    if (payload) {
        add_bytes_field(out, "key", letter->record.key);
        add_bytes_field(out, "value", letter->record.value);
        add_headers(out, letter->record.headers);
    }
    buffer_add_text(out, "}");
    if (out->full) {
        out->length = start;
        return error_set(error, ERROR_FULL, "letter %s does not fit as JSON: at most %zu bytes", letter->id, out->most);
    }
    return true;
}
