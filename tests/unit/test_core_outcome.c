/* R5: what is told of each control: one outcome, final, as soon as it is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

#define DAY CORE_CASE_DAY_MS
#define A CORE_CASE_ID(1)

static struct core_case *begin(void **state, bool exactly_once, int64_t due_ms)
{
    struct core_case *test = *state;
    test->options.exactly_once = exactly_once;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, due_ms, 0, A);
    core_case_step(test);
    core_case_expect_outcomes(test, 0);
    return test;
}

static void expect_only(const struct core_case *test, enum outcome outcome, int64_t control, int64_t event)
{
    core_case_expect_outcomes(test, 1);
    core_case_expect_outcome(test, 0, outcome, control, event);
}

static void test_cancelled(void **state)
{
    struct core_case *test = begin(state, false, DAY);
    core_case_cancel(test, 1, A);
    core_case_cancel(test, 2, A);
    core_case_step(test);
    core_case_expect_outcomes(test, 2);
    core_case_expect_outcome(test, 0, OUTCOME_CANCELLED, 1, 0);
    core_case_expect_outcome(test, 1, OUTCOME_NOT_FOUND, 2, -1);
    const struct command_outcome *outcome = &core_case_find(test, COMMAND_OUTCOME, 0)->as.outcome;
    assert_int_equal(outcome->event_due_ms, CORE_CASE_WALL + DAY);
    assert_true(outcome->by_cancel);
}

static void test_replaced(void **state)
{
    struct core_case *test = begin(state, false, DAY);
    core_case_event(test, 1, DAY, 0, A);
    core_case_event(test, 2, DAY, 0, CORE_CASE_ID(2)); /* it finds nothing: nothing is told */
    core_case_step(test);
    expect_only(test, OUTCOME_REPLACED, 1, 0);
    assert_false(core_case_find(test, COMMAND_OUTCOME, 0)->as.outcome.by_cancel);
}

/* The first control decides; it is answered when the delivery is known. */
static void test_too_late_when_it_arrives(void **state)
{
    struct core_case *test = begin(state, false, 0);
    core_case_cancel(test, 1, A);
    core_case_cancel(test, 2, A);
    core_case_step(test);
    expect_only(test, OUTCOME_NOT_FOUND, 2, -1);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    expect_only(test, OUTCOME_TOO_LATE, 1, 0);
}

static void test_cancelled_when_its_delivery_fails(void **state)
{
    struct core_case *test = begin(state, false, 0);
    core_case_cancel(test, 1, A);
    core_case_step(test);
    core_case_expect_outcomes(test, 0);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_step(test);
    expect_only(test, OUTCOME_CANCELLED, 1, 0);
}

static void test_replaced_when_the_sink_is_full(void **state)
{
    struct core_case *test = begin(state, false, 0);
    core_case_event(test, 1, DAY, 0, A);
    core_case_step(test);
    core_case_full_sink(test, 0, 0);
    core_case_step(test);
    expect_only(test, OUTCOME_REPLACED, 1, 0);
}

/* Delivered in this life, and not committed yet: that is known, and said. Behind one that is not delivered, too. */
static void test_too_late_at_once(void **state)
{
    struct core_case *test = begin(state, false, 0);
    core_case_event(test, 1, 0, 0, CORE_CASE_ID(2));
    core_case_step(test);
    core_case_delivered(test, 0, 1);
    core_case_cancel(test, 2, CORE_CASE_ID(2));
    core_case_step(test);
    expect_only(test, OUTCOME_TOO_LATE, 2, 1);
    core_case_delivered(test, 0, 0);
    core_case_cancel(test, 3, A);
    core_case_step(test);
    expect_only(test, OUTCOME_TOO_LATE, 3, 0);
}

static void test_not_found_when_it_is_committed(void **state)
{
    struct core_case *test = begin(state, false, 0);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    core_case_wait(test, test->options.commit_ms);
    core_case_committed(test);
    core_case_cancel(test, 1, A);
    core_case_step(test);
    expect_only(test, OUTCOME_NOT_FOUND, 1, -1);
}

