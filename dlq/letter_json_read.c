/*
 * Letters as JSON, read: see letter_json.h.
 *
 * cJSON parses what letter_json_scan.h has made fit for it: numbers come as strings behind a mark and are exact. Every field must be known and come once, so
 * that a slip in a letter edited by hand is told and not lost.
 */
#include "dlq/letter_json.h"

#include <cjson/cJSON.h>

#include "base/checked.h"
#include "base/text.h"
#include "dlq/letter_json_scan.h"
#include "dlq/letter_json_value.h"

#define SHOWN_MAX 48

struct reading {
    struct buffer *room;  /* never moves: all its room was taken at first */
    struct buffer part;   /* of one header; never moves either */
    struct letter letter;
    enum letter_state state;
    struct error *error;
};

enum kind {
    KIND_ID,
    KIND_STATE,
    KIND_REASON,
    KIND_ERROR,
    KIND_TEXT,
    KIND_BYTES,
    KIND_TIME,
    KIND_COUNT,
    KIND_PARTITION,
    KIND_NUMBER,
    KIND_ORIGIN,
    KIND_HEADERS,
};

struct field {
    const char *name;
    enum kind kind;
    size_t offset; /* in struct letter */
};

static const struct field fields[] = {
    {"id", KIND_ID, 0},
    {"state", KIND_STATE, 0},
    {"target", KIND_TEXT, offsetof(struct letter, target)},
    {"reason", KIND_REASON, 0},
    {"error", KIND_ERROR, offsetof(struct letter, error)},
    {"attempt", KIND_COUNT, offsetof(struct letter, attempt)},
    {"replays", KIND_COUNT, offsetof(struct letter, replays)},
    {"first_failure", KIND_TIME, offsetof(struct letter, first_failure_ms)},
    {"last_failure", KIND_TIME, offsetof(struct letter, last_failure_ms)},
    {"not_before", KIND_TIME, offsetof(struct letter, not_before_ms)},
    {"origin", KIND_ORIGIN, 0},
    {"group", KIND_TEXT, offsetof(struct letter, group)},
    {"schedule_id", KIND_BYTES, offsetof(struct letter, schedule_id)},
    {"due", KIND_TIME, offsetof(struct letter, due_ms)},
    {"target_partition", KIND_PARTITION, offsetof(struct letter, target_partition)},
    {"key", KIND_BYTES, offsetof(struct letter, record.key)},
    {"value", KIND_BYTES, offsetof(struct letter, record.value)},
    {"headers", KIND_HEADERS, 0},
};

static const struct field origin_fields[] = {
    {"topic", KIND_TEXT, offsetof(struct letter, origin.topic)},
    {"partition", KIND_PARTITION, offsetof(struct letter, origin.partition)},
    {"offset", KIND_NUMBER, offsetof(struct letter, origin.offset)},
    {"timestamp", KIND_TIME, offsetof(struct letter, origin.timestamp_ms)},
};

enum { FIELDS = sizeof(fields) / sizeof(fields[0]), ORIGIN_FIELDS = sizeof(origin_fields) / sizeof(origin_fields[0]) };

static bool wrong(struct reading *reading, const char *what)
{
    return error_set(reading->error, ERROR_INVALID, "%s", what);
}

static bool read_id(struct reading *reading, const cJSON *item)
{
    const char *id = letter_json_value_string(item);
    if (id == NULL || strlen(id) != LETTER_ID_SIZE - 1 || strspn(id, "0123456789abcdef") != LETTER_ID_SIZE - 1) {
        return wrong(reading, "32 hex digits in lower case are wanted");
    }
    memcpy(reading->letter.id, id, LETTER_ID_SIZE);
    return true;
}

static bool read_state(struct reading *reading, const cJSON *item)
{
    const char *name = letter_json_value_string(item);
    for (int state = LETTER_WAITING; name != NULL && state <= LETTER_PARKED; state++) {
        if (strcmp(name, letter_json_state((enum letter_state)state)) == 0) {
            reading->state = (enum letter_state)state;
            return true;
        }
    }
    return wrong(reading, "\"waiting\" or \"parked\" is wanted");
}

static bool read_reason(struct reading *reading, const cJSON *item)
{
    if (!letter_reason_of(span_of_text(letter_json_value_string(item)), &reading->letter.reason)) {
        return wrong(reading, "the name of a reason is wanted, as \"undeliverable\" or \"unknown\"");
    }
    return true;
}

static bool read_header(struct reading *reading, const cJSON *item)
{
    struct span name = SPAN_ABSENT;
    struct span value = SPAN_ABSENT;
    unsigned seen = 0;
    buffer_clear(&reading->part);
    for (const cJSON *child = cJSON_IsObject(item) ? item->child : NULL; child != NULL; child = child->next) {
        unsigned bit = strcmp(child->string, "name") == 0 ? 1 : strcmp(child->string, "value") == 0 ? 2 : 0;
        if (bit == 0 || (seen & bit) != 0) {
            return wrong(reading, "\"name\" and \"value\" are wanted, each once");
        }
        seen |= bit;
        if (!letter_json_value_bytes(child, &reading->part, bit == 1 ? &name : &value, reading->error)) {
            return error_prefix(reading->error, bit == 1 ? "name" : "value");
        }
    }
    if (seen != 3 || name.data == NULL) {
        return wrong(reading, "{\"name\": ..., \"value\": ...} is wanted, the name not null");
    }
    letter_add_header(reading->room, name, value);
    return true;
}

