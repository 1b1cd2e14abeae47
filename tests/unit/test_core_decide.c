/* R10: conditional records, which are decided when it is their turn, by what is pending with their id then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

#define DAY CORE_CASE_DAY_MS
#define A CORE_CASE_ID(1)
#define B CORE_CASE_ID(2)
#define UNDECIDED 1 /* the lane */

static struct core_case *begin(void **state, bool exactly_once)
{
    struct core_case *test = *state;
    test->options.exactly_once = exactly_once;
    test->deciding = UNDECIDED;
    core_case_begin(test, 2, 0);
    return test;
}

/* Sent to be decided. */
static struct core_case *begin_with(void **state, bool exactly_once, int64_t conditionals)
{
    struct core_case *test = begin(state, exactly_once);
    for (int64_t i = 0; i < conditionals; i++) {
        core_case_conditional(test, i, UNDECIDED, A, -1);
    }
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), conditionals);
    return test;
}

static void test_accepted_where_nothing_is_pending(void **state)
{
    struct core_case *test = begin_with(state, false, 1);
    assert_int_equal(core_case_deliver(test, 0)->key.due_ms, DUE_SINCE_EVER);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_ACCEPT);
    assert_int_equal(core_case_slot(test).moving, 1);
}

static void test_rejected_where_one_is_pending(void **state)
{
    struct core_case *test = begin(state, false);
    core_case_event(test, 0, DAY, 0, A);
    core_case_conditional(test, 1, UNDECIDED, A, -1);
    core_case_conditional(test, 2, UNDECIDED, B, -1);
    core_case_step(test);
    core_case_expect_outcomes(test, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1); /* it acts on nothing */
    assert_int_equal(core_case_decide(test, A, 1), DECISION_REJECT);
    assert_int_equal(core_case_decide(test, B, 2), DECISION_ACCEPT);
    core_case_goes_on(test, UNDECIDED, 1, COPY_DECIDED);
    core_case_step(test);
    core_case_expect_outcomes(test, 0); /* not before it is done */
    core_case_delivered(test, UNDECIDED, 0);
    core_case_step(test);
    core_case_expect_outcomes(test, 1);
    core_case_expect_outcome(test, 0, OUTCOME_REJECTED, -1, 1);
}

/* With exactly_once it is final when the transaction has committed, and told once. */
static void test_rejected_when_the_transaction_is_known(void **state)
{
    struct core_case *test = begin(state, true);
    core_case_event(test, 0, DAY, 0, A);
    core_case_conditional(test, 1, UNDECIDED, A, -1);
    core_case_step(test);
    assert_int_equal(core_case_decide(test, A, 1), DECISION_REJECT);
    core_case_delivered(test, UNDECIDED, 0);
    core_case_step(test);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_expect_outcomes(test, 0);
    assert_int_equal(core_case_decide(test, A, 1), DECISION_REJECT);
    core_case_delivered(test, UNDECIDED, 0);
    core_case_step(test);
    core_case_expect_outcomes(test, 0);
    core_case_end(test, TRANSACTION_COMMITTED);
    core_case_expect_outcomes(test, 1);
    core_case_expect_outcome(test, 0, OUTCOME_REJECTED, -1, 1);
}

/* A cancel between the abort and the second question: it is dropped then, and not rejected. */
static void test_verdict_is_the_last_one(void **state)
{
    struct core_case *test = begin(state, true);
    core_case_event(test, 0, DAY, 0, A);
    core_case_conditional(test, 1, UNDECIDED, A, -1);
    core_case_step(test);
    assert_int_equal(core_case_decide(test, A, 1), DECISION_REJECT);
    core_case_delivered(test, UNDECIDED, 0);
    core_case_cancel(test, 2, A);
    core_case_step(test);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_decide(test, A, 1), DECISION_DROP);
    core_case_delivered(test, UNDECIDED, 0);
    core_case_step(test);
    core_case_end(test, TRANSACTION_COMMITTED);
    core_case_expect_outcomes(test, 1);
    core_case_expect_outcome(test, 0, OUTCOME_DROPPED, 2, 1);
}

