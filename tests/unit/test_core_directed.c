/* Single situations of the window and of sleeping, each of which a whole life of a core seldom meets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/bucket.h"
#include "tests/support/core_case.h"

#define CROWD 200

/* Where a finest bucket begins, some time after so many ms (since CORE_CASE_WALL). */
static int64_t bucket_start_after(int64_t ms)
{
    return bucket_end_ms(bucket_of(0, 0, CORE_CASE_WALL + ms)) - CORE_CASE_WALL;
}

/* Offsets 0 .. CROWD - 1 in the store, in one finest bucket, the last one due first. */
static int64_t store_crowd(struct core_case *test)
{
    int64_t start = bucket_start_after(60000);
    for (int64_t i = 0; i < CROWD; i++) {
        core_case_store(test, i, start + 10 * (CROWD - i), 0, 0);
    }
    test->gained.position = CROWD;
    test->gained.stored_position = CROWD;
    return start;
}

static void expect_crowd_fired(const struct core_case *test)
{
    assert_int_equal(test->fired_count, CROWD);
    for (int64_t i = 0; i < CROWD; i++) {
        assert_int_equal(test->fired[i], CROWD - 1 - i);
    }
}

/* What had no room while its bucket was loaded is loaded again: the window ends at what was kept, not at the bucket's end. */
static void test_trim_lowers_the_limit_of_the_scan(void **state)
{
    struct core_case *test = *state;
    test->options.entries_max = 100;
    test->options.scan_rows_max = 70;
    (void)store_crowd(test);
    core_case_begin(test, 1, 0);
    core_case_run(test, 200000);
    expect_crowd_fired(test);
}

/* A trim behind `loaded` ends the scan under way: else its end would be taken for the window's, with a hole before it. */
static void test_trim_below_the_window_ends_the_scan(void **state)
{
    struct core_case *test = *state;
    int64_t start = bucket_start_after(8192);
    test->options.entries_max = 100;
    core_case_store(test, 0, start + 1000, 0, 0);
    test->gained.position = 1;
    test->gained.stored_position = 1;
    core_case_begin(test, 1, 0);
    core_case_wait(test, start - 4000); /* the second bucket comes into the window */
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 1);
    struct command scan = *core_case_find(test, COMMAND_SCAN, 0);
    for (int64_t i = 1; i <= 90; i++) { /* beneath it; they are written before they are dropped */
        core_case_record(test, i, start - 2000 + i, 0);
    }
    core_case_wait(test, 100);
    core_case_written(test);
    for (int64_t i = 91; i <= 120; i++) {
        core_case_record(test, i, start - 3000 + i, 0);
    }
    core_case_step(test);
    core_case_settle(test);
    assert_in_range(core_case_queue(test, 0).in_memory, 1, 100);
    struct scanned_row row = {0, CORE_CASE_WALL + start + 1000, CORE_CASE_ROW_BYTES};
    core_case_input(test, INPUT_ROWS)->as.rows = (struct input_rows){.bucket = scan.as.scan.bucket, .rows = &row, .count = 1, .end = true};
    core_case_step(test);
    core_case_run(test, start + 30000);
    assert_int_equal(test->fired_count, 121);
    for (int64_t i = 0; i < 120; i++) {
        assert_int_equal(test->fired[i], i < 30 ? 91 + i : i - 29);
    }
    assert_int_equal(test->fired[120], 0);
}

/* A row of the bucket that is being loaded is written to the finest level, wherever it would go by its due: the scan goes on to it there. */
static void test_row_of_a_bucket_under_scan_is_written_finest(void **state)
{
    struct core_case *test = *state;
    int64_t start = bucket_start_after(600000);
    test->options.window_ms = 3600000;
    core_case_store(test, 0, start, 0, 0);
    test->gained.position = 1;
    test->gained.stored_position = 1;
    core_case_begin(test, 1, 0);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 1);
    struct command scan = *core_case_find(test, COMMAND_SCAN, 0);
    assert_int_equal(scan.as.scan.below_offset, 1);
    core_case_record(test, 1, start + 1, 0);
    assert_int_equal(bucket_level_for(CORE_CASE_WALL + start + 1, CORE_CASE_WALL), 1);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->row_count, 1);
    assert_int_equal(core_case_plan(test)->rows[0].bucket.level, 0);
    core_case_written(test);
    core_case_step(test);
    struct scanned_row row = {0, CORE_CASE_WALL + start, CORE_CASE_ROW_BYTES};
    core_case_input(test, INPUT_ROWS)->as.rows = (struct input_rows){.bucket = scan.as.scan.bucket, .rows = &row, .count = 1, .end = true};
    core_case_step(test);
    core_case_run(test, start + 1);
    assert_int_equal(test->fired_count, 2);
}

