/* R6: the oldest pending records are copied forward, and C passes them in the same transaction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/bucket.h"
#include "tests/support/core_case.h"

#define DAY CORE_CASE_DAY_MS
#define DAY_LEVEL 2 /* of what is due in a day */

/* Everything below `position` was read and is written. */
static void begin(struct core_case *test, int lanes, int64_t position)
{
    test->gained.position = position;
    test->gained.stored_position = position;
    core_case_begin(test, lanes, 0);
}

static void retain_from(struct core_case *test, int64_t offset)
{
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = offset;
    core_case_step(test);
}

/* Answers what the look-up asks, until the step that sends the copies. */
static void look_up(struct core_case *test)
{
    while (core_case_count(test, COMMAND_COPY) == 0 && core_case_settle_once(test)) {
    }
}

static int64_t low_offset_sent(const struct core_case *test)
{
    assert_int_equal(core_case_transaction(test)->slot_count, 1);
    return core_case_transaction(test)->slots[0].frontier->low_offset;
}

static void expect_copies(const struct core_case *test, size_t count, const int64_t *offsets)
{
    assert_int_equal(core_case_count(test, COMMAND_COPY), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(core_case_copy(test, i)->key.offset, offsets[i]);
    }
}

#define EXPECT_COPIES(test, ...) \
    expect_copies(test, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static void test_long_span_is_copied_lane_by_lane(void **state)
{
    struct core_case *test = *state;
    test->options.span_max = 99;
    core_case_store(test, 3, DAY, 1, DAY_LEVEL);
    core_case_store(test, 5, DAY + 7, 0, DAY_LEVEL);
    begin(test, 2, 100);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 1);
    struct command_scan scan = core_case_find(test, COMMAND_SCAN, 0)->as.scan;
    assert_int_equal(scan.purpose, SCAN_COPY);
    assert_int_equal(scan.bucket.lane, 0);
    assert_int_equal(scan.bucket.level, DAY_LEVEL);
    assert_int_equal(scan.from_offset, 0);
    assert_int_equal(scan.below_offset, 100);
    assert_int_equal(scan.rows_max, test->options.copy_rows_max);
    look_up(test);
    EXPECT_COPIES(test, 3, 5);
    assert_int_equal(core_case_copy(test, 0)->lane, 1);
    assert_int_equal(core_case_copy(test, 1)->lane, 0);
    assert_int_equal(core_case_copy(test, 1)->key.due_ms, CORE_CASE_WALL + DAY + 7);
    assert_int_equal(core_case_copy(test, 1)->ref, 0); /* it is in the store */
    assert_int_equal(low_offset_sent(test), 100);
    assert_int_equal(core_case_transaction(test)->slots[0].frontier->committed_offset, 100);
    assert_false(core_case_transaction(test)->abort);
}

static void test_span_within_its_limit_is_left(void **state)
{
    struct core_case *test = *state;
    test->options.span_max = 100;
    core_case_store(test, 0, DAY, 0, DAY_LEVEL);
    begin(test, 1, 100);
    core_case_settle(test);
    assert_int_equal(core_case_count(test, COMMAND_SCAN) + core_case_count(test, COMMAND_COPY), 0);
    assert_int_equal(core_case_slot(test).low_offset, 0);
    core_case_position(test, 101);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 1);
}

/* Where half of the log is pending nothing is won by copying it. */
static void test_span_that_is_mostly_pending_is_left(void **state)
{
    struct core_case *test = *state;
    test->options.span_max = 10;
    for (int64_t i = 0; i < 6; i++) {
        core_case_store(test, i, DAY, 0, DAY_LEVEL);
    }
    begin(test, 1, 13);
    core_case_settle(test);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 0);
    core_case_position(test, 14);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 1);
}

static void test_retention_copies_what_is_near_it(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 2, DAY, 0, DAY_LEVEL);
    core_case_store(test, 60, DAY, 0, DAY_LEVEL);
    begin(test, 1, 100);
    core_case_settle(test);
    retain_from(test, 50);
    assert_int_equal(core_case_find(test, COMMAND_SCAN, 0)->as.scan.below_offset, 50);
    look_up(test);
    EXPECT_COPIES(test, 2);
    assert_int_equal(low_offset_sent(test), 50);
    core_case_transacted(test, TRANSACTION_COMMITTED, 101);
    core_case_step(test);
    core_case_settle(test);
    core_case_wait(test, 1000);
    core_case_settle(test);
    retain_from(test, 40);
    retain_from(test, 50);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 0);
    assert_int_equal(core_case_slot(test).copied, 1);
}

