/* R5: a control beats what is older than itself, wherever that is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

#define DAY CORE_CASE_DAY_MS
#define A CORE_CASE_ID(1)
#define B CORE_CASE_ID(2)

/* One lane, nothing read yet. */
static struct core_case *begin(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    return test;
}

/* What was read becomes a written checkpoint. */
static void write_all(struct core_case *test)
{
    core_case_wait(test, 100);
    assert_non_null(test->plan);
    core_case_settle(test);
}

/* ------------------------------------------------------------------------------------ where the event may be */

static void test_cancel_of_what_is_not_written_yet(void **state)
{
    struct core_case *test = *state;
    test->options.commit_ms = 50;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, DAY, 0, A);
    core_case_cancel(test, 1, A);
    core_case_step(test);
    core_case_expect_ended(test, 1, 0, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    assert_int_equal(core_case_queue(test, 0).pending_bytes, 0);
    core_case_wait(test, 50);
    assert_int_equal(test->released, 0); /* it is still in the list of what is to be written */
    assert_int_equal(core_case_commit(test)->low_offset, 2); /* it does not hold C */
    core_case_settle(test);
    core_case_run(test, 20000);
    assert_int_equal(test->row_count, 0);
    assert_int_equal(test->released, 1);
    struct core_stats stats;
    core_stats(test->core, &stats);
    assert_int_equal(stats.rows_never_written, 1);
    assert_int_equal(stats.rows_written, 0);
    core_case_run(test, 2 * DAY);
    assert_int_equal(test->fired_count, 0);
}

static void test_cancel_of_what_is_written(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, DAY, 0, A);
    core_case_event(test, 1, DAY, 0, B);
    core_case_step(test);
    write_all(test);
    assert_int_equal(test->row_count, 2);
    core_case_cancel(test, 2, A);
    core_case_step(test);
    core_case_expect_ended(test, 1, 0, 0);
    assert_in_range(core_next_deadline(test->core).mono.ms - test->mono_ms, 0, test->options.checkpoint_ms);
    core_case_cancel(test, 3, A); /* the store still knows of it */
    core_case_step(test);
    core_case_expect_ended(test, 1, 0, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    assert_int_equal(core_case_queue(test, 0).pending_bytes, CORE_CASE_ROW_BYTES);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->erase_count, 1);
    assert_int_equal(core_case_plan(test)->erases[0].key.offset, 0);
    assert_int_equal(core_case_plan(test)->erases[0].key.due_ms, CORE_CASE_WALL + DAY);
    assert_int_equal(core_case_plan(test)->erases[0].lane, 0);
    core_case_settle(test);
    assert_int_equal(test->row_count, 1);
    core_case_run(test, 2 * DAY);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 1);
}

/* It is read while the row is on its way to the disk. */
static void test_cancel_of_what_is_being_written(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, DAY, 0, A);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->row_count, 1);
    core_case_cancel(test, 1, A);
    core_case_step(test);
    core_case_expect_ended(test, 1, 0, 0);
    core_case_written(test);
    core_case_step(test);
    assert_int_equal(test->released, 1);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->erase_count, 1);
    core_case_settle(test);
    assert_int_equal(test->row_count, 0);
    assert_int_equal(core_case_next_low(test), 2);
}

static void test_cancel_of_what_is_in_the_window(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, 2000, 0, A);
    core_case_record(test, 1, 1000, 0);
    core_case_step(test);
    core_case_cancel(test, 2, A);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_run(test, 3000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 1);
    assert_int_equal(core_case_queue(test, 0).in_memory, 0);
}

static void test_cancel_of_a_late_one(void **state)
{
    struct core_case *test = begin(state);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_run(test, 0);
    core_case_pause(test, 0, true);
    core_case_event(test, 1, -50, 0, A);
    core_case_event(test, 2, -60, 0, B);
    core_case_step(test);
    core_case_cancel(test, 3, A);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_pause(test, 0, false);
    core_case_step(test);
    core_case_run(test, 1000);
    assert_int_equal(test->fired_count, 2);
    assert_int_equal(test->fired[1], 2);
    assert_int_equal(core_case_slot(test).low_offset, 4);
}

