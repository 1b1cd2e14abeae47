/* R5: what re-appends do to controls and controls to re-appends: marks, skips, and copies under way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

#define DAY CORE_CASE_DAY_MS
#define A CORE_CASE_ID(1)
#define B CORE_CASE_ID(2)

/* One lane, nothing read yet, re-appends of others may stand below `high`. */
static struct core_case *begin(void **state, int64_t high)
{
    struct core_case *test = *state;
    test->gained.high = high;
    core_case_begin(test, 1, 0);
    return test;
}

/* A copy of record 1 stands at 5, behind the cancel at 2 that was meant for it. */
static void test_mark_ends_a_reappend_of_an_older_record(void **state)
{
    struct core_case *test = begin(state, 10);
    core_case_cancel(test, 2, A);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).marks, 1);
    core_case_again(test, 5, 1000, 0, A, 1);
    core_case_step(test);
    core_case_expect_ended(test, 0, 0, 1);
    assert_int_equal(test->released, 1);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    core_case_run(test, 2000);
    assert_int_equal(test->fired_count, 0);
}

static void test_mark_leaves_others_alone(void **state)
{
    struct core_case *test = begin(state, 10);
    core_case_cancel(test, 2, A);
    core_case_again(test, 5, 1000, 0, B, 1);  /* another id */
    core_case_again(test, 6, 1000, 0, A, 4);  /* a younger record of that id */
    core_case_event(test, 7, 1000, 0, CORE_CASE_ID(3));
    core_case_step(test);
    core_case_expect_ended(test, 0, 0, 0);
    core_case_run(test, 2000);
    assert_int_equal(test->fired_count, 3);
}

static void test_no_mark_without_reappends(void **state)
{
    struct core_case *test = begin(state, 3);
    core_case_cancel(test, 2, A); /* the last record that was there when the partition was gained */
    core_case_step(test);
    assert_int_equal(core_case_slot(test).marks, 0);
}

/* A replacement is a control too. */
static void test_replacement_marks(void **state)
{
    struct core_case *test = begin(state, 10);
    core_case_event(test, 2, 1000, 0, A);
    core_case_again(test, 5, 500, 0, A, 1);
    core_case_step(test);
    core_case_expect_ended(test, 0, 0, 1);
    core_case_run(test, 2000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 2);
}

/* C stays at the mark while it is kept, then out of what it skipped: from (2, 5] it goes to 2; beyond 5 it is free. */
static void test_skip_holds_c(void **state)
{
    struct core_case *test = begin(state, 10);
    core_case_cancel(test, 2, A);
    core_case_event(test, 4, DAY, 0, B);
    core_case_again(test, 5, 1000, 0, A, 1);
    core_case_record(test, 7, DAY, 0);
    core_case_position(test, 10);
    core_case_step(test);
    assert_int_equal(core_case_next_low(test), 2); /* the mark */
    assert_int_equal(core_case_slot(test).marks, 0);
    core_case_position(test, 11);
    core_case_step(test);
    assert_int_equal(core_case_next_low(test), 2); /* the skip: record 4 is pending */
    core_case_cancel(test, 11, B);
    core_case_wait(test, 100);
    core_case_settle(test);
    assert_int_equal(core_case_next_low(test), 7); /* record 4 is not, and 7 is beyond it */
}

/* The skip's mark stands in no checkpoint any more: the skip does, until C has passed it. */
static void test_skips_and_marks_are_in_the_checkpoint(void **state)
{
    struct core_case *test = begin(state, 10);
    core_case_cancel(test, 2, A);
    core_case_event(test, 4, DAY, 0, B);
    core_case_again(test, 5, 1000, 0, A, 1);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->mark_count, 2); /* an event is a control of its id too */
    assert_true(record_id_equal(core_case_plan(test)->marks[0].id, A));
    assert_int_equal(core_case_plan(test)->marks[0].offset, 2);
    assert_int_equal(core_case_plan(test)->marks[0].end, 10);
    assert_int_equal(core_case_plan(test)->skip_count, 1);
    assert_int_equal(core_case_plan(test)->skips[0].offset, 2);
    assert_int_equal(core_case_plan(test)->skips[0].skipped, 5);
    core_case_position(test, 10);
    core_case_step(test);
    core_case_settle(test);
    (void)core_case_next_low(test);
    core_case_cancel(test, 10, B);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->mark_count, 0);
    assert_int_equal(core_case_plan(test)->skip_count, 1);
    core_case_settle(test);
    assert_int_equal(core_case_next_low(test), 11);
    core_case_record(test, 12, DAY, 0);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->skip_count, 0);
}

