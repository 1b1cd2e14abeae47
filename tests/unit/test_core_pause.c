/* A person pauses a lane: it stands still, F says so, and nothing else notices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

#define DAY CORE_CASE_DAY_MS

static void pause(struct core_case *test, lane_index lane, bool paused)
{
    core_case_input(test, INPUT_LANE_PAUSE)->as.lane_pause = (struct input_lane_pause){lane, paused};
}

/* The frontier of the step's commit of either kind; NULL: there is none. */
static const struct partition_frontier *said(const struct core_case *test)
{
    const struct command *plain = core_case_find(test, COMMAND_COMMIT, 0);
    const struct command *transaction = core_case_find(test, COMMAND_TRANSACTION, 0);
    return plain != NULL ? plain->as.frontier : transaction != NULL && transaction->as.transaction.slot_count > 0 ? transaction->as.transaction.slots[0].frontier : NULL;
}

static const struct frontier_lane *entry(const struct partition_frontier *frontier, lane_index lane)
{
    for (uint16_t i = 0; i < frontier->lane_count; i++) {
        if (frontier->lanes[i].lane == lane) {
            return &frontier->lanes[i];
        }
    }
    return NULL;
}

/* Answers what the last step began. */
static void answer(struct core_case *test)
{
    core_case_settle(test);
    if (test->transaction != 0) {
        core_case_transacted(test, TRANSACTION_COMMITTED, 0);
        core_case_step(test);
        core_case_settle(test);
    }
}

static void test_nothing_is_taken(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 2, 0);
    pause(test, 0, true);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, 0, 1);
    core_case_step(test);
    core_case_expect_delivers(test, 1, 2);
    assert_true(core_case_queue(test, 0).paused);
    assert_false(core_case_queue(test, 1).paused);
    core_case_run(test, 1000);
    assert_int_equal(test->fired_count, 1);
    assert_false(core_case_is_restless(test));
    pause(test, 0, false);
    core_case_step(test);
    core_case_run(test, 2000);
    assert_int_equal(test->fired_count, 2);
    assert_int_equal(core_case_slot(test).low_offset, 2);
}

/* What has failed is not sent again either. */
static void test_nothing_goes_again(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    pause(test, 0, true);
    if (test->transaction != 0) {
        core_case_transacted(test, TRANSACTION_ABORTED, 0);
    }
    core_case_step(test);
    core_case_run(test, 10000);
    assert_int_equal(test->fired_count, 0);
    assert_false(core_case_is_restless(test));
    pause(test, 0, false);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
}

/* A commit is made for that alone, with an entry although the lane stands where all do; and another when it goes on. */
static void test_the_frontier_keeps_it(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 2, 0);
    core_case_wait(test, 1000);
    answer(test);
    assert_null(said(test));
    pause(test, 1, true);
    core_case_wait(test, 300);
    const struct partition_frontier *frontier = said(test);
    assert_non_null(frontier);
    assert_int_equal(frontier->lane_count, 1);
    assert_true(entry(frontier, 1)->paused);
    assert_int_equal(entry(frontier, 1)->frontier.live.cut, frontier->shared.cut);
    answer(test);
    core_case_wait(test, 300);
    assert_null(said(test));
    pause(test, 1, true); /* it is */
    core_case_wait(test, 300);
    assert_null(said(test));
    pause(test, 1, false);
    core_case_wait(test, 300);
    assert_non_null(said(test));
    assert_int_equal(said(test)->lane_count, 0);
}

/* A commit that fails has not said it. */
static void test_a_failed_commit_says_it_again(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    pause(test, 0, true);
    core_case_wait(test, 300);
    assert_true(entry(said(test), 0)->paused);
    if (test->transaction != 0) {
        core_case_transacted(test, TRANSACTION_ABORTED, 0);
    } else {
        core_case_input(test, INPUT_COMMIT_DONE)->as.commit = COMMIT_FAILED;
    }
    core_case_step(test);
    core_case_wait(test, 300);
    assert_non_null(said(test));
    assert_true(entry(said(test), 0)->paused);
}

/* The commit that said it failed, and may come yet: although F is again what was acknowledged, a newer one says so (R9). */
static void test_taken_back_after_a_failed_commit(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_wait(test, 1000);
    answer(test);
    pause(test, 0, true);
    core_case_wait(test, 300);
    assert_true(entry(said(test), 0)->paused);
    core_case_input(test, INPUT_COMMIT_DONE)->as.commit = COMMIT_FAILED;
    pause(test, 0, false);
    core_case_step(test);
    core_case_wait(test, 300);
    assert_non_null(said(test));
    assert_null(entry(said(test), 0));
    answer(test);
    core_case_wait(test, 300);
    assert_null(said(test)); /* it is known now */
}