static void test_cancel_of_what_waits_after_a_failure(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, 0, 0, A);
    core_case_step(test);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_step(test);
    core_case_cancel(test, 1, A);
    core_case_step(test);
    core_case_expect_ended(test, 1, 0, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    core_case_wait(test, 1000);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_int_equal(core_case_commit(test)->low_offset, 2);
}

/* It may be out already, so it counts as delivered if it was. */
static void test_cancel_of_what_is_in_flight_and_arrives(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, 0, 0, A);
    core_case_step(test);
    core_case_cancel(test, 1, A);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    core_case_expect_ended(test, 0, 0, 0);
}

static void test_cancel_of_what_is_in_flight_and_fails(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, 0, 0, A);
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    core_case_cancel(test, 2, A);
    core_case_step(test);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_delivered(test, 0, 1);
    core_case_step(test);
    core_case_expect_ended(test, 1, 0, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    assert_false(core_case_queue(test, 0).held);
    core_case_wait(test, 1000);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
}

/* The same by a replacement: it is that event's end that is counted, and the new one goes on. */
static void test_replacement_of_what_is_in_flight_and_fails(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, 0, 0, A);
    core_case_step(test);
    core_case_event(test, 1, 1000, 0, A);
    core_case_step(test);
    core_case_failed(test, 0, 0, DELIVERY_FAULT);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_run(test, 2000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 1);
}

static void test_cancel_of_what_is_in_an_aborted_transaction(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, 0, 0, A);
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    core_case_cancel(test, 2, A);
    core_case_delivered(test, 0, 0);
    core_case_delivered(test, 0, 1);
    core_case_step(test);
    core_case_expect_ended(test, 0, 0, 0);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    core_case_expect_ended(test, 1, 0, 0);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 1);
    assert_int_equal(core_case_transaction(test)->slots[0].frontier->low_offset, 3);
}

/* In the middle of what was aborted: its neighbours on both sides go again, in order, and the frontier passes it with them. */
static void test_cancel_between_others_in_an_aborted_transaction(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_event(test, 1, 0, 0, A);
    core_case_record(test, 2, 0, 0);
    core_case_step(test);
    core_case_cancel(test, 3, A);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 0);
    assert_int_equal(core_case_deliver(test, 1)->key.offset, 2);
    assert_int_equal(core_case_transaction(test)->slots[0].frontier->low_offset, 4);
    core_case_deliver_all(test);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

static void test_cancel_of_nothing(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, DAY, 0, A);
    core_case_cancel(test, 1, B);
    core_case_step(test);
    core_case_expect_ended(test, 0, 0, 0);
    core_case_cancel(test, 2, A);
    core_case_cancel(test, 3, A);
    core_case_step(test);
    core_case_expect_ended(test, 1, 0, 0); /* the second found nothing any more */
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

/* What the store knows of an id may be done since. */
static void test_cancel_of_what_was_delivered(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, 500, 0, A);
    core_case_step(test);
    write_all(test);
    core_case_run(test, 600);
    assert_int_equal(test->fired_count, 1);
    core_case_cancel(test, 1, A);
    struct stored_event found = {0, CORE_CASE_WALL + 500, -1, CORE_CASE_ROW_BYTES, 0};
    test->inputs[0].as.record.found = found;
    core_case_step(test);
    core_case_expect_ended(test, 0, 0, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

static void test_newer_event_replaces(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, 1000, 0, A);
    core_case_event(test, 1, 2000, 0, A);
    core_case_step(test);
    core_case_expect_ended(test, 0, 1, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    write_all(test);
    assert_int_equal(test->row_count, 1);
    assert_int_equal(test->rows[0].offset, 1);
    core_case_event(test, 2, 1500, 0, A); /* and that one, from the disk */
    core_case_step(test);
    core_case_expect_ended(test, 0, 2, 0);
    core_case_run(test, 3000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 2);
    assert_int_equal(core_case_slot(test).low_offset, 3);
}

static void test_event_after_a_cancel_is_one(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, 1000, 0, A);
    core_case_cancel(test, 1, A);
    core_case_event(test, 2, 1000, 0, A);
    core_case_step(test);
    core_case_expect_ended(test, 1, 0, 0);
    core_case_run(test, 2000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 2);
}