/* A checkpoint's marks and skips are those of whoever loads it, and reach to the watermark as it is then. */
static void test_marks_and_skips_are_taken_over(void **state)
{
    struct core_case *test = *state;
    struct mark mark = {A, 2, 6};
    struct skip skip = {3, 8};
    test->gained.marks = &mark;
    test->gained.mark_count = 1;
    test->gained.skips = &skip;
    test->gained.skip_count = 1;
    test->gained.frontier.low_offset = 2;
    test->gained.position = 7;
    test->gained.stored_position = 7;
    test->gained.high = 12;
    core_case_begin(test, 1, 0);
    core_case_settle(test);
    core_case_event(test, 7, DAY, 0, RECORD_ID_NONE);
    core_case_again(test, 9, 1000, 0, A, 1); /* beyond the end that the checkpoint knew */
    core_case_step(test);
    core_case_expect_ended(test, 0, 0, 1);
    core_case_position(test, 11);
    assert_int_equal(core_case_next_low(test), 2);
    assert_int_equal(core_case_slot(test).marks, 1);
    core_case_position(test, 12);
    assert_int_equal(core_case_next_low(test), 2);
    assert_int_equal(core_case_slot(test).marks, 0);
    core_case_position(test, 13);
    assert_int_equal(core_case_next_low(test), 2); /* 7 is within (3, 8], and 3 within (2, 9] */
}

/* Only a commit that was built when all below its end had been read proves that we still owned the partition then. */
static void test_mark_goes_with_a_commit_built_behind_its_end(void **state)
{
    struct core_case *test = begin(state, 10);
    core_case_cancel(test, 2, A);
    core_case_position(test, 9);
    core_case_wait(test, 250);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 1); /* built at 9 */
    core_case_position(test, 10);
    core_case_step(test);
    core_case_committed(test); /* known at 10 */
    core_case_step(test);
    assert_int_equal(core_case_slot(test).marks, 1);
    core_case_wait(test, 250);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 1); /* built at 10 */
    assert_int_equal(core_case_slot(test).marks, 1);
    core_case_input(test, INPUT_COMMIT_DONE)->as.commit = COMMIT_FAILED;
    core_case_step(test);
    assert_int_equal(core_case_slot(test).marks, 1);
    core_case_wait(test, 250);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 1);
    core_case_committed(test);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).marks, 0);
    assert_int_equal(core_case_next_low(test), 10);
}

/* Where the copies under way will stand is not known: nor is the end of marks made meanwhile. */
static struct core_case *cancel_during_a_copy(void **state)
{
    struct core_case *test = *state;
    test->gained.position = 50;
    test->gained.stored_position = 50;
    test->gained.high = 50;
    core_case_store(test, 0, DAY, 0, 2);
    test->rows[0].id = A;
    core_case_begin(test, 1, 0);
    core_case_settle(test);
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 20;
    core_case_step(test);
    while (core_case_count(test, COMMAND_COPY) == 0 && core_case_settle_once(test)) {
    }
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_cancel(test, 50, A);
    core_case_position(test, 60);
    core_case_wait(test, 100);
    assert_int_equal(core_case_slot(test).marks, 1);
    return test;
}

static void test_end_is_unknown_while_copies_are_under_way(void **state)
{
    struct core_case *test = cancel_during_a_copy(state);
    assert_int_equal(core_case_plan(test)->mark_count, 1);
    assert_int_equal(core_case_plan(test)->marks[0].end, INT64_MAX);
    core_case_transacted(test, TRANSACTION_COMMITTED, 71); /* the copy stands at 70 */
    core_case_step(test);
    core_case_settle(test);
    assert_int_equal(core_case_next_low(test), 50);
    core_case_position(test, 65);
    core_case_step(test);
    assert_int_equal(core_case_next_low(test), 50);
    assert_int_equal(core_case_slot(test).marks, 1);
    core_case_again(test, 70, DAY, 0, A, 0);
    core_case_step(test);
    core_case_expect_ended(test, 1, 0, 1);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    (void)core_case_next_low(test);
    assert_int_equal(core_case_slot(test).marks, 0);
    core_case_run(test, 2 * DAY);
    assert_int_equal(test->fired_count, 0);
}

static void test_end_of_aborted_copies_is_nowhere(void **state)
{
    struct core_case *test = cancel_during_a_copy(state);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    core_case_settle(test);
    core_case_position(test, 61);
    (void)core_case_next_low(test);
    assert_int_equal(core_case_slot(test).marks, 0);
    core_case_run(test, 2 * DAY);
    assert_int_equal(test->fired_count, 0);
    assert_int_equal(test->row_count, 0);
    core_case_expect_ended(test, 1, 0, 0);
}