/* A row on its way into a coarse bucket would be missed by a scan of the finest one of its time: the window waits for the split. */
static void test_window_stops_before_what_is_being_written_coarse(void **state)
{
    struct core_case *test = *state;
    int64_t start = bucket_start_after(600000);
    core_case_store(test, 0, start, 0, 0);
    test->gained.position = 1;
    test->gained.stored_position = 1;
    core_case_begin(test, 1, 0);
    core_case_record(test, 1, start + 1, 0);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->rows[0].bucket.level, 1);
    test->wall_ms = start; /* the clock jumps there while it is being written */
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 0);
    core_case_written(test);
    core_case_step(test);
    core_case_run(test, start + 1000);
    assert_int_equal(test->fired_count, 2);
    assert_int_equal(test->fired[0], 0);
    assert_int_equal(test->fired[1], 1);
}

/* R1: the last owner's clock was an hour ahead. What is coarse before its point is split at once, as nothing may fire before it was looked at. */
static void test_coarse_buckets_before_a_point_ahead_are_split_at_once(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 7, 3000000, 0, 1);
    test->gained.position = 8;
    test->gained.stored_position = 8;
    test->gained.frontier.shared = (struct frontier_pair){{CORE_CASE_WALL + 3600000, 5}, 6};
    core_case_begin(test, 1, 0);
    core_case_record(test, 8, 0, 0);
    core_case_step(test);
    core_case_run(test, 2000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 8);
    core_case_run(test, 3000000);
    assert_int_equal(test->fired_count, 2);
    assert_int_equal(test->fired[1], 7);
}

/* A trim makes room for more than the next bucket's row: 200 rows in room for 128 are loaded three times, keeping 112 and then again what is left
 * when fewer than 64 are. */
static void test_trim_does_not_load_again_at_once(void **state)
{
    struct core_case *test = *state;
    size_t scans = 0;
    test->options.entries_max = 128;
    int64_t start = store_crowd(test);
    core_case_begin(test, 1, 0);
    for (int64_t at = 0; at <= start + 10 * CROWD; at += 10) {
        core_case_wait(test, 10);
        do {
            scans += core_case_count(test, COMMAND_SCAN);
            assert_in_range(scans, 0, 3);
            core_case_deliver_all(test);
        } while (core_case_settle_once(test));
    }
    expect_crowd_fired(test);
    assert_int_equal(scans, 3);
}

/* An old pair goes when the clock has reached its point, and the core wakes for that alone: C waits for it. */
static void test_core_wakes_for_an_old_pair(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_run(test, 0);
    test->wall_ms -= 3600000;
    core_case_record(test, 1, -3599000, 0);
    core_case_step(test);
    core_case_run(test, -60000);
    assert_int_equal(test->fired_count, 2);
    assert_int_equal(core_case_slot(test).lanes_apart, 1);
    assert_int_equal(core_next_deadline(test->core).wall.ms, CORE_CASE_WALL);
    assert_int_equal(core_next_deadline(test->core).mono.ms, TIME_NEVER);
    core_case_run(test, 1000);
    assert_int_equal(core_case_slot(test).lanes_apart, 0);
    assert_int_equal(core_case_slot(test).low_offset, 2);
    assert_int_equal(core_next_deadline(test->core).wall.ms, TIME_NEVER);
}

/* ---------------------------------------------------------------------------- transactions of several slots */

/* Slot 1 is gained as slot 0 was. */
static void begin_two_slots(struct core_case *test, int lanes)
{
    test->options.exactly_once = true;
    core_case_begin(test, lanes, 0);
    struct input *input = core_case_input(test, INPUT_SLOT_GAINED);
    input->slot = 1;
    input->as.gained = &test->gained;
    core_case_step(test);
}

static void to_second_slot(struct core_case *test)
{
    test->inputs[test->input_count - 1].slot = 1;
}