static void test_rejected_where_one_is_written(void **state)
{
    struct core_case *test = begin(state, false);
    core_case_event(test, 0, DAY, 0, A);
    core_case_wait(test, 100);
    core_case_settle(test);
    assert_int_equal(test->row_count, 1);
    core_case_conditional(test, 1, UNDECIDED, A, -1);
    core_case_step(test);
    assert_int_equal(core_case_decide(test, A, 1), DECISION_REJECT);
}

static void test_accepted_where_it_was_delivered(void **state)
{
    struct core_case *test = begin(state, false);
    core_case_event(test, 0, 0, 0, A);
    core_case_step(test);
    core_case_conditional(test, 1, UNDECIDED, A, -1);
    core_case_step(test);
    assert_int_equal(core_case_decide(test, A, 1), DECISION_REJECT); /* its delivery is under way */
    core_case_delivered(test, UNDECIDED, 0);
    core_case_delivered(test, 0, 0);
    core_case_conditional(test, 2, UNDECIDED, A, -1);
    core_case_step(test);
    assert_int_equal(core_case_decide(test, A, 2), DECISION_ACCEPT);
}

static void test_two_of_one_id(void **state)
{
    struct core_case *test = begin_with(state, false, 2);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_ACCEPT);
    assert_int_equal(core_case_decide(test, A, 1), DECISION_REJECT);
    core_case_goes_on(test, UNDECIDED, 0, COPY_DECIDED);
    core_case_delivered(test, UNDECIDED, 1);
    core_case_step(test);
    assert_int_equal(core_case_copy(test, 0)->why, COPY_DECIDED);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_ACCEPT); /* asked once more: it is its own */
    core_case_reappended(test, A, 0);
    core_case_conditional(test, 2, UNDECIDED, A, -1);
    core_case_transacted(test, TRANSACTION_COMMITTED, 4);
    core_case_step(test);
    assert_int_equal(core_case_decide(test, A, 2), DECISION_REJECT); /* it is moving */
    core_case_delivered(test, UNDECIDED, 2);
    core_case_again(test, 3, DAY, 0, A, 0);
    core_case_conditional(test, 4, UNDECIDED, A, -1);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).moving, 0);
    assert_int_equal(core_case_decide(test, A, 4), DECISION_REJECT); /* and is read back */
}

/* It is asked again after the abort, and is not in its own way; the other one is in nobody's. */
static void test_stays_accepted_over_an_abort(void **state)
{
    struct core_case *test = begin_with(state, true, 2);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_ACCEPT);
    assert_int_equal(core_case_decide(test, A, 1), DECISION_REJECT);
    core_case_reappended(test, A, 0);
    core_case_delivered(test, UNDECIDED, 0);
    core_case_delivered(test, UNDECIDED, 1);
    core_case_step(test);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
    assert_int_equal(core_case_slot(test).moving, 1);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_ACCEPT);
    assert_int_equal(core_case_decide(test, A, 1), DECISION_REJECT);
}

/* What was accepted and became a letter is not pending for ever. */
static void test_accepted_and_never_written(void **state)
{
    struct core_case *test = begin_with(state, false, 1);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_ACCEPT);
    core_case_failed(test, UNDECIDED, 0, DELIVERY_FAULT);
    core_case_step(test);
    core_case_delivered(test, UNDECIDED, 0);
    core_case_conditional(test, 1, UNDECIDED, A, -1);
    core_case_step(test);
    assert_int_equal(core_case_decide(test, A, 1), DECISION_ACCEPT);
}

/* ----------------------------------------------------------------------------------------------------- controls */

static void test_newer_cancel_drops_it(void **state)
{
    struct core_case *test = begin_with(state, false, 1);
    core_case_cancel(test, 1, A);
    core_case_step(test);
    core_case_expect_outcomes(test, 0); /* not known yet */
    assert_int_equal(core_case_slot(test).marks, 1);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_DROP);
    assert_true(core_case_is_restless(test));
    core_case_delivered(test, UNDECIDED, 0);
    core_case_step(test);
    core_case_expect_outcomes(test, 2);
    core_case_expect_outcome(test, 0, OUTCOME_CANCELLED, 1, 0);
    core_case_expect_outcome(test, 1, OUTCOME_DROPPED, 1, 0);
    core_case_run(test, 1000);
    assert_int_equal(core_case_slot(test).marks, 0);
}

