/* A lane with a rate: how much goes out in which time, and when the core wants to be woken for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"


static void rate(struct core_case *test, lane_index lane, uint32_t per_s)
{
    struct core_lane_options options = {.max_in_flight = 1000000, .max_in_flight_bytes = UINT64_MAX, .rate_per_s = per_s};
    core_lane_change(test->core, lane, &options);
}

/* With so many records due at once. */
static struct core_case *begin(void **state, uint32_t per_s, int64_t count)
{
    struct core_case *test = *state;
    test->options.checkpoint_ms = 1000000; /* whatever wakes it is the rate, or an answer */
    test->options.commit_ms = 1000000;
    core_case_begin(test, 2, 0);
    rate(test, 0, per_s);
    for (int64_t i = 0; i < count; i++) {
        core_case_record(test, i, 0, 0);
    }
    return test;
}

/* Reports what was sent, and commits it. */
static size_t take(struct core_case *test)
{
    size_t count = core_case_count(test, COMMAND_DELIVER);
    core_case_deliver_all(test);
    if (test->transaction != 0) {
        core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    }
    core_case_step(test);
    return count + core_case_count(test, COMMAND_DELIVER) * 1000000; /* and nothing more goes with that */
}

static void test_a_burst_and_then_the_rate(void **state)
{
    struct core_case *test = begin(state, 1000, 400);
    core_case_step(test);
    assert_int_equal(take(test), 100);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(core_next_deadline(test->core).mono.ms, test->mono_ms + 1);
        core_case_wait(test, 1);
        assert_int_equal(take(test), 1);
    }
    core_case_wait(test, 50); /* what it did not use it may still */
    assert_int_equal(take(test), 50);
    core_case_wait(test, 5000); /* but no more than 100 ms of it */
    assert_int_equal(take(test), 100);
}

/* Less than ten a second: one at a time, and the pause is exact. */
static void test_a_slow_one(void **state)
{
    struct core_case *test = begin(state, 3, 10);
    core_case_step(test);
    assert_int_equal(take(test), 1);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(core_next_deadline(test->core).mono.ms, test->mono_ms + 334);
        core_case_wait(test, 333);
        assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
        core_case_wait(test, 1);
        assert_int_equal(take(test), 1);
    }
}

/* In a long time it is the rate: what is lost are parts of a millisecond. */
static void test_it_is_exact_in_the_long_run(void **state)
{
    struct core_case *test = begin(state, 70, 400);
    core_case_step(test);
    size_t sent = take(test);
    for (int i = 0; i < 5000; i += 3) {
        core_case_wait(test, 3);
        sent += take(test);
    }
    assert_in_range(sent, 70 * 5 + 6, 70 * 5 + 7);
}

static void test_a_great_one(void **state)
{
    struct core_case *test = begin(state, UINT32_MAX, 400);
    core_case_step(test);
    assert_int_equal(take(test), 400);
    core_case_wait(test, INT64_C(1) << 40);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
}

/* Only what is due waits for it. */
static void test_nothing_due_wakes_nobody(void **state)
{
    struct core_case *test = begin(state, 10, 1);
    core_case_record(test, 1, 3000, 0);
    core_case_step(test);
    assert_int_equal(take(test), 1);
    core_case_settle(test);
    assert_int_equal(core_next_deadline(test->core).wall.ms, CORE_CASE_WALL + 3000);
    assert_true(core_next_deadline(test->core).mono.ms > test->mono_ms + 500);
    core_case_wait(test, 3000);
    assert_int_equal(take(test), 1);
}

/* A record that comes due before the next token is there. */
static void test_due_before_the_token(void **state)
{
    struct core_case *test = begin(state, 1, 1);
    core_case_record(test, 1, 400, 0);
    core_case_step(test);
    assert_int_equal(take(test), 1);
    core_case_wait(test, 400);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_int_equal(core_next_deadline(test->core).mono.ms, test->mono_ms + 600);
    core_case_wait(test, 600);
    assert_int_equal(take(test), 1);
}

/* A repetition counts like any delivery. */
static void test_retries_count(void **state)
{
    struct core_case *test = begin(state, 10, 2);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    core_case_failed(test, 0, 0, DELIVERY_UNDONE);
    if (test->transaction != 0) {
        core_case_transacted(test, TRANSACTION_ABORTED, 0);
    }
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_int_equal(core_next_deadline(test->core).mono.ms, test->mono_ms + 100);
    core_case_wait(test, 100);
    core_case_expect_delivers(test, 0, 1);
    assert_true(core_case_deliver(test, 0)->again);
    assert_int_equal(take(test), 1);
    core_case_wait(test, 100);
    core_case_expect_delivers(test, 1, 2);
}

/* Another lane does not notice. */
static void test_lanes_apart(void **state)
{
    struct core_case *test = begin(state, 10, 5);
    for (int64_t i = 5; i < 50; i++) {
        core_case_record(test, i, 0, 1);
    }
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 46);
}

/* All partitions of a lane share it. */
static void test_slots_together(void **state)
{
    struct core_case *test = begin(state, 20, 3);
    static struct input_slot_gained second;
    second = test->gained;
    second.bucket_count = 0;
    struct input *input = core_case_input(test, INPUT_SLOT_GAINED);
    input->slot = 1;
    input->as.gained = &second;
    for (int64_t i = 0; i < 3; i++) {
        core_case_record(test, i, 0, 0);
        test->inputs[test->input_count - 1].slot = 1;
        test->inputs[test->input_count - 1].as.record.ref = (row_ref)i + 100;
    }
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
    size_t sent = 2;
    bool both[2] = {false, false};
    for (int i = 0; i < 8; i++) {
        for (size_t j = 0; j < core_case_count(test, COMMAND_DELIVER); j++) {
            both[core_case_find(test, COMMAND_DELIVER, j)->slot] = true;
        }
        if (test->transaction != 0) {
            for (size_t j = 0; j < core_case_count(test, COMMAND_DELIVER); j++) {
                const struct command *command = core_case_find(test, COMMAND_DELIVER, j);
                core_case_delivered(test, 0, command->as.deliver.sequence);
                test->inputs[test->input_count - 1].slot = command->slot;
            }
            core_case_transacted(test, TRANSACTION_COMMITTED, 0);
            core_case_step(test);
            assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
        }
        core_case_wait(test, 50);
        sent += core_case_count(test, COMMAND_DELIVER);
    }
    assert_int_equal(sent, 6);
    assert_true(both[0] && both[1]);
}

/* It may change, and end. */
static void test_it_changes(void **state)
{
    struct core_case *test = begin(state, 10, 400);
    core_case_step(test);
    assert_int_equal(take(test), 1);
    rate(test, 0, 100); /* begins with what that lets through in 100 ms */
    core_case_step(test);
    assert_int_equal(take(test), 10);
    rate(test, 0, 100); /* the same: nothing begins */
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    rate(test, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 389);
    assert_false(core_case_is_restless(test));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_BOTH(test_a_burst_and_then_the_rate),
        CORE_CASE_BOTH(test_a_slow_one),
        CORE_CASE_BOTH(test_it_is_exact_in_the_long_run),
        CORE_CASE_BOTH(test_a_great_one),
        CORE_CASE_BOTH(test_nothing_due_wakes_nobody),
        CORE_CASE_BOTH(test_due_before_the_token),
        CORE_CASE_BOTH(test_retries_count),
        CORE_CASE_BOTH(test_lanes_apart),
        CORE_CASE_BOTH(test_slots_together),
        CORE_CASE_BOTH(test_it_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
