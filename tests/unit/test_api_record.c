/* Bodies of requests, and the records that are made of them: what is hostile or wrong is refused in words, and what is written means what was asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/memory.h"
#include "ops/api_record.h"
#include "support/sample_record.h"

#define NOW_MS SAMPLE_TIMESTAMP_MS
#define WORD "0123456789abcdef0123456789abcdef"

/* ------------------------------------------------------------------------------------------------- a body and what comes of it */

struct made {
    struct http_request *request;
    struct api_record record;
    struct span source;
    bool read; /* else the request is answered */
    struct decode_rules rules;
    bool right; /* it means what was asked for; else refusal */
    struct decoded decoded;
    struct refusal refusal;
};

static struct made made;

static void drop_made(void)
{
    if (made.read) {
        api_record_free(&made.record);
    }
    if (made.request != NULL) {
        http_request_free(made.request);
    }
    made = (struct made){0};
}

static bool read_body(const char *body, bool recurring)
{
    static const struct http_request_counts counts;
    drop_made();
    made.request = http_request_new(NULL, &counts);
    buffer_add_text(&made.request->upload, body);
    made.read = api_record_read(made.request, recurring, &made.record, &made.source);
    return made.read;
}

static bool check(const struct decode_rules *rules)
{
    made.rules = *rules;
    struct span id = made.record.id_given ? made.record.id : span_of_text("m-1");
    api_record_name(&made.record, id, span_of_text(WORD));
    made.right = api_record_check(&made.record, &made.rules, 3, NOW_MS, &made.decoded, &made.refusal);
    return made.right;
}

/* True: it would be written. */
static bool make_by(const char *body, bool recurring, const struct decode_rules *rules)
{
    if (!read_body(body, recurring)) {
        fail_msg("%s: %.*s", body, (int)made.request->body.length, (const char *)made.request->body.data);
    }
    return check(rules);
}

static bool make(const char *body)
{
    const struct decode_rules rules = sample_rules();
    return make_by(body, false, &rules);
}

static const struct record_header *find_header(const char *name)
{
    const struct record_header *found = NULL;
    for (size_t i = 0; i < made.record.header_count; i++) {
        if (span_equals_text(made.record.headers[i].name, name)) {
            assert_null(found);
            found = &made.record.headers[i];
        }
    }
    return found;
}

static bool has_header(const char *name, const char *value)
{
    const struct record_header *header = find_header(name);
    return header != NULL && span_equals_text(header->value, value);
}

/* ------------------------------------------------------------------------------------------------- what is right */

static void all_members(void **state)
{
    (void)state;
    assert_true(make("{\"source\":\"in\",\"topic\":\"orders.eu\",\"key\":\"k\",\"value\":\"{\\\"a\\\":1}\",\"headers\":[{\"name\":\"trace\",\"value\":\"7\"},"
                     "{\"name\":\"trace\",\"value\":null},{\"name\":\"raw\",\"value\":\"AP8=\",\"encoding\":\"base64\"}],\"id\":\"order-1\",\"at\":\"2026-11-30T00:00:00Z\","
                     "\"expires\":1799969999000,\"if_exists\":\"reject\",\"target_key\":\"out\",\"target_partition\":4}"));
    assert_true(span_equals_text(made.source, "in"));
    assert_true(span_equals_text(made.record.key, "k"));
    assert_true(span_equals_text(made.decoded.value, "{\"a\":1}"));
    assert_true(span_equals_text(made.decoded.target, "orders.eu"));
    assert_true(span_equals_text(made.decoded.id, "order-1"));
    assert_true(span_equals_text(made.decoded.key, "out"));
    assert_true(span_equals_text(made.decoded.request, WORD));
    assert_int_equal(made.decoded.partition, 4);
    assert_true(made.decoded.due_ms == INT64_C(1795996800000) && made.decoded.expires_ms == INT64_C(1799969999000));
    assert_true(made.decoded.conditional);
    assert_int_equal(made.record.own_count, 3);
    assert_true(made.record.headers[1].value.data == NULL && span_equals_text(made.record.headers[1].name, "trace"));
    assert_true(made.record.headers[2].value.length == 2 && made.record.headers[2].value.data[0] == 0 && made.record.headers[2].value.data[1] == 0xff);
}