static void test_newer_event_drops_it(void **state)
{
    struct core_case *test = begin_with(state, false, 1);
    core_case_event(test, 1, DAY, 0, A);
    core_case_step(test);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_DROP);
    core_case_delivered(test, UNDECIDED, 0);
    core_case_step(test);
    core_case_expect_outcome(test, 0, OUTCOME_REPLACED, 1, 0);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
}

static void test_older_cancel_does_not(void **state)
{
    struct core_case *test = begin(state, false);
    core_case_conditional(test, 0, UNDECIDED, B, -1);
    core_case_cancel(test, 1, A);
    core_case_conditional(test, 2, UNDECIDED, A, -1);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).marks, 1);
    assert_int_equal(core_case_decide(test, B, 0), DECISION_ACCEPT);
    assert_int_equal(core_case_decide(test, A, 2), DECISION_ACCEPT);
    core_case_delivered(test, UNDECIDED, 0);
    core_case_delivered(test, UNDECIDED, 1);
    core_case_step(test);
    core_case_wait(test, test->options.commit_ms);
    core_case_committed(test);
    core_case_step(test);
    core_case_expect_outcome(test, 0, OUTCOME_NOT_FOUND, 1, -1); /* there was nothing else it might have met */
    assert_int_equal(core_case_slot(test).marks, 0);
}

/* At least once: accepted, and waiting to be written, when the cancel comes. */
static void test_cancel_between_decision_and_writing(void **state)
{
    struct core_case *test = begin(state, false);
    core_case_record(test, 0, 0, 0);
    core_case_conditional(test, 1, UNDECIDED, A, -1);
    core_case_step(test);
    core_case_wait(test, test->options.commit_ms); /* so that no transaction may be begun */
    assert_int_equal(core_case_decide(test, A, 1), DECISION_ACCEPT);
    core_case_goes_on(test, UNDECIDED, 0, COPY_DECIDED);
    core_case_cancel(test, 2, A);
    core_case_conditional(test, 3, UNDECIDED, A, -1);
    core_case_step(test);
    assert_int_equal(core_case_decide(test, A, 3), DECISION_ACCEPT); /* the first one is doomed */
    core_case_committed(test);
    core_case_step(test);
    assert_int_equal(core_case_copy(test, 0)->key.offset, 1);
    assert_int_equal(core_case_decide(test, A, 1), DECISION_DROP);
    core_case_end(test, TRANSACTION_COMMITTED);
    core_case_expect_outcomes(test, 2);
    core_case_expect_outcome(test, 0, OUTCOME_CANCELLED, 2, 1);
    core_case_expect_outcome(test, 1, OUTCOME_DROPPED, 2, 1);
    core_case_expect_ended(test, 0, 0, 0);
}

/* It is in the transaction when the cancel comes: the mark ends it where it comes to stand. */
static void test_cancel_while_it_is_moving(void **state)
{
    struct core_case *test = begin_with(state, true, 1);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_ACCEPT);
    core_case_reappended(test, A, 0);
    core_case_cancel(test, 1, A);
    core_case_delivered(test, UNDECIDED, 0);
    core_case_step(test);
    core_case_expect_outcomes(test, 0);
    core_case_conditional(test, 2, UNDECIDED, A, -1);
    core_case_transacted(test, TRANSACTION_COMMITTED, 4);
    core_case_step(test);
    assert_int_equal(core_case_decide(test, A, 2), DECISION_ACCEPT); /* what is moving ends when it is read */
    core_case_again(test, 3, DAY, 0, A, 0);
    core_case_step(test);
    core_case_expect_outcomes(test, 2);
    core_case_expect_outcome(test, 0, OUTCOME_SKIPPED, 1, 3);
    core_case_expect_outcome(test, 1, OUTCOME_CANCELLED, 1, 3);
}