/* A checkpoint says what is committed, and not what is wanted. */
static void test_checkpoints_say_what_is_committed(void **state)
{
    struct core_case *test = *state;
    test->options.commit_ms = 1000;
    core_case_begin(test, 2, 0);
    pause(test, 1, true);
    core_case_record(test, 0, DAY, 0);
    core_case_wait(test, 100);
    assert_non_null(test->plan);
    assert_null(entry(&core_case_plan(test)->frontier, 1));
    core_case_settle(test);
    core_case_wait(test, 1000);
    answer(test);
    core_case_record(test, 1, DAY, 0);
    core_case_wait(test, 100);
    assert_true(entry(&core_case_plan(test)->frontier, 1)->paused);
}

static void test_it_is_gained(void **state)
{
    struct core_case *test = *state;
    test->gained.frontier.lanes[0] = (struct frontier_lane){.lane = 1, .paused = true, .frontier.live = {KEY_LEAST, 0}};
    test->gained.frontier.lane_count = 1;
    core_case_begin(test, 2, 0);
    assert_true(core_case_queue(test, 1).paused);
    core_case_record(test, 0, 0, 1);
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 1, 2);
    core_case_run(test, 1000);
    assert_int_equal(test->fired_count, 1);
    pause(test, 1, false);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
}

/* R1 with budget 0: its cut goes on with reading, so the committed offset does; C is held by what it owes, and by nothing else. */
static void test_its_cut_goes_on(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 2, 0);
    pause(test, 1, true);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, 0, 1);
    core_case_record(test, 2, 0, 0);
    core_case_record(test, 3, DAY, 1);
    core_case_step(test);
    core_case_run(test, 1000);
    core_case_record(test, 4, 0, 0);
    core_case_wait(test, 300);
    const struct partition_frontier *frontier = said(test);
    assert_non_null(frontier);
    assert_true(entry(frontier, 1)->paused);
    assert_int_equal(entry(frontier, 1)->frontier.live.cut, 5);
    assert_int_equal(frontier->committed_offset, 5);
    assert_int_equal(frontier->low_offset, 1);
    assert_true(key_compare(entry(frontier, 1)->frontier.live.point, (struct key){CORE_CASE_WALL, 1}) < 0);
}

/* R7: when nothing of it is due up to there it stands at the shared pair like all, and keeps its entry. */
static void test_it_adopts_when_it_is_clear(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 2, 0);
    pause(test, 1, true);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, DAY, 1);
    core_case_step(test);
    core_case_run(test, 1000);
    core_case_record(test, 2, 1000, 0);
    core_case_step(test);
    core_case_run(test, 2000);
    core_case_record(test, 3, 2000, 0);
    core_case_deliver_all(test);
    core_case_wait(test, 300);
    const struct partition_frontier *frontier = said(test);
    assert_non_null(frontier);
    assert_int_equal(frontier->shared.point.offset, entry(frontier, 1)->frontier.live.point.offset);
    assert_int_equal(frontier->shared.point.due_ms, entry(frontier, 1)->frontier.live.point.due_ms);
    assert_true(frontier->shared.point.offset >= 2);
    assert_true(entry(frontier, 1)->paused);
}

/* A lane that came later has no queue before something of it is read. */
static void test_a_lane_without_records(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    struct core_lane_options options = {.max_in_flight = 10, .max_in_flight_bytes = 1000};
    lane_index lane = core_lane_add(test->core, &options);
    pause(test, lane, true);
    pause(test, (lane_index)(lane + 1), true); /* nobody's */
    core_case_wait(test, 300);
    assert_true(entry(said(test), lane)->paused);
    answer(test);
    core_case_record(test, 0, 0, lane);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
}

/* What leaves says it first. */
static void test_leaving_commits_it(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_wait(test, 1000);
    answer(test);
    pause(test, 0, true);
    (void)core_case_input(test, INPUT_SLOT_LEAVING);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_SLOT_LEFT), 0);
    assert_true(entry(said(test), 0)->paused);
    answer(test);
    assert_int_equal(core_case_count(test, COMMAND_SLOT_LEFT), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_BOTH(test_nothing_is_taken),
        CORE_CASE_BOTH(test_nothing_goes_again),
        CORE_CASE_BOTH(test_the_frontier_keeps_it),
        CORE_CASE_BOTH(test_a_failed_commit_says_it_again),
        CORE_CASE_TEST(test_taken_back_after_a_failed_commit), /* a transaction that was aborted is surely not there */
        CORE_CASE_BOTH(test_checkpoints_say_what_is_committed),
        CORE_CASE_BOTH(test_it_is_gained),
        CORE_CASE_BOTH(test_its_cut_goes_on),
        CORE_CASE_BOTH(test_it_adopts_when_it_is_clear),
        CORE_CASE_BOTH(test_a_lane_without_records),
        CORE_CASE_BOTH(test_leaving_commits_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
