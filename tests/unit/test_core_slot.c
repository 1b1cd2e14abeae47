/* A slot from its gain to its loss: catching up (R2), a checkpoint ahead of reading or older than C, a clock that was ahead (R7), anchors and another topic in
 * its place (R8), answers that come too late, a sink without room, the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

/* The partition's end may be below what was read once: behind a leader that has yet to hear of the last stable offset. */
static void test_nothing_fires_below_the_cut_that_was_committed(void **state)
{
    struct core_case *test = *state;
    test->gained.frontier.shared.cut = 10;
    core_case_begin(test, 1, 5);
    core_case_record(test, 0, 0, 0);
    core_case_position(test, 5);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    core_case_position(test, 9);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    core_case_position(test, 10);
    core_case_step(test);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 0);
}

static void lose_and_gain(struct core_case *test)
{
    (void)core_case_input(test, INPUT_SLOT_LOST);
    test->gained.epoch = 2;
    core_case_input(test, INPUT_SLOT_GAINED)->as.gained = &test->gained;
}

/* All numbers begin anew with a slot, so the former one's answers look like answers to this one. */
static void test_answers_of_a_former_life_do_not_count(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_deliver(test, 0)->sequence, 0);
    lose_and_gain(test);
    core_case_record(test, 0, 0, 0);
    test->inputs[test->input_count - 1].epoch = 2;
    core_case_step(test);
    assert_int_equal(core_case_deliver(test, 0)->sequence, 0);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).in_flight, 1);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_delivered(test, 0, 0);
    test->inputs[test->input_count - 1].epoch = 2;
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).in_flight, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

/* C as the last checkpoint says it, in the next few seconds, in which there must be no commit to Kafka. */
static int64_t low_of_checkpoints(struct core_case *test)
{
    int64_t low = -1;
    for (int i = 0; i < 20; i++) {
        core_case_wait(test, 500);
        assert_int_equal(core_case_count(test, COMMAND_COMMIT), 0);
        if (core_case_count(test, COMMAND_CHECKPOINT) > 0) {
            low = core_case_plan(test)->frontier.low_offset;
            core_case_written(test);
        }
    }
    return low;
}

/* R8: the offsets of the topic that stands there now are not ours to commit; our checkpoint alone keeps the progress. */
static void test_stopped_reading_commits_to_the_checkpoint_alone(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    (void)core_case_input(test, INPUT_READING_STOPPED);
    core_case_step(test);
    core_case_delivered(test, 0, core_case_deliver(test, 0)->sequence);
    if (core_case_count(test, COMMAND_CHECKPOINT) > 0) {
        core_case_written(test);
    }
    assert_int_equal(low_of_checkpoints(test), 1);
}

static void test_stopped_reading_takes_no_part_in_transactions(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    (void)core_case_input(test, INPUT_READING_STOPPED);
    core_case_step(test);
    assert_int_equal(core_case_transaction(test)->slot_count, 0);
    core_case_delivered(test, 0, core_case_deliver(test, 0)->sequence);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    if (core_case_count(test, COMMAND_CHECKPOINT) > 0) {
        core_case_written(test);
    }
    assert_int_equal(low_of_checkpoints(test), 1);
}

/* The sink is one: when it has no room for a record it has none for other lanes either. */
static void test_full_sink_holds_every_lane(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 2, 0);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_full_sink(test, 0, core_case_deliver(test, 0)->sequence);
    core_case_record(test, 1, 0, 1);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_false(core_case_is_restless(test));
    (void)core_case_input(test, INPUT_SINK_ROOM);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
}

/* What C had passed when the slot was gained counts as pending until it is trimmed, and what was cancelled does not: one plan does not do both in one
 * bucket, or nobody could tell how many went for what. Here the store is full at first, so the slot is gained between two plans. */
static void test_rows_that_are_trimmed_and_erased_are_told_apart(void **state)
{
    struct core_case *test = *state;
    for (int64_t offset = 3; offset < 9; offset++) {
        core_case_store(test, offset, CORE_CASE_DAY_MS, 0, 2);
    }
    test->rows[4].id = CORE_CASE_ID(1); /* of offset 7 */
    test->gained.frontier.low_offset = 5;
    test->gained.position = 10;
    test->gained.stored_position = 10;
    core_case_begin(test, 1, 0);
    core_case_full(test);
    lose_and_gain(test);
    core_case_cancel(test, 10, CORE_CASE_ID(1));
    test->inputs[test->input_count - 1].epoch = 2;
    core_case_step(test);
    for (int i = 0; i < 20; i++) {
        if (core_case_count(test, COMMAND_CHECKPOINT) > 0) {
            core_case_written(test);
        }
        core_case_wait(test, 100);
    }
    assert_int_equal(test->row_count, 3);
    assert_int_equal(core_case_queue(test, 0).pending, 3);
}