static void test_aborted_and_dropped_then(void **state)
{
    struct core_case *test = begin_with(state, true, 1);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_ACCEPT);
    core_case_reappended(test, A, 0);
    core_case_cancel(test, 1, A);
    core_case_delivered(test, UNDECIDED, 0);
    core_case_step(test);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_DROP);
    assert_int_equal(core_case_slot(test).moving, 0);
    core_case_step(test);
    core_case_expect_outcome(test, 0, OUTCOME_CANCELLED, 1, 0);
}

/* The mark stays until a commit says that all that is undecided before it is done. */
static void test_mark_stays_until_the_decision_is_committed(void **state)
{
    struct core_case *test = begin_with(state, false, 1);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_ACCEPT);
    core_case_delivered(test, UNDECIDED, 0); /* as if nothing were to be written */
    core_case_step(test);
    assert_int_equal(core_case_queue(test, UNDECIDED).pending, 0);
    core_case_event(test, 1, DAY, 0, B); /* not committed yet: the next owner may have to decide once more */
    core_case_step(test);
    assert_int_equal(core_case_slot(test).marks, 1);
    core_case_run(test, 2000);
    assert_int_equal(core_case_slot(test).marks, 0);
    core_case_event(test, 2, DAY, 0, B);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).marks, 0);
}

/* Those before the mark are decided, one behind it is not: the mark goes all the same. */
static void test_mark_goes_in_a_stream_that_never_ends(void **state)
{
    struct core_case *test = begin_with(state, false, 1);
    core_case_cancel(test, 1, A);
    core_case_conditional(test, 2, UNDECIDED, B, -1);
    core_case_step(test);
    core_case_delivered(test, UNDECIDED, 0);
    core_case_wait(test, test->options.commit_ms);
    core_case_committed(test);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, UNDECIDED).pending, 1);
    assert_int_equal(core_case_slot(test).marks, 0);
    assert_int_equal(core_case_slot(test).low_offset, 1); /* as of the commit before */
}

static void test_no_commit_after_another_for_a_mark_that_cannot_go(void **state)
{
    struct core_case *test = begin_with(state, false, 1);
    core_case_cancel(test, 1, B);
    core_case_step(test);
    core_case_delivered(test, UNDECIDED, 0);
    core_case_step(test);
    core_case_wait(test, test->options.commit_ms);
    core_case_settle(test);
    assert_int_equal(core_case_slot(test).marks, 0);
    core_case_conditional(test, 2, UNDECIDED, A, -1);
    core_case_cancel(test, 3, B);
    core_case_step(test);
    for (int i = 0; i < 3; i++) {
        core_case_wait(test, test->options.commit_ms);
        core_case_settle(test);
    }
    core_case_wait(test, test->options.commit_ms);
    assert_int_equal(core_case_count(test, COMMAND_COMMIT), 0);
    assert_int_equal(core_case_slot(test).marks, 1);
}

/* ------------------------------------------------------------------------------------------ other owners, copies */

static void test_not_before_the_watermark(void **state)
{
    struct core_case *test = *state;
    test->gained.high = 5;
    begin(state, false);
    core_case_conditional(test, 0, UNDECIDED, A, -1);
    core_case_record(test, 1, 0, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 1, 2); /* the others go */
    core_case_again(test, 4, DAY, 0, A, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 0, 1);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_REJECT);
}

static void test_decided_where_reading_has_stopped(void **state)
{
    struct core_case *test = *state;
    test->gained.high = 5;
    begin(state, false);
    core_case_conditional(test, 0, UNDECIDED, A, -1);
    core_case_input(test, INPUT_READING_STOPPED);
    core_case_step(test);
    core_case_expect_delivers(test, 0, 1);
}

/* Copied forward undecided: what was said of it meanwhile counts. */
static void test_copy_of_a_conditional_one(void **state)
{
    struct core_case *test = *state;
    test->gained.high = 10;
    begin(state, false);
    core_case_cancel(test, 4, A);
    core_case_conditional(test, 5, UNDECIDED, A, 3);
    core_case_conditional(test, 6, UNDECIDED, B, 3);
    core_case_position(test, 10);
    core_case_step(test);
    core_case_expect_outcome(test, 0, OUTCOME_SKIPPED, 4, 5);
    core_case_expect_outcome(test, 1, OUTCOME_CANCELLED, 4, 5);
    core_case_expect_delivers(test, 6, 7);
    assert_int_equal(core_case_decide(test, B, 3), DECISION_ACCEPT);
}

