/* Readiness and health documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "ops/health.h"

static cJSON *document(void (*make)(const struct health *, struct buffer *), const struct health *health)
{
    struct buffer buffer = buffer_new(65536);
    make(health, &buffer);
    assert_false(buffer.full);
    cJSON *parsed = cJSON_ParseWithLength((const char *)buffer.data, buffer.length);
    assert_non_null(parsed);
    buffer_free(&buffer);
    return parsed;
}

static const char *text_at(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    assert_non_null(text);
    return text;
}

static void test_ready(void **state)
{
    (void)state;
    const struct health_component components[] = {
        {.name = "kafka", .status = HEALTH_UP, .required = true},
        {.name = "extra", .status = HEALTH_DOWN, .required = false, .code = "x", .message = "y"},
    };
    struct health health = {components, 2, {1764425574123}};
    assert_true(health_ready(&health));
    cJSON *ready = document(health_readiness_json, &health);
    assert_string_equal(text_at(ready, "status"), "ready");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(ready, "reasons")), 0);
    cJSON_Delete(ready);
    cJSON *full = document(health_json, &health);
    assert_string_equal(text_at(full, "status"), "UP");
    assert_string_equal(text_at(full, "timestamp"), "2025-11-29T14:12:54.123Z");
    const cJSON *extra = cJSON_GetObjectItem(cJSON_GetObjectItem(full, "components"), "extra");
    assert_string_equal(text_at(extra, "status"), "DOWN");
    cJSON_Delete(full);
}

static void test_not_ready_says_why(void **state)
{
    (void)state;
    const struct health_detail details[] = {{"partitions", NULL, 8}, {"path", "/var/lib/tarry", 0}};
    const struct health_component components[] = {
        {"intake", HEALTH_OUT_OF_SERVICE, true, "loading", "8 partitions are still being read", details, 2},
        {"kafka", HEALTH_DOWN, true, "kafka_unreachable", "no \"broker\" answers", NULL, 0},
        {"store", HEALTH_UP, true, NULL, NULL, NULL, 0},
    };
    struct health health = {components, 3, {0}};
    assert_false(health_ready(&health));
    cJSON *ready = document(health_readiness_json, &health);
    assert_string_equal(text_at(ready, "status"), "not_ready");
    const cJSON *reasons = cJSON_GetObjectItem(ready, "reasons");
    assert_int_equal(cJSON_GetArraySize(reasons), 2);
    assert_string_equal(text_at(cJSON_GetArrayItem(reasons, 0), "code"), "loading");
    assert_string_equal(text_at(cJSON_GetArrayItem(reasons, 1), "component"), "kafka");
    assert_string_equal(text_at(cJSON_GetArrayItem(reasons, 1), "message"), "no \"broker\" answers");
    cJSON_Delete(ready);
    cJSON *full = document(health_json, &health);
    assert_string_equal(text_at(full, "status"), "DOWN");
    const cJSON *intake = cJSON_GetObjectItem(cJSON_GetObjectItem(full, "components"), "intake");
    assert_string_equal(text_at(intake, "status"), "OUT_OF_SERVICE");
    const cJSON *shown = cJSON_GetObjectItem(intake, "details");
    assert_int_equal(cJSON_GetObjectItem(shown, "partitions")->valueint, 8);
    assert_string_equal(text_at(shown, "path"), "/var/lib/tarry");
    assert_string_equal(text_at(shown, "code"), "loading");
    cJSON_Delete(full);
}

static void test_worst_status_wins(void **state)
{
    (void)state;
    static const struct {
        enum health_status a, b;
        const char *expected;
    } cases[] = {
        {HEALTH_UP, HEALTH_UP, "UP"},
        {HEALTH_UP, HEALTH_UNKNOWN, "UNKNOWN"},
        {HEALTH_OUT_OF_SERVICE, HEALTH_UNKNOWN, "OUT_OF_SERVICE"},
        {HEALTH_OUT_OF_SERVICE, HEALTH_DOWN, "DOWN"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int turned = 0; turned < 2; turned++) {
            const struct health_component components[] = {
                {.name = "a", .status = turned ? cases[i].b : cases[i].a, .required = true},
                {.name = "b", .status = turned ? cases[i].a : cases[i].b, .required = true},
            };
            struct health health = {components, 2, {0}};
            cJSON *full = document(health_json, &health);
            assert_string_equal(text_at(full, "status"), cases[i].expected);
            assert_int_equal(health_ready(&health), strcmp(cases[i].expected, "UP") == 0);
            cJSON_Delete(full);
        }
    }
}

static void test_any_bytes(void **state)
{
    (void)state;
    const struct health_detail details[] = {{"x\xFF", "\xC0\x80\x01", 0}, {"nan", NULL, __builtin_nan("")}};
    const struct health_component components[] = {{"\xFE", HEALTH_DOWN, true, "a\xED\xA0\x80", "b\x80", details, 2}};
    struct health health = {components, 1, {0}};
    cJSON *full = document(health_json, &health);
    const cJSON *component = cJSON_GetObjectItem(cJSON_GetObjectItem(full, "components"), "\xEF\xBF\xBD");
    assert_string_equal(text_at(cJSON_GetObjectItem(component, "details"), "message"), "b\xEF\xBF\xBD");
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetObjectItem(component, "details"), "nan")));
    cJSON_Delete(full);
    health.component_count = 0;
    assert_true(health_ready(&health));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ready),
        cmocka_unit_test(test_not_ready_says_why),
        cmocka_unit_test(test_worst_status_wins),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
