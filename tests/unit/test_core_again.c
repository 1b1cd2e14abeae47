/* R4: what goes on after its delivery. At least once it waits in its FIFO for a transaction of its own; with exactly_once its re-append is in the one of its delivery. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

#define A CORE_CASE_ID(1)
#define B CORE_CASE_ID(2)

static struct core_case *begin(void **state, int64_t records)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    for (int64_t i = 0; i < records; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    return test;
}

static void all_go_on(struct core_case *test, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        core_case_goes_on(test, 0, i, COPY_NEXT);
    }
    core_case_step(test);
}

static void expect_why(const struct core_case *test, size_t nth, enum copy_why why, uint64_t sequence)
{
    assert_int_equal(core_case_copy(test, nth)->why, why);
    assert_int_equal(core_case_copy(test, nth)->sequence, sequence);
}

/* ------------------------------------------------------------------------------------------------ at least once */

static void test_goes_on_in_a_transaction_with_its_frontier(void **state)
{
    struct core_case *test = begin(state, 2);
    core_case_goes_on(test, 0, 1, COPY_DECIDED);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    expect_why(test, 0, COPY_DECIDED, 1);
    assert_int_equal(core_case_copy(test, 0)->key.offset, 1);
    assert_int_equal(core_case_copy(test, 0)->ref, 2);
    assert_int_equal(core_case_only_frontier(test)->low_offset, 2);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    assert_int_equal(core_case_slot(test).postponed, 0); /* that is another thing */
}

/* The frontier stands at it meanwhile, and its lane goes on. */
static void test_lane_goes_on(void **state)
{
    struct core_case *test = begin(state, 3);
    core_case_goes_on(test, 0, 1, COPY_NEXT);
    core_case_record(test, 3, 0, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 3, 4);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0); /* no frontier passes the one before it */
    core_case_delivered(test, 0, 2);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    core_case_expect_copy(test, 0, 1, -CORE_CASE_WALL);
    assert_int_equal(core_case_only_frontier(test)->low_offset, 3);
}

/* They stand in the FIFO, which has an end, and no record may wait for its own room. */
static void test_burst_beyond_max_in_flight_drains(void **state)
{
    struct core_case *test = *state;
    enum { RECORDS = 12000 };
    core_case_begin(test, 1, 0);
    core_lane_change(test->core, 0, &(struct core_lane_options){.max_in_flight = 256, .max_in_flight_bytes = UINT64_MAX});
    for (int64_t i = 0; i < RECORDS; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    uint64_t delivered = 0;
    for (int round = 0; round < 1000 && core_case_queue(test, 0).pending > 0; round++) {
        for (size_t i = 0; core_case_find(test, COMMAND_DELIVER, i) != NULL; i++) {
            core_case_goes_on(test, 0, core_case_deliver(test, i)->sequence, COPY_NEXT);
            delivered++;
        }
        if (core_case_find(test, COMMAND_COMMIT, 0) != NULL) {
            core_case_committed(test);
        }
        if (test->transaction != 0) {
            core_case_transacted(test, TRANSACTION_COMMITTED, RECORDS + round + 1);
        }
        core_case_wait(test, test->options.copy_ms);
    }
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    assert_int_equal(delivered, RECORDS);
}

/* It must not go out twice: it waits, and fewer are tried at once. */
static void test_unexplained_abort_makes_no_letter_of_it(void **state)
{
    struct core_case *test = begin(state, 5);
    core_case_failed(test, 0, 0, DELIVERY_FAULT);
    core_case_step(test);
    core_case_failed(test, 0, 0, DELIVERY_NO_LETTER);
    for (uint64_t i = 1; i < 5; i++) {
        core_case_goes_on(test, 0, i, COPY_NEXT);
    }
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 5);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_expect_delivers(test, 0, 1); /* the letter alone */
    assert_true(core_case_deliver(test, 0)->as_refused);
    assert_false(core_case_deliver(test, 0)->not_reappended);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    core_case_settle(test);
    core_case_wait(test, test->options.retry_ms);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 4);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    core_case_wait(test, 2 * test->options.retry_ms);
    core_case_settle(test);
    core_case_wait(test, test->options.copy_ms);
    assert_true(core_case_count(test, COMMAND_COPY) > 0 || test->transaction != 0);
    assert_int_equal(core_case_queue(test, 0).pending, 4);
}

static void test_fewer_after_each_abort(void **state)
{
    struct core_case *test = *state;
    test->options.copy_rows_max = 4;
    begin(state, 4);
    all_go_on(test, 4);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 4);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_wait(test, test->options.retry_ms);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 2);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_wait(test, 2 * test->options.retry_ms);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
}

