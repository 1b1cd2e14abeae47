/* Arithmetic of time buckets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "scheduler/bucket.h"

static int64_t random_due(struct random *random)
{
    return (int64_t)(random_next(random) >> (1 + random_below(random, 62)));
}

static void test_widths(void **state)
{
    (void)state;
    assert_int_equal(bucket_width_ms(0), 8192);
    assert_int_equal(bucket_width_ms(1), 8192 * 64);
    assert_int_equal(bucket_width_ms(2), 8192 * 64 * 64);
    assert_int_equal(bucket_width_ms(3), INT64_C(8192) * 64 * 64 * 64);
}

static void test_a_bucket_covers_exactly_its_time(void **state)
{
    (void)state;
    struct random random = random_new(5);
    for (unsigned i = 0; i < 100000; i++) {
        int64_t due = i == 0 ? 0 : i == 1 ? INT64_MAX : random_due(&random);
        unsigned level = (unsigned)random_below(&random, BUCKET_LEVELS);
        struct bucket_id id = bucket_of(9, level, due);
        assert_true(bucket_is_valid(id));
        int64_t start = bucket_start_ms(id);
        int64_t last = bucket_last_ms(id);
        assert_true(start <= due && due <= last);
        assert_int_equal(last - start, bucket_width_ms(level) - 1);
        assert_true(bucket_covers(id, start) && bucket_covers(id, last) && bucket_covers(id, due));
        assert_false(bucket_covers(id, start - 1));
        if (last < INT64_MAX) {
            assert_false(bucket_covers(id, last + 1));
            assert_int_equal(bucket_end_ms(id), last + 1);
        } else {
            assert_int_equal(bucket_end_ms(id), TIME_NEVER);
        }
    }
}

static void test_parents_and_children(void **state)
{
    (void)state;
    struct random random = random_new(6);
    for (unsigned i = 0; i < 100000; i++) {
        int64_t due = random_due(&random);
        for (unsigned level = 1; level < BUCKET_LEVELS; level++) {
            struct bucket_id id = bucket_of(1, level, due);
            struct bucket_id child = bucket_of(1, level - 1, due);
            struct bucket_id first = bucket_first_child(id);
            assert_int_equal(bucket_compare(bucket_parent(child), id), 0);
            assert_int_equal(bucket_start_ms(first), bucket_start_ms(id));
            assert_int_equal(first.level, level - 1);
            assert_in_range(child.number - first.number, 0, 63);
        }
    }
}

static void test_level_for_follows_the_rule(void **state)
{
    (void)state;
    assert_int_equal(bucket_level_for(0, INT64_MAX), 0);
    assert_int_equal(bucket_level_for(0, INT64_MIN), 0);
    assert_int_equal(bucket_level_for(5, -5), 0);
    assert_int_equal(bucket_level_for(INT64_MAX, 0), 3);
    assert_int_equal(bucket_level_for(INT64_MAX, INT64_MAX), 0);
    assert_int_equal(bucket_level_for(64 * 8192 - 1, 0), 0);
    assert_int_equal(bucket_level_for(64 * 8192, 0), 1);
    assert_int_equal(bucket_level_for(64 * 8192, 8191), 1);
    assert_int_equal(bucket_level_for(64 * 8192, 8192), 0);
    struct random random = random_new(7);
    for (unsigned i = 0; i < 100000; i++) {
        int64_t now = random_due(&random);
        int64_t due = random_due(&random);
        unsigned level = bucket_level_for(due, now);
        int64_t ahead = bucket_of(0, level, due).number - bucket_of(0, level, now).number;
        assert_true(ahead < BUCKET_AHEAD_MAX || level == BUCKET_LEVELS - 1);
        if (level > 0) {
            assert_true(bucket_of(0, level - 1, due).number - bucket_of(0, level - 1, now).number >= BUCKET_AHEAD_MAX);
        }
    }
}

static void test_split_moment(void **state)
{
    (void)state;
    for (unsigned level = 1; level < BUCKET_LEVELS; level++) {
        struct bucket_id id = bucket_of(0, level, 1764425569123);
        int64_t split = bucket_split_ms(id);
        assert_true(bucket_start_ms(id) - split < bucket_width_ms(level) / 4);
        assert_false(bucket_start_ms(id) - (split - 1) < bucket_width_ms(level) / 4);
    }
    assert_true(bucket_split_ms(bucket_of(0, 3, 0)) < 0);
}

static void test_validity_and_order(void **state)
{
    (void)state;
    assert_false(bucket_is_valid((struct bucket_id){0, BUCKET_LEVELS, 0}));
    assert_false(bucket_is_valid((struct bucket_id){0, 0, -1}));
    assert_true(bucket_is_valid((struct bucket_id){0, 0, INT64_MAX >> 13}));
    assert_false(bucket_is_valid((struct bucket_id){0, 0, (INT64_MAX >> 13) + 1}));
    assert_false(bucket_is_valid((struct bucket_id){0, 3, (INT64_MAX >> 31) + 1}));
    static const struct bucket_id sorted[] = {{0, 0, 5}, {0, 0, 6}, {0, 1, 0}, {0, 3, 1}, {1, 0, 0}, {1, 0, 1}};
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            assert_int_equal(bucket_compare(sorted[i], sorted[j]), (i > j) - (i < j));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_a_bucket_covers_exactly_its_time),
        cmocka_unit_test(test_parents_and_children),
        cmocka_unit_test(test_level_for_follows_the_rule),
        cmocka_unit_test(test_split_moment),
        cmocka_unit_test(test_validity_and_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