static void times(void **state)
{
    (void)state;
    assert_true(make("{\"at\":1795961999000}") && made.decoded.due_ms == INT64_C(1795961999000) && has_header("tarry-at", "1795961999000"));
    assert_true(make("{\"at\":\"1795961999000\"}") && made.decoded.due_ms == INT64_C(1795961999000));
    assert_true(make("{\"at\":1795961999e3}") && made.decoded.due_ms == INT64_C(1795961999000));
    assert_true(make("{\"in\":\"10m\"}") && made.decoded.due_ms == NOW_MS + 600000 && has_header("tarry-delay", "10m"));
    assert_true(make("{\"in\":0}") && made.decoded.due_ms == NOW_MS);
    assert_true(make("{\"at\":\"2001-01-01T00:00:00Z\"}") && made.decoded.due_ms < NOW_MS); /* the past: at once */
}

static void refuses(const char *body, enum refusal_reason reason)
{
    if (make(body) || made.refusal.reason != reason) {
        fail_msg("%s: %s, not %s (%s)", body, refusal_name(made.refusal.reason), refusal_name(reason), made.refusal.text);
    }
    assert_true(made.refusal.text[0] != '\0');
}

static void times_that_are_none(void **state)
{
    (void)state;
    refuses("{\"at\":1795961999}", REFUSAL_SECONDS);
    refuses("{\"at\":\"1795961999\"}", REFUSAL_SECONDS);
    refuses("{\"at\":-1795961999000}", REFUSAL_BAD_TIME);
    refuses("{\"at\":\"tomorrow\"}", REFUSAL_BAD_TIME);
    refuses("{\"at\":\"2026-11-30T00:00:00\"}", REFUSAL_BAD_TIME);
    refuses("{\"at\":\"\"}", REFUSAL_BAD_TIME);
    refuses("{\"at\":\"9223372036854775807\"}", REFUSAL_TOO_FAR);
    refuses("{\"at\":9007199254740991}", REFUSAL_TOO_FAR);
    refuses("{\"at\":\"2099-01-01T00:00:00Z\"}", REFUSAL_TOO_FAR);
    refuses("{\"in\":\"-10m\"}", REFUSAL_BAD_TIME);
    refuses("{\"in\":\"10 m\"}", REFUSAL_BAD_TIME);
    refuses("{\"in\":\"99999999999999999999\"}", REFUSAL_BAD_TIME);
    refuses("{\"in\":\"400d\"}", REFUSAL_TOO_FAR);
    refuses("{}", REFUSAL_NO_TIME);
    refuses("{\"in\":\"1s\",\"expires\":5}", REFUSAL_SECONDS);
}

static void schedules(void **state)
{
    const struct decode_rules rules = sample_rules();
    (void)state;
    assert_true(make_by("{\"id\":\"s\",\"cron\":\"0 9 * * *\",\"tz\":\"Europe/Berlin\",\"until\":\"2027-06-01T00:00:00Z\",\"count\":5}", true, &rules));
    assert_true(made.decoded.undecided && made.decoded.recurrence.count == 5 && span_equals_text(made.decoded.recurrence.zone, "Europe/Berlin"));
    assert_true(make_by("{\"id\":\"s\",\"every\":\"10m\",\"in\":\"1s\"}", true, &rules));
    assert_true(made.decoded.due_ms == NOW_MS + 1000 && made.decoded.recurrence.every_ms == 600000);
    assert_true(make_by("{\"every\":60000}", true, &rules)); /* with an id that is made */
    assert_false(make_by("{\"id\":null,\"every\":60000}", true, &rules));
    assert_int_equal(made.refusal.reason, REFUSAL_BAD_ID);
    assert_false(make_by("{\"every\":10}", true, &rules));
    assert_int_equal(made.refusal.reason, REFUSAL_BAD_SCHEDULE);
    assert_false(make_by("{\"every\":\"1m\",\"tz\":\"\"}", true, &rules));
    assert_false(make_by("{\"every\":\"1m\",\"count\":0}", true, &rules));
    assert_false(read_body("{\"id\":\"s\"}", true));
    assert_false(read_body("{\"cron\":\"* * * * *\",\"every\":\"1m\"}", true));
    assert_false(read_body("{\"cron\":\"* * * * *\",\"in\":\"1s\"}", false)); /* of messages it is no member */
}

