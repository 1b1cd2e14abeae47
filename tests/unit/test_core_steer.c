/* Steering in single situations: what is answered, what goes into a transaction, and what F says meanwhile. How it lies among everything else is test_core_steer_order.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

#define DAY CORE_CASE_DAY_MS
#define A CORE_CASE_ID(1)
#define B CORE_CASE_ID(2)

static void steer(struct core_case *test, uint64_t token, struct record_id id, enum steer_verb verb, int64_t due_ms)
{
    struct input_steer *input = &core_case_input(test, INPUT_STEER)->as.steer;
    *input = (struct input_steer){.token = token, .verb = verb, .due_ms = CORE_CASE_WALL + due_ms, .id = id, .found = {.offset = -1}};
    for (size_t i = 0; i < test->row_count; i++) {
        const struct core_case_row *row = &test->rows[i];
        if (record_id_equal(row->id, id)) {
            input->found = (struct stored_event){row->offset, row->due_ms, row->root, CORE_CASE_ROW_BYTES, row->bucket.lane};
        }
    }
}

static void expect_answer(const struct core_case *test, size_t nth, uint64_t token, enum steer_result result)
{
    const struct command *command = core_case_find(test, COMMAND_STEERED, nth);
    assert_non_null(command);
    assert_int_equal(command->as.steered.token, token);
    assert_int_equal(command->as.steered.result, result);
}

/* Answers the transaction with the steered records at offsets up to `end`. */
static void commit(struct core_case *test, int64_t end)
{
    core_case_transacted(test, TRANSACTION_COMMITTED, end);
    core_case_step(test);
}

/* Every transaction and commit that has nothing to do with it is over. */
static void settle(struct core_case *test)
{
    core_case_settle(test);
    while (test->transaction != 0) {
        core_case_transacted(test, TRANSACTION_COMMITTED, 0);
        core_case_step(test);
        core_case_settle(test);
    }
}

/* An event of A at offset 0, due in a day, and all is at rest. */
static struct core_case *begin(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 2, 0);
    core_case_event(test, 0, DAY, 0, A);
    core_case_step(test);
    settle(test);
    return test;
}

static void test_it_moves(void **state)
{
    struct core_case *test = begin(state);
    steer(test, 7, A, STEER_MOVE, 2 * DAY);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_STEERED), 0);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_expect_copy(test, 0, 0, 2 * DAY);
    assert_int_equal(core_case_copy(test, 0)->why, COPY_MOVED);
    assert_int_equal(core_case_copy(test, 0)->ref, 1);
    assert_int_equal(core_case_only_frontier(test)->low_offset, 0); /* the old one is not done by F */
    commit(test, 2);
    expect_answer(test, 0, 7, STEER_DONE);
    assert_int_equal(core_case_find(test, COMMAND_STEERED, 0)->as.steered.due_ms, CORE_CASE_WALL + DAY);
    assert_int_equal(core_case_slot(test).moved, 1);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    assert_int_equal(core_case_queue(test, 0).pending_bytes, 0);
    settle(test);
    core_case_again(test, 1, 2 * DAY, 0, A, 0);
    core_case_step(test);
    settle(test);
    core_case_expect_ended(test, 0, 0, 0);
    core_case_run(test, DAY + 1000);
    assert_int_equal(test->fired_count, 0);
    core_case_run(test, 3 * DAY);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 1);
    assert_int_equal(core_case_slot(test).low_offset, 2);
    assert_int_equal(test->row_count, 0);
}

static void test_it_pauses(void **state)
{
    struct core_case *test = begin(state);
    steer(test, 7, A, STEER_PAUSE, 0);
    core_case_step(test);
    assert_int_equal(core_case_copy(test, 0)->why, COPY_PAUSED);
    commit(test, 2);
    expect_answer(test, 0, 7, STEER_DONE);
}

static void test_its_row_is_erased(void **state)
{
    struct core_case *test = begin(state);
    core_case_wait(test, 100);
    settle(test);
    assert_int_equal(test->row_count, 1);
    steer(test, 7, A, STEER_MOVE, 2 * DAY);
    core_case_step(test);
    assert_int_equal(core_case_copy(test, 0)->ref, 0);
    commit(test, 2);
    core_case_wait(test, 100);
    settle(test);
    assert_int_equal(test->row_count, 0);
    core_case_position(test, 2);
    core_case_wait(test, 300);
    settle(test);
    assert_int_equal(core_case_slot(test).low_offset, 2);
    assert_false(core_case_is_restless(test));
}

static void test_what_is_not_there(void **state)
{
    struct core_case *test = begin(state);
    steer(test, 1, B, STEER_MOVE, 0);
    core_case_step(test);
    expect_answer(test, 0, 1, STEER_NOT_FOUND);
    core_case_cancel(test, 1, A);
    steer(test, 2, A, STEER_MOVE, 0);
    core_case_step(test);
    expect_answer(test, 0, 2, STEER_NOT_FOUND);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
}

