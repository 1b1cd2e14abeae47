/* R9: with exactly_once what is delivered and the frontier that says so are one transaction, one at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

static struct core_case *begin(void **state, int lanes)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_begin(test, lanes, 0);
    return test;
}

/* Reports on all that the last step sent, and the end of its transaction. */
static void expect_key(struct key key, int64_t due_ms, int64_t offset)
{
    assert_int_equal(key.due_ms - CORE_CASE_WALL, due_ms);
    assert_int_equal(key.offset, offset);
}

static void test_deliveries_of_a_step_and_their_frontier_are_one(void **state)
{
    struct core_case *test = begin(state, 1);
    core_case_record(test, 0, -10, 0);
    core_case_record(test, 1, -5, 0);
    core_case_record(test, 2, 5000, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 0, 2);
    assert_int_equal(core_case_transaction(test)->number, 1);
    assert_false(core_case_transaction(test)->abort);
    const struct partition_frontier *frontier = core_case_only_frontier(test);
    expect_key(frontier->shared.point, -5, 1);
    assert_int_equal(frontier->shared.cut, 3);
    assert_int_equal(frontier->committed_offset, 3);
    assert_int_equal(frontier->low_offset, 2);
    assert_int_equal(frontier->lane_count, 0);
    assert_int_equal(test->commands.items[test->commands.count - 1].kind, COMMAND_TRANSACTION);
}

static void test_nothing_is_taken_while_one_ends(void **state)
{
    struct core_case *test = begin(state, 1);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_record(test, 1, 0, 0);
    core_case_delivered(test, 0, 0);
    core_case_wait(test, 50);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER) + core_case_count(test, COMMAND_TRANSACTION), 0);
    core_case_wait(test, 1000);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER) + core_case_count(test, COMMAND_TRANSACTION), 0);
    assert_false(core_case_is_restless(test));
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 1, 2);
    assert_int_equal(core_case_transaction(test)->number, 2);
}

/* A checkpoint's frontier is the committed one: it, the pending figure and the released rows follow the end, not the reports. */
static void test_committed_moves_the_frontier_and_releases(void **state)
{
    struct core_case *test = begin(state, 1);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, CORE_CASE_DAY_MS, 0);
    core_case_step(test);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 2);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    assert_int_equal(core_case_slot(test).low_offset, 1);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->row_count, 1); /* what was committed is never written */
    assert_int_equal(core_case_plan(test)->rows[0].offset, 1);
    expect_key(core_case_plan(test)->frontier.shared.point, 0, 0);
    assert_int_equal(core_case_plan(test)->frontier.low_offset, 1);
    assert_int_equal(test->released, 1);
}

/* One made between the reports and the end holds all rows, and the frontier as it was before. */
static void test_checkpoint_before_the_end_knows_nothing_of_it(void **state)
{
    struct core_case *test = begin(state, 1);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_delivered(test, 0, 0);
    core_case_wait(test, 100);
    assert_int_equal(core_case_plan(test)->row_count, 1);
    assert_int_equal(core_case_plan(test)->frontier.shared.point.offset, -1);
    assert_int_equal(core_case_plan(test)->frontier.low_offset, 0);
    assert_int_equal(test->released, 0);
}

static void test_aborted_repeats_all_in_order_and_claims_nothing(void **state)
{
    struct core_case *test = begin(state, 1);
    for (int64_t i = 0; i < 3; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    core_case_delivered(test, 0, 0);
    core_case_delivered(test, 0, 2);
    core_case_failed(test, 0, 1, DELIVERY_RETRIABLE);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0); /* its target has failed: it waits 100 ms */
    assert_int_equal(core_case_slot(test).low_offset, 0);
    core_case_wait(test, 99);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    core_case_wait(test, 1);
    core_case_expect_delivers(test, 0, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(core_case_deliver(test, i)->again);
        assert_int_equal(core_case_deliver(test, i)->sequence, i);
    }
    assert_int_equal(core_case_plan(test)->frontier.low_offset, 0);
    assert_int_equal(core_case_plan(test)->frontier.shared.point.offset, -1);
    assert_int_equal(core_case_only_frontier(test)->low_offset, 3);
    core_case_commit_all(test);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
}

/* The first abort that no delivery explains is followed at once. */
static void test_abort_without_a_failure_is_repeated_at_once(void **state)
{
    struct core_case *test = begin(state, 1);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    core_case_delivered(test, 0, 0);
    core_case_delivered(test, 0, 1);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 0, 2);
    assert_int_equal(core_case_transaction(test)->number, 2);
}

