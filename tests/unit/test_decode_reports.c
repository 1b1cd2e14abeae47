/*
 * What other programs' users reported of JSON in messages, one test a report: J02 to J07. Each value lies in room of its exact size, without a NUL
 * behind it; what is refused has words and is kept byte for byte in its row; and its neighbour is on time.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "bridge/row.h"
#include "support/sample_record.h"

#define LARGE (1 << 25)

static struct decode_rules rules;

static int set_up(void **state)
{
    (void)state;
    rules = sample_rules();
    rules.envelope = true;
    return 0;
}

static void assert_neighbour_is_on_time(void)
{
    struct decoded decoded;
    struct refusal refusal;
    struct sample sample;
    sample_begin(&sample, "k", "{\"payload\":1,\"delay_ms\":1000}");
    assert_true(decode_record(&rules, &sample.record, &decoded, &refusal));
    assert_int_equal(decoded.due_ms, SAMPLE_TIMESTAMP_MS + 1000);
}

static void assert_kept_whole(const struct sample *sample, const struct refusal *refusal)
{
    struct buffer buffer = buffer_new(LARGE);
    struct error error;
    struct row row;
    assert_true(text_is_utf8(span_of_text(refusal->text)));
    assert_true(strlen(refusal->text) > 10);
    assert_true(row_encode_refused(&buffer, &sample->record, refusal, &error));
    assert_true(row_decode(buffer_span(&buffer), &row, &error));
    assert_true(span_equal(row.record.value, sample->record.value));
    assert_int_equal(row.refusal.reason, refusal->reason);
    buffer_free(&buffer);
}

/* The reason; REFUSAL_NONE and, where wanted, when it is due and what goes out (equal to `payload`). */
static enum refusal_reason decode(struct span value, int64_t *due_ms, const char *payload)
{
    struct decoded decoded;
    struct refusal refusal = {REFUSAL_NONE, ""};
    struct sample sample;
    uint8_t *room = memory_new(value.length + (value.length == 0), 1);
    memcpy(room, value.data, value.length);
    sample_begin(&sample, "k", NULL);
    sample.record.value = (struct span){room, value.length};
    if (!decode_record(&rules, &sample.record, &decoded, &refusal)) {
        assert_kept_whole(&sample, &refusal);
        assert_neighbour_is_on_time();
    } else {
        if (due_ms != NULL) {
            *due_ms = decoded.due_ms - SAMPLE_TIMESTAMP_MS;
        }
        assert_true(payload == NULL || span_equals_text(decoded.value, payload));
    }
    free(room);
    return refusal.reason;
}

static enum refusal_reason text(const char *value, int64_t *due_ms, const char *payload)
{
    return decode(span_of_text(value), due_ms, payload);
}

static void j02_a_delay_beyond_int_max(void **state)
{
    int64_t due_ms = 0;
    (void)state;
    assert_int_equal(text("{\"payload\":1,\"delay_ms\":3000000000}", &due_ms, "1"), REFUSAL_NONE);
    assert_int_equal(due_ms, INT64_C(3000000000));
    assert_int_equal(text("{\"payload\":1,\"delay_ms\":2147483648}", &due_ms, "1"), REFUSAL_NONE);
    assert_int_equal(due_ms, INT64_C(2147483648));
}

static void j03_repeated_and_differently_cased_keys(void **state)
{
    int64_t due_ms = 0;
    (void)state;
    assert_int_equal(text("{\"payload\":1,\"delay_ms\":1000,\"delay_ms\":60000}", NULL, NULL), REFUSAL_BAD_ENVELOPE);
    assert_int_equal(text("{\"payload\":1,\"Delay_MS\":1}", NULL, NULL), REFUSAL_NO_TIME);
    assert_int_equal(text("{\"payload\":1,\"delay_ms\":5,\"Delay_MS\":1}", &due_ms, NULL), REFUSAL_NONE);
    assert_int_equal(due_ms, 5);
    assert_int_equal(text("{\"delay_ms\":5,\"payload\":{\"delay_ms\":1000,\"delay_ms\":60000,\"Delay_MS\":1}}", &due_ms,
                          "{\"delay_ms\":1000,\"delay_ms\":60000,\"Delay_MS\":1}"),
                     REFUSAL_NONE);
    assert_int_equal(due_ms, 5);
}

