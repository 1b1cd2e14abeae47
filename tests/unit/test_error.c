/* Errors as values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static void test_set(void **state)
{
    (void)state;
    struct error error;
    assert_false(error_set(&error, ERROR_FULL, "disk %s has %d bytes", "sda", 7));
    assert_int_equal(error.code, ERROR_FULL);
    assert_string_equal(error.text, "disk sda has 7 bytes");
    assert_false(error_set(NULL, ERROR_FULL, "%d", 1));
}

static void test_prefix(void **state)
{
    (void)state;
    struct error error;
    (void)error_set(&error, ERROR_BUSY, "locked");
    assert_false(error_prefix(&error, "store %d", 3));
    assert_string_equal(error.text, "store 3: locked");
    assert_int_equal(error.code, ERROR_BUSY);
    assert_false(error_prefix(NULL, "x"));
}

static void test_own_text_as_argument(void **state)
{
    (void)state;
    struct error error;
    (void)error_set(&error, ERROR_BUSY, "inner");
    (void)error_set(&error, ERROR_INVALID, "outer (%s)", error.text);
    assert_string_equal(error.text, "outer (inner)");
    (void)error_prefix(&error, "again %s", error.text);
    assert_string_equal(error.text, "again outer (inner): outer (inner)");
}

static void test_long_texts_are_cut_and_terminated(void **state)
{
    (void)state;
    struct error error;
    char text[2 * ERROR_TEXT_MAX];
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    (void)error_set(&error, ERROR_INVALID, "%s", text);
    assert_int_equal(strlen(error.text), ERROR_TEXT_MAX - 1);
    (void)error_prefix(&error, "p");
    assert_int_equal(strlen(error.text), ERROR_TEXT_MAX - 1);
    assert_memory_equal(error.text, "p: aaa", 6);
    (void)error_prefix(&error, "%s", text);
    assert_int_equal(strlen(error.text), ERROR_TEXT_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_own_text_as_argument),
        cmocka_unit_test(test_long_texts_are_cut_and_terminated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
