/* R4, at least once: what is refused and whose letter cannot be kept is written again, due later, in a transaction with the frontier that passes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

#define LATER 60000

static struct core_case *begin(void **state, int lanes, int64_t records)
{
    struct core_case *test = *state;
    core_case_begin(test, lanes, 0);
    for (int64_t i = 0; i < records; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    return test;
}

/* Its target does not take it, ever, and JetStream does not take its letter now. Takes two steps, and answers nothing else. */
static void lose_letter(struct core_case *test, lane_index lane, uint64_t sequence)
{
    core_case_failed(test, lane, sequence, DELIVERY_FAULT);
    core_case_step(test);
    core_case_failed(test, lane, sequence, DELIVERY_NO_LETTER);
    core_case_step(test);
}

static void expect_nothing_moves(const struct core_case *test)
{
    assert_int_equal(core_case_count(test, COMMAND_COPY) + core_case_count(test, COMMAND_TRANSACTION), 0);
}

/* ------------------------------------------------------------------------------------------------ at least once */

static void test_is_written_again_with_its_frontier(void **state)
{
    struct core_case *test = begin(state, 1, 1);
    test->wall_ms += 5;
    lose_letter(test, 0, 0);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_expect_copy(test, 0, 0, 5 + LATER);
    assert_int_equal(core_case_copy(test, 0)->lane, 0);
    assert_int_equal(core_case_copy(test, 0)->ref, 1);
    assert_false(core_case_transaction(test)->abort);
    const struct partition_frontier *frontier = core_case_only_frontier(test);
    assert_int_equal(frontier->low_offset, 1);
    assert_int_equal(frontier->committed_offset, 1);
    assert_int_equal(frontier->shared.point.offset, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1); /* not before it is known */
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    assert_int_equal(core_case_queue(test, 0).pending_bytes, 0);
    assert_int_equal(core_case_slot(test).postponed, 1);
    assert_int_equal(core_case_slot(test).low_offset, 1);
    core_case_again(test, 1, 5 + LATER, 0, RECORD_ID_NONE, 0);
    core_case_run(test, 4 + LATER);
    assert_int_equal(test->fired_count, 0);
    core_case_run(test, 5 + LATER);
    assert_int_equal(test->fired_count, 1);
}

/* Our clock is behind its time, or its time is nothing (R10): from the later of both. */
static void test_later_than_its_time_and_than_now(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 2, 0);
    core_case_record(test, 0, 100, 0);
    core_case_record(test, 1, -CORE_CASE_WALL, 1);
    test->wall_ms = 100;
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
    test->wall_ms = 40;
    core_case_failed(test, 1, 0, DELIVERY_NO_LETTER); /* one refused at reading goes out as a letter by itself */
    core_case_failed(test, 0, 0, DELIVERY_FAULT);
    core_case_step(test);
    core_case_expect_copy(test, 0, 1, 40 + LATER);
    assert_int_equal(core_case_copy(test, 0)->key.due_ms, DUE_SINCE_EVER);
    core_case_end(test, TRANSACTION_COMMITTED);
    core_case_failed(test, 0, 0, DELIVERY_NO_LETTER);
    core_case_wait(test, test->options.copy_ms - 60);
    expect_nothing_moves(test);
    test->wall_ms = 40;
    test->mono_ms += 60;
    core_case_step(test);
    core_case_expect_copy(test, 0, 0, 100 + LATER);
}

static void test_later_than_ever_does_not_overflow(void **state)
{
    struct core_case *test = *state;
    test->options.letter_later_ms = INT64_MAX;
    begin(state, 1, 1);
    lose_letter(test, 0, 0);
    assert_true(core_case_copy(test, 0)->due_ms == INT64_MAX);
}

