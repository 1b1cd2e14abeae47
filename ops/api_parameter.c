/* What a request asks for, in its query and its body: see api.h. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/memory.h"
#include "base/text.h"
#include "bridge/delay_text.h"
#include "bridge/json_scan.h"
#include "bridge/time_text.h"
#include "dlq/letter_text.h"
#include "ops/api.h"
#include "ops/config_near.h"

#define SHOWN 96
#define LIST_SIZE 512
#define TIME_MAX 64
#define VALUES_MOST 20000 /* of a body */

/* What was given, fit for an answer. */
struct shown {
    char text[SHOWN];
};

static struct shown show(struct span bytes)
{
    struct shown shown;
    (void)text_printable(bytes, shown.text, sizeof(shown.text));
    return shown;
}

static bool refuse(struct http_request *request, const char *name, struct span value, const char *expected)
{
    api_answer_problem(request, 400, "bad_parameter", "Bad Request", "%s: \"%s\" is not %s", name, show(value).text, expected);
    return false;
}

bool api_parameter_number(struct http_request *request, const char *name, int64_t least, int64_t most, int64_t otherwise, int64_t *value)
{
    struct span text = http_request_query(request, name);
    char expected[96];
    if (text.data == NULL) {
        *value = otherwise;
        return true;
    }
    if (letter_text_number(text, least, most, value)) {
        return true;
    }
    (void)snprintf(expected, sizeof(expected), "a whole number from %" PRId64 " to %" PRId64, least, most);
    return refuse(request, name, text, expected);
}

/* An offset's plus that was sent as it is came as a blank (http_uri.h). */
static size_t copy_time(struct span text, uint8_t copy[TIME_MAX])
{
    for (size_t i = 0; i < text.length; i++) {
        copy[i] = text.data[i] == ' ' ? (uint8_t)'+' : text.data[i];
    }
    return text.length;
}

static bool read_duration(struct span text, int64_t now_ms, int64_t *at_ms)
{
    bool before = text.length > 0 && text.data[0] == '-';
    struct span rest = {text.data + before, text.length - before};
    int64_t delay_ms = 0;
    bool has_unit = !decimal_only_digits(rest);
    return has_unit && delay_text_parse(rest, &delay_ms) == DECIMAL_READ && checked_add_i64(now_ms, before ? -delay_ms : delay_ms, at_ms);
}

bool api_parameter_time(struct http_request *request, const char *name, int64_t now_ms, bool *given, int64_t *value)
{
    struct span text = http_request_query(request, name);
    uint8_t copy[TIME_MAX];
    *given = text.data != NULL;
    if (!*given) {
        return true;
    }
    if (span_equals_text(text, "now")) {
        *value = now_ms;
        return true;
    }
    if (text.length <= sizeof(copy)) {
        struct span read = {copy, copy_time(text, copy)};
        if (time_text_parse(read, value) || letter_text_number(read, 0, TIME_TEXT_LAST_MS, value) || read_duration(read, now_ms, value)) {
            return true;
        }
    }
    return refuse(request, name, text, "a time: 2027-01-31T09:00:00Z, milliseconds since 1970, now, or from now on as 10m (-10m: before)");
}

/* "a, b, c" */
static void list(const char *const *words, char text[LIST_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; words[i] != NULL && used < LIST_SIZE; i++) {
        int length = snprintf(text + used, LIST_SIZE - used, "%s%s", i == 0 ? "" : ", ", words[i]);
        used += length > 0 ? (size_t)length : 0;
    }
}

static int index_of(const char *const *words, struct span word)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (span_equals_text(word, words[i])) {
            return i;
        }
    }
    return -1;
}

bool api_parameter_choice(struct http_request *request, const char *name, const char *const *choices, int *index)
{
    struct span text = http_request_query(request, name);
    char words[LIST_SIZE];
    char expected[LIST_SIZE + 16];
    *index = text.data == NULL ? -1 : index_of(choices, text);
    if (text.data == NULL || *index >= 0) {
        return true;
    }
    list(choices, words);
    (void)snprintf(expected, sizeof(expected), "one of: %s", words);
    return refuse(request, name, text, expected);
}

/* The known name that was meant perhaps, or NULL. */
static const char *near_of(const char *const *known, const char *name)
{
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; known[i] != NULL; i++) {
        size_t distance;
        if (config_near_is(name, known[i], &distance) && distance < least) {
            least = distance;
            nearest = known[i];
        }
    }
    return nearest;
}

