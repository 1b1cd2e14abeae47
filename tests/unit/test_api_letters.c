/* Dead letters over HTTP, without JetStream: cursors, what of a letter is shown, and what is refused before anybody is asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "base/random.h"
#include "dlq/letter_json.h"
#include "ops/api_letters_cursor.h"
#include "ops/api_letters_scan.h"
#include "ops/api_letters_show.h"
#include "ops/http_uri.h"
#include "tests/support/sample_letter.h"

static const struct http_request_counts none;

/* ------------------------------------------------------------------------------------------------ cursors */

static void cursors_come_back(void **state)
{
    (void)state;
    struct random random = random_new(3);
    for (int i = 0; i < 3000; i++) {
        char text[API_LETTERS_CURSOR_SIZE];
        struct api_letters_cursor back;
        const struct api_letters_cursor cursor = {random_below(&random, 2) == 0 ? LETTER_WAITING : LETTER_PARKED, (int64_t)(random_next(&random) >> (1 + random_below(&random, 60))),
                                                  (int64_t)(random_next(&random) >> (1 + random_below(&random, 60)))};
        api_letters_cursor_text(&cursor, text);
        assert_int_equal(strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789."), strlen(text));
        assert_true(api_letters_cursor_read(span_of_text(text), &back));
        assert_int_equal(back.state, cursor.state);
        assert_int_equal(back.sequence, cursor.sequence);
        assert_int_equal(back.created_ms, cursor.created_ms);
    }
}

static void bad_cursors_are_refused(void **state)
{
    (void)state;
    char text[API_LETTERS_CURSOR_SIZE];
    char longer[200];
    const struct api_letters_cursor cursor = {LETTER_PARKED, INT64_MAX, INT64_MAX};
    struct api_letters_cursor back = {.sequence = 77};
    api_letters_cursor_text(&cursor, text);
    size_t length = strlen(text);
    for (size_t cut = 0; cut < length; cut++) {
        assert_false(api_letters_cursor_read((struct span){(const uint8_t *)text, cut}, &back));
    }
    for (size_t at = 0; at < length; at++) {
        char kept = text[at];
        text[at] = kept == '1' ? '2' : '1';
        assert_false(api_letters_cursor_read(span_of_text(text), &back));
        text[at] = kept;
    }
    memset(longer, '1', sizeof longer);
    assert_false(api_letters_cursor_read((struct span){(const uint8_t *)longer, sizeof longer}, &back));
    assert_false(api_letters_cursor_read(SPAN_ABSENT, &back));
    assert_false(api_letters_cursor_read(span_of_text("parked.-1.0.00000000"), &back));
    assert_int_equal(back.sequence, 77);
}

/* ------------------------------------------------------------------------------------------------ one letter */

static char *shown_with(enum config_payloads policy, bool payload, size_t bytes_most, const struct letter *letter)
{
    struct api api = {.payloads = policy};
    struct error error;
    struct buffer out = buffer_new(1u << 20);
    const struct api_letters_show show = {.api = &api, .payload = payload, .bytes_most = bytes_most};
    assert_true(api_letters_show(&show, LETTER_PARKED, letter, 100, &out, &error));
    buffer_add(&out, "", 1);
    return (char *)out.data;
}

static void check_shown(enum config_payloads policy, bool payload, size_t bytes_most, bool value, const char *payloads, bool cut)
{
    struct letter letter = sample_letter_plain();
    char *text = shown_with(policy, payload, bytes_most, &letter);
    cJSON *object = cJSON_Parse(text);
    const char *told = cJSON_GetStringValue(cJSON_GetObjectItem(object, "payloads"));
    assert_non_null(object);
    assert_int_equal(cJSON_HasObjectItem(object, "value"), value);
    assert_int_equal(cJSON_HasObjectItem(object, "key"), value);
    assert_int_equal(cJSON_HasObjectItem(object, "headers"), value);
    assert_string_equal(told == NULL ? "-" : told, payloads);
    assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItem(object, "cut")), cut);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(object, "state")), "parked");
    cJSON_Delete(object);
    free(text);
}

static void payloads_are_shown_as_the_configuration_says(void **state)
{
    (void)state;
    check_shown(CONFIG_PAYLOADS_FULL, true, 1000, true, "-", false);
    check_shown(CONFIG_PAYLOADS_FULL, false, 1000, false, "-", false);
    check_shown(CONFIG_PAYLOADS_FULL, true, 50, false, "-", true); /* the message has 100 bytes */
    check_shown(CONFIG_PAYLOADS_MASKED, true, 1000, false, "masked", false);
    check_shown(CONFIG_PAYLOADS_OFF, true, 1000, false, "off", false);
    check_shown(CONFIG_PAYLOADS_OFF, false, 50, false, "off", false);
}

