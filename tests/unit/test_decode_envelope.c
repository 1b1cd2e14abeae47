/* The JSON envelope: docs/semantics.md, "Records in". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "support/json_oracle.h"
#include "support/sample_record.h"

static struct decode_rules envelope_rules(void)
{
    struct decode_rules rules = sample_rules();
    rules.envelope = true;
    return rules;
}

/* With the value in room of its exact size, which stays until the next call so that results can be looked at. */
static enum refusal_reason decode(const struct decode_rules *rules, struct sample *sample, struct decoded *decoded)
{
    static uint8_t *kept;
    struct refusal refusal = {REFUSAL_NONE, ""};
    uint8_t *before = kept; /* a sample that is decoded again still points there */
    if (sample->record.value.data != NULL) {
        kept = memory_new(sample->record.value.length, 1);
        memcpy(kept, sample->record.value.data, sample->record.value.length);
        sample->record.value.data = kept;
        free(before);
    }
    if (decode_record(rules, &sample->record, decoded, &refusal)) {
        return REFUSAL_NONE;
    }
    assert_true(strlen(refusal.text) > 10 && text_is_utf8(span_of_text(refusal.text)));
    return refusal.reason;
}

static enum refusal_reason bytes(struct span value, struct decoded *decoded)
{
    struct decode_rules rules = envelope_rules();
    struct sample sample;
    sample_begin(&sample, "k", "");
    sample.record.value = value;
    return decode(&rules, &sample, decoded);
}

static enum refusal_reason envelope(const char *value, struct decoded *decoded)
{
    return bytes(span_of_text(value), decoded);
}

/* The user's own record, to the letter. */
static void the_payment_timeout(void **state)
{
    struct decode_rules rules = envelope_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    sample_begin(&sample, "order-123",
                 "{\"type\":\"PAYMENT_TIMEOUT\",\"payload\":{\"order_id\":\"order-123\",\"timeout_at\":\"...\"},"
                 "\"retry_count\":0}");
    sample_add(&sample, "delay_ms", "30000");
    assert_int_equal(decode(&rules, &sample, &decoded), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + 30000);
    assert_true(span_equals_text(decoded.target, "payments"));
    assert_true(span_equals_text(decoded.key, "order-123"));
    assert_true(span_equals_text(decoded.value, "{\"order_id\":\"order-123\",\"timeout_at\":\"...\"}"));
    assert_null(decoded.id.data);
    rules.route_count = 0;
    assert_int_equal(decode(&rules, &sample, &decoded), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.target, "events"));
}

static void payload_bytes_are_exact(void **state)
{
    static const char *const payloads[] = {
        "9007199254740993",
        "1.0000000000000000000001e400",
        "-0",
        "\"a\\u0000b\"",
        "\"caf\\u00e9\"",
        "null",
        "true",
        "[ 1 , 2 ]",
        "{ }",
        "{\"a\":1,\"a\":2}",
        "{\"delay_ms\":1,\"Delay_MS\":2}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
        char value[256];
        struct decoded decoded;
        (void)snprintf(value, sizeof(value), " { \"delay_ms\" : 1500 , \"payload\" : %s } \n", payloads[i]);
        assert_int_equal(envelope(value, &decoded), REFUSAL_NONE);
        assert_true(span_equals_text(decoded.value, payloads[i]));
        assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + 1500);
    }
}

static void delay_fields(void **state)
{
    static const char *const bad[] = {"1.5e3",
                                      "1500.7",
                                      "1500.0",
                                      "\"1500\"",
                                      "true",
                                      "[]",
                                      "{}",
                                      "-0",
                                      "-1",
                                      "1e3",
                                      "1e400",
                                      "\"\"",
                                      "18446744073709551616"};
    struct decoded decoded;
    char value[256];
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)snprintf(value, sizeof(value), "{\"payload\":1,\"delay_ms\":%s}", bad[i]);
        assert_int_equal(envelope(value, &decoded), REFUSAL_BAD_TIME);
        (void)snprintf(value, sizeof(value), "{\"payload\":1,\"deliver_at\":%s}", bad[i]);
        assert_int_equal(envelope(value, &decoded), REFUSAL_BAD_TIME);
    }
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":3000000000}", &decoded), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + INT64_C(3000000000));
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":0}", &decoded), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS);
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":9223372036854775807}", &decoded), REFUSAL_TOO_FAR);
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":null}", &decoded), REFUSAL_NO_TIME);
    assert_int_equal(envelope("{\"payload\":1,\"Delay_MS\":1}", &decoded), REFUSAL_NO_TIME);
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":007}", &decoded), REFUSAL_BAD_ENVELOPE);
}

