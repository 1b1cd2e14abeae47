/* Targets that fail with exactly_once: who goes again, when, and with whom (R9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

static struct core_case *begin(void **state, int lanes)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_begin(test, lanes, 0);
    return test;
}

/* Reports on all that the last step sent, and the end of its transaction. */
static void test_failed_lane_goes_alone_and_holds_nobody_up(void **state)
{
    struct core_case *test = begin(state, 2);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, 0, 1);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_delivered(test, 1, 0);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 1, 2); /* the other lane's, without it */
    assert_int_equal(core_case_only_frontier(test)->low_offset, 0);
    core_case_commit_all(test);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 1).pending, 0);
    core_case_wait(test, 100);
    core_case_expect_delivers(test, 0, 1);
    core_case_record(test, 2, 0, 1);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0); /* one at a time */
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 2, 3);
    assert_false(core_case_deliver(test, 0)->again); /* it was in none that was aborted */
}

static void test_recovered_lane_goes_with_the_others_again(void **state)
{
    struct core_case *test = begin(state, 2);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    core_case_wait(test, 100);
    core_case_expect_delivers(test, 0, 1);
    core_case_commit_all(test);
    core_case_record(test, 1, 0, 0);
    core_case_record(test, 2, 0, 1);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
}

/* Sends that of the step, where reports come in a step of their own or with the end. */
static void end_all(struct core_case *test, bool apart, enum transaction_result result)
{
    for (size_t i = 0; i < core_case_count(test, COMMAND_DELIVER); i++) {
        const struct command_deliver *deliver = core_case_deliver(test, i);
        if (result == TRANSACTION_COMMITTED) {
            core_case_delivered(test, deliver->lane, deliver->sequence);
        } else {
            core_case_failed(test, deliver->lane, deliver->sequence, DELIVERY_RETRIABLE);
        }
    }
    if (apart) {
        core_case_step(test);
    }
    core_case_transacted(test, result, 0);
}

static void expect_failed_lane_gets_its_turn(struct core_case *test, bool apart)
{
    int turns = 0;
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, 0, 1);
    core_case_step(test);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    test->wall_ms += 100;
    test->mono_ms += 100;
    while (core_case_deliver(test, 0)->lane == 1) { /* its neighbour always has something to send */
        assert_in_range(turns++, 0, 3);
        end_all(test, apart, TRANSACTION_COMMITTED);
        core_case_record(test, 2 + turns, 0, 1);
        core_case_step(test);
    }
    core_case_expect_delivers(test, 0, 1);
}

static void test_failed_lane_is_not_starved(void **state)
{
    expect_failed_lane_gets_its_turn(begin(state, 2), false);
}

static void test_failed_lane_is_not_starved_by_transactions_of_two_steps(void **state)
{
    expect_failed_lane_gets_its_turn(begin(state, 2), true);
}

static void expect_sound_lane_gets_its_turn(struct core_case *test, bool apart)
{
    int turns = 0;
    test->options.exactly_once = true;
    test->options.retry_ms = 1;
    test->options.retry_max_ms = 1;
    core_case_begin(test, 3, 0);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, 0, 2);
    core_case_step(test);
    end_all(test, apart, TRANSACTION_ABORTED);
    core_case_wait(test, 1);
    core_case_record(test, 2, 0, 1);
    while (core_case_count(test, COMMAND_DELIVER) == 0 || core_case_deliver(test, 0)->lane != 1) { /* the others always try again */
        assert_in_range(turns++, 0, 8);
        if (core_case_count(test, COMMAND_DELIVER) > 0) {
            end_all(test, apart, TRANSACTION_ABORTED);
        }
        core_case_wait(test, 1);
    }
}

static void test_sound_lane_is_not_starved_by_failing_ones(void **state)
{
    expect_sound_lane_gets_its_turn(*state, false);
}

static void test_sound_lane_is_not_starved_by_transactions_of_two_steps(void **state)
{
    expect_sound_lane_gets_its_turn(*state, true);
}

static void test_own_fault_is_refused_in_the_next_one(void **state)
{
    struct core_case *test = begin(state, 2);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, 0, 0);
    core_case_record(test, 2, 0, 0);
    core_case_step(test);
    core_case_delivered(test, 0, 0);
    core_case_failed(test, 0, 1, DELIVERY_FAULT);
    core_case_delivered(test, 0, 2);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 0, 3);
    assert_false(core_case_deliver(test, 0)->as_refused);
    assert_true(core_case_deliver(test, 1)->as_refused);
    assert_int_equal(core_case_deliver(test, 1)->reason, DELIVERY_FAULT);
    assert_false(core_case_deliver(test, 2)->as_refused);
    core_case_commit_all(test);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

/* It begins with somebody else's: the one that has failed does not join, though its wait is over. */
static void test_failed_lane_does_not_join_others(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_begin(test, 2, 0);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    for (int i = 0; i < 2; i++) { /* the second time it was alone */
        core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
        core_case_transacted(test, TRANSACTION_ABORTED, 0);
        core_case_step(test);
        test->mono_ms += i == 0 ? 100 : 200;
        test->wall_ms += i == 0 ? 100 : 200;
        if (i == 1) {
            core_case_record(test, 1, 0, 1);
        }
        core_case_step(test);
    }
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    assert_int_equal(core_case_deliver(test, 0)->lane, 1);
}

/* It showed whose fault it was: that one goes elsewhere, and nobody waits for the others' failures, which were only its own. */
static void test_culprits_do_not_slow_the_others_down(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_begin(test, 1, 0);
    for (int64_t i = 0; i < 8; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    for (uint64_t culprit = 0; culprit < 8; culprit++) {
        assert_int_equal(core_case_count(test, COMMAND_DELIVER), 8);
        for (uint64_t i = 0; i < 8; i++) {
            assert_int_equal(core_case_deliver(test, i)->as_refused, i < culprit);
            core_case_failed(test, 0, i, i == culprit ? DELIVERY_FAULT : DELIVERY_RETRIABLE);
        }
        core_case_transacted(test, TRANSACTION_ABORTED, 0);
        core_case_step(test);
    }
    core_case_deliver_all(test);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

/* But a lane that had failed before, by itself, goes on waiting. */
static void test_culprit_does_not_end_the_wait_of_another_lane(void **state)
{
    struct core_case *test = *state;
    test->options.retry_ms = 5000;
    begin(state, 2);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    core_case_record(test, 1, 0, 1);
    core_case_wait(test, 1);
    core_case_expect_delivers(test, 1, 2);
    core_case_failed(test, 1, 0, DELIVERY_FAULT);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 1, 2);
    assert_true(core_case_deliver(test, 0)->as_refused);
    core_case_commit_all(test);
    core_case_wait(test, 4998);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    core_case_wait(test, 1);
    core_case_expect_delivers(test, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_failed_lane_goes_alone_and_holds_nobody_up),
        CORE_CASE_TEST(test_recovered_lane_goes_with_the_others_again),
        CORE_CASE_TEST(test_failed_lane_is_not_starved),
        CORE_CASE_TEST(test_failed_lane_is_not_starved_by_transactions_of_two_steps),
        CORE_CASE_TEST(test_sound_lane_is_not_starved_by_failing_ones),
        CORE_CASE_TEST(test_sound_lane_is_not_starved_by_transactions_of_two_steps),
        CORE_CASE_TEST(test_own_fault_is_refused_in_the_next_one),
        CORE_CASE_TEST(test_failed_lane_does_not_join_others),
        CORE_CASE_TEST(test_culprits_do_not_slow_the_others_down),
        CORE_CASE_TEST(test_culprit_does_not_end_the_wait_of_another_lane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