static void test_lane_goes_on(void **state)
{
    struct core_case *test = begin(state, 1, 3);
    core_case_failed(test, 0, 1, DELIVERY_FAULT);
    core_case_step(test);
    core_case_failed(test, 0, 1, DELIVERY_NO_LETTER);
    core_case_record(test, 3, 0, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 3, 4);
    assert_false(core_case_queue(test, 0).held);
    expect_nothing_moves(test); /* what is before it is not done yet */
    core_case_delivered(test, 0, 2);
    core_case_step(test);
    expect_nothing_moves(test);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    core_case_expect_copy(test, 0, 1, LATER);
    assert_int_equal(core_case_only_frontier(test)->low_offset, 3); /* with the one behind it that is done, not with the one in flight */
    assert_int_equal(core_case_only_frontier(test)->shared.point.offset, 2);
    core_case_delivered(test, 0, 3);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 3);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    assert_int_equal(core_case_slot(test).postponed, 1);
}

/* One that waits in front of a full FIFO: the lane takes as many as there is room for. */
static void test_failed_one_in_front_holds_it(void **state)
{
    struct core_case *test = begin(state, 1, 2);
    core_case_failed(test, 0, 1, DELIVERY_FAULT);
    core_case_step(test);
    core_case_failed(test, 0, 1, DELIVERY_NO_LETTER);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_step(test);
    expect_nothing_moves(test);
    assert_true(core_case_queue(test, 0).held);
    core_case_wait(test, 100);
    core_case_expect_delivers(test, 0, 1); /* that one alone goes again */
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    core_case_expect_copy(test, 0, 1, 100 + LATER);
}

static void lose_all(struct core_case *test, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        core_case_failed(test, 0, i, DELIVERY_FAULT);
    }
    core_case_step(test);
    for (uint64_t i = 0; i < count; i++) {
        core_case_failed(test, 0, i, DELIVERY_NO_LETTER);
    }
    core_case_step(test);
}

static void test_no_more_at_once_than_may_be(void **state)
{
    struct core_case *test = *state;
    test->options.copy_rows_max = 2;
    test->options.copy_ms = 70;
    begin(state, 1, 5);
    lose_all(test, 5);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 2);
    assert_int_equal(core_case_only_frontier(test)->low_offset, 2);
    core_case_end(test, TRANSACTION_COMMITTED);
    expect_nothing_moves(test);
    assert_int_equal(core_next_deadline(test->core).mono.ms, test->mono_ms + test->options.copy_ms);
    core_case_wait(test, test->options.copy_ms - 1);
    expect_nothing_moves(test);
    core_case_wait(test, 1);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 2);
    core_case_expect_copy(test, 0, 2, test->options.copy_ms + LATER);
}

/* Copying forward is switched off: letters that cannot be kept are another matter. */
static void test_goes_without_copies_forward(void **state)
{
    struct core_case *test = *state;
    test->options.copy_rows_max = 0;
    begin(state, 1, 1200);
    lose_all(test, 1200);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1000);
    core_case_end(test, TRANSACTION_COMMITTED);
    core_case_wait(test, test->options.copy_ms);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 200);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

/* Nothing of it is there: C stays, and as it may be that they cannot be written, the letters are tried once more. */
static void test_aborted_is_a_letter_once_more(void **state)
{
    struct core_case *test = begin(state, 1, 4);
    lose_all(test, 4);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 4);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_slot(test).low_offset, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 4);
    core_case_expect_delivers(test, 0, 4);
    assert_true(core_case_deliver(test, 0)->as_refused);
    core_case_delivered(test, 0, 0); /* there is room again */
    for (uint64_t i = 1; i < 4; i++) {
        core_case_failed(test, 0, i, DELIVERY_NO_LETTER);
    }
    core_case_step(test);
    expect_nothing_moves(test);
    core_case_wait(test, test->options.retry_ms - 1);
    expect_nothing_moves(test);
    core_case_wait(test, 1);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 3);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_slot(test).postponed, 3);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

/* And no plain commit that follows says what the aborted one would have said. */
static void test_aborted_claims_nothing_later(void **state)
{
    struct core_case *test = begin(state, 1, 1);
    lose_letter(test, 0, 0);
    core_case_position(test, 10);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_wait(test, test->options.commit_ms);
    assert_int_equal(core_case_commit(test)->low_offset, 0);
    assert_int_equal(core_case_commit(test)->shared.point.offset, -1);
}