/* A transaction that the sink had no room for is aborted, and the next ones are smaller, until they succeed. */
static void test_full_sink_halves_it(void **state)
{
    struct core_case *test = begin(state, 1);
    for (int64_t i = 0; i < 500; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    core_case_expect_delivers(test, 0, 500);
    core_case_full_sink(test, 0, 499);
    core_case_step(test);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0); /* not before there is room */
    core_case_input(test, INPUT_SINK_ROOM);
    core_case_step(test);
    core_case_expect_delivers(test, 0, 250);
    core_case_commit_all(test);
    for (int64_t i = 500; i < 900; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    core_case_expect_delivers(test, 250, 532); /* 250 / 8 + 1 more; what was in the aborted one first */
    assert_true(core_case_deliver(test, 249)->again);
    assert_false(core_case_deliver(test, 250)->again);
    core_case_commit_all(test);
    core_case_step(test);
    core_case_expect_delivers(test, 532, 850);
}

static void test_full_sink_halves_it_though_there_is_room_again(void **state)
{
    struct core_case *test = begin(state, 1);
    for (int64_t i = 0; i < 500; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    core_case_full_sink(test, 0, 499);
    core_case_step(test);
    core_case_input(test, INPUT_SINK_ROOM);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 0, 250);
}

/* What had no room was a re-append: nobody gives a record back, only the end of the transaction says so. */
static void test_no_room_for_copies_halves_it(void **state)
{
    struct core_case *test = begin(state, 1);
    for (int64_t i = 0; i < 500; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    core_case_expect_delivers(test, 0, 500);
    for (uint64_t i = 0; i < 500; i++) {
        core_case_delivered(test, 0, i);
    }
    core_case_transacted(test, TRANSACTION_FULL, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 0, 250);
}

static void test_full_sink_spoils_an_open_one(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    test->options.step_records_max = 2;
    core_case_begin(test, 1, 0);
    for (int64_t i = 0; i < 5; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    core_case_expect_delivers(test, 0, 2);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0); /* more is due: it stays open */
    core_case_delivered(test, 0, 0);
    core_case_full_sink(test, 0, 1);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_true(core_case_transaction(test)->abort);
    assert_int_equal(core_case_transaction(test)->slot_count, 0);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_input(test, INPUT_SINK_ROOM);
    core_case_step(test);
    core_case_expect_delivers(test, 0, 1); /* half of what it was: down to one, if need be */
}

static void gain_second_slot(struct core_case *test)
{
    struct input *input = core_case_input(test, INPUT_SLOT_GAINED);
    input->slot = 1;
    input->as.gained = &test->gained;
    core_case_step(test);
}

static void record_of_second_slot(struct core_case *test, int64_t offset)
{
    core_case_record(test, offset, 0, 0);
    test->inputs[test->input_count - 1].slot = 1;
}

static size_t delivers_of(const struct core_case *test, slot_index slot)
{
    size_t count = 0;
    for (size_t i = 0; i < core_case_count(test, COMMAND_DELIVER); i++) {
        count += core_case_find(test, COMMAND_DELIVER, i)->slot == slot;
    }
    return count;
}

static void test_slot_lost_while_open_aborts(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    test->options.step_records_max = 4;
    core_case_begin(test, 1, 0);
    gain_second_slot(test);
    for (int64_t i = 0; i < 4; i++) {
        core_case_record(test, i, 0, 0);
        record_of_second_slot(test, i);
    }
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 4);
    size_t others = delivers_of(test, 1);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0);
    core_case_input(test, INPUT_SLOT_LOST);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_true(core_case_transaction(test)->abort);
    assert_int_equal(core_case_transaction(test)->slot_count, 0);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    assert_int_equal(delivers_of(test, 0), 0);
    assert_int_equal(delivers_of(test, 1), 4); /* the other slot's go again, those that were in it first */
    for (size_t i = 0; i < others; i++) {
        assert_true(core_case_deliver(test, i)->again);
    }
}

static void test_slot_lost_while_ending_leaves_the_others_theirs(void **state)
{
    struct core_case *test = begin(state, 1);
    gain_second_slot(test);
    core_case_record(test, 0, 0, 0);
    record_of_second_slot(test, 0);
    core_case_step(test);
    assert_int_equal(core_case_transaction(test)->slot_count, 2);
    core_case_input(test, INPUT_SLOT_LOST);
    core_case_delivered(test, 0, 0); /* of nobody any more */
    core_case_delivered(test, 0, 0);
    test->inputs[test->input_count - 1].slot = 1;
    core_case_step(test);
    record_of_second_slot(test, 1);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 1);
    assert_int_equal(core_case_transaction(test)->slot_count, 1);
    assert_int_equal(core_case_transaction(test)->slots[0].slot, 1);
}

