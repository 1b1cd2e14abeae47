#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/random.h"
#include "bridge/json_scan.h"
#include "bridge/json_text.h"
#include "support/json_oracle.h"

#define TEXT(literal)                                                                                                  \
    {                                                                                                                  \
        (const uint8_t *)(literal), sizeof(literal) - 1                                                                \
    }

/* In room of exactly its size, so that a read past the end is seen by AddressSanitizer. */
static bool valid(struct span text, struct json_scan_value *value)
{
    uint8_t *copy = memory_new(text.length, 1);
    memcpy(copy, text.data, text.length);
    struct json_scan scan;
    json_scan_begin(&scan, (struct span){copy, text.length});
    bool good = json_scan_value(&scan, value) && json_scan_finish(&scan);
    if (!good) {
        assert_non_null(scan.trouble);
        assert_true(json_scan_position(&scan) <= text.length);
    }
    free(copy);
    return good;
}

static void accepts_the_grammar(void **state)
{
    static const struct {
        struct span text;
        enum json_scan_kind kind;
    } cases[] = {
        {TEXT("null"), JSON_SCAN_NULL},
        {TEXT(" true "), JSON_SCAN_BOOL},
        {TEXT("\t\r\n false\n"), JSON_SCAN_BOOL},
        {TEXT("0"), JSON_SCAN_INTEGER},
        {TEXT("-0"), JSON_SCAN_INTEGER},
        {TEXT("123456789012345678901234567890"), JSON_SCAN_INTEGER},
        {TEXT("1.5"), JSON_SCAN_NUMBER},
        {TEXT("1e400"), JSON_SCAN_NUMBER},
        {TEXT("-1.25E-3"), JSON_SCAN_NUMBER},
        {TEXT("\"\""), JSON_SCAN_STRING},
        {TEXT("\"\\u0000\\ud83d\\ude00\\\"\\/\\b\\f\\n\\r\\t\""), JSON_SCAN_STRING},
        {TEXT("\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\x7F\""), JSON_SCAN_STRING},
        {TEXT("[]"), JSON_SCAN_ARRAY},
        {TEXT("[[],{},[1,2,{\"a\":[null]}]]"), JSON_SCAN_ARRAY},
        {TEXT("{}"), JSON_SCAN_OBJECT},
        {TEXT(" { \"a\" : { } , \"a\" : [ ] } "), JSON_SCAN_OBJECT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json_scan_value value;
        assert_true(valid(cases[i].text, &value));
        assert_int_equal(value.kind, cases[i].kind);
    }
}

static const struct span broken[] = {
    TEXT(""),
    TEXT("   "),
    TEXT("nul"),
    TEXT("nulll"),
    TEXT("True"),
    TEXT("NaN"),
    TEXT("Infinity"),
    TEXT("-"),
    TEXT("+1"),
    TEXT("01"),
    TEXT("-01"),
    TEXT("1."),
    TEXT(".5"),
    TEXT("1e"),
    TEXT("1e+"),
    TEXT("0x1"),
    TEXT("1 2"),
    TEXT("{}{}"),
    TEXT("{}\0junk"),
    TEXT("{}\0"),
    TEXT("\xEF\xBB\xBF{}"),
    TEXT("\xFE\xFF"),
    TEXT("\""),
    TEXT("\"abc"),
    TEXT("\"abc\\"),
    TEXT("\"abc\\\""),
    TEXT("\"a\x01\""),
    TEXT("\"a\0b\""),
    TEXT("\"a\nb\""),
    TEXT("\"\\x41\""),
    TEXT("\"\\'\""),
    TEXT("\"\\u\""),
    TEXT("\"\\u12\""),
    TEXT("\"\\uzzzz\""),
    TEXT("\"\\ud800\""),
    TEXT("\"\\udc00\""),
    TEXT("\"\\ud800\\ud800\""),
    TEXT("\"\\ud800x\""),
    TEXT("\"\\ud800\\n\""),
    TEXT("\"\\ud800\\u12\""),
    TEXT("\"\xC0\x80\""),
    TEXT("\"\xFF\""),
    TEXT("\"\x80\""),
    TEXT("\"\xC3\""),
    TEXT("\"\xE0\x80\x80\""),
    TEXT("\"\xED\xA0\x80\""),
    TEXT("\"\xF4\x90\x80\x80\""),
    TEXT("\"\xF0\x80\x80\x80\""),
    TEXT("\"\xF5\x80\x80\x80\""),
    TEXT("["),
    TEXT("[1"),
    TEXT("[1,"),
    TEXT("[1,]"),
    TEXT("[,1]"),
    TEXT("[1 2]"),
    TEXT("[1}"),
    TEXT("]"),
    TEXT("{"),
    TEXT("{\"a\""),
    TEXT("{\"a\":"),
    TEXT("{\"a\":1"),
    TEXT("{\"a\":1,"),
    TEXT("{\"a\":1,}"),
    TEXT("{,\"a\":1}"),
    TEXT("{\"a\" 1}"),
    TEXT("{a:1}"),
    TEXT("{'a':1}"),
    TEXT("{1:1}"),
    TEXT("{\"a\":1]"),
    TEXT("{\"a\":}"),
    TEXT("[1] // comment"),
    TEXT("[1]\x0B"),
    TEXT("\xC2\xA0[1]"),
};

static void refuses_all_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        struct json_scan_value value;
        assert_false(valid(broken[i], &value));
    }
}