/* What the command line prints, so that `tarry dlq import` reads it. */
static void a_whole_letter_is_what_the_command_line_prints(void **state)
{
    (void)state;
    struct random random = random_new(11);
    for (int i = 0; i < 200; i++) {
        struct sample_letter sample;
        struct error error;
        sample_letter_fill(&sample, &random);
        struct buffer wanted = buffer_new(1u << 24);
        assert_true(letter_json_write(&wanted, &sample.letter, LETTER_PARKED, true, &error));
        buffer_add(&wanted, "", 1);
        char *text = shown_with(CONFIG_PAYLOADS_FULL, true, 1000, &sample.letter);
        assert_string_equal(text, (const char *)wanted.data);
        free(text);
        buffer_free(&wanted);
        sample_letter_free(&sample);
    }
}

/* One that does not fit the answer with its record is shown without; nothing of a former try is left. */
static void what_does_not_fit_is_cut(void **state)
{
    (void)state;
    struct api api = {.payloads = CONFIG_PAYLOADS_FULL};
    struct error error;
    char value[5000];
    struct letter letter = sample_letter_plain();
    struct buffer out = buffer_new(4000);
    const struct api_letters_show show = {.api = &api, .payload = true, .bytes_most = 1u << 20};
    memset(value, 'v', sizeof value);
    letter.record.value = (struct span){(const uint8_t *)value, sizeof value};
    buffer_add_text(&out, "[");
    assert_true(api_letters_show(&show, LETTER_WAITING, &letter, 100, &out, &error));
    assert_false(out.full);
    buffer_add_text(&out, "]");
    cJSON *array = cJSON_ParseWithLength((const char *)out.data, out.length);
    assert_int_equal(cJSON_GetArraySize(array), 1);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(array->child, "cut")));
    assert_false(cJSON_HasObjectItem(array->child, "value"));
    cJSON_Delete(array);
    buffer_free(&out);
}

/* ------------------------------------------------------------------------------------------------ queries */

static bool read_query(const char *query, struct api_letters_scan *scan)
{
    scan->request = http_request_new(NULL, &none);
    assert_int_equal(http_uri_read(scan->request, SPAN_ABSENT, query, NULL), HTTP_URI_READ);
    return api_letters_scan_read(scan);
}

static void check_refused(const char *query, const char *part)
{
    struct api_letters_scan scan = {0};
    assert_false(read_query(query, &scan));
    buffer_add(&scan.request->body, "", 1);
    assert_int_equal(scan.request->status, 400);
    if (strstr((const char *)scan.request->body.data, part) == NULL || strstr((const char *)scan.request->body.data, "\"bad_parameter\"") == NULL) {
        print_error("%s: no \"%s\" in %s\n", query, part, (const char *)scan.request->body.data);
        fail();
    }
    http_request_free(scan.request);
}

static void queries_are_checked(void **state)
{
    (void)state;
    char query[200];
    char cursor[API_LETTERS_CURSOR_SIZE];
    struct api_letters_scan scan = {0};
    api_letters_cursor_text(&(struct api_letters_cursor){LETTER_WAITING, 17, 1000}, cursor);
    check_refused("state=dead", "waiting, parked");
    check_refused("reason=none_such", "no_time");
    check_refused("target=a%20b", "no name of a topic");
    check_refused("target=..", "no name of a topic");
    check_refused("cursor=waiting.17.1000.00000000", "none of ours");
    (void)snprintf(query, sizeof query, "state=parked&cursor=%s", cursor);
    check_refused(query, "the other state");
    (void)snprintf(query, sizeof query, "reason=no_time&target=_refused&cursor=%s", cursor);
    assert_true(read_query(query, &scan));
    assert_true(scan.filter.wants[LETTER_WAITING] && scan.filter.wants[LETTER_PARKED]);
    assert_int_equal(scan.filter.reason, LETTER_REASON_NO_TIME);
    assert_true(span_equals_text(scan.filter.target, "_refused"));
    assert_int_equal(scan.next.sequence, 17);
    http_request_free(scan.request);
    assert_true(read_query("state=parked", &scan));
    assert_int_equal(scan.next.state, LETTER_PARKED);
    assert_int_equal(scan.next.sequence, 0);
    assert_int_equal(scan.filter.reason, -1);
    http_request_free(scan.request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cursors_come_back),
        cmocka_unit_test(bad_cursors_are_refused),
        cmocka_unit_test(payloads_are_shown_as_the_configuration_says),
        cmocka_unit_test(a_whole_letter_is_what_the_command_line_prints),
        cmocka_unit_test(what_does_not_fit_is_cut),
        cmocka_unit_test(queries_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