static void test_leaving_waits_for_the_end(void **state)
{
    struct core_case *test = begin(state, 1);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_input(test, INPUT_SLOT_LEAVING);
    core_case_step(test);
    core_case_delivered(test, 0, 0);
    core_case_wait(test, 1000);
    assert_int_equal(core_case_count(test, COMMAND_SLOT_LEFT), 0);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_SLOT_LEFT), 1);
}

/* What was aborted is the next owner's. */
static void test_leaving_after_an_abort_sends_nothing_again(void **state)
{
    struct core_case *test = begin(state, 1);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_input(test, INPUT_SLOT_LEAVING);
    core_case_delivered(test, 0, 0);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_int_equal(core_case_count(test, COMMAND_SLOT_LEFT), 0);
    const struct partition_frontier *frontier = core_case_only_frontier(test); /* it has read one record, and says so */
    assert_int_equal(frontier->committed_offset, 1);
    assert_int_equal(frontier->low_offset, 0);
    assert_true(frontier->shared.point.due_ms < CORE_CASE_WALL);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_SLOT_LEFT), 1);
}

static void test_stop_makes_a_last_transaction(void **state)
{
    struct core_case *test = begin(state, 1);
    core_case_record(test, 0, CORE_CASE_DAY_MS, 0);
    core_case_position(test, 5);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0);
    core_case_input(test, INPUT_STOP);
    core_case_step(test);
    assert_int_equal(core_case_only_frontier(test)->committed_offset, 5);
    assert_int_equal(core_case_only_frontier(test)->low_offset, 0);
    core_case_settle(test);
    assert_int_equal(core_case_count(test, COMMAND_STOPPED), 0);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_step(test);
    for (int i = 0; i < 5 && core_case_count(test, COMMAND_STOPPED) == 0; i++) {
        core_case_written(test);
        core_case_step(test);
        assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0);
    }
    assert_int_equal(core_case_count(test, COMMAND_STOPPED), 1);
    assert_int_equal(test->row_count, 1);
}

static void test_frontiers_alone_go_at_their_own_pace(void **state)
{
    struct core_case *test = begin(state, 1); /* at 1,000 by the monotonic clock: the next one is not before 1,250 */
    int64_t begun[8] = {0};
    size_t count = 0;
    for (int64_t i = 1; i <= 100; i++) {
        core_case_position(test, i);
        core_case_wait(test, 10);
        if (core_case_count(test, COMMAND_TRANSACTION) > 0) {
            assert_int_equal(core_case_only_frontier(test)->committed_offset, i);
            assert_int_equal(core_case_only_frontier(test)->low_offset, i);
            begun[count++] = test->mono_ms;
            core_case_transacted(test, TRANSACTION_COMMITTED, 0);
        }
    }
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(begun[i], 1250 + 250 * (int64_t)i);
    }
    core_case_wait(test, 5000);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0); /* there is no news */
}

static void test_frontiers_alone_have_a_deadline(void **state)
{
    struct core_case *test = begin(state, 1);
    core_case_position(test, 1);
    core_case_step(test);
    assert_int_equal(core_next_deadline(test->core).mono.ms, 1250);
    core_case_wait(test, 250);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 1);
    core_case_position(test, 2);
    core_case_wait(test, 250);
    assert_false(core_case_is_restless(test)); /* its end is what is waited for */
}

static void test_repeated_aborts_back_off(void **state)
{
    static const int64_t waits[] = {100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000};
    struct core_case *test = begin(state, 1);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
        core_case_expect_delivers(test, 0, 1);
        core_case_transacted(test, TRANSACTION_ABORTED, 0);
        core_case_step(test);
        core_case_settle(test);
        assert_false(core_case_is_restless(test));
        core_case_wait(test, waits[i] - 1);
        assert_int_equal(core_case_count(test, COMMAND_DELIVER) + core_case_count(test, COMMAND_TRANSACTION), 0);
        core_case_settle(test);
        assert_int_equal(core_next_deadline(test->core).mono.ms, test->mono_ms + 1);
        core_case_wait(test, 1);
    }
    core_case_commit_all(test);
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 1, 2); /* after a success the first one is followed at once again */
}

static void test_as_many_records_as_it_may_have(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    test->options.transaction_records_max = 5;
    core_case_begin(test, 1, 0);
    for (int64_t i = 0; i < 12; i++) {
        core_case_record(test, i, 0, 0);
    }
    for (int64_t from = 0; from < 12; from += 5) {
        core_case_step(test);
        core_case_expect_delivers(test, from, from + 5 < 12 ? from + 5 : 12);
        assert_int_equal(core_case_only_frontier(test)->low_offset, from + 5 < 12 ? from + 5 : 12);
        core_case_commit_all(test);
    }
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0);
}