/* A re-append is no control: another one of a younger record is not ended by it. */
static void test_reappend_leaves_no_mark(void **state)
{
    struct core_case *test = begin(state, 20);
    core_case_again(test, 5, 1000, 0, A, 1);
    core_case_again(test, 7, 1000, 0, A, 3);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).marks, 0);
    core_case_expect_ended(test, 0, 1, 0);
    core_case_run(test, 2000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 7);
}

/* Rows 0 (of id A) and 1 are written, and 0 is copied forward. */
static void copy_first_of_two(struct core_case *test)
{
    core_case_store(test, 0, DAY, 0, 2);
    core_case_store(test, 30, DAY, 0, 2);
    test->rows[0].id = A;
    test->gained.position = 50;
    test->gained.stored_position = 50;
    core_case_begin(test, 1, 0);
    core_case_settle(test);
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 20;
    core_case_step(test);
    while (core_case_count(test, COMMAND_COPY) == 0 && core_case_settle_once(test)) {
    }
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
}

/* Between its copy's commit and the copy itself the old one is all that the store knows of. */
static void test_cancel_of_what_was_moved(void **state)
{
    struct core_case *test = *state;
    copy_first_of_two(test);
    core_case_transacted(test, TRANSACTION_COMMITTED, 61);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_cancel(test, 50, A);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 1); /* that one ended when it was moved */
    core_case_again(test, 60, DAY, 0, A, 0);
    core_case_step(test);
    core_case_expect_ended(test, 0, 0, 1);
    core_case_run(test, 2 * DAY);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 30);
}

/* It may be read before its transaction's end is told: it takes the place of the old one once, not twice. */
static void test_copy_read_before_its_end_is_known_counts_once(void **state)
{
    struct core_case *test = *state;
    copy_first_of_two(test);
    core_case_again(test, 60, DAY, 0, A, 0);
    core_case_step(test);
    core_case_transacted(test, TRANSACTION_COMMITTED, 61);
    core_case_step(test);
    core_case_expect_ended(test, 0, 0, 0);
    assert_int_equal(core_case_slot(test).copied, 1);
    assert_int_equal(core_case_queue(test, 0).pending, 2);
    assert_int_equal(core_case_queue(test, 0).pending_bytes, 2 * CORE_CASE_ROW_BYTES);
    core_case_run(test, 2 * DAY);
    assert_int_equal(test->fired_count, 2);
    assert_int_equal(test->fired[0], 30);
    assert_int_equal(test->fired[1], 60);
}

static void test_cancel_of_what_is_being_moved_counts_once(void **state)
{
    struct core_case *test = *state;
    copy_first_of_two(test);
    core_case_cancel(test, 50, A);
    core_case_wait(test, 100);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    assert_int_equal(core_case_plan(test)->erase_count, 1);
    core_case_settle(test); /* its row is gone: it is still known that it was one of those to be moved */
    core_case_transacted(test, TRANSACTION_COMMITTED, 61);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    assert_int_equal(core_case_queue(test, 0).pending_bytes, CORE_CASE_ROW_BYTES);
    core_case_expect_ended(test, 1, 0, 0);
}

/* Ended behind the head of a lane that is held: it must not come back as a copy, which nothing would end. */
static void test_what_was_cancelled_in_a_held_lane_is_not_copied(void **state)
{
    struct core_case *test = *state;
    test->options.retry_ms = 5000;
    core_case_store(test, 0, 0, 0, 0);
    core_case_store(test, 1, 0, 0, 0);
    core_case_store(test, 2, 0, 0, 0);
    test->rows[1].id = A;
    test->gained.position = 50;
    test->gained.stored_position = 50;
    core_case_begin(test, 1, 0);
    core_case_settle_once(test);
    for (uint64_t i = 0; i < 3; i++) {
        core_case_failed(test, 0, i, DELIVERY_RETRIABLE);
    }
    core_case_cancel(test, 50, A);
    core_case_step(test);
    core_case_settle(test);
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 20;
    core_case_step(test);
    while (core_case_count(test, COMMAND_COPY) == 0 && core_case_settle_once(test)) {
    }
    assert_int_equal(core_case_count(test, COMMAND_COPY), 2);
    assert_int_equal(core_case_copy(test, 0)->key.offset, 0);
    assert_int_equal(core_case_copy(test, 1)->key.offset, 2);
    core_case_transacted(test, TRANSACTION_COMMITTED, 53);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    assert_int_equal(core_case_slot(test).copied, 2);
}

