/* Which letters a filter means, how its flags are read, and that its arguments make the same filter again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "cli/base64.h"
#include "cli/dlq_filter.h"

#define NOW_MS INT64_C(1764500000000)
#define MINUTE_MS INT64_C(60000)

struct fixture {
    struct buffer headers;
    struct letter letter;
    enum letter_state state;
};

static struct fixture *fixture_new(void)
{
    struct fixture *fixture = memory_new(1, sizeof *fixture);
    fixture->headers = buffer_new(65536);
    fixture->state = LETTER_PARKED;
    fixture->letter = (struct letter){
        .id = "00112233445566778899aabbccddeeff",
        .reason = LETTER_REASON_INVALID,
        .error = span_of_text("schema 17 not found at 10.0.0.1"),
        .attempt = 1,
        .first_failure_ms = NOW_MS - 20 * MINUTE_MS,
        .last_failure_ms = NOW_MS - 10 * MINUTE_MS,
        .target = span_of_text("a.b"),
        .target_partition = -1,
        .origin = {span_of_text("delays"), 3, 17, -1},
        .schedule_id = span_of_text("*"),
        .record = {.key = span_of_text("key-1")},
    };
    letter_add_header(&fixture->headers, span_of_text("type"), span_of_text("order"));
    letter_add_header(&fixture->headers, span_of_text("type"), span_of_text(""));
    letter_add_header(&fixture->headers, span_of_text("null"), SPAN_ABSENT);
    letter_add_header(&fixture->headers, span_of_text("raw"), (struct span){(const uint8_t *)"\0\xff", 2});
    fixture->letter.record.headers = buffer_span(&fixture->headers);
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    buffer_free(&fixture->headers);
    free(fixture);
}

/* Reads flags, separated by '|'; false: one was wrong or unknown. */
static bool read_flags(struct dlq_filter *filter, const char *flags)
{
    char *text = memory_text(flags, strlen(flags));
    char *arguments[64];
    int count = 0;
    for (char *at = text; at != NULL && flags[0] != '\0';) {
        char *end = strchr(at, '|');
        if (end != NULL) {
            *end = '\0';
        }
        arguments[count++] = at;
        at = end == NULL ? NULL : end + 1;
    }
    bool taken = true;
    for (int i = 0; i < count && taken;) {
        taken = dlq_filter_take(filter, count, arguments, &i) == OPTIONS_TAKEN;
    }
    free(text);
    return taken;
}

static void collect(void *context, const char *argument)
{
    struct buffer *joined = context;
    buffer_add_text(joined, joined->length == 0 ? "" : "|");
    buffer_add_text(joined, argument);
}

static void check_same_again(const struct dlq_filter *filter, const struct fixture *fixture, bool wanted)
{
    struct buffer joined = buffer_new(65536);
    dlq_filter_arguments(filter, collect, &joined);
    buffer_add(&joined, "", 1);
    struct dlq_filter again = dlq_filter_new("test", NOW_MS + 3600 * INT64_C(1000)); /* later: times must not move */
    assert_true(read_flags(&again, (const char *)joined.data));
    assert_int_equal(dlq_filter_matches(&again, &fixture->letter, fixture->state), wanted);
    assert_int_equal(again.limit, filter->limit);
    assert_int_equal(again.since_ms, filter->since_ms);
    assert_int_equal(again.until_ms, filter->until_ms);
    dlq_filter_free(&again);
    buffer_free(&joined);
}

static bool matches(const char *flags, const struct fixture *fixture)
{
    struct dlq_filter filter = dlq_filter_new("test", NOW_MS);
    assert_true(read_flags(&filter, flags));
    bool matched = dlq_filter_matches(&filter, &fixture->letter, fixture->state);
    check_same_again(&filter, fixture, matched);
    dlq_filter_free(&filter);
    return matched;
}

static bool is_taken(const char *flags)
{
    struct dlq_filter filter = dlq_filter_new("test", NOW_MS);
    bool taken = read_flags(&filter, flags);
    dlq_filter_free(&filter);
    return taken;
}

