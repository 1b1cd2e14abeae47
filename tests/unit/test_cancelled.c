/* The set of cancelled records against a search through all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "scheduler/cancelled.h"

#define OFFSETS 3000

static bool model[OFFSETS];

static struct key key_of(int64_t offset)
{
    return (struct key){offset * 10, offset};
}

static bool keep_some(struct cancelled_row *row, void *context)
{
    const int64_t *rest = context;
    row->planned = true;
    return row->key.offset % 3 != *rest;
}

static uint32_t check(const struct cancelled *set)
{
    uint32_t count = 0;
    for (int64_t i = 0; i < OFFSETS; i++) {
        const struct cancelled_row *row = cancelled_find(set, i);
        assert_int_equal(row != NULL, model[i]);
        assert_int_equal(cancelled_has(set, i), model[i]);
        assert_true(row == NULL || (row->key.offset == i && row->key.due_ms == i * 10 && row->lane == i % 5));
        count += model[i];
    }
    return count;
}

static void test_against_a_search(void **state)
{
    (void)state;
    struct random random = random_new(9);
    struct cancelled set = {0};
    for (int64_t turn = 0; turn < 12; turn++) {
        for (int i = 0; i < 700; i++) {
            int64_t offset = random_between(&random, 0, OFFSETS - 1);
            cancelled_add(&set, key_of(offset), (lane_index)(offset % 5));
            model[offset] = true;
        }
        assert_int_equal(check(&set), set.count);
        int64_t rest = turn % 3;
        cancelled_filter(&set, keep_some, &rest);
        for (int64_t i = 0; i < OFFSETS; i++) {
            model[i] = model[i] && i % 3 != rest;
        }
        assert_int_equal(check(&set), set.count);
    }
    cancelled_free(&set);
    assert_int_equal(set.count, 0);
    assert_null(cancelled_find(&set, 1));
}

/* What is known of one that is there must not be forgotten when it is named again. */
static void test_adding_again_changes_nothing(void **state)
{
    (void)state;
    struct cancelled set = {0};
    cancelled_add(&set, key_of(7), 2);
    cancelled_find(&set, 7)->erased = true;
    cancelled_add(&set, key_of(7), 3);
    assert_int_equal(set.count, 1);
    assert_true(cancelled_find(&set, 7)->erased);
    assert_int_equal(cancelled_find(&set, 7)->lane, 2);
    cancelled_free(&set);
}

static void test_filter_keeps_what_it_changed(void **state)
{
    (void)state;
    int64_t rest = 0;
    struct cancelled set = {0};
    cancelled_filter(&set, keep_some, &rest);
    cancelled_add(&set, key_of(1), 0);
    cancelled_add(&set, key_of(3), 0);
    cancelled_filter(&set, keep_some, &rest);
    assert_int_equal(set.count, 1);
    assert_true(cancelled_find(&set, 1)->planned);
    assert_null(cancelled_find(&set, 3));
    cancelled_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_search),
        cmocka_unit_test(test_adding_again_changes_nothing),
        cmocka_unit_test(test_filter_keeps_what_it_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