/* The last owner's clock was an hour ahead: that stays the trouble of the lane that fired by it. */
static void test_point_of_a_clock_that_was_ahead_is_not_shared(void **state)
{
    struct core_case *test = *state;
    struct frontier_lane *ahead = &test->gained.frontier.lanes[test->gained.frontier.lane_count++];
    ahead->lane = 0;
    ahead->frontier.live = (struct frontier_pair){{CORE_CASE_WALL + 3600000, 0}, 1};
    test->gained.frontier.shared.cut = 1;
    test->gained.position = 1;
    test->gained.stored_position = 1;
    core_case_begin(test, 2, 0);
    core_case_settle(test);
    core_case_position(test, 2);
    core_case_wait(test, 1000);
    assert_int_equal(core_case_commit(test)->shared.cut, 2);
    assert_true(core_case_commit(test)->shared.point.due_ms <= CORE_CASE_WALL + 1000);
}

/* With exactly_once the last commit may have to wait, after transactions that were aborted; the stop waits for it. */
static void test_stop_waits_for_a_commit_that_waits(void **state)
{
    struct core_case *test = *state;
    bool stopped = false;
    test->options.exactly_once = true;
    test->options.commit_ms = 1;
    core_case_begin(test, 1, 0);
    core_case_position(test, 5);
    core_case_wait(test, 1);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_wait(test, 1);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    (void)core_case_input(test, INPUT_STOP);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0);
    for (int i = 0; i < 500 && !stopped; i++) {
        if (core_case_count(test, COMMAND_CHECKPOINT) > 0) {
            core_case_written(test);
        }
        if (test->transaction != 0) {
            core_case_transacted(test, TRANSACTION_COMMITTED, 0);
        }
        core_case_wait(test, 1);
        stopped = core_case_count(test, COMMAND_STOPPED) > 0;
    }
    assert_true(stopped);
    assert_int_equal(core_case_slot(test).low_offset, 5);
}

/* What the checkpoint holds already may be read once more. */
static void test_rows_of_the_checkpoint_are_kept_once(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 7, CORE_CASE_DAY_MS, 0, 2);
    test->gained.position = 5;
    test->gained.stored_position = 8;
    core_case_begin(test, 1, 0);
    core_case_record(test, 7, CORE_CASE_DAY_MS, 0);
    core_case_record(test, 8, CORE_CASE_DAY_MS, 0);
    core_case_step(test);
    assert_int_equal(test->commands.release_count, 1);
    assert_int_equal(test->commands.releases[0], 8); /* of offset 7 */
    assert_int_equal(core_case_queue(test, 0).pending, 2);
    assert_int_equal(core_case_slot(test).unwritten_rows, 1);
}

/* R8: a commit's anchor is the last record below its greatest cut, not the last one that was read. */
static void test_anchor_of_a_commit_is_below_its_cut(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_delivered(test, 0, core_case_deliver(test, 0)->sequence);
    core_case_wait(test, 1000);
    assert_int_equal(core_case_commit(test)->anchor.offset, 0);
    core_case_committed(test);
    core_case_record(test, 1, -10, 0); /* late: the cut stays below them while they are in flight */
    core_case_record(test, 2, -10, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
    core_case_delivered(test, 0, core_case_deliver(test, 0)->sequence);
    core_case_wait(test, 1000);
    assert_int_equal(core_case_commit(test)->committed_offset, 2);
    assert_true(core_case_commit(test)->anchor.offset < 2);
}

/* R8: a checkpoint is known by the last record below its own position, whatever was committed. */
static void test_anchor_of_a_checkpoint_is_below_its_position(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, CORE_CASE_DAY_MS, 0);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->position, 1);
    assert_int_equal(core_case_plan(test)->frontier.anchor.offset, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_nothing_fires_below_the_cut_that_was_committed),
        CORE_CASE_TEST(test_answers_of_a_former_life_do_not_count),
        CORE_CASE_TEST(test_stopped_reading_commits_to_the_checkpoint_alone),
        CORE_CASE_TEST(test_stopped_reading_takes_no_part_in_transactions),
        CORE_CASE_TEST(test_full_sink_holds_every_lane),
        CORE_CASE_TEST(test_rows_that_are_trimmed_and_erased_are_told_apart),
        CORE_CASE_TEST(test_point_of_a_clock_that_was_ahead_is_not_shared),
        CORE_CASE_TEST(test_stop_waits_for_a_commit_that_waits),
        CORE_CASE_TEST(test_rows_of_the_checkpoint_are_kept_once),
        CORE_CASE_TEST(test_anchor_of_a_commit_is_below_its_cut),
        CORE_CASE_TEST(test_anchor_of_a_checkpoint_is_below_its_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