/* -------------------------------------------------------------------------------------------------- the store */

static void test_erase_is_tried_again_when_the_store_was_full(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, DAY, 0, A);
    core_case_step(test);
    write_all(test);
    core_case_cancel(test, 1, A);
    core_case_wait(test, 100);
    for (int i = 0; i < 3; i++) { /* with all, without rows, drops alone */
        assert_int_equal(core_case_plan(test)->erase_count, 1);
        core_case_full(test);
        core_case_step(test);
    }
    assert_null(test->plan);
    core_case_settle(test);
    assert_false(core_case_is_restless(test));
    core_case_wait(test, test->options.store_retry_ms);
    assert_int_equal(core_case_plan(test)->erase_count, 1);
    core_case_settle(test);
    assert_int_equal(test->row_count, 0);
    core_case_wait(test, 10000);
    assert_int_equal(test->plan == NULL ? 0 : core_case_plan(test)->erase_count, 0); /* once */
}

/* A loaded bucket brings it once more: it stays ended, and is counted once. */
static void test_cancelled_row_that_is_loaded_is_let_fall(void **state)
{
    struct core_case *test = *state;
    test->gained.position = 2;
    test->gained.stored_position = 2;
    core_case_store(test, 0, 60000, 0, 0);
    core_case_store(test, 1, 60001, 0, 0);
    test->rows[0].id = A;
    core_case_begin(test, 1, 0);
    core_case_cancel(test, 2, A);
    core_case_wait(test, 100);
    while (test->plan != NULL) { /* the store has no room until then */
        core_case_full(test);
        core_case_step(test);
    }
    test->wall_ms = 60000;
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 1);
    core_case_run(test, 70000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 1);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    core_case_expect_ended(test, 1, 0, 0);
}

/* More was cancelled than one checkpoint erases: until all of it is erased no checkpoint says a position behind the controls (R3). */
static void test_position_waits_for_all_erases(void **state)
{
    struct core_case *test = *state;
    test->options.erase_rows_max = 1;
    test->gained.position = 2;
    test->gained.stored_position = 2;
    core_case_store(test, 0, 60000, 0, 0);
    core_case_store(test, 1, 60001, 0, 0);
    test->rows[0].id = A;
    test->rows[1].id = B;
    core_case_begin(test, 1, 0);
    core_case_cancel(test, 2, A);
    core_case_cancel(test, 3, B);
    core_case_record(test, 4, 90000, 0);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->erase_count, 1);
    assert_int_equal(core_case_plan(test)->row_count, 0);
    assert_int_equal(core_case_plan(test)->position, 2);
    core_case_written(test);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->erase_count, 1);
    assert_int_equal(core_case_plan(test)->row_count, 1);
    assert_int_equal(core_case_plan(test)->position, 5);
}

/* What was never written is not erased: a plan that leaves rows out must not take it for gone, or it would be written after all. */
static void test_unwritten_row_is_not_erased_by_a_plan_without_rows(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, DAY, 0, A);
    core_case_event(test, 1, DAY, 0, B);
    core_case_wait(test, 100);
    core_case_full(test);
    core_case_cancel(test, 2, A);
    core_case_step(test);
    assert_null(test->plan);
    core_case_run(test, 2 * DAY);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 1);
}

/* Nor is it looked for in the store later. */
static void test_row_that_was_never_written_is_not_erased(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, DAY, 0, A);
    core_case_cancel(test, 1, A);
    core_case_event(test, 2, DAY, 0, B);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->row_count, 1);
    assert_int_equal(core_case_plan(test)->erase_count, 0);
    core_case_settle(test);
    core_case_wait(test, 100);
    assert_null(test->plan);
}