static void test_what_is_under_way_is_too_late(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, 0, 0, A);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    steer(test, 1, A, STEER_MOVE, DAY);
    core_case_step(test);
    expect_answer(test, 0, 1, STEER_TOO_LATE);
    core_case_delivered(test, 0, 0);
    steer(test, 2, A, STEER_MOVE, DAY);
    core_case_step(test);
    expect_answer(test, 0, 2, STEER_TOO_LATE);
    core_case_run(test, 1000);
    steer(test, 3, A, STEER_MOVE, DAY);
    core_case_step(test);
    expect_answer(test, 0, 3, STEER_NOT_FOUND);
}

/* A lane that fails holds it back, so it may be moved, and ends where it stands in the FIFO: what is behind it goes on. */
static void test_what_has_failed_may_be_steered(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, 0, 0, A);
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_failed(test, 0, 1, DELIVERY_RETRIABLE);
    if (test->transaction != 0) {
        core_case_transacted(test, TRANSACTION_ABORTED, 0);
    }
    core_case_step(test);
    settle(test);
    steer(test, 1, A, STEER_MOVE, DAY);
    core_case_step(test);
    core_case_expect_copy(test, 0, 0, DAY);
    core_case_wait(test, 1000); /* its pause is over, and it does not go */
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_false(core_case_is_restless(test));
    commit(test, 3);
    expect_answer(test, 0, 1, STEER_DONE);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    core_case_run(test, 10000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 1);
    assert_int_equal(core_case_slot(test).low_offset, 2);
}

static void test_what_is_postponed_may_be_steered(void **state)
{
    struct core_case *test = *state;
    test->options.copy_ms = 1000000;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, 0, 0, A);
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    core_case_failed(test, 0, 1, DELIVERY_NO_LETTER); /* begins the pause between two such transactions */
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    core_case_end(test, TRANSACTION_COMMITTED);
    core_case_event(test, 2, 0, 0, B);
    core_case_step(test);
    core_case_failed(test, 0, 2, DELIVERY_NO_LETTER);
    core_case_step(test);
    settle(test);
    steer(test, 1, B, STEER_MOVE, DAY);
    core_case_step(test);
    core_case_expect_copy(test, 0, 2, DAY);
    commit(test, 5);
    expect_answer(test, 0, 1, STEER_DONE);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    assert_int_equal(core_case_slot(test).postponed, 1);
}

static void test_many_go_together_and_not_too_many(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    for (int64_t i = 0; i < 66; i++) {
        core_case_event(test, i, DAY, 0, CORE_CASE_ID((uint64_t)i + 1));
    }
    core_case_step(test);
    settle(test);
    for (uint64_t i = 0; i < 65; i++) {
        steer(test, i, CORE_CASE_ID(i + 1), STEER_MOVE, 2 * DAY);
    }
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_STEERED), 1);
    expect_answer(test, 0, 64, STEER_BUSY);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 64);
    commit(test, 200);
    assert_int_equal(core_case_count(test, COMMAND_STEERED), 64);
    assert_int_equal(core_case_slot(test).moved, 64);
    steer(test, 65, CORE_CASE_ID(65), STEER_MOVE, 2 * DAY);
    core_case_step(test);
    settle(test);
    assert_int_equal(core_case_slot(test).moved, 65);
}

/* It was delivered, and its next occurrence is under way: that one may be steered once it is read. */
static void test_what_goes_on_is_moving(void **state)
{
    struct core_case *test = *state;
    test->options.copy_ms = 1000;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, 0, 0, A);
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    core_case_failed(test, 0, 1, DELIVERY_NO_LETTER); /* begins the pause between two such transactions */
    core_case_step(test);
    core_case_delivered(test, 0, 0);
    struct input_delivery *report = &test->inputs[test->input_count - 1].as.delivery;
    report->again = true;
    report->why = COPY_NEXT;
    steer(test, 1, A, STEER_MOVE, DAY);
    core_case_step(test);
    assert_int_equal(core_case_find(test, COMMAND_STEERED, 0)->as.steered.result, STEER_MOVING);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 2);
    steer(test, 2, A, STEER_MOVE, DAY);
    core_case_step(test);
    expect_answer(test, 0, 2, STEER_TOO_LATE);
    core_case_end(test, TRANSACTION_COMMITTED);
    steer(test, 3, A, STEER_MOVE, DAY);
    core_case_step(test);
    expect_answer(test, 0, 3, STEER_MOVING);
}