static void test_each_flag(void **state)
{
    (void)state;
    static const char *const meant[] = {
        "", "--state=parked", "--state|waiting|--state|parked", "--reason=invalid", "--reason=no_time|--reason=invalid", "--error=schema [0-9]+ not",
        "--error=^schema", "--error=10\\.0\\.0\\.1$", "--target=a.b", "--target=x|--target=a.b", "--key=key-1", "--key=other|--key|key-1",
        "--key-base64=a2V5LTE=", "--header=type=order", "--header=type=", "--header=type", "--header=null", "--header=type=order|--header=type=",
        "--header-base64=raw=AP8=", "--id=00112233445566778899aabbccddeeff", "--id=*", "--id-base64=Kg==", "--since=11m", "--since=10m", "--until=9m",
        "--since=11m|--until=9m", "--until=now", "--limit=1", "--state=parked|--reason=invalid|--target=a.b|--key=key-1",
    };
    static const char *const not_meant[] = {
        "--state=waiting", "--reason=no_time", "--error=^not", "--target=a_b", "--target=a-b", "--target=a", "--target=_refused", "--key=key", "--key=",
        "--key=KEY-1", "--header=type=orde", "--header=type=order|--header=type=other", "--header=Type=order", "--header=null=", "--header=raw=x",
        "--id=>", "--id=0011", "--id=00112233445566778899AABBCCDDEEFF", "--since=9m", "--until=10m", "--until=11m", "--since=now",
        "--state=parked|--reason=no_time", "--key=key-1|--target=other",
    };
    struct fixture *fixture = fixture_new();
    for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++) {
        if (!matches(meant[i], fixture)) {
            fail_msg("%s does not match", meant[i]);
        }
    }
    for (size_t i = 0; i < sizeof not_meant / sizeof not_meant[0]; i++) {
        if (matches(not_meant[i], fixture)) {
            fail_msg("%s matches", not_meant[i]);
        }
    }
    fixture_free(fixture);
}

static void test_null_and_refused(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_new();
    fixture->letter.record.key = SPAN_ABSENT;
    fixture->letter.target = SPAN_ABSENT;
    fixture->letter.schedule_id = SPAN_ABSENT;
    fixture->letter.error = span_of_text("");
    assert_false(matches("--key=", fixture)); /* empty is not null */
    assert_true(matches("--target=_refused", fixture));
    assert_false(matches("--id=*", fixture));
    assert_true(matches("--error=^$", fixture));
    fixture->letter.record.key = (struct span){(const uint8_t *)"", 0};
    assert_true(matches("--key=", fixture));
    fixture_free(fixture);
}

static void test_what_is_wrong(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "--state=both", "--state=", "--state", "--reason=no_tim", "--reason=nonsense", "--error=(", "--error=a{2001}", "--error=(a)\\1",
        "--error=((a{100}){100}){100}", "--error=", "--target=a b", "--target=a*", "--target=", "--key-base64=a", "--key-base64=a2V5LTF=", "--key-base64=a-==",
        "--header==x", "--header=\xff=x", "--header-base64=x", "--id=", "--since=soon", "--since=10", "--since=2026-11-29", "--since=-5m", "--since=5m3",
        "--limit=0", "--limit=-1", "--limit=x", "--stat=parked", "--keys=x",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (is_taken(wrong[i])) {
            fail_msg("%s is taken", wrong[i]);
        }
    }
    assert_true(is_taken("--error=a{100}\\\\1{5}")); /* a backslash, then 1: no backreference */
}

static void test_a_long_expression(void **state)
{
    (void)state;
    char flag[400] = "--error=";
    memset(flag + strlen(flag), 'a', DLQ_FILTER_EXPRESSION_MAX);
    assert_true(is_taken(flag));
    memcpy(flag + strlen("--error=") + DLQ_FILTER_EXPRESSION_MAX, "a", 2);
    assert_false(is_taken(flag));
}

static void test_many_ids(void **state)
{
    (void)state;
    struct dlq_filter filter = dlq_filter_new("test", NOW_MS);
    for (int i = 0; i < DLQ_FILTER_TERMS_MAX; i++) {
        assert_true(dlq_filter_add_id(&filter, "x"));
    }
    assert_false(dlq_filter_add_id(&filter, "x"));
    dlq_filter_free(&filter);
}

