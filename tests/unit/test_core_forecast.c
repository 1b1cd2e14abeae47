/* How many events come due when: exact where it can be, and said to be estimated where not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/bucket.h"
#include "scheduler/recurrence.h"
#include "tests/support/core_case.h"

#define MINUTE INT64_C(60000)
#define HOUR (60 * MINUTE)
#define BINS 5
#define A CORE_CASE_ID(1)

struct seen {
    double counts[BINS];
    bool estimated[BINS];
    double before;
    double later;
    double paused;
};

static struct seen look_with(const struct core_case *test, int64_t from_ms, int64_t bin_ms, uint32_t walk_max, bool second_lane)
{
    struct seen seen = {.before = 0};
    bool lanes[2] = {true, second_lane};
    struct core_forecast forecast = {
        .from_ms = CORE_CASE_WALL + from_ms, .bin_ms = bin_ms, .bins = BINS, .walk_max = walk_max, .counts = seen.counts, .estimated = seen.estimated};
    core_look_forecast(test->core, 0, lanes, &forecast);
    seen.before = forecast.before;
    seen.later = forecast.later;
    seen.paused = forecast.paused;
    return seen;
}

static struct seen look(const struct core_case *test, int64_t bin_ms)
{
    return look_with(test, 0, bin_ms, UINT32_MAX, true);
}

static void expect_exactly(const struct seen *seen, double first, double second, double third)
{
    const double wanted[BINS] = {first, second, third, 0, 0};
    for (int i = 0; i < BINS; i++) {
        assert_false(seen->estimated[i]);
        assert_true(seen->counts[i] == wanted[i]);
    }
}

/* CORE_CASE_WALL is the beginning of a minute and of an hour. */
static void begin(struct core_case *test, int lanes)
{
    assert_int_equal(CORE_CASE_WALL % HOUR, 0);
    core_case_begin(test, lanes, 0);
}

/* Everything is written. */
static void settle(struct core_case *test)
{
    core_case_run(test, test->wall_ms + 300);
    assert_int_equal(core_case_slot(test).unwritten_rows, 0);
}

static void test_read_and_not_written(void **state)
{
    struct core_case *test = *state;
    begin(test, 2);
    core_case_pause(test, 0, true);
    core_case_record(test, 0, -1, 0);
    core_case_record(test, 1, 0, 0);
    core_case_record(test, 2, MINUTE - 1, 1);
    core_case_record(test, 3, MINUTE, 0);
    core_case_record(test, 4, 2 * MINUTE + 5, 0);
    core_case_record(test, 5, 5 * MINUTE - 1, 1);
    core_case_record(test, 6, 5 * MINUTE, 0);
    core_case_record(test, 7, RECURRENCE_LAST_MS - CORE_CASE_WALL, 0);
    core_case_step(test);
    struct seen seen = look(test, MINUTE);
    assert_true(seen.counts[0] == 2 && seen.counts[1] == 1 && seen.counts[2] == 1 && seen.counts[3] == 0 && seen.counts[4] == 1);
    assert_true(seen.before == 1 && seen.later == 1 && seen.paused == 1);
    for (int i = 0; i < BINS; i++) {
        assert_false(seen.estimated[i]);
    }
    seen = look_with(test, 0, MINUTE, UINT32_MAX, false); /* of the first lane alone */
    expect_exactly(&seen, 1, 1, 1);
}

static void test_the_first_bin_ends_with_its_minute(void **state)
{
    struct core_case *test = *state;
    begin(test, 1);
    core_case_record(test, 0, MINUTE - 1, 0);
    core_case_record(test, 1, MINUTE, 0);
    core_case_record(test, 2, 2 * MINUTE, 0);
    core_case_step(test);
    struct seen seen = look_with(test, 59000, MINUTE, UINT32_MAX, false);
    expect_exactly(&seen, 1, 1, 1);
}