static void deliver_at_fields(void **state)
{
    struct decoded decoded;
    (void)state;
    assert_int_equal(envelope("{\"payload\":1,\"deliver_at\":1795961575000}", &decoded), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, INT64_C(1795961575000));
    assert_int_equal(envelope("{\"payload\":1,\"deliver_at\":\"2026-11-29T15:12:55+01:00\"}", &decoded), REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, INT64_C(1795961575000));
    assert_int_equal(envelope("{\"payload\":1,\"deliver_at\":\"2026-11-29T15:12:55\\u002B01:00\"}", &decoded),
                     REFUSAL_NONE);
    assert_int_equal(decoded.due_ms, INT64_C(1795961575000));
    assert_int_equal(envelope("{\"payload\":1,\"deliver_at\":1795961575}", &decoded), REFUSAL_SECONDS);
    assert_int_equal(envelope("{\"payload\":1,\"deliver_at\":0}", &decoded), REFUSAL_SECONDS);
    assert_int_equal(envelope("{\"payload\":1,\"deliver_at\":1795961575000000}", &decoded), REFUSAL_TOO_FAR);
    assert_int_equal(envelope("{\"payload\":1,\"deliver_at\":\"1795961575000\"}", &decoded), REFUSAL_BAD_TIME);
    assert_int_equal(envelope("{\"payload\":1,\"deliver_at\":\"2026-11-29T15:12:55\"}", &decoded), REFUSAL_BAD_TIME);
    assert_int_equal(envelope("{\"payload\":1,\"deliver_at\":null,\"delay_ms\":5}", &decoded), REFUSAL_NONE);
    assert_int_equal(envelope("{\"payload\":1,\"deliver_at\":1795961575000,\"delay_ms\":5}", &decoded),
                     REFUSAL_AMBIGUOUS);
}

static void header_and_envelope_both_naming_a_time(void **state)
{
    static const char *const fields[] = {"\"delay_ms\":1000", "\"deliver_at\":1795961575000"};
    static const char *const headers[][2] = {
        {"delay_ms", "1000"}, {"tarry-delay", "1s"}, {"tarry-at", "1795961575000"}};
    struct decode_rules rules = envelope_rules();
    (void)state;
    for (size_t field = 0; field < 2; field++) {
        for (size_t header = 0; header < 3; header++) {
            char value[128];
            struct decoded decoded;
            struct sample sample;
            (void)snprintf(value, sizeof(value), "{\"payload\":1,%s}", fields[field]);
            sample_begin(&sample, "k", value);
            sample_add(&sample, headers[header][0], headers[header][1]);
            assert_int_equal(decode(&rules, &sample, &decoded), REFUSAL_AMBIGUOUS);
        }
    }
}

static void broken_envelopes(void **state)
{
#define TEXT(literal)                                                                                                  \
    {                                                                                                                  \
        (const uint8_t *)(literal), sizeof(literal) - 1                                                                \
    }
    static const struct span cases[] = {
        TEXT(""),
        TEXT("  "),
        TEXT("hello"),
        TEXT("[]"),
        TEXT("\"x\""),
        TEXT("null"),
        TEXT("1"),
        TEXT("{}{}"),
        TEXT("{\"payload\":1,\"delay_ms\":1}\0junk"),
        TEXT("{\"payload\":1,\"delay_ms\":1}\0"),
        TEXT("{\"payload\":1,\"delay_ms\":1} x"),
        TEXT("{\"payload\":1,\"delay_ms\":1,}"),
        TEXT("{\"payload\":1,\"delay_ms\":1"),
        TEXT("\xEF\xBB\xBF{\"payload\":1,\"delay_ms\":1}"),
        TEXT("{\"payload\":1,\"delay_ms\":1000,\"delay_ms\":60000}"),
        TEXT("{\"payload\":1,\"delay_ms\":1000,\"delay\\u005fms\":1000}"),
        TEXT("{\"payload\":1,\"delay_ms\":1,\"x\":1,\"x\":1}"),
        TEXT("{\"payload\":1,\"delay_ms\":1,\"retry_count\":1,\"retry_count\":1}"),
        TEXT("{\"payload\":\"\xC0\x80\",\"delay_ms\":1}"),
        TEXT("{\"payload\":\"\xFF\",\"delay_ms\":1}"),
        TEXT("{\"payload\":\"\\ud800\",\"delay_ms\":1}"),
        TEXT("{\"payload\":\"\x01\",\"delay_ms\":1}"),
        TEXT("{\"payload\":\"\\uzzzz\",\"delay_ms\":1}"),
        TEXT("{\"payload\":01,\"delay_ms\":1}"),
        TEXT("{\"delay_ms\":1}"),
        TEXT("{\"payload\":1,\"delay_ms\":1,\"type\":1}"),
        TEXT("{\"payload\":1,\"delay_ms\":1,\"target\":[]}"),
        TEXT("{\"payload\":1,\"delay_ms\":1,\"id\":42}"),
    };
#undef TEXT
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct decoded decoded;
        assert_int_equal(bytes(cases[i], &decoded), REFUSAL_BAD_ENVELOPE);
    }
}