/* One who has only read has its frontier taken along. */
static void test_news_of_another_slot_ride_along(void **state)
{
    struct core_case *test = *state;
    begin_two_slots(test, 1);
    core_case_position(test, 9);
    to_second_slot(test);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_transaction(test)->slot_count, 1); /* not before commit_ms */
    core_case_deliver_all(test);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_record(test, 1, 0, 0);
    core_case_wait(test, 250);
    assert_int_equal(core_case_transaction(test)->slot_count, 2);
    assert_int_equal(core_case_transaction(test)->slots[1].slot, 1);
    assert_int_equal(core_case_transaction(test)->slots[1].frontier->committed_offset, 9);
}

static void test_news_of_another_slot_wait_quietly(void **state)
{
    struct core_case *test = *state;
    begin_two_slots(test, 1);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_position(test, 9);
    to_second_slot(test);
    core_case_wait(test, 1000);
    core_case_settle(test);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0);
    assert_false(core_case_is_restless(test));
}

/* Copies that are always ready leave every other transaction to deliveries. */
static void test_deliveries_are_not_starved_by_copies(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, CORE_CASE_DAY_MS, 0, 2);
    test->gained.position = 100;
    test->gained.stored_position = 100;
    begin_two_slots(test, 1);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_step(test);
    if (test->transaction != 0) { /* how far the second one has read */
        core_case_transacted(test, TRANSACTION_COMMITTED, 0);
        core_case_step(test);
    }
    core_case_record(test, 100, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 50;
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 50;
    to_second_slot(test);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 2);
    struct command_scan scan = core_case_find(test, COMMAND_SCAN, 0)->as.scan;
    struct scanned_row row = {0, CORE_CASE_WALL + CORE_CASE_DAY_MS, CORE_CASE_ROW_BYTES};
    for (slot_index slot = 0; slot < 2; slot++) {
        struct input *input = core_case_input(test, INPUT_ROWS);
        input->slot = slot;
        input->as.rows = (struct input_rows){.bucket = scan.bucket, .purpose = SCAN_COPY, .rows = &row, .count = 1, .end = true};
    }
    core_case_delivered(test, 0, 0);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_record(test, 101, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_transacted(test, TRANSACTION_COMMITTED, 103);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    core_case_deliver_all(test);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_record(test, 102, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
}

/* ----------------------------------------------------------------------- what else may become of a transaction */

/* A failure while it is still open: it takes no more, and is aborted. */
static void test_failure_while_open_aborts(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    test->options.step_records_max = 1;
    core_case_begin(test, 2, 0);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_true(core_case_transaction(test)->abort);
    assert_int_equal(core_case_transaction(test)->slot_count, 0);
}

/* An abort for which the sink's room was not the reason leaves the size as it is. */
static void test_abort_does_not_make_it_smaller(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_begin(test, 1, 0);
    for (int64_t i = 0; i < 500; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 500);
}

/* R7: lanes without an entry stand at the shared pair, so it must not come from a transaction that is not there. */
static void test_shared_pair_of_an_aborted_one_is_not_said(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_deliver_all(test);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_record(test, 1, 10, 0);
    core_case_wait(test, 10);
    assert_int_equal(core_case_transaction(test)->slots[0].frontier->shared.point.offset, 1);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_pause(test, 0, true);
    test->wall_ms = -60000; /* so that no lane's point may be shared anew */
    core_case_step(test);
    core_case_position(test, 5);
    test->mono_ms += 250;
    core_case_step(test);
    const struct partition_frontier *frontier = core_case_transaction(test)->slots[0].frontier;
    assert_int_equal(frontier->shared.point.offset, 0);
    assert_int_equal(frontier->low_offset, 1);
}

/* C passes a written row with the very transaction that delivers it. */
static void test_c_passes_a_bucket_with_its_transaction(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_store(test, 0, 0, 0, 0);
    test->gained.position = 1;
    test->gained.stored_position = 1;
    core_case_begin(test, 1, 0);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_settle(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    assert_int_equal(core_case_transaction(test)->slots[0].frontier->low_offset, 1);
}

/* R9: a plain commit that failed may be there all the same, or come yet: nothing of a transaction before one that is known. */
static void test_copies_wait_until_a_failed_commit_is_made_good(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, CORE_CASE_DAY_MS, 0, 2);
    test->gained.position = 100;
    test->gained.stored_position = 100;
    core_case_begin(test, 1, 0);
    core_case_settle(test);
    core_case_position(test, 101);
    core_case_wait(test, 250);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 1);
    core_case_input(test, INPUT_COMMIT_DONE)->as.commit = COMMIT_FAILED;
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 50;
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_SCAN), 1);
    core_case_settle(test);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    core_case_wait(test, 250);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 1); /* once more */
    core_case_committed(test);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
}