static void test_as_long_as_it_may_take(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    test->options.step_records_max = 1;
    core_case_begin(test, 1, 0);
    for (int64_t i = 0; i < 10; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    core_case_expect_delivers(test, 0, 1);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0);
    assert_true(core_case_is_restless(test)); /* more is due now */
    core_case_wait(test, 99);
    core_case_expect_delivers(test, 1, 2);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0);
    core_case_wait(test, 1);
    core_case_expect_delivers(test, 2, 3);
    assert_int_equal(core_case_only_frontier(test)->low_offset, 3);
}

static void test_cut_behind_a_late_one_moves_with_its_commit(void **state)
{
    struct core_case *test = begin(state, 1);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_commit_all(test);
    core_case_step(test);
    core_case_record(test, 1, -50, 0); /* late: behind the point */
    core_case_position(test, 3);
    core_case_step(test);
    core_case_expect_delivers(test, 1, 2);
    expect_key(core_case_only_frontier(test)->shared.point, 0, 0);
    assert_int_equal(core_case_only_frontier(test)->shared.cut, 3);
    core_case_failed(test, 0, 1, DELIVERY_RETRIABLE);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_pause(test, 0, true);
    core_case_step(test);
    core_case_wait(test, 250);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0); /* it is as it was: nothing to say */
    core_case_pause(test, 0, false);
    core_case_step(test);
    core_case_expect_delivers(test, 1, 2);
    assert_int_equal(core_case_only_frontier(test)->shared.cut, 3);
    core_case_commit_all(test);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).low_offset, 3);
}

static void test_answers_of_another_number_are_let_pass(void **state)
{
    struct core_case *test = begin(state, 1);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_delivered(test, 0, 0);
    for (uint64_t number = 0; number < 4; number += 2) {
        core_case_input(test, INPUT_TRANSACTION_DONE)->as.transaction = (struct input_transaction){.number = number, .result = TRANSACTION_COMMITTED};
    }
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_int_equal(core_case_queue(test, 0).pending, 2);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 1, 2);
    core_case_input(test, INPUT_TRANSACTION_DONE)->as.transaction = (struct input_transaction){.number = 1, .result = TRANSACTION_COMMITTED};
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_delivered(test, 0, 1);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    for (int i = 0; i < 3; i++) { /* once more than once */
        core_case_input(test, INPUT_TRANSACTION_DONE)->as.transaction = (struct input_transaction){.number = 2, .result = TRANSACTION_ABORTED};
    }
    core_case_record(test, 2, 0, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 2, 3);
}

/* The same life without exactly_once makes plain commits and no transaction; core_case_step looks after the opposite. */
static void test_without_exactly_once_there_is_none(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_delivered(test, 0, 0);
    core_case_wait(test, 250);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 1);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_deliveries_of_a_step_and_their_frontier_are_one),
        CORE_CASE_TEST(test_nothing_is_taken_while_one_ends),
        CORE_CASE_TEST(test_committed_moves_the_frontier_and_releases),
        CORE_CASE_TEST(test_checkpoint_before_the_end_knows_nothing_of_it),
        CORE_CASE_TEST(test_aborted_repeats_all_in_order_and_claims_nothing),
        CORE_CASE_TEST(test_abort_without_a_failure_is_repeated_at_once),
        CORE_CASE_TEST(test_full_sink_halves_it),
        CORE_CASE_TEST(test_full_sink_halves_it_though_there_is_room_again),
        CORE_CASE_TEST(test_full_sink_spoils_an_open_one),
        CORE_CASE_TEST(test_no_room_for_copies_halves_it),
        CORE_CASE_TEST(test_slot_lost_while_open_aborts),
        CORE_CASE_TEST(test_slot_lost_while_ending_leaves_the_others_theirs),
        CORE_CASE_TEST(test_leaving_waits_for_the_end),
        CORE_CASE_TEST(test_leaving_after_an_abort_sends_nothing_again),
        CORE_CASE_TEST(test_stop_makes_a_last_transaction),
        CORE_CASE_TEST(test_frontiers_alone_go_at_their_own_pace),
        CORE_CASE_TEST(test_frontiers_alone_have_a_deadline),
        CORE_CASE_TEST(test_repeated_aborts_back_off),
        CORE_CASE_TEST(test_as_many_records_as_it_may_have),
        CORE_CASE_TEST(test_as_long_as_it_may_take),
        CORE_CASE_TEST(test_cut_behind_a_late_one_moves_with_its_commit),
        CORE_CASE_TEST(test_answers_of_another_number_are_let_pass),
        CORE_CASE_TEST(test_without_exactly_once_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