/* More than may be copied at once: C stops at the first one left. */
static void test_as_many_as_may_be_copied(void **state)
{
    static const int64_t offsets[] = {0, 1, 2, 5, 6};
    struct core_case *test = *state;
    test->options.span_max = 10;
    test->options.copy_rows_max = 3;
    for (size_t i = 0; i < 5; i++) {
        core_case_store(test, offsets[i], DAY, i < 3 ? 0 : 1, DAY_LEVEL);
    }
    begin(test, 2, 100);
    look_up(test);
    EXPECT_COPIES(test, 0, 1, 2);
    assert_int_equal(low_offset_sent(test), 5);
    core_case_transacted(test, TRANSACTION_COMMITTED, 103);
    core_case_step(test);
    core_case_settle(test);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 0);
    assert_int_equal(core_next_deadline(test->core).mono.ms, test->mono_ms + test->options.copy_ms);
    core_case_wait(test, test->options.copy_ms - 1);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 0);
    core_case_settle(test);
    core_case_wait(test, 1);
    look_up(test);
    EXPECT_COPIES(test, 5, 6);
    assert_int_equal(low_offset_sent(test), 100);
}

/* A bucket of which not all was shown: nothing is said of what is behind. */
static void test_limit_stays_within_what_was_looked_at(void **state)
{
    struct core_case *test = *state;
    test->options.span_max = 10;
    test->options.copy_rows_max = 3;
    for (int64_t i = 0; i < 5; i++) {
        core_case_store(test, 10 * i, DAY, 0, DAY_LEVEL);
    }
    core_case_store(test, 15, DAY, 1, DAY_LEVEL);
    core_case_store(test, 25, DAY, 1, DAY_LEVEL);
    begin(test, 2, 100);
    look_up(test);
    EXPECT_COPIES(test, 0, 10, 15);
    assert_int_equal(low_offset_sent(test), 20);
}

static void test_what_is_done_or_cancelled_is_not_copied(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 1, 0, 0, 0);
    core_case_store(test, 2, DAY, 0, DAY_LEVEL);
    core_case_store(test, 3, DAY, 0, DAY_LEVEL);
    core_case_store(test, 4, 1000, 0, 0); /* in the bucket of the first one */
    test->rows[1].id = CORE_CASE_ID(1);
    begin(test, 1, 100);
    core_case_settle_once(test);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 1);
    core_case_deliver_all(test);
    core_case_step(test);
    retain_from(test, 10);
    while (core_case_count(test, COMMAND_SCAN) > 0) {
        core_case_cancel(test, 100, CORE_CASE_ID(1));
        core_case_settle_once(test);
    }
    EXPECT_COPIES(test, 3, 4);
    assert_int_equal(low_offset_sent(test), 10);
}

static void test_nothing_below_the_limit_is_sent_meanwhile(void **state)
{
    struct core_case *test = *state;
    test->options.span_max = 10;
    core_case_store(test, 0, 2000, 0, 0);
    begin(test, 2, 100);
    look_up(test);
    EXPECT_COPIES(test, 0);
    assert_int_equal(core_case_queue(test, 0).in_memory, 1);
    core_case_record(test, 100, 2000, 0);
    core_case_record(test, 101, 2000, 1);
    core_case_step(test);
    core_case_settle(test);
    core_case_wait(test, 2000);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 101); /* another lane's, beyond the limit */
    core_case_deliver_all(test);
    core_case_step(test);
    core_case_settle(test);
    assert_false(core_case_is_restless(test));
    core_case_transacted(test, TRANSACTION_COMMITTED, 103);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 100);
    core_case_again(test, 102, 2000, 0, RECORD_ID_NONE, 0);
    core_case_step(test);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 102);
}

