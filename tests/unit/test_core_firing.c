/* What leaves the core, when, and in what order; when it sleeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

static void test_fires_at_its_due_in_order(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 500, 0);
    core_case_record(test, 1, 400, 0);
    core_case_record(test, 2, 500, 0);
    core_case_step(test);
    core_case_wait(test, 499);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 1);
    assert_int_equal(core_case_deliver(test, 0)->ref, 2);
    core_case_wait(test, 1);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 0);
    assert_int_equal(core_case_deliver(test, 1)->key.offset, 2);
}

/* An hour with one record: the steps are those of its checkpoint, its window, itself, its commit and its drop. */
static void test_sleeps_for_an_hour(void **state)
{
    struct core_case *test = *state;
    size_t fired = 0;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 1800000, 0);
    core_case_step(test);
    do {
        if (core_case_count(test, COMMAND_DELIVER) > 0) {
            assert_int_equal(test->wall_ms, 1800000);
            fired++;
            core_case_delivered(test, 0, 0);
            core_case_step(test);
        }
        core_case_settle(test);
    } while (core_case_sleep(test, 3600000));
    assert_int_equal(fired, 1);
    assert_in_range(test->steps, 5, 40);
    assert_int_equal(core_next_deadline(test->core).wall.ms, TIME_NEVER);
    assert_int_equal(core_next_deadline(test->core).mono.ms, TIME_NEVER);
    assert_int_equal(test->row_count, 0);
    assert_int_equal(test->released, 1);
}

static void test_earlier_arrival_moves_the_deadline(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 3000, 0);
    core_case_step(test);
    assert_int_equal(core_next_deadline(test->core).wall.ms, CORE_CASE_WALL + 3000);
    core_case_record(test, 1, 200, 0);
    core_case_step(test);
    assert_int_equal(core_next_deadline(test->core).wall.ms, CORE_CASE_WALL + 200);
}

static void test_nothing_fires_before_all_is_read(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 10);
    core_case_record(test, 3, -5, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    core_case_position(test, 10);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
}

static void test_herd_leaves_in_bounded_steps(void **state)
{
    const int64_t herd = 100000;
    struct core_case *test = *state;
    int64_t next = 0;
    core_case_begin(test, 1, 0);
    for (int64_t i = 0; i < herd; i++) {
        core_case_record(test, i, 100, 0);
    }
    core_case_step(test);
    core_case_wait(test, 100);
    while (next < herd) {
        size_t count = core_case_count(test, COMMAND_DELIVER);
        assert_in_range(count, 1, test->options.step_records_max);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(core_case_deliver(test, i)->key.offset, next++);
        }
        struct now now = {{CORE_CASE_WALL + test->wall_ms}, {test->mono_ms}};
        test->commands = core_step(test->core, now, NULL, 0);
    }
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
}

static void test_outage_holds_the_lane_and_backs_off(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 2, 0);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, 1, 0);
    core_case_record(test, 2, 1, 1);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_wait(test, 1);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    assert_int_equal(core_case_deliver(test, 0)->lane, 1); /* the other lane goes on */
    assert_true(core_case_queue(test, 0).held);
    int64_t waits[] = {100, 200, 400};
    for (size_t i = 0; i < 3; i++) {
        core_case_wait(test, waits[i] - 1);
        assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
        core_case_wait(test, 1);
        assert_true(core_case_deliver(test, 0)->again);
        assert_int_equal(core_case_deliver(test, 0)->key.offset, 0);
        assert_int_equal(core_case_deliver(test, 1)->key.offset, 1); /* what waited goes on behind it */
        core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
        core_case_failed(test, 0, 1, DELIVERY_RETRIABLE);
        core_case_step(test);
    }
}

static void test_missing_topic_is_refused_after_its_grace(void **state)
{
    struct core_case *test = *state;
    int64_t refused_at = -1;
    test->options.unknown_topic_grace_ms = 30000;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    while (refused_at < 0) {
        if (core_case_count(test, COMMAND_DELIVER) > 0) {
            if (core_case_deliver(test, 0)->as_refused) {
                refused_at = test->wall_ms;
                assert_int_equal(core_case_deliver(test, 0)->reason, DELIVERY_UNKNOWN_TOPIC);
                break;
            }
            core_case_failed(test, 0, 0, DELIVERY_UNKNOWN_TOPIC);
            core_case_step(test);
            continue;
        }
        core_case_settle(test);
        assert_true(core_case_sleep(test, 60000));
    }
    assert_in_range(refused_at, 30000, 36000);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

static void test_own_fault_is_refused_at_once(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    core_case_failed(test, 0, 0, DELIVERY_FAULT);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    assert_true(core_case_deliver(test, 0)->as_refused);
    assert_int_equal(core_case_deliver(test, 0)->reason, DELIVERY_FAULT);
    core_case_failed(test, 0, 0, DELIVERY_FAULT); /* the refused topic's own failure is an outage */
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    core_case_delivered(test, 0, 1);
    core_case_wait(test, 100);
    assert_true(core_case_deliver(test, 0)->as_refused);
}

static void test_full_sink_keeps_the_order(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    for (int64_t i = 0; i < 3; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    for (uint64_t i = 1; i < 3; i++) {
        core_case_full_sink(test, 0, i);
    }
    core_case_record(test, 3, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    core_case_input(test, INPUT_SINK_ROOM);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(core_case_deliver(test, i)->key.offset, (int64_t)i + 1);
    }
}

/* What came too late for the point waits in memory only up to its limit, while the lane stands; nothing of it is forgotten. */
static void test_late_ones_are_bounded_in_memory(void **state)
{
    enum { MANY = 200 };
    struct core_case *test = *state;
    test->options.late_max = 8;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_deliver_all(test);
    core_case_settle(test);
    core_case_pause(test, 0, true);
    for (int64_t offset = 1; offset <= MANY; offset++) {
        core_case_record(test, offset, -offset, 0);
        core_case_step(test);
        assert_true(core_case_queue(test, 0).in_memory <= test->options.late_max);
    }
    core_case_settle(test);
    assert_int_equal(core_case_queue(test, 0).pending, MANY);
    core_case_pause(test, 0, false);
    core_case_run(test, 60000);
    assert_int_equal(test->fired_count, 1 + MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_fires_at_its_due_in_order),
        CORE_CASE_TEST(test_sleeps_for_an_hour),
        CORE_CASE_TEST(test_earlier_arrival_moves_the_deadline),
        CORE_CASE_TEST(test_nothing_fires_before_all_is_read),
        CORE_CASE_TEST(test_herd_leaves_in_bounded_steps),
        CORE_CASE_TEST(test_outage_holds_the_lane_and_backs_off),
        CORE_CASE_TEST(test_missing_topic_is_refused_after_its_grace),
        CORE_CASE_TEST(test_own_fault_is_refused_at_once),
        CORE_CASE_TEST(test_full_sink_keeps_the_order),
        CORE_CASE_TEST(test_late_ones_are_bounded_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