static void test_of_a_slot_that_was_lost(void **state)
{
    struct core_case *test = begin_with(state, false, 1);
    core_case_input(test, INPUT_SLOT_LOST);
    core_case_step(test);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_DROP);
}

/* A schedule between two occurrences is pending. */
static void test_rejected_while_the_next_occurrence_is_moving(void **state)
{
    struct core_case *test = begin(state, true);
    core_case_event(test, 0, 0, 0, A);
    core_case_step(test);
    core_case_reappended(test, A, 0);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    core_case_conditional(test, 1, UNDECIDED, A, -1);
    core_case_transacted(test, TRANSACTION_COMMITTED, 3);
    core_case_step(test);
    assert_int_equal(core_case_decide(test, A, 1), DECISION_REJECT);
}

/* What is moving is known by its root: a former owner's re-append of an older record, which the mark lets fall, is another one. */
static void test_rejected_although_an_older_reappend_was_read(void **state)
{
    struct core_case *test = *state;
    test->gained.high = 6;
    begin(state, true);
    core_case_event(test, 3, 0, 0, A);
    core_case_step(test);
    core_case_reappended(test, A, 3);
    core_case_delivered(test, 0, 0);
    core_case_step(test);
    core_case_transacted(test, TRANSACTION_COMMITTED, 9);
    core_case_step(test);
    core_case_again(test, 5, DAY, 0, A, 1);
    core_case_conditional(test, 6, UNDECIDED, A, -1);
    core_case_step(test);
    core_case_expect_ended(test, 0, 0, 1);
    assert_int_equal(core_case_slot(test).moving, 1);
    assert_int_equal(core_case_decide(test, A, 6), DECISION_REJECT);
    struct core_event event;
    assert_true(core_look_id(test->core, 0, A, &(struct stored_event){.offset = -1, .root = -1}, &event));
    assert_int_equal(event.state, CORE_EVENT_MOVING);
    assert_int_equal(event.root, 3);
    core_case_again(test, 8, DAY, 0, A, 3);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).moving, 0);
}

/* Record 0 was accepted, and its transaction was aborted; then a person's event of that id, at 1, came and is being moved. */
static struct core_case *begin_moving_a_younger_one(void **state)
{
    struct core_case *test = begin_with(state, true, 1);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_ACCEPT);
    core_case_reappended(test, A, 0);
    core_case_delivered(test, UNDECIDED, 0);
    core_case_step(test);
    core_case_event(test, 1, DAY, 0, A);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_input(test, INPUT_STEER)->as.steer = (struct input_steer){1, STEER_MOVE, CORE_CASE_WALL + 2 * DAY, A, {.offset = -1, .root = -1}};
    core_case_step(test);
    core_case_expect_copy(test, 0, 1, 2 * DAY);
    assert_int_equal(core_case_slot(test).moving, 1);
    return test;
}

/* That the older one is dropped now takes nothing from it. */
static void test_rejected_although_an_older_acceptance_ended(void **state)
{
    struct core_case *test = begin_moving_a_younger_one(state);
    core_case_transacted(test, TRANSACTION_COMMITTED, 4);
    core_case_conditional(test, 2, UNDECIDED, A, -1);
    core_case_step(test);
    assert_int_equal(core_case_decide(test, A, 0), DECISION_DROP);
    assert_int_equal(core_case_slot(test).moving, 1);
    assert_int_equal(core_case_decide(test, A, 2), DECISION_REJECT);
}

/* It was never accepted itself: an abort ends it. */
static void test_aborted_although_an_older_one_was_accepted(void **state)
{
    struct core_case *test = begin_moving_a_younger_one(state);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_slot(test).moving, 0);
}