static enum refusal_reason with_nested_payload(size_t depth)
{
    struct decoded decoded;
    struct buffer value = buffer_new(1 << 20);
    buffer_add_text(&value, "{\"delay_ms\":1,\"payload\":");
    for (size_t i = 0; i < depth; i++) {
        buffer_add_text(&value, "[");
    }
    for (size_t i = 0; i < depth; i++) {
        buffer_add_text(&value, "]");
    }
    buffer_add_text(&value, "}");
    enum refusal_reason reason = bytes(buffer_span(&value), &decoded);
    buffer_free(&value);
    return reason;
}

static enum refusal_reason with_members(int count)
{
    struct decoded decoded;
    struct buffer value = buffer_new(1 << 20);
    buffer_add_text(&value, "{\"delay_ms\":1,\"payload\":1");
    for (int i = 2; i < count; i++) {
        buffer_add_format(&value, ",\"member %d\":%d", i, i);
    }
    buffer_add_text(&value, "}");
    enum refusal_reason reason = bytes(buffer_span(&value), &decoded);
    buffer_free(&value);
    return reason;
}

static void depth_and_size_are_bounded(void **state)
{
    (void)state;
    assert_int_equal(with_nested_payload(511), REFUSAL_NONE);
    assert_int_equal(with_nested_payload(512), REFUSAL_BAD_ENVELOPE);
    assert_int_equal(with_nested_payload(5000), REFUSAL_BAD_ENVELOPE);
    assert_int_equal(with_nested_payload(100000), REFUSAL_BAD_ENVELOPE);
    assert_int_equal(with_members(256), REFUSAL_NONE);
    assert_int_equal(with_members(257), REFUSAL_BAD_ENVELOPE);
}

static void targets_by_precedence(void **state)
{
    static const char value[] = "{\"payload\":1,\"delay_ms\":1,\"type\":\"PAYMENT_TIMEOUT\",\"target\":\"orders.eu\"}";
    struct decode_rules rules = envelope_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(envelope(value, &decoded), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.target, "orders.eu"));
    assert_int_equal(decoded.lane, 1);
    sample_begin(&sample, "k", value);
    sample_add(&sample, "tarry-topic", "late-x");
    assert_int_equal(decode(&rules, &sample, &decoded), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.target, "late-x"));
    assert_int_equal(decoded.lane, 2);
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":1,\"type\":\"PAYMENT\\u005FTIMEOUT\"}", &decoded),
                     REFUSAL_NONE);
    assert_true(span_equals_text(decoded.target, "payments"));
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":1,\"type\":\"payment_timeout\"}", &decoded), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.target, "events"));
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":1,\"target\":\"orders\\u002eeu\"}", &decoded), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.target, "orders.eu"));
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":1,\"target\":null,\"type\":null}", &decoded), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.target, "events"));
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":1,\"target\":\"\"}", &decoded), REFUSAL_BAD_TARGET);
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":1,\"target\":\"a\\u0000\"}", &decoded), REFUSAL_BAD_TARGET);
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":1,\"target\":\"secret\"}", &decoded),
                     REFUSAL_TARGET_NOT_ALLOWED);
    rules.default_target = NULL;
    sample_begin(&sample, "k", "{\"payload\":1,\"delay_ms\":1,\"type\":\"OTHER\"}");
    assert_int_equal(decode(&rules, &sample, &decoded), REFUSAL_NO_TARGET);
}

static void long_escaped_texts(void **state)
{
    struct decoded decoded;
    struct buffer value = buffer_new(1 << 20);
    (void)state;
    for (int length = 4095; length <= 4097; length++) {
        buffer_clear(&value);
        buffer_add_text(&value, "{\"payload\":1,\"delay_ms\":1,\"id\":\"\\/");
        for (int i = 1; i < length; i++) {
            buffer_add_text(&value, "i");
        }
        buffer_add_text(&value, "\"}");
        assert_int_equal(bytes(buffer_span(&value), &decoded), length > 4096 ? REFUSAL_BAD_ID : REFUSAL_NONE);
        if (length <= 4096) {
            assert_int_equal(decoded.id.length, length);
            assert_int_equal(decoded.id.data[0], '/');
        }
    }
    buffer_clear(&value);
    buffer_add_text(&value, "{\"payload\":1,\"delay_ms\":1,\"target\":\"\\u006f");
    for (int i = 0; i < 249; i++) {
        buffer_add_text(&value, "o");
    }
    buffer_add_text(&value, "\"}");
    assert_int_equal(bytes(buffer_span(&value), &decoded), REFUSAL_BAD_TARGET);
    buffer_free(&value);
}

