/* Marks and skips (R5): which re-appends they end, how long they are kept, and what they keep C out of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/marks.h"

#define A ((struct record_id){0, 1})
#define B ((struct record_id){0, 2})
#define READ(position) ((struct marks_proof){(position), INT64_MAX}) /* and nothing is undecided */

static int setup(void **state)
{
    static struct marks marks;
    marks = (struct marks){0};
    *state = &marks;
    return 0;
}

static int teardown(void **state)
{
    marks_free(*state);
    return 0;
}

static void gone(struct waiting_control control, void *context)
{
    (void)context;
    fail_msg("the control at %lld waited", (long long)control.offset);
}

static struct marks *gain(void **state, int64_t high)
{
    struct marks *marks = *state;
    marks_gain(marks, high, 0, NULL, 0, NULL, 0);
    return marks;
}

static void test_older_root_is_skipped_and_younger_is_not(void **state)
{
    struct marks *marks = gain(state, 100);
    marks_control(marks, A, 10, true, false);
    assert_true(marks_skip(marks, A, 9, 50));
    assert_false(marks_skip(marks, A, 10, 51)); /* a copy of the control itself */
    assert_false(marks_skip(marks, A, 11, 52));
    assert_false(marks_skip(marks, B, 9, 53));
    assert_int_equal(marks->skip_count, 1);
    assert_int_equal(marks->skips[0].offset, 10);
    assert_int_equal(marks->skips[0].skipped, 50);
}

static void test_mark_only_where_a_reappend_may_stand_beyond(void **state)
{
    struct marks *marks = gain(state, 100);
    marks_control(marks, A, 99, true, false);
    marks_control(marks, B, 100, true, false);
    assert_false(marks_any(marks));
    marks_control(marks, A, 98, true, false);
    assert_true(marks_any(marks));
    assert_int_equal(id_table_find(&marks->table, A)->end, 100);
}

static void test_end_is_the_greater_of_watermark_and_own(void **state)
{
    struct marks *marks = gain(state, 100);
    marks_reappending(marks);
    marks_reappended(marks, 120);
    marks_control(marks, A, 110, true, false);
    assert_int_equal(id_table_find(&marks->table, A)->end, 120);
    marks_reappending(marks);
    marks_reappended(marks, 0); /* aborted: the last ones are still where they were */
    marks_control(marks, B, 111, true, false);
    assert_int_equal(id_table_find(&marks->table, B)->end, 120);
}

static void test_end_comes_to_be_known(void **state)
{
    struct marks *marks = gain(state, 20);
    marks_control(marks, A, 10, true, false);
    marks_reappending(marks);
    marks_control(marks, B, 90, true, false);
    assert_int_equal(id_table_find(&marks->table, B)->end, MARKS_END_UNKNOWN);
    marks_proved(marks, READ(1000000), 0, gone, NULL);
    assert_non_null(id_table_find(&marks->table, B)); /* nothing proves it */
    marks_reappended(marks, 95);
    assert_int_equal(id_table_find(&marks->table, B)->end, 95);
}

static void test_proved_when_all_below_the_end_was_read(void **state)
{
    struct marks *marks = gain(state, 100);
    marks_control(marks, A, 10, true, false);
    marks_proved(marks, READ(99), 0, gone, NULL);
    assert_true(marks_any(marks));
    marks_proved(marks, READ(100), 0, gone, NULL);
    assert_false(marks_any(marks));
}

static void test_kept_for_what_is_undecided(void **state)
{
    struct marks *marks = gain(state, 0);
    assert_false(marks_control(marks, A, 10, true, false));
    assert_true(marks_control(marks, A, 11, true, true));
    assert_int_equal(id_table_find(&marks->table, A)->end, 12);
    assert_false(marks_provable(marks, (struct marks_proof){100, 10}));
    marks_proved(marks, (struct marks_proof){100, 10}, 0, gone, NULL);
    assert_true(marks_any(marks));
    assert_false(marks_provable(marks, (struct marks_proof){11, 11}));
    assert_true(marks_provable(marks, (struct marks_proof){12, 11}));
    marks_proved(marks, (struct marks_proof){12, 11}, 0, gone, NULL);
    assert_false(marks_any(marks));
}

static void note_gone(struct waiting_control control, void *context)
{
    *(struct waiting_control *)context = control;
}

static void test_control_waits_with_its_mark(void **state)
{
    struct marks *marks = gain(state, 100);
    struct waiting_control control = {-1, false};
    marks_control(marks, A, 10, true, false);
    assert_true(marks_wait(marks, A, 10, true));
    marks_control(marks, A, 20, false, false);
    assert_false(marks_wait(marks, A, 20, false)); /* the first one does */
    assert_false(marks_met(marks, A, 10, &control)); /* of the first one itself, or after it: that is nothing it has ended */
    assert_true(marks_met(marks, A, 9, &control));
    assert_int_equal(control.offset, 10);
    assert_true(control.by_cancel);
    assert_false(marks_met(marks, A, 9, &control));
    assert_true(marks_wait(marks, A, 20, false)); /* there is room for another */
    marks_proved(marks, READ(100), 0, note_gone, &control);
    assert_int_equal(control.offset, 20);
    assert_false(control.by_cancel);
}