static void test_late_ones_below_the_limit_wait_too(void **state)
{
    struct core_case *test = *state;
    test->gained.frontier.shared = (struct frontier_pair){{CORE_CASE_WALL - 10, 0}, 1};
    test->options.span_max = 10;
    core_case_store(test, 1, -5000, 0, 0);
    test->gained.position = 100;
    test->gained.stored_position = 100;
    core_case_begin(test, 1, 101); /* not all was read: it does not fire yet */
    core_case_settle(test);
    core_case_pause(test, 0, true);
    core_case_position(test, 101);
    core_case_step(test);
    look_up(test);
    EXPECT_COPIES(test, 1);
    core_case_pause(test, 0, false);
    core_case_wait(test, 10);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    core_case_settle(test);
    assert_false(core_case_is_restless(test));
    core_case_transacted(test, TRANSACTION_COMMITTED, 102);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

static void test_moved_ones_are_neither_fired_nor_counted(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, 60000, 0, 0);
    core_case_store(test, 1, 60001, 0, 0);
    core_case_store(test, 2, DAY, 1, DAY_LEVEL);
    core_case_store(test, 3, DAY, 0, DAY_LEVEL);
    begin(test, 2, 100);
    core_case_settle(test);
    assert_int_equal(core_case_slot(test).pending, 4);
    retain_from(test, 1);
    look_up(test);
    EXPECT_COPIES(test, 0);
    assert_int_equal(core_case_slot(test).pending, 4); /* not before it is known */
    core_case_transacted(test, TRANSACTION_COMMITTED, 101);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).pending, 3);
    assert_int_equal(core_case_queue(test, 0).pending_bytes, 2 * CORE_CASE_ROW_BYTES);
    assert_int_equal(core_case_slot(test).copied, 1);
    assert_int_equal(core_case_slot(test).low_offset, 1);
    core_case_settle(test);
    core_case_wait(test, 100);
    assert_null(test->plan); /* a finest bucket is dropped whole when its time has come */
    core_case_run(test, 120000); /* its row is in the store still when its bucket is loaded */
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 1);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    assert_int_equal(core_case_queue(test, 1).pending, 1);
}

/* A checkpoint that is older than C: its rows below count as pending only until they are met. */
static void test_rows_of_an_old_checkpoint_below_the_limit_are_let_fall(void **state)
{
    struct core_case *test = *state;
    test->gained.frontier.low_offset = 5;
    core_case_store(test, 0, 2000, 0, 0);
    core_case_store(test, 7, 2000, 0, 0);
    begin(test, 1, 100);
    core_case_run(test, 100);
    assert_int_equal(core_case_slot(test).pending, 1);
    core_case_run(test, 5000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 7);
}

static void test_failed_ones_of_a_held_lane_are_moved_too(void **state)
{
    struct core_case *test = *state;
    test->options.retry_ms = 5000;
    core_case_store(test, 0, 0, 0, 0);
    core_case_store(test, 3, 0, 0, 0);
    begin(test, 1, 100);
    core_case_settle_once(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_failed(test, 0, 1, DELIVERY_RETRIABLE);
    core_case_step(test);
    core_case_settle(test);
    retain_from(test, 2);
    look_up(test);
    EXPECT_COPIES(test, 0);
    core_case_wait(test, 5000);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0); /* the first of them is on its way */
    core_case_settle(test);
    core_case_transacted(test, TRANSACTION_COMMITTED, 101);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 3);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_deliver_all(test);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    assert_int_equal(core_case_queue(test, 0).pending_bytes, 0);
}