static void test_reappend_never_displaces_a_younger_record(void **state)
{
    struct core_case *test = begin(state, 0);
    core_case_event(test, 3, 1000, 0, A);
    core_case_again(test, 5, 500, 0, A, 1);
    core_case_step(test);
    core_case_expect_ended(test, 0, 0, 1);
    assert_int_equal(test->released, 1);
    core_case_run(test, 2000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 3);
}

/* Nor one that is a copy of a younger record itself; of its own root it takes the place. */
static void test_reappends_are_compared_by_their_roots(void **state)
{
    struct core_case *test = begin(state, 0);
    core_case_again(test, 5, 1000, 0, A, 3);
    core_case_again(test, 6, 500, 0, A, 2);
    core_case_step(test);
    core_case_expect_ended(test, 0, 0, 1);
    core_case_again(test, 7, 1500, 0, A, 3);
    core_case_step(test);
    core_case_expect_ended(test, 0, 1, 1);
    core_case_run(test, 2000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 7);
}

/* One who reads from between the younger record and the copy would see the copy alone: C stays out of there. */
static void test_displaced_reappend_holds_c(void **state)
{
    struct core_case *test = begin(state, 0);
    core_case_event(test, 3, 0, 0, A);
    core_case_step(test);
    core_case_record(test, 4, DAY, 0);
    core_case_again(test, 5, 500, 0, A, 1);
    core_case_step(test);
    core_case_deliver_all(test);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    assert_int_equal(core_case_next_low(test), 3);
}

/* An id has at most one mark: the younger control's. */
static void test_younger_control_moves_the_mark(void **state)
{
    struct core_case *test = begin(state, 20);
    core_case_cancel(test, 2, A);
    core_case_cancel(test, 6, A);
    core_case_again(test, 8, 1000, 0, A, 4);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).marks, 1);
    core_case_expect_ended(test, 0, 0, 1);
    assert_int_equal(core_case_next_low(test), 6);
}

/* C may rest nowhere in a skip, so what it spans is copied together, however few may be copied at once: else C would stand for ever. */
static void test_skip_longer_than_a_copy_is_copied_as_a_whole(void **state)
{
    struct core_case *test = *state;
    const struct skip skip = {0, 10};
    test->options.span_max = 10;
    test->options.copy_rows_max = 2;
    for (int64_t i = 1; i < 10; i++) {
        core_case_store(test, i, 30 * DAY, 0, 3);
    }
    test->gained.position = 100;
    test->gained.stored_position = 100;
    test->gained.skips = &skip;
    test->gained.skip_count = 1;
    core_case_begin(test, 1, 0);
    while (core_case_count(test, COMMAND_COPY) == 0 && (core_case_settle_once(test) || core_case_sleep(test, 60000))) {
    }
    assert_int_equal(core_case_count(test, COMMAND_COPY), 9);
    assert_int_equal(core_case_transaction(test)->slots[0].frontier->low_offset, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_mark_ends_a_reappend_of_an_older_record),
        CORE_CASE_TEST(test_mark_leaves_others_alone),
        CORE_CASE_TEST(test_no_mark_without_reappends),
        CORE_CASE_TEST(test_replacement_marks),
        CORE_CASE_TEST(test_skip_holds_c),
        CORE_CASE_TEST(test_skips_and_marks_are_in_the_checkpoint),
        CORE_CASE_TEST(test_marks_and_skips_are_taken_over),
        CORE_CASE_TEST(test_skip_longer_than_a_copy_is_copied_as_a_whole),
        CORE_CASE_TEST(test_mark_goes_with_a_commit_built_behind_its_end),
        CORE_CASE_TEST(test_end_is_unknown_while_copies_are_under_way),
        CORE_CASE_TEST(test_end_of_aborted_copies_is_nowhere),
        CORE_CASE_TEST(test_reappend_never_displaces_a_younger_record),
        CORE_CASE_TEST(test_reappends_are_compared_by_their_roots),
        CORE_CASE_TEST(test_displaced_reappend_holds_c),
        CORE_CASE_TEST(test_younger_control_moves_the_mark),
        CORE_CASE_TEST(test_reappend_leaves_no_mark),
        CORE_CASE_TEST(test_cancel_of_what_was_moved),
        CORE_CASE_TEST(test_copy_read_before_its_end_is_known_counts_once),
        CORE_CASE_TEST(test_cancel_of_what_is_being_moved_counts_once),
        CORE_CASE_TEST(test_what_was_cancelled_in_a_held_lane_is_not_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
