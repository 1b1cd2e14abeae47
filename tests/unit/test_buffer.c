/* Growable bytes with a bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/random.h"

static void test_starts_empty(void **state)
{
    (void)state;
    struct buffer buffer = buffer_new(10);
    assert_null(buffer.data);
    assert_non_null(buffer_span(&buffer).data);
    assert_int_equal(buffer_span(&buffer).length, 0);
    buffer_free(&buffer);
    assert_int_equal(buffer.most, 10);
}

static void test_grows_to_its_bound_and_no_further(void **state)
{
    (void)state;
    struct buffer buffer = buffer_new(1000);
    for (unsigned i = 0; i < 999; i++) {
        buffer_add(&buffer, "x", 1);
    }
    assert_false(buffer.full);
    buffer_add(&buffer, "yz", 2);
    assert_true(buffer.full);
    assert_int_equal(buffer.length, 999);
    buffer_add(&buffer, "y", 1); /* would fit, but something before it is missing */
    assert_int_equal(buffer.length, 999);
    assert_true(buffer.capacity <= 1000);
    buffer_clear(&buffer);
    assert_false(buffer.full);
    buffer_add_text(&buffer, "again");
    assert_true(span_equals_text(buffer_span(&buffer), "again"));
    assert_null(buffer_extend(&buffer, SIZE_MAX));
    buffer_free(&buffer);
    buffer_add_text(&buffer, "usable");
    assert_true(span_equals_text(buffer_span(&buffer), "usable"));
    buffer_free(&buffer);
}

static void test_nothing_adds_nothing(void **state)
{
    (void)state;
    struct buffer buffer = buffer_new(0);
    buffer_add(&buffer, NULL, 0);
    buffer_add_span(&buffer, SPAN_ABSENT);
    buffer_add_text(&buffer, "");
    buffer_add_format(&buffer, "%s", "");
    assert_non_null(buffer_extend(&buffer, 0));
    assert_false(buffer.full);
    assert_int_equal(buffer.length, 0);
    buffer_add_text(&buffer, "x");
    assert_true(buffer.full);
    buffer_free(&buffer);
}

static void test_format(void **state)
{
    (void)state;
    struct buffer buffer = buffer_new(5000);
    buffer_add_format(&buffer, "%d-%s", 7, "a");
    assert_true(span_equals_text(buffer_span(&buffer), "7-a"));
    for (int width = 250; width < 260; width++) {
        buffer_clear(&buffer);
        buffer_add_format(&buffer, "%*d", width, 3);
        assert_int_equal(buffer.length, width);
        assert_int_equal(buffer.data[width - 1], '3');
    }
    buffer_add_format(&buffer, "%*d", 5000, 3);
    assert_true(buffer.full);
    buffer_free(&buffer);
    buffer = buffer_new(3);
    buffer_add_format(&buffer, "abc"); /* exactly, without a NUL */
    assert_true(span_equals_text(buffer_span(&buffer), "abc"));
    assert_false(buffer.full);
    buffer_free(&buffer);
}

static void test_random_pieces(void **state)
{
    (void)state;
    struct random random = random_new(1);
    static uint8_t model[20000];
    for (unsigned round = 0; round < 50; round++) {
        size_t most = random_below(&random, sizeof(model));
        struct buffer buffer = buffer_new(most);
        size_t length = 0;
        for (;;) {
            uint8_t piece[300];
            size_t size = random_below(&random, sizeof(piece));
            random_fill(&random, piece, size);
            buffer_add(&buffer, piece, size);
            if (length + size > most) {
                break;
            }
            memcpy(model + length, piece, size);
            length += size;
        }
        assert_true(buffer.full);
        assert_true(span_equal(buffer_span(&buffer), (struct span){model, length}));
        assert_true(buffer.capacity <= most);
        buffer_free(&buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_empty),         cmocka_unit_test(test_grows_to_its_bound_and_no_further),
        cmocka_unit_test(test_nothing_adds_nothing), cmocka_unit_test(test_format),
        cmocka_unit_test(test_random_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
