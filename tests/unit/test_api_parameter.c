/* What is asked for, in the query, and how bytes and times are answered. (Bodies: test_http_guards.c.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "ops/api.h"
#include "ops/http_uri.h"
#include "ops/json.h"

static const struct http_request_counts none;

static struct http_request *request_of(const char *query)
{
    struct http_request *request = http_request_new(NULL, &none);
    assert_int_equal(http_uri_read(request, SPAN_ABSENT, query, NULL), HTTP_URI_READ);
    return request;
}

/* The answer is a problem whose detail has the part. */
static void check_problem(struct http_request *request, const char *code, const char *part)
{
    cJSON *document = cJSON_ParseWithLength((const char *)request->body.data, request->body.length);
    assert_non_null(document);
    assert_int_equal(request->status, 400);
    assert_string_equal(request->content_type, "application/problem+json");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(document, "code")), code);
    const char *detail = cJSON_GetStringValue(cJSON_GetObjectItem(document, "detail"));
    if (detail == NULL || strstr(detail, part) == NULL) {
        print_error("no \"%s\" in: %s\n", part, detail);
        fail();
    }
    cJSON_Delete(document);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        int64_t wanted; /* -1: refused */
    } cases[] = {{"limit=1", 1},   {"limit=1000", 1000}, {"", 50},          {"other=7", 50},   {"limit=1&limit=2", 1}, {"limit=0", -1},     {"limit=1001", -1}, {"limit=", -1},
                 {"limit=+5", -1}, {"limit=5x", -1},     {"limit=0x5", -1}, {"limit=5.0", -1}, {"limit=%205", -1},     {"limit=5%00", -1}, {"limit", -1},      {"limit=99999999999999999999", -1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_request *request = request_of(cases[i].query);
        int64_t value = -2;
        bool read = api_parameter_number(request, "limit", 1, 1000, 50, &value);
        assert_int_equal(read, cases[i].wanted >= 0);
        if (read) {
            assert_int_equal(value, cases[i].wanted);
        } else {
            check_problem(request, "bad_parameter", "is not a whole number from 1 to 1000");
        }
        http_request_free(request);
    }
}

static void test_times(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        int64_t wanted; /* -1: refused */
    } cases[] = {
        {"at=now", 1000000000},
        {"at=5000", 5000},
        {"at=10m", 1000600000},
        {"at=-10m", 999400000},
        {"at=1h30m", 1005400000},
        {"at=1970-01-01T00:00:01Z", 1000},
        {"at=1970-01-01T02:00:01%2B02:00", 1000},
        {"at=1970-01-01T02:00:01+02:00", 1000}, /* a plus that was not encoded */
        {"at=", -1},
        {"at=-", -1},
        {"at=-5", -1},
        {"at=tomorrow", -1},
        {"at=1970-01-01", -1},
        {"at=1970-01-01T00:00:01", -1},
        {"at=99999999999999999999d", -1},
        {"at=253402300800000", -1},
        {"at=1234567890123456789012345678901234567890123456789012345678901234567890", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_request *request = request_of(cases[i].query);
        int64_t value = -2;
        bool given = false;
        bool read = api_parameter_time(request, "at", 1000000000, &given, &value);
        assert_true(given);
        if (read != (cases[i].wanted >= 0) || (read && value != cases[i].wanted)) {
            print_error("%s: %d, %lld\n", cases[i].query, read, (long long)value);
            fail();
        }
        if (!read) {
            check_problem(request, "bad_parameter", "is not a time");
        }
        http_request_free(request);
    }
    struct http_request *request = request_of("");
    bool given = true;
    int64_t value = 7;
    assert_true(api_parameter_time(request, "at", 0, &given, &value));
    assert_false(given);
    assert_int_equal(value, 7);
    http_request_free(request);
}

static void test_choices(void **state)
{
    (void)state;
    static const char *const choices[] = {"pending", "paused", NULL};
    int index = 7;
    struct http_request *request = request_of("state=paused");
    assert_true(api_parameter_choice(request, "state", choices, &index));
    assert_int_equal(index, 1);
    assert_true(api_parameter_choice(request, "other", choices, &index));
    assert_int_equal(index, -1);
    http_request_free(request);
    request = request_of("state=Paused");
    assert_false(api_parameter_choice(request, "state", choices, &index));
    check_problem(request, "bad_parameter", "state: \"Paused\" is not one of: pending, paused");
    http_request_free(request);
    request = request_of("state=%1b[31m%00");
    assert_false(api_parameter_choice(request, "state", choices, &index));
    check_problem(request, "bad_parameter", "\\x1b[31m\\x00"); /* nothing of it reaches a terminal as it is */
    http_request_free(request);
}

