/* R10: duplicates are let fall when they are read, and act on nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

#define DAY CORE_CASE_DAY_MS
#define HOUR INT64_C(3600000)
#define A CORE_CASE_ID(1)
#define B CORE_CASE_ID(2)

/* A record of that time whose source has a window of an hour. */
static struct input_record *event(struct core_case *test, int64_t offset, int64_t timestamp_ms, int64_t due_ms, struct record_id id)
{
    core_case_event(test, offset, due_ms, 0, id);
    struct input_record *record = &test->inputs[test->input_count - 1].as.record;
    record->timestamp_ms = CORE_CASE_WALL + timestamp_ms;
    record->dedupe_ms = HOUR;
    record->dedupe_due_ms = CORE_CASE_WALL + due_ms;
    return record;
}

static struct core_case *begin(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    return test;
}

static void test_duplicate_is_let_fall(void **state)
{
    struct core_case *test = begin(state);
    event(test, 0, -10, 0, A);
    event(test, 1, 5, 5, A);
    core_case_step(test);
    core_case_expect_outcomes(test, 1);
    core_case_expect_outcome(test, 0, OUTCOME_DUPLICATE, -1, 1);
    assert_int_equal(test->released, 1);
    assert_int_equal(core_case_slot(test).duplicates, 1);
    assert_int_equal(core_case_slot(test).dedupe_ids, 1);
    core_case_run(test, 1000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    event(test, 2, HOUR, DAY, A);
    core_case_step(test);
    core_case_expect_outcomes(test, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
}

/* The event before it has come due, and waits as its target fails: it is not replaced. */
static void test_duplicate_is_no_control(void **state)
{
    struct core_case *test = begin(state);
    core_case_pause(test, 0, true);
    event(test, 0, -10, 0, A);
    event(test, 1, 5, 5, A);
    core_case_wait(test, 20);
    core_case_expect_ended(test, 0, 0, 0);
    core_case_pause(test, 0, false);
    core_case_step(test);
    core_case_expect_delivers(test, 0, 1);
}

static void test_replacement_before_it_fires(void **state)
{
    struct core_case *test = begin(state);
    event(test, 0, -10, 1000, A);
    event(test, 1, 999, 2000, A);
    core_case_step(test);
    core_case_expect_outcome(test, 0, OUTCOME_REPLACED, 1, 0);
    core_case_expect_ended(test, 0, 1, 0);
}

static void test_cancel_makes_room_for_the_next(void **state)
{
    struct core_case *test = begin(state);
    event(test, 0, -10, 1000, A);
    core_case_cancel(test, 1, A);
    test->inputs[1].as.record.timestamp_ms = CORE_CASE_WALL;
    event(test, 2, 1001, 2000, A);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).duplicates, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
}

static void test_others_are_not_judged(void **state)
{
    struct core_case *test = begin(state);
    event(test, 0, 0, 0, A);
    event(test, 1, 1, 1, A)->dedupe_ms = 0;
    event(test, 2, 2, 2, A)->dedupe_ms = -1;
    event(test, 3, 3, 3, A)->root = 1;
    event(test, 4, 4, 4, RECORD_ID_NONE);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).duplicates, 0);
    event(test, 5, 5, 5, A);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).duplicates, 1);
}

/* The wanted time of a conditional record is what counts. */
static void conditional(struct core_case *test, int64_t offset, int64_t timestamp_ms, struct record_id id)
{
    core_case_conditional(test, offset, 1, id, -1);
    struct input_record *record = &test->inputs[test->input_count - 1].as.record;
    record->dedupe_ms = HOUR;
    record->dedupe_due_ms = CORE_CASE_WALL + timestamp_ms;
    record->timestamp_ms = CORE_CASE_WALL + timestamp_ms;
}

static void test_conditional_is_judged(void **state)
{
    struct core_case *test = *state;
    test->deciding = 1;
    core_case_begin(test, 2, 0);
    event(test, 0, 0, 0, A);
    conditional(test, 1, 5, A);
    core_case_step(test);
    core_case_expect_outcome(test, 0, OUTCOME_DUPLICATE, -1, 1);
}