/* ------------------------------------------------------------------------------------------------- bytes of all kinds */

static void ids(void **state)
{
    char body[8192];
    char long_id[4100];
    (void)state;
    memset(long_id, 'x', sizeof(long_id));
    (void)snprintf(body, sizeof(body), "{\"in\":\"1s\",\"id\":\"%.4096s\"}", long_id);
    assert_true(make(body) && made.decoded.id.length == 4096);
    (void)snprintf(body, sizeof(body), "{\"in\":\"1s\",\"id\":\"%.4097s\"}", long_id);
    refuses(body, REFUSAL_BAD_ID);
    refuses("{\"in\":\"1s\",\"id\":\"\"}", REFUSAL_BAD_ID);
    assert_true(make("{\"in\":\"1s\",\"id\":null}") && made.decoded.id.data == NULL && find_header("tarry-id") == NULL);
    assert_true(make("{\"in\":\"1s\"}") && span_equals_text(made.decoded.id, "m-1"));
    assert_true(make("{\"in\":\"1s\",\"id\":\"AAEC/w==\",\"id_encoding\":\"base64\"}") && made.decoded.id.length == 4 && made.decoded.id.data[3] == 0xff);
    assert_true(make("{\"in\":\"1s\",\"id\":\"a/b\\n\\u00e9\"}") && span_equals_text(made.decoded.id, "a/b\n\xc3\xa9"));
}

static void nothing_is_put_into_headers(void **state)
{
    (void)state;
    /* lines, names of ours and of headers stay bytes of one value */
    assert_true(make("{\"in\":\"1s\",\"id\":\"a\\r\\ntarry-topic: payments\",\"headers\":[{\"name\":\"x\\ntarry-topic\",\"value\":\"payments\"}]}"));
    assert_true(span_equals_text(made.decoded.target, "events"));
    assert_true(has_header("x\ntarry-topic", "payments"));
    refuses("{\"in\":\"1s\",\"headers\":[{\"name\":\"tarry-topic\",\"value\":\"payments\"}]}", REFUSAL_UNSUPPORTED);
    refuses("{\"in\":\"1s\",\"headers\":[{\"name\":\"tarry-root\",\"value\":\"3:1\"}]}", REFUSAL_UNSUPPORTED);
    refuses("{\"in\":\"1s\",\"headers\":[{\"name\":\"tarry-request\",\"value\":\"x\"}]}", REFUSAL_UNSUPPORTED);
    refuses("{\"in\":\"1s\",\"headers\":[{\"name\":\"tarry-anything\",\"value\":\"x\"}]}", REFUSAL_UNSUPPORTED);
    refuses("{\"headers\":[{\"name\":\"delay_ms\",\"value\":\"5\"}]}", REFUSAL_UNSUPPORTED);
    refuses("{\"in\":\"1s\",\"topic\":\"nowhere\"}", REFUSAL_TARGET_NOT_ALLOWED);
    refuses("{\"in\":\"1s\",\"topic\":\"a\\nb\"}", REFUSAL_BAD_TARGET);
    refuses("{\"in\":\"1s\",\"topic\":\"\"}", REFUSAL_BAD_TARGET);
}

static void keys_and_values(void **state)
{
    (void)state;
    assert_true(make("{\"in\":\"1s\"}") && made.decoded.key.data == NULL && made.decoded.value.data == NULL);
    assert_true(make("{\"in\":\"1s\",\"key\":null,\"value\":null}") && made.decoded.key.data == NULL && made.decoded.value.data == NULL);
    assert_true(make("{\"in\":\"1s\",\"key\":\"\",\"value\":\"\"}") && made.decoded.key.data != NULL && made.decoded.key.length == 0 && made.decoded.value.data != NULL);
    assert_true(make("{\"in\":\"1s\",\"key\":\"k\",\"target_key\":null}") && made.decoded.key.data == NULL);
    assert_true(make("{\"in\":\"1s\",\"key\":\"k\",\"target_key\":\"\"}") && made.decoded.key.data != NULL && made.decoded.key.length == 0);
    assert_true(make("{\"in\":\"1s\",\"value\":\"\",\"value_encoding\":\"base64\"}") && made.decoded.value.data != NULL && made.decoded.value.length == 0);
    assert_true(make("{\"in\":\"1s\",\"value\":\"AAH+/w==\",\"value_encoding\":\"base64\"}") && made.decoded.value.length == 4);
    assert_true(make("{\"in\":\"1s\",\"value\":\"a\\\\u0000b\"}") && span_equals_text(made.decoded.value, "a\\u0000b"));
}