/* One that can never be written again is alone in the end, and each attempt comes later. */
static void test_fewer_and_later_after_each_abort(void **state)
{
    struct core_case *test = *state;
    test->options.copy_rows_max = 8;
    begin(state, 1, 8);
    int64_t wait_ms = test->options.retry_ms;
    lose_all(test, 8);
    for (size_t count = 8; wait_ms < 100000; count = count > 1 ? count / 2 : 1) {
        assert_int_equal(core_case_count(test, COMMAND_COPY), count);
        core_case_end(test, TRANSACTION_ABORTED);
        core_case_expect_delivers(test, 0, 8);
        for (uint64_t i = 0; i < 8; i++) {
            core_case_failed(test, 0, i, DELIVERY_NO_LETTER);
        }
        core_case_wait(test, (wait_ms < 60000 ? wait_ms : 60000) - 1);
        expect_nothing_moves(test);
        core_case_settle(test);
        core_case_wait(test, 1);
        wait_ms *= 2;
    }
    core_case_end(test, TRANSACTION_COMMITTED);
    core_case_settle(test);
    core_case_wait(test, test->options.copy_ms);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 2); /* twice as many again */
}

static void test_not_while_a_commit_is_under_way(void **state)
{
    struct core_case *test = begin(state, 1, 2);
    core_case_delivered(test, 0, 0);
    core_case_wait(test, test->options.commit_ms);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 1);
    lose_letter(test, 0, 1);
    expect_nothing_moves(test);
    core_case_input(test, INPUT_COMMIT_DONE)->as.commit = COMMIT_FAILED; /* it may be there all the same */
    core_case_step(test);
    expect_nothing_moves(test);
    core_case_wait(test, test->options.commit_ms);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 1);
    core_case_committed(test);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_wait(test, 10 * test->options.commit_ms);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 0); /* R9 the other way round */
}

static void test_nothing_is_begun_when_leaving(void **state)
{
    struct core_case *test = begin(state, 1, 2);
    core_case_input(test, INPUT_SLOT_LEAVING);
    core_case_delivered(test, 0, 1);
    core_case_failed(test, 0, 0, DELIVERY_NO_LETTER);
    core_case_step(test);
    expect_nothing_moves(test);
    core_case_settle(test);
    assert_int_equal(core_case_slot(test).low_offset, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 2);
    assert_false(core_case_is_restless(test));
}

static void test_nothing_is_begun_when_stopping(void **state)
{
    struct core_case *test = begin(state, 1, 1);
    core_case_input(test, INPUT_STOP);
    core_case_failed(test, 0, 0, DELIVERY_NO_LETTER);
    core_case_step(test);
    expect_nothing_moves(test);
    bool stopped = false;
    while (!stopped && core_case_settle_once(test)) {
        stopped = core_case_count(test, COMMAND_STOPPED) == 1;
    }
    assert_true(stopped);
    assert_int_equal(core_case_slot(test).low_offset, 0);
}

static void test_leaves_when_what_is_under_way_is_known(void **state)
{
    struct core_case *test = begin(state, 1, 1);
    lose_letter(test, 0, 0);
    core_case_input(test, INPUT_SLOT_LEAVING);
    core_case_wait(test, 1000);
    assert_int_equal(core_case_count(test, COMMAND_SLOT_LEFT), 0);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_count(test, COMMAND_SLOT_LEFT), 1);
}

static void test_slot_may_be_lost_meanwhile(void **state)
{
    struct core_case *test = begin(state, 1, 1);
    lose_letter(test, 0, 0);
    core_case_input(test, INPUT_SLOT_LOST);
    core_case_step(test);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(test->commands.count, 0);
}

