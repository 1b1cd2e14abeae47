/* Who has changed what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/log.h"
#include "ops/api_audit.h"

static char logged[512];

static void take_log(const struct log_entry *entry, void *context)
{
    size_t used = 0;
    (void)context;
    used += (size_t)snprintf(logged, sizeof(logged), "%s", entry->event);
    for (size_t i = 0; i < entry->field_count; i++) {
        used += (size_t)snprintf(logged + used, sizeof(logged) - used, " %s=%s", entry->fields[i].name, entry->fields[i].text);
    }
}

static const char *text_of(const cJSON *item, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, name));
}

static void newest_first_and_bounded(void **state)
{
    struct api_audit *audit = api_audit_new();
    char id[16];
    (void)state;
    for (int i = 0; i < API_AUDIT_ENTRIES + 5; i++) {
        (void)snprintf(id, sizeof(id), "id-%d", i);
        api_audit_note(audit, (struct wall_ms){1800000000000 + i}, "token", "schedule", "id", span_of_text(id), "scheduled");
    }
    struct cJSON *document = api_audit_json(audit);
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(document, "items");
    assert_int_equal(cJSON_GetArraySize(items), API_AUDIT_ENTRIES);
    assert_string_equal(text_of(cJSON_GetArrayItem(items, 0), "id"), "id-1004");
    assert_string_equal(text_of(cJSON_GetArrayItem(items, API_AUDIT_ENTRIES - 1), "id"), "id-5");
    assert_string_equal(text_of(cJSON_GetArrayItem(items, 0), "at"), "2027-01-15T08:00:01.004Z");
    assert_string_equal(text_of(cJSON_GetArrayItem(items, 0), "actor"), "token");
    assert_string_equal(text_of(cJSON_GetArrayItem(items, 0), "action"), "schedule");
    assert_string_equal(text_of(cJSON_GetArrayItem(items, 0), "result"), "scheduled");
    cJSON_Delete(document);
    api_audit_free(audit);
}

/* Whatever bytes an id has, a log line stays one, and no longer than it may be. */
static void ids_are_made_harmless(void **state)
{
    static const char wild[] = "a\nb\x1b[31m\xff\0c";
    static char huge[4096];
    struct api_audit *audit = api_audit_new();
    (void)state;
    log_sink_set(take_log, NULL);
    api_audit_note(audit, (struct wall_ms){1}, "uid 1000", "cancel", "id", (struct span){(const uint8_t *)wild, sizeof(wild) - 1}, "cancelled");
    assert_string_equal(logged, "audit actor=uid 1000 action=cancel id=a\\nb\\x1b[31m\\xff\\x00c result=cancelled");
    memset(huge, 'x', sizeof(huge));
    api_audit_note(audit, (struct wall_ms){2}, "token", "schedule", "id", (struct span){(const uint8_t *)huge, sizeof(huge)}, "refused");
    assert_true(strlen(logged) < 300);
    assert_non_null(strstr(logged, "x... result=refused"));
    api_audit_note(audit, (struct wall_ms){3}, "token", "schedule", "id", SPAN_ABSENT, "scheduled");
    log_sink_set(NULL, NULL);
    struct cJSON *document = api_audit_json(audit);
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(document, "items");
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(items, 0), "id")));
    assert_string_equal(text_of(cJSON_GetArrayItem(items, 2), "id"), "a\\nb\\x1b[31m\\xff\\x00c");
    cJSON_Delete(document);
    api_audit_free(audit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newest_first_and_bounded),
        cmocka_unit_test(ids_are_made_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