static bool nested_valid(size_t depth, char open, char close)
{
    struct json_scan_value value;
    struct buffer text = buffer_new(1 << 20);
    for (size_t i = 0; i < depth; i++) {
        buffer_add(&text, &open, 1);
    }
    for (size_t i = 0; i < depth && close != '\0'; i++) {
        buffer_add(&text, &close, 1);
    }
    bool good = valid(buffer_span(&text), &value);
    buffer_free(&text);
    return good;
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    assert_true(nested_valid(JSON_SCAN_DEPTH_MAX, '[', ']'));
    assert_false(nested_valid(JSON_SCAN_DEPTH_MAX + 1, '[', ']'));
    assert_false(nested_valid(999, '[', ']'));
    assert_false(nested_valid(1001, '[', ']'));
    assert_false(nested_valid(5000, '[', ']'));
    assert_false(nested_valid(100000, '[', '\0'));
}

/* Closing brackets are told apart at every level, also beyond the first word of the bit stack. */
static void brackets_match_their_own_kind(void **state)
{
    struct random random = random_new(5);
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct buffer text = buffer_new(1 << 16);
        char closers[JSON_SCAN_DEPTH_MAX];
        size_t depth = (size_t)random_between(&random, 1, JSON_SCAN_DEPTH_MAX);
        for (size_t i = 0; i < depth; i++) {
            bool object = random_below(&random, 2) == 0 && i + 1 < depth;
            buffer_add_text(&text, object ? "{\"k\":" : "[");
            closers[i] = object ? '}' : ']';
        }
        size_t wrong = (size_t)random_below(&random, depth);
        size_t start = text.length;
        for (size_t i = depth; i > 0; i--) {
            buffer_add(&text, &closers[i - 1], 1);
        }
        struct json_scan_value value;
        assert_true(valid(buffer_span(&text), &value));
        uint8_t *closer = &text.data[start + depth - 1 - wrong];
        *closer = *closer == '}' ? ']' : '}';
        assert_false(valid(buffer_span(&text), &value));
        buffer_free(&text);
    }
}

static void large_texts_are_scanned_whole(void **state)
{
    struct json_scan_value value;
    struct buffer text = buffer_new(64 << 20);
    (void)state;
    buffer_add_text(&text, "\"");
    memset(buffer_extend(&text, 8 << 20), 'x', 8 << 20);
    buffer_add_text(&text, "\"");
    assert_true(valid(buffer_span(&text), &value));
    buffer_clear(&text);
    buffer_add_text(&text, "[0");
    for (int i = 0; i < 1000000; i++) {
        buffer_add_text(&text, ",{\"a\":1}");
    }
    assert_false(valid(buffer_span(&text), &value));
    buffer_add_text(&text, "]");
    assert_true(valid(buffer_span(&text), &value));
    buffer_free(&text);
}