/* In the checkpoint a bucket says how many: each within one bin, so all is exact. What is in memory is looked at one by one. */
static void test_from_buckets(void **state)
{
    struct core_case *test = *state;
    begin(test, 1);
    for (int64_t i = 0; i < 30; i++) {
        core_case_record(test, i, i % 3 * HOUR + 30 * MINUTE + i, 0);
    }
    core_case_record(test, 30, 1000, 0); /* in the window */
    core_case_record(test, 31, 1001, 0);
    core_case_step(test);
    settle(test);
    assert_int_equal(core_case_queue(test, 0).in_memory, 2);
    struct seen seen = look(test, HOUR);
    expect_exactly(&seen, 12, 10, 10);
    seen = look_with(test, 0, HOUR, 0, false); /* not one by one */
    expect_exactly(&seen, 12, 10, 10);
    seen = look_with(test, 1001, HOUR, 0, false);
    expect_exactly(&seen, 11, 10, 10);
    assert_true(seen.before == 1);
}

/* What a person paused stands in the checkpoint, too, in the last bucket of all: it is no more "later" than before it was written. */
static void test_paused_in_the_checkpoint(void **state)
{
    struct core_case *test = *state;
    begin(test, 1);
    for (int64_t i = 0; i < 3; i++) {
        core_case_event(test, i, RECURRENCE_LAST_MS - CORE_CASE_WALL, 0, CORE_CASE_ID((uint64_t)i + 1));
    }
    core_case_record(test, 3, 30 * HOUR, 0);
    core_case_step(test);
    settle(test);
    struct seen seen = look(test, HOUR);
    assert_true(seen.paused == 3 && seen.later == 1);
    core_case_cancel(test, 4, CORE_CASE_ID(2));
    core_case_step(test);
    seen = look(test, HOUR);
    assert_true(seen.paused == 2 && seen.later == 1 && seen.before == 0);
}

/* A bucket on both sides of a bin's end is spread evenly up to its greatest key, and both bins say so; the sum stays. */
static void test_a_bucket_on_both_sides(void **state)
{
    struct core_case *test = *state;
    begin(test, 1);
    struct bucket_id over = bucket_of(0, 0, CORE_CASE_WALL + MINUTE - 1);
    int64_t start_ms = bucket_start_ms(over) - CORE_CASE_WALL;
    assert_true(start_ms < MINUTE - 1 && start_ms + 8192 > MINUTE + 1);
    core_case_record(test, 0, start_ms, 0);
    core_case_record(test, 1, MINUTE - 1, 0);
    core_case_record(test, 2, MINUTE + 1, 0);
    core_case_step(test);
    settle(test);
    struct seen seen = look(test, MINUTE);
    assert_true(seen.estimated[0] && seen.estimated[1] && !seen.estimated[2]);
    double before = 3.0 * (double)(MINUTE - start_ms) / (double)(MINUTE + 2 - start_ms);
    assert_true(seen.counts[0] > before - 0.001 && seen.counts[0] < before + 0.001);
    assert_true(seen.counts[0] + seen.counts[1] > 2.999 && seen.counts[0] + seen.counts[1] < 3.001);
}

/* The store has a cancelled row until it is erased. */
static void test_what_is_cancelled_does_not_count(void **state)
{
    struct core_case *test = *state;
    begin(test, 1);
    core_case_event(test, 0, HOUR + 20 * MINUTE, 0, A);
    core_case_record(test, 1, HOUR + 21 * MINUTE, 0);
    core_case_step(test);
    settle(test);
    core_case_cancel(test, 2, A);
    core_case_step(test);
    struct seen seen = look(test, HOUR);
    assert_true(seen.counts[1] == 1 && seen.estimated[1]);
    core_case_run(test, 3000); /* erased */
    assert_int_equal(test->row_count, 1);
    seen = look(test, HOUR);
    expect_exactly(&seen, 0, 1, 0);
}