/* Another topic stands there now (R8): nothing is written to it, and the letter is tried until it is kept. */
static void test_letters_only_where_reading_has_stopped(void **state)
{
    struct core_case *test = begin(state, 1, 3);
    core_case_failed(test, 0, 1, DELIVERY_FAULT);
    core_case_step(test);
    core_case_failed(test, 0, 1, DELIVERY_NO_LETTER);
    core_case_step(test);
    core_case_input(test, INPUT_READING_STOPPED);
    core_case_step(test);
    core_case_expect_delivers(test, 1, 2);
    core_case_delivered(test, 0, 0);
    core_case_failed(test, 0, 1, DELIVERY_NO_LETTER);
    core_case_step(test);
    expect_nothing_moves(test);
    assert_true(core_case_queue(test, 0).held);
    core_case_delivered(test, 0, 2);
    core_case_wait(test, test->options.retry_ms);
    core_case_expect_delivers(test, 1, 2);
    core_case_deliver_all(test);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

static void test_stopped_reading_takes_back_what_was_aborted(void **state)
{
    struct core_case *test = begin(state, 1, 1);
    lose_letter(test, 0, 0);
    core_case_input(test, INPUT_READING_STOPPED);
    core_case_step(test);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_expect_delivers(test, 0, 1);
}

/* ------------------------------------------------------------------------------------------------------ controls */

static struct core_case *begin_event(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, 0, 0, CORE_CASE_ID(1));
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    return test;
}

static void test_cancelled_one_is_not_written_again(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_event(test, 1, 0, 0, CORE_CASE_ID(1));
    core_case_step(test);
    lose_letter(test, 0, 1);
    core_case_cancel(test, 2, CORE_CASE_ID(1));
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    expect_nothing_moves(test);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    core_case_expect_ended(test, 1, 0, 0);
}

static void test_cancelled_meanwhile_and_committed_is_ended_by_its_mark(void **state)
{
    struct core_case *test = begin_event(state);
    lose_letter(test, 0, 0);
    core_case_cancel(test, 2, CORE_CASE_ID(1));
    core_case_step(test);
    core_case_transacted(test, TRANSACTION_COMMITTED, 4);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).marks, 1);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_again(test, 3, LATER, 0, CORE_CASE_ID(1), 0);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_expect_ended(test, 0, 0, 1);
}

static void test_cancelled_meanwhile_and_aborted_ends(void **state)
{
    struct core_case *test = begin_event(state);
    lose_letter(test, 0, 0);
    core_case_cancel(test, 3, CORE_CASE_ID(1));
    core_case_step(test);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_expect_ended(test, 1, 0, 0);
    core_case_wait(test, 1000);
    expect_nothing_moves(test);
}

/* The shell reads it before it is told of the end: it is not taken for a replacement of what it moves. */
static void test_copy_read_before_the_end_is_known(void **state)
{
    struct core_case *test = begin_event(state);
    lose_letter(test, 0, 0);
    core_case_again(test, 2, LATER, 0, CORE_CASE_ID(1), 0);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 3);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_queue(test, 0).pending, 2);
    core_case_expect_ended(test, 0, 0, 0);
    core_case_cancel(test, 3, CORE_CASE_ID(1));
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_expect_ended(test, 1, 0, 0);
}

/* -------------------------------------------------------------------------------------- beside copies forward (R6) */

/* 0 to 2 of the store: the second is in flight, and holds the third, whose letter was not kept; the first fails. */
static void hold_up(struct core_case *test)
{
    test->options.retry_ms = 5000;
    for (int64_t i = 0; i < 3; i++) {
        core_case_store(test, i, 0, 0, 0);
    }
    test->gained.position = 100;
    test->gained.stored_position = 100;
    core_case_begin(test, 1, 0);
    core_case_settle_once(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 3);
    core_case_failed(test, 0, 1, DELIVERY_FAULT);
    core_case_step(test);
    core_case_failed(test, 0, 1, DELIVERY_NO_LETTER);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_failed(test, 0, 2, DELIVERY_RETRIABLE);
    core_case_step(test);
    core_case_settle(test);
}