static void refuse_unknown(struct http_request *request, const char *code, const char *what, const char *where, const char *const *known, struct span name)
{
    char words[LIST_SIZE];
    const char *near = near_of(known, show(name).text);
    list(known, words);
    api_answer_problem(request, 400, code, "Bad Request", "there is no %s \"%s\" %s%s%s%s%s", what, show(name).text, where,
                       near != NULL ? ": did you mean " : known[0] != NULL ? ": there are " : "", near != NULL ? near : words,
                       near != NULL ? "?" : "", "");
}

bool api_parameter_known(struct http_request *request, const char *const *known)
{
    for (size_t i = 0; i < request->query_count; i++) {
        struct span name = request->query[i].name;
        if (index_of(known, name) < 0) {
            refuse_unknown(request, "bad_parameter", "parameter", "here", known, name);
            return false;
        }
        for (size_t j = 0; j < i; j++) {
            if (span_equal(request->query[j].name, name)) {
                api_answer_problem(request, 400, "bad_parameter", "Bad Request", "%s is given twice: once is meant", show(name).text);
                return false;
            }
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------- the body */

static struct cJSON *refuse_json(struct http_request *request, size_t byte, const char *why)
{
    api_answer_problem(request, 400, "bad_json", "Bad Request", "the body is no JSON object: at byte %zu: %s", byte, why);
    return NULL;
}

/* The library reads more than JSON is, and ends texts at a NUL: what it gets is looked at before. */
static bool check_json(struct http_request *request, struct span body)
{
    struct json_scan scan;
    struct json_scan_value name;
    struct json_scan_value value;
    enum json_scan_step step = JSON_SCAN_FAILED;
    json_scan_begin(&scan, body);
    if (json_scan_enter(&scan)) {
        while ((step = json_scan_member(&scan, &name, &value)) == JSON_SCAN_MEMBER) {
        }
    }
    if (step != JSON_SCAN_END || !json_scan_finish(&scan)) {
        (void)refuse_json(request, json_scan_position(&scan), scan.trouble == NULL ? "something stands behind the object" : scan.trouble);
        return false;
    }
    return true;
}

/* Whose bytes are bounded may still be costly: each value takes some 70 bytes once it is read. They are counted by what stands before each, but for texts. */
static bool has_too_many_values(struct span body, size_t *byte)
{
    size_t count = 0;
    bool in_text = false;
    for (size_t i = 0; i < body.length; i++) {
        uint8_t at = body.data[i];
        if (at == '"') {
            in_text = !in_text;
        } else if (in_text && at == '\\') {
            i++; /* the escaped one */
        } else if (!in_text && (at == ',' || at == '[' || at == '{')) {
            count++;
            *byte = i;
        }
        if (count > VALUES_MOST) {
            return true;
        }
    }
    return false;
}

static bool names_nul(struct span body, size_t *byte)
{
    for (size_t i = 0; i + 1 < body.length; i++) {
        if (body.data[i] != '\\') {
            continue;
        }
        if (body.length - i >= 6 && memcmp(body.data + i, "\\u0000", 6) == 0) {
            *byte = i;
            return true;
        }
        i++; /* the escaped one */
    }
    return false;
}

static bool check_members(struct http_request *request, const struct cJSON *document, const char *const *known)
{
    for (const struct cJSON *member = document->child; member != NULL; member = member->next) {
        struct span name = span_of_text(member->string);
        if (index_of(known, name) < 0) {
            refuse_unknown(request, "unknown_member", "member", "of the body", known, name);
            return false;
        }
        for (const struct cJSON *earlier = document->child; earlier != member; earlier = earlier->next) {
            if (strcmp(earlier->string, member->string) == 0) {
                api_answer_problem(request, 400, "bad_json", "Bad Request", "the body has the member \"%s\" twice", show(name).text);
                return false;
            }
        }
    }
    return true;
}

struct cJSON *api_parameter_body(struct http_request *request, const char *const *known)
{
    struct span body = buffer_span(&request->upload);
    size_t byte = 0;
    if (!check_json(request, body)) {
        return NULL;
    }
    if (names_nul(body, &byte)) {
        return refuse_json(request, byte, "a text with a NUL byte: send it as base64, with an _encoding beside it");
    }
    if (has_too_many_values(body, &byte)) {
        return refuse_json(request, byte, "it has more than 20000 values");
    }
    struct cJSON *document = cJSON_ParseWithLength((const char *)body.data, body.length);
    if (document == NULL) {
        return refuse_json(request, 0, "it does not read; it is nested too deep, perhaps");
    }
    if (!check_members(request, document, known)) {
        cJSON_Delete(document);
        return NULL;
    }
    return document;
}