/* ---------------------------------------------------------------- what changes while copies are looked up (R6) */

/* Rows 2, 3 and 10 are due in a day, 5 in 50 ms; what is below 50 is to be copied, and the look-up is out. */
static void look_up_four(struct core_case *test)
{
    core_case_store(test, 2, CORE_CASE_DAY_MS, 0, 2);
    core_case_store(test, 3, CORE_CASE_DAY_MS, 0, 2);
    core_case_store(test, 5, 50, 0, 0);
    core_case_store(test, 10, CORE_CASE_DAY_MS, 0, 2);
    test->rows[1].id = CORE_CASE_ID(1);
    test->gained.position = 100;
    test->gained.stored_position = 100;
    core_case_begin(test, 1, 0);
    core_case_settle(test);
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 50;
    core_case_step(test);
    core_case_settle_once(test);
    assert_int_equal(core_case_find(test, COMMAND_SCAN, 0)->as.scan.bucket.level, 2);
}

/* The rows of 2, 3 and 10. */
static void answer_look_up(struct core_case *test, const struct command_scan *scan)
{
    static struct scanned_row rows[] = {{2, CORE_CASE_WALL + CORE_CASE_DAY_MS, CORE_CASE_ROW_BYTES},
                                        {3, CORE_CASE_WALL + CORE_CASE_DAY_MS, CORE_CASE_ROW_BYTES},
                                        {10, CORE_CASE_WALL + CORE_CASE_DAY_MS, CORE_CASE_ROW_BYTES}};
    core_case_input(test, INPUT_ROWS)->as.rows =
        (struct input_rows){.bucket = scan->bucket, .purpose = SCAN_COPY, .rows = rows, .count = 3, .end = true};
    core_case_step(test);
}

static void test_one_that_is_sent_meanwhile_bounds_the_copies(void **state)
{
    struct core_case *test = *state;
    look_up_four(test);
    struct command_scan scan = core_case_find(test, COMMAND_SCAN, 0)->as.scan;
    core_case_wait(test, 50);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 5);
    answer_look_up(test, &scan);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 2);
    assert_int_equal(core_case_copy(test, 1)->key.offset, 3);
    assert_int_equal(core_case_transaction(test)->slots[0].frontier->low_offset, 5);
}

/* A re-append of an older record than 3 is let fall: who reads it must have read 3. */
static void test_skip_of_meanwhile_bounds_the_copies(void **state)
{
    struct core_case *test = *state;
    look_up_four(test);
    struct command_scan scan = core_case_find(test, COMMAND_SCAN, 0)->as.scan;
    core_case_again(test, 100, CORE_CASE_DAY_MS, 0, CORE_CASE_ID(1), 1);
    core_case_step(test);
    answer_look_up(test, &scan);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    assert_int_equal(core_case_copy(test, 0)->key.offset, 2);
    assert_int_equal(core_case_transaction(test)->slots[0].frontier->low_offset, 3);
}

/* ---------------------------------------------------------------------- what is trimmed, and how it is counted */