/* ------------------------------------------------------------------------------------------------- 400 */

static void answered(const char *body, const char *code)
{
    char wanted[64];
    (void)snprintf(wanted, sizeof(wanted), "\"%s\"", code);
    if (read_body(body, false)) {
        fail_msg("taken: %s", body);
    }
    assert_int_equal(made.request->status, 400);
    buffer_add(&made.request->body, "", 1);
    if (strstr((const char *)made.request->body.data, wanted) == NULL) {
        fail_msg("%s: %s", body, (const char *)made.request->body.data);
    }
}

static void bodies_that_are_none(void **state)
{
    static const char *const no_json[] = {"", "null", "[]", "{", "{\"in\":\"1s\"} x", "{\"in\":\"1s\",}", "{\"value\":\"a\\u0000b\"}", "{\"value\":\"\xff\"}",
                                          "{\"value\":\"\\ud800\"}", "{\"in\":1,\"in\":2}", "{'in':1}", "{\"in\":01}", "{\"in\":NaN}", "{\"id\":\"\n\"}"};
    static const char *const bad[] = {
        "{\"value\":{}}", "{\"value\":5}", "{\"value\":[]}", "{\"key\":true}", "{\"id\":5}", "{\"at\":true}", "{\"at\":null}", "{\"at\":1.5}", "{\"at\":1e300}",
        "{\"in\":9007199254740993}", "{\"in\":-1e17}", "{\"at\":1795961999000,\"in\":\"1s\"}", "{\"topic\":5}", "{\"topic\":null}", "{\"source\":[]}",
        "{\"target_partition\":-1}", "{\"target_partition\":1.5}", "{\"target_partition\":\"1\"}", "{\"target_partition\":2147483648}",
        "{\"value\":\"@\",\"value_encoding\":\"base64\"}", "{\"value\":\"QQ\",\"value_encoding\":\"base64\"}", "{\"value\":\"a\",\"value_encoding\":\"hex\"}",
        "{\"value\":\"a\",\"value_encoding\":5}", "{\"headers\":{}}", "{\"headers\":[5]}", "{\"headers\":[{}]}", "{\"headers\":[{\"name\":5}]}",
        "{\"headers\":[{\"name\":\"a\",\"value\":5}]}", "{\"headers\":[{\"name\":\"a\",\"vaule\":\"b\"}]}", "{\"headers\":[{\"name\":\"a\",\"value\":\"b\",\"value\":\"c\"}]}",
        "{\"headers\":[{\"name\":\"a\",\"value\":\"@\",\"encoding\":\"base64\"}]}", "{\"if_exists\":null}"};
    (void)state;
    for (size_t i = 0; i < sizeof(no_json) / sizeof(no_json[0]); i++) {
        answered(no_json[i], "bad_json");
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        answered(bad[i], "bad_body");
    }
    answered("{\"delay\":5}", "unknown_member");
    refuses("{\"in\":\"1s\",\"if_exists\":\"skip\"}", REFUSAL_UNSUPPORTED);
}

static void too_many_headers(void **state)
{
    struct buffer body = buffer_new(1 << 20);
    (void)state;
    for (int many = 0; many < 2; many++) {
        buffer_clear(&body);
        buffer_add_text(&body, "{\"in\":\"1s\",\"headers\":[");
        for (int i = 0; i < API_RECORD_HEADERS_MAX + many; i++) {
            buffer_add_format(&body, "%s{\"name\":\"h\",\"value\":\"%d\"}", i == 0 ? "" : ",", i);
        }
        buffer_add_text(&body, "]}");
        buffer_add(&body, "", 1);
        assert_int_equal(many == 0 ? make((const char *)body.data) : !read_body((const char *)body.data, false), true);
    }
    buffer_free(&body);
}