static void test_abort_changes_nothing_and_tries_fewer(void **state)
{
    struct core_case *test = *state;
    test->options.copy_rows_max = 4;
    for (int64_t i = 0; i < 9; i++) {
        core_case_store(test, i, DAY, 0, DAY_LEVEL);
    }
    begin(test, 1, 100);
    core_case_settle(test);
    retain_from(test, 50);
    look_up(test);
    EXPECT_COPIES(test, 0, 1, 2, 3);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    core_case_settle(test);
    assert_int_equal(core_case_slot(test).pending, 9);
    assert_int_equal(core_case_slot(test).copied, 0);
    assert_int_equal(core_case_slot(test).low_offset, 0);
    assert_int_equal(core_next_deadline(test->core).mono.ms, test->mono_ms + test->options.retry_ms);
    core_case_wait(test, test->options.retry_ms - 1);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 0);
    core_case_wait(test, 1);
    look_up(test);
    EXPECT_COPIES(test, 0, 1);
    assert_int_equal(low_offset_sent(test), 2);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    core_case_settle(test);
    core_case_wait(test, 2 * test->options.retry_ms - 1);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 0);
    core_case_settle(test);
    core_case_wait(test, 1);
    look_up(test);
    EXPECT_COPIES(test, 0);
    core_case_transacted(test, TRANSACTION_COMMITTED, 101);
    core_case_step(test);
    core_case_settle(test);
    core_case_wait(test, test->options.copy_ms);
    look_up(test);
    EXPECT_COPIES(test, 1, 2); /* and more again when it succeeds */
}

/* The row's bucket is split when it is near; not while it is looked through, or the row might be seen in neither place. */
static void expect_split(struct core_case *test, uint64_t span_max, bool expected)
{
    struct bucket_id bucket = bucket_of(0, 1, CORE_CASE_WALL + 900000);
    test->options.span_max = span_max;
    core_case_store(test, 0, 900000, 0, 1);
    begin(test, 1, 100);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), expected ? 0 : 1);
    if (expected) {
        core_case_settle(test);
    } else {
        core_case_committed(test);
    }
    core_case_wait(test, bucket_split_ms(bucket) - CORE_CASE_WALL);
    assert_int_equal(core_case_count(test, COMMAND_CHECKPOINT), expected);
    assert_int_equal(expected ? core_case_plan(test)->split_count : 0, expected);
    assert_int_equal(core_next_deadline(test->core).mono.ms, TIME_NEVER); /* the store's answer is what is waited for */
}

static void test_near_bucket_is_split(void **state)
{
    expect_split(*state, 0, true);
}

static void test_nothing_is_split_while_it_is_looked_through(void **state)
{
    expect_split(*state, 10, false);
}

/* The other way round: nothing is looked through while a plan may move rows. */
static void test_nothing_is_looked_through_while_a_plan_runs(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, DAY, 0, DAY_LEVEL);
    begin(test, 1, 100);
    core_case_settle(test);
    core_case_record(test, 100, DAY, 0);
    core_case_wait(test, 100);
    assert_non_null(test->plan);
    retain_from(test, 50);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 0);
    assert_false(core_case_is_restless(test));
    core_case_written(test);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 1);
}

static void test_limit_stays_below_what_is_in_flight(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, DAY, 0, DAY_LEVEL);
    core_case_store(test, 1, DAY, 0, DAY_LEVEL);
    core_case_store(test, 2, 0, 0, 0);
    core_case_store(test, 3, DAY, 0, DAY_LEVEL);
    begin(test, 1, 100);
    core_case_settle(test);
    assert_int_equal(core_case_queue(test, 0).in_flight, 1);
    retain_from(test, 50);
    look_up(test);
    EXPECT_COPIES(test, 0, 1);
    assert_int_equal(low_offset_sent(test), 2);
}

static void test_nothing_is_copied_when_the_first_is_in_flight(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, 0, 0, 0);
    core_case_store(test, 1, DAY, 0, DAY_LEVEL);
    begin(test, 1, 100);
    core_case_settle(test);
    retain_from(test, 50);
    core_case_settle(test);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0);
    core_case_step(test);
    assert_false(core_case_is_restless(test));
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    core_case_settle(test);
    core_case_wait(test, test->options.copy_ms);
    look_up(test);
    EXPECT_COPIES(test, 1);
    assert_int_equal(low_offset_sent(test), 50);
}

static void test_limit_stays_at_a_mark(void **state)
{
    struct mark mark = {CORE_CASE_ID(9), 50, 60};
    struct core_case *test = *state;
    test->gained.high = 300;
    test->gained.marks = &mark;
    test->gained.mark_count = 1;
    core_case_store(test, 3, DAY, 0, DAY_LEVEL);
    core_case_store(test, 70, DAY, 0, DAY_LEVEL);
    begin(test, 1, 100);
    core_case_settle(test);
    retain_from(test, 80);
    look_up(test);
    EXPECT_COPIES(test, 3);
    assert_int_equal(low_offset_sent(test), 50);
}

