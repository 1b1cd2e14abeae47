/* What a core says is done, what it writes, and how it stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/bucket.h"
#include "tests/support/core_case.h"

/* A row that is due in a month moves down the levels, each time before it is needed, and leaves on time. */
static void test_month_of_splits(void **state)
{
    struct core_case *test = *state;
    int levels = 0;
    bool fired = false;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 40 * CORE_CASE_DAY_MS, 0);
    core_case_step(test);
    core_case_wait(test, 100);
    core_case_settle(test);
    assert_int_equal(test->rows[0].bucket.level, 3);
    while (!fired) {
        assert_true(core_case_sleep(test, 41 * CORE_CASE_DAY_MS));
        if (test->plan != NULL && test->plan->slots[0].split_count > 0) {
            struct bucket_id from = test->plan->slots[0].splits[0].from;
            assert_int_equal(
                CORE_CASE_WALL + test->wall_ms <= bucket_start_ms(from) - bucket_width_ms(from.level) / 4 + 200, 1);
            levels++;
        }
        fired = core_case_count(test, COMMAND_DELIVER) > 0;
        core_case_settle(test);
    }
    assert_int_equal(test->wall_ms, 40 * CORE_CASE_DAY_MS);
    assert_int_equal(levels, 3);
    assert_in_range(test->steps, 1, 60);
}

/* What is acknowledged and committed before its checkpoint is never written. */
static void test_done_rows_are_never_written(void **state)
{
    struct core_case *test = *state;
    test->options.checkpoint_ms = 1000;
    test->options.commit_ms = 1;
    core_case_begin(test, 1, 0);
    core_case_wait(test, 1);
    core_case_record(test, 0, 10, 0);
    core_case_step(test);
    core_case_settle(test);
    while (test->row_count == 0 && core_case_sleep(test, 60000)) {
        if (core_case_count(test, COMMAND_DELIVER) > 0) {
            core_case_delivered(test, 0, core_case_deliver(test, 0)->sequence);
            core_case_step(test);
        }
        core_case_settle(test);
    }
    struct core_stats stats;
    core_stats(test->core, &stats);
    assert_int_equal(test->released, 1);
    assert_int_equal(stats.rows_never_written + stats.rows_written, 1);
}

/* Lanes with nothing overdue share one entry; C stays at what is still to come. */
static void test_lanes_share_what_they_may(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 3, 0);
    core_case_record(test, 0, 10, 0);
    core_case_record(test, 1, 2000, 1);
    core_case_step(test);
    core_case_settle(test);
    core_case_wait(test, 10);
    core_case_delivered(test, 0, 0);
    core_case_wait(test, 300);
    const struct partition_frontier *frontier = core_case_commit(test);
    assert_int_equal(frontier->lane_count, 0);
    assert_int_equal(frontier->shared.point.offset, 0);
    assert_int_equal(frontier->committed_offset, 2);
    assert_int_equal(frontier->low_offset, 1);
}

/* The second of two deliveries is acknowledged first: nothing is said of it until the first one is. */
static void test_point_waits_for_the_first(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    core_case_delivered(test, 0, 1);
    core_case_wait(test, 300);
    for (size_t i = 0; i < core_case_count(test, COMMAND_COMMIT); i++) {
        assert_int_equal(core_case_commit(test)->low_offset, 0);
        assert_true(core_case_commit(test)->shared.point.due_ms < CORE_CASE_WALL);
    }
    core_case_committed(test);
    core_case_delivered(test, 0, 0);
    core_case_wait(test, 300);
    assert_int_equal(core_case_commit(test)->low_offset, 2);
    assert_int_equal(core_case_commit(test)->shared.point.offset, 1);
}