static void test_known(void **state)
{
    (void)state;
    static const char *const known[] = {"limit", "cursor", NULL};
    static const char *const nothing[] = {NULL};
    struct http_request *request = request_of("limit=1&cursor=");
    assert_true(api_parameter_known(request, known));
    assert_false(api_parameter_known(request, nothing));
    check_problem(request, "bad_parameter", "there is no parameter \"limit\" here");
    http_request_free(request);
    request = request_of("limt=1");
    assert_false(api_parameter_known(request, known));
    check_problem(request, "bad_parameter", "did you mean limit?");
    http_request_free(request);
    request = request_of("xyz=1");
    assert_false(api_parameter_known(request, known));
    check_problem(request, "bad_parameter", "there are limit, cursor");
    http_request_free(request);
    request = request_of("limit=1&limit=1");
    assert_false(api_parameter_known(request, known));
    check_problem(request, "bad_parameter", "limit is given twice");
    http_request_free(request);
}

static char *print(struct cJSON *document)
{
    char *text = cJSON_PrintUnformatted(document);
    assert_non_null(text);
    cJSON_Delete(document);
    return text;
}

static void test_bytes(void **state)
{
    (void)state;
    struct cJSON *document = json_object();
    api_answer_add_bytes(document, "a", span_of_text("x\"\\\n\xE2\x82\xAC"));
    api_answer_add_bytes(document, "b", SPAN_ABSENT);
    api_answer_add_bytes(document, "c", span_of_text(""));
    api_answer_add_bytes(document, "d", (struct span){(const uint8_t *)"\xff", 1});
    api_answer_add_bytes(document, "e", (struct span){(const uint8_t *)"a\0b", 3});
    char *text = print(document);
    assert_string_equal(text, "{\"a\":\"x\\\"\\\\\\n\xE2\x82\xAC\",\"b\":null,\"c\":\"\",\"d\":\"/w==\",\"d_encoding\":\"base64\",\"e\":\"YQBi\",\"e_encoding\":\"base64\"}");
    cJSON_free(text);
}

static void test_time_answers(void **state)
{
    (void)state;
    struct cJSON *document = json_object();
    api_answer_add_time(document, "a", 1798761600123);
    api_answer_add_time(document, "b", TIME_NEVER);
    api_answer_add_time(document, "c", INT64_C(253402300800000));
    char *text = print(document);
    assert_string_equal(text, "{\"a\":\"2027-01-01T00:00:00.123Z\",\"a_ms\":1798761600123,\"b\":null,\"b_ms\":null,\"c\":null,\"c_ms\":253402300800000}");
    cJSON_free(text);
}

static void test_problem_members(void **state)
{
    (void)state;
    struct http_request *request = request_of("");
    struct cJSON *members = json_object();
    json_add_text(members, "owner", "other:7411");
    json_add_number(members, "partition", 3);
    request->allow_retry_s = "1";
    api_answer_problem(request, 503, "unavailable", "Service Unavailable", "%s", "first");
    api_answer_problem_with(request, 421, "not_owner", "Misdirected Request", "it \"says\"", members);
    buffer_add(&request->body, "", 1);
    assert_string_equal((const char *)request->body.data,
                        "{\"type\":\"about:blank\",\"title\":\"Misdirected Request\",\"status\":421,\"code\":\"not_owner\",\"detail\":\"it \\\"says\\\"\",\"owner\":\"other:7411\",\"partition\":3}\n");
    assert_int_equal(request->status, 421);
    assert_null(request->allow_retry_s);
    http_request_free(request);
}

/* Each value of a body costs some 70 bytes once it is read, so not their bytes alone are bounded. */
static void test_many_values(void **state)
{
    (void)state;
    static const char *const known[] = {"headers", "value", NULL};
    struct http_request *request = request_of("");
    buffer_add_text(&request->upload, "{\"headers\":[1");
    for (int i = 0; i < 1000000; i++) {
        buffer_add_text(&request->upload, ",1");
    }
    buffer_add_text(&request->upload, "]}");
    assert_null(api_parameter_body(request, known));
    check_problem(request, "bad_json", "more than 20000 values");
    http_request_free(request);
    request = request_of("");
    buffer_add_text(&request->upload, "{\"value\":\"\\\""); /* in a text they are none */
    for (int i = 0; i < 100000; i++) {
        buffer_add_text(&request->upload, ",[{:");
    }
    buffer_add_text(&request->upload, "\"}");
    struct cJSON *document = api_parameter_body(request, known);
    assert_non_null(document);
    cJSON_Delete(document);
    http_request_free(request);
}

/* Cut within a character, it would be no JSON. */
static void test_long_detail(void **state)
{
    (void)state;
    char text[2048] = "";
    for (int i = 0; i < 600; i++) {
        (void)memcpy(text + i * 3, "\xE2\x82\xAC", 4);
    }
    for (int shift = 0; shift < 3; shift++) {
        struct http_request *request = request_of("");
        api_answer_problem(request, 400, "bad_parameter", "Bad Request", "%.*s%s", shift, "xx", text);
        assert_true(text_is_utf8(buffer_span(&request->body)));
        assert_non_null(memmem(request->body.data, request->body.length, "\xE2\x82\xAC\"", 4));
        http_request_free(request);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_times),        cmocka_unit_test(test_choices),         cmocka_unit_test(test_known),
        cmocka_unit_test(test_bytes),   cmocka_unit_test(test_time_answers), cmocka_unit_test(test_problem_members), cmocka_unit_test(test_many_values), cmocka_unit_test(test_long_detail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