static bool read_headers(struct reading *reading, const cJSON *item)
{
    size_t start = reading->room->length;
    size_t number = 0;
    if (!cJSON_IsArray(item)) {
        return wrong(reading, "a list is wanted");
    }
    for (const cJSON *child = item->child; child != NULL; child = child->next, number++) {
        if (!read_header(reading, child)) {
            return error_prefix(reading->error, "[%zu]", number);
        }
    }
    reading->letter.record.headers = (struct span){reading->room->data + start, reading->room->length - start};
    return true;
}

static bool read_fields(struct reading *reading, const cJSON *item, const struct field *of, size_t count);

static bool read_field(struct reading *reading, const cJSON *item, const struct field *field)
{
    void *place = (char *)&reading->letter + field->offset;
    switch (field->kind) {
    case KIND_ID:
        return read_id(reading, item);
    case KIND_STATE:
        return read_state(reading, item);
    case KIND_REASON:
        return read_reason(reading, item);
    case KIND_ERROR:
        return letter_json_value_error(item, reading->room, place, reading->error);
    case KIND_TEXT:
        return letter_json_value_text(item, reading->room, place, reading->error);
    case KIND_BYTES:
        return letter_json_value_bytes(item, reading->room, place, reading->error);
    case KIND_TIME:
        return letter_json_value_time(item, place, reading->error);
    case KIND_COUNT:
        return letter_json_value_count(item, place, reading->error);
    case KIND_PARTITION:
        return letter_json_value_partition(item, place, reading->error);
    case KIND_NUMBER:
        return letter_json_value_number(item, place, reading->error);
    case KIND_ORIGIN:
        return read_fields(reading, item, origin_fields, ORIGIN_FIELDS);
    case KIND_HEADERS:
    default:
        return read_headers(reading, item);
    }
}

static const struct field *field_of(const struct field *of, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(of[i].name, name) == 0) {
            return &of[i];
        }
    }
    return NULL;
}

static bool read_fields(struct reading *reading, const cJSON *item, const struct field *of, size_t count)
{
    uint32_t seen = 0;
    if (!cJSON_IsObject(item)) {
        return wrong(reading, "an object is wanted");
    }
    for (const cJSON *child = item->child; child != NULL; child = child->next) {
        const struct field *field = field_of(of, count, child->string);
        char shown[SHOWN_MAX];
        (void)text_printable(span_of_text(child->string), shown, sizeof(shown));
        if (field == NULL) {
            return error_set(reading->error, ERROR_INVALID, "%s: there is no such field", shown);
        }
        if ((seen >> (field - of) & 1) != 0) {
            return error_set(reading->error, ERROR_INVALID, "%s: it stands there twice", shown);
        }
        seen |= UINT32_C(1) << (field - of);
        if (!read_field(reading, child, field)) {
            return error_prefix(reading->error, "%s", shown);
        }
    }
    return true;
}

static bool read_letter(struct reading *reading, const cJSON *root)
{
    struct letter *letter = &reading->letter;
    letter->attempt = 1;
    letter->first_failure_ms = letter->last_failure_ms = letter->not_before_ms = letter->due_ms = -1;
    letter->target_partition = -1;
    letter->origin = (struct letter_origin){SPAN_ABSENT, -1, -1, -1};
    if (!read_fields(reading, root, fields, FIELDS)) {
        return false;
    }
    return letter->origin.topic.data != NULL ? true : wrong(reading, "origin: topic: it is missing");
}

/* Where cJSON stopped, in the text as it came: a mark and two quotes were added for each number before. */
static size_t place_of(const struct buffer *scanned, const char *end)
{
    size_t place = end == NULL ? 0 : (size_t)((const uint8_t *)end - scanned->data);
    size_t marks = 0;
    for (size_t i = 0; i < place && i < scanned->length; i++) {
        marks += scanned->data[i] == (uint8_t)LETTER_JSON_SCAN_NUMBER ? 1 : 0;
    }
    return place > 3 * marks ? place - 3 * marks : 0;
}

static bool parse(struct reading *reading, struct span text, const struct buffer *scanned)
{
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts((const char *)scanned->data, scanned->length, &end, 1);
    if (root == NULL) {
        return error_set(reading->error, ERROR_INVALID, "no JSON: it makes no sense from about byte %zu of %zu on", place_of(scanned, end), text.length);
    }
    bool read = read_letter(reading, root);
    cJSON_Delete(root);
    return read;
}

/* Takes `size` bytes at once, so that spans into the buffer stay. */
static bool reserve(struct buffer *buffer, size_t size)
{
    buffer_clear(buffer);
    bool taken = buffer_extend(buffer, size) != NULL;
    buffer_clear(buffer);
    return taken;
}

bool letter_json_read(struct span text, struct buffer *room, struct letter *letter, enum letter_state *state, struct error *error)
{
    size_t scanned_most = 0; /* a number of one digit becomes four characters */
    if (!checked_mul_size(text.length, 4, &scanned_most) || !reserve(room, text.length + LETTER_JSON_ROOM)) {
        return error_set(error, ERROR_FULL, "JSON of %zu bytes does not fit: at most %zu", text.length, room->most);
    }
    struct buffer scanned = buffer_new(scanned_most + 1);
    struct reading reading = {.room = room, .part = buffer_new(text.length + LETTER_JSON_ROOM), .state = LETTER_WAITING, .error = error};
    bool read = letter_json_scan(text, &scanned, error);
    if (read) {
        (void)reserve(&reading.part, text.length + LETTER_JSON_ROOM);
        read = parse(&reading, text, &scanned);
    }
    buffer_free(&scanned);
    buffer_free(&reading.part);
    if (read) {
        *letter = reading.letter;
        *state = reading.state;
    }
    return read;
}