/* `count` times `piece` between two texts. */
static enum refusal_reason of_many(const char *before, const char *piece, size_t count, const char *after)
{
    struct buffer value = buffer_new(LARGE);
    buffer_add_text(&value, before);
    for (size_t i = 0; i < count; i++) {
        buffer_add_text(&value, piece);
    }
    buffer_add_text(&value, after);
    assert_false(value.full);
    enum refusal_reason reason = decode(buffer_span(&value), NULL, NULL);
    buffer_free(&value);
    return reason;
}

static enum refusal_reason of_members(const char *before, size_t count, const char *after)
{
    struct buffer value = buffer_new(LARGE);
    buffer_add_text(&value, before);
    for (size_t i = 0; i < count; i++) {
        buffer_add_format(&value, ",\"%zu\":0", i);
    }
    buffer_add_text(&value, after);
    assert_false(value.full);
    enum refusal_reason reason = decode(buffer_span(&value), NULL, NULL);
    buffer_free(&value);
    return reason;
}

static void j04_deep_nesting_and_size(void **state)
{
    static const size_t depths[] = {999, 1001, 5000};
    (void)state;
    assert_int_equal(of_many("", "[", 100000, ""), REFUSAL_BAD_ENVELOPE);
    assert_int_equal(of_many("{\"delay_ms\":1,\"payload\":", "[", 100000, ""), REFUSAL_BAD_ENVELOPE);
    for (size_t i = 0; i < 3; i++) { /* deeper than 511 is refused, closed or not */
        assert_int_equal(of_many("{\"delay_ms\":1,\"payload\":", "{\"a\":", depths[i], ""), REFUSAL_BAD_ENVELOPE);
    }
    assert_int_equal(of_many("{\"delay_ms\":1,\"payload\":\"", "12345678", 1 << 20, "\"}"), REFUSAL_NONE); /* a string of 8 MiB */
    assert_int_equal(of_members("{\"delay_ms\":1,\"payload\":{\"a\":0", 1000000, "}}"), REFUSAL_NONE);
    assert_int_equal(of_members("{\"delay_ms\":1,\"payload\":1", 1000000, "}"), REFUSAL_BAD_ENVELOPE);
}

#define BYTES(literal) ((struct span){(const uint8_t *)(literal), sizeof(literal) - 1})

static void j05_length_nul_and_trailing_bytes(void **state)
{
    (void)state;
    assert_int_equal(decode(BYTES("{\"payload\":1,\"delay_ms\":1}\0junk"), NULL, NULL), REFUSAL_BAD_ENVELOPE);
    assert_int_equal(decode(BYTES("{\"payload\":1,\"delay_ms\":1}\0"), NULL, NULL), REFUSAL_BAD_ENVELOPE);
    assert_int_equal(decode(BYTES("{}{}"), NULL, NULL), REFUSAL_BAD_ENVELOPE);
    assert_int_equal(decode(BYTES("{\"payload\":1,\"delay_ms\":1} \t\r\n\n"), NULL, "1"), REFUSAL_NONE);
    assert_int_equal(decode(BYTES("\xEF\xBB\xBF{\"payload\":1,\"delay_ms\":1}"), NULL, NULL), REFUSAL_BAD_ENVELOPE);
    assert_int_equal(decode(BYTES("{\"payload\":\"a\\u0000b\",\"delay_ms\":1}"), NULL, "\"a\\u0000b\""), REFUSAL_NONE);
    assert_int_equal(decode(BYTES(""), NULL, NULL), REFUSAL_BAD_ENVELOPE);
    assert_int_equal(decode(BYTES(" \n\t "), NULL, NULL), REFUSAL_BAD_ENVELOPE);
    /* every cut of a good one: nothing is read beyond its end */
    struct span whole = BYTES("{\"payload\":\"\\u00e9\xC3\xA9\",\"delay_ms\":12,\"id\":\"a\\/b\"}");
    for (size_t length = 0; length < whole.length; length++) {
        assert_int_equal(decode((struct span){whole.data, length}, NULL, NULL), REFUSAL_BAD_ENVELOPE);
    }
    assert_int_equal(decode(whole, NULL, NULL), REFUSAL_NONE);
}