static void test_limit_stays_out_of_a_skip(void **state)
{
    struct skip skip = {40, 80};
    struct core_case *test = *state;
    test->gained.skips = &skip;
    test->gained.skip_count = 1;
    core_case_store(test, 3, DAY, 0, DAY_LEVEL);
    core_case_store(test, 50, DAY, 0, DAY_LEVEL);
    begin(test, 1, 100);
    core_case_settle(test);
    retain_from(test, 60);
    look_up(test);
    EXPECT_COPIES(test, 3);
    assert_int_equal(low_offset_sent(test), 40);
}

static void test_coarse_buckets_are_trimmed_below_the_limit(void **state)
{
    struct core_case *test = *state;
    for (int64_t i = 0; i < 4; i++) {
        core_case_store(test, 2 * i, DAY, 0, DAY_LEVEL);
    }
    begin(test, 1, 100);
    core_case_settle(test);
    retain_from(test, 5);
    look_up(test);
    EXPECT_COPIES(test, 0, 2, 4);
    assert_null(test->plan);
    core_case_transacted(test, TRANSACTION_COMMITTED, 103);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->trim_count, 1);
    assert_int_equal(core_case_plan(test)->trims[0].bucket.level, DAY_LEVEL);
    assert_int_equal(core_case_plan(test)->trims[0].below_offset, 5);
    assert_in_range(core_case_plan(test)->trims[0].rows_max, 3, test->options.split_rows_max);
    core_case_written(test);
    core_case_step(test);
    core_case_settle(test);
    assert_int_equal(test->row_count, 1);
    assert_int_equal(test->rows[0].offset, 6);
    core_case_wait(test, 10000);
    assert_null(test->plan);
    assert_int_equal(core_case_slot(test).pending, 1);
}

/* What is not written yet is not found by looking: C stays below it. */
static void test_limit_stays_within_what_is_written(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, DAY, 0, DAY_LEVEL);
    begin(test, 1, 100);
    core_case_settle(test);
    core_case_record(test, 100, DAY, 0);
    core_case_position(test, 150);
    retain_from(test, 150);
    assert_int_equal(core_case_find(test, COMMAND_SCAN, 0)->as.scan.below_offset, 100);
    look_up(test);
    EXPECT_COPIES(test, 0);
    assert_int_equal(low_offset_sent(test), 100);
}

/* R9: one commit of any kind at a time. */
static void test_copies_wait_for_a_commit_under_way(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, DAY, 0, DAY_LEVEL);
    begin(test, 1, 100);
    core_case_settle(test);
    core_case_position(test, 101);
    core_case_wait(test, 250);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 1);
    retain_from(test, 50);
    look_up(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0); /* looked up, and not sent */
    core_case_committed(test);
    core_case_position(test, 102);
    core_case_wait(test, 250);
    EXPECT_COPIES(test, 0);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 0); /* nor the other way round */
    core_case_position(test, 103);
    core_case_wait(test, 1000);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 0);
}

static void test_what_c_has_passed_is_released_when_read_again(void **state)
{
    struct core_case *test = *state;
    test->gained.frontier.low_offset = 5;
    core_case_begin(test, 1, 0);
    core_case_record(test, 3, DAY, 0);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    assert_int_equal(test->released, 1);
}