/* At least once: accepted while the transaction of an older one of its id was under way, which a cancel has doomed. Neither that one's end nor its re-append is
 * the accepted one's. */
static void test_accepted_beside_what_is_doomed(void **state)
{
    struct core_case *test = begin(state, false);
    core_case_event(test, 0, 0, 0, A);
    core_case_step(test);
    core_case_goes_on(test, 0, 0, COPY_NEXT);
    core_case_step(test);
    core_case_reappended(test, A, 0);
    core_case_cancel(test, 1, A);
    core_case_conditional(test, 2, UNDECIDED, A, -1);
    core_case_step(test);
    assert_int_equal(core_case_decide(test, A, 2), DECISION_ACCEPT);
    core_case_transacted(test, TRANSACTION_COMMITTED, 4);
    core_case_step(test);
    core_case_again(test, 3, DAY, 0, A, 0);
    core_case_conditional(test, 4, UNDECIDED, A, -1);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).moving, 1);
    assert_int_equal(core_case_decide(test, A, 4), DECISION_REJECT);
}

/* Somebody else's re-appends are not all read, so nothing is decided yet: what is undecided stays where it is, and the rest waits for it (R10). */
static void test_undecided_is_not_copied(void **state)
{
    struct core_case *test = *state;
    test->deciding = 1;
    test->options.span_max = 99;
    test->gained.high = 500;
    core_case_store(test, 3, CORE_CASE_DAY_MS, 0, 2);
    core_case_store(test, 5, DUE_SINCE_EVER - CORE_CASE_WALL, 1, 0);
    core_case_store(test, 7, CORE_CASE_DAY_MS + 7, 0, 2);
    test->gained.position = 100;
    test->gained.stored_position = 100;
    core_case_begin(test, 2, 0);
    while (core_case_count(test, COMMAND_COPY) == 0 && core_case_settle_once(test)) {
    }
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    core_case_position(test, 500);
    core_case_step(test);
    core_case_settle_once(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    assert_int_equal(core_case_find(test, COMMAND_DELIVER, 0)->as.deliver.key.offset, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_accepted_where_nothing_is_pending),
        CORE_CASE_TEST(test_undecided_is_not_copied),
        CORE_CASE_TEST(test_rejected_where_one_is_pending),
        CORE_CASE_TEST(test_rejected_when_the_transaction_is_known),
        CORE_CASE_TEST(test_verdict_is_the_last_one),
        CORE_CASE_TEST(test_rejected_where_one_is_written),
        CORE_CASE_TEST(test_accepted_where_it_was_delivered),
        CORE_CASE_TEST(test_two_of_one_id),
        CORE_CASE_TEST(test_stays_accepted_over_an_abort),
        CORE_CASE_TEST(test_accepted_and_never_written),
        CORE_CASE_TEST(test_newer_cancel_drops_it),
        CORE_CASE_TEST(test_newer_event_drops_it),
        CORE_CASE_TEST(test_older_cancel_does_not),
        CORE_CASE_TEST(test_cancel_between_decision_and_writing),
        CORE_CASE_TEST(test_cancel_while_it_is_moving),
        CORE_CASE_TEST(test_aborted_and_dropped_then),
        CORE_CASE_TEST(test_mark_stays_until_the_decision_is_committed),
        CORE_CASE_TEST(test_mark_goes_in_a_stream_that_never_ends),
        CORE_CASE_TEST(test_no_commit_after_another_for_a_mark_that_cannot_go),
        CORE_CASE_TEST(test_not_before_the_watermark),
        CORE_CASE_TEST(test_decided_where_reading_has_stopped),
        CORE_CASE_TEST(test_copy_of_a_conditional_one),
        CORE_CASE_TEST(test_of_a_slot_that_was_lost),
        CORE_CASE_TEST(test_rejected_while_the_next_occurrence_is_moving),
        CORE_CASE_TEST(test_rejected_although_an_older_reappend_was_read),
        CORE_CASE_TEST(test_rejected_although_an_older_acceptance_ended),
        CORE_CASE_TEST(test_aborted_although_an_older_one_was_accepted),
        CORE_CASE_TEST(test_accepted_beside_what_is_doomed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
