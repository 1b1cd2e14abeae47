/* Answers of the API: see api.h. */
#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "dlq/letter_text.h"
#include "ops/api.h"
#include "ops/clock.h"
#include "ops/http_problem.h"
#include "ops/json.h"

#define DETAIL_SIZE 1024
#define YEAR_1_MS INT64_C(-62135596800000)
#define YEAR_10000_MS INT64_C(253402300800000)

static void begin(struct http_request *request, unsigned status, const char *content_type)
{
    buffer_clear(&request->body);
    request->status = status;
    request->content_type = content_type;
    request->allow_retry_s = NULL;
}

void api_answer_json(struct http_request *request, unsigned status, struct cJSON *document)
{
    begin(request, status, "application/json");
    json_print(document, &request->body);
}

void api_answer_problem_with(struct http_request *request, unsigned status, const char *code, const char *title, const char *detail, struct cJSON *members)
{
    struct cJSON *document = json_object();
    json_add_text(document, "type", "about:blank");
    json_add_text(document, "title", title);
    json_add_number(document, "status", status);
    json_add_text(document, "code", code);
    json_add_text(document, "detail", detail);
    while (members != NULL && members->child != NULL) {
        struct cJSON *member = cJSON_DetachItemViaPointer(members, members->child);
        char *name = memory_text(member->string, strlen(member->string)); /* which adding frees */
        (void)cJSON_AddItemToObject(document, name, member);
        free(name);
    }
    cJSON_Delete(members);
    begin(request, status, HTTP_PROBLEM_CONTENT_TYPE);
    json_print(document, &request->body);
}

/* What did not fit is cut at a whole character: the rest would be no JSON. */
static void end_whole(char *text, size_t length)
{
    size_t whole = 0;
    for (size_t character = 1; whole < length && character > 0; whole += character) {
        character = text_utf8_length((const uint8_t *)text + whole, length - whole);
    }
    text[whole] = '\0';
}

void api_answer_problem(struct http_request *request, unsigned status, const char *code, const char *title, const char *format, ...)
{
    char detail[DETAIL_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(detail, sizeof(detail), format, arguments);
    va_end(arguments);
    if (length >= DETAIL_SIZE) {
        end_whole(detail, DETAIL_SIZE - 1);
    }
    api_answer_problem_with(request, status, code, title, detail, NULL);
}

static void add_base64(struct cJSON *object, const char *name, struct span bytes)
{
    char encoding_name[128];
    struct buffer text = buffer_new(bytes.length / 3 * 4 + 8);
    letter_text_add_base64(&text, bytes);
    buffer_add(&text, "", 1);
    json_add_text(object, name, (const char *)text.data);
    (void)snprintf(encoding_name, sizeof(encoding_name), "%s_encoding", name);
    json_add_text(object, encoding_name, "base64");
    buffer_free(&text);
}

void api_answer_add_bytes(struct cJSON *object, const char *name, struct span bytes)
{
    if (bytes.data == NULL) {
        (void)cJSON_AddNullToObject(object, name);
    } else if (letter_text_clean(bytes)) {
        char *text = memory_text(bytes.data, bytes.length);
        json_add_text(object, name, text);
        free(text);
    } else {
        add_base64(object, name, bytes);
    }
}

void api_answer_add_time(struct cJSON *object, const char *name, int64_t at_ms)
{
    char number_name[128];
    char text[CLOCK_TEXT_SIZE];
    (void)snprintf(number_name, sizeof(number_name), "%s_ms", name);
    if (at_ms >= YEAR_1_MS && at_ms < YEAR_10000_MS) {
        (void)clock_text((struct wall_ms){at_ms}, text, sizeof(text));
        json_add_text(object, name, text);
    } else {
        (void)cJSON_AddNullToObject(object, name);
    }
    if (at_ms == TIME_NEVER) {
        (void)cJSON_AddNullToObject(object, number_name);
    } else {
        json_add_number(object, number_name, (double)at_ms);
    }
}
