/* The seeded random source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"

static void test_same_seed_same_numbers(void **state)
{
    (void)state;
    struct random a = random_new(5);
    struct random b = random_new(5);
    struct random c = random_new(6);
    unsigned differ = 0;
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t number = random_next(&a);
        assert_true(number == random_next(&b));
        differ += number != random_next(&c);
    }
    assert_true(differ > 990);
}

/* The generator's published algorithm, from state 1, 2, 3, 4: the first numbers are known. */
static void test_known_numbers(void **state)
{
    (void)state;
    struct random random = {{1, 2, 3, 4}};
    static const uint64_t known[] = {11520, 0, 1509978240, 1215971899390074240};
    for (size_t i = 0; i < 4; i++) {
        assert_true(random_next(&random) == known[i]);
    }
}

static void test_below_is_even(void **state)
{
    (void)state;
    struct random random = random_new(0);
    unsigned counts[7] = {0};
    for (unsigned i = 0; i < 70000; i++) {
        counts[random_below(&random, 7)]++;
    }
    for (size_t i = 0; i < 7; i++) {
        assert_in_range(counts[i], 9500, 10500);
    }
    unsigned low =
        0; /* a bound that 2^64 is no multiple of by far: values left undropped would make half of them low */
    for (unsigned i = 0; i < 30000; i++) {
        low += random_below(&random, UINT64_C(3) << 62) < UINT64_C(1) << 62;
    }
    assert_in_range(low, 9500, 10500);
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(random_below(&random, 1), 0);
        assert_true(random_below(&random, (UINT64_C(1) << 63) + 1) <= UINT64_C(1) << 63);
    }
}

static void test_between_reaches_both_ends(void **state)
{
    (void)state;
    struct random random = random_new(2);
    unsigned least = 0;
    unsigned greatest = 0;
    unsigned negative = 0;
    for (unsigned i = 0; i < 10000; i++) {
        int64_t number = random_between(&random, -2, 2);
        assert_true(number >= -2 && number <= 2);
        least += number == -2;
        greatest += number == 2;
        negative += random_between(&random, INT64_MIN, INT64_MAX) < 0;
        assert_true(random_between(&random, INT64_MAX, INT64_MAX) == INT64_MAX);
        assert_true(random_between(&random, INT64_MIN, INT64_MIN) == INT64_MIN);
    }
    assert_in_range(least, 1700, 2300);
    assert_in_range(greatest, 1700, 2300);
    assert_in_range(negative, 4700, 5300);
}

static void test_fill_writes_no_byte_too_many(void **state)
{
    (void)state;
    struct random random = random_new(3);
    for (size_t size = 0; size < 40; size++) {
        uint8_t bytes[48];
        memset(bytes, 0x5a, sizeof(bytes));
        random_fill(&random, bytes, size);
        size_t changed = 0;
        for (size_t i = 0; i < sizeof(bytes); i++) {
            changed += bytes[i] != 0x5a;
            assert_true(i < size || bytes[i] == 0x5a);
        }
        assert_true(changed + 3 >= size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_seed_same_numbers),
        cmocka_unit_test(test_known_numbers),
        cmocka_unit_test(test_below_is_even),
        cmocka_unit_test(test_between_reaches_both_ends),
        cmocka_unit_test(test_fill_writes_no_byte_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
