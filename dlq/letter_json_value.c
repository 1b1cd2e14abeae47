/* Values of a letter in JSON: see letter_json_value.h. */
#include "dlq/letter_json_value.h"

#include <cjson/cJSON.h>

#include "base/text.h"
#include "dlq/letter.h"
#include "dlq/letter_json_scan.h"
#include "dlq/letter_text.h"
#include "dlq/letter_time.h"

static bool is_number(const cJSON *item)
{
    return cJSON_IsString(item) && item->valuestring[0] == LETTER_JSON_SCAN_NUMBER;
}

static bool is_text(const cJSON *item)
{
    return cJSON_IsString(item) && !is_number(item);
}

const char *letter_json_value_string(const cJSON *item)
{
    return is_text(item) ? item->valuestring : NULL;
}

static bool read_whole(const cJSON *item, int64_t least, int64_t greatest, int64_t *number, struct error *error)
{
    if (!is_number(item) || !letter_text_number(span_of_text(item->valuestring + 1), least, greatest, number)) {
        return error_set(error, ERROR_INVALID, "a whole number from %lld to %lld is wanted", (long long)least, (long long)greatest);
    }
    return true;
}

static struct span keep(struct buffer *to, struct span text)
{
    size_t start = to->length;
    buffer_add_span(to, text);
    return (struct span){to->data + start, text.length};
}

static bool decode(const cJSON *encoding, const cJSON *data, struct buffer *to, struct span *bytes, struct error *error)
{
    size_t start = to->length;
    if (strcmp(encoding->valuestring, "utf8") == 0) {
        *bytes = keep(to, span_of_text(data->valuestring));
        return true;
    }
    if (strcmp(encoding->valuestring, "base64") != 0) {
        return error_set(error, ERROR_INVALID, "encoding: \"utf8\" or \"base64\" is wanted");
    }
    if (!letter_text_decode_base64(to, span_of_text(data->valuestring))) {
        return error_set(error, ERROR_INVALID, "data: no base64 (RFC 4648, with padding)");
    }
    *bytes = (struct span){to->data + start, to->length - start};
    return true;
}

bool letter_json_value_bytes(const cJSON *item, struct buffer *to, struct span *bytes, struct error *error)
{
    const cJSON *encoding = NULL;
    const cJSON *data = NULL;
    if (cJSON_IsNull(item)) {
        *bytes = SPAN_ABSENT;
        return true;
    }
    for (const cJSON *child = cJSON_IsObject(item) ? item->child : NULL; child != NULL; child = child->next) {
        const cJSON **place = strcmp(child->string, "encoding") == 0 ? &encoding : strcmp(child->string, "data") == 0 ? &data : NULL;
        if (place == NULL || *place != NULL || !is_text(child)) {
            return error_set(error, ERROR_INVALID, "\"encoding\" and \"data\" are wanted, each once, and both texts");
        }
        *place = child;
    }
    if (encoding == NULL || data == NULL) {
        return error_set(error, ERROR_INVALID, "{\"encoding\": \"utf8\" or \"base64\", \"data\": \"...\"} or null is wanted");
    }
    return decode(encoding, data, to, bytes, error);
}

bool letter_json_value_text(const cJSON *item, struct buffer *to, struct span *text, struct error *error)
{
    if (is_text(item)) {
        *text = keep(to, span_of_text(item->valuestring));
        return true;
    }
    return letter_json_value_bytes(item, to, text, error);
}

bool letter_json_value_error(const cJSON *item, struct buffer *to, struct span *text, struct error *error)
{
    if (!letter_json_value_text(item, to, text, error)) {
        return false;
    }
    if (text->length > LETTER_ERROR_MAX || !text_is_utf8(*text)) {
        return error_set(error, ERROR_INVALID, "%zu bytes: at most %d, of UTF-8", text->length, LETTER_ERROR_MAX);
    }
    return true;
}

bool letter_json_value_time(const cJSON *item, int64_t *time_ms, struct error *error)
{
    if (cJSON_IsNull(item)) {
        *time_ms = -1;
        return true;
    }
    if (is_text(item)) {
        return letter_time_read(span_of_text(item->valuestring), time_ms)
                   ? true
                   : error_set(error, ERROR_INVALID, "a moment as \"2026-01-31T12:00:00.000Z\" is wanted, in UTC and with milliseconds");
    }
    return read_whole(item, INT64_MIN, INT64_MAX, time_ms, error);
}

bool letter_json_value_number(const cJSON *item, int64_t *number, struct error *error)
{
    *number = -1;
    return cJSON_IsNull(item) ? true : read_whole(item, INT64_MIN, INT64_MAX, number, error);
}

bool letter_json_value_partition(const cJSON *item, int32_t *partition, struct error *error)
{
    int64_t number = -1;
    if (!cJSON_IsNull(item) && !read_whole(item, INT32_MIN, INT32_MAX, &number, error)) {
        return false;
    }
    *partition = (int32_t)number;
    return true;
}

bool letter_json_value_count(const cJSON *item, uint32_t *count, struct error *error)
{
    int64_t number = 0;
    if (!read_whole(item, 0, UINT32_MAX, &number, error)) {
        return false;
    }
    *count = (uint32_t)number;
    return true;
}