/* Perhaps it is rejected: then it must not have made a duplicate of anything. */
static void test_conditional_makes_no_duplicates(void **state)
{
    struct core_case *test = *state;
    test->deciding = 1;
    core_case_begin(test, 2, 0);
    conditional(test, 0, 0, A);
    event(test, 1, 5, 5, A);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).duplicates, 0);
}

/* C stays at the accepted record, though it is done long ago; until a later record says that the window is over. */
static void test_holds_c(void **state)
{
    struct core_case *test = begin(state);
    core_case_record(test, 0, 0, 0);
    event(test, 1, 0, 0, A);
    event(test, 2, 0, 0, B);
    core_case_step(test);
    core_case_run(test, 1000);
    assert_int_equal(core_case_slot(test).low_offset, 1);
    event(test, 3, 3 * HOUR, DAY, B);
    core_case_step(test);
    core_case_run(test, 2000);
    assert_int_equal(core_case_slot(test).dedupe_ids, 1);
    assert_int_equal(core_case_slot(test).low_offset, 3);
}

static void test_copy_forward_does_not_pass_it(void **state)
{
    struct core_case *test = begin(state);
    core_case_record(test, 0, DAY, 0);
    event(test, 1, 0, 0, A);
    core_case_record(test, 2, DAY, 0);
    core_case_step(test);
    core_case_run(test, 1000);
    core_case_input(test, INPUT_RETENTION)->as.retention.offset = 3;
    core_case_step(test);
    for (int i = 0; i < 50 && core_case_count(test, COMMAND_COPY) == 0; i++) {
        if (!core_case_settle_once(test)) {
            core_case_wait(test, 100);
        }
    }
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_expect_copy(test, 0, 0, DAY);
    assert_int_equal(core_case_only_frontier(test)->low_offset, 1);
}

/* Reading begins at C: what the checkpoint has already goes through the fold alone. */
static void test_begins_behind_the_checkpoint(void **state)
{
    struct core_case *test = *state;
    struct skip refused = {2, 2};
    test->gained.position = 1;
    test->gained.frontier.low_offset = 1;
    test->gained.stored_position = 4;
    test->gained.skips = &refused;
    test->gained.skip_count = 1;
    core_case_store(test, 1, DAY, 0, 2);
    core_case_begin(test, 1, 4);
    event(test, 1, 0, DAY, A);
    event(test, 2, 0, 0, B); /* its accepted record is before C */
    event(test, 3, 0, 0, B);
    core_case_step(test);
    core_case_expect_outcomes(test, 0); /* it was told before */
    assert_int_equal(core_case_slot(test).duplicates, 0);
    assert_int_equal(core_case_slot(test).dedupe_ids, 2);
    assert_int_equal(test->released, 3);
    core_case_expect_ended(test, 0, 0, 0);
    event(test, 4, 1, 1, B);
    core_case_step(test);
    core_case_expect_outcome(test, 0, OUTCOME_DUPLICATE, -1, 4);
    core_case_run(test, 20000);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    assert_int_equal(core_case_slot(test).low_offset, 1);
}

static void test_checkpoint_keeps_what_was_refused(void **state)
{
    struct core_case *test = begin(state);
    event(test, 0, 0, 0, A);
    event(test, 1, 1, 1, A);
    core_case_record(test, 2, DAY, 0);
    core_case_step(test);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->skip_count, 1);
    assert_int_equal(core_case_plan(test)->skips[0].offset, 1);
    assert_int_equal(core_case_plan(test)->skips[0].skipped, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_duplicate_is_let_fall),
        CORE_CASE_TEST(test_duplicate_is_no_control),
        CORE_CASE_TEST(test_replacement_before_it_fires),
        CORE_CASE_TEST(test_cancel_makes_room_for_the_next),
        CORE_CASE_TEST(test_others_are_not_judged),
        CORE_CASE_TEST(test_conditional_is_judged),
        CORE_CASE_TEST(test_conditional_makes_no_duplicates),
        CORE_CASE_TEST(test_holds_c),
        CORE_CASE_TEST(test_copy_forward_does_not_pass_it),
        CORE_CASE_TEST(test_begins_behind_the_checkpoint),
        CORE_CASE_TEST(test_checkpoint_keeps_what_was_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