/* That one is a letter, its chain ends; the others have no part in it. */
static void test_fault_of_a_copy_is_a_letter(void **state)
{
    struct core_case *test = begin(state, 3);
    all_go_on(test, 3);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 3);
    core_case_failed(test, 0, 1, DELIVERY_FAULT);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_expect_delivers(test, 1, 2);
    assert_true(core_case_deliver(test, 0)->as_refused);
    assert_true(core_case_deliver(test, 0)->not_reappended);
    assert_int_equal(core_case_deliver(test, 0)->reason, DELIVERY_FAULT);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1); /* at once: what is before the letter */
    expect_why(test, 0, COPY_NEXT, 0);
    core_case_delivered(test, 0, 1);
    core_case_end(test, TRANSACTION_COMMITTED);
    core_case_wait(test, test->options.copy_ms);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    expect_why(test, 0, COPY_NEXT, 2);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

/* One after the other: each abort has its culprit, so nothing waits. */
static void test_faults_one_after_the_other(void **state)
{
    struct core_case *test = begin(state, 4);
    all_go_on(test, 4);
    for (uint64_t i = 4; i-- > 1;) {
        assert_int_equal(core_case_count(test, COMMAND_COPY), i + 1);
        core_case_failed(test, 0, i, DELIVERY_FAULT);
        core_case_end(test, TRANSACTION_ABORTED);
        core_case_expect_delivers(test, (int64_t)i, (int64_t)i + 1);
    }
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_queue(test, 0).pending, 3); /* the letters */
}

static void test_no_fewer_after_a_fault(void **state)
{
    struct core_case *test = *state;
    test->options.copy_rows_max = 4;
    begin(state, 5);
    all_go_on(test, 5);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 4);
    core_case_failed(test, 0, 3, DELIVERY_FAULT);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 3);
}

/* As it is it must not be written again: that letter is tried until it is kept. */
static void test_letter_of_a_fault_is_not_postponed(void **state)
{
    struct core_case *test = begin(state, 1);
    all_go_on(test, 1);
    core_case_failed(test, 0, 0, DELIVERY_FAULT);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_failed(test, 0, 0, DELIVERY_NO_LETTER);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    assert_true(core_case_queue(test, 0).held);
}

static void test_fault_of_nothing_is_let_pass(void **state)
{
    struct core_case *test = begin(state, 2);
    core_case_goes_on(test, 0, 1, COPY_NEXT);
    core_case_step(test);
    core_case_failed(test, 0, 1, DELIVERY_FAULT); /* it waits: it is in no transaction */
    core_case_failed(test, 0, 7, DELIVERY_FAULT);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
}

static void test_letter_where_reading_has_stopped(void **state)
{
    struct core_case *test = begin(state, 2);
    core_case_goes_on(test, 0, 1, COPY_NEXT); /* before that */
    core_case_step(test);
    core_case_input(test, INPUT_READING_STOPPED);
    core_case_goes_on(test, 0, 0, COPY_NEXT); /* and behind it */
    core_case_step(test);
    core_case_expect_delivers(test, 0, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(core_case_deliver(test, i)->as_refused);
        assert_true(core_case_deliver(test, i)->not_reappended);
    }
    core_case_delivered(test, 0, 0);
    core_case_delivered(test, 0, 1);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

static void test_letter_of_what_was_being_written_when_reading_stopped(void **state)
{
    struct core_case *test = begin(state, 1);
    all_go_on(test, 1);
    core_case_input(test, INPUT_READING_STOPPED);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_true(core_case_deliver(test, 0)->not_reappended);
}

/* Else each restart would deliver once more what was delivered, and write its next occurrence then. */
static void test_is_written_before_the_slot_is_left(void **state)
{
    struct core_case *test = begin(state, 1);
    core_case_input(test, INPUT_SLOT_LEAVING);
    all_go_on(test, 1);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    assert_int_equal(core_case_count(test, COMMAND_SLOT_LEFT), 0);
    core_case_end(test, TRANSACTION_COMMITTED);
    core_case_settle(test);
    assert_int_equal(core_case_slot(test).low_offset, 1);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    assert_false(core_case_is_restless(test));
}

static void test_is_written_before_all_stops(void **state)
{
    struct core_case *test = begin(state, 1);
    core_case_input(test, INPUT_STOP);
    all_go_on(test, 1);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    assert_int_equal(core_case_count(test, COMMAND_STOPPED), 0);
    core_case_end(test, TRANSACTION_COMMITTED);
    bool stopped = core_case_count(test, COMMAND_STOPPED) == 1;
    while (!stopped && core_case_settle_once(test)) {
        stopped = core_case_count(test, COMMAND_STOPPED) == 1;
    }
    assert_true(stopped);
}

/* What cannot be written now must not keep the process. */
static void test_one_that_failed_is_not_waited_for(void **state)
{
    struct core_case *test = begin(state, 1);
    core_case_input(test, INPUT_SLOT_LEAVING);
    all_go_on(test, 1);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    core_case_settle(test);
    assert_int_equal(core_case_slot(test).low_offset, 0);
    assert_false(core_case_is_restless(test));
}

/* The end came while it waited after an abort: it is tried once more then, as a start would repeat the delivery. */
static void one_that_failed_before_is_tried_once_more(void **state, enum input_kind kind)
{
    struct core_case *test = begin(state, 1);
    all_go_on(test, 1);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    core_case_input(test, kind);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
}

static void test_one_that_failed_before_is_tried_once_more(void **state)
{
    one_that_failed_before_is_tried_once_more(state, INPUT_STOP);
}

static void test_one_that_failed_before_leaving_is_tried_once_more(void **state)
{
    one_that_failed_before_is_tried_once_more(state, INPUT_SLOT_LEAVING);
}

static void test_slot_may_be_lost_in_each_state(void **state)
{
    struct core_case *test = begin(state, 2);
    core_case_goes_on(test, 0, 1, COPY_NEXT);
    core_case_step(test);
    core_case_goes_on(test, 0, 0, COPY_NEXT);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 2);
    core_case_reappended(test, A, 0);
    core_case_step(test);
    core_case_input(test, INPUT_SLOT_LOST);
    core_case_reappended(test, B, 1); /* of a slot that is not there any more */
    core_case_failed(test, 0, 1, DELIVERY_FAULT);
    core_case_step(test);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(test->commands.count, 0);
}

