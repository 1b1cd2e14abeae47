/* Printable text from bytes of any kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"

static void expect(struct span bytes, size_t size, const char *text)
{
    char *out = memory_new(size, 1);
    size_t length = text_printable(bytes, out, size);
    assert_string_equal(out, text);
    assert_int_equal(length, strlen(text));
    free(out);
}

#define BYTES(literal) ((struct span){(const uint8_t *)(literal), sizeof(literal) - 1})

static void test_printable(void **state)
{
    (void)state;
    expect(BYTES(""), 10, "");
    expect(SPAN_ABSENT, 10, "");
    expect(BYTES("order-123"), 20, "order-123");
    expect(BYTES("a\0b"), 20, "a\\x00b");
    expect(BYTES("\x1b[31m\n\r\t\\"), 40, "\\x1b[31m\\n\\r\\t\\\\");
    expect(BYTES("\x7f"), 40, "\\x7f");
    expect(BYTES("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"), 40,
           "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
    expect(BYTES("\xc2\x85"), 40, "\\xc2\\x85"); /* C1 next line */
    expect(BYTES("a\xe2\x80\xae"
                 "b"),
           40,
           "a\\xe2\\x80\\xae"
           "b"); /* right-to-left override */
    expect(BYTES("\xff\xc3"), 40, "\\xff\\xc3");
    expect(BYTES("\xed\xa0\x80"), 40, "\\xed\\xa0\\x80"); /* a surrogate */
    expect(BYTES("\xc0\x80"), 40, "\\xc0\\x80");          /* overlong */
}

static void test_cuts(void **state)
{
    (void)state;
    expect(BYTES("abcdef"), 7, "abcdef");
    expect(BYTES("abcdef"), 6, "ab...");
    expect(BYTES("abcdef"), 5, "a...");
    expect(BYTES("abcdef"), 4, "...");
    expect(BYTES("abcdef"), 3, "ab");
    expect(BYTES("abcdef"), 1, "");
    expect(BYTES("abc\xf0\x9f\x98\x80"), 8, "abc\xf0\x9f\x98\x80");
    expect(BYTES("abc\xf0\x9f\x98\x80"), 7, "abc...");
    expect(BYTES("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"), 9, "\xe2\x82\xac...");
    expect(BYTES("\x01\x02\x03"), 9, "\\x01..."); /* not in the middle of an escape */
    assert_int_equal(text_printable(BYTES("x"), NULL, 0), 0);
}

static void test_utf8_length(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
    } cases[] = {
        {"a", 1},
        {"\x7f", 1},
        {"\x80", 0},
        {"\xbf", 0},
        {"\xc1\xbf", 0},
        {"\xc2\x80", 2},
        {"\xc2", 0},
        {"\xc2\x41", 0},
        {"\xdf\xbf", 2},
        {"\xe0\x9f\xbf", 0},
        {"\xe0\xa0\x80", 3},
        {"\xe0\xa0", 0},
        {"\xe1\x80\x41", 0},
        {"\xed\x9f\xbf", 3},
        {"\xed\xa0\x80", 0},
        {"\xee\x80\x80", 3},
        {"\xef\xbf\xbf", 3},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
        {"\xff", 0},
        {"\xf0\x90\x80", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(text_utf8_length((const uint8_t *)cases[i].bytes, strlen(cases[i].bytes)), cases[i].length);
    }
    assert_int_equal(text_utf8_length((const uint8_t *)"", 1), 1);
    assert_int_equal(text_utf8_length((const uint8_t *)"", 0), 0);
    assert_true(text_is_utf8(SPAN_ABSENT));
    assert_true(text_is_utf8(BYTES("a\xc3\xbc"
                                   "b")));
    assert_false(text_is_utf8(BYTES("a\xc3")));
    for (size_t at = 0; at < 20; at++) { /* wherever it stands among plain letters */
        uint8_t bytes[20];
        memset(bytes, 'a', sizeof(bytes));
        bytes[at] = 0xff;
        assert_false(text_is_utf8((struct span){bytes, sizeof(bytes)}));
        assert_true(text_is_utf8((struct span){bytes, at}));
    }
}

/* Any bytes, any size: terminated, in bounds, valid, without control bytes, and all of it if there is room. */
static void test_random_bytes(void **state)
{
    (void)state;
    struct random random = random_new(12);
    for (unsigned i = 0; i < 30000; i++) {
        uint8_t bytes[40];
        size_t count = random_below(&random, sizeof(bytes));
        random_fill(&random, bytes, count);
        for (size_t at = 0; random_below(&random, 2) == 0 && at + 3 < count; at += 3) {
            memcpy(bytes + at, "\xe2\x82\xac", 3);
        }
        size_t size = 1 + random_below(&random, 200);
        char *text = memory_new(size, 1);
        memset(text, 'z', size);
        size_t length = text_printable((struct span){bytes, count}, text, size);
        assert_true(length < size);
        assert_int_equal(strlen(text), length);
        assert_true(text_is_utf8(span_of_text(text)));
        for (size_t at = 0; at < length; at++) {
            assert_true((uint8_t)text[at] >= 0x20 && text[at] != 0x7f);
        }
        assert_true(size < 4 * count + 1 || length >= count); /* every byte is there as itself or longer */
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_printable),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_utf8_length),
        cmocka_unit_test(test_random_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