static void test_what_an_older_mark_has_met_is_not_waited_for(void **state)
{
    struct marks *marks = gain(state, 100);
    struct waiting_control control;
    marks_control(marks, A, 10, true, false);
    marks_control(marks, A, 20, true, false);
    assert_true(marks_wait(marks, A, 20, true));
    assert_false(marks_met(marks, A, 9, &control));
    assert_true(marks_met(marks, A, 10, &control));
}

static void test_nothing_waits_when_reading_stops(void **state)
{
    struct marks *marks = gain(state, 100);
    struct waiting_control control = {-1, false};
    marks_control(marks, A, 10, true, false);
    assert_true(marks_wait(marks, A, 10, true));
    marks_stop(marks, note_gone, &control);
    assert_int_equal(control.offset, 10);
    assert_true(marks_any(marks)); /* it is of use to the next owner */
    marks_stop(marks, gone, NULL);
}

static void test_skips_that_span_nothing_are_not_its(void **state)
{
    struct skip skips[] = {{4, 4}, {3, 4}};
    struct marks *marks = *state;
    marks_gain(marks, 0, 0, NULL, 0, skips, 2);
    assert_int_equal(marks->skip_count, 1);
}

static void test_skip_goes_when_c_has_passed_it(void **state)
{
    struct marks *marks = gain(state, 100);
    marks_add_skip(marks, 10, 50);
    marks_proved(marks, READ(200), 50, gone, NULL); /* C itself may still be read from: record 50 is not below it */
    assert_int_equal(marks->skip_count, 1);
    marks_proved(marks, READ(200), 51, gone, NULL);
    assert_int_equal(marks->skip_count, 0);
}

static void test_bound_is_the_least_mark(void **state)
{
    struct marks *marks = gain(state, 100);
    assert_int_equal(marks_bound(marks, 77), 77);
    marks_control(marks, A, 30, true, false);
    marks_control(marks, B, 20, true, false);
    assert_int_equal(marks_bound(marks, 77), 20);
    assert_int_equal(marks_bound(marks, 15), 15);
}

static void test_bound_stays_out_of_skips(void **state)
{
    struct marks *marks = gain(state, 0);
    marks_add_skip(marks, 10, 50);
    assert_int_equal(marks_bound(marks, 9), 9);
    assert_int_equal(marks_bound(marks, 10), 10);
    assert_int_equal(marks_bound(marks, 11), 10);
    assert_int_equal(marks_bound(marks, 50), 10);
    assert_int_equal(marks_bound(marks, 51), 51);
}

/* Lowered by one skip into the range of another that was looked at before. */
static void test_bound_goes_down_from_skip_to_skip(void **state)
{
    struct marks *marks = gain(state, 0);
    marks_add_skip(marks, 10, 30);
    marks_add_skip(marks, 25, 50);
    marks_add_skip(marks, 5, 10);
    assert_int_equal(marks_bound(marks, 40), 5);
}

static void test_marks_of_a_checkpoint_reach_to_our_watermark(void **state)
{
    struct mark list[] = {{A, 10, 40}, {B, 12, MARKS_END_UNKNOWN}, {{0, 3}, 14, 900}, {{0, 4}, 8, 40}};
    struct skip skips[] = {{2, 9}, {2, 8}};
    struct marks *marks = *state;
    marks_gain(marks, 100, 9, list, 4, skips, 2);
    assert_int_equal(id_table_find(&marks->table, A)->end, 100);
    assert_int_equal(id_table_find(&marks->table, B)->end, 100);
    assert_int_equal(id_table_find(&marks->table, (struct record_id){0, 3})->end, 900);
    assert_null(id_table_find(&marks->table, (struct record_id){0, 4})); /* C has passed it: it was proved */
    assert_int_equal(marks->skip_count, 1);
    assert_int_equal(marks->skips[0].skipped, 9);
}

#define MARKS_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MARKS_TEST(test_older_root_is_skipped_and_younger_is_not),
        MARKS_TEST(test_mark_only_where_a_reappend_may_stand_beyond),
        MARKS_TEST(test_end_is_the_greater_of_watermark_and_own),
        MARKS_TEST(test_end_comes_to_be_known),
        MARKS_TEST(test_proved_when_all_below_the_end_was_read),
        MARKS_TEST(test_kept_for_what_is_undecided),
        MARKS_TEST(test_control_waits_with_its_mark),
        MARKS_TEST(test_what_an_older_mark_has_met_is_not_waited_for),
        MARKS_TEST(test_nothing_waits_when_reading_stops),
        MARKS_TEST(test_skips_that_span_nothing_are_not_its),
        MARKS_TEST(test_skip_goes_when_c_has_passed_it),
        MARKS_TEST(test_bound_is_the_least_mark),
        MARKS_TEST(test_bound_stays_out_of_skips),
        MARKS_TEST(test_bound_goes_down_from_skip_to_skip),
        MARKS_TEST(test_marks_of_a_checkpoint_reach_to_our_watermark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