static void ids_of_envelopes(void **state)
{
    struct decode_rules rules = envelope_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":1,\"id\":\"o-1\"}", &decoded), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.id, "o-1"));
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":1,\"id\":null}", &decoded), REFUSAL_NONE);
    assert_null(decoded.id.data);
    assert_int_equal(envelope("{\"payload\":1,\"delay_ms\":1,\"id\":\"\"}", &decoded), REFUSAL_BAD_ID);
    sample_begin(&sample, "k", "{\"payload\":1,\"delay_ms\":1,\"id\":\"a\"}");
    sample_add(&sample, "tarry-id", "b");
    assert_int_equal(decode(&rules, &sample, &decoded), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.id, "b"));
}

static void retry_count_decides_nothing(void **state)
{
    static const char *const counts[] = {"-1",  "0",     "3",    "99", "2147483647", "99999999999999999999",
                                         "1.5", "\"x\"", "null", "[]"};
    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        char value[128];
        struct decoded decoded;
        (void)snprintf(value, sizeof(value), "{\"payload\":{\"a\":1},\"delay_ms\":1,\"retry_count\":%s}", counts[i]);
        assert_int_equal(envelope(value, &decoded), REFUSAL_NONE);
        assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + 1);
        assert_true(span_equals_text(decoded.value, "{\"a\":1}"));
    }
}

static void null_values_are_tombstones(void **state)
{
    struct decode_rules rules = envelope_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    sample_begin(&sample, "k", NULL);
    sample_add(&sample, "delay_ms", "1000");
    assert_int_equal(decode(&rules, &sample, &decoded), REFUSAL_NONE);
    assert_null(decoded.value.data);
    sample_begin(&sample, "k", NULL);
    assert_int_equal(decode(&rules, &sample, &decoded), REFUSAL_NO_TIME);
}

static void whole_envelopes(void **state)
{
    static const char value[] = " {\"delay_ms\":1,\"x\":[1, 2]} ";
    struct decode_rules rules = envelope_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    rules.envelope_whole = true;
    sample_begin(&sample, "k", value);
    assert_int_equal(decode(&rules, &sample, &decoded), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.value, value));
}

static void mapped_names(void **state)
{
    struct decode_rules rules = envelope_rules();
    struct decoded decoded;
    struct sample sample;
    (void)state;
    rules.field_deliver_at = "delayUntil";
    rules.field_payload = "d\xC3\xA9tails";
    sample_begin(&sample, "k", "{\"d\\u00e9tails\":[],\"delayUntil\":\"2026-11-29T14:12:55Z\",\"payload\":3}");
    assert_int_equal(decode(&rules, &sample, &decoded), REFUSAL_NONE);
    assert_true(span_equals_text(decoded.value, "[]"));
    assert_int_equal(decoded.due_ms, INT64_C(1795961575000));
    sample_begin(&sample, "k", "{\"payload\":1,\"deliver_at\":1795961575000}");
    assert_int_equal(decode(&rules, &sample, &decoded), REFUSAL_BAD_ENVELOPE);
}

/* Property: any valid JSON as payload comes out byte for byte; any damage ends in a refusal or in a value that is
 * still JSON. */
static void random_payloads(void **state)
{
    struct random random = random_new(23);
    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct decoded decoded;
        struct buffer value = buffer_new(1 << 20);
        buffer_add_text(&value, "{\"type\":\"PAYMENT_TIMEOUT\",\"payload\":");
        size_t from = value.length;
        json_oracle_make(&random, 5, &value);
        size_t to = value.length;
        buffer_add_text(&value, ",\"delay_ms\":1500}");
        assert_int_equal(bytes(buffer_span(&value), &decoded), REFUSAL_NONE);
        assert_true(span_equal(decoded.value, (struct span){value.data + from, to - from}));
        value.data[random_below(&random, value.length)] ^= (uint8_t)(1 + random_below(&random, 255));
        if (bytes(buffer_span(&value), &decoded) == REFUSAL_NONE) {
            assert_true(json_oracle_valid(decoded.value, 512));
        }
        buffer_free(&value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_payment_timeout),
        cmocka_unit_test(payload_bytes_are_exact),
        cmocka_unit_test(delay_fields),
        cmocka_unit_test(deliver_at_fields),
        cmocka_unit_test(header_and_envelope_both_naming_a_time),
        cmocka_unit_test(broken_envelopes),
        cmocka_unit_test(depth_and_size_are_bounded),
        cmocka_unit_test(targets_by_precedence),
        cmocka_unit_test(long_escaped_texts),
        cmocka_unit_test(ids_of_envelopes),
        cmocka_unit_test(retry_count_decides_nothing),
        cmocka_unit_test(null_values_are_tombstones),
        cmocka_unit_test(whole_envelopes),
        cmocka_unit_test(mapped_names),
        cmocka_unit_test(random_payloads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
