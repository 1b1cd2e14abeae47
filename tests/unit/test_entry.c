/* The pool of entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "scheduler/entry.h"

static void test_indexes_are_distinct_and_reused(void **state)
{
    (void)state;
    struct entry_pool pool = entry_pool_new();
    entry_pool_validate(&pool);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 1; i <= 1000; i++) {
            assert_int_equal(entry_pool_take(&pool, (struct key){i, i}, i), i); /* from the start again, none is lost */
        }
        assert_int_equal(entry_pool_count(&pool), 1000);
        for (uint32_t i = 1; i <= 1000; i++) {
            assert_int_equal(entry_at(&pool, i)->bytes, i);
            entry_pool_give(&pool, i);
        }
        entry_pool_validate(&pool);
        assert_int_equal(entry_pool_count(&pool), 0);
    }
    entry_pool_free(&pool);
}

static void test_random_take_and_give(void **state)
{
    (void)state;
    struct entry_pool pool = entry_pool_new();
    struct random random = random_new(8);
    static entry_index held[500];
    static int64_t offsets[500];
    int64_t next = 0;
    for (unsigned i = 0; i < 100000; i++) {
        size_t at = random_below(&random, 500);
        if (held[at] == ENTRY_NONE) {
            offsets[at] = next++;
            held[at] = entry_pool_take(&pool, (struct key){7, offsets[at]}, 1);
            assert_int_not_equal(held[at], ENTRY_NONE);
        } else {
            assert_int_equal(entry_at(&pool, held[at])->offset, offsets[at]); /* nobody else wrote to it */
            entry_pool_give(&pool, held[at]);
            held[at] = ENTRY_NONE;
        }
        if (i % 1000 == 0) {
            entry_pool_validate(&pool);
        }
    }
    assert_true(pool.fresh <= 501);
    entry_pool_free(&pool);
    assert_int_equal(entry_pool_count(&pool), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indexes_are_distinct_and_reused),
        cmocka_unit_test(test_random_take_and_give),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