/* Together twice, then each alone: one that can never be written fails itself only. */
static void test_one_that_cannot_be_written(void **state)
{
    struct core_case *test = begin(state);
    core_case_event(test, 1, DAY, 0, B);
    core_case_step(test);
    settle(test);
    steer(test, 1, A, STEER_MOVE, 2 * DAY);
    steer(test, 2, B, STEER_MOVE, 2 * DAY);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 2);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    assert_int_equal(core_next_deadline(test->core).mono.ms, test->mono_ms + test->options.retry_ms);
    core_case_wait(test, test->options.retry_ms);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 2);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_count(test, COMMAND_STEERED), 0);
    core_case_wait(test, 2 * test->options.retry_ms);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_expect_copy(test, 0, 0, 2 * DAY);
    core_case_end(test, TRANSACTION_ABORTED);
    expect_answer(test, 0, 1, STEER_FAILED);
    core_case_wait(test, 0);
    core_case_sleep(test, DAY);
    assert_int_equal(test->transaction != 0, 1);
    commit(test, 4);
    expect_answer(test, 0, 2, STEER_DONE);
    core_case_run(test, DAY + 1000); /* it goes when it would have */
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 0);
}

static void test_stopped_ones(void **state)
{
    struct core_case *test = begin(state);
    (void)core_case_input(test, INPUT_SLOT_LEAVING);
    steer(test, 1, A, STEER_MOVE, 2 * DAY);
    core_case_step(test);
    expect_answer(test, 0, 1, STEER_STOPPED);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
}

/* What is sent is waited for. */
static void test_leaving_waits_for_its_end(void **state)
{
    struct core_case *test = begin(state);
    core_case_wait(test, 100);
    settle(test);
    steer(test, 1, A, STEER_MOVE, 2 * DAY);
    core_case_step(test);
    (void)core_case_input(test, INPUT_SLOT_LEAVING);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_SLOT_LEFT), 0);
    commit(test, 2);
    expect_answer(test, 0, 1, STEER_DONE);
    assert_int_equal(core_case_count(test, COMMAND_SLOT_LEFT), 1);
}

static void test_leaving_tries_nothing_again(void **state)
{
    struct core_case *test = begin(state);
    steer(test, 1, A, STEER_MOVE, 2 * DAY);
    core_case_step(test);
    (void)core_case_input(test, INPUT_STOP);
    core_case_step(test);
    core_case_end(test, TRANSACTION_ABORTED);
    expect_answer(test, 0, 1, STEER_STOPPED);
}

static void test_lost_in_the_same_step(void **state)
{
    struct core_case *test = begin(state);
    steer(test, 1, A, STEER_MOVE, 2 * DAY);
    core_case_step(test);
    steer(test, 2, B, STEER_MOVE, 2 * DAY);
    (void)core_case_input(test, INPUT_SLOT_LOST);
    steer(test, 3, A, STEER_MOVE, 2 * DAY);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_STEERED), 3);
    expect_answer(test, 0, 2, STEER_NOT_FOUND);
    expect_answer(test, 1, 1, STEER_STOPPED);
    expect_answer(test, 2, 3, STEER_STOPPED);
    assert_int_equal(core_case_find(test, COMMAND_STEERED, 2)->epoch, 1);
    core_case_transacted(test, TRANSACTION_COMMITTED, 2);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_STEERED), 0);
}

/* Nothing is asked of a slot that has not read all: a former owner's re-append of the same event may stand further up. */
static void test_before_it_has_caught_up(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 5);
    core_case_event(test, 0, DAY, 0, A);
    steer(test, 1, A, STEER_MOVE, 2 * DAY);
    core_case_step(test);
    expect_answer(test, 0, 1, STEER_MOVING);
}

/* R10: it is about to go on as a re-append. */
static void test_what_is_undecided(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    struct core_lane_options options = {.max_in_flight = 10, .max_in_flight_bytes = 1000, .decides = true, .paused = true};
    lane_index lane = core_lane_add(test->core, &options);
    core_case_event(test, 0, 0, lane, A);
    steer(test, 1, A, STEER_MOVE, DAY);
    core_case_step(test);
    expect_answer(test, 0, 1, STEER_MOVING);
}

/* Somebody else holds the partition by now, and has moved it: this one learns that by reading, and its own transaction fails. */
static void test_moved_by_the_next_owner(void **state)
{
    struct core_case *test = begin(state);
    steer(test, 1, A, STEER_MOVE, 2 * DAY);
    core_case_step(test);
    core_case_again(test, 1, 3 * DAY, 0, A, 0);
    core_case_step(test);
    core_case_end(test, TRANSACTION_ABORTED);
    expect_answer(test, 0, 1, STEER_MOVING);
    core_case_wait(test, 1000);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
}