/* What is held up by something in front of it does not hold C: a copy forward takes it along, as what comes after it. */
static void test_copied_forward_as_what_comes_after_it(void **state)
{
    struct core_case *test = *state;
    begin(state, 0);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, 0, 0);
    core_case_wait(test, 100);
    core_case_written(test);
    core_case_goes_on(test, 0, 1, COPY_NEXT);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_step(test);
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 2;
    core_case_step(test);
    for (int i = 0; i < 20 && core_case_count(test, COMMAND_COPY) == 0; i++) {
        core_case_settle_once(test);
        if (core_case_count(test, COMMAND_DELIVER) > 0) {
            core_case_failed(test, 0, core_case_deliver(test, 0)->sequence, DELIVERY_RETRIABLE);
        }
    }
    assert_int_equal(core_case_count(test, COMMAND_COPY), 2);
    expect_why(test, 0, COPY_FORWARD, 0);
    expect_why(test, 1, COPY_NEXT, 1);
    core_case_failed(test, 0, 1, DELIVERY_FAULT);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_wait(test, 60000);
    bool letter = false;
    for (size_t i = 0; core_case_find(test, COMMAND_DELIVER, i) != NULL; i++) {
        letter = letter || (core_case_deliver(test, i)->sequence == 1 && core_case_deliver(test, i)->not_reappended);
    }
    assert_true(letter);
}

/* ----------------------------------------------------------------------------------------------- moving, marks */

static struct core_case *begin_exactly(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, 0, 0, A);
    core_case_event(test, 1, 0, 0, B);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
    core_case_reappended(test, A, 0);
    core_case_reappended(test, B, 1);
    core_case_delivered(test, 0, 0);
    core_case_delivered(test, 0, 1);
    return test;
}

static void test_moves_until_it_is_read(void **state)
{
    struct core_case *test = begin_exactly(state);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).moving, 2);
    core_case_transacted(test, TRANSACTION_COMMITTED, 4);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).moving, 2);
    core_case_again(test, 2, 1000, 0, A, 0);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).moving, 1);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
}

static void test_aborted_moves_no_more(void **state)
{
    struct core_case *test = begin_exactly(state);
    core_case_step(test);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).moving, 0);
}

/* The marks of each slot that has re-appends in it know where they end. */
static void test_mark_made_meanwhile_ends_the_reappend(void **state)
{
    struct core_case *test = begin_exactly(state);
    core_case_step(test);
    core_case_cancel(test, 2, A);
    core_case_transacted(test, TRANSACTION_COMMITTED, 5);
    core_case_step(test);
    core_case_expect_outcome(test, 0, OUTCOME_TOO_LATE, 2, 0);
    core_case_again(test, 3, 1000, 0, A, 0);
    core_case_again(test, 4, 1000, 0, B, 1);
    core_case_step(test);
    core_case_expect_outcomes(test, 1);
    core_case_expect_outcome(test, 0, OUTCOME_SKIPPED, 2, 3);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_expect_ended(test, 0, 0, 1);
}

static struct input *of_second(struct core_case *test)
{
    struct input *input = &test->inputs[test->input_count - 1];
    input->slot = 1;
    return input;
}