/* What may be looked at one by one is a bound over all queues, as there may be thousands of them: beyond it the slot counts, and says that it does. */
static void test_looking_is_bounded_over_all_queues(void **state)
{
    struct core_case *test = *state;
    begin(test, 2);
    core_case_event(test, 0, 500, 0, A);
    core_case_record(test, 1, 501, 0);
    core_case_record(test, 2, 1000, 1);
    core_case_record(test, 3, 1001, 1);
    core_case_step(test);
    settle(test);
    assert_int_equal(core_case_queue(test, 0).in_memory, 2);
    assert_int_equal(core_case_queue(test, 1).in_memory, 2);
    struct seen seen = look_with(test, 0, 1000, 4, true);
    expect_exactly(&seen, 2, 2, 0);
    core_case_cancel(test, 4, A);
    core_case_step(test);
    seen = look_with(test, 0, 1000, 3, true);
    expect_exactly(&seen, 1, 2, 0);
    seen = look_with(test, 0, 1000, 2, true);
    assert_true(seen.counts[0] == 1 && !seen.estimated[0]);
    assert_true(seen.counts[1] == 2 && seen.estimated[1]);
}

/* What went out does not come, though what stands before it is not acknowledged. */
static void test_what_is_delivered_does_not_count(void **state)
{
    struct core_case *test = *state;
    begin(test, 1);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, 0, 0);
    core_case_record(test, 2, 0, 0);
    core_case_step(test);
    struct seen seen = look(test, MINUTE);
    expect_exactly(&seen, 3, 0, 0);
    core_case_delivered(test, 0, 1);
    core_case_failed(test, 0, 2, DELIVERY_RETRIABLE);
    core_case_step(test);
    seen = look(test, MINUTE);
    expect_exactly(&seen, 2, 0, 0);
}

/* A start in the middle of a bucket: which of its rows are done the frontier says, but not how many. */
static void test_a_bucket_partly_done(void **state)
{
    struct core_case *test = *state;
    for (int64_t i = 0; i < 4; i++) {
        core_case_store(test, i, HOUR + i * 1000, 0, 2);
    }
    test->gained.position = 4;
    test->gained.stored_position = 4;
    test->gained.high = 4;
    test->gained.frontier.shared = (struct frontier_pair){{CORE_CASE_WALL + HOUR + 1500, 1}, 4};
    begin(test, 1);
    struct seen seen = look(test, HOUR);
    assert_true(seen.estimated[1]);
    assert_true(seen.counts[1] >= 0 && seen.counts[1] <= 4);
    assert_true(seen.before == 0 && seen.later == 0);
}

/* Behind the catch-up boundary and in front of it: each counts once. */
static void test_on_both_sides_of_the_boundary(void **state)
{
    struct core_case *test = *state;
    test->options.catch_up_per_s = 1;
    for (int64_t i = 0; i < 8; i++) {
        core_case_store(test, i, i % 2 == 0 ? -HOUR + i : HOUR + 20 * MINUTE + i, 0, i % 2 == 0 ? 0 : 1);
    }
    test->gained.position = 8;
    test->gained.stored_position = 8;
    test->gained.high = 8;
    begin(test, 1);
    struct seen seen = look(test, HOUR);
    assert_true(seen.before == 4 && seen.counts[1] == 4);
    core_case_run(test, 1500);
    double left = 4 - (double)test->fired_count;
    assert_true(left > 0 && left < 4);
    seen = look(test, HOUR);
    assert_true(seen.before == left && seen.counts[1] == 4 && !seen.estimated[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_read_and_not_written),
        CORE_CASE_TEST(test_the_first_bin_ends_with_its_minute),
        CORE_CASE_TEST(test_from_buckets),
        CORE_CASE_TEST(test_paused_in_the_checkpoint),
        CORE_CASE_TEST(test_a_bucket_on_both_sides),
        CORE_CASE_TEST(test_what_is_cancelled_does_not_count),
        CORE_CASE_TEST(test_looking_is_bounded_over_all_queues),
        CORE_CASE_TEST(test_what_is_delivered_does_not_count),
        CORE_CASE_TEST(test_a_bucket_partly_done),
        CORE_CASE_TEST(test_on_both_sides_of_the_boundary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