/* The older of two unwritten events of an id leaves the list: the younger one is still found by its id. */
static void test_replaced_row_does_not_take_its_id_along(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, DAY, 0, A);
    core_case_event(test, 1, DAY, 0, A);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->row_count, 1);
    assert_int_equal(test->released, 1);
    core_case_cancel(test, 2, A);
    core_case_step(test);
    core_case_expect_ended(test, 1, 1, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

/* R3: a checkpoint that has passed the control must not hold its event, or the next owner would fire it: not even while it is in flight. */
static void test_event_cancelled_in_flight_is_not_written(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 0, 0, 0, A);
    core_case_event(test, 1, DAY, 0, B);
    core_case_step(test);
    core_case_cancel(test, 2, A);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->position, 3);
    assert_int_equal(core_case_plan(test)->row_count, 1);
    assert_int_equal(core_case_plan(test)->rows[0].offset, 1);
    assert_int_equal(core_case_queue(test, 0).in_flight, 1);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
}

static void expect_erased_from_the_checkpoint(struct core_case *test)
{
    core_case_cancel(test, 2, A);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->erase_count, 1);
    assert_int_equal(core_case_plan(test)->erases[0].key.offset, 0);
    core_case_settle(test);
    assert_int_equal(test->row_count, 1);
}

static void store_two(struct core_case *test)
{
    core_case_store(test, 0, 0, 0, 0);
    core_case_store(test, 1, DAY, 0, 2);
    test->rows[0].id = A;
    test->gained.position = 2;
    test->gained.stored_position = 2;
    core_case_begin(test, 1, 0);
    core_case_settle(test);
    assert_int_equal(core_case_queue(test, 0).in_flight, 1);
}

static void test_event_cancelled_in_flight_is_erased(void **state)
{
    struct core_case *test = *state;
    store_two(test);
    expect_erased_from_the_checkpoint(test);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_step(test);
    core_case_expect_ended(test, 1, 0, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
}

/* Delivered, but no commit says so yet: the cancel comes too late, and yet no checkpoint may bring the event back behind it. */
static void test_event_cancelled_before_its_commit_is_erased(void **state)
{
    struct core_case *test = *state;
    store_two(test);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    expect_erased_from_the_checkpoint(test);
    core_case_expect_ended(test, 0, 0, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
}

static void test_event_cancelled_after_a_failure_is_erased(void **state)
{
    struct core_case *test = *state;
    store_two(test);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_step(test);
    expect_erased_from_the_checkpoint(test);
    core_case_expect_ended(test, 1, 0, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_run(test, 2 * DAY);
    assert_int_equal(test->fired_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_cancel_of_what_is_not_written_yet),
        CORE_CASE_TEST(test_cancel_of_what_is_written),
        CORE_CASE_TEST(test_cancel_of_what_is_being_written),
        CORE_CASE_TEST(test_cancel_of_what_is_in_the_window),
        CORE_CASE_TEST(test_cancel_of_a_late_one),
        CORE_CASE_TEST(test_cancel_of_what_waits_after_a_failure),
        CORE_CASE_TEST(test_cancel_of_what_is_in_flight_and_arrives),
        CORE_CASE_TEST(test_cancel_of_what_is_in_flight_and_fails),
        CORE_CASE_TEST(test_replacement_of_what_is_in_flight_and_fails),
        CORE_CASE_TEST(test_cancel_of_what_is_in_an_aborted_transaction),
        CORE_CASE_TEST(test_cancel_between_others_in_an_aborted_transaction),
        CORE_CASE_TEST(test_cancel_of_nothing),
        CORE_CASE_TEST(test_cancel_of_what_was_delivered),
        CORE_CASE_TEST(test_newer_event_replaces),
        CORE_CASE_TEST(test_event_after_a_cancel_is_one),
        CORE_CASE_TEST(test_erase_is_tried_again_when_the_store_was_full),
        CORE_CASE_TEST(test_cancelled_row_that_is_loaded_is_let_fall),
        CORE_CASE_TEST(test_position_waits_for_all_erases),
        CORE_CASE_TEST(test_unwritten_row_is_not_erased_by_a_plan_without_rows),
        CORE_CASE_TEST(test_row_that_was_never_written_is_not_erased),
        CORE_CASE_TEST(test_replaced_row_does_not_take_its_id_along),
        CORE_CASE_TEST(test_event_cancelled_in_flight_is_not_written),
        CORE_CASE_TEST(test_event_cancelled_in_flight_is_erased),
        CORE_CASE_TEST(test_event_cancelled_before_its_commit_is_erased),
        CORE_CASE_TEST(test_event_cancelled_after_a_failure_is_erased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