/* One transaction at a time: copies wait for the end of the deliveries' one, and deliveries for the copies'. */
static void test_copies_have_a_transaction_of_their_own(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_store(test, 0, DAY, 0, DAY_LEVEL);
    begin(test, 1, 100);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0); /* how far it has read */
    core_case_record(test, 100, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    retain_from(test, 50);
    core_case_settle(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    core_case_delivered(test, 0, 0);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_step(test);
    EXPECT_COPIES(test, 0);
    assert_int_equal(low_offset_sent(test), 50);
    core_case_record(test, 101, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    core_case_transacted(test, TRANSACTION_COMMITTED, 103);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
}

/* However much is due: copies that are ready get the next transaction but one. */
static void test_copies_are_not_starved_by_deliveries(void **state)
{
    struct core_case *test = *state;
    int64_t offset = 100;
    test->options.exactly_once = true;
    core_case_store(test, 0, DAY, 0, DAY_LEVEL);
    begin(test, 1, 100);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_record(test, offset++, 0, 0);
    core_case_step(test);
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 50;
    for (int i = 0; core_case_count(test, COMMAND_COPY) == 0; i++) {
        assert_in_range(i, 0, 4);
        core_case_deliver_all(test);
        core_case_transacted(test, TRANSACTION_COMMITTED, 0);
        core_case_record(test, offset++, 0, 0);
        core_case_step(test);
        core_case_settle(test);
        assert_int_not_equal(test->transaction, 0);
    }
    EXPECT_COPIES(test, 0);
}

static void test_nothing_is_copied_by_one_who_leaves(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, DAY, 0, DAY_LEVEL);
    begin(test, 1, 100);
    core_case_settle(test);
    retain_from(test, 50);
    core_case_input(test, INPUT_SLOT_LEAVING);
    core_case_settle(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    assert_int_equal(core_case_count(test, COMMAND_SLOT_LEFT), 1);
    core_case_wait(test, 1000);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 0);
}

/* Leaving waits for the end of copies under way; losing does not, and the end finds nobody. */
static void test_slot_is_given_up_while_it_copies(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, DAY, 0, DAY_LEVEL);
    begin(test, 1, 100);
    core_case_settle(test);
    retain_from(test, 50);
    look_up(test);
    core_case_input(test, INPUT_SLOT_LEAVING);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_SLOT_LEFT), 0);
    core_case_input(test, INPUT_SLOT_LOST);
    core_case_step(test);
    core_case_transacted(test, TRANSACTION_COMMITTED, 101);
    core_case_step(test);
    assert_int_equal(test->commands.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_long_span_is_copied_lane_by_lane),
        CORE_CASE_TEST(test_span_within_its_limit_is_left),
        CORE_CASE_TEST(test_span_that_is_mostly_pending_is_left),
        CORE_CASE_TEST(test_retention_copies_what_is_near_it),
        CORE_CASE_TEST(test_as_many_as_may_be_copied),
        CORE_CASE_TEST(test_limit_stays_within_what_was_looked_at),
        CORE_CASE_TEST(test_what_is_done_or_cancelled_is_not_copied),
        CORE_CASE_TEST(test_nothing_below_the_limit_is_sent_meanwhile),
        CORE_CASE_TEST(test_late_ones_below_the_limit_wait_too),
        CORE_CASE_TEST(test_moved_ones_are_neither_fired_nor_counted),
        CORE_CASE_TEST(test_rows_of_an_old_checkpoint_below_the_limit_are_let_fall),
        CORE_CASE_TEST(test_failed_ones_of_a_held_lane_are_moved_too),
        CORE_CASE_TEST(test_abort_changes_nothing_and_tries_fewer),
        CORE_CASE_TEST(test_near_bucket_is_split),
        CORE_CASE_TEST(test_nothing_is_split_while_it_is_looked_through),
        CORE_CASE_TEST(test_nothing_is_looked_through_while_a_plan_runs),
        CORE_CASE_TEST(test_limit_stays_below_what_is_in_flight),
        CORE_CASE_TEST(test_nothing_is_copied_when_the_first_is_in_flight),
        CORE_CASE_TEST(test_limit_stays_at_a_mark),
        CORE_CASE_TEST(test_limit_stays_out_of_a_skip),
        CORE_CASE_TEST(test_coarse_buckets_are_trimmed_below_the_limit),
        CORE_CASE_TEST(test_copies_have_a_transaction_of_their_own),
        CORE_CASE_TEST(test_copies_are_not_starved_by_deliveries),
        CORE_CASE_TEST(test_nothing_is_copied_by_one_who_leaves),
        CORE_CASE_TEST(test_slot_is_given_up_while_it_copies),
        CORE_CASE_TEST(test_limit_stays_within_what_is_written),
        CORE_CASE_TEST(test_copies_wait_for_a_commit_under_way),
        CORE_CASE_TEST(test_what_c_has_passed_is_released_when_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
