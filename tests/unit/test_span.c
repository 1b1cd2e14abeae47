/* Spans and checked arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/checked.h"
#include "base/span.h"

static void test_absent_is_not_empty(void **state)
{
    (void)state;
    struct span empty = span_of_text("");
    assert_true(span_equal(SPAN_ABSENT, SPAN_ABSENT));
    assert_true(span_equal(empty, span_of_text("")));
    assert_false(span_equal(empty, SPAN_ABSENT));
    assert_false(span_equal(SPAN_ABSENT, empty));
    assert_true(span_equal(span_of_text(NULL), SPAN_ABSENT));
    assert_false(span_equals_text(SPAN_ABSENT, ""));
    assert_true(span_equals_text(empty, ""));
}

static void test_equality(void **state)
{
    (void)state;
    assert_true(span_equals_text(span_of_text("abc"), "abc"));
    assert_false(span_equals_text(span_of_text("abc"), "abd"));
    assert_false(span_equals_text(span_of_text("abc"), "ab"));
    struct span with_nul = {(const uint8_t *)"a\0b", 3};
    assert_false(span_equals_text(with_nul, "a"));
}

static void test_checked_arithmetic(void **state)
{
    (void)state;
    int64_t number = 0;
    size_t size = 0;
    assert_true(checked_add_i64(INT64_MAX - 1, 1, &number));
    assert_int_equal(number, INT64_MAX);
    assert_false(checked_add_i64(INT64_MAX, 1, &number));
    assert_false(checked_add_i64(INT64_MIN, -1, &number));
    assert_true(checked_mul_i64(-4, INT64_C(1) << 61, &number));
    assert_true(number == INT64_MIN);
    assert_false(checked_mul_i64(4, INT64_C(1) << 61, &number));
    assert_false(checked_mul_i64(INT64_MIN, -1, &number));
    assert_true(checked_add_size(SIZE_MAX - 1, 1, &size));
    assert_true(size == SIZE_MAX);
    assert_false(checked_add_size(SIZE_MAX, 1, &size));
    assert_true(checked_mul_size(SIZE_MAX, 1, &size));
    assert_false(checked_mul_size(SIZE_MAX / 2 + 1, 2, &size));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absent_is_not_empty),
        cmocka_unit_test(test_equality),
        cmocka_unit_test(test_checked_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