static void members_come_one_by_one(void **state)
{
    struct json_scan scan;
    struct json_scan_value name;
    struct json_scan_value value;
    (void)state;
    json_scan_begin(&scan, span_of_text(" {\"a\": [1,{\"x\":2}] ,\"\\u0062\":1.50e3,\"c\":\"v\" } "));
    assert_true(json_scan_enter(&scan));
    assert_int_equal(json_scan_member(&scan, &name, &value), JSON_SCAN_MEMBER);
    assert_true(json_text_is(&name, "a"));
    assert_true(span_equals_text(value.span, "[1,{\"x\":2}]"));
    assert_int_equal(json_scan_member(&scan, &name, &value), JSON_SCAN_MEMBER);
    assert_true(json_text_is(&name, "b"));
    assert_true(span_equals_text(value.span, "1.50e3"));
    assert_int_equal(json_scan_member(&scan, &name, &value), JSON_SCAN_MEMBER);
    assert_true(span_equals_text(json_text_inner(&value), "v"));
    assert_int_equal(json_scan_member(&scan, &name, &value), JSON_SCAN_END);
    assert_true(json_scan_finish(&scan));
}

static struct json_scan_value string_of(const char *text)
{
    struct json_scan scan;
    struct json_scan_value value = {0};
    json_scan_begin(&scan, span_of_text(text));
    assert_true(json_scan_value(&scan, &value) && json_scan_finish(&scan));
    assert_int_equal(value.kind, JSON_SCAN_STRING);
    return value;
}

static void texts_are_what_escapes_mean(void **state)
{
    struct json_scan_value escaped =
        string_of("\"\\u0061\\/\\u00e9\\u20ac\\ud83d\\ude00\\n\\u0000z\\\\\\\"\\b\\f\\r\\t\"");
    static const char meant[] = "a/\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\n\0z\\\"\b\f\r\t";
    uint8_t text[64];
    size_t length = 0;
    (void)state;
    assert_true(escaped.escaped);
    assert_true(json_text_copy(&escaped, text, sizeof(meant) - 1, &length));
    assert_int_equal(length, sizeof(meant) - 1);
    assert_memory_equal(text, meant, length);
    assert_false(json_text_copy(&escaped, text, sizeof(meant) - 2, &length));
    struct json_scan_value plain = string_of("\"id\"");
    struct json_scan_value other = string_of("\"\\u0069\\u0064\"");
    struct json_scan_value longer = string_of("\"\\u0069d \"");
    struct json_scan_value capital = string_of("\"Id\"");
    assert_true(json_text_same(&plain, &other) && json_text_same(&other, &plain));
    assert_int_equal(json_text_hash(&plain), json_text_hash(&other));
    assert_false(json_text_same(&plain, &longer) || json_text_same(&longer, &other) ||
                 json_text_same(&plain, &capital));
    assert_true(json_text_is(&other, "id") && json_text_is(&plain, "id"));
    assert_false(json_text_is(&plain, "i") || json_text_is(&plain, "idx") || json_text_is(&plain, ""));
    struct json_scan_value empty = string_of("\"\"");
    assert_true(json_text_is(&empty, ""));
    assert_false(json_text_is(&empty, "a"));
}

/* Property: what the maker makes is accepted and its span is all of it; and after random damage both opinions agree. */
static void agrees_with_the_oracle(void **state)
{
    struct random random = random_new(11);
    size_t still_valid = 0;
    (void)state;
    for (int round = 0; round < 30000; round++) {
        struct buffer text = buffer_new(1 << 20);
        struct json_scan_value value;
        json_oracle_make(&random, 5, &text);
        assert_true(valid(buffer_span(&text), &value));
        assert_int_equal(value.span.length, text.length);
        uint64_t changes = random_below(&random, 2) + 1;
        for (uint64_t i = 0; i < changes; i++) {
            static const char bytes[] = "{}[],:\"\\u0d 1e-.\x80\xC3\xFF\x01";
            text.data[random_below(&random, text.length)] = (uint8_t)bytes[random_below(&random, sizeof(bytes))];
        }
        text.length -= random_below(&random, 4) == 0 ? random_below(&random, text.length) : 0;
        bool good = json_oracle_valid(buffer_span(&text), JSON_SCAN_DEPTH_MAX);
        assert_int_equal(valid(buffer_span(&text), &value), good);
        still_valid += good ? 1 : 0;
        buffer_free(&text);
    }
    assert_in_range(still_valid, 1000, 29000); /* both answers were asked for */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_the_grammar),
        cmocka_unit_test(refuses_all_else),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(brackets_match_their_own_kind),
        cmocka_unit_test(large_texts_are_scanned_whole),
        cmocka_unit_test(members_come_one_by_one),
        cmocka_unit_test(texts_are_what_escapes_mean),
        cmocka_unit_test(agrees_with_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