static void test_held_up_one_is_copied_forward_due_later(void **state)
{
    struct core_case *test = *state;
    hold_up(test);
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 2;
    core_case_step(test);
    while (core_case_count(test, COMMAND_COPY) == 0 && core_case_settle_once(test)) {
    }
    assert_int_equal(core_case_count(test, COMMAND_COPY), 2);
    core_case_expect_copy(test, 0, 0, 0);
    core_case_expect_copy(test, 1, 1, test->wall_ms + LATER);
    assert_int_equal(core_case_only_frontier(test)->low_offset, 2);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    assert_int_equal(core_case_slot(test).copied, 2);
    assert_int_equal(core_case_slot(test).postponed, 1);
    core_case_wait(test, 5000);
    core_case_expect_delivers(test, 2, 3);
}

/* Rows are looked up for a copy while postponed ones are written again: those are done then. */
static void test_copies_forward_let_alone_what_is_under_way(void **state)
{
    struct core_case *test = *state;
    hold_up(test);
    core_case_wait(test, 5000);
    core_case_deliver_all(test);
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 3;
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_expect_copy(test, 0, 1, 5000 + LATER);
    core_case_settle(test);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    core_case_run(test, 20000);
    assert_int_equal(core_case_slot(test).copied, 0);
}

/* Both are ready, and the last transaction was a copy forward. */
static void test_by_turns_with_copies_forward(void **state)
{
    struct core_case *test = *state;
    test->options.copy_ms = 0;
    core_case_store(test, 0, CORE_CASE_DAY_MS, 0, 2);
    core_case_store(test, 5, CORE_CASE_DAY_MS, 0, 2);
    test->gained.position = 100;
    test->gained.stored_position = 100;
    core_case_begin(test, 1, 0);
    core_case_settle(test);
    core_case_record(test, 100, 0, 0);
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 3;
    core_case_step(test);
    core_case_settle_once(test);
    core_case_expect_copy(test, 0, 0, CORE_CASE_DAY_MS);
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 10;
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 1);
    core_case_failed(test, 0, 0, DELIVERY_NO_LETTER);
    core_case_settle_once(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_expect_copy(test, 0, 100, LATER);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_expect_copy(test, 0, 5, CORE_CASE_DAY_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_is_written_again_with_its_frontier),
        CORE_CASE_TEST(test_later_than_its_time_and_than_now),
        CORE_CASE_TEST(test_later_than_ever_does_not_overflow),
        CORE_CASE_TEST(test_lane_goes_on),
        CORE_CASE_TEST(test_failed_one_in_front_holds_it),
        CORE_CASE_TEST(test_no_more_at_once_than_may_be),
        CORE_CASE_TEST(test_goes_without_copies_forward),
        CORE_CASE_TEST(test_aborted_is_a_letter_once_more),
        CORE_CASE_TEST(test_aborted_claims_nothing_later),
        CORE_CASE_TEST(test_fewer_and_later_after_each_abort),
        CORE_CASE_TEST(test_not_while_a_commit_is_under_way),
        CORE_CASE_TEST(test_nothing_is_begun_when_leaving),
        CORE_CASE_TEST(test_nothing_is_begun_when_stopping),
        CORE_CASE_TEST(test_leaves_when_what_is_under_way_is_known),
        CORE_CASE_TEST(test_slot_may_be_lost_meanwhile),
        CORE_CASE_TEST(test_letters_only_where_reading_has_stopped),
        CORE_CASE_TEST(test_stopped_reading_takes_back_what_was_aborted),
        CORE_CASE_TEST(test_cancelled_one_is_not_written_again),
        CORE_CASE_TEST(test_cancelled_meanwhile_and_committed_is_ended_by_its_mark),
        CORE_CASE_TEST(test_cancelled_meanwhile_and_aborted_ends),
        CORE_CASE_TEST(test_copy_read_before_the_end_is_known),
        CORE_CASE_TEST(test_held_up_one_is_copied_forward_due_later),
        CORE_CASE_TEST(test_copies_forward_let_alone_what_is_under_way),
        CORE_CASE_TEST(test_by_turns_with_copies_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
