/* Reading a body; see api_record.h. Checking: api_record_check.c. */
#include "ops/api_record.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "dlq/letter_text.h"

#define NUMBERS_MAX 16            /* texts of numbers that a body can make */
#define NUMBER_SIZE 24
#define WHOLE_MOST 9007199254740991.0 /* JSON's numbers are exact so far */

#define MESSAGE_MEMBERS                                                                                                                          \
    "source", "topic", "key", "key_encoding", "value", "value_encoding", "headers", "id", "id_encoding", "at", "in", "expires", "if_exists",      \
        "target_key", "target_key_encoding", "target_partition"

static const char *const message_members[] = {MESSAGE_MEMBERS, NULL};
static const char *const schedule_members[] = {MESSAGE_MEMBERS, "cron", "every", "tz", "until", "count", NULL};
static const char *const header_members[] = {"name", "value", "encoding", NULL};

/* What is being read. */
struct reading {
    struct http_request *request;
    struct api_record *record;
};

static bool refuse(struct http_request *request, const char *member, const char *expected)
{
    api_answer_problem(request, 400, "bad_body", "Bad Request", "%s: give %s", member, expected);
    return false;
}

/* ------------------------------------------------------------------------------------------------- bytes and texts */

static const cJSON *member_of(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* NULL: utf8, which is what is meant without. */
static bool read_encoding(struct http_request *request, const cJSON *encoding, const char *name, bool *base64)
{
    const char *text = encoding == NULL ? "utf8" : cJSON_GetStringValue(encoding);
    *base64 = text != NULL && strcmp(text, "base64") == 0;
    return *base64 || (text != NULL && strcmp(text, "utf8") == 0) || refuse(request, name, "\"utf8\" or \"base64\"");
}

static bool decode_base64(const struct reading *reading, const char *name, struct span text, struct span *bytes)
{
    struct api_record *record = reading->record;
    struct buffer decoded = buffer_new(text.length + 1);
    bool done = letter_text_decode_base64(&decoded, text) && decoded.length <= record->room - record->used;
    if (done) {
        *bytes = (struct span){record->bytes + record->used, decoded.length};
        if (decoded.length > 0) {
            memcpy(record->bytes + record->used, decoded.data, decoded.length);
        }
        record->used += decoded.length;
    }
    buffer_free(&decoded);
    return done || refuse(reading->request, name, "base64 with padding (RFC 4648), as its encoding says");
}

/* A text, or base64 of any bytes. Absent for null. */
static bool read_bytes(const struct reading *reading, const char *name, const cJSON *member, const char *encoding_name, const cJSON *encoding, struct span *bytes)
{
    bool base64;
    if (!read_encoding(reading->request, encoding, encoding_name, &base64)) {
        return false;
    }
    if (member == NULL || cJSON_IsNull(member)) {
        *bytes = SPAN_ABSENT;
        return true;
    }
    if (!cJSON_IsString(member)) {
        return refuse(reading->request, name, "a text (JSON goes in as a text, too), or null");
    }
    *bytes = span_of_text(member->valuestring);
    return !base64 || decode_base64(reading, name, *bytes, bytes);
}

/* Of the body itself. *given: it has the member, null or not. */
static bool read_member(const struct reading *reading, const char *name, bool *given, struct span *bytes)
{
    char encoding_name[64];
    const cJSON *member = member_of(reading->record->document, name);
    (void)snprintf(encoding_name, sizeof(encoding_name), "%s_encoding", name);
    *given = member != NULL;
    return read_bytes(reading, name, member, encoding_name, member_of(reading->record->document, encoding_name), bytes);
}

static bool is_whole(double number)
{
    return number >= -WHOLE_MOST && number <= WHOLE_MOST && (double)(int64_t)number == number;
}

static struct span number_text(struct api_record *record, double number)
{
    char *text = (char *)record->bytes + record->used;
    int length = snprintf(text, NUMBER_SIZE, "%.0f", number);
    record->used += (size_t)length;
    return (struct span){(const uint8_t *)text, (size_t)length};
}

/* A text, or a whole number as its text. Absent when it is not given; null is refused. */
static bool read_text(const struct reading *reading, const char *name, bool numbers, struct span *text)
{
    const cJSON *member = member_of(reading->record->document, name);
    *text = SPAN_ABSENT;
    if (member == NULL) {
        return true;
    }
    if (cJSON_IsString(member)) {
        *text = span_of_text(member->valuestring);
        return true;
    }
    if (numbers && cJSON_IsNumber(member) && is_whole(member->valuedouble)) {
        *text = number_text(reading->record, member->valuedouble);
        return true;
    }
    return refuse(reading->request, name, numbers ? "a text or a whole number (below 2^53), or leave it out" : "a text, or leave it out");
}

/* ------------------------------------------------------------------------------------------------- headers */

static void add_header(struct api_record *record, const char *name, struct span value)
{
    record->headers[record->header_count++] = (struct record_header){span_of_text(name), value};
}

static bool knows_members(struct http_request *request, const cJSON *header)
{
    for (const cJSON *member = header->child; member != NULL; member = member->next) {
        size_t known = 0;
        while (header_members[known] != NULL && strcmp(header_members[known], member->string) != 0) {
            known++;
        }
        if (header_members[known] == NULL || member_of(header, member->string) != member) {
            return refuse(request, "headers", "objects with name, value and, for bytes that are no text, encoding: each once, and nothing else");
        }
    }
    return true;
}

static bool read_header(const struct reading *reading, const cJSON *header)
{
    struct api_record *record = reading->record;
    struct span value;
    if (!cJSON_IsObject(header) || !cJSON_IsString(member_of(header, "name"))) {
        return refuse(reading->request, "headers", "objects with a name, for example [{\"name\": \"trace\", \"value\": \"7\"}]");
    }
    if (!knows_members(reading->request, header) ||
        !read_bytes(reading, "a header's value", member_of(header, "value"), "a header's encoding", member_of(header, "encoding"), &value)) {
        return false;
    }
    add_header(record, member_of(header, "name")->valuestring, value);
    record->own_count++;
    return true;
}

static bool read_headers(const struct reading *reading)
{
    const cJSON *headers = member_of(reading->record->document, "headers");
    if (headers != NULL && !cJSON_IsArray(headers)) {
        return refuse(reading->request, "headers", "a list, for example [{\"name\": \"trace\", \"value\": \"7\"}]");
    }
    if (headers != NULL && cJSON_GetArraySize(headers) > API_RECORD_HEADERS_MAX) {
        return refuse(reading->request, "headers", "256 at most");
    }
    for (const cJSON *header = headers == NULL ? NULL : headers->child; header != NULL; header = header->next) {
        if (!read_header(reading, header)) {
            return false;
        }
    }
    return true;
}

/* A control header of a member, if that is given. */
static bool read_control(const struct reading *reading, const char *name, bool numbers, const char *header, struct span *text)
{
    if (!read_text(reading, name, numbers, text)) {
        return false;
    }
    if (text->data != NULL) {
        add_header(reading->record, header, *text);
    }
    return true;
}

static bool read_partition(const struct reading *reading)
{
    const cJSON *member = member_of(reading->record->document, "target_partition");
    if (member == NULL) {
        return true;
    }
    if (!cJSON_IsNumber(member) || member->valuedouble < 0 || member->valuedouble > INT32_MAX || !is_whole(member->valuedouble)) {
        return refuse(reading->request, "target_partition", "a whole number from 0 to 2147483647, or leave it out");
    }
    reading->record->partition = (int32_t)member->valuedouble;
    add_header(reading->record, "tarry-partition", number_text(reading->record, member->valuedouble));
    return true;
}

static bool read_target_key(const struct reading *reading)
{
    struct api_record *record = reading->record;
    if (!read_member(reading, "target_key", &record->out_key_given, &record->out_key)) {
        return false;
    }
    if (record->out_key_given) {
        add_header(record, "tarry-key", record->out_key);
    }
    return true;
}

static bool read_when(const struct reading *reading)
{
    struct api_record *record = reading->record;
    struct span expires;
    if (!read_control(reading, "at", true, "tarry-at", &record->at) || !read_control(reading, "in", true, "tarry-delay", &record->in) ||
        !read_control(reading, "expires", true, "tarry-expires", &expires)) {
        return false;
    }
    return record->at.data == NULL || record->in.data == NULL || refuse(reading->request, "at, in", "one of them: a time, or how long from now");
}

static bool read_recurrence(const struct reading *reading)
{
    struct span cron;
    struct span every;
    struct span other;
    if (!read_control(reading, "cron", false, "tarry-cron", &cron) || !read_control(reading, "every", true, "tarry-every", &every) ||
        !read_control(reading, "tz", false, "tarry-tz", &other) || !read_control(reading, "until", true, "tarry-until", &other) ||
        !read_control(reading, "count", true, "tarry-count", &other)) {
        return false;
    }
    return (cron.data == NULL) != (every.data == NULL) || refuse(reading->request, "cron, every", "one of them: how it comes again");
}

static bool read_condition(const struct reading *reading)
{
    struct span text;
    if (!read_control(reading, "if_exists", false, "tarry-if-exists", &text)) {
        return false;
    }
    reading->record->conditional = span_equals_text(text, "reject");
    return true;
}

static bool read_all(const struct reading *reading, struct span *source)
{
    struct api_record *record = reading->record;
    bool given;
    return read_text(reading, "source", false, source) && read_member(reading, "key", &given, &record->key) &&
           read_member(reading, "value", &given, &record->value) && read_member(reading, "id", &record->id_given, &record->id) && read_headers(reading) &&
           read_control(reading, "topic", false, "tarry-topic", &record->topic) && read_target_key(reading) && read_partition(reading) &&
           read_when(reading) && read_condition(reading) && (!record->recurring || read_recurrence(reading));
}

bool api_record_read(struct http_request *request, bool recurring, struct api_record *record, struct span *source)
{
    struct reading reading = {request, record};
    *record = (struct api_record){.partition = -1, .recurring = recurring, .topic = SPAN_ABSENT};
    record->document = api_parameter_body(request, recurring ? schedule_members : message_members);
    if (record->document == NULL) {
        return false;
    }
    record->room = request->upload.length + (size_t)NUMBERS_MAX * NUMBER_SIZE; /* what base64 stands for is shorter than it */
    record->bytes = memory_new(record->room, 1);
    record->headers = memory_new(API_RECORD_HEADERS_MAX + API_RECORD_CONTROLS_MAX, sizeof(*record->headers));
    if (!read_all(&reading, source)) {
        api_record_free(record);
        return false;
    }
    return true;
}

void api_record_cancel(struct span id, struct span key, struct api_record *record)
{
    *record = (struct api_record){.partition = -1, .key = key, .id_given = true, .id = id};
    record->headers = memory_new(API_RECORD_CONTROLS_MAX, sizeof(*record->headers));
    add_header(record, "tarry-action", span_of_text("cancel"));
}

void api_record_free(struct api_record *record)
{
    cJSON_Delete(record->document);
    free(record->bytes);
    free(record->headers);
    *record = (struct api_record){0};
}

void api_record_name(struct api_record *record, struct span id, struct span word)
{
    record->id = id;
    if (id.data != NULL) {
        add_header(record, "tarry-id", id);
    }
    add_header(record, "tarry-request", word);
}