static void test_times(void **state)
{
    (void)state;
    int64_t ms = -1;
    assert_true(dlq_filter_time("now", NOW_MS, &ms));
    assert_int_equal(ms, NOW_MS);
    assert_true(dlq_filter_time("1h30m", NOW_MS, &ms));
    assert_int_equal(ms, NOW_MS - 90 * MINUTE_MS);
    assert_true(dlq_filter_time("250ms", NOW_MS, &ms));
    assert_int_equal(ms, NOW_MS - 250);
    assert_true(dlq_filter_time("1764500000123", NOW_MS, &ms));
    assert_int_equal(ms, INT64_C(1764500000123));
    assert_true(dlq_filter_time("2026-11-29T14:00:00+01:00", NOW_MS, &ms));
    assert_int_equal(ms, INT64_C(1795957200000));
    assert_false(dlq_filter_time("1764500000", NOW_MS, &ms)); /* seconds where milliseconds are due */
    assert_false(dlq_filter_time("", NOW_MS, &ms));
    assert_false(dlq_filter_time("99999999999999999999d", NOW_MS, &ms));
}

static void test_what_it_wants(void **state)
{
    (void)state;
    struct dlq_filter filter = dlq_filter_new("test", NOW_MS);
    assert_true(dlq_filter_is_all(&filter));
    assert_true(dlq_filter_wants(&filter, LETTER_WAITING) && dlq_filter_wants(&filter, LETTER_PARKED));
    assert_null(dlq_filter_only_target(&filter).data);
    assert_true(read_flags(&filter, "--state=parked|--target=a|--target=a"));
    assert_false(dlq_filter_is_all(&filter));
    assert_false(dlq_filter_wants(&filter, LETTER_WAITING));
    assert_true(span_equals_text(dlq_filter_only_target(&filter), "a"));
    assert_false(dlq_filter_needs_record(&filter));
    assert_true(read_flags(&filter, "--target=b|--header=x"));
    assert_null(dlq_filter_only_target(&filter).data);
    assert_true(dlq_filter_needs_record(&filter));
    dlq_filter_free(&filter);
    assert_true(read_flags(&filter, "--limit=5"));
    assert_false(dlq_filter_is_all(&filter));
    dlq_filter_free(&filter);
}

static void check_text(const char *flags, const char *wanted)
{
    struct dlq_filter filter = dlq_filter_new("test", NOW_MS);
    struct buffer text = buffer_new(65536);
    assert_true(read_flags(&filter, flags));
    dlq_filter_text(&filter, &text);
    buffer_add(&text, "", 1);
    assert_string_equal((const char *)text.data, wanted);
    buffer_free(&text);
    dlq_filter_free(&filter);
}

static void test_text_for_people(void **state)
{
    (void)state;
    check_text("", "all letters");
    check_text("--reason|no_time|--limit|5", "--reason=no_time --limit=5");
    check_text("--error=a\\.b c", "'--error=a\\.b c'");
    check_text("--key=it's", "'--key=it'\\''s'");
    check_text("--key=\x1b[2J'\\", "$'--key=\\x1b[2J\\'\\\\'");
    check_text("--key=\xff", "--key-base64=/w==");
    check_text("--since=1764500000000", "--since=2025-11-30T10:53:20.000Z");
}

static void test_base64(void **state)
{
    (void)state;
    uint8_t bytes[256];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 37 + 11);
    }
    for (size_t length = 0; length <= sizeof bytes; length++) {
        struct buffer text = buffer_new(1024);
        struct buffer back = buffer_new(1024);
        base64_write((struct span){bytes, length}, &text);
        assert_int_equal(text.length, (length + 2) / 3 * 4);
        assert_true(base64_read(buffer_span(&text), &back));
        assert_true(span_equal(buffer_span(&back), (struct span){bytes, length}));
        buffer_free(&text);
        buffer_free(&back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_flag),
        cmocka_unit_test(test_null_and_refused),
        cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_a_long_expression),
        cmocka_unit_test(test_many_ids),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_what_it_wants),
        cmocka_unit_test(test_text_for_people),
        cmocka_unit_test(test_base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