/* R1: the clock steps back behind the point; what comes then keeps the old pair and fires by the clock as it is. */
static void test_clock_behind_the_point(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    test->wall_ms -= 60000;
    core_case_record(test, 1, -30000, 0);
    core_case_record(test, 2, -59000, 0);
    core_case_step(test);
    core_case_settle(test);
    core_case_wait(test, 999);
    core_case_settle(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    core_case_wait(test, 1);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 2);
    core_case_delivered(test, 0, 1);
    core_case_wait(test, 300);
    assert_int_equal(core_case_commit(test)->lanes[0].frontier.old_count, 1);
    assert_int_equal(core_case_commit(test)->lanes[0].frontier.old[0].point.offset, 0);
    core_case_settle(test);
    while (core_case_count(test, COMMAND_DELIVER) == 0 && core_case_sleep(test, 0)) {
        if (core_case_count(test, COMMAND_DELIVER) == 0) {
            core_case_settle(test);
        }
    }
    assert_int_equal(test->wall_ms, -30000);
    const struct command *last = core_case_find(test, COMMAND_DELIVER, 0);
    assert_non_null(last);
    assert_int_equal(last->as.deliver.key.offset, 1);
    core_case_delivered(test, 0, last->as.deliver.sequence);
    core_case_step(test);
    core_case_settle(test);
    /* When the clock has passed the old pair's point, the live one takes it over, and nothing is left to wait for. */
    while (core_case_sleep(test, CORE_CASE_DAY_MS)) {
        core_case_settle(test);
    }
    assert_int_equal(core_next_deadline(test->core).wall.ms, TIME_NEVER);
    assert_int_equal(test->row_count, 0);
    struct core_slot_stats stats;
    core_slot_stats(test->core, 0, &stats);
    assert_int_equal(stats.low_offset, 3);
    assert_int_equal(stats.lanes_apart, 0);
}

/* The store is full: reading pauses at the limit, deliveries go on, then splits and drops are tried alone, then drops. */
static void test_full_store(void **state)
{
    struct core_case *test = *state;
    test->options.unwritten_rows_max = 4;
    core_case_begin(test, 1, 0);
    for (int64_t i = 0; i < 4; i++) {
        core_case_record(test, i, i == 0 ? 50 : 3600000, 0);
    }
    core_case_wait(test, 200);
    assert_int_equal(core_case_count(test, COMMAND_READ_PAUSE), 1);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    assert_non_null(test->plan);
    core_case_full(test);
    core_case_step(test);
    assert_null(test->plan); /* there is nothing to make room with */
    struct core_stats stats;
    core_stats(test->core, &stats);
    assert_true(stats.store_full);
    core_case_delivered(test, 0, 0);
    core_case_wait(test, 999);
    core_case_committed(test);
    core_case_wait(test, 1);
    assert_non_null(test->plan);
    core_case_written(test);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_READ_RESUME), 1);
    core_stats(test->core, &stats);
    assert_false(stats.store_full);
}

static void test_stop(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, CORE_CASE_DAY_MS, 0);
    core_case_step(test);
    core_case_settle(test);
    core_case_input(test, INPUT_STOP);
    core_case_record(test, 2, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER) + core_case_count(test, COMMAND_STOPPED), 0);
    core_case_settle(test);
    assert_int_equal(core_case_count(test, COMMAND_STOPPED), 0); /* a report is still to come */
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    core_case_settle(test);
    assert_int_equal(core_case_count(test, COMMAND_STOPPED), 1);
    assert_int_equal(test->released, 3);
    assert_null(test->plan);
    assert_int_equal(test->row_count, 3); /* the delivered one shares its bucket with one that is not */
}

/* A slot that is to leave waits for what is in flight, says what it has done, and then leaves; late answers are let pass. */
static void test_leaving(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_input(test, INPUT_SLOT_LEAVING);
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER) + core_case_count(test, COMMAND_SLOT_LEFT), 0);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    for (int i = 0; i < 4 && core_case_count(test, COMMAND_SLOT_LEFT) == 0; i++) {
        core_case_committed(test);
        core_case_step(test);
    }
    assert_int_equal(core_case_count(test, COMMAND_SLOT_LEFT), 1);
    core_case_input(test, INPUT_SLOT_LOST);
    core_case_record(test, 2, 0, 0);
    core_case_delivered(test, 0, 1);
    core_case_step(test);
    assert_int_equal(test->released + (test->plan == NULL ? 0 : test->plan->slots[0].row_count), 3);
}

/* A failure while another delivery is in flight: it goes again only when that one was reported, so that the order stays. */
static void test_again_waits_for_reports(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_wait(test, 1);
    core_case_wait(test, 60000);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    core_case_failed(test, 0, 1, DELIVERY_RETRIABLE);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_month_of_splits),
        CORE_CASE_TEST(test_done_rows_are_never_written),
        CORE_CASE_TEST(test_lanes_share_what_they_may),
        CORE_CASE_TEST(test_point_waits_for_the_first),
        CORE_CASE_TEST(test_clock_behind_the_point),
        CORE_CASE_TEST(test_full_store),
        CORE_CASE_TEST(test_stop),
        CORE_CASE_TEST(test_leaving),
        CORE_CASE_TEST(test_again_waits_for_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