static void test_again_before_it_is_read_back(void **state)
{
    struct core_case *test = begin(state);
    steer(test, 1, A, STEER_MOVE, 2 * DAY);
    steer(test, 2, A, STEER_MOVE, 3 * DAY);
    core_case_step(test);
    expect_answer(test, 0, 2, STEER_MOVING);
    commit(test, 3);
    settle(test);
    steer(test, 3, A, STEER_MOVE, 3 * DAY);
    core_case_step(test);
    expect_answer(test, 0, 3, STEER_MOVING);
    core_case_again(test, 1, 2 * DAY, 0, A, 0);
    core_case_position(test, 3);
    steer(test, 4, A, STEER_MOVE, 3 * DAY);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_STEERED), 0);
    settle(test);
    assert_int_equal(core_case_slot(test).moved, 2);
    core_case_cancel(test, 5, A); /* and a control after all of it */
    core_case_step(test);
    steer(test, 5, A, STEER_MOVE, 3 * DAY);
    core_case_position(test, 10);
    core_case_step(test);
    expect_answer(test, 0, 5, STEER_NOT_FOUND);
}

/* R9: no commit of the slot is under way, and the last one is known. */
static void test_it_waits_for_the_commit_under_way(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, DAY, 0, A);
    core_case_wait(test, test->options.commit_ms);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 1);
    steer(test, 1, A, STEER_MOVE, 2 * DAY);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    assert_false(core_case_is_restless(test));
    core_case_input(test, INPUT_COMMIT_DONE)->as.commit = COMMIT_FAILED;
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    core_case_wait(test, test->options.commit_ms);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 1);
    core_case_committed(test);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
}

/* F says so from the transaction until the re-append is read back; whoever gains it meanwhile reads up to the high watermark. */
static void test_the_frontier_says_that_it_moves(void **state)
{
    struct core_case *test = begin(state);
    steer(test, 1, A, STEER_MOVE, 2 * DAY);
    core_case_step(test);
    assert_true(core_case_only_frontier(test)->moving);
    commit(test, 2);
    core_case_wait(test, 300);
    settle(test);
    core_case_again(test, 1, 2 * DAY, 0, A, 0);
    core_case_wait(test, 300);
    bool moving = test->transaction != 0 ? core_case_transaction(test)->slots[0].frontier->moving : core_case_commit(test)->moving;
    assert_false(moving);
}

static void test_what_moves_is_waited_for_after_a_takeover(void **state)
{
    struct core_case *test = *state;
    test->gained.frontier.moving = true;
    test->gained.high = 5;
    core_case_begin(test, 1, 1);
    core_case_event(test, 0, 0, 0, A);
    core_case_position(test, 1); /* the last stable offset: the transaction's marker is late */
    core_case_step(test);
    core_case_run(test, 1000);
    assert_int_equal(test->fired_count, 0);
    core_case_again(test, 1, 5000, 0, A, 0);
    core_case_position(test, 5);
    core_case_step(test);
    core_case_run(test, 4000);
    assert_int_equal(test->fired_count, 0);
    core_case_run(test, 6000);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(test->fired[0], 1);
}

/* With exactly_once it gets every other transaction, however much is due. */
static void test_it_is_not_starved(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    test->options.transaction_records_max = 4;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, DAY, 0, A);
    for (int64_t i = 1; i < 100; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 4);
    steer(test, 1, A, STEER_MOVE, 2 * DAY);
    core_case_commit_all(test);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_BOTH(test_it_moves),
        CORE_CASE_BOTH(test_it_pauses),
        CORE_CASE_BOTH(test_its_row_is_erased),
        CORE_CASE_BOTH(test_what_is_not_there),
        CORE_CASE_BOTH(test_what_is_under_way_is_too_late),
        CORE_CASE_BOTH(test_what_has_failed_may_be_steered),
        CORE_CASE_TEST(test_what_is_postponed_may_be_steered),
        CORE_CASE_TEST(test_what_goes_on_is_moving),
        CORE_CASE_BOTH(test_many_go_together_and_not_too_many),
        CORE_CASE_BOTH(test_one_that_cannot_be_written),
        CORE_CASE_BOTH(test_stopped_ones),
        CORE_CASE_BOTH(test_leaving_waits_for_its_end),
        CORE_CASE_BOTH(test_leaving_tries_nothing_again),
        CORE_CASE_BOTH(test_lost_in_the_same_step),
        CORE_CASE_BOTH(test_before_it_has_caught_up),
        CORE_CASE_BOTH(test_what_is_undecided),
        CORE_CASE_BOTH(test_moved_by_the_next_owner),
        CORE_CASE_BOTH(test_again_before_it_is_read_back),
        CORE_CASE_TEST(test_it_waits_for_the_commit_under_way),
        CORE_CASE_BOTH(test_the_frontier_says_that_it_moves),
        CORE_CASE_BOTH(test_what_moves_is_waited_for_after_a_takeover),
        CORE_CASE_TEST(test_it_is_not_starved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