static void test_exactly_once_when_the_transaction_is_known(void **state)
{
    struct core_case *test = begin(state, true, 0);
    core_case_cancel(test, 1, A);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    core_case_expect_outcomes(test, 0);
    core_case_cancel(test, 2, A);
    core_case_step(test);
    expect_only(test, OUTCOME_NOT_FOUND, 2, -1);
    core_case_end(test, TRANSACTION_COMMITTED);
    expect_only(test, OUTCOME_TOO_LATE, 1, 0);
}

static void test_exactly_once_aborted(void **state)
{
    struct core_case *test = begin(state, true, 0);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    core_case_cancel(test, 1, A);
    core_case_step(test);
    core_case_end(test, TRANSACTION_ABORTED);
    expect_only(test, OUTCOME_CANCELLED, 1, 0);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
}

static void test_cancelled_while_it_is_postponed(void **state)
{
    struct core_case *test = begin(state, false, 0);
    core_case_record(test, 1, -10, 0);
    core_case_step(test);
    core_case_input(test, INPUT_SLOT_LEAVING); /* so that it is not written */
    core_case_goes_on(test, 0, 0, COPY_NEXT);
    core_case_cancel(test, 2, A);
    core_case_step(test);
    expect_only(test, OUTCOME_CANCELLED, 2, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
}

static struct core_case *begin_moved(void **state)
{
    struct core_case *test = begin(state, false, 0);
    core_case_goes_on(test, 0, 0, COPY_NEXT);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_reappended(test, A, 0);
    core_case_cancel(test, 1, A);
    core_case_step(test);
    return test;
}

/* It never goes out, whatever becomes of the transaction. */
static void test_cancelled_while_it_moves(void **state)
{
    struct core_case *test = begin_moved(state);
    expect_only(test, OUTCOME_CANCELLED, 1, 0);
    core_case_transacted(test, TRANSACTION_COMMITTED, 3);
    core_case_step(test);
    core_case_again(test, 2, DAY, 0, A, 0);
    core_case_step(test);
    expect_only(test, OUTCOME_SKIPPED, 1, 2);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

static void test_cancelled_while_it_moves_and_is_aborted(void **state)
{
    struct core_case *test = begin_moved(state);
    expect_only(test, OUTCOME_CANCELLED, 1, 0);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_expect_outcomes(test, 0);
    assert_int_equal(core_case_count(test, COMMAND_COPY) + core_case_count(test, COMMAND_DELIVER), 0);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

/* The cancel has found nothing, and its mark meets the occurrence. A second one finds nothing at all. */
static void test_cancelled_between_commit_and_reading(void **state)
{
    struct core_case *test = begin(state, false, 0);
    core_case_goes_on(test, 0, 0, COPY_NEXT);
    core_case_step(test);
    core_case_reappended(test, A, 0);
    core_case_transacted(test, TRANSACTION_COMMITTED, 4);
    core_case_step(test);
    core_case_cancel(test, 1, A);
    core_case_cancel(test, 2, A);
    core_case_step(test);
    expect_only(test, OUTCOME_NOT_FOUND, 2, -1);
    core_case_again(test, 3, DAY, 0, A, 0);
    core_case_step(test);
    core_case_expect_outcomes(test, 2);
    core_case_expect_outcome(test, 0, OUTCOME_SKIPPED, 2, 3);
    core_case_expect_outcome(test, 1, OUTCOME_CANCELLED, 1, 3);
}

static void test_not_found_when_the_mark_has_met_nothing(void **state)
{
    struct core_case *test = *state;
    test->gained.high = 10;
    core_case_begin(test, 1, 0);
    core_case_cancel(test, 1, A);
    core_case_step(test);
    core_case_expect_outcomes(test, 0);
    core_case_position(test, 10);
    core_case_wait(test, test->options.commit_ms);
    core_case_expect_outcomes(test, 0);
    core_case_committed(test);
    core_case_step(test);
    expect_only(test, OUTCOME_NOT_FOUND, 1, -1);
}

/* An older copy and what came of it: the mark ends both, and its control is answered once. */
static void test_cancelled_once_by_two(void **state)
{
    struct core_case *test = *state;
    test->gained.high = 10;
    core_case_begin(test, 1, 0);
    core_case_cancel(test, 1, A);
    core_case_again(test, 3, DAY, 0, A, 0);
    core_case_again(test, 4, DAY, 0, A, 0);
    core_case_position(test, 10);
    core_case_step(test);
    core_case_expect_outcomes(test, 3);
    core_case_expect_outcome(test, 0, OUTCOME_SKIPPED, 1, 3);
    core_case_expect_outcome(test, 1, OUTCOME_CANCELLED, 1, 3);
    core_case_expect_outcome(test, 2, OUTCOME_SKIPPED, 1, 4);
    core_case_wait(test, test->options.commit_ms);
    core_case_committed(test);
    core_case_step(test);
    core_case_expect_outcomes(test, 0);
    assert_int_equal(core_case_slot(test).marks, 0);
}

static void test_not_found_when_reading_stops(void **state)
{
    struct core_case *test = *state;
    test->gained.high = 10;
    core_case_begin(test, 1, 0);
    core_case_cancel(test, 1, A);
    core_case_input(test, INPUT_READING_STOPPED);
    core_case_step(test);
    expect_only(test, OUTCOME_NOT_FOUND, 1, -1);
}

/* One under way, one that moves, one that waits with its mark: nothing is told of them, and nothing is left. */
static void test_slot_lost_before_it_is_known(void **state)
{
    struct core_case *test = *state;
    test->gained.high = 10;
    core_case_begin(test, 1, 0);
    for (int64_t i = 0; i < 2; i++) {
        core_case_event(test, i, 0, 0, CORE_CASE_ID((uint64_t)i + 1));
    }
    core_case_step(test);
    core_case_goes_on(test, 0, 0, COPY_NEXT);
    core_case_step(test);
    core_case_reappended(test, A, 0);
    core_case_cancel(test, 2, CORE_CASE_ID(2));
    core_case_cancel(test, 3, CORE_CASE_ID(3));
    core_case_step(test);
    core_case_expect_outcomes(test, 0);
    core_case_input(test, INPUT_SLOT_LOST);
    core_case_delivered(test, 0, 1);
    core_case_step(test);
    core_case_expect_outcomes(test, 0);
    core_case_end(test, TRANSACTION_COMMITTED);
    core_case_expect_outcomes(test, 0);
    assert_int_equal(test->released, 2);
}

/* This occurrence is out; the next one is not written. */
static void test_chain_is_over_when_its_occurrence_arrives(void **state)
{
    struct core_case *test = begin(state, false, 0);
    core_case_cancel(test, 1, A);
    core_case_step(test);
    core_case_goes_on(test, 0, 0, COPY_NEXT);
    core_case_step(test);
    core_case_expect_outcomes(test, 2);
    core_case_expect_outcome(test, 0, OUTCOME_TOO_LATE, 1, 0);
    core_case_expect_outcome(test, 1, OUTCOME_SKIPPED, 1, 0);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

static void test_exactly_once_chain_is_over_when_the_next_is_read(void **state)
{
    struct core_case *test = begin(state, true, 0);
    core_case_reappended(test, A, 0);
    core_case_cancel(test, 1, A);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    core_case_cancel(test, 2, A);
    core_case_transacted(test, TRANSACTION_COMMITTED, 4);
    core_case_step(test);
    expect_only(test, OUTCOME_TOO_LATE, 1, 0);
    core_case_again(test, 3, DAY, 0, A, 0);
    core_case_step(test);
    expect_only(test, OUTCOME_SKIPPED, 2, 3);
    core_case_run(test, 1000);
    assert_int_equal(core_case_slot(test).marks, 0);
}

/* What was only decided has not gone out. */
static void test_undecided_first_occurrence(void **state)
{
    struct core_case *test = *state;
    test->deciding = 1;
    core_case_begin(test, 2, 0);
    core_case_event(test, 0, -CORE_CASE_WALL, 1, A);
    core_case_step(test);
    core_case_cancel(test, 1, A);
    core_case_step(test);
    expect_only(test, OUTCOME_CANCELLED, 1, 0);
    core_case_goes_on(test, 1, 0, COPY_DECIDED);
    core_case_step(test);
    core_case_expect_outcomes(test, 0);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    assert_int_equal(core_case_queue(test, 1).pending, 0);
}

/* An occurrence that was let fall (misfire) is as one that was decided. */
static void test_occurrence_that_was_let_fall(void **state)
{
    struct core_case *test = begin(state, false, 0);
    core_case_cancel(test, 1, A);
    core_case_step(test);
    core_case_goes_on(test, 0, 0, COPY_DECIDED);
    core_case_step(test);
    expect_only(test, OUTCOME_CANCELLED, 1, 0);
}

/* A re-append is nobody's order, whatever it finds. */
static void test_nothing_is_told_of_a_reappend_that_displaces(void **state)
{
    struct core_case *test = begin(state, false, DAY);
    core_case_again(test, 1, 2 * DAY, 0, A, 0);
    core_case_step(test);
    core_case_expect_outcomes(test, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_again(test, 2, 0, 0, CORE_CASE_ID(2), 1);
    core_case_step(test);
    core_case_again(test, 3, DAY, 0, CORE_CASE_ID(2), 1); /* it is in flight */
    core_case_step(test);
    core_case_delivered(test, 0, core_case_find(test, COMMAND_DELIVER, 0) == NULL ? 0 : 1);
    core_case_step(test);
    core_case_expect_outcomes(test, 0);
}

static void test_younger_root_skips(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_again(test, 5, DAY, 0, A, 4);
    core_case_again(test, 6, DAY, 0, A, 2);
    core_case_step(test);
    expect_only(test, OUTCOME_SKIPPED, 4, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_cancelled),
        CORE_CASE_TEST(test_replaced),
        CORE_CASE_TEST(test_too_late_when_it_arrives),
        CORE_CASE_TEST(test_cancelled_when_its_delivery_fails),
        CORE_CASE_TEST(test_replaced_when_the_sink_is_full),
        CORE_CASE_TEST(test_too_late_at_once),
        CORE_CASE_TEST(test_not_found_when_it_is_committed),
        CORE_CASE_TEST(test_exactly_once_when_the_transaction_is_known),
        CORE_CASE_TEST(test_exactly_once_aborted),
        CORE_CASE_TEST(test_cancelled_while_it_is_postponed),
        CORE_CASE_TEST(test_cancelled_while_it_moves),
        CORE_CASE_TEST(test_cancelled_while_it_moves_and_is_aborted),
        CORE_CASE_TEST(test_cancelled_between_commit_and_reading),
        CORE_CASE_TEST(test_not_found_when_the_mark_has_met_nothing),
        CORE_CASE_TEST(test_cancelled_once_by_two),
        CORE_CASE_TEST(test_not_found_when_reading_stops),
        CORE_CASE_TEST(test_slot_lost_before_it_is_known),
        CORE_CASE_TEST(test_chain_is_over_when_its_occurrence_arrives),
        CORE_CASE_TEST(test_exactly_once_chain_is_over_when_the_next_is_read),
        CORE_CASE_TEST(test_undecided_first_occurrence),
        CORE_CASE_TEST(test_occurrence_that_was_let_fall),
        CORE_CASE_TEST(test_nothing_is_told_of_a_reappend_that_displaces),
        CORE_CASE_TEST(test_younger_root_skips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