/* A checkpoint older than C: how many of its rows C has passed is known when they are trimmed. */
static void test_rows_below_c_count_until_they_are_trimmed(void **state)
{
    struct core_case *test = *state;
    test->gained.frontier.low_offset = 5;
    core_case_store(test, 0, CORE_CASE_DAY_MS, 0, 2);
    core_case_store(test, 2, CORE_CASE_DAY_MS, 0, 2);
    core_case_store(test, 7, CORE_CASE_DAY_MS, 0, 2);
    test->gained.position = 10;
    test->gained.stored_position = 10;
    core_case_begin(test, 1, 0);
    core_case_settle(test);
    core_case_wait(test, 100);
    core_case_settle(test);
    assert_int_equal(test->row_count, 1);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    assert_int_equal(core_case_queue(test, 0).pending_bytes, CORE_CASE_ROW_BYTES);
    core_case_run(test, 2 * CORE_CASE_DAY_MS);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

/* A finest bucket that is loaded is looked at no more: what C has passed of it goes, though the rest is still to come. */
static void test_loaded_bucket_is_trimmed(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, 60000, 0, 0);
    core_case_store(test, 1, 60001, 0, 0);
    core_case_store(test, 2, CORE_CASE_DAY_MS, 0, 2);
    test->gained.position = 100;
    test->gained.stored_position = 100;
    core_case_begin(test, 1, 0);
    core_case_settle(test);
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 1;
    core_case_step(test);
    while (core_case_count(test, COMMAND_COPY) == 0 && core_case_settle_once(test)) {
    }
    core_case_transacted(test, TRANSACTION_COMMITTED, 101);
    core_case_step(test);
    core_case_wait(test, 100);
    assert_null(test->plan); /* not yet: it may be being loaded */
    core_case_wait(test, 58000);
    core_case_settle(test);
    core_case_wait(test, 100);
    core_case_settle(test);
    assert_int_equal(test->row_count, 2);
    assert_int_equal(test->rows[0].offset, 1);
    assert_int_equal(core_case_queue(test, 0).pending, 2);
    core_case_run(test, 120000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
}

/* What was due last in its bucket is cancelled: nothing that fires takes the point past it, so the clock does, and C follows. */
static void test_bucket_with_a_cancelled_end_goes_with_its_time(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, 60000, 0, 0);
    core_case_store(test, 1, 61000, 0, 0);
    test->rows[1].id = CORE_CASE_ID(1);
    test->gained.position = 100;
    test->gained.stored_position = 100;
    core_case_begin(test, 1, 0);
    core_case_settle(test);
    core_case_cancel(test, 100, CORE_CASE_ID(1));
    core_case_step(test);
    core_case_run(test, 60999);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->row_count, 1); /* of the one that was fired: its bucket is not through */
    assert_int_equal(core_case_slot(test).low_offset, 0);
    core_case_run(test, 200000);
    assert_int_equal(test->row_count, 0);
    assert_int_equal(core_case_slot(test).low_offset, 101);
    assert_int_equal(core_next_deadline(test->core).wall.ms, TIME_NEVER);
    assert_int_equal(core_next_deadline(test->core).mono.ms, TIME_NEVER);
}

/* Nor does a finest bucket stay in which everything was moved: nothing fires there, so the point has to pass it with the clock. */
static void test_bucket_of_moved_rows_goes_with_its_time(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, 60000, 0, 0);
    test->gained.position = 100;
    test->gained.stored_position = 100;
    core_case_begin(test, 1, 0);
    core_case_settle(test);
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 1;
    core_case_step(test);
    while (core_case_count(test, COMMAND_COPY) == 0 && core_case_settle_once(test)) {
    }
    core_case_transacted(test, TRANSACTION_COMMITTED, 101);
    core_case_step(test);
    core_case_run(test, 120000);
    assert_int_equal(test->fired_count, 0);
    assert_int_equal(test->row_count, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    assert_int_equal(core_next_deadline(test->core).wall.ms, TIME_NEVER);
    assert_int_equal(core_next_deadline(test->core).mono.ms, TIME_NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_trim_lowers_the_limit_of_the_scan),
        CORE_CASE_TEST(test_trim_below_the_window_ends_the_scan),
        CORE_CASE_TEST(test_row_of_a_bucket_under_scan_is_written_finest),
        CORE_CASE_TEST(test_window_stops_before_what_is_being_written_coarse),
        CORE_CASE_TEST(test_coarse_buckets_before_a_point_ahead_are_split_at_once),
        CORE_CASE_TEST(test_trim_does_not_load_again_at_once),
        CORE_CASE_TEST(test_core_wakes_for_an_old_pair),
        CORE_CASE_TEST(test_news_of_another_slot_ride_along),
        CORE_CASE_TEST(test_news_of_another_slot_wait_quietly),
        CORE_CASE_TEST(test_deliveries_are_not_starved_by_copies),
        CORE_CASE_TEST(test_failure_while_open_aborts),
        CORE_CASE_TEST(test_abort_does_not_make_it_smaller),
        CORE_CASE_TEST(test_shared_pair_of_an_aborted_one_is_not_said),
        CORE_CASE_TEST(test_c_passes_a_bucket_with_its_transaction),
        CORE_CASE_TEST(test_copies_wait_until_a_failed_commit_is_made_good),
        CORE_CASE_TEST(test_one_that_is_sent_meanwhile_bounds_the_copies),
        CORE_CASE_TEST(test_skip_of_meanwhile_bounds_the_copies),
        CORE_CASE_TEST(test_rows_below_c_count_until_they_are_trimmed),
        CORE_CASE_TEST(test_loaded_bucket_is_trimmed),
        CORE_CASE_TEST(test_bucket_with_a_cancelled_end_goes_with_its_time),
        CORE_CASE_TEST(test_bucket_of_moved_rows_goes_with_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