/* Each with one that goes on in the same transaction. */
static struct core_case *begin_two_slots(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_begin(test, 1, 0);
    core_case_input(test, INPUT_SLOT_GAINED)->as.gained = &test->gained;
    of_second(test);
    core_case_event(test, 0, 0, 0, A);
    core_case_event(test, 0, 0, 0, B);
    of_second(test)->as.record.ref = 1000;
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
    assert_int_equal(core_case_transaction(test)->slot_count, 2);
    core_case_reappended(test, A, 0);
    core_case_reappended(test, B, 0);
    of_second(test);
    core_case_delivered(test, 0, 0);
    core_case_delivered(test, 0, 0);
    of_second(test);
    core_case_step(test);
    return test;
}

/* Where they stand is another place in each, and the marks of both are told. */
static void test_two_slots_in_one_transaction(void **state)
{
    struct core_case *test = begin_two_slots(state);
    struct copied_end ends[] = {{1, test->gained.epoch, 10}, {0, test->gained.epoch, 3}};
    core_case_cancel(test, 1, A);
    core_case_cancel(test, 1, B);
    of_second(test);
    core_case_step(test);
    core_case_input(test, INPUT_TRANSACTION_DONE)->as.transaction = (struct input_transaction){test->transaction, TRANSACTION_COMMITTED, ends, 2};
    core_case_step(test);
    core_case_again(test, 2, 1000, 0, A, 0);
    core_case_again(test, 9, 1000, 0, B, 0);
    of_second(test);
    core_case_step(test);
    core_case_expect_outcomes(test, 2);
    core_case_expect_outcome(test, 0, OUTCOME_SKIPPED, 1, 2);
    core_case_expect_outcome(test, 1, OUTCOME_SKIPPED, 1, 9);
    struct core_slot_stats stats;
    core_slot_stats(test->core, 1, &stats);
    assert_int_equal(stats.pending, 0);
    assert_int_equal(stats.moving, 0);
}

/* The other one's are told all the same. */
static void test_one_of_two_slots_is_lost(void **state)
{
    struct core_case *test = begin_two_slots(state);
    struct copied_end ends[] = {{0, test->gained.epoch, 3}, {1, test->gained.epoch, 10}};
    core_case_input(test, INPUT_SLOT_LOST);
    of_second(test);
    core_case_cancel(test, 1, A);
    core_case_step(test);
    core_case_input(test, INPUT_TRANSACTION_DONE)->as.transaction = (struct input_transaction){test->transaction, TRANSACTION_COMMITTED, ends, 2};
    core_case_step(test);
    core_case_again(test, 2, 1000, 0, A, 0);
    core_case_step(test);
    core_case_expect_outcome(test, 0, OUTCOME_SKIPPED, 1, 2);
}

static void test_note_without_a_transaction_is_let_pass(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_reappended(test, A, 0);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).moving, 0);
    core_case_event(test, 0, 1000, 0, A);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).marks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_goes_on_in_a_transaction_with_its_frontier),
        CORE_CASE_TEST(test_lane_goes_on),
        CORE_CASE_TEST(test_burst_beyond_max_in_flight_drains),
        CORE_CASE_TEST(test_unexplained_abort_makes_no_letter_of_it),
        CORE_CASE_TEST(test_fewer_after_each_abort),
        CORE_CASE_TEST(test_fault_of_a_copy_is_a_letter),
        CORE_CASE_TEST(test_faults_one_after_the_other),
        CORE_CASE_TEST(test_no_fewer_after_a_fault),
        CORE_CASE_TEST(test_letter_of_a_fault_is_not_postponed),
        CORE_CASE_TEST(test_fault_of_nothing_is_let_pass),
        CORE_CASE_TEST(test_letter_where_reading_has_stopped),
        CORE_CASE_TEST(test_letter_of_what_was_being_written_when_reading_stopped),
        CORE_CASE_TEST(test_is_written_before_the_slot_is_left),
        CORE_CASE_TEST(test_is_written_before_all_stops),
        CORE_CASE_TEST(test_one_that_failed_is_not_waited_for),
        CORE_CASE_TEST(test_one_that_failed_before_is_tried_once_more),
        CORE_CASE_TEST(test_one_that_failed_before_leaving_is_tried_once_more),
        CORE_CASE_TEST(test_slot_may_be_lost_in_each_state),
        CORE_CASE_TEST(test_copied_forward_as_what_comes_after_it),
        CORE_CASE_TEST(test_moves_until_it_is_read),
        CORE_CASE_TEST(test_aborted_moves_no_more),
        CORE_CASE_TEST(test_mark_made_meanwhile_ends_the_reappend),
        CORE_CASE_TEST(test_two_slots_in_one_transaction),
        CORE_CASE_TEST(test_one_of_two_slots_is_lost),
        CORE_CASE_TEST(test_note_without_a_transaction_is_let_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