static void j06_bad_utf8_control_characters_and_escapes(void **state)
{
    const struct span bad[] = {
        BYTES("{\"payload\":\"\xC0\x80\",\"delay_ms\":1}"),     BYTES("{\"payload\":\"\xFF\",\"delay_ms\":1}"),
        BYTES("{\"payload\":\"\\ud800\",\"delay_ms\":1}"),      BYTES("{\"payload\":\"\\ud800\\u0041\",\"delay_ms\":1}"),
        BYTES("{\"payload\":\"\x01\",\"delay_ms\":1}"),         BYTES("{\"payload\":\"\\uzzzz\",\"delay_ms\":1}"),
        BYTES("{\"payload\":\"\\x41\",\"delay_ms\":1}"),        BYTES("{\"\xC0\x80\":1,\"payload\":1,\"delay_ms\":1}"),
        BYTES("{\"payload\":1,\"delay_ms\":1,\"id\":\"\xED\xA0\x80\"}"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(decode(bad[i], NULL, NULL), REFUSAL_BAD_ENVELOPE);
    }
    assert_int_equal(text("{\"payload\":\"\\ud83d\\ude00\",\"delay_ms\":1}", NULL, "\"\\ud83d\\ude00\""), REFUSAL_NONE);
}

static void number_forms(void)
{
    static const char *const bad[] = {"1.5e3", "1500.7", "\"1500\"", "true", "[]", "-0", "1e400", "1500.0", "-1"};
    int64_t due_ms = 0;
    char value[64];
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(value, sizeof value, "{\"payload\":1,\"delay_ms\":%s}", bad[i]);
        assert_int_equal(text(value, NULL, NULL), REFUSAL_BAD_TIME);
    }
    assert_int_equal(text("{\"payload\":1,\"delay_ms\":null}", NULL, NULL), REFUSAL_NO_TIME); /* not there, and never 0 */
    assert_int_equal(text("{\"payload\":1500.7,\"delay_ms\":1500}", &due_ms, "1500.7"), REFUSAL_NONE);
    assert_int_equal(due_ms, 1500);
}

static void j07_number_forms_and_types(void **state)
{
    static const char *const locales[] = {"C", "de_DE.UTF-8", "C.UTF-8", ""};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        (void)setlocale(LC_ALL, locales[i]); /* one that the machine lacks leaves the one before */
        number_forms();
    }
    (void)setlocale(LC_ALL, "C");
}

/* The same reports of headers, in every dialect that has numbers: text alone counts, and never 0 by accident. */
static void j07_of_headers(void **state)
{
    static const struct {
        const char *dialect;
        const char *header;
    } cases[] = {{"tarry", "tarry-delay"},       {"tarry", "delay_ms"},         {"tarry", "tarry-at"},         {"etf1", "scheduler-epoch"},
                 {"karafka", "schedule_target_epoch"}, {"rabbitmq", "x-delay"}, {"rocketmq", "TIMER_DELAY_MS"}, {"rocketmq", "TIMER_DELAY_SEC"},
                 {"rocketmq", "TIMER_DELIVER_MS"}, {"activemq", "AMQ_SCHEDULED_DELAY"}};
    static const char *const bad[] = {"1.5e3", "1500.7", "\"1500\"", "true", "null", "[]", "-0", "1e400", "1,5", "0x10", "", NULL, "1500\n", " 1500"};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct dialect *on = dialect_preset(span_of_text(cases[i].dialect));
        struct decode_rules by_headers = sample_rules();
        by_headers.dialects = &on;
        for (size_t b = 0; b < sizeof(bad) / sizeof(bad[0]); b++) {
            struct decoded decoded;
            struct refusal refusal;
            struct sample sample;
            sample_begin(&sample, "k", "v");
            sample_add(&sample, cases[i].header, bad[b]);
            assert_false(decode_record(&by_headers, &sample.record, &decoded, &refusal));
            assert_int_equal(refusal.reason, REFUSAL_BAD_TIME);
            assert_non_null(strstr(refusal.text, cases[i].header));
            assert_kept_whole(&sample, &refusal);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(j02_a_delay_beyond_int_max),        cmocka_unit_test(j03_repeated_and_differently_cased_keys),
        cmocka_unit_test(j04_deep_nesting_and_size),         cmocka_unit_test(j05_length_nul_and_trailing_bytes),
        cmocka_unit_test(j06_bad_utf8_control_characters_and_escapes), cmocka_unit_test(j07_number_forms_and_types),
        cmocka_unit_test(j07_of_headers),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