/* ------------------------------------------------------------------------------------------------- rules of the source */

static void an_envelope_says_what_it_says(void **state)
{
    struct decode_rules rules = sample_rules();
    (void)state;
    rules.envelope = true;
    assert_true(make_by("{\"value\":\"{\\\"type\\\":\\\"PAYMENT_TIMEOUT\\\",\\\"payload\\\":{\\\"a\\\":1}}\",\"in\":\"1s\"}", false, &rules));
    assert_true(span_equals_text(made.decoded.target, "payments") && span_equals_text(made.decoded.value, "{\"a\":1}"));
    assert_false(make_by("{\"value\":\"no envelope\",\"in\":\"1s\"}", false, &rules));
    assert_int_equal(made.refusal.reason, REFUSAL_BAD_ENVELOPE);
    assert_false(make_by("{\"value\":\"{\\\"payload\\\":1,\\\"id\\\":\\\"its\\\"}\",\"in\":\"1s\",\"id\":null}", false, &rules)); /* an id nobody asked for */
    assert_int_equal(made.refusal.reason, REFUSAL_AMBIGUOUS);
}

static void spread_moves_it(void **state)
{
    struct decode_rules rules = sample_rules();
    (void)state;
    rules.topic = "in";
    rules.spread_ms = 60000;
    assert_true(make_by("{\"in\":\"1s\",\"id\":\"spread-me\"}", false, &rules));
    assert_true(made.decoded.due_ms >= NOW_MS + 1000 && made.decoded.due_ms < NOW_MS + 61000);
    assert_true(make_by("{\"at\":1795961999000,\"id\":null}", false, &rules));
}

static void headers_of_other_dialects_are_not_a_persons(void **state)
{
    struct decode_rules rules = sample_rules();
    const struct dialect *const both[] = {dialect_tarry_alone[0], dialect_preset(span_of_text("rabbitmq"))};
    (void)state;
    rules.dialects = both;
    rules.dialect_count = 2;
    assert_false(make_by("{\"in\":\"1s\",\"headers\":[{\"name\":\"x-delay\",\"value\":\"5\"}]}", false, &rules));
    assert_int_equal(made.refusal.reason, REFUSAL_UNSUPPORTED);
}

static void cancels(void **state)
{
    const struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct refusal refusal;
    struct api_record record;
    static char long_id[4097];
    (void)state;
    api_record_cancel(span_of_text("x"), SPAN_ABSENT, &record);
    api_record_name(&record, span_of_text("x"), span_of_text(WORD));
    assert_true(api_record_check(&record, &rules, 0, NOW_MS, &decoded, &refusal));
    assert_true(decoded.action == DECODE_CANCEL && span_equals_text(decoded.id, "x") && span_equals_text(decoded.request, WORD));
    struct request_sink_record sent = api_record_sent(&record, "in", 7);
    assert_true(sent.partition == 7 && sent.header_count == 3 && sent.key.data == NULL && sent.value.data == NULL);
    api_record_free(&record);
    memset(long_id, 'x', sizeof(long_id));
    struct span id = {(const uint8_t *)long_id, sizeof(long_id)};
    api_record_cancel(id, SPAN_ABSENT, &record);
    api_record_name(&record, id, span_of_text(WORD));
    assert_false(api_record_check(&record, &rules, 0, NOW_MS, &decoded, &refusal));
    assert_int_equal(refusal.reason, REFUSAL_BAD_ID);
    api_record_free(&record);
}

static int end(void **state)
{
    (void)state;
    drop_made();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_members),
        cmocka_unit_test(times),
        cmocka_unit_test(times_that_are_none),
        cmocka_unit_test(schedules),
        cmocka_unit_test(ids),
        cmocka_unit_test(nothing_is_put_into_headers),
        cmocka_unit_test(keys_and_values),
        cmocka_unit_test(bodies_that_are_none),
        cmocka_unit_test(too_many_headers),
        cmocka_unit_test(an_envelope_says_what_it_says),
        cmocka_unit_test(spread_moves_it),
        cmocka_unit_test(headers_of_other_dialects_are_not_a_persons),
        cmocka_unit_test(cancels),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
