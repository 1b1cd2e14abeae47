/* Partitions by slot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "ops/partitions.h"

static void test_add_and_find(void **state)
{
    (void)state;
    struct partitions partitions = {0};
    assert_null(partitions_find(&partitions, "a", 0));
    assert_null(partitions_at(&partitions, 0));
    struct partition *first = partitions_add(&partitions, "a", 0, 3);
    struct partition *second = partitions_add(&partitions, "a", 1, 3);
    struct partition *third = partitions_add(&partitions, "b", 0, 4);
    assert_int_equal(first->state, PARTITIONS_OPENING);
    assert_int_equal(first->source_index, 3);
    assert_false(first->gained);
    assert_string_equal(first->problem, "");
    assert_int_equal(first->slot, 0);
    assert_int_equal(third->slot, 2);
    char same_name[] = "a"; /* by name, not by address alone */
    assert_ptr_equal(partitions_find(&partitions, same_name, 1), second);
    assert_ptr_equal(partitions_find(&partitions, "b", 0), third);
    assert_null(partitions_find(&partitions, "b", 1));
    assert_null(partitions_find(&partitions, "c", 0));
    assert_null(partitions_find(&partitions, NULL, 0)); /* an event that concerns no topic */
    assert_ptr_equal(partitions_at(&partitions, 1), second);
    assert_null(partitions_at(&partitions, 3));
    partitions_free(&partitions);
    assert_int_equal(partitions.count, 0);
}

static void test_slots_are_used_again_epochs_are_not(void **state)
{
    (void)state;
    struct partitions partitions = {0};
    struct partition *kept = partitions_add(&partitions, "a", 0, 0);
    struct partition *gone = partitions_add(&partitions, "a", 1, 0);
    uint32_t epoch = gone->epoch;
    assert_true(epoch != kept->epoch && epoch != 0 && kept->epoch != 0);
    partitions_remove(&partitions, gone);
    assert_null(partitions_at(&partitions, 1));
    assert_null(partitions_find(&partitions, "a", 1));
    struct partition *next = partitions_add(&partitions, "c", 0, 0);
    assert_int_equal(next->slot, 1);
    assert_true(next->epoch > epoch);
    assert_true(partitions_next_epoch(&partitions) > next->epoch);
    assert_ptr_equal(partitions_at(&partitions, 0), kept);
    partitions_free(&partitions);
}

static void test_count(void **state)
{
    (void)state;
    struct partitions partitions = {0};
    partitions_add(&partitions, "a", 0, 0)->state = PARTITIONS_OPEN;
    partitions_add(&partitions, "a", 1, 0)->state = PARTITIONS_HELD;
    struct partition *gone = partitions_add(&partitions, "a", 2, 0);
    gone->state = PARTITIONS_OPEN;
    assert_int_equal(partitions_count(&partitions, PARTITIONS_OPEN), 2);
    assert_int_equal(partitions_count(&partitions, PARTITIONS_HELD), 1);
    assert_int_equal(partitions_count(&partitions, PARTITIONS_OPENING), 0);
    partitions_remove(&partitions, gone);
    assert_int_equal(partitions_count(&partitions, PARTITIONS_OPEN), 1);
    assert_int_equal(partitions_count(&partitions, PARTITIONS_FREE), 0); /* free slots have no state */
    partitions_free(&partitions);
}

/* Slots stay dense, pointers stay valid, whatever comes and goes. */
static void test_random_rebalances(void **state)
{
    (void)state;
    struct random random = random_new(3);
    struct partitions partitions = {0};
    struct partition *held[40] = {NULL};
    uint32_t last_epoch = 0;
    for (int i = 0; i < 20000; i++) {
        int32_t number = (int32_t)random_below(&random, 40);
        if (held[number] != NULL) {
            partitions_remove(&partitions, held[number]);
            held[number] = NULL;
        } else {
            held[number] = partitions_add(&partitions, "t", number, 0);
            assert_true(held[number]->epoch > last_epoch);
            last_epoch = held[number]->epoch;
        }
        int32_t look = (int32_t)random_below(&random, 40);
        assert_ptr_equal(partitions_find(&partitions, "t", look), held[look]);
        if (held[look] != NULL) {
            assert_int_equal(held[look]->number, look);
            assert_ptr_equal(partitions_at(&partitions, held[look]->slot), held[look]);
        }
        assert_true(partitions.count <= 40);
    }
    partitions_free(&partitions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_and_find),
        cmocka_unit_test(test_slots_are_used_again_epochs_are_not),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_random_rebalances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
